"""``producer_server`` as a process for the tests of one module."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def producer_port() -> Iterator[int]:
    """The port of a process that runs until the end; it must end well."""
    with producer_process() as (port, _):
        yield port


@contextmanager
def producer_process() -> Iterator[tuple[int, int]]:
    """Port and process id of one that runs until the end; it must end well."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.producer_server"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
