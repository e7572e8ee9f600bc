"""A real SQS API on loopback by moto's server, with the queue that Maestro's events come by and its dead-letter queue."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

TRIES = 5
REGION = "eu-west-1"


@dataclass(slots=True)
class Sqs:
    """`url` is the queue's; messages that come too often go to `dead`."""

    client: Any
    url: str
    dead: str

    def sends(self, text: str) -> None:
        self.client.send_message(QueueUrl=self.url, MessageBody=text)

    def waiting(self, url: str | None = None) -> int:
        """The messages that are there, lent or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = self.client.get_queue_attributes(QueueUrl=url or self.url, AttributeNames=names)["Attributes"]
        return sum(int(told[name]) for name in names)


@contextmanager
def served() -> Iterator[str]:
    """The server's address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def queue_at(address: str, name: str, *, shown_again_after: int = 30) -> Sqs:
    """A new queue with its dead-letter queue."""
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.session.Session(**keys).client("sqs", region_name=REGION, endpoint_url=address)
    dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": TRIES})
    attributes = {"VisibilityTimeout": str(shown_again_after), "RedrivePolicy": policy}
    url = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return Sqs(client=client, url=url, dead=dead)
