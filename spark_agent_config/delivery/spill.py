"""A folder of undelivered documents: one run keeps them, a later one delivers.

File names carry their server: ``<server>-<process>-<n>.ndjson``, where ``<server>`` is a digest of
address and API key, because documents must not reach another server or count as another key's.
``<name>.ndjson.claimed`` is in delivery by the process with its lock; ``<name>.ndjson.refused``
holds documents that the server refused for good, each line with the reason in a field ``refused``.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from spark_agent_config.delivery.document_file import (
    LineWriter,
    append,
    is_at,
    joined,
    lock,
    read_line,
    with_reason,
)
from spark_agent_config.delivery.post import Away, DocumentRejected, Post

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
