"""A recording server in a process of its own, so that its work is nobody else's.

It prints its address; for each line on its standard input it prints how many requests and bytes
(on the wire) have come so far; it ends with its input.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.recording_server import recording_server


@dataclass(frozen=True, slots=True)
class Receiver:
    url: str
    process: subprocess.Popen[str]

    def received(self) -> tuple[int, int]:
        """Requests and bytes so far."""
        requests, size = json.loads(_ask(self.process, "\n"))
        return requests, size


@contextmanager
def receiver() -> Iterator[Receiver]:
    command = [sys.executable, "-m", "bench.overhead.receiver"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        yield Receiver(_ask(process, "").strip(), process)


def _ask(process: subprocess.Popen[str], line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def main() -> None:
    with recording_server() as server:
        print(server.url, flush=True)
        for _ in sys.stdin:
            sizes = [request.wire_length for request in server.received]
            print(json.dumps([len(sizes), sum(sizes)]), flush=True)


if __name__ == "__main__":
    main()
