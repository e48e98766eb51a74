"""Documents in a file, one a line: undelivered ones, or a file as the destination.

A line has the fields that ``headwater journal export`` writes, so that one reader serves both:

    {"position": 1, "kind": "plan", "apiVersion": "1.2", "planId": "…", "scope": "lab",
     "receivedAt": 1700000000000, "body": {…}}

``kind`` is plan or event (one event a line), ``position`` counts the lines of this process from 1,
``scope`` is the capture scope that the document itself names, else empty (as the server reads it),
``receivedAt`` is when the line was made (epoch ms), ``body`` is the document as it is posted,
secrets masked. Lines are plain ASCII JSON.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, Final

from spark_agent_config.delivery.post import API_VERSION, Away, Post

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be renamed there, which is lock enough
    fcntl = None  # type: ignore[assignment]

ENDINGS: Final = (".ndjson", ".jsonl")
_RESOURCES: Final = {"plan": "execution-plans", "event": "execution-events"}
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
#: How often and how long an appender waits for another one: at most about two seconds.
_TRIES: Final = 200
_PAUSE_SECONDS: Final = 0.01
_BINARY: Final = getattr(os, "O_BINARY", 0)


def now_in_milliseconds() -> int:
    return time.time_ns() // 1_000_000


class LineWriter:
    """Posts => lines. ``position`` counts on from line to line."""

    def __init__(self, now: Callable[[], int] = now_in_milliseconds) -> None:
        self._now = now
        self._positions = itertools.count(1)

    def lines(self, post: Post) -> bytes:
        """One line for a plan; one for each event of an array."""
        if post.resource == _RESOURCES["plan"]:
            return self._line("plan", post.document, "id")
        return b"".join(self._line("event", event, "planId") for event in post.document)

    def _line(self, kind: str, body: Any, key: str) -> bytes:
        line = {
            "position": next(self._positions),
            "kind": kind,
            "apiVersion": API_VERSION,
            "planId": body.get(key),
            "scope": _scope_of(body),
            "receivedAt": self._now(),
            "body": body,
        }
        return json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"


def with_reason(line: bytes, reason: str) -> bytes:
    """The line with why no server will take it in a field ``refused``; a torn one as it is."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return json.dumps({**entry, "refused": reason}, separators=(",", ":")).encode("ascii") + b"\n"


def _scope_of(body: Any) -> str:
    values = (body.get("labels") or {}).get("captureScope") or ("",)
    return str(values[0]).strip()


def read_line(line: bytes) -> Post | None:
    """The request in a line; None for a torn or foreign one."""
    try:
        entry = json.loads(line)
        resource, body = _RESOURCES[entry["kind"]], entry["body"]
        if entry["apiVersion"] != API_VERSION or not isinstance(body, dict):
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Post(resource, body if entry["kind"] == "plan" else [body])


def append(path: Path, data: bytes) -> None:
    """Add whole lines, or nothing: raises OSError and leaves the file as it was.

    Several processes may append to one file, and another may rename it meanwhile: then the lines go
    to a new file of the old name. A line that a crash has cut gets its end first.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_FOLLOW | _BINARY
    for _ in range(_TRIES):
        with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            if lock(file) and is_at(file, path):
                return _append(file, data)
        time.sleep(_PAUSE_SECONDS)
    raise OSError(f"{path} is locked by another process")


def _append(file: FileIO, data: bytes) -> None:
    end = file.seek(0, os.SEEK_END)
    try:
        if end and _last_byte(file, end) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
    except BaseException:
        file.truncate(end)
        raise


def _last_byte(file: FileIO, end: int) -> bytes:
    file.seek(end - 1)
    return file.read(1)


def lock(file: FileIO) -> bool:
    """Whether the file is ours until it is closed; does not wait. Without locks it always is."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a network folder without locks: renaming alone must do
        return True
    return True


def is_at(file: FileIO, path: Path) -> bool:
    """Whether the open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


class FileSender:
    """Appends documents to a file instead of posting them. Raises Away, nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = LineWriter()

    def __call__(self, post: Post) -> None:
        with os_errors_as_away(self.path):
            append(self.path, self._writer.lines(post))


@contextmanager
def os_errors_as_away(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Away(f"{path}: {error.strerror or error}") from None


def file_of(place: Path, process: str) -> Path:
    """``/x/lineage.ndjson`` is the file itself; anything else a folder with a file a session."""
    return place if place.suffix in ENDINGS else place / f"{process}{ENDINGS[0]}"


def joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
