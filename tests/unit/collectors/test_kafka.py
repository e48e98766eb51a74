"""The consumer for the agent's Kafka dispatcher: its records, and their fate."""

from __future__ import annotations

import base64
import io
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from api import command_line
from collectors.kafka import (
    Consumed,
    KafkaRecord,
    KafkaSource,
    consume,
    dead_letters,
    kafka_source,
    read_record,
)
from graph_model.documents.files import Prepared, Refusal
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput, Unavailable
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from tests.e2e.producer_service import a_plan, an_event

PLAN, EVENT = json.dumps(a_plan()).encode(), json.dumps(an_event()).encode()
QUICK = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}
"""A member that has gone is missed after six seconds instead of 45."""


def a_record(
    offset: int = 0, value: bytes | None = PLAN, type_id: str = "ExecutionPlan_1.2"
) -> KafkaRecord:
    return KafkaRecord("spline", 0, offset, (("__TypeId__", type_id.encode()),), value)


# --- headers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "kind", "version"),
    [
        ([("__TypeId__", b"ExecutionPlan_1.2")], PLAN_KIND, "1.2"),
        ([("__TypeId__", b"ExecutionEvent_1.1")], EVENT_KIND, "1.1"),
        ([("__TypeId__", b"ExecutionPlan_1.0")], PLAN_KIND, "1"),
        # agents 0.7: the version header is a constant and not to be relied on
        (
            [("__TypeId__", b"ExecutionPlan"), ("ABSA-Spline-API-Version", b"1.2")],
            PLAN_KIND,
            "1.1",
        ),
        (
            [
                ("ABSA-Spline-Entity-Type", b"ExecutionEvent"),
                ("ABSA-Spline-API-Version", b"1.2"),
            ],
            EVENT_KIND,
            "1.2",
        ),
        ([("ABSA-Spline-Entity-Type", b"ExecutionEvent")], EVENT_KIND, "1.1"),
        (
            [
                ("ABSA-Spline-Entity-Type", b"ExecutionEvent"),
                ("ABSA-Spline-API-Version", b"1.1"),
                ("__TypeId__", b"ExecutionPlan_1.2"),
            ],
            PLAN_KIND,
            "1.2",
        ),
    ],
)
def test_the_headers_tell_kind_and_version(
    headers: list[tuple[str, bytes]], kind: DocumentKind, version: str
) -> None:
    piece = read_record(KafkaRecord("spline", 2, 7, tuple(headers), PLAN))
    assert (piece.kind, piece.api_version) == (kind, version)
    assert piece.where == "spline partition 2 offset 7"


@pytest.mark.parametrize(
    ("headers", "value", "said"),
    [
        ([], PLAN, "and there is none"),
        ([("__TypeId__", b"Order_1.2")], PLAN, "not 'Order'"),
        ([("__TypeId__", b"ExecutionPlan_9")], PLAN, "not '9'"),
        ([("__TypeId__", None)], PLAN, "and there is none"),
        ([("__TypeId__", b"ExecutionPlan_1.2")], None, "not an empty record"),
        ([("__TypeId__", b"ExecutionPlan_1.2")], b"{", "JSON"),
        ([("__TypeId__", b"ExecutionPlan_1.2")], b"\xff{}", "UTF-8"),
    ],
)
def test_a_record_that_is_no_document_says_why(
    headers: list[tuple[str, bytes | None]], value: bytes | None, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_record(KafkaRecord("spline", 0, 0, tuple(headers), value))


# --- the loop ------------------------------------------------------------------------------------


class Topic:
    """A RecordSource over a list; it is stopped when everything was polled."""

    def __init__(self, *records: KafkaRecord) -> None:
        self.left = list(records)
        self.committed: list[int] = []
        self.rested: list[float] = []
        self.stop = False

    def poll(self, seconds: float) -> KafkaRecord | None:
        return self.left.pop(0) if self.left else None

    def commit(self, record: KafkaRecord) -> None:
        self.committed.append(record.offset)

    def rest(self, seconds: float) -> None:
        self.rested.append(seconds)

    def stopped(self) -> bool:
        return self.stop or not self.left


class Taking:
    """An intake that is away for some calls, and refuses the documents in ``refuses``."""

    def __init__(self, topic: Topic, away: int = 0, refuses: str = "") -> None:
        self.topic, self.away, self.refuses = topic, away, refuses
        self.taken: list[tuple[str, str, tuple[int, ...]]] = []

    def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
        if self.away:
            self.away -= 1
            raise Unavailable("away")
        if documents[0].submission.api_version == self.refuses:
            return (Refusal(documents[0].piece.where, "not that one"),)
        for one in documents:
            said = (one.submission.kind, one.submission.api_version)
            self.taken.append((*said, tuple(self.topic.committed)))
        return ()

    def received(self) -> int:
        return len(self.taken)


def test_a_record_is_committed_after_it_is_durable() -> None:
    topic = Topic(a_record(5), a_record(6, EVENT, type_id="ExecutionEvent_1.1"))
    taking = Taking(topic)
    done = consume(topic, taking, lambda record, reason: None, topic.stopped)
    assert taking.taken == [("plan", "1.2", ()), ("event", "1.1", (5,))]
    assert topic.committed == [5, 6]
    assert done == Consumed(taken=2)


def test_poison_is_set_aside_and_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "dead.jsonl"
    topic = Topic(
        a_record(1, b"{}"),
        a_record(2, b"\xff"),
        a_record(3, None),
        a_record(4, EVENT, type_id="ExecutionEvent_1.1"),
        a_record(5),
    )
    taking = Taking(topic, refuses="1.1")
    with caplog.at_level(logging.WARNING), dead_letters(str(place)) as set_aside:
        done = consume(topic, taking, set_aside, topic.stopped)
    assert topic.committed == [1, 2, 3, 4, 5]
    assert done == Consumed(taken=1, set_aside=4)
    letters = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    assert [(each["topic"], each["partition"], each["offset"]) for each in letters] == [
        ("spline", 0, offset) for offset in (1, 2, 3, 4)
    ]
    assert letters[0]["value"] == "{}"
    assert letters[0]["headers"] == [["__TypeId__", "ExecutionPlan_1.2"]]
    assert "operations" in letters[0]["reason"]
    assert base64.b64decode(letters[1]["valueBase64"]) == b"\xff"
    assert letters[2]["value"] is None
    assert letters[3]["reason"] == "not that one"
    assert "spline partition 0 offset 1 is set aside: " in caplog.text


def test_while_the_server_is_away_the_record_is_tried_again_ever_more_slowly() -> None:
    topic = Topic(a_record(1), a_record(2))
    taking = Taking(topic, away=8)
    topic.stopped = lambda: len(topic.committed) == 2  # type: ignore[method-assign]
    consume(topic, taking, lambda record, reason: None, topic.stopped)
    assert sum(topic.rested) == 1 + 2 + 4 + 8 + 16 + 32 + 32 + 32
    assert max(topic.rested) == 1.0
    assert topic.committed == [1, 2]
    assert len(taking.taken) == 2


def test_a_stop_while_the_server_is_away_commits_nothing() -> None:
    topic = Topic(a_record(1), a_record(2))
    topic.stopped = lambda: len(topic.rested) >= 3  # type: ignore[method-assign]
    done = consume(topic, Taking(topic, away=99), lambda record, reason: None, topic.stopped)
    assert (topic.committed, done) == ([], Consumed())


def test_an_address_that_is_no_headwater_stops_without_a_commit() -> None:
    class Stranger(Taking):
        def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
            raise HeadwaterError("answers 404")

    topic = Topic(a_record(1), a_record(2))
    with pytest.raises(HeadwaterError, match="404"):
        consume(topic, Stranger(topic), lambda record, reason: None, topic.stopped)
    assert topic.committed == []


# --- the client ----------------------------------------------------------------------------------


class Message:
    def __init__(self, offset: int, error: Any = None) -> None:
        self._offset, self._error = offset, error

    def topic(self) -> str:
        return "spline"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def headers(self) -> None:
        return None

    def value(self) -> bytes:
        return PLAN

    def error(self) -> Any:
        return self._error


class Failure:
    def __init__(self, *, fatal: bool) -> None:
        self._fatal = fatal

    def fatal(self) -> bool:
        return self._fatal

    def str(self) -> str:
        return "all brokers are down"


class Client:
    """The wire client: gives prepared messages, and remembers its calls."""

    def __init__(self, *messages: Message | None, commits: bool = True) -> None:
        self.messages = list(messages)
        self.commits = commits
        self.calls: list[str] = []

    def poll(self, seconds: float) -> Message | None:
        self.calls.append("poll")
        return self.messages.pop(0) if self.messages else None

    def commit(self, *, message: Message, asynchronous: bool) -> None:
        self.calls.append(f"commit {message.offset()} {asynchronous}")
        if not self.commits:
            raise KafkaException("the group has moved on")

    def assignment(self) -> list[int]:
        return [0]

    def pause(self, partitions: list[int]) -> None:
        self.calls.append(f"pause {partitions}")

    def resume(self, partitions: list[int]) -> None:
        self.calls.append(f"resume {partitions}")


def test_resting_polls_paused_partitions_and_loses_no_record() -> None:
    client = Client(Message(1), Message(2))
    source = KafkaSource(client, KafkaException)
    source.rest(1.0)
    assert client.calls == ["pause [0]", "poll", "resume [0]"]
    assert [record.offset for record in (source.poll(0), source.poll(0)) if record] == [1, 2]


def test_a_commit_waits_for_the_broker_and_its_failure_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = Client(Message(3), commits=False)
    source = KafkaSource(client, KafkaException)
    record = source.poll(0)
    assert record is not None
    source.commit(record)
    assert client.calls[-1] == "commit 3 False"
    assert "could not be committed: the group has moved on" in caplog.text


def test_a_passing_error_is_logged_and_a_fatal_one_ends(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(Message(0, Failure(fatal=False)), Message(0, Failure(fatal=True)))
    source = KafkaSource(client, KafkaException)
    assert source.poll(0) is None
    assert "all brokers are down" in caplog.text
    with pytest.raises(HeadwaterError, match="all brokers are down"):
        source.poll(0)


def test_a_group_goes_on_where_it_stopped() -> None:
    """The real client against the broker that librdkafka brings for tests."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": ""})
    bootstrap = ",".join(
        f"{broker.host}:{broker.port}"
        for broker in producer.list_topics(timeout=60).brokers.values()
    )
    for value, kind in ((PLAN, "ExecutionPlan_1.2"), (EVENT, "ExecutionEvent_1.2"), (b"{", "x")):
        producer.produce("spline", value, partition=0, headers={"__TypeId__": kind})
    assert producer.flush(60) == 0
    taken: list[str] = []

    class Listing(Taking):
        def take(self, documents: Sequence[Prepared]) -> tuple[Refusal, ...]:
            taken.append(documents[0].submission.kind)
            return ()

    def run(until: int) -> Consumed:
        polls = iter(range(60))
        aside: list[str] = []
        with kafka_source(bootstrap, "spline", "headwater", QUICK) as source:
            return consume(
                source, Listing(Topic()), lambda record, reason: aside.append(reason),
                lambda: len(taken) + len(aside) >= until or next(polls, None) is None,
            )  # fmt: skip

    assert run(1) == Consumed(taken=1)
    assert run(3) == Consumed(taken=1, set_aside=1)
    assert taken == ["plan", "event"]


# --- the command ---------------------------------------------------------------------------------

CALL = ["consume", "kafka", "--bootstrap", "127.0.0.1:9", "--topic", "spline"]


def said(*arguments: str) -> tuple[int, str]:
    errors = io.StringIO()
    return command_line.run([*CALL, *arguments], {}, io.StringIO(), errors), errors.getvalue()


def test_a_missing_client_is_one_line_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    code, errors = said()
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "pip install 'confluent-kafka" in errors


def test_a_setting_that_the_client_refuses_is_one_line() -> None:
    code, errors = said("--property", "no.such=1")
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "no.such" in errors
    with pytest.raises(ConfigurationError), kafka_source("127.0.0.1:9", "t", "g", {"no.such": "1"}):
        pass


def test_direct_and_through_a_server_exclude_each_other() -> None:
    with pytest.raises(SystemExit):
        said("--direct", "--url", "http://127.0.0.1:1")
