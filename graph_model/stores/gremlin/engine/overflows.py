"""How often the graph outgrew a heap of this size: kept beside the engine's data, over restarts.

After each overflow of a graph that was at least half full (``supervisor``) the service assumes a
capacity a fifth smaller. Either the elements take more heap than the measured ones, or one large
query filled the heap; only time tells the two apart. So a fifth comes back a day after the first
overflow, two days after the second, and so on: a graph that really is too large for its heap
overflows it less and less often.

    overflow on day 0 => a fifth less until day 1; overflow on day 1 => a fifth less until day 3
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from graph_model.stores.durability import note_durably

FILE: Final = "overflows.json"
DAY_SECONDS: Final = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Noted:
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
        self._file = None if folder is None else folder / FILE
        self._heap_mb = heap_mb
        noted = None if self._file is None else _read(self._file)
        if noted is None or noted.heap_mb < heap_mb:
            noted = _Noted(heap_mb, 0, 0, 0)
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
        self._noted = _Noted(self._heap_mb, self.number + 1, ever, int(self._clock()))
        if self._file is not None:
            note_durably(asdict(self._noted), self._file)


def _read(file: Path) -> _Noted | None:
    """The content of the file; None without a file, and for one that somebody has changed. A file
    of an older Headwater holds no time: the time when it was written is that of the last overflow.
    """
    try:
        note = json.loads(file.read_text("utf-8"))
        number = max(0, int(note["number"]))
        at = int(note.get("at", file.stat().st_mtime))
        return _Noted(int(note["heap_mb"]), number, int(note.get("ever", number)), at)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as failure:
        _log.warning("%s cannot be read: %s", file, failure)
        return None
