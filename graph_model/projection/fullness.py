"""How full an in-memory graph is, and which documents wait until there is room again.

An engine that outgrows its heap dies, and would die again with the same graph. Before that happens:

    from 90 % of its capacity    the runs leave the graph (``graph_runs``)
    from 100 %                   a subject whose vertices are not all in the graph is held: its new
                                 documents are WAITING for HELD; all others are projected as usual
    5 % more room than then      the held documents are pending again
    below 85 %, runs included    the runs return to the graph

A larger heap, a forget and a prune command make room. The service answers meanwhile, and marks its
answers as partial.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Final

from graph_model.facts import Facts, Part
from graph_model.producers.projections import Projection
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.graph import GraphReader
from graph_model.stores.journal import Journal
from graph_model.values import batched

HELD: Final = "the graph is full: it waits for room (docs/graph.md)"
FULL: Final = (
    "the graph is full: documents with new jobs, tables or columns wait in the journal, all others"
    " are projected"
)
HELD_KEY: Final = "graph_full"
"""Where the journal notes that documents are held."""
LEAVING: Final = 0.9
ROOM_AGAIN: Final = 0.85
_MORE_FREE: Final = 0.05
_RECOUNTED: Final = 0.05
"""Near the bounds the graph is counted again once this share of its capacity was written ..."""
_RECOUNT_SECONDS: Final = 60.0
"""... and at this interval, because removals change the number, too."""
_LOOKED_UP: Final = 1_000


class Fullness:
    """Used by the projector alone, on its thread; only ``holds`` may be read by any thread.

    ``capacity`` is the number of elements that the engine holds, None where nothing bounds it.
    ``clock`` gives seconds.
    """

    def __init__(
        self,
        journal: Journal,
        graph: GraphReader,
        capacity: Callable[[], int | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._capacity = capacity
        self._clock = clock
        self._counted: int | None = None
        self._counted_at = 0.0
        self._written = 0
        self._free_then = 0  # the room when a document was held last
        self.holds = False

    def begin(self) -> None:
        """Count anew: the graph may be another one."""
        self._counted, self._written = None, 0
        noted = self._journal.get_meta(HELD_KEY)
        self.holds, self._free_then = bool(noted), int(noted or 0)

    def wrote(self, elements: int) -> None:
        """Note that at most this number of elements was added."""
        self._written += elements

    def share(self, more: int = 0) -> float:
        """The filled share of the capacity after ``more`` further elements; 0 without a bound."""
        capacity = self._capacity()
        if capacity is None:
            return 0.0
        return (self._elements(capacity) + more) / max(1, capacity)

    def free(self) -> int | None:
        """How many elements may be added; None: any number."""
        capacity = self._capacity()
        return None if capacity is None else capacity - self._elements(capacity)

    def missing(self, facts: Facts) -> int:
        """How many elements of these facts the graph lacks: 0 where it has all their vertices,
        because new edges come with a new vertex of their subject.
        """
        ids = {vertex.id for vertex in facts.vertices}
        there = sum(len(self._graph.vertices(some)) for some in batched(sorted(ids), _LOOKED_UP))
        return len(ids) - there + len(facts.edges) if there < len(ids) else 0

    def hold(self) -> None:
        """Note that some documents are about to be held, with the room that there is.

        That is the room at the last count. Most elements written since then were in the graph
        before; if the note subtracted them, the next count would look like new room and release all
        held documents.
        """
        if not self.holds:
            self._counted = None
        free = self._counted_free()
        if not self.holds or free < self._free_then:
            self._journal.set_meta(HELD_KEY, str(free))
            self.holds, self._free_then = True, free

    @property
    def may_release(self) -> bool:
        """Whether there is clearly more room than when a document was held last."""
        capacity = self._capacity() if self.holds else None
        if capacity is None:
            return self.holds  # nothing bounds it any more
        return capacity - self._elements(capacity) > self._free_then + _MORE_FREE * capacity

    def release(self) -> None:
        """Note that no document is held any more: all of them are pending again."""
        self._journal.set_meta(HELD_KEY, "")
        self.holds = False

    def _counted_free(self) -> int:
        free = self.free()
        return 0 if free is None else free + self._written

    def _elements(self, capacity: int) -> int:
        if self._counted is None or self._is_doubtful(capacity, self._counted + self._written):
            self._counted, self._written = sum(self._graph.count()), 0
            self._counted_at = self._clock()
        return self._counted + self._written

    def _is_doubtful(self, capacity: int, elements: int) -> bool:
        if elements < ROOM_AGAIN * capacity and not self.holds:
            return False
        passed = self._clock() - self._counted_at
        return self._written > _RECOUNTED * capacity or passed >= _RECOUNT_SECONDS


def size_of(parts: Iterable[Part]) -> int:
    """The number of elements in these facts; an element in several parts counts for each."""
    return sum(part.size for part in parts)


def held(documents: Collection[StoredDocument]) -> Projection:
    """The projection that writes nothing of these documents, and lets the new ones wait."""
    new = (document.position for document in documents if document.state == DocumentState.PENDING)
    return Projection((), None, tuple((at, DocumentState.WAITING, HELD) for at in new))


def is_held(document: StoredDocument) -> bool:
    """Whether a document waits for room."""
    return document.state == DocumentState.WAITING and document.reason == HELD
