"""AWS for the tests: moto's server in this process, spoken to over HTTP by the real client library.

with moto_server() as aws:
    aws.client("s3").create_bucket(Bucket="b")
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import boto3

REGION: Final = "eu-west-1"
_CREDENTIALS: Final = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True, slots=True)
class Aws:
    """Where it listens."""

    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make every client of a process speak to it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            **_CREDENTIALS,
        }

    def client(self, service: str, **options: Any) -> Any:
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            **options,
        )

    def bucket(self) -> str:
        """An empty bucket of its own."""
        name = f"headwater-{uuid.uuid4().hex}"
        self.client("s3").create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        return name

    def queue(self, *, fifo: bool = False, **attributes: str) -> str:
        """The URL of an empty queue of its own."""
        name = f"headwater-{uuid.uuid4().hex}" + (".fifo" if fifo else "")
        wanted: Mapping[str, str] = {
            **({"FifoQueue": "true"} if fifo else {}),
            "MaximumMessageSize": "262144",
            **attributes,
        }
        url: str = self.client("sqs").create_queue(QueueName=name, Attributes=wanted)["QueueUrl"]
        return url


@contextmanager
def moto_server() -> Iterator[Aws]:
    """A server on a free port; its content ends with it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line a request
        yield Aws(f"http://{host}:{port}")
    finally:
        server.stop()


@contextmanager
def environment_of(aws: Aws, **more: str) -> Iterator[None]:
    """This process's environment, for code that makes its clients by itself."""
    wanted = {**aws.environment, **more}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
