"""The setting ``HEADWATER_GRAPH_RUNS``, read from its text: the runs that the graph carries.

newest:3 => RunWindow("newest", 3)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from graph_model.facts import Facts, is_of_run

Kind = Literal["none", "newest", "days", "all"]

EXPECTED: Final = "none, newest:<1 to 1000> (of a job), days:<1 to 36500> or all"
_MOST: Final[dict[str, int]] = {"newest": 1_000, "days": 36_500}
DAY_MS: Final = 86_400_000
EXECUTIONS_A_RUN: Final = 100
"""A stream is one run for months: the newest N runs of a job keep at most 100 N executions ..."""
EXECUTIONS_A_JOB: Final = 5_000
"""... and never more than this number."""


@dataclass(frozen=True, slots=True)
class RunWindow:
    """``count``: the number of runs of a job, or of UTC days back from the newest event; else 0."""

    kind: Kind
    count: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.count}" if self.count else self.kind

    @property
    def executions(self) -> int:
        """The most executions of one job that ``newest`` keeps."""
        return min(self.count * EXECUTIONS_A_RUN, EXECUTIONS_A_JOB)

    def since(self, newest: int | None) -> int:
        """The time (epoch ms) from which ``days`` keeps executions, given the newest event."""
        return 0 if newest is None else (newest // DAY_MS - self.count + 1) * DAY_MS

    def structure(self, facts: Facts) -> Facts:
        """The facts that go to the graph whatever ran before and after: all facts for ``all``, else
        the facts without the elements of runs.
        """
        if self.kind == "all":
            return facts
        return Facts(
            tuple(one for one in facts.vertices if not is_of_run(one)),
            tuple(one for one in facts.edges if not is_of_run(one)),
            facts.rows,
        )


ALL: Final = RunWindow("all")
NONE: Final = RunWindow("none")
EMBEDDED: Final = RunWindow("newest", 3)
REMOTE: Final = RunWindow("days", 90)


def read_run_window(text: str) -> RunWindow:
    """The setting. Raises ValueError with the expected form."""
    kind, colon, count = text.strip().lower().partition(":")
    if kind == "none" and not colon:
        return NONE
    if kind == "all" and not colon:
        return ALL
    if kind == "newest":
        return RunWindow("newest", _number(count, _MOST[kind]))
    if kind == "days":
        return RunWindow("days", _number(count, _MOST[kind]))
    raise ValueError(EXPECTED)


def _number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most):
        raise ValueError(EXPECTED)
    return int(text)
