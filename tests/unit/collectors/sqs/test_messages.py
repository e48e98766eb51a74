"""Messages of a queue: their content, their refusals, and their making from events."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from collectors.sqs.messages import MessageReader
from collectors.sqs.queues import (
    DeadLetters,
    Message,
    Outgoing,
    Queue,
    chunked,
    group_of,
    is_sendable,
    outgoing_messages,
)
from graph_model.errors import InvalidDocument, InvalidInput
from graph_model.producers.openlineage.events.documents import JOB_EVENT_KIND, RUN_EVENT_KIND
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.uploads import Uploaded, Uploads
from tests.copies.producer import COPY_KIND, FORMATS
from tests.e2e.producer_service import PLAN_ID, a_plan, an_event

LIMIT = 262_144
READER = MessageReader(None, (), 1_000_000)
RUN_EVENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-01-01T00:00:00Z",
    "run": {"runId": "01900000-0000-7000-8000-000000000001"},
    "job": {"namespace": "hr", "name": "load"},
    "outputs": [{"namespace": "s3://lake", "name": "orders"}],
}
JOB_EVENT = {name: RUN_EVENT[name] for name in ("eventTime", "job", "outputs")}


def a_message(value: Any, attributes: Mapping[str, str] | None = None) -> Message:
    return Message("m-1", json.dumps(value), attributes or {})


@pytest.mark.parametrize(
    ("value", "attributes", "kinds", "version"),
    [
        (RUN_EVENT, {}, [RUN_EVENT_KIND], "2"),
        (JOB_EVENT, {}, [JOB_EVENT_KIND], "2"),
        ([RUN_EVENT, JOB_EVENT], {}, [RUN_EVENT_KIND, JOB_EVENT_KIND], "2"),
        (a_plan(), {"__TypeId__": "ExecutionPlan_1.2"}, [PLAN_KIND], "1.2"),
        (an_event(), {"ABSA-Spline-Entity-Type": "ExecutionEvent"}, [EVENT_KIND], "1.1"),
        (
            {
                "requestType": "SparkJobRunInfo",
                "objectType": "Spline",
                "body": {"plan": a_plan(), "event": an_event()},
            },
            {},
            [PLAN_KIND, EVENT_KIND],
            "1.2",
        ),
        ({"Service": "Amazon S3", "Event": "s3:TestEvent"}, {}, [], ""),
    ],
)
def test_a_message_holds_documents(
    value: Any, attributes: dict[str, str], kinds: list[str], version: str
) -> None:
    result = MessageReader(_NoBucket(), (), 1_000_000).read(a_message(value, attributes))  # type: ignore[arg-type]
    assert [item.submission.kind for item in result.prepared] == kinds
    assert {item.submission.api_version for item in result.prepared} <= {version}


class _NoBucket:
    """A bucket that no test reads."""

    def holds(self, bucket: str) -> bool:
        raise AssertionError(bucket)


def test_a_plain_plan_is_read_in_the_version_that_it_is_written_in() -> None:
    (plan,) = READER.read(a_message(a_plan())).prepared
    assert (plan.submission.kind, plan.submission.subject_key) == (PLAN_KIND, PLAN_ID)


class _Bomb(_NoBucket):
    """A bucket with one object, of a few bytes that become two million."""

    def holds(self, bucket: str) -> bool:
        return bucket == "lake"

    def read(self, key: str, limit: int) -> Uploaded:
        packed = gzip.compress(b" " * 2_000_000)
        assert key == "uploads/1"
        assert len(packed) < limit
        return Uploaded(packed, {"kind": "plan", "api-version": "1.2", "encoding": "gzip"})


def test_an_upload_that_becomes_too_large_can_never_be_taken() -> None:
    record = {"s3": {"bucket": {"name": "lake"}, "object": {"key": "uploads/1"}}}
    reader = MessageReader(_Bomb(), (), 1_000_000)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="larger than 1,000,000 bytes"):
        reader.read(a_message({"Records": [record]}))


def test_the_sender_is_that_of_the_attribute() -> None:
    assert READER.read(a_message(RUN_EVENT, {"principal": "arn:x"})).principal == "arn:x"
    assert READER.read(a_message(RUN_EVENT)).principal == "queue"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{", "JSON"),
        ("", "JSON"),
        ("[]]", "JSON"),
        ('{"x": 1}', "^document: expected a plan or an event"),
        ("[[]]", "a plan or an event"),
        (json.dumps({**RUN_EVENT, "run": {}}), "run.runId"),
        ('{"headwater": "pointer", "key": "x"}', "HEADWATER_UPLOADS"),
        ('{"headwater": "pointer"}', "key"),
        ('{"requestType": "x", "body": {}}', "body"),
        ('{"command": "forget", "target": {}}', "document"),
        (
            '{"kind": "command", "apiVersion": "1", "body": {"command": "forget"}}',
            "a document of a client",
        ),
        (
            json.dumps({"kind": "plan", "apiVersion": "1.2", "scope": "theirs", "body": a_plan()}),
            "a document of a client",
        ),
        ('{"Records": [{"eventSource": "aws:s3"}]}', "HEADWATER_UPLOADS"),
    ],
)
def test_a_message_that_no_repetition_mends_is_refused_with_its_reason(
    body: str, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        READER.read(Message("m-1", body, {}))


class Bucket(Uploads):
    """One object, announced by a key of the scope ``emr``."""

    def __init__(self, document: Any, any_scope: str) -> None:
        super().__init__("s3://uploads")
        scope = base64.urlsafe_b64encode(b"emr").decode()
        metadata = {"kind": "plan", "api-version": "1.2", "scope": scope, "any-scope": any_scope}
        self.uploaded = Uploaded(json.dumps(document).encode(), metadata)

    def read(self, key: str, limit: int) -> Uploaded:
        return self.uploaded


@pytest.mark.parametrize(
    ("named", "any_scope", "scope"),
    [([], "no", "emr"), (["emr"], "no", "emr"), (["glue"], "yes", "glue"), (["glue"], "no", None)],
)
def test_an_uploaded_document_is_of_the_scope_of_its_key_unless_that_may_name_others(
    named: list[str], any_scope: str, scope: str | None
) -> None:
    document = a_plan(labels={"captureScope": named})
    reader = replace(READER, uploads=Bucket(document, any_scope))
    place = {"bucket": {"name": "uploads"}, "object": {"key": "x"}}
    message = a_message({"Records": [{"s3": place}]})
    if scope is None:
        with pytest.raises(InvalidInput, match=r"labels\.captureScope: expected 'emr'"):
            reader.read(message)
    else:
        assert [item.submission.scope for item in reader.read(message).prepared] == [scope]


def test_a_message_brings_a_document_of_any_registered_format() -> None:
    copy = {"copy": "c", "run": "r1", "at": "2026-01-01T00:00:00Z", "from": "s3://lake/a"}
    reader = replace(READER, producers=FORMATS)
    message = a_message({**copy, "to": "s3://lake/b", "columns": ["id"]})
    assert [item.submission.kind for item in reader.read(message).prepared] == [COPY_KIND]
    with pytest.raises(InvalidInput, match="a plan or an event"):
        READER.read(message)


def test_a_type_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="ExecutionPlan, ExecutionEvent"):
        READER.read(a_message(a_plan(), {"__TypeId__": "Something_1.2"}))


# --- events -> messages --------------------------------------------------------------------------


def sent(value: Any, limit: int = LIMIT, put: Any = None) -> list[Outgoing]:
    return list(outgoing_messages(value, "arn:me", limit, put))


def test_the_events_of_a_run_have_one_group_and_each_its_own_name() -> None:
    start, end = sent([{**RUN_EVENT, "eventType": "START"}, RUN_EVENT])
    assert start.group == end.group == RUN_EVENT["run"]["runId"]
    assert start.name != end.name
    assert json.loads(end.body) == RUN_EVENT
    assert end.attributes == {"principal": "arn:me"}


def test_an_event_that_is_spelled_otherwise_is_the_same_message() -> None:
    assert sent(RUN_EVENT)[0].name == sent(json.loads(json.dumps(RUN_EVENT, indent=2)))[0].name


@pytest.mark.parametrize("run_id", ["x" * 129, "with blank", "ü", "\ud800", "", "tab\t"], ids=ascii)
def test_a_run_id_that_is_no_group_is_hashed(run_id: str) -> None:
    group = group_of({"run": {"runId": run_id}})
    assert len(group) == 64
    assert group == group_of({"run": {"runId": run_id}})


def test_an_event_without_a_run_belongs_to_its_job_or_dataset() -> None:
    assert group_of(JOB_EVENT) == group_of({**JOB_EVENT, "eventTime": "later"})
    assert group_of(JOB_EVENT) != group_of({"dataset": JOB_EVENT["job"]})
    assert group_of({}) == group_of({"run": 1, "job": "x"})


@pytest.mark.parametrize("value", [1, "x", None, [1], [RUN_EVENT, []]])
def test_a_value_that_is_no_event_is_refused_before_anything_is_sent(value: Any) -> None:
    with pytest.raises(InvalidDocument, match="a JSON object"):
        sent(value)


def test_an_event_that_is_too_large_goes_through_the_bucket_or_is_refused() -> None:
    large = {**RUN_EVENT, "text": "x" * LIMIT}
    kept: list[bytes] = []

    def put(text: bytes) -> str:
        kept.append(text)
        return "pointers/abc"

    (message,) = sent(large, put=put)
    assert json.loads(message.body) == {"headwater": "pointer", "key": "pointers/abc"}
    assert json.loads(kept[0]) == large
    with pytest.raises(InvalidDocument, match="at most 260,096 bytes"):
        sent(large)


def test_a_character_that_the_queue_refuses_goes_through_the_bucket() -> None:
    assert is_sendable("ü\n𝄞")
    assert not is_sendable("\x00")
    assert not is_sendable("\ufffe")
    (message,) = sent({**RUN_EVENT, "text": "\ufffe"}, put=lambda _: "pointers/abc")
    assert json.loads(message.body)["key"] == "pointers/abc"


def test_a_request_has_ten_messages_at_most_and_each_group_once() -> None:
    events = [{"run": {"runId": f"r{number % 12}"}, "n": number} for number in range(30)]
    chunks = list(chunked(sent(events), LIMIT))
    assert [item for chunk in chunks for item in chunk] == sent(events)
    assert max(map(len, chunks)) == 10
    assert all(len({item.group for item in chunk}) == len(chunk) for chunk in chunks)


def test_a_request_stays_below_the_limit_in_bytes() -> None:
    events = [{"run": {"runId": f"r{n}"}, "text": "x" * 100_000} for n in range(5)]
    assert [len(chunk) for chunk in chunked(sent(events), LIMIT)] == [2, 2, 1]


class _Client:
    """Keeps the messages that it is asked to send."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send_message(self, **message: Any) -> None:
        self.sent.append(message)


def size(message: Mapping[str, Any]) -> int:
    """As SQS counts it: the body, and name, type and value of each attribute."""
    attributes = message["MessageAttributes"].items()
    named = (name + item["DataType"] + item["StringValue"] for name, item in attributes)
    return sum(len(text.encode()) for text in (message["MessageBody"], *named))


def test_the_largest_message_has_room_for_its_reason_in_the_dead_letter_queue() -> None:
    def put(_: bytes) -> str:
        raise AssertionError("the event is not too large")

    empty = len(json.dumps({**RUN_EVENT, "text": ""}, separators=(",", ":")))
    event = {**RUN_EVENT, "text": "x" * (LIMIT - 2_048 - empty)}
    (largest,) = outgoing_messages(event, "𝄞" * 300, LIMIT, put)
    client = _Client()
    set_aside = DeadLetters(Queue("https://sqs/dead.fifo", client))
    set_aside(Message("m-1", largest.body, largest.attributes, largest.group), "é𝄞" * 1_000)
    (message,) = client.sent
    assert LIMIT - 500 < size(message) <= LIMIT
