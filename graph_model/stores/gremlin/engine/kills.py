"""The last time that the engine was killed from outside: kept beside its data, for the doctor.

A signal 9 that Headwater did not send nearly always comes from the kernel: the JVM and the service
together took more memory than this machine, or the container, has. The engine is started again at
once, so without a note only the log would show it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from graph_model.stores.durability import note_durably
from graph_model.stores.gremlin.engine.memory import MEBIBYTE, fitting_heap

FILE: Final = "killed.json"
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
        note_durably(asdict(kill), folder / FILE)


def read_kill(folder: Path) -> Kill | None:
    """The noted kill. None where there was none, and for a file that somebody has changed."""
    try:
        note = json.loads((folder / FILE).read_text("utf-8"))
        return Kill(int(note["at"]), int(note["heap_mb"]), int(note["limit_mb"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None
