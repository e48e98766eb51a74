"""Processes that send a range of runs: the documents of a job in order, each until it is taken."""

from __future__ import annotations

import http.client
import multiprocessing
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.pool import Pool
from typing import Final

from bench.endurance.documents import Document, documents
from bench.endurance.year import Year

_PROCESSES: Final = 2
_PAUSE_SECONDS: Final = 0.2
_PATIENCE_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Part:
    """The part of the runs ``begin`` to ``end`` that one process sends."""

    port: int
    year: Year
    begin: int
    end: int
    process: int
    connections: int

    def runs(self, connection: int) -> list[int]:
        """The numbers of the runs of one connection, in order: a job stays on it."""
        place = self.process * self.connections + connection
        total = _PROCESSES * self.connections
        return [n for n in range(self.begin, self.end) if self.year.run(n).job % total == place]


class Clients:
    """``connections`` in all; a context manager, for its processes stay from range to range."""

    def __init__(self, year: Year, port: int, connections: int) -> None:
        self._year = year
        self._port = port
        self._connections = max(1, connections // _PROCESSES)

    def __enter__(self) -> Clients:
        self._pool: Pool = multiprocessing.get_context("spawn").Pool(_PROCESSES)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.terminate()

    def send(self, begin: int, end: int) -> int:
        """Until everything is answered 201; how many documents that were.

        Raises RuntimeError for any other answer than 201 and 503, and for none in ten minutes.
        """
        parts = [
            Part(self._port, self._year, begin, end, process, self._connections)
            for process in range(_PROCESSES)
        ]
        return sum(self._pool.map(send_part, parts))


def send_part(part: Part) -> int:
    """Runs in a process of its own."""
    with ThreadPoolExecutor(part.connections) as threads:
        return sum(threads.map(lambda one: _send(part, one), range(part.connections)))


def _send(part: Part, connection: int) -> int:
    sender = Sender(part.port)
    runs = part.runs(connection)
    return sum(sender.send(documents(part.year, number)) for number in runs)


class Sender:
    """One connection, made anew when it breaks."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, listed: Iterable[Document]) -> int:
        """All of them in order; how many."""
        count = 0
        for document in listed:
            self._insist(document)
            count += 1
        return count

    def _insist(self, document: Document) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_taken(document):
            if time.monotonic() > end:
                raise RuntimeError(f"{document.path}: no answer for {_PATIENCE_SECONDS:.0f} s")
            time.sleep(_PAUSE_SECONDS)

    def _is_taken(self, document: Document) -> bool:
        try:
            headers = {"Content-Type": document.content_type}
            self._connection.request("POST", document.path, document.body, headers)
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return False
        if answer.status not in (201, 503):
            raise RuntimeError(f"{document.path} answers {answer.status}: {body[:300]!r}")
        return answer.status == 201
