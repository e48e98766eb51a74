"""What bounds a walk: the first bound that is met stands in the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from graph_model.lineage.questions import Partial

#: How many edges of one label a single vertex may have before an answer is cut there.
HUB_LIMIT: Final = 5_000
#: Columns drawn in one answer, beside the tables that hold them.
COLUMN_LIMIT: Final = 20_000
#: Steps from a write to what it read that one walk may follow.
EDGE_LIMIT: Final = 100_000
#: Tables (or columns) that a walk downstream may consider before it looks at times.
CANDIDATE_LIMIT: Final = 20_000
#: Characters of expressions in one answer.
TEXT_LIMIT: Final = 20_000_000


class Bounds:
    """Time, and what else ends a walk. ``partial`` is the first bound that was met."""

    def __init__(self, expired: Callable[[], bool], time_limit_ms: int) -> None:
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self.partial: Partial | None = None

    def cut(self, reason: str, limit: int) -> None:
        self.partial = self.partial or Partial(reason, limit)

    def note_hub(self, cut: Collection[str]) -> None:
        if cut:
            self.cut("hub", HUB_LIMIT)

    def late(self) -> bool:
        """Whether the time is up."""
        late = self._expired()
        if late:
            self.cut("time", self._time_limit_ms)
        return late

    def over(self) -> bool:
        """Whether to stop here: the time is up, or another bound (but a hub) was met before."""
        self.late()
        return self.partial is not None and self.partial.reason != "hub"
