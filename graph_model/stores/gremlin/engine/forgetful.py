"""The graph of an engine that ends with its process: its elements are kept beside it.

    write     give the engine elements that are kept already
    remove    keep elements no longer, then remove them from the engine
    restore   after a start: give the engine everything that is kept

``projection.writing`` keeps elements in the transaction of their rows, before the engine gets them.
A write or removal that breaks off in between raises Unavailable and is repeated by the caller, as
with any graph: no document counts as projected before. What the engine did not take or remove
then comes first (``catch_up``): a removal finds all edges that are kept, and of new edges whatever
end the engine has is kept. Nothing is saved at a stop, and a kill loses nothing.

The elements are kept beside the catalogue's rows (``SqlElements``), in the catalogue in force and
in the next one while it is built: a catalogue that is set aside, or does not belong to this
journal, takes its elements along.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from graph_model.errors import GraphRejected, GraphUnavailable, ProjectionStopped
from graph_model.facts import Edge, Facts, Vertex
from graph_model.stores.catalogue.rows import Elements
from graph_model.stores.graph import Direction, EdgePage, Graph, Neighbours

_OVERFULL: Final = 1.1
"""A graph of up to this multiple of the capacity is loaded: it may have been filled above it."""
_MOST_REFUSED: Final = 20
"""An engine that refuses more elements of a page than these, each alone, is itself at fault."""

_REFUSES: Final = "the embedded engine refuses the elements that are kept for it"

_log: Final = logging.getLogger(__name__)


class ForgetfulGraph:
    """``Graph`` of an ``engine`` whose elements are in ``kept``, the first of which is in
    force. ``capacity``: how many elements the engine holds, about; None: any number.
    """

    forgets = True

    def __init__(
        self,
        engine: Graph,
        kept: Callable[[], Sequence[Elements]],
        capacity: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._kept = kept
        self._capacity = capacity
        self._owed: Callable[[], None] | None = None  # noted in what is kept, and not by the engine
        self._is_doubted = False

    # --- writing ----------------------------------------------------------------------------

    def check(self, facts: Facts) -> None:
        self.catch_up()
        self._engine.check(facts)

    def write(self, facts: Facts) -> None:
        self.catch_up()
        self._owe(partial(self._engine.write, facts))

    def _owe(self, change: Callable[[], None]) -> None:
        self._owed = change
        self.catch_up()

    def catch_up(self) -> None:
        if self._owed is None:
            return
        try:
            self._owed()
        except GraphRejected:
            self._owed = None  # it would end every further write; the next start sees to it
            raise
        self._owed = None

    def correct(self, vertices: Collection[Vertex]) -> None:
        """What is kept has these values already: the catalogue that a rebuild fills."""
        self.catch_up()
        self._owe(partial(self._engine.correct, vertices))

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        self.catch_up()
        gone = {*edge_ids, *self._engine.edge_ids_at(vertex_ids)}
        for elements in self._kept():
            elements.remove(vertex_ids, gone)
        self._owe(partial(self._engine.remove, vertex_ids, edge_ids))

    def clear(self) -> None:
        self._owed, self._is_doubted = None, False
        for elements in self._kept():
            elements.clear()
        self._engine.clear()

    # --- after a start ----------------------------------------------------------------------

    def is_whole(self) -> bool:
        """Compares numbers: an engine that was started anew, or that another program filled, has
        others.
        """
        return not self._is_doubted and self._kept()[0].count() == self._engine.count()

    def doubt(self) -> None:
        self._is_doubted = True

    def restore(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """See ``stores.graph.Graph.restore``.

        What is kept stays kept whatever the engine says, but for two cases, in which the graph
        stays empty and the caller fills it from the journal as far as it fits: far more is kept
        than the engine holds, so that in a smaller heap it would end at each start; or it refuses
        some elements alone and takes others. Raises GraphUnavailable where it takes none or refuses
        many: it may do so for a reason that passes. (To fill it anyway, --at-next-start of
        ``headwater rebuild``.)
        """
        self._owed = None
        kept, capacity = self._kept()[0], self._capacity()
        elements = sum(kept.count())
        if capacity is not None and elements > _OVERFULL * capacity:
            _log.warning("%d elements are kept, and the engine holds %d", elements, capacity)
            self.clear()
            return
        self._engine.clear()
        refused = self._load(kept, stopping)
        self._is_doubted = False
        if refused and len(refused) == elements:
            raise GraphUnavailable(_REFUSES)
        if refused:
            _log.error(
                "the engine refuses %d elements that are kept: %s", len(refused), refused[:9]
            )
            self.clear()
            return
        _log.info("the engine has its %d vertices and %d edges again", *self._engine.count())

    def _load(self, kept: Elements, stopping: Callable[[], bool]) -> list[str]:
        """The next page is read while the engine takes this one. Returns the ids of the elements
        that it refuses.
        """
        refused: list[str] = []
        with ThreadPoolExecutor(1) as writer:
            under_way: Future[list[str]] | None = None
            for page in kept.pages():
                if under_way is not None:
                    refused += under_way.result()
                if stopping():
                    raise ProjectionStopped("the service stops while the engine gets its elements")
                under_way = writer.submit(self._give, page)
            if under_way is not None:
                refused += under_way.result()
        return refused

    def _give(self, page: Facts) -> list[str]:
        """Give the engine a page; after a refusal, which names no element, each of it alone.
        Returns the ids of those that it refuses.
        """
        try:
            self._engine.write(page)
            return []
        except GraphRejected as failure:
            _log.warning("the engine refuses a page of elements that are kept: %s", failure)
        refused = []
        elements: tuple[Vertex | Edge, ...] = (*page.vertices, *page.edges)
        for element in elements:
            try:
                self._engine.write(_alone(element))
            except GraphRejected as failure:
                refused.append(element.id)
                if len(refused) > _MOST_REFUSED:
                    raise GraphUnavailable(_REFUSES, str(failure)) from failure
        return refused

    # --- reading ----------------------------------------------------------------------------

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        return self._engine.vertices(ids)

    def edges(
        self, ids: Collection[str], direction: Direction, labels: Sequence[str], limit: int
    ) -> EdgePage:
        return self._engine.edges(ids, direction, labels, limit)

    def neighbours(
        self,
        ids: Collection[str],
        direction: Direction,
        label: str,
        limit: int,
        kind: str | None = None,
    ) -> Neighbours:
        return self._engine.neighbours(ids, direction, label, limit, kind)

    def edge_ids_at(self, vertex_ids: Collection[str]) -> Sequence[str]:
        return self._engine.edge_ids_at(vertex_ids)

    def scan(self) -> Iterator[Vertex | Edge]:
        return self._engine.scan()

    def count(self) -> tuple[int, int]:
        return self._engine.count()

    def ping(self) -> None:
        self._engine.ping()

    def close(self) -> None:
        self._engine.close()


def _alone(element: Vertex | Edge) -> Facts:
    return Facts((element,)) if isinstance(element, Vertex) else Facts(edges=(element,))
