"""Two processes that send on from one PostgreSQL, one of them stopped for longer than its lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from graph_model.documents.files import Piece, prepare
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import Receipt
from graph_model.stores.forwarding import DeadLetter, ForwardLease, ForwardStates, leases
from graph_model.stores.journal import Journal
from tests.contract.databases import schema_on
from tests.recording_server import RecordingServer, recording_server
from tests.waiting import eventually

_SENDER = """\
import os
import signal
import sys
import time
from pathlib import Path
from api import command_line
from api.console import forwarding as console
from collectors.forwarding import backends
from graph_model.stores import forwarding as states

STOP, LATER = (Path(sys.argv[1], name) for name in ("stop", "later"))

class Lease(states.ForwardLease):
    def __init__(self, engine):
        super().__init__(engine, lambda: time.monotonic() + 1_000 * LATER.exists())

    def take(self):
        taken = super().take()
        if STOP.exists():
            os.kill(os.getpid(), signal.SIGSTOP)  # here, where it has no transaction
        return taken

states.ForwardLease, console._LOOK_SECONDS = Lease, 0.1
backends._SECONDS = 3_600  # for an answer: the test gives it
sys.exit(command_line.run(["forward", "run"], os.environ, sys.stdout, sys.stderr))
"""
_FOR_LONG = 2**53
_SECONDS = 60.0


class Clock:
    """Seconds, by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    with schema_on(server_url) as made:
        yield made


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with recording_server() as recorder:
        yield recorder


def event(run: int) -> dict[str, object]:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-03-01T08:{run:02}:00Z",
        "producer": "https://example.com/client",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-0000-0000-{run:012}"},
        "job": {"namespace": "etl", "name": "copy"},
    }


def take(journal: Journal, *runs: int) -> None:
    pieces = [prepare(Piece(RUN_EVENT_KIND, "", event(run), "")).submission for run in runs]
    journal.accept(pieces, Receipt(0, "jobs", "test", ""))


def sender(url: str, folder: Path) -> subprocess.Popen[bytes]:
    """It stops itself once ``stop`` is in the folder; with ``later`` 1,000 s more have passed."""
    environment = {**os.environ, "HEADWATER_DATABASE": url}
    return subprocess.Popen([sys.executable, "-c", _SENDER, str(folder)], env=environment)


def is_stopped(process: subprocess.Popen[bytes]) -> bool:
    return os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None


def sent(server: RecordingServer) -> dict[int, int]:
    """How often the event of each run has come."""
    return Counter(int(received.document["run"]["runId"][-2:]) for received in server.received)


def test_a_stopped_process_sends_and_notes_nothing_once_another_has_its_lease(
    url: str, server: RecordingServer, tmp_path: Path
) -> None:
    """The document whose answer it waited for when it was stopped is the one that comes twice."""
    database = open_database(url)
    journal, states = Journal(database), ForwardStates(database)
    definition = f'{{"to": "openlineage", "address": "{server.url}", "never_from": []}}'
    states.add("there", definition, 0)
    take(journal, 1, 2)
    asked, released = threading.Event(), threading.Event()

    def answer(before: int) -> tuple[int, Mapping[str, str]]:
        if before == 2 and not asked.is_set():
            asked.set()
            assert released.wait(4 * _SECONDS)
        return 201, {}

    def position_is(position: int) -> None:
        eventually(lambda: states.get("there").position == position, _SECONDS)

    def set_until(until: int) -> None:
        with database.begin() as connection:
            connection.execute(leases.update().values(until=until))

    server.answer = answer
    processes = [stopped := sender(url, tmp_path)]
    try:
        position_is(2)
        take(journal, 3, 4, 5)
        assert journal.newest() == 5
        assert asked.wait(_SECONDS)
        stop = tmp_path / "stop"
        stop.touch()
        eventually(lambda: is_stopped(stopped), _SECONDS)
        stop.rename(tmp_path / "later")
        set_until(_FOR_LONG)
        processes.append(refused := sender(url, tmp_path))
        assert refused.wait(_SECONDS) == 2
        assert states.get("there").position == 2
        set_until(0)
        processes.append(sender(url, tmp_path))
        position_is(5)
        stopped.send_signal(signal.SIGCONT)
        released.set()
        assert stopped.wait(_SECONDS) == 2
        take(journal, 6)
        position_is(6)
        once_and_again = {1: 1, 2: 1, 3: 2, 4: 1, 5: 1, 6: 1}
        eventually(lambda: sent(server) == once_and_again, _SECONDS)
        assert states.get("there").sent == 6
    finally:
        released.set()
        for process in processes:
            process.kill()
            process.wait()
        journal.close()
        database.dispose()


def test_a_lease_runs_out_here_before_another_process_may_have_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, clock = open_database(url), Clock()
    states, other = ForwardStates(database), ForwardLease(database)
    states.add("there", "a definition", 0)
    own = states.lease = ForwardLease(database, clock)
    assert own.seconds_left < 0
    assert (own.take(), other.take(), own.take()) == (True, False, True)
    assert own.seconds_left == 120
    clock.now = 119
    assert own.seconds_left == 1
    own.give_up()
    assert own.seconds_left < 0
    assert (other.take(), own.take()) == (True, False)
    before = states.get("there")
    states.advance(before, 7, (), 1, [DeadLetter(7, "no", 0, due=False)])
    assert states.get("there") == before, "another process sends"
    other.give_up()
    monkeypatch.setattr("graph_model.stores.forwarding.LEASE_SECONDS", -1.0)
    assert other.take(), "for no time"
    assert own.take()
    states.advance(before, 7, (), 1, ())
    assert states.get("there").position == 7
    database.dispose()
