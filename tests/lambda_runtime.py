"""The work of AWS around a function, for the tests: event source mappings, gateways, contexts.

A mapping receives a batch, invokes the function and deletes messages that are not reported as
failed; failed ones come again at once instead of after the visibility timeout.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from tests.aws import Aws

Function = Callable[[dict[str, Any]], dict[str, Any]]
ACCOUNT: Final = "123456789012"


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """A context with this much time left."""

    milliseconds: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


class EventSource:
    """An event source mapping of one queue, with ReportBatchItemFailures."""

    def __init__(self, aws: Aws, url: str, *, batch: int = 10) -> None:
        self._sqs = aws.client("sqs")
        self._url = url
        self._batch = batch

    def poll(self, function: Function) -> int:
        """One invocation with the messages there are. Returns how many it had. An exception of the
        function, whatever it is, fails all of them and is raised.
        """
        result = self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=self._batch,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])
        if not result:
            return 0
        try:
            answer = function({"Records": [record_of(item, self._url) for item in result]})
        except BaseException:
            self._give_back(result)
            raise
        failed = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
        self._delete([item for item in result if item["MessageId"] not in failed])
        self._give_back([item for item in result if item["MessageId"] in failed])
        return len(result)

    def drain(self, function: Function, most: int = 1_000) -> int:
        """Invocations until the queue is empty; how many messages they had."""
        total = 0
        for _ in range(most):
            had = self.poll(function)
            if not had:
                return total
            total += had
        raise AssertionError(f"the queue is not empty after {most} invocations")

    def count(self) -> int:
        """How many messages are in the queue, in flight or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        result = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=names)
        return sum(int(number) for number in result["Attributes"].values())

    def _delete(self, messages: list[Mapping[str, Any]]) -> None:
        entries = [
            {"Id": str(index), "ReceiptHandle": item["ReceiptHandle"]}
            for index, item in enumerate(messages)
        ]
        if entries:
            self._sqs.delete_message_batch(QueueUrl=self._url, Entries=entries)

    def _give_back(self, messages: list[Mapping[str, Any]]) -> None:
        for message in messages:
            self._sqs.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )


def record_of(message: Mapping[str, Any], url: str) -> dict[str, Any]:
    """A message as Lambda hands it to a function."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: {"stringValue": item["StringValue"], "dataType": item["DataType"]}
            for name, item in message.get("MessageAttributes", {}).items()
        },
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-west-1:{ACCOUNT}:{url.rpartition('/')[2]}",
        "awsRegion": "eu-west-1",
    }


# --- requests ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A request at a gateway."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()


def http_api_1(request: Request) -> dict[str, Any]:
    """An HTTP API, payload format 1.0; a REST API sends nearly the same."""
    return {
        "version": "1.0",
        "path": request.path,
        "httpMethod": request.method,
        "headers": dict(request.headers),
        "multiValueHeaders": _several(request.headers),
        "queryStringParameters": dict(request.query) or None,
        "multiValueQueryStringParameters": _several(request.query) or None,
        "requestContext": {"accountId": ACCOUNT, "identity": {"sourceIp": "192.0.2.1"}},
        **_body(request.body),
    }


def rest_api(request: Request) -> dict[str, Any]:
    event = http_api_1(request)
    del event["version"]
    return event


def http_api_2(request: Request) -> dict[str, Any]:
    """An HTTP API, payload format 2.0: repeated headers are joined."""
    joined = {name: ",".join(values) for name, values in _several(request.headers).items()}
    return {
        "version": "2.0",
        "rawPath": request.path,
        "rawQueryString": urlencode(request.query),
        "headers": {name.lower(): value for name, value in joined.items()},
        "requestContext": {
            "accountId": ACCOUNT,
            "http": {
                "method": request.method,
                "path": request.path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
            },
        },
        **_body(request.body),
    }


def load_balancer(request: Request, *, multi_value: bool = True) -> dict[str, Any]:
    """An Application Load Balancer."""
    given: dict[str, Any] = {
        "headers": dict(request.headers),
        "queryStringParameters": dict(request.query),
    }
    if multi_value:
        given = {
            "multiValueHeaders": _several(request.headers),
            "multiValueQueryStringParameters": _several(request.query),
        }
    return {
        "path": request.path,
        "httpMethod": request.method,
        **given,
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
        **_body(request.body),
    }


FORMATS: Final[Mapping[str, Callable[[Request], dict[str, Any]]]] = {
    "http-api-1": http_api_1,
    "rest-api": rest_api,
    "http-api-2": http_api_2,
    "alb": load_balancer,
    "alb-single": lambda request: load_balancer(request, multi_value=False),
}


def headers_of(answer: Mapping[str, Any], name: str) -> list[str]:
    """The values of a header, as its lines reach the client."""
    result = [
        value
        for spelled, values in (answer.get("multiValueHeaders") or {}).items()
        for value in values
        if spelled.lower() == name.lower()
    ]
    single = (answer.get("headers") or {}).items()
    return result or [value for spelled, value in single if spelled.lower() == name.lower()]


def json_of(answer: Mapping[str, Any]) -> Any:
    body = answer["body"]
    return json.loads(base64.b64decode(body) if answer.get("isBase64Encoded") else body)


def _several(pairs: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name, value in pairs:
        result.setdefault(name, []).append(value)
    return result


def _body(body: bytes) -> dict[str, Any]:
    """As a gateway does: text as it is, everything else in base64."""
    try:
        return {"body": body.decode() or None, "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}
