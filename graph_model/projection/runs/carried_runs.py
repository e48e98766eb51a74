"""The journal's note of the runs that the graph carries, for every service on that graph.

newest:3                           the newest three runs of each job
days:90 1700006400000              the executions from that time (epoch ms) on
none newest:3                      none: they have left a graph that is too full for them
newest:3 moving                    a change from another setting is under way, a page at a time
days:90 1700006400000 moving 17... the start of the window is moving here from that former time
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.projection.runs.window import ALL, NONE, RunWindow, read_run_window

#: Where the journal keeps the note.
RUNS_KEY: Final = "graph_runs"
_MOVING: Final = "moving"


@dataclass(frozen=True, slots=True)
class CarriedRuns:
    """``asked`` is the setting. ``left``: its runs have left the full graph. ``since`` is the time
    at which ``days`` begin. ``moving``: the graph still has other runs, too; where only the days
    move, these are the runs between ``former`` and ``since``.
    """

    asked: RunWindow
    left: bool = False
    since: int = 0
    moving: bool = False
    former: int | None = None

    def __str__(self) -> str:
        words = [str(NONE)] if self.left else []
        words.append(str(self.asked))
        if self.asked.kind == "days":
            words.append(str(self.since))
        if self.moving:
            words.append(_MOVING)
        if self.former is not None:
            words.append(str(self.former))
        return " ".join(words)

    @property
    def window(self) -> RunWindow:
        """The runs that the graph carries."""
        return NONE if self.left else self.asked

    @property
    def first(self) -> int:
        """For ``days``: the time before which the graph has no execution, unless it still comes
        from another setting.
        """
        return self.since if self.former is None else min(self.since, self.former)


def read_carried(noted: str | None) -> CarriedRuns:
    """The note in this text. A graph without a note has all runs; a graph with a note that cannot
    be read, such as one of a newer Headwater, may have any.
    """
    try:
        return _read(noted or str(ALL))
    except ValueError:
        return CarriedRuns(ALL, moving=True)


def _read(noted: str) -> CarriedRuns:
    head, moving, former = noted.partition(f" {_MOVING}")
    words = head.split()
    left = len(words) > 1 and words[0] == str(NONE)
    asked, *since = words[1:] if left else words
    return CarriedRuns(
        read_run_window(asked),
        left,
        int(since[0]) if since else 0,
        bool(moving),
        int(former) if former else None,
    )
