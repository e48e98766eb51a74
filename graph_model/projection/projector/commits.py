"""Writes a projection: graph, catalogue, withdrawals, states of documents.

The writes come in this order, so that a crash in between repeats work and never loses it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from cachetools import LRUCache

from graph_model.facts import Facts, Part, Row, SharedFacts, merge, whole
from graph_model.producers.projections import Projection, settlements
from graph_model.projection.fullness import size_of
from graph_model.projection.graph_runs import GraphRuns
from graph_model.projection.projector.readiness import GraphProbe, Waiters
from graph_model.projection.projector.rules import ProjectionStores, RulesInForce
from graph_model.projection.rebuilding import Rebuild
from graph_model.projection.run_window import structure
from graph_model.projection.writing import (
    difference,
    withdraw_runs,
    withdraw_structure,
    write_facts,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.rows import ROUND_KEY, Origin
from graph_model.stores.documents import DocumentState

# Elements that the stores hold already, so that the writer skips them; kept in its memory.
#
# A repeated run has the same structure, and only a handful of its facts are new. A fact becomes
# known once all stages of its commit and the catalogue's rows are written. Code that removes
# elements must remove them here too. Everything is forgotten where it is uncertain which elements
# were removed, and after another process was the writer.

_MOST_ELEMENTS: Final = 20_000
_MOST_ROWS: Final = 20_000
_MOST_WHOLES: Final = 50_000
_NOTHING: Final = Facts()


class KnownElements:
    """Not safe from several threads: only the projector uses it."""

    def __init__(self) -> None:
        self._elements: set[str] = set()
        self._rows: set[Row] = set()
        # The older half. So a large subject, which is written in pieces, finds the first ones.
        self._older_elements: set[str] = set()
        self._older_rows: set[Row] = set()
        # Keys of facts that are known completely. So the structure of 20,000 jobs is remembered,
        # though its elements, a hundred a job, would not fit.
        self._wholes: LRUCache[str, None] = LRUCache(_MOST_WHOLES)
        self._kinds_of_wholes: set[type[Row]] = set()

    def new(self, part: Part) -> Facts:
        """The facts among these that must be written."""
        if isinstance(part, SharedFacts) and part.key in self._wholes:
            self._wholes[part.key] = None  # the one used last
            return _NOTHING
        facts = whole(part)
        return Facts(
            tuple(vertex for vertex in facts.vertices if not self._has(vertex.id)),
            tuple(edge for edge in facts.edges if not self._has(edge.id)),
            tuple(
                row for row in facts.rows if row not in self._rows and row not in self._older_rows
            ),
        )

    def _has(self, element: str) -> bool:
        return element in self._elements or element in self._older_elements

    def learn(self, facts: Facts) -> None:
        """Note that all of these facts are written."""
        if len(self._elements) > _MOST_ELEMENTS // 2 or len(self._rows) > _MOST_ROWS // 2:
            self._older_elements, self._elements = self._elements, set()
            self._older_rows, self._rows = self._rows, set()
        self._elements.update(vertex.id for vertex in facts.vertices)
        self._elements.update(edge.id for edge in facts.edges)
        self._rows.update(facts.rows)

    def learn_wholes(self, parts: Iterable[Part]) -> None:
        """Note that each of these parts is written completely, now or before, and that none of it
        was removed since.
        """
        for part in parts:
            if isinstance(part, SharedFacts) and part.key not in self._wholes:
                self._wholes[part.key] = None
                self._kinds_of_wholes.update(map(type, part.make().rows))

    def unlearn(self, gone: Facts) -> None:
        """Note that some of these facts were removed; a vertex went with all its edges."""
        if gone.vertices:
            self.forget()
            return
        for elements in (self._elements, self._older_elements):
            elements.difference_update(edge.id for edge in gone.edges)
        for rows in (self._rows, self._older_rows):
            rows.difference_update(gone.rows)
        if gone.edges or not self._kinds_of_wholes.isdisjoint(map(type, gone.rows)):
            self._forget_wholes()

    def forget(self) -> None:
        """Forget everything: nothing is certain any more."""
        self._elements.clear()
        self._rows.clear()
        self._older_elements.clear()
        self._older_rows.clear()
        self._forget_wholes()

    def _forget_wholes(self) -> None:
        self._wholes.clear()
        self._kinds_of_wholes.clear()


# --------------------------------------------------------------------------------------------------

#: The projector that wrote last; only that one may trust its memory of known elements.
WRITER_KEY: Final = "writer"


class Commits:
    """The one writer of graph and catalogue in this process; the journal knows it by ``name``.

    ``rebuild`` is the one that runs in this process; it receives every write and withdrawal.
    ``runs`` are those that the graph carries. ``round`` is the last round that the journal has
    concluded.
    """

    def __init__(
        self,
        stores: ProjectionStores,
        rules: RulesInForce,
        probe: GraphProbe,
        waiting: Waiters,
        end_activity: Callable[[], None],
        runs: GraphRuns,
    ) -> None:
        self._stores = stores
        self._runs = runs
        self._rules = rules
        self._probe = probe
        self._waiting = waiting
        self._end_activity = end_activity
        self._known = KnownElements()
        self._known_catalogue: Catalogue | None = None
        self.name: Final = uuid.uuid4().hex
        self.rebuild: Rebuild | None = None
        self.round = 0

    def take_turn(self, writer: str | None) -> bool:
        """Name this process in the journal as the writer. True where it wrote last, too; after
        another process all known elements are forgotten.
        """
        if writer == self.name:
            return True
        self.forget()
        self._stores.journal.set_meta(WRITER_KEY, self.name)
        return False

    def forget(self) -> None:
        """Forget all known elements."""
        self._known.forget()

    def fit(self, projections: Sequence[Projection]) -> list[bool]:
        """For each projection whether the graph has room for it; earlier ones take room first."""
        free = self._stores.fullness.free()
        if free is None or sum(size_of(projection.parts) for projection in projections) <= free:
            return [True] * len(projections)
        fits = []
        for projection in projections:
            new = structure(merge(map(self._known.new, projection.parts)))
            missing = 0 if projection.dropped else self._stores.fullness.missing(new)
            fits.append(missing == 0 or missing <= free)
            free -= missing if fits[-1] else 0
        return fits

    def commit(self, projections: Sequence[Projection]) -> None:
        """Write graph, catalogue, withdrawals and states; then drop the bodies that nothing shows
        any more.
        """
        parts = [part for projection in projections for part in projection.parts]
        dropped = [position for projection in projections for position in projection.dropped]
        concluded = [position for projection in projections for position, _, _ in projection.states]
        origin = self.origin(*set(concluded).difference(dropped))
        try:
            self._stores.graph.catch_up()
            new = self._write(parts, origin)
            former = [
                projection.former for projection in projections if projection.former is not None
            ]
            if former:  # together: a fact that another of these projections reports now stays
                gone = difference(merge(former), parts)
                self._withdraw(self._runs.to_withdraw(gone), new)
            else:
                self._keep_runs(new, Facts())
        except BaseException:
            self.forget()
            raise
        self._conclude(settlements(projections), dropped, origin)
        self._known.learn_wholes(parts)
        self._end_activity()  # before the clients that wait send their next document
        self._waiting.conclude(concluded)

    def write_ahead(self, facts: Facts) -> None:
        """Write some facts of a projection that is committed in a later round, from among those of
        ``writing.pieces_of``.
        """
        try:
            self._stores.graph.catch_up()
            self._write([facts], None)
        except BaseException:
            self.forget()
            raise

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """Give these documents this state; nothing else changes."""
        self._stores.journal.settle(positions, state, reason)
        self._waiting.conclude(positions)

    def origin(self, *positions: int) -> Origin | None:
        """The origin of the catalogue after this round; None if it never held everything."""
        if not self._stores.generations.trusted:
            return None
        return Origin(self._stores.journal.id, self.round + 1, max(positions, default=0))

    def _conclude(
        self,
        settled: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int],
        origin: Origin | None,
    ) -> None:
        """End a round: the journal notes it with the states of its documents."""
        settings = {} if origin is None else {ROUND_KEY: str(origin.round)}
        self._stores.journal.conclude(settled, dropped, settings)
        if origin is not None:
            self.round = origin.round

    def _write(self, parts: Sequence[Part], origin: Origin | None) -> Facts:
        """Write the facts that are not known to exist. Runs come later, in ``_keep_runs``."""
        catalogue = self._stores.generations.current
        if catalogue is not self._known_catalogue or self.rebuild is not None:
            self.forget()
            self._known_catalogue = catalogue
        new = structure(merge(map(self._known.new, parts)))
        self._stores.fullness.wrote(new.size)
        write_facts(self._stores.graph, catalogue, new, origin)
        self._probe.choose(map(structure, map(whole, parts)))
        self._known.learn(new)
        if self.rebuild is not None and self._rules.settled:
            self.rebuild.add(structure(merge(parts)))
        return new

    def _keep_runs(self, new: Facts, gone: Facts) -> None:
        """Write and remove runs in the graph. The runs that it is to carry are a function of the
        catalogue's rows.
        """
        kept = self._runs.keep(new.rows, gone.rows)
        if self.rebuild is not None and self._rules.settled:
            self.rebuild.add(kept.wanted)

    def _withdraw(self, gone: Facts, new: Facts) -> None:
        """Withdraw runs first: the elements that they touch go only once the runs have left the
        graph.
        """
        graph, catalogue = self._stores.graph, self._stores.generations.current
        withdraw_runs(gone, graph, catalogue)
        self._keep_runs(new, gone)
        withdraw_structure(gone, graph, catalogue)
        self._known.unlearn(gone)
        self._probe.lose(gone)
        if self.rebuild is not None:
            self.rebuild.note_withdrawal(gone)
