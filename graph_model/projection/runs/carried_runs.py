"""The journal's note of the runs that the graph carries, for every service on that graph.

newest:3                           the newest three runs of each job
none newest:3                      none: they have left a graph that is too full for them
newest:3 moving                    a change from another setting is under way, a page at a time
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.projection.runs.window import NONE, RunWindow, read_run_window

#: Where the journal keeps the note.
RUNS_KEY: Final = "graph_runs"
_MOVING: Final = "moving"


@dataclass(frozen=True, slots=True)
class CarriedRuns:
    """``asked`` is the setting. ``left``: its runs have left the full graph. ``moving``: the graph
    may still have any other runs, too.
    """

    asked: RunWindow
    left: bool = False
    moving: bool = False

    def __str__(self) -> str:
        words = [str(NONE)] if self.left else []
        words.append(str(self.asked))
        if self.moving:
            words.append(_MOVING)
        return " ".join(words)

    @property
    def window(self) -> RunWindow:
        """The runs that the graph carries."""
        return NONE if self.left else self.asked


def read_carried(noted: str | None) -> CarriedRuns:
    """The note in this text. A graph without a note, or with one that cannot be read, such as one
    of an older or newer Headwater, may have any runs.
    """
    words = (noted or "").split()
    moving = words[-1:] == [_MOVING]
    if moving:
        words.pop()
    left = len(words) > 1 and words[0] == str(NONE)
    try:
        (asked,) = words[1:] if left else words
        return CarriedRuns(read_run_window(asked), left, moving)
    except ValueError:
        return CarriedRuns(NONE, moving=True)
