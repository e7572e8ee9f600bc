"""A real SQS API on loopback, and a queue of it for each test."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("NO_PROXY", "127.0.0.1")
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


class Queued:
    """A queue of its own, whose messages that were lent come again at once."""

    def __init__(self, aws: str) -> None:
        self._sqs = boto3.session.Session().client("sqs", region_name="us-east-1", endpoint_url=aws)
        name = f"maestro-{uuid4().hex}"
        self.url = self._sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "0"})["QueueUrl"]

    def sends(self, *events: Any) -> None:
        for event in events:
            body = event if isinstance(event, str) else json.dumps(event)
            self._sqs.send_message(QueueUrl=self.url, MessageBody=body)

    def left(self) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]
        return sum(int(told[name]) for name in names)


@pytest.fixture
def queue(aws: str) -> Queued:
    return Queued(aws)
