"""The functions are killed at every line: nothing is lost, nothing is there twice.

A function runs in a forked process, which ends without any clean-up (``os._exit``) when it first
comes to one line of the package ``aws``, of ``collectors/sqs`` or of the journal's way of taking
documents. Then another process goes on with the messages that the queues still hold. Every line
that a whole run comes to is a case; the queues and the bucket are moto's, in the process that stays
alive. A run of the tests tries some lines of each function, ``HEADWATER_TEST_CRASHES=all`` every
one (six minutes).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from api.serving.storage import open_storage
from api.settings import read_settings
from aws.accept import make_accept
from aws.enqueue import make_enqueue
from aws.invocations import deadline
from aws.take import make_take
from graph_model.stores.journal import Journal
from tests.aws import Aws, environment_of, moto_server
from tests.e2e.producer_service import SPLINE_1_2, a_plan
from tests.killing import Line, in_another_process, lines_of, make_visible
from tests.lambda_runtime import EventSource, Request, TimeLeft, http_api_1, http_api_2

ROOT: Final = Path(__file__).resolve().parents[3]
WATCHED: Final = (
    str(ROOT / "aws"),
    str(ROOT / "collectors" / "sqs"),
    str(ROOT / "graph_model" / "stores" / "uploads.py"),
    str(ROOT / "graph_model" / "stores" / "journal" / "arrivals.py"),
    str(ROOT / "graph_model" / "stores" / "journal" / "stored_bodies.py"),
)
ALL: Final = os.environ.get("HEADWATER_TEST_CRASHES") == "all"
SOME: Final = 15
LEFT: Final = TimeLeft()

pytestmark = pytest.mark.part("recovery")


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with moto_server() as server, environment_of(server):
        yield server


@dataclass(frozen=True, slots=True)
class Deployment:
    """Queues, buckets and a journal of one attempt."""

    aws: Aws
    environment: dict[str, str]

    def journalled(self) -> list[dict[str, Any]]:
        journal = Journal(open_storage(read_settings(self.environment), make=True))
        found = [json.loads(one.body) for one in journal.documents(range(1, journal.newest() + 1))]
        assert journal.verify() == ()
        journal.close()
        return found

    def queue(self, name: str) -> EventSource:
        return EventSource(self.aws, self.environment[f"HEADWATER_{name}_QUEUE"])

    def dead_letters(self) -> list[str]:
        found = self.aws.client("sqs").receive_message(
            QueueUrl=self.environment["HEADWATER_DEAD_LETTER_QUEUE"], MaxNumberOfMessages=10
        )
        return [one["Body"] for one in found.get("Messages", [])]


def deploy(aws: Aws, folder: Path) -> Deployment:
    bucket = aws.bucket()
    environment = {
        "HEADWATER_DATA": str(folder),
        "HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin",
        "HEADWATER_INSECURE": "true",
        "HEADWATER_PROJECTION_QUEUE": aws.queue(),
        "HEADWATER_EVENT_QUEUE": aws.queue(fifo=True),
        "HEADWATER_DEAD_LETTER_QUEUE": aws.queue(fifo=True),
        "HEADWATER_UPLOADS": f"s3://{bucket}/in",
        "HEADWATER_BODIES": f"s3://{bucket}/bodies",
        "HEADWATER_BODIES_ABOVE": "1",
        "HEADWATER_MESSAGE_SIZE": "4",
    }
    return Deployment(aws, environment)


def tried(lines: list[Line]) -> list[Line]:
    """All of them, or some at equal distances with the last one."""
    return lines if ALL else [*lines[:: max(len(lines) // SOME, 1)], lines[-1]]


# --- the queue road ------------------------------------------------------------------------------


def event(run: str, number: int, **changes: Any) -> dict[str, Any]:
    return {
        "eventType": "RUNNING",
        "eventTime": f"2026-01-01T00:00:{number:02d}Z",
        "run": {"runId": run},
        "job": {"namespace": "hr", "name": "load"},
        "n": number,
        **changes,
    }


LARGE: Final = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))
EVENTS: Final = [
    event("a", 0),
    event("b", 0),
    event("a", 1, text=LARGE),
    event("a", 2, job={"namespace": "hr"}),
    event("a", 3),
    event("b", 1),
]
POISON: Final = EVENTS[3]
WANTED: Final = [one for one in EVENTS if one is not POISON]


def send(deployment: Deployment) -> None:
    body = json.dumps(EVENTS).encode()
    answer = make_enqueue(deployment.environment).answer(http_api_2(Request("POST", "/", body)))
    assert answer["statusCode"] == 201


def take(deployment: Deployment) -> None:
    """Poll like Lambda, until the queue is empty."""
    made = make_take(deployment.environment)
    deployment.queue("EVENT").drain(lambda one: made.run(one, deadline(LEFT)))


def check(deployment: Deployment) -> None:
    found = deployment.journalled()
    assert sorted(map(key, found)) == sorted(map(key, WANTED))
    for run in "ab":
        numbers = [one["n"] for one in found if one["run"]["runId"] == run]
        assert numbers == sorted(numbers), run
    assert [json.loads(body) for body in deployment.dead_letters()] == [POISON]
    assert deployment.queue("EVENT").count() == 0


def key(one: dict[str, Any]) -> tuple[str, int]:
    return one["run"]["runId"], one["n"]


def test_the_consumer_can_be_killed_at_every_line(aws: Aws, tmp_path: Path) -> None:
    """One process after the other is killed, each at the next line, until one has taken all."""
    first = deploy(aws, tmp_path / "whole")
    send(first)
    lines = lines_of(lambda: take(first), WATCHED)
    check(first)
    assert len(lines) > 150
    killed, deployment = 0, None
    for number, line in enumerate(tried(lines)):
        if deployment is None:
            deployment = deploy(aws, tmp_path / str(number))
            send(deployment)
        killed += in_another_process(partial(take, deployment), line)
        make_visible(deployment.environment["HEADWATER_EVENT_QUEUE"])
        if deployment.queue("EVENT").count() == 0:
            check(deployment)
            deployment = None
    if deployment is not None:
        take(deployment)
        check(deployment)
    assert killed > 0.8 * len(tried(lines))


def test_every_place_that_is_watched_is_there() -> None:
    assert [place for place in WATCHED if not Path(place).exists()] == []


def test_the_enqueuer_can_be_killed_at_every_line(aws: Aws, tmp_path: Path) -> None:
    """The client has no answer and sends again."""
    lines = lines_of(lambda: send(deploy(aws, tmp_path / "whole")), WATCHED)
    assert len(lines) > 60
    deployment = deploy(aws, tmp_path / "killed")
    for line in tried(lines):
        in_another_process(partial(send, deployment), line)
    send(deployment)
    take(deployment)
    check(deployment)


def test_the_gateways_function_can_be_killed_at_every_line(aws: Aws, tmp_path: Path) -> None:
    """A client that has no 201 sends again; one that has it never loses the document."""
    plan = {**a_plan(), "name": LARGE}
    headers = (("Content-Type", SPLINE_1_2),)
    request = http_api_1(Request("POST", "/execution-plans", json.dumps(plan).encode(), headers))

    def accept(deployment: Deployment) -> None:
        answer = make_accept(deployment.environment).answer(request, LEFT)
        assert answer["statusCode"] == 201

    lines = lines_of(lambda: accept(deploy(aws, tmp_path / "whole")), WATCHED)
    assert len(lines) > 100
    deployment = deploy(aws, tmp_path / "killed")
    for number, line in enumerate(tried(lines)):
        in_another_process(partial(accept, deployment), line)
        kept = [document["id"] for document in deployment.journalled()]
        assert kept in ([], [plan["id"]])
        if kept:
            deployment = deploy(aws, tmp_path / f"after-{number}")
    accept(deployment)
    assert [one["id"] for one in deployment.journalled()] == [plan["id"]]
