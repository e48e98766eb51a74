"""The heap that fits this machine, or the container that this process runs in.

A container's limit is that of its cgroup, which may be far below the memory of the machine. Half of
the limit is for the engine's heap; the other half is for the service, for the JVM's needs beside
its heap, and for the pages of the databases that the kernel keeps.

Beside the engine's data is noted, over restarts, how often the graph outgrew a heap of this size.
After each overflow of a graph that was at least half full (``supervisor``) the service assumes a
capacity a fifth smaller. Either the elements take more heap than the measured ones, or one large
query filled the heap; only time tells the two apart. So a fifth comes back a day after the first
overflow, two days after the second, and so on: a graph that really is too large for its heap
overflows it less and less often.

    overflow on day 0 => a fifth less until day 1; overflow on day 1 => a fifth less until day 3

The last kill from outside is noted too: a signal 9 that Headwater did not send nearly always comes
from the kernel, for the JVM and the service together took more memory than this machine, or the
container, has. The engine is started again at once, so without a note only the log would show it.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from graph_model.stores.durability import note_durably

LEAST_HEAP_MB: Final = 128
MEBIBYTE: Final = 2**20
_ROOT: Final = Path("/")


def fitting_heap(limit: int) -> int:
    """Half of this many bytes, in MB; at least 128."""
    return max(LEAST_HEAP_MB, limit // 2 // MEBIBYTE)


def memory_limit(root: Path = _ROOT) -> int:
    """The bytes of memory that this process and the JVM may use together: the least of the
    machine's memory and the limits of this process's control groups (version 2 or 1).

    ``root`` is the root of the file system.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(root)])


def _limits(root: Path) -> Iterator[int]:
    groups = root / "sys" / "fs" / "cgroup"
    own = PurePosixPath(_own_group(root).lstrip("/"))
    for group in (own, *own.parents):
        yield from _number(groups / group / "memory.max")
    yield from _number(groups / "memory" / "memory.limit_in_bytes")


def _own_group(root: Path) -> str:
    """``0::/system.slice/headwater.service`` => its path; a container sees ``/``."""
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text("utf-8").splitlines()
    except OSError:
        return "/"
    return next((line[3:] for line in lines if line.startswith("0::")), "/")


def _number(file: Path) -> Iterator[int]:
    """The limit in a file; none where the file is missing or says ``max``."""
    try:
        text = file.read_text("utf-8").strip()
    except OSError:
        return
    if text.isdigit():
        yield int(text)


_OVERFLOWS_FILE: Final = "overflows.json"
DAY_SECONDS: Final = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _NotedOverflows:
    """``number`` counted right after the last overflow, which was ``at`` (epoch seconds); ``ever``
    is the number of all of them with this heap.
    """

    heap_mb: int
    number: int
    ever: int
    at: int

    def number_at(self, now: float) -> int:
        """How many overflows still count: one less each time that ``ever`` days have passed."""
        back = int(max(0.0, now - self.at) / (max(1, self.ever) * DAY_SECONDS))
        return max(0, self.number - back)


class Overflows:
    """The number of overflows, and its file; without a ``folder`` the number lives as long as this
    process. ``clock`` gives epoch seconds.

    With a larger heap than at the last overflow it begins at 0 again.
    """

    def __init__(
        self,
        heap_mb: int,
        folder: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._file = None if folder is None else folder / _OVERFLOWS_FILE
        self._heap_mb = heap_mb
        noted = None if self._file is None else _read_overflows(self._file)
        if noted is None or noted.heap_mb < heap_mb:
            noted = _NotedOverflows(heap_mb, 0, 0, 0)
        self._noted = noted

    @property
    def number(self) -> int:
        """How many overflows count now."""
        return self._noted.number_at(self._clock())

    def add(self) -> None:
        """Count one more. If the file cannot be written, the engine may overflow once more after a
        restart.
        """
        ever = self._noted.ever + 1
        self._noted = _NotedOverflows(self._heap_mb, self.number + 1, ever, int(self._clock()))
        if self._file is not None:
            note_durably(asdict(self._noted), self._file)


def _read_overflows(file: Path) -> _NotedOverflows | None:
    """The content of the file; None without a file, and for one that somebody has changed. A file
    of an older Headwater holds no time: the time when it was written is that of the last overflow.
    """
    try:
        note = json.loads(file.read_text("utf-8"))
        number = max(0, int(note["number"]))
        at = int(note.get("at", file.stat().st_mtime))
        return _NotedOverflows(int(note["heap_mb"]), number, int(note.get("ever", number)), at)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as failure:
        _log.warning("%s cannot be read: %s", file, failure)
        return None


_KILL_FILE: Final = "killed.json"
HEAP_SETTING: Final = "HEADWATER_GREMLIN_HEAP"
EXIT_CODES: Final = (-9, 137)
"""137 is how a shell, or a container, reports signal 9."""
_REPORTED_SECONDS: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Kill:
    """``at`` epoch seconds; ``limit_mb`` is the memory that service and engine could use then."""

    at: int
    heap_mb: int
    limit_mb: int

    def is_settled(self, now: float, heap_mb: int, limit_mb: int) -> bool:
        """Whether the heap is smaller now or the memory larger, or a week has passed."""
        changed = heap_mb < self.heap_mb or limit_mb > self.limit_mb
        return changed or now - self.at > _REPORTED_SECONDS

    def __str__(self) -> str:
        fitting = fitting_heap(self.limit_mb * MEBIBYTE)
        lower = f"lower {HEAP_SETTING} to {fitting}, or " if fitting < self.heap_mb else ""
        return (
            f"the engine was killed (signal 9), most often by the kernel: its heap of "
            f"{self.heap_mb:,} MB, the JVM's needs beside it and the service share "
            f"{self.limit_mb:,} MB of memory: {lower}give the machine or the container more; "
            "else see engine.log"
        )


def note_kill(kill: Kill, folder: Path | None) -> None:
    """Write the note. If that fails, the doctor does not know of the kill."""
    if folder is not None:
        note_durably(asdict(kill), folder / _KILL_FILE)


def read_kill(folder: Path) -> Kill | None:
    """The noted kill. None where there was none, and for a file that somebody has changed."""
    try:
        note = json.loads((folder / _KILL_FILE).read_text("utf-8"))
        return Kill(int(note["at"]), int(note["heap_mb"]), int(note["limit_mb"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None
