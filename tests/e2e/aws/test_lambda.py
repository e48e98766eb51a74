"""The functions on Lambda, over moto's SQS and S3: gateways, the queue road, uploads, failures."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from api.serving.storage import open_storage
from api.settings import read_settings
from aws import accept as accepting
from aws import enqueue as enqueuing
from aws import take as taking
from aws.accept import Accept, make_accept
from aws.enqueue import Enqueue, make_enqueue
from aws.invocations import deadline
from aws.project import Project
from aws.take import make_take
from aws.waking import WAKE_UP
from collectors.sqs.queues import Queue
from graph_model.errors import ConfigurationError, GraphUnavailable, JournalUnavailable
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.journal import Journal
from graph_model.stores.keys import ID_BYTES, SECRET_BYTES, KeyRequest, SqlKeys, make_key
from graph_model.values import Role
from tests.aws import Aws, environment_of, moto_server
from tests.e2e.producer_service import SPLINE_1_2, a_plan, an_event
from tests.lambda_runtime import (
    FORMATS,
    EventSource,
    Request,
    TimeLeft,
    headers_of,
    http_api_1,
    http_api_2,
    json_of,
)
from tests.memory_graph import MemoryGraph
from tests.waiting import eventually

VERSIONS = "ABSA-Spline-API-Version"
NO_TIME = TimeLeft(1_000)
ALL_TIME = TimeLeft(300_000)
BOMB = gzip.compress(bytes(65 << 20))


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server:
        yield server


@dataclass
class Cloud:
    """An empty deployment: queues, a bucket, a journal in a file."""

    aws: Aws
    folder: Path
    projection: str
    events: str
    dead: str
    bucket: str

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "HEADWATER_DATA": str(self.folder),
            "HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin",
            "HEADWATER_INSECURE": "true",
            "HEADWATER_PROJECTION_QUEUE": self.projection,
            "HEADWATER_EVENT_QUEUE": self.events,
            "HEADWATER_DEAD_LETTER_QUEUE": self.dead,
            "HEADWATER_UPLOADS": f"s3://{self.bucket}/in",
            **more,
        }

    def journal(self) -> Journal:
        return Journal(open_storage(read_settings(self.environment()), make=True))

    def documents(self) -> tuple[StoredDocument, ...]:
        journal = self.journal()
        found = journal.documents(range(1, journal.newest() + 1))
        journal.close()
        return found

    def count(self, url: str) -> int:
        return EventSource(self.aws, url).count()

    def dead_letters(self) -> list[tuple[str, str]]:
        """Bodies and reasons."""
        found = self.aws.client("sqs").receive_message(
            QueueUrl=self.dead, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        )
        return [
            (one["Body"], one["MessageAttributes"]["reason"]["StringValue"])
            for one in found.get("Messages", [])
        ]


@pytest.fixture
def cloud(aws: Aws, tmp_path: Path) -> Iterator[Cloud]:
    made = Cloud(
        aws,
        tmp_path / "data",
        aws.queue(),
        aws.queue(fifo=True),
        aws.queue(fifo=True),
        aws.bucket(),
    )
    with environment_of(aws):
        yield made


def post(path: str, value: Any, *headers: tuple[str, str], body: bytes | None = None) -> Request:
    content = json.dumps(value).encode() if body is None else body
    given = headers or (("Content-Type", "application/json"),)
    return Request("POST", path, content, given)


PLAN = post("/producer/execution-plans", a_plan(), ("Content-Type", SPLINE_1_2))
EVENTS = post("/producer/execution-events", [an_event()], ("Content-Type", SPLINE_1_2))


def run_event(run: str, number: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "eventType": "RUNNING",
        "eventTime": f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}Z",
        "producer": "https://github.com/apache/airflow",
        "run": {"runId": run},
        "job": {"namespace": "hr", "name": f"job-{run}"},
        "inputs": [{"namespace": "postgres://one", "name": "dev.public.orders"}],
        "outputs": [{"namespace": "s3://lake", "name": "orders"}],
        **changes,
    }


# --- accept --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_a_plan_and_its_event_come_through_every_gateway(
    cloud: Cloud, form: Callable[[Request], dict[str, Any]]
) -> None:
    accept = make_accept(cloud.environment())
    answer = accept.answer(form(PLAN), ALL_TIME)
    assert (answer["statusCode"], json_of(answer)) == (201, a_plan()["id"])
    assert accept.answer(form(EVENTS), ALL_TIME)["statusCode"] == 201
    assert [one.kind for one in cloud.documents()] == ["plan", "event"]
    assert cloud.count(cloud.projection) == 2


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_a_compressed_body_comes_through_every_gateway(
    cloud: Cloud, form: Callable[[Request], dict[str, Any]]
) -> None:
    packed = gzip.compress(PLAN.body)
    headers = (("Content-Type", SPLINE_1_2), ("Content-Encoding", "gzip"))
    request = post("/execution-plans", None, *headers, body=packed)
    assert make_accept(cloud.environment()).answer(form(request), ALL_TIME)["statusCode"] == 201


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("http-api-1", ["1.2", "1.1", "1"]),
        ("rest-api", ["1.2", "1.1", "1"]),
        ("alb", ["1.2", "1.1", "1"]),
        ("http-api-2", ["1.2"]),
        ("alb-single", ["1.2"]),
    ],
)
def test_the_handshake_names_versions_one_a_line_or_the_highest_alone(
    cloud: Cloud, name: str, versions: list[str]
) -> None:
    status = Request("HEAD", "/producer/status", headers=(("Host", "x"),))
    answer = make_accept(cloud.environment()).answer(FORMATS[name](status), ALL_TIME)
    assert answer["statusCode"] == 200
    assert headers_of(answer, VERSIONS) == versions
    assert headers_of(answer, "ABSA-Spline-Accept-Request-Encoding") == ["gzip"]
    assert answer["body"] == ""


def test_a_question_has_its_query(cloud: Cloud) -> None:
    accept = make_accept(cloud.environment())
    accept.answer(http_api_1(PLAN), ALL_TIME)
    request = Request("GET", "/journal", query=(("summary", "true"),))
    for form in FORMATS.values():
        answer = accept.answer(form(request), ALL_TIME)
        assert (answer["statusCode"], json_of(answer)["received"]) == (200, 1)


def test_a_name_in_a_path_keeps_its_slash(cloud: Cloud) -> None:
    accept = make_accept(cloud.environment())
    for form in FORMATS.values():
        answer = accept.answer(form(Request("GET", "/api/v1/namespaces/a%2Fb")), ALL_TIME)
        assert "no namespace 'a/b' is known" in json_of(answer)["message"]


def test_an_answer_that_a_function_cannot_return_says_so(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = make_accept(cloud.environment())
    monkeypatch.setattr(accepting, "MOST_ANSWERED", 1_000)
    answer = accept.answer(http_api_1(Request("GET", "/openapi.json")), ALL_TIME)
    assert answer["statusCode"] == 400
    assert "ask for less" in json_of(answer)["message"]


def test_a_document_is_taken_although_the_projector_cannot_be_woken(cloud: Cloud) -> None:
    nowhere = f"{cloud.projection}-nowhere"
    accept = make_accept(cloud.environment(HEADWATER_PROJECTION_QUEUE=nowhere))
    assert accept.answer(http_api_1(PLAN), ALL_TIME)["statusCode"] == 201
    assert len(cloud.documents()) == 1


def test_a_refused_document_wakes_nobody(cloud: Cloud) -> None:
    accept = make_accept(cloud.environment())
    answer = accept.answer(http_api_1(post("/execution-plans", {"id": 1})), ALL_TIME)
    assert answer["statusCode"] == 400
    assert cloud.count(cloud.projection) == 0


def make_a_key(cloud: Cloud, *roles: Role) -> str:
    request = KeyRequest("glue", frozenset(roles), scope="account-1")
    made = make_key(request, b"\x01" * (ID_BYTES + SECRET_BYTES), 0)
    SqlKeys(open_storage(read_settings(cloud.environment()), make=True)).add(made.key)
    return made.text


def test_a_gateway_is_no_reason_to_do_without_keys(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = cloud.environment(HEADWATER_INSECURE="false")
    with pytest.raises(ConfigurationError, match="keys create"):
        make_accept(environment)
    accepting._accept.cache_clear()
    with environment_of(cloud.aws, **environment):
        answer = accepting.handler(http_api_1(PLAN), ALL_TIME)
    assert answer["statusCode"] == 503
    assert "Retry-After" in answer["headers"]
    accepting._accept.cache_clear()


def test_a_function_without_its_settings_is_refused(cloud: Cloud) -> None:
    for make, variable in (
        (make_accept, "HEADWATER_PROJECTION_QUEUE"),
        (make_accept, "HEADWATER_GREMLIN_URL"),
        (make_enqueue, "HEADWATER_EVENT_QUEUE"),
        (make_take, "HEADWATER_DEAD_LETTER_QUEUE"),
    ):
        with pytest.raises(ConfigurationError, match=variable):
            make(cloud.environment(**{variable: ""}))


# --- project -------------------------------------------------------------------------------------


@dataclass
class Projection:
    graph: MemoryGraph
    journal: Journal
    project: Project

    def run(self, event: Mapping[str, Any], left: TimeLeft = ALL_TIME) -> dict[str, Any]:
        return self.project.run(event, deadline(left))

    def pending(self) -> int:
        return self.journal.summary().pending


class AwayGraph(MemoryGraph):
    """A graph that does not answer for a while."""

    away = False

    def ping(self) -> None:
        if self.away:
            raise GraphUnavailable("the graph does not answer")

    def vertices(self, ids: Any) -> Any:
        self.ping()
        return super().vertices(ids)


@pytest.fixture
def projection(cloud: Cloud) -> Iterator[Projection]:
    database = open_storage(read_settings(cloud.environment()), make=True)
    journal, graph = Journal(database), AwayGraph()
    generations = Generations(database, journal)
    queue = Queue(cloud.projection, cloud.aws.client("sqs"))
    project = Project(database, Projector(journal, graph, generations), queue)
    yield Projection(graph, journal, project)
    generations.close()
    journal.close()


def test_a_wake_up_projects_all_that_the_journal_holds(
    cloud: Cloud, projection: Projection
) -> None:
    accept = make_accept(cloud.environment())
    for request in (PLAN, EVENTS):
        accept.answer(http_api_1(request), ALL_TIME)
    assert EventSource(cloud.aws, cloud.projection).poll(projection.run) == 2
    assert projection.pending() == 0
    assert projection.graph.count()[0] > 5
    assert cloud.count(cloud.projection) == 0


def test_each_projector_forgets_the_hashes_of_ended_functions_once_and_to_the_end(
    projection: Projection,
) -> None:
    left = [True, True, False]
    projection.project._forget_hashes = lambda: left.pop(0)
    for _ in range(2):
        projection.run({"source": "aws.invocations"})
    assert left == []


def test_the_schedule_finds_documents_that_no_message_tells(
    cloud: Cloud, projection: Projection
) -> None:
    accept = make_accept(cloud.environment(HEADWATER_PROJECTION_QUEUE=cloud.dead[:-5]))
    accept.answer(http_api_1(PLAN), ALL_TIME)
    assert projection.run({"source": "aws.invocations"}) == {"batchItemFailures": []}
    assert projection.pending() == 0


def test_when_time_is_nearly_up_a_new_wake_up_follows(cloud: Cloud, projection: Projection) -> None:
    make_accept(cloud.environment()).answer(http_api_1(PLAN), ALL_TIME)
    source = EventSource(cloud.aws, cloud.projection)
    assert source.poll(lambda event: projection.run(event, NO_TIME)) == 1
    assert projection.pending() == 1
    assert source.count() == 1
    source.drain(projection.run)
    assert projection.pending() == 0


def test_while_the_graph_is_away_every_wake_up_comes_again(
    cloud: Cloud, projection: Projection
) -> None:
    make_accept(cloud.environment()).answer(http_api_1(PLAN), ALL_TIME)
    projection.graph.away = True  # type: ignore[attr-defined]
    source = EventSource(cloud.aws, cloud.projection)
    for _ in range(3):
        assert source.poll(projection.run) == 1
    assert source.count() == 1
    with pytest.raises(GraphUnavailable):
        projection.run({"source": "aws.invocations"})
    projection.graph.away = False  # type: ignore[attr-defined]
    source.drain(projection.run)
    assert projection.pending() == 0


def test_repeated_and_late_wake_ups_change_nothing(cloud: Cloud, projection: Projection) -> None:
    make_accept(cloud.environment()).answer(http_api_1(PLAN), ALL_TIME)
    event = {"Records": [{"messageId": "a", "body": WAKE_UP}]}
    projection.run(event)
    before = projection.graph.count()
    for _ in range(3):
        assert projection.run(event) == {"batchItemFailures": []}
    assert projection.graph.count() == before


# --- the queue road ------------------------------------------------------------------------------


def enqueue(cloud: Cloud, **more: str) -> Callable[[Request], dict[str, Any]]:
    made: Enqueue = make_enqueue(cloud.environment(**more))
    return lambda request: made.answer(http_api_2(request))


def take(cloud: Cloud, **more: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    made = make_take(cloud.environment(**more))
    return lambda event: made.run(event, deadline(ALL_TIME))


def lineage(value: Any) -> Request:
    return post("/api/v1/lineage", value)


def test_events_reach_the_journal_in_the_order_of_their_runs(cloud: Cloud) -> None:
    send = enqueue(cloud)
    runs = ("a", "b", "c")
    for number in range(12):
        for run in runs:
            assert send(lineage(run_event(run, number)))["statusCode"] == 201
    source = EventSource(cloud.aws, cloud.events)
    assert source.drain(take(cloud)) == 36
    found = [json.loads(one.body) for one in cloud.documents()]
    for run in runs:
        times = [one["eventTime"] for one in found if one["run"]["runId"] == run]
        assert times == [run_event(run, number)["eventTime"] for number in range(12)]
    assert cloud.count(cloud.projection) == 4


def test_a_batch_is_a_message_for_each_event(cloud: Cloud) -> None:
    events = [run_event(f"run-{number % 7}", number) for number in range(25)]
    assert enqueue(cloud)(post("/api/v1/lineage/batch", events))["statusCode"] == 201
    assert cloud.count(cloud.events) == 25
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    assert len(cloud.documents()) == 25


def test_an_event_that_is_sent_twice_is_there_once(cloud: Cloud) -> None:
    send = enqueue(cloud)
    for _ in range(3):
        send(lineage(run_event("a")))
    assert cloud.count(cloud.events) == 1
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    assert len(cloud.documents()) == 1


def test_a_batch_that_is_delivered_again_adds_no_document(cloud: Cloud) -> None:
    send, function = enqueue(cloud), take(cloud)
    send(lineage(run_event("a")))
    delivered: list[dict[str, Any]] = []

    def twice(event: dict[str, Any]) -> dict[str, Any]:
        delivered.append(event)
        function(event)
        return function(event)

    EventSource(cloud.aws, cloud.events).drain(twice)
    assert len(delivered) == 1
    assert len(cloud.documents()) == 1


def test_a_poisoned_message_is_set_aside_with_its_reason_and_others_are_taken(
    cloud: Cloud,
) -> None:
    send = enqueue(cloud)
    poison = run_event("a", 1, job={"namespace": "hr"})
    for event in (run_event("a", 0), poison, run_event("a", 2), run_event("b", 0)):
        send(lineage(event))
    source = EventSource(cloud.aws, cloud.events)
    source.drain(take(cloud))
    assert len(cloud.documents()) == 3
    ((body, reason),) = cloud.dead_letters()
    assert json.loads(body) == poison
    assert reason.startswith("job.name: expected")


def test_a_message_that_nobody_understands_is_set_aside(cloud: Cloud) -> None:
    sqs = cloud.aws.client("sqs")
    for number, body in enumerate(("{", '{"x": 1}')):
        sqs.send_message(
            QueueUrl=cloud.events,
            MessageBody=body,
            MessageGroupId="g",
            MessageDeduplicationId=str(number),
        )
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    assert [body for body, _ in cloud.dead_letters()] == ["{", '{"x": 1}']
    assert cloud.documents() == ()


def test_while_the_dead_letter_queue_is_away_poison_stays_and_blocks_its_run_alone(
    cloud: Cloud,
) -> None:
    send = enqueue(cloud)
    for event in (run_event("a", 0, job={}), run_event("a", 1), run_event("b", 0)):
        send(lineage(event))
    nowhere = cloud.dead.replace(".fifo", "-nowhere.fifo")
    source = EventSource(cloud.aws, cloud.events)
    source.poll(take(cloud, HEADWATER_DEAD_LETTER_QUEUE=nowhere))
    assert [json.loads(one.body)["run"]["runId"] for one in cloud.documents()] == ["b"]
    assert source.count() == 2
    source.drain(take(cloud))
    assert len(cloud.documents()) == 2
    assert len(cloud.dead_letters()) == 1


def test_an_event_sent_before_a_message_that_cannot_be_read_is_taken(cloud: Cloud) -> None:
    """Else it would reach the bound of deliveries with it, and the dead-letter queue."""
    send = enqueue(cloud)
    for event in (run_event("a", 0), run_event("a", 1, text="ü" * 200_000), run_event("a", 2)):
        send(lineage(event))
    source = EventSource(cloud.aws, cloud.events)
    source.poll(take(cloud, HEADWATER_UPLOADS="s3://headwater-nowhere/in"))
    assert (source.count(), len(cloud.documents())) == (2, 1)
    source.drain(take(cloud))
    found = [json.loads(one.body)["eventTime"][-3:] for one in cloud.documents()]
    assert found == ["00Z", "01Z", "02Z"]


def test_without_the_journal_every_message_comes_again_in_order(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = enqueue(cloud)
    for number in range(3):
        send(lineage(run_event("a", number)))
    function = take(cloud)
    source = EventSource(cloud.aws, cloud.events)
    real = Journal.accept
    monkeypatch.setattr(Journal, "accept", _journal_away)
    for _ in range(2):
        assert source.poll(function) == 3
    assert source.count() == 3
    monkeypatch.setattr(Journal, "accept", real)
    source.drain(function)
    assert [json.loads(one.body)["eventTime"][-3:] for one in cloud.documents()] == [
        "00Z",
        "01Z",
        "02Z",
    ]


def _journal_away(*_: Any, **__: Any) -> Any:
    raise JournalUnavailable("the database does not answer")


def test_without_time_left_nothing_is_begun(cloud: Cloud) -> None:
    enqueue(cloud)(lineage(run_event("a")))
    made = make_take(cloud.environment())
    source = EventSource(cloud.aws, cloud.events)
    source.poll(lambda event: made.run(event, deadline(NO_TIME)))
    assert (source.count(), cloud.documents()) == (1, ())


def test_a_message_that_fails_unforeseen_is_poison_after_five_deliveries(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(cloud)(lineage(run_event("a")))
    function = take(cloud)

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("collectors.sqs.messages.prepare", fail)
    source = EventSource(cloud.aws, cloud.events)
    for _ in range(4):
        source.poll(function)
    assert (source.count(), cloud.count(cloud.dead)) == (1, 0)
    source.poll(function)
    assert source.count() == 0
    assert cloud.dead_letters()[0][1] == "failed 5 times: ZeroDivisionError"


def test_datasets_are_renamed_by_rules_before_they_reach_the_journal(
    cloud: Cloud, tmp_path: Path
) -> None:
    rule = {
        "producer": ".*airflow",
        "namespace": "postgres://one",
        "dataset": r"dev\.(?P<table>.*)",
        "to": {"namespace": "redshift://one", "dataset": r"lake.\g<table>"},
    }
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": [rule]}))
    cloud.aws.client("s3").put_object(
        Bucket=cloud.bucket, Key="rules.json", Body=rules.read_bytes()
    )
    enqueue(cloud)(lineage(run_event("a")))
    places = (str(rules), f"s3://{cloud.bucket}/rules.json")
    functions = [take(cloud, HEADWATER_REWRITE_RULES=place) for place in places]
    EventSource(cloud.aws, cloud.events).poll(functions[0])
    (document,) = cloud.documents()
    (dataset,) = json.loads(document.body)["inputs"]
    assert (dataset["namespace"], dataset["name"]) == ("redshift://one", "lake.public.orders")
    with pytest.raises(ConfigurationError, match=r"rules\.json"):
        take(cloud, HEADWATER_REWRITE_RULES=f"s3://{cloud.bucket}/no/rules.json")


def test_an_event_larger_than_a_message_goes_through_the_bucket(cloud: Cloud) -> None:
    large = run_event("a", 1, text="ü" * 200_000)
    send = enqueue(cloud)
    for event in (run_event("a", 0), large, run_event("a", 2)):
        assert send(lineage(event))["statusCode"] == 201
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    assert [json.loads(one.body)["eventTime"][-3:] for one in cloud.documents()] == [
        "00Z",
        "01Z",
        "02Z",
    ]
    assert json.loads(cloud.documents()[1].body)["text"] == large["text"]


def test_a_pointer_to_nothing_is_set_aside(cloud: Cloud) -> None:
    enqueue(cloud)(lineage(run_event("a", text="x" * 300_000)))
    s3 = cloud.aws.client("s3")
    for one in s3.list_objects_v2(Bucket=cloud.bucket)["Contents"]:
        s3.delete_object(Bucket=cloud.bucket, Key=one["Key"])
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    assert "it is not there" in cloud.dead_letters()[0][1]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (Request("GET", "/api/v1/lineage"), 405),
        (post("/api/v1/lineage", None, body=b"{"), 400),
        (post("/api/v1/lineage", None, body=b""), 400),
        (post("/api/v1/lineage", [1]), 400),
        (post("/x", None, ("Content-Encoding", "br"), body=b"x"), 415),
        (post("/x", None, ("Content-Encoding", "gzip"), body=b"x"), 400),
        (post("/x", None, ("Content-Encoding", "gzip"), body=BOMB), 413),
    ],
)
def test_a_body_that_is_no_event_is_refused_at_the_door(
    cloud: Cloud, request_: Request, status: int
) -> None:
    answer = enqueue(cloud)(request_)
    assert (answer["statusCode"], json_of(answer)["code"]) == (status, status)
    assert cloud.count(cloud.events) == 0


def test_without_the_queue_the_client_is_told_to_come_again(cloud: Cloud) -> None:
    nowhere = cloud.events.replace(".fifo", "-nowhere.fifo")
    answer = enqueue(cloud, HEADWATER_EVENT_QUEUE=nowhere)(lineage(run_event("a")))
    assert answer["statusCode"] == 503


def test_a_compressed_event_is_enqueued(cloud: Cloud) -> None:
    packed = gzip.compress(json.dumps(run_event("a")).encode())
    request = post("/x", None, ("Content-Encoding", "gzip"), body=packed)
    assert enqueue(cloud)(request)["statusCode"] == 201


@pytest.mark.parametrize(
    ("format_of", "recognised", "name"),
    [
        (
            http_api_2,
            {"authorizer": {"iam": {"userArn": "arn:aws:sts::1:glue"}}},
            "arn:aws:sts::1:glue",
        ),
        (http_api_2, {"authorizer": {"jwt": {"claims": {"sub": "dbt"}}}}, "dbt"),
        (http_api_1, {"authorizer": {"claims": {"sub": "dbt"}, "scopes": None}}, "dbt"),
        (http_api_1, {"authorizer": {"key": "hr", "principalId": "hr"}}, "hr"),
        (
            http_api_1,
            {
                "authorizer": {"claims": None, "scopes": None},
                "identity": {"userArn": "arn:aws:sts::1:glue"},
            },
            "arn:aws:sts::1:glue",
        ),
        (http_api_1, {"authorizer": {"claims": None, "scopes": None}}, "gateway"),
    ],
    ids=["role-2", "token-2", "token-1", "key-1", "role-1", "nobody-1"],
)
def test_the_sender_is_the_caller_that_the_gateway_recognised(
    cloud: Cloud,
    format_of: Callable[[Request], dict[str, Any]],
    recognised: dict[str, Any],
    name: str,
) -> None:
    made = make_enqueue(cloud.environment())
    event = format_of(lineage(run_event("a")))
    event["requestContext"].update(recognised)
    made.answer(event)
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    journal = cloud.journal()
    (receipt,) = journal.receipts(1)
    journal.close()
    assert (receipt.principal, receipt.route) == (name, "sqs")


class Throttled:
    """A client of SQS that refuses some messages of the first requests."""

    def __init__(self, client: Any, times: int) -> None:
        self._client = client
        self._times = times

    def send_message_batch(self, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Any:
        if self._times == 0:
            return self._client.send_message_batch(QueueUrl=QueueUrl, Entries=Entries)
        self._times -= 1
        half = len(Entries) // 2
        if half:
            self._client.send_message_batch(QueueUrl=QueueUrl, Entries=Entries[half:])
        failed = [{"Id": one["Id"], "Code": "Throttled"} for one in Entries[: half or 1]]
        return {"Failed": failed}


@pytest.mark.parametrize(("times", "status"), [(2, 201), (9, 503)])
def test_a_throttled_queue_gets_each_message_once_or_the_client_hears_of_it(
    cloud: Cloud, times: int, status: int
) -> None:
    queue = Queue(cloud.events, Throttled(cloud.aws.client("sqs"), times))
    made = Enqueue(read_settings(cloud.environment()), queue, None)
    events = [run_event("a", 0), run_event("b", 0), run_event("a", 1), run_event("c", 0)]
    request = http_api_2(post("/api/v1/lineage/batch", events))
    assert made.answer(request)["statusCode"] == status
    if status != 201:
        assert make_enqueue(cloud.environment()).answer(request)["statusCode"] == 201
    EventSource(cloud.aws, cloud.events).drain(take(cloud))
    found = [json.loads(one.body) for one in cloud.documents()]
    assert len(found) == 4
    of_a = [one["eventTime"][-3:] for one in found if one["run"]["runId"] == "a"]
    assert of_a == ["00Z", "01Z"]


# --- uploads -------------------------------------------------------------------------------------


def notifying(cloud: Cloud) -> str:
    """A queue that S3 notifies of uploads."""
    url = cloud.aws.queue()
    sqs = cloud.aws.client("sqs")
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    rule = {"Name": "prefix", "Value": "in/uploads/"}
    cloud.aws.client("s3").put_bucket_notification_configuration(
        Bucket=cloud.bucket,
        NotificationConfiguration={
            "QueueConfigurations": [
                {
                    "QueueArn": arn["QueueArn"],
                    "Events": ["s3:ObjectCreated:*"],
                    "Filter": {"Key": {"FilterRules": [rule]}},
                }
            ]
        },
    )
    return url


def announced(content: bytes, **more: Any) -> dict[str, Any]:
    return {
        "kind": "plan",
        "apiVersion": "1.2",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        **more,
    }


def upload(accept: Accept, content: bytes, announcement: Mapping[str, Any]) -> None:
    answer = accept.answer(http_api_1(post("/uploads", announcement)), ALL_TIME)
    assert answer["statusCode"] == 201, answer["body"]
    told = json_of(answer)
    put = requests.put(told["url"], data=content, headers=told["headers"], timeout=60)
    assert put.status_code == 200, put.text


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_giant_plan_is_uploaded_past_gateway_and_function(cloud: Cloud, encoding: str) -> None:
    queue = notifying(cloud)
    plan = a_plan()
    plan["name"] = "x" * 7_000_000
    content = json.dumps(plan).encode()
    content = gzip.compress(content) if encoding == "gzip" else content
    upload(make_accept(cloud.environment()), content, announced(content, encoding=encoding))
    EventSource(cloud.aws, queue, batch=1).drain(take(cloud))
    (document,) = cloud.documents()
    assert json.loads(document.body)["name"] == plan["name"]


def test_events_and_lineage_can_be_uploaded_as_lists(cloud: Cloud) -> None:
    queue = notifying(cloud)
    accept = make_accept(cloud.environment())
    events = json.dumps([an_event(), an_event(timestamp=1_700_000_000_001)]).encode()
    upload(accept, events, announced(events, kind="event"))
    lines = json.dumps([run_event("a"), run_event("b")]).encode()
    upload(accept, lines, announced(lines, kind="lineage", apiVersion=""))
    EventSource(cloud.aws, queue, batch=1).drain(take(cloud))
    assert sorted(one.kind for one in cloud.documents()) == [
        "event",
        "event",
        "run-event",
        "run-event",
    ]


def test_an_uploaded_object_that_is_no_plan_is_set_aside(cloud: Cloud) -> None:
    queue = notifying(cloud)
    content = b'{"id": 1}'
    upload(make_accept(cloud.environment()), content, announced(content))
    EventSource(cloud.aws, queue, batch=1).drain(take(cloud))
    assert cloud.documents() == ()
    reason = cloud.dead_letters()[0][1]
    assert reason.startswith("id: expected a UUID string; operations: expected a JSON object; ")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "command"}, "kind"),
        ({"apiVersion": "9"}, "apiVersion"),
        ({"kind": "lineage"}, "apiVersion"),
        ({"sha256": "x"}, "sha256"),
        ({"size": 0}, "size"),
        ({"size": 65 * 1024 * 1024}, "size"),
        ({"encoding": "br"}, "encoding"),
        ({"more": 1}, "more"),
    ],
)
def test_an_announcement_that_cannot_be_honoured_is_refused(
    cloud: Cloud, change: dict[str, Any], field: str
) -> None:
    accept = make_accept(cloud.environment())
    answer = accept.answer(http_api_1(post("/uploads", announced(b"x", **change))), ALL_TIME)
    assert answer["statusCode"] == 400
    assert list(json_of(answer)["errors"]) == [field]


def test_without_a_bucket_there_is_no_place_for_uploads(cloud: Cloud) -> None:
    accept = make_accept(cloud.environment(HEADWATER_UPLOADS=""))
    answer = accept.answer(http_api_1(post("/uploads", announced(b"x"))), ALL_TIME)
    assert answer["statusCode"] == 404


def test_a_document_that_was_uploaded_has_the_sender_and_the_scope_of_the_key(
    cloud: Cloud,
) -> None:
    queue = notifying(cloud)
    text = make_a_key(cloud, Role.PRODUCER)
    accept = make_accept(cloud.environment(HEADWATER_INSECURE="false"))
    content = json.dumps(a_plan()).encode()
    headers = (("Content-Type", "application/json"), ("X-API-Key", text))
    answer = accept.answer(http_api_1(post("/uploads", announced(content), *headers)), ALL_TIME)
    told = json_of(answer)
    requests.put(told["url"], data=content, headers=told["headers"], timeout=60)
    EventSource(cloud.aws, queue, batch=1).drain(take(cloud))
    (document,) = cloud.documents()
    assert document.scope == "account-1"
    assert document.state == DocumentState.PENDING
    journal = cloud.journal()
    assert journal.receipts(1)[0].principal == "glue"
    journal.close()
    without = accept.answer(http_api_1(post("/uploads", announced(content))), ALL_TIME)
    assert without["statusCode"] == 401


# --- entry points --------------------------------------------------------------------------------


def test_the_entry_points_keep_their_parts_between_events(cloud: Cloud) -> None:
    with environment_of(cloud.aws, **cloud.environment()):
        for made in (accepting._accept, enqueuing._enqueue, taking._take):
            made.cache_clear()
        assert accepting.handler(http_api_1(PLAN), ALL_TIME)["statusCode"] == 201
        assert accepting._accept() is accepting._accept()
        sent = enqueuing.handler(http_api_2(lineage(run_event("a"))), ALL_TIME)
        assert sent["statusCode"] == 201
        EventSource(cloud.aws, cloud.events).drain(lambda event: taking.handler(event, ALL_TIME))
        for made in (accepting._accept, enqueuing._enqueue, taking._take):
            made.cache_clear()
    assert len(cloud.documents()) == 2


def test_a_consumer_in_a_container_takes_the_same_messages(cloud: Cloud) -> None:
    """``headwater consume sqs``, stopped once the queue is empty."""
    send = enqueue(cloud)
    for event in (run_event("a", 0), run_event("a", 1, job={}), run_event("b", 0)):
        send(lineage(event))
    environment = {**os.environ, **cloud.environment()}
    command = ["consume", "sqs", "--queue", cloud.events, "--direct"]
    process = subprocess.Popen(
        [sys.executable, "-m", "api.command_line", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    eventually(lambda: cloud.count(cloud.events) == 0)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert "2 documents taken, 1 set aside" in output
    assert len(cloud.documents()) == 2
    assert len(cloud.dead_letters()) == 1
