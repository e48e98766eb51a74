"""The setting ``HEADWATER_GRAPH_RUNS``, read from its text: the runs that the graph carries.

newest:3 => RunWindow(3)        none => RunWindow(0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.facts import Facts, is_of_run

EXPECTED: Final = "none or newest:<1 to 1000> (of a job)"
_FORMER: Final = (
    "days: and all are settings of an older Headwater. newest:90 has the runs of 90 days of a daily"
    " job; answers take all runs from the catalogue"
)
_MOST: Final = 1_000
EXECUTIONS_A_RUN: Final = 100
"""A stream is one run for months: the newest N runs of a job keep at most 100 N executions ..."""
EXECUTIONS_A_JOB: Final = 5_000
"""... and never more than this number."""


@dataclass(frozen=True, slots=True)
class RunWindow:
    """``count``: how many of the newest runs of each job."""

    count: int

    def __str__(self) -> str:
        return f"newest:{self.count}" if self.count else "none"

    @property
    def executions(self) -> int:
        """The most executions of one job that are kept."""
        return min(self.count * EXECUTIONS_A_RUN, EXECUTIONS_A_JOB)


NONE: Final = RunWindow(0)
DEFAULT: Final = RunWindow(3)


def structure(facts: Facts) -> Facts:
    """The facts that go to the graph whatever ran before and after: all without the elements of
    runs.
    """
    return Facts(
        tuple(vertex for vertex in facts.vertices if not is_of_run(vertex)),
        tuple(edge for edge in facts.edges if not is_of_run(edge)),
        facts.rows,
    )


def read_run_window(text: str) -> RunWindow:
    """The setting. Raises ValueError with the expected form."""
    kind, colon, count = text.strip().lower().partition(":")
    if kind == "none" and not colon:
        return NONE
    if kind == "newest" and _is_count(count):
        return RunWindow(int(count))
    raise ValueError(f"{EXPECTED}; {_FORMER}" if kind in {"days", "all"} else EXPECTED)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= _MOST


# The journal's note of the runs that the graph carries, for every service on that graph.
#
# newest:3                           the newest three runs of each job none newest:3
# none: they have left a graph that is too full for them newest:3 moving                    a change
# from another setting is under way, a page at a time

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
