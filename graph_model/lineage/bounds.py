"""What the walks of one question read, and the bounds within which they do: the answer carries the
first one met, and counts the nodes left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graph_model.lineage.history.history import History
from graph_model.lineage.history.writes import LOCATION_LIMIT
from graph_model.lineage.questions import LeftOut, Partial
from graph_model.lineage.structure import Structure
from graph_model.stores.graph import GraphReader

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue

#: Edges of one label at a single vertex beyond which an answer is truncated.
HUB_LIMIT: Final = 5_000
#: Columns drawn in one answer, in addition to their tables.
COLUMN_LIMIT: Final = 20_000
#: Steps from a write to its reads that one walk may follow.
EDGE_LIMIT: Final = 100_000
#: Tables (or columns) that a downstream walk may consider before it compares times.
CANDIDATE_LIMIT: Final = 20_000
#: Characters of expressions in one answer.
TEXT_LIMIT: Final = 20_000_000


class Bounds:
    """The time limit and the other bounds. ``partial`` is the first bound that was reached."""

    def __init__(self, expired: Callable[[], bool], time_limit_ms: int) -> None:
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self.partial: Partial | None = None

    def cut(self, reason: str, limit: int) -> None:
        self.partial = self.partial or Partial(reason, limit)

    def note_hub(self, cut: Collection[str]) -> None:
        if cut:
            self.cut("hub", HUB_LIMIT)

    def note_locations(self, *, cut: bool) -> None:
        if cut:
            self.cut("locations", LOCATION_LIMIT)

    def late(self) -> bool:
        """Whether the time limit has passed."""
        late = self._expired()
        if late:
            self.cut("time", self._time_limit_ms)
        return late

    def over(self) -> bool:
        """Whether to stop: the time limit has passed, or a bound was reached that is not one of a
        single dataset (``hub``, ``locations``).
        """
        self.late()
        return self.partial is not None and self.partial.reason not in ("hub", "locations")


@dataclass(frozen=True, slots=True)
class WalkEvidence:
    """What the walks of one question read. ``structure`` is what earlier questions have read of the
    graph, ``history`` what this request has read of the catalogue; a reading that is cut is noted
    in ``bounds``.
    """

    graph: GraphReader
    catalogue: Catalogue
    history: History
    structure: Structure
    bounds: Bounds


def count_left_out(
    steps: Iterable[tuple[str, str]], drawn: Collection[str], hidden: Collection[str]
) -> tuple[LeftOut, ...]:
    """Per drawn node the number of its neighbours upstream and downstream that are not drawn,
    without the hidden ones (ids).

    ``steps`` are pairs of neighbours, in the direction of flow:

        a drawn table, read by 5,000 jobs of which 499 are drawn => 4,501 more downstream
    """
    upstream: dict[str, set[str]] = {}
    downstream: dict[str, set[str]] = {}
    for source, target in steps:
        if source in hidden or target in hidden:
            continue
        if source in drawn and target not in drawn:
            downstream.setdefault(source, set()).add(target)
        elif target in drawn and source not in drawn:
            upstream.setdefault(target, set()).add(source)
    return tuple(
        LeftOut(node, len(upstream.get(node, ())), len(downstream.get(node, ())))
        for node in sorted(upstream.keys() | downstream.keys())
    )
