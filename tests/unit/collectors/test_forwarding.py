"""``headwater forward``: the journal sent on, in order, once, past failures and refusals."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
import hypothesis
import pytest
from botocore.config import Config
from botocore.stub import Stubber
from hypothesis import strategies as st

import collectors.forwarding
import graph_model.stores.forwarding
from api import command_line
from api.http.metrics import Metrics
from api.serving.storage import DATABASE_FILE, claim
from collectors.forwarding.backends import (
    DataZone,
    ForwardTarget,
    Kafka,
    OutgoingMessage,
    checked,
    open_backend,
    over_limits,
    read_definition,
    read_secret,
)
from collectors.forwarding.events import OpenLineageEvents
from collectors.forwarding.rounds import Forwarding, OpenBackend
from graph_model import naming
from graph_model.documents.files import Piece, prepare
from graph_model.errors import ConfigurationError, InvalidInput, Unavailable
from graph_model.producers.commands import COMMAND_KIND
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentKind, DocumentState, Receipt
from graph_model.stores.forwarding import DeadLetter, ForwardLease, ForwardStates
from graph_model.stores.journal import Journal
from tests.builders import PlanBuilder, a_document
from tests.killing import in_another_process, lines_of
from tests.recording_server import RecordingServer, recording_server

NOW = 1_772_352_900_000


class Estate:
    """A journal with its destinations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        database = open_database(folder / DATABASE_FILE)
        self.journal = Journal(database)
        self.states = ForwardStates(database)
        self.events = OpenLineageEvents(self.journal, naming.DEFAULT_RULES)

    def take(self, kind: DocumentKind, document: Any, sender: str = "jobs") -> int:
        prepared = prepare(
            Piece(kind, "1.2" if kind in (PLAN_KIND, EVENT_KIND) else "", document, "")
        )
        return self.journal.accept([prepared.submission], Receipt(NOW, sender, "test", ""))[0]

    def take_run(self, plan: dict[str, Any], **more: Any) -> None:
        """A plan and its execution."""
        self.take(PLAN_KIND, plan)
        self.take(EVENT_KIND, execution(plan, **more))

    def forward(self, definition: ForwardTarget, since: int = 0) -> None:
        """One round after the other until all is sent or something waits."""
        if "there" not in {state.name for state in self.states.list()}:
            self.states.add("there", checked(definition).text, since)
        self.forwarding().run(lambda _: False, once=True)

    def forwarding(
        self, definition: ForwardTarget | None = None, opened: OpenBackend = open_backend
    ) -> Forwarding:
        """Of the destination, which is added where ``definition`` says so."""
        if definition is not None:
            self.states.add("there", checked(definition).text, 0)
        return Forwarding("there", self.journal, self.states, self.events, lambda: NOW, opened)


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with recording_server() as recorder:
        yield recorder


def run_event(run: int, number: int = 0, **more: Any) -> dict[str, Any]:
    run_id = f"00000000-0000-0000-0000-{run:012}"
    return {
        "eventType": "RUNNING",
        "eventTime": f"2026-03-01T08:{number:02}:00Z",
        "producer": "https://example.com/client",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_id},
        "job": {"namespace": "etl", "name": f"job{run}"},
        **more,
    }


def sent(server: RecordingServer) -> list[tuple[str, str]]:
    return [
        (one.document["run"]["runId"][-2:], one.document["eventTime"]) for one in server.received
    ]


def execution(plan: Mapping[str, Any], at: int = NOW, **more: Any) -> dict[str, Any]:
    return {"planId": plan["id"], "timestamp": at, "durationNs": 5_000_000_000, "extra": {}, **more}


# --- what is sent --------------------------------------------------------------------------------


def test_events_are_sent_as_they_came_in_order_and_once(
    estate: Estate, server: RecordingServer
) -> None:
    for number in range(250):
        estate.take(RUN_EVENT_KIND, run_event(number % 3, number % 60, n=number))
    estate.forward(ForwardTarget("openlineage", server.url))
    bodies = [document.body for document in estate.journal.documents(range(1, 251))]
    assert [one.body for one in server.received] == bodies
    assert {one.path for one in server.received} == {"/api/v1/lineage"}
    estate.forward(ForwardTarget("openlineage", server.url))
    (state,) = estate.states.list()
    assert (len(server.received), state.position, state.sent, state.failure) == (250, 250, 250, "")


def test_an_address_with_a_path_is_posted_to_as_it_stands(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.forward(ForwardTarget("openlineage", f"{server.url}/events/v2"))
    assert [one.path for one in server.received] == ["/events/v2"]


@pytest.mark.parametrize("plan_first", [True, False])
def test_a_plan_and_its_execution_are_two_events_with_columns(
    estate: Estate, server: RecordingServer, *, plan_first: bool
) -> None:
    plan = a_document()
    documents = [(PLAN_KIND, plan), (EVENT_KIND, execution(plan))]
    for kind, document in documents if plan_first else reversed(documents):
        estate.take(kind, document)
    estate.forward(ForwardTarget("openlineage", server.url))
    start, end = (one.document for one in server.received)
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["eventTime"] == "2026-03-01T08:14:55.000Z"
    assert end["eventTime"] == "2026-03-01T08:15:00.000Z"
    assert start["run"]["runId"] == end["run"]["runId"]
    assert [(one["namespace"], one["name"]) for one in end["inputs"]] == [
        ("file", "/lake/employees")
    ]
    assert end["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    (output,) = end["outputs"]
    assert [one["name"] for one in output["facets"]["schema"]["fields"]] == ["id", "total"]
    lineage = output["facets"]["columnLineage"]
    origins = {
        column: sorted(
            (one["field"], how["type"], how["subtype"])
            for one in field["inputFields"]
            for how in one["transformations"]
        )
        for column, field in lineage["fields"].items()
    }
    assert origins == {
        "id": [("id", "DIRECT", "IDENTITY")],
        "total": [
            ("bonus", "DIRECT", "TRANSFORMATION"),
            ("salary", "DIRECT", "TRANSFORMATION"),
        ],
    }
    (decides,) = lineage["dataset"]
    assert decides["field"] == "salary"
    assert [how["subtype"] for how in decides["transformations"]] == ["FILTER"]


def test_the_events_made_of_a_plan_are_events_that_headwater_reads_alike(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take_run(a_document(), error="java.lang.Error: it broke\n\tat a.b.c")
    estate.forward(ForwardTarget("openlineage", server.url))
    for one in server.received:
        prepare(Piece(RUN_EVENT_KIND, "", one.document, ""))
    end = server.received[-1].document
    assert end["eventType"] == "FAIL"
    assert end["run"]["facets"]["errorMessage"]["message"].startswith("java.lang.Error: it broke")


def test_a_stream_and_the_catalog_name_of_its_table_are_told(
    estate: Estate, server: RecordingServer
) -> None:
    builder = PlanBuilder()
    table = {"table": {"identifier": {"database": "hr", "table": "out"}}}
    below = builder.read("file:/lake/employees", "id: int")
    builder.write(below, name="WriteToMicroBatchDataSource", params=table, append=True)
    estate.take_run(builder.document())
    estate.forward(ForwardTarget("openlineage", server.url))
    end = server.received[-1].document
    assert end["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    (output,) = end["outputs"]
    (link,) = output["facets"]["symlinks"]["identifiers"]
    assert link == {"namespace": "spark_catalog", "name": "hr.out", "type": "TABLE"}
    assert "symlinks" not in end["inputs"][0]["facets"]
    again = naming.openlineage_symlink(*link.values(), naming.DEFAULT_RULES)
    assert again == naming.catalog_table("hr", "out")


def test_another_headwater_gets_the_documents_themselves(
    estate: Estate, server: RecordingServer
) -> None:
    plan = a_document()
    estate.take_run(plan)
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.forward(ForwardTarget("headwater", server.url))
    assert [one.path for one in server.received] == [
        "/producer/execution-plans",
        "/producer/execution-events",
        "/api/v1/lineage",
    ]
    kinds = [one.headers["Content-Type"] for one in server.received]
    assert kinds[0] == "application/vnd.absa.spline.producer.v1.2+json"
    assert server.received[1].document[0]["planId"] == plan["id"]


def test_commands_and_what_came_from_there_and_what_is_to_be_forgotten_are_not_sent(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.take(RUN_EVENT_KIND, run_event(2), sender="harvest:datazone")
    estate.take(RUN_EVENT_KIND, run_event(3))
    forget(estate, 3)
    estate.forward(
        ForwardTarget("openlineage", server.url, never_from=("harvest:datazone",)),
    )
    assert [run for run, _ in sent(server)] == ["01"]
    assert estate.states.get("there").position == 4


def forget(estate: Estate, position: int) -> None:
    """A command that names a document, as it is before it has been carried out."""
    (stored,) = estate.journal.documents([position])
    estate.take(
        COMMAND_KIND,
        {
            "command": "forget", "author": "a", "time": NOW, "note": "", "target": "t",
            "planIds": [stored.subject_key], "documents": [stored.content_hash],
        },
    )  # fmt: skip


# --- failures ------------------------------------------------------------------------------------


def test_a_refused_document_is_set_aside_and_sent_again_when_asked(
    estate: Estate, server: RecordingServer
) -> None:
    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run))
    server.answer = lambda before: (422 if before == 1 else 201, {})
    server.said = b"no such field"
    estate.forward(ForwardTarget("openlineage", server.url))
    (letter,) = estate.states.letters("there", 10)
    assert (letter.position, letter.reason) == (2, "422 no such field")
    assert estate.states.get("there").position == 3
    server.answer = lambda _: (201, {})
    assert estate.states.replay("there") == 1
    estate.forward(ForwardTarget("openlineage", server.url))
    assert [run for run, _ in sent(server)] == ["00", "01", "02", "01"]
    assert estate.states.get("there").letters == 0


@pytest.mark.parametrize("status", [301, 401, 403, 404, 429, 500, 503])
def test_nothing_is_set_aside_where_the_failure_may_pass(
    estate: Estate, server: RecordingServer, status: int
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    server.answer = lambda _: (status, {"Location": server.url})
    estate.forward(ForwardTarget("openlineage", server.url))
    state = estate.states.get("there")
    assert (state.position, state.letters, state.failed_at) == (0, 0, NOW)
    assert state.failure.startswith(str(status))
    server.answer = lambda _: (201, {})
    estate.forward(ForwardTarget("openlineage", server.url))
    state = estate.states.get("there")
    assert (state.position, state.failure, len(server.received)) == (1, "", 2)


@hypothesis.given(
    runs=st.lists(st.integers(0, 4), max_size=40),
    failing=st.sets(st.integers(0, 60), max_size=20),
    connections=st.integers(1, 4),
)
@hypothesis.settings(max_examples=15)
def test_whatever_fails_every_run_arrives_in_order_and_once(
    tmp_path_factory: pytest.TempPathFactory,
    runs: Sequence[int],
    failing: set[int],
    connections: int,
) -> None:
    estate = Estate(tmp_path_factory.mktemp("journal"))
    for number, run in enumerate(runs):
        estate.take(RUN_EVENT_KIND, run_event(run, number))
    with recording_server() as server:
        calls, lock = iter(range(10_000)), threading.Lock()

        def answer(_: int) -> tuple[int, Mapping[str, str]]:
            with lock:
                return (503 if next(calls) in failing else 201), {}

        server.answer = answer
        backend = ForwardTarget("openlineage", server.url, connections=connections)
        delivered = _Delivered(backend)
        estate.states.add("there", backend.text, 0)
        forwarding = Forwarding(
            "there", estate.journal, estate.states, estate.events, lambda: NOW, delivered.open
        )
        for _ in range(len(failing) + 1):
            forwarding.run(lambda _: False, once=True)
        taken = delivered.positions
    assert Counter(taken) == Counter(range(len(runs)))
    for run in set(runs):
        own = [number for number in taken if runs[number] == run]
        assert own == sorted(own)


class _Delivered:
    """Keeps the numbers of the events that a real backend has taken."""

    def __init__(self, definition: ForwardTarget) -> None:
        self.positions: list[int] = []

    def open(self, definition: ForwardTarget) -> Any:
        backend, positions = open_backend(definition), self.positions

        class Noting:
            def send(self, message: OutgoingMessage) -> None:
                backend.send(message)
                positions.append(int(json.loads(message.body)["eventTime"][14:16]))

            def test(self) -> str:
                return backend.test()

        return Noting()


def forwarding_to(estate: Estate, backend: Any, **more: Any) -> Forwarding:
    """Of a destination that is added here, through ``backend``."""
    definition = ForwardTarget("openlineage", "http://there", **more)
    return estate.forwarding(definition, lambda _: backend)


class Taking:
    """A backend that takes all, and asks ``before`` first."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.bodies: list[bytes] = []
        self._before = before

    def send(self, message: OutgoingMessage) -> None:
        self._before()
        self.bodies.append(message.body)

    def test(self) -> str:
        return ""


def test_what_was_sent_while_the_database_was_away_is_noted_and_not_sent_twice(
    estate: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    backend = Taking()
    forwarding = forwarding_to(estate, backend)
    really, away = ForwardStates.advance, [True]

    def advance(*arguments: Any) -> None:
        if away:
            raise Unavailable("the database is busy")
        really(*arguments)

    monkeypatch.setattr(ForwardStates, "advance", advance)
    forwarding.run(lambda _: False, once=True)
    assert "busy" in estate.states.get("there").failure
    away.clear()
    forwarding.run(lambda _: False, once=True)
    state = estate.states.get("there")
    assert (len(backend.bodies), state.position, state.sent, state.failure) == (1, 1, 1, "")


def test_a_destination_that_is_added_again_during_a_round_starts_from_its_new_time(
    estate: Estate,
) -> None:
    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run))

    def add_again() -> None:
        estate.states.remove("there")
        estate.states.add("there", ForwardTarget("openlineage", "http://else").text, 1)

    backend = Taking(add_again)
    forwarding_to(estate, backend).run(lambda _: bool(backend.bodies))
    assert (estate.states.get("there").position, estate.states.get("there").sent) == (1, 0)


@pytest.mark.parametrize("kept", [True, False])
def test_a_document_that_is_forgotten_while_another_one_is_sent_is_not_sent(
    estate: Estate, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """The batch has its body, whether or not the command has been carried out by then."""
    monkeypatch.setattr("collectors.forwarding.rounds._LOOK_SECONDS", -1.0)
    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run))

    def forget_second() -> None:
        if not backend.bodies:
            forget(estate, 2)
            if not kept:
                estate.journal.settle([4], DocumentState.PROJECTED)

    backend = Taking(forget_second)
    forwarding_to(estate, backend).run(lambda _: False, once=True)
    assert [json.loads(body)["job"]["name"] for body in backend.bodies] == ["job0", "job2"]
    assert (estate.states.get("there").position, estate.states.get("there").sent) == (4, 2)


def test_a_round_ends_between_two_documents_once_the_process_is_to_stop(estate: Estate) -> None:
    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run))
    stopping = threading.Event()
    backend = Taking(stopping.set)
    forwarding_to(estate, backend).run(stopping.wait)
    state = estate.states.get("there")
    assert (len(backend.bodies), state.position, state.failure) == (1, 1, "")


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "120"},
        {
            "Date": "Sun, 01 Mar 2026 08:00:00 GMT",
            "Retry-After": "Sun, 01 Mar 2026 08:02:00 GMT",
        },
    ],
)
def test_a_destination_is_left_alone_for_as_long_as_it_says(
    estate: Estate, server: RecordingServer, headers: dict[str, str]
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    server.answer = lambda _: (429, headers)
    waited: list[float] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return seconds > 0

    estate.forwarding(ForwardTarget("openlineage", server.url)).run(wait)
    assert waited[-1] == 120
    assert (estate.states.get("there").letters, len(server.received)) == (0, 1)


def test_an_error_that_nobody_expects_waits_like_a_failure(estate: Estate) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))

    def fail() -> None:
        raise KeyError("no such thing")

    forwarding_to(estate, Taking(fail)).run(lambda _: False, once=True)
    state = estate.states.get("there")
    assert (state.position, state.letters) == (0, 0)
    assert state.failure == "KeyError: 'no such thing'"


def test_a_batch_holds_no_more_bytes_than_its_bound_and_one_document_at_least(
    estate: Estate,
) -> None:
    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run, text="a" * 1_000))

    def positions(most: int) -> list[int]:
        taken = estate.journal.in_order([RUN_EVENT_KIND], 0, 10, falling=False, most_bytes=most)
        return [document.position for document in taken]

    assert [positions(most) for most in (1, 3_000, 9_000)] == [[1], [1, 2], [1, 2, 3]]


def test_a_destination_waits_since_its_first_failure(estate: Estate) -> None:
    estate.states.add("there", ForwardTarget("openlineage", "http://there").text, 0)
    for at in (NOW, NOW + 60_000):
        estate.states.fail("there", "away", at)
    assert estate.states.get("there").failed_at == NOW
    estate.states.fail("there", "", None)
    assert estate.states.get("there").failed_at is None


def test_an_execution_of_a_plan_that_is_to_be_forgotten_is_not_sent(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take_run(a_document())
    (stored,) = estate.journal.documents([1])
    for number in range(3):
        estate.take(
            COMMAND_KIND,
            {
                "command": "forget", "author": "a", "time": NOW + number, "note": "", "target": "t",
                "planIds": [stored.subject_key],
                "documents": [stored.content_hash if number == 2 else "0" * 32],
            },
        )  # fmt: skip
    with pytest.MonkeyPatch.context() as pages:
        pages.setattr("collectors.forwarding.rounds._COMMANDS_AT_ONCE", 1)
        estate.forward(ForwardTarget("openlineage", server.url))
    assert server.received == []
    assert estate.states.get("there").letters == 0


def test_a_plan_whose_second_event_fails_goes_on_with_that_one(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take_run(a_document())
    server.answer = lambda before: (503 if before == 1 else 201, {})
    forwarding = estate.forwarding(ForwardTarget("openlineage", server.url))
    forwarding.run(lambda _: False, once=True)
    forwarding.run(lambda _: False, once=True)
    assert [one.document["eventType"] for one in server.received] == [
        "START",
        "COMPLETE",
        "COMPLETE",
    ]


def test_a_paused_destination_gets_nothing_and_a_removed_one_ends(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    forwarding = estate.forwarding(ForwardTarget("openlineage", server.url))
    estate.states.pause("there", paused=True)
    forwarding.run(lambda _: False, once=True)
    assert server.received == []
    estate.states.remove("there")
    forwarding.run(lambda _: False)  # returns
    assert server.received == []


def test_the_metrics_tell_lag_and_failure_of_each_destination(
    estate: Estate, server: RecordingServer
) -> None:
    metrics = Metrics()
    metrics.watch_forwarding(estate.states.list, estate.journal.newest)
    assert b"headwater_forward" not in metrics.text()
    for run in range(2):
        estate.take(RUN_EVENT_KIND, run_event(run))
    server.answer = lambda before: (503 if before else 201, {})
    estate.forward(ForwardTarget("openlineage", server.url))
    lines = metrics.text().decode().splitlines()
    for name, value in (("sent_documents", 1), ("lag_documents", 1), ("failing", 1)):
        assert f'headwater_forward_{name}{{destination="there"}} {value}.0' in lines


# --- hostile networks, and processes that end ----------------------------------------------------


@contextmanager
def replying(reply: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """An address whose server says this to whoever connects, None: nothing until the client goes
    away; and what each connection has sent.
    """
    asked: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            heard = self.request.recv(1 << 16)
            with suppress(OSError):
                if reply is not None:
                    self.request.sendall(reply)
                    self.request.shutdown(socket.SHUT_WR)
                while piece := self.request.recv(1 << 16):
                    heard += piece
            asked.append(heard)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b"", "no answer"),
        (b"\x00\x01 what is this\r\n\r\n", "no answer"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "101"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", "103"),
        (b"HTTP/1.1 200 OK\r\n\r\n\n<!DOCTYPE html><title>Sign in</title>", "a page of HTML"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"errorMessage": "timed out"}', "an error in a 200: {"),
        (b'HTTP/1.1 201 Created\r\n\r\n {"errors": [{"message": "no"}]}', "an error in a 201: {"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"a\\"b": 1, "\\u0065rror": "no"}', "an error in a 200: {"),
        (
            b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"errorMessage": "timed o',
            "an error in a 200: {",
        ),
        (
            b'HTTP/1.1 200 OK\r\n\r\n{"id": [7], "errorMessage": "' + b"x" * 5_000 + b'"}',
            "an error in a 200: {",
        ),
        (None, "no answer (ReadTimeout"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_backends_leaves_the_document_waiting(
    estate: Estate, monkeypatch: pytest.MonkeyPatch, reply: bytes | None, reason: str
) -> None:
    if reply is None:
        monkeypatch.setattr("collectors.forwarding.backends._SECONDS", 0.2)
    estate.take(RUN_EVENT_KIND, run_event(1))
    with replying(reply) as (address, _):
        estate.forward(ForwardTarget("openlineage", f"http://{address}"))
    state = estate.states.get("there")
    assert (state.position, state.letters) == (0, 0)
    assert state.failure.startswith(reason)


@pytest.mark.parametrize(
    "body",
    [
        b"{\x00]",
        b'{"errors": [], "error": null}',
        b'{"error": nul',
        b'{"errors": [',
        b'{"a": [',
        b"[" * 1_500,
    ],
)
def test_garbage_after_a_status_that_takes_the_document_changes_nothing(
    estate: Estate, body: bytes
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    reply = b"HTTP/1.1 201 Created\r\nContent-Length: 9999\r\n\r\n" + body
    with replying(reply) as (address, asked):
        estate.forward(ForwardTarget("openlineage", f"http://{address}"))
    assert (estate.states.get("there").position, len(asked)) == (1, 1)


def test_neither_a_certificate_nor_a_name_that_fails_loses_a_document(
    estate: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    with replying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as (address, asked):
        estate.forward(ForwardTarget("openlineage", f"https://{address}", "env:THEIR_TOKEN"))
        assert "not set" in estate.states.get("there").failure
        monkeypatch.setenv("THEIR_TOKEN", "s3cr3t-t0ken")
        estate.forward(ForwardTarget("openlineage", f"https://{address}", "env:THEIR_TOKEN"))
    state = estate.states.get("there")
    assert (state.position, state.letters) == (0, 0)
    assert "SSLError" in state.failure
    assert asked
    assert not any(b"s3cr3t" in heard for heard in asked)

    def nobody(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    estate.states.remove("there")
    estate.forward(ForwardTarget("openlineage", "http://marquez.invalid"))
    state = estate.states.get("there")
    assert (state.position, state.letters) == (0, 0)
    assert "Name or service not known" in state.failure


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_takes_document_or_secret_to_another_host(
    estate: Estate, server: RecordingServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("THEIR_TOKEN", "s3cr3t-t0ken")
    estate.take(RUN_EVENT_KIND, run_event(1))
    with recording_server() as elsewhere:
        server.answer = lambda _: (status, {"Location": f"{elsewhere.url}/api/v1/lineage"})
        estate.forward(ForwardTarget("openlineage", server.url, "env:THEIR_TOKEN"))
        assert elsewhere.received == []
    assert estate.states.get("there").position == 0


def test_a_plan_that_was_half_sent_is_sent_whole_to_another_destination_of_the_name(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take_run(a_document())
    server.answer = lambda before: (503 if before else 201, {})
    forwarding = estate.forwarding(ForwardTarget("openlineage", server.url))
    forwarding.run(lambda _: False, once=True)
    estate.states.remove("there")
    with recording_server() as other:
        estate.states.add("there", ForwardTarget("openlineage", other.url).text, 0)
        forwarding.run(lambda _: False, once=True)
        kinds = [received.document["eventType"] for received in other.received]
    assert kinds == ["START", "COMPLETE"]


def test_a_process_that_lost_its_lease_does_not_undo_what_the_next_one_has_noted(
    estate: Estate,
) -> None:
    estate.states.add("there", ForwardTarget("openlineage", "http://there").text, 0)
    before = estate.states.get("there")
    estate.states.advance(before, 0, {2, 3}, 2, ())
    estate.states.advance(before, 0, {4}, 1, [DeadLetter(4, "no", NOW, due=False)])
    state = estate.states.get("there")
    assert (state.ahead, state.sent, state.letters) == ({2, 3}, 2, 0)


def test_no_message_is_sent_that_may_arrive_after_the_lease_has_run_out(estate: Estate) -> None:
    class TimedLease:
        """Long enough for one message of at most 90 s."""

        seconds_left = 91.0

        def holds(self, connection: Any) -> bool:
            return True

    for run in range(3):
        estate.take(RUN_EVENT_KIND, run_event(run))
    lease: Any = TimedLease()
    estate.states.lease = lease
    backend = Taking(lambda: setattr(lease, "seconds_left", 89.0))
    forwarding = forwarding_to(estate, backend)
    forwarding.run(lambda _: False, once=True)
    state = estate.states.get("there")
    assert (len(backend.bodies), state.position, state.letters) == (1, 1, 0)
    assert "right to send" in state.failure
    lease.seconds_left = 120.0
    forwarding.run(lambda _: False, once=True)
    assert (len(backend.bodies), estate.states.get("there").position) == (2, 2)


def test_documents_since_a_time_are_sent_though_a_clock_was_set_back(estate: Estate) -> None:
    for run, at in enumerate((10, 12, 9)):
        piece = Piece(RUN_EVENT_KIND, "", run_event(run), "")
        estate.journal.accept([prepare(piece).submission], Receipt(at, "jobs", "test", ""))
    assert [estate.journal.last_before(at) for at in (9, 10, 11, 12, 13)] == [0, 0, 1, 1, 3]


def test_a_second_process_is_refused_and_one_that_loses_its_lease_ends(
    estate: Estate, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.states.add("there", ForwardTarget("openlineage", server.url).text, 0)
    with claim(estate.folder, "forward.lock"):
        code, said = forward(estate, "run", "--once")
    assert (code, "in use by another Headwater" in said, server.received) == (2, True, [])

    class LostLease(ForwardLease):
        """Held until the first document has arrived."""

        def __init__(self, engine: Any) -> None:
            super().__init__(engine)
            self.is_shared = True

        def take(self) -> bool:
            return not server.received

        def give_up(self) -> None:
            """It has nothing."""

        def holds(self, connection: Any) -> bool:
            return True

    monkeypatch.setattr("graph_model.stores.forwarding.ForwardLease", LostLease)
    monkeypatch.setattr("api.console.forwarding._LOOK_SECONDS", 0.02)
    code, said = forward(estate, "run")
    assert (code, "another process sends" in said, len(server.received)) == (2, True, 1)
    assert estate.states.get("there").position == 1


@pytest.mark.parametrize("answer_is_missing", [True, False])
def test_a_lease_is_given_up_only_where_no_answer_is_missing(
    estate: Estate,
    server: RecordingServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer_is_missing: bool,
) -> None:
    """Nor does an error on the way hide why the process ends."""
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.states.add("there", ForwardTarget("openlineage", server.url).text, 0)
    asked, released = threading.Event(), threading.Event()
    given_up: list[str] = []

    def answer(before: int) -> tuple[int, Mapping[str, str]]:
        asked.set()
        assert not answer_is_missing or released.wait(60)
        return 201, {}

    class LostLease(ForwardLease):
        """Held until the first document has arrived, in a database that is away at the end."""

        def __init__(self, engine: Any) -> None:
            super().__init__(engine)
            self.is_shared = True

        def take(self) -> bool:
            return not asked.is_set()

        def give_up(self) -> None:
            given_up.append("given up")
            raise Unavailable("the database is away")

    server.answer = answer
    monkeypatch.setattr("graph_model.stores.forwarding.ForwardLease", LostLease)
    monkeypatch.setattr("api.console.forwarding._LOOK_SECONDS", 0.02)
    if answer_is_missing:
        monkeypatch.setattr("api.console.forwarding._LAST_SECONDS", 0.0)
    code, said = forward(estate, "run")
    waiting = [thread for thread in threading.enumerate() if thread.name == "forward-there"]
    released.set()
    for thread in waiting:
        thread.join(60)
    assert (code, "another process sends" in said) == (2, True)
    assert (len(waiting), given_up) == ((1, []) if answer_is_missing else (0, ["given up"]))
    reason = "an answer is still missing" if answer_is_missing else "the database is away"
    assert f"{reason}: another process may send in" in capsys.readouterr().err


def test_a_process_that_is_killed_loses_nothing_and_keeps_the_order_of_each_run(
    estate: Estate, server: RecordingServer
) -> None:
    for number in range(30):
        estate.take(RUN_EVENT_KIND, run_event(number % 3, number))
    estate.states.add("there", ForwardTarget("openlineage", server.url).text, 0)
    started = threading.Event()

    def answer(before: int) -> tuple[int, Mapping[str, str]]:
        if before == 12 and started.wait(60) and killed.poll() is None:
            killed.kill()
            killed.wait()
        return 201, {}

    server.answer = answer
    killed = subprocess.Popen(
        [sys.executable, "-m", "api.command_line", "forward", "run", "--once"],
        env={**os.environ, "HEADWATER_DATA": str(estate.folder)},
        stdout=subprocess.DEVNULL,
    )
    started.set()
    assert killed.wait(60) == -signal.SIGKILL
    assert len(server.received) == 13
    assert forward(estate, "run", "--once")[0] == 0
    assert estate.states.get("there").position == 30
    first, again = sent(server)[:13], sent(server)[13:]
    assert first == again[:13]
    assert len(again) == len(set(again)) == 30
    for run in ("00", "01", "02"):
        times = [at for own, at in again if own == run]
        assert times == sorted(times)


FORWARDING: Final = Path(collectors.forwarding.__file__).parent
STORED: Final = Path(graph_model.stores.forwarding.__file__)
#: Lines at which a process is killed, at equal distances; or each (``make test-parts``'s variable).
KILLS: Final = 10_000 if os.environ.get("HEADWATER_TEST_CRASHES") == "all" else 8


def test_a_process_may_be_killed_at_any_line(
    tmp_path: Path, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost, and each run is in order. What had arrived may arrive once more, as it was:
    a destination that knows an event again has each once.
    """
    monkeypatch.setattr("collectors.forwarding.rounds._BATCH", 3)  # several notes
    filled = Estate(tmp_path / "filled")
    for number in range(8):
        filled.take(RUN_EVENT_KIND, run_event(number % 3, number))
    filled.take_run(a_document())
    filled.forwarding(ForwardTarget("openlineage", server.url))
    filled.journal.close()  # no connection crosses a fork

    def send(folder: Path) -> None:
        threading.settrace(sys.gettrace())  # a connection is a thread
        estate = Estate(folder)
        estate.forwarding().run(lambda _: False, once=True)
        assert estate.states.get("there").position == 10
        estate.journal.close()

    def attempt(name: str) -> Path:
        return Path(shutil.copytree(filled.folder, tmp_path / name))

    lines = lines_of(lambda: send(attempt("whole")), (str(FORWARDING), str(STORED)))
    threading.settrace(None)
    whole = [one.body for one in server.received]
    assert (len(whole), len(lines) > 100) == (10, True)
    for number, line in enumerate(lines[:: max(len(lines) // KILLS, 1)]):
        server.received.clear()
        folder = attempt(str(number))
        assert in_another_process(partial(send, folder), line), line
        killed = len(server.received)
        assert not in_another_process(partial(send, folder), None)
        bodies = [one.body for one in server.received]
        assert list(dict.fromkeys(bodies)) == whole, line
        assert bodies[:killed] == whole[:killed], line
        assert bodies[killed:] == whole[len(whole) - len(bodies) + killed :], line


# --- definitions and secrets ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"to": "ftp"}, "to 'ftp'"),
        ({"address": "marquez:5000"}, "address 'marquez:5000'"),
        ({"address": "https://me:p4ss@there"}, "address: expected one without user"),
        ({"address": "ftp://me:p4ss@there"}, "address 'ftp://there'"),
        ({"address": "https://there:99999"}, "address 'https://there:99999'"),
        ({"to": "kafka", "topic": "t", "address": "me:p4ss@b:9092"}, "address: expected brokers"),
        ({"to": "google"}, "address: expected the whole URL, which ends with :process"),
        ({"to": "datazone", "region": "eu-west-1"}, "address: expected the id of a domain"),
        ({"address": "https://there/?t=t0k3n"}, "address: expected one without user"),
        ({"secret": "hunter2"}, "secret: expected env:NAME"),
        ({"secret": "file:hunter2"}, "secret: expected env:NAME"),
        ({"connections": 17}, "connections: expected 1 to 16"),
        ({"topic": "t"}, "topic: expected for kafka"),
        ({"region": "eu-west-1"}, "region: expected for datazone"),
        ({"rules": {"rules": [{"drop": "all"}]}}, "rules[0].drop"),
    ],
)
def test_a_wrong_definition_is_refused_by_its_field(wrong: dict[str, Any], named: str) -> None:
    right = {"to": "openlineage", "address": "https://there"}
    with pytest.raises(InvalidInput) as refused:
        checked(ForwardTarget(**{**right, **wrong}))
    assert str(refused.value).startswith(named)
    for value in ("p4ss", "hunter2", "t0k3n"):
        assert value not in str(refused.value)


def test_a_definition_is_read_as_it_was_written() -> None:
    rules = {"rules": [{"drop": "event", "places": ["job"]}]}
    definition = ForwardTarget("openlineage", "https://a", "env:T", "", "", 3, rules, ("b", "c"))
    assert read_definition(definition.text) == definition


@pytest.mark.parametrize("kind", ["solace", ["kafka"]])
def test_a_kind_that_another_version_added_is_named_with_what_to_do(
    estate: Estate, kind: Any
) -> None:
    stored = replace(ForwardTarget("openlineage", "https://a"), to=kind)
    with pytest.raises(ConfigurationError, match="or remove it") as refused:
        read_definition(stored.text)
    estate.take(RUN_EVENT_KIND, run_event(1))
    estate.states.add("there", stored.text, 0)
    estate.forward(stored)
    assert estate.states.get("there").failure == str(refused.value)


def test_the_secret_is_read_when_it_is_sent_and_named_where_it_is_missing(
    estate: Estate, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    definition = ForwardTarget("openlineage", server.url, "env:THEIR_TOKEN")
    monkeypatch.delenv("THEIR_TOKEN", raising=False)
    estate.forward(definition)
    assert "THEIR_TOKEN is not set" in estate.states.get("there").failure
    monkeypatch.setenv("THEIR_TOKEN", "s3cr3t-t0ken")
    estate.forward(definition)
    assert server.received[0].headers["Authorization"] == "Bearer s3cr3t-t0ken"
    assert b"s3cr3t" not in (estate.folder / DATABASE_FILE).read_bytes()
    with pytest.raises(Unavailable):
        read_secret("env:NOBODY_SETS_THIS", {})


def test_a_file_may_hold_the_secret(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with pytest.raises(Unavailable, match="token cannot be read"):
        read_secret(f"file:{file}")
    file.write_text("\n")
    with pytest.raises(Unavailable, match="has no secret"):
        read_secret(f"file:{file}")
    file.write_text("s3cr3t\n")
    assert read_secret(f"file:{file}").strip() == "s3cr3t"


def test_the_secret_is_in_no_reason_and_a_reason_is_a_line(
    estate: Estate, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    monkeypatch.setenv("THEIR_TOKEN", "s3cr3t-t0ken\n")
    server.said = b"not by\n\x1b[31m s3cr3t-t0ken" + b" " * 10_000
    server.answer = lambda before: (422 if before else 401, {})
    definition = ForwardTarget("openlineage", server.url, "env:THEIR_TOKEN")
    estate.forward(definition)
    assert estate.states.get("there").failure == "401 not by [31m *****"
    estate.forward(definition)
    (letter,) = estate.states.letters("there", 10)
    assert letter.reason == "422 not by [31m *****"
    monkeypatch.setenv("THEIR_TOKEN", "t\u00f6ken")
    with pytest.raises(Unavailable, match="env:THEIR_TOKEN has characters"):
        open_backend(definition)


def test_the_secret_is_read_again_after_a_failure(
    estate: Estate, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in range(2):
        estate.take(RUN_EVENT_KIND, run_event(run))
    monkeypatch.setenv("THEIR_TOKEN", "old")

    def answer(before: int) -> tuple[int, Mapping[str, str]]:
        if before == 1:
            monkeypatch.setenv("THEIR_TOKEN", "new")
        return (401 if before == 1 else 201), {}

    server.answer = answer
    forwarding = estate.forwarding(ForwardTarget("openlineage", server.url, "env:THEIR_TOKEN"))
    forwarding.run(lambda _: False, once=True)
    forwarding.run(lambda _: False, once=True)
    tokens = [one.headers["Authorization"] for one in server.received]
    assert tokens == ["Bearer old", "Bearer old", "Bearer new"]


def test_no_secret_is_taken_from_a_netrc_file(
    server: RecordingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password p4ss\n")
    monkeypatch.setenv("NETRC", str(netrc))
    backend = open_backend(ForwardTarget("openlineage", server.url))
    backend.send(OutgoingMessage(RUN_EVENT_KIND, "", "k", b"{}"))
    assert "Authorization" not in server.received[0].headers


# --- limits and other backends -------------------------------------------------------------------


def test_a_document_beyond_the_limits_is_set_aside_with_the_figures(estate: Estate) -> None:
    long = run_event(1, text="a" * 300_000)
    estate.take(RUN_EVENT_KIND, long)
    estate.forward(ForwardTarget("datazone", "dzd_1", region="eu-west-1"))
    (letter,) = estate.states.letters("there", 10)
    assert "datazone takes 300,000" in letter.reason
    names = [{"namespace": "a", "name": str(number)} for number in range(40)]
    assert "1,200 links" in over_limits("google", {"inputs": names, "outputs": names[:30]}, 1)


def test_datazone_gets_one_event_with_a_token_that_recognises_a_repeat() -> None:
    client = boto3.client(
        "datazone", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    backend, message = (
        DataZone("dzd_1", "", client),
        OutgoingMessage(RUN_EVENT_KIND, "", "k", b'{"a": 1}'),
    )
    with Stubber(client) as stub:
        asked = {"domainIdentifier": "dzd_1", "event": b'{"a": 1}'}
        token = hashlib.sha256(message.body).hexdigest()
        for _ in range(2):
            stub.add_response("post_lineage_event", {"id": "1a"}, {**asked, "clientToken": token})
        stub.add_client_error("post_lineage_event", "ValidationException", "no job")
        stub.add_client_error(
            "post_lineage_event",
            "ThrottlingException",
            "slowly",
            429,
            response_meta={"HTTPHeaders": {"retry-after": "7"}},
        )
        backend.send(message)
        backend.send(message)
        with pytest.raises(InvalidInput, match="ValidationException: no job"):
            backend.send(message)
        with pytest.raises(Unavailable, match="ThrottlingException") as raised:
            backend.send(message)
    assert raised.value.seconds == 7


@pytest.mark.parametrize(
    "body",
    [b"<html>Sign in</html>", b'{"errorMessage": "timed out"}', b'{"id": "1', b"{}", b""],
)
def test_an_answer_without_the_id_of_an_event_is_not_datazones(body: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body
    with replying(answer) as (address, _):
        client = boto3.client(
            "datazone",
            region_name="eu-west-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            endpoint_url=f"http://{address}",
            config=Config(retries={"total_max_attempts": 1}),
        )
        message = OutgoingMessage(RUN_EVENT_KIND, "", "k", b'{"a": 1}')
        with pytest.raises(Unavailable):
            DataZone("dzd_1", "", client).send(message)


def test_kafka_gets_a_record_with_its_run_as_the_key_and_failures_pass() -> None:
    class Producer:
        def __init__(self) -> None:
            self.records: list[tuple[str, bytes, bytes]] = []
            self.error: object = None

        def produce(self, topic: str, *, value: bytes, key: bytes, on_delivery: Any) -> None:
            if isinstance(self.error, Exception):
                raise self.error
            self.records.append((topic, key, value))
            self._deliver = on_delivery

        def flush(self, _seconds: float) -> None:
            self._deliver(self.error, None)

    producer = Producer()
    backend = Kafka("b:9092", "lineage", producer=producer)
    backend.send(OutgoingMessage(RUN_EVENT_KIND, "", "run-1", b"{}"))
    assert producer.records == [("lineage", b"run-1", b"{}")]
    producer.error = BufferError("queue full")
    with pytest.raises(Unavailable, match="queue full"):
        backend.send(OutgoingMessage(RUN_EVENT_KIND, "", "run-1", b"{}"))
    producer.error = "broker away"
    with pytest.raises(Unavailable, match="broker away"):
        backend.send(OutgoingMessage(RUN_EVENT_KIND, "", "run-1", b"{}"))


# --- the command ---------------------------------------------------------------------------------


def forward(estate: Estate, *arguments: str) -> tuple[int, str]:
    """The exit code of ``headwater forward``, and what it says."""
    out, errors = io.StringIO(), io.StringIO()
    data = ("--data", str(estate.folder))
    code = command_line.run(["forward", *arguments, *data], {}, out, errors)
    return code, out.getvalue() + errors.getvalue()


def test_the_command_adds_tests_sends_lists_and_removes(
    estate: Estate, server: RecordingServer
) -> None:
    estate.take(RUN_EVENT_KIND, run_event(1))
    added = ("add", "marquez", "--to", "openlineage", "--address", server.url)
    assert forward(estate, "run")[0] == 2
    assert forward(estate, *added, "--from", "start")[1].splitlines() == [
        "marquez: 1 positions of the journal are to be sent",
        "headwater forward run sends them, and what comes later",
    ]
    assert "has it already" in forward(estate, *added)[1]
    code, said = forward(estate, "add", "company", "--to", "datazone", "--address", "dzd_a")
    assert (code, "--region eu-west-1" in said) == (1, True)
    server.answer = lambda _: (422, {})
    said = forward(estate, "test", "marquez")[1]
    assert said == "marquez answers, and refuses an empty document, as it should\n"
    answered = {"name": "marquez", "to": "openlineage", "refusal": "422"}
    assert json.loads(forward(estate, "test", "marquez", "--json")[1]) == answered
    server.answer = lambda _: (201, {})
    assert forward(estate, "run", "--once")[0] == 0
    assert [one.document["run"]["runId"][-2:] for one in server.received[2:]] == ["01"]
    code, listed = forward(estate, "list")
    assert (code, "1 sent, 0 positions behind, 0 refused" in listed) == (0, True)
    assert json.loads(forward(estate, "list", "--json")[1])["items"][0]["lag"] == 0
    assert forward(estate, "remove", "marquez")[0] == 0
    assert forward(estate, "letters", "marquez")[0] == 1
