"""The SQS queue that brings Maestro's events: what is there is lent, and given up only when it was taken in.

It must not read what it brings. A message that is not given up comes again, and goes to the dead-letter queue in the end.

The AWS library takes a quarter of a second to import and few have a queue, so that it is imported where one is opened.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

CONNECTING, ANSWERING = 5, 10
AWS = (".amazonaws.com", ".amazonaws.com.cn")
SOME_REGION = "us-east-1"
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
MOST_AT_ONCE = 10
"""Of SQS."""


class QueueDown(Exception):
    """The queue cannot be read, or a message not given up, just now; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`receipt` gives it up; `received`: so often it has come."""

    body: str
    receipt: str
    received: int = 1


class SqsQueue:
    """One thread reads it, another may close it. Every method raises `QueueDown` and nothing else.

    Who may read it is said where the AWS libraries look for it: environment, profile, or the machine's role.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: Any = None

    def receive(self, *, wait: timedelta) -> tuple[Message, ...]:
        """What is there, or what comes in `wait`."""
        answer = self._call(
            "receive_message",
            MaxNumberOfMessages=MOST_AT_ONCE,
            WaitTimeSeconds=round(wait.total_seconds()),
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        return tuple(_message(one) for one in answer.get("Messages", ()))

    def give_up(self, messages: Collection[Message]) -> None:
        """They were taken in and need not come again; what fails comes again all the same."""
        if not messages:
            return
        entries = [{"Id": str(number), "ReceiptHandle": one.receipt} for number, one in enumerate(messages)]
        failed = self._call("delete_message_batch", Entries=entries).get("Failed", ())
        if failed:
            raise QueueDown(f"{len(failed)} messages could not be given up: {failed[0].get('Message', '')}")

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _call(self, method: str, **fields: Any) -> Any:
        aws = import_module("botocore.exceptions")
        try:
            client = self._client or self._opened()
            return getattr(client, method)(QueueUrl=self._url, **fields)
        except (aws.BotoCoreError, aws.ClientError, OSError, ValueError) as error:
            raise QueueDown(f"{type(error).__name__}: {error}") from error

    def _opened(self) -> Any:
        boto3, config = import_module("boto3"), import_module("botocore.config")
        address = urlsplit(self._url)
        host = address.hostname or ""
        at_aws = host.endswith(AWS) and ".vpce." not in host
        settings = config.Config(
            connect_timeout=CONNECTING, read_timeout=ANSWERING, retries={"total_max_attempts": 1, "mode": "standard"}
        )
        session = boto3.session.Session()
        self._client = session.client(
            "sqs",
            region_name=_region_in(host) or session.region_name or SOME_REGION,
            endpoint_url=None if at_aws else f"{address.scheme}://{address.netloc}",
            config=settings,
        )
        return self._client


def _region_in(host: str) -> str | None:
    """`sqs.eu-west-1.amazonaws.com`, `eu-west-1.queue.amazonaws.com`, an endpoint of a VPC; other hosts name none."""
    return next((part for part in host.split(".") if _REGION.fullmatch(part)), None)


def _message(told: dict[str, Any]) -> Message:
    count = str(told.get("Attributes", {}).get("ApproximateReceiveCount", "1"))
    return Message(
        body=str(told.get("Body", "")),
        receipt=str(told["ReceiptHandle"]),
        received=int(count) if count.isdecimal() else 1,
    )
