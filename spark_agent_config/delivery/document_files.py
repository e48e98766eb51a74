"""Documents in files: a folder of undelivered ones, or one file as the destination.

One run keeps in the folder what it could not deliver, a later one delivers.
File names carry their server: ``<server>-<process>-<n>.ndjson``, where ``<server>`` is a digest of
address and API key, because documents must not reach another server or count as another key's.
``<name>.ndjson.claimed`` is in delivery by the process with its lock; ``<name>.ndjson.refused``
holds documents that the server refused for good, each line with the reason in a field ``refused``.

A line has the fields that ``headwater journal export`` writes, so that one reader serves both:

    {"position": 1, "kind": "plan", "apiVersion": "1.2", "planId": "…", "scope": "lab",
     "receivedAt": 1700000000000, "body": {…}}

``kind`` is plan or event (one event a line), ``position`` counts the lines of this process,
``scope`` is the capture scope that the document itself names, else empty (as the server does),
``receivedAt`` is when the line was made (epoch ms), ``body`` is the document as it is posted,
secrets masked. Lines are plain ASCII JSON.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, Final

from spark_agent_config.delivery.post import API_VERSION, Away, DocumentRejected, Post

MOST_BYTES: Final = 64 * 1024 * 1024
_PARTS: Final = 8
_ENDING: Final = ".ndjson"
_CLAIMED: Final = ".claimed"
_REFUSED: Final = ".refused"
_LOG: Final = logging.getLogger(__name__)


class Spill:
    """Keeps documents in ``folder`` for the server with the digest ``server``.

    All files of the folder together stay below ``most_bytes``: the oldest go first. A process
    begins a new file when its own has an eighth of that.
    """

    def __init__(
        self,
        folder: Path,
        server: str,
        process: str,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.folder = folder
        self._server = server
        self._process = process
        self._most_bytes = most_bytes
        self._writer = LineWriter()
        self._number = 1
        self._refused_plans: set[str] = set()
        self._warned_dropped = self._warned_refused = False
        self._one_at_a_time = threading.Lock()  # the outbox keeps from two threads

    def __str__(self) -> str:
        return str(self.folder)

    def keep(self, post: Post) -> None:
        """Append a document. Raises OSError where the folder cannot be written."""
        with self._one_at_a_time:
            lines = self._writer.lines(post)
            self._make_room(len(lines))
            is_full = _size(self._path()) + len(lines) > self._most_bytes // _PARTS
            if is_full or _named(self._path(), _CLAIMED).exists():
                self._number += 1
            append(self._path(), lines)

    def set_aside(self, post: Post, reason: str) -> None:
        """Append a document that no server will take, with the reason. Raises OSError."""
        with self._one_at_a_time:
            lines = joined(
                with_reason(line, reason)
                for line in self._writer.lines(post).splitlines(keepends=True)
            )
            self._make_room(len(lines))
            self._refused_plans.add(_plan_of(post))
            append(_named(self._path(), _REFUSED), lines)

    def redelivery(self, send: Callable[[Post], None]) -> Generator[None, None, None]:
        """Post the kept documents, one a step, oldest file first.

        Raises Away when the server is, and Misconfigured; documents undelivered then, or when the
        generator is closed, stay kept, the failed one behind the others. A refused document is set
        aside, with the events of a refused plan.
        """
        for path in self._waiting():
            with _claim(path) as claimed:
                if claimed is not None:
                    yield from self._deliver(claimed, send)

    def _deliver(self, path: Path, send: Callable[[Post], None]) -> Generator[None, None, None]:
        lines = path.read_bytes().splitlines(keepends=True)
        done = 0
        try:
            for line in lines:
                if (post := read_line(line)) is not None:
                    self._deliver_line(path, line, post, send)
                done += 1
                yield
        except Away:
            _put_back(path, _behind(lines[done:]))
            raise
        except BaseException:
            _put_back(path, lines[done:])
            raise
        path.unlink(missing_ok=True)

    def _deliver_line(
        self, path: Path, line: bytes, post: Post, send: Callable[[Post], None]
    ) -> None:
        plan = _plan_of(post)
        try:
            if plan in self._refused_plans:
                raise DocumentRejected("its plan is refused")
            send(post)
        except DocumentRejected as error:
            aside = _named(path, _REFUSED)
            if not self._warned_refused:
                self._warned_refused = True
                _LOG.warning(
                    "The server refused lineage of an earlier run, moved to %s: %s", aside, error
                )
            self._refused_plans.add(plan)
            append(aside, with_reason(line, str(error)))

    def _waiting(self) -> list[Path]:
        """Files of this server, the oldest first; those of a run that broke off are among them."""
        endings = (_ENDING, _ENDING + _CLAIMED)
        return [
            path
            for path in _oldest_first(self.folder)
            if path.name.startswith(f"{self._server}-") and path.name.endswith(endings)
        ]

    def _path(self) -> Path:
        return self.folder / f"{self._server}-{self._process}-{self._number:04}{_ENDING}"

    def _make_room(self, needed: int) -> None:
        """Drop the oldest files. Raises OSError where that would not do."""
        if needed > self._most_bytes:
            raise OSError(f"a document of {needed} bytes is larger than the folder may be")
        paths = _oldest_first(self.folder)
        total = sum(_size(path) for path in paths) + needed
        for path in paths:
            if total <= self._most_bytes:
                return
            total -= _size(path)
            path.unlink(missing_ok=True)
            if not self._warned_dropped:
                self._warned_dropped = True
                _LOG.warning(
                    "The oldest lineage kept in %s is deleted: the limit is %d bytes",
                    self.folder,
                    self._most_bytes,
                )


def default_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Where undelivered documents of this user lie; ``platform`` is as ``sys.platform``."""
    if platform == "darwin":
        state = home / "Library" / "Application Support"
    elif platform == "win32":
        state = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        state = Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state")
    return state / "headwater" / "spill"


def server_digest(url: str, api_key: str | None) -> str:
    """Twelve hexadecimal digits for a server as this job addresses it."""
    return hashlib.sha256(f"{url.rstrip('/')}\n{api_key or ''}".encode()).hexdigest()[:12]


@contextmanager
def _claim(path: Path) -> Iterator[Path | None]:
    """The file under a name that nobody appends to, locked; None when it is another's.

    A claim keeps its name when the process ends in the middle of it, and a later run takes it.
    """
    claimed = _named(path, _CLAIMED)
    try:
        file: FileIO = path.open("r+b", buffering=0)
    except OSError:  # delivered by another process meanwhile
        yield None
        return
    with file:
        if not lock(file) or not is_at(file, path):
            yield None
            return
        if os.name == "nt":  # an open file cannot be renamed there
            file.close()
        yield _rename(path, claimed)


def _rename(path: Path, claimed: Path) -> Path | None:
    """``claimed``, or None where another was faster."""
    if path == claimed:
        return claimed
    if claimed.exists():  # the process began its file anew: the earlier part goes first
        return None
    try:
        return path.rename(claimed)
    except OSError:
        return None


def _put_back(path: Path, lines: list[bytes]) -> None:
    """Leave only undelivered documents, unclaimed; if even that fails, all of them stay claimed."""
    fresh = path.with_name(path.name + ".new")
    with suppress(OSError):
        if lines:
            append(fresh, joined(lines))
            _unclaim(fresh, path)
        else:
            path.unlink(missing_ok=True)


def _unclaim(fresh: Path, claimed: Path) -> None:
    """Replace the claimed file by ``fresh``, under the name that it had before the claim.

    Unless a file has that name (its process began it anew), or the folder makes no hard links:
    a link, other than a renaming, never replaces the file of another process.
    """
    try:
        _named(claimed, "").hardlink_to(fresh)
    except OSError:
        fresh.replace(claimed)
        return
    claimed.unlink(missing_ok=True)
    fresh.unlink(missing_ok=True)


def _behind(lines: list[bytes]) -> list[bytes]:
    """The first line's plan, with its events, put last.

    A document that makes the server answer 500 every time must not hold up the others for ever.
    """
    posts = [read_line(line) for line in lines]
    plans = [None if post is None else _plan_of(post) for post in posts]
    first = [line for line, plan in zip(lines, plans, strict=True) if plan == plans[0]]
    others = [line for line, plan in zip(lines, plans, strict=True) if plan != plans[0]]
    return others + first


def _named(path: Path, ending: str) -> Path:
    return path.with_name(path.name.removesuffix(_CLAIMED) + ending)


def _plan_of(post: Post) -> str:
    if isinstance(post.document, list):
        return str(post.document[0].get("planId"))
    return str(post.document.get("id"))


def _oldest_first(folder: Path) -> list[Path]:
    files: list[tuple[int, str, Path]] = []
    with suppress(OSError):
        for path in folder.iterdir():
            if _ENDING in path.suffixes:
                with suppress(OSError):
                    files.append((path.stat().st_mtime_ns, path.name, path))
    return [path for _, _, path in sorted(files)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# --- documents in one file -----------------------------------------------------------------------

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
