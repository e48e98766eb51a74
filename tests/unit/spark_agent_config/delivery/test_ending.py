"""However a driver ends, its reports are delivered or kept, and its exit code is its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recording_server import recording_server

ROOT = Path(__file__).parents[4]
_JOB = """
import atexit, os, signal, sys, threading
from tests.unit.spark_agent_config.test_listener import QUERY, convert
from spark_agent_config.listener import Observation, outbox_of

box = outbox_of({"url": sys.argv[1], "spill": sys.argv[2]}, {}, convert)
atexit.register(Observation(box, None).close, 2.0)
for _ in range(3):
    box.offer(QUERY)
print("done", flush=True)
"""
_HANGING = "hanging = Observation(box, lambda _: threading.Event().wait(60))\n"
_ENDINGS = {
    "returns": ("", 0),
    "raises": ("raise ValueError('the job')", 1),
    "sys.exit": ("sys.exit(3)", 3),
    # a process that a shell without job control starts in the background ignores Ctrl-C
    "Ctrl-C": (
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.raise_signal(signal.SIGINT)",
        -2,
    ),
    "exits in a thread": ("threading.Thread(target=sys.exit, args=(4,)).start()", 0),
    "raises in a thread": ("threading.Thread(target=lambda: 1 / 0).start()", 0),
}


def run(url: str, folder: Path, ending: str, job: str = _JOB) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", job + ending, url, str(folder)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=ROOT,
        check=False,
    )


@pytest.mark.parametrize("how", _ENDINGS)
def test_a_driver_that_ends_hands_over_waiting_documents(tmp_path: Path, how: str) -> None:
    ending, code = _ENDINGS[how]
    with recording_server() as server:
        done = run(server.url, tmp_path, ending)

    assert (done.returncode, done.stdout) == (code, "done\n"), done.stderr
    assert (len(server.plans()), len(server.events())) == (3, 3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", _ENDINGS)
def test_a_driver_that_ends_while_nobody_answers_keeps_waiting_documents(
    tmp_path: Path, how: str
) -> None:
    ending, code = _ENDINGS[how]
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        done = run(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path, ending)

    assert (done.returncode, done.stdout) == (code, "done\n"), done.stderr
    answer = [line for line in done.stderr.splitlines() if line.startswith("Lineage")]
    assert answer == [
        f"Lineage at the end of the run: 3 queries are kept in {tmp_path}, from where the next run "
        "that reaches the server delivers them"
    ]
    (path,) = tmp_path.iterdir()
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["plan", "event"] * 3


def test_a_driver_whose_spark_takes_all_the_time_still_keeps_the_queries_that_wait(
    tmp_path: Path,
) -> None:
    hanging = _JOB.replace("Observation(box, None).close, 2.0", "hanging.close, 0.5")
    hanging = hanging.replace("atexit.register", _HANGING + "atexit.register")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        done = run(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path, "", hanging)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    first, last = (line for line in done.stderr.splitlines() if line.startswith("Lineage"))
    assert "Spark had not reported them" in first
    assert "3 queries are kept in" in last
    (path,) = tmp_path.iterdir()
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["plan", "event"] * 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 429, 500, 503])
def test_whatever_a_server_answers_every_document_is_in_a_file_at_the_end(
    tmp_path: Path, status: int
) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {"Retry-After": "3600"})
        done = run(server.url, tmp_path, "")

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert 1 <= len([line for line in done.stderr.splitlines() if line]) <= 2, done.stderr
    assert str(tmp_path) in done.stderr
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert sorted(json.loads(line)["kind"] for line in lines) == ["event"] * 3 + ["plan"] * 3
    assert server.events() == [], "an event without its plan is nonsense"


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_server_that_wants_other_settings_is_asked_once(tmp_path: Path, status: int) -> None:
    with recording_server() as server:
        server.answer = lambda _: (status, {})
        run(server.url, tmp_path, "")

    assert len(server.received) == 1
