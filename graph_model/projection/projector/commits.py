"""Writes a projection: graph, catalogue, withdrawals, states of documents.

The writes come in this order, so that a crash in between repeats work and never loses it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Final

from graph_model.facts import Facts, Part, merge, whole
from graph_model.producers.projections import Projection, settlements
from graph_model.projection.fullness import size_of
from graph_model.projection.known_elements import KnownElements
from graph_model.projection.projector.graph_probe import GraphProbe
from graph_model.projection.projector.readiness import Activity
from graph_model.projection.projector.rules import RulesInForce
from graph_model.projection.projector.stores import ProjectionStores
from graph_model.projection.rebuilding import Rebuild
from graph_model.projection.runs.graph_runs import GraphRuns
from graph_model.projection.runs.keeping import KeptRuns
from graph_model.projection.waiters import Waiters
from graph_model.projection.withdrawal import (
    RemovedElements,
    difference,
    reveals,
    withdraw_runs,
    withdraw_structure,
)
from graph_model.stores.documents import DocumentState
from graph_model.stores.protocols import ROUND_KEY, Catalogue, Origin

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
        activity: Activity,
        runs: GraphRuns,
    ) -> None:
        self._stores = stores
        self._runs = runs
        self._rules = rules
        self._probe = probe
        self._waiting = waiting
        self._activity = activity
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
        if free is None or sum(size_of(one.parts) for one in projections) <= free:
            return [True] * len(projections)
        found = []
        for one in projections:
            new = self._runs.window.structure(merge(map(self._known.new, one.parts)))
            missing = 0 if one.dropped else self._stores.fullness.missing(new)
            found.append(missing == 0 or missing <= free)
            free -= missing if found[-1] else 0
        return found

    def commit(self, projections: Sequence[Projection], *, again: bool = False) -> None:
        """Write graph, catalogue, withdrawals and states; then drop the bodies that nothing shows
        any more.

        ``again``: no document is new, so a start from the checkpoint does not repeat the writes.
        """
        parts = [part for one in projections for part in one.parts]
        dropped = [position for one in projections for position in one.dropped]
        concluded = [position for one in projections for position, _, _ in one.states]
        origin = self.origin(*set(concluded).difference(dropped))
        removed: Collection[str] = ()
        if again and any(map(reveals, projections)):
            self._stores.void_checkpoint()
        try:
            new = self._write(parts, origin)
            former = [one.former for one in projections if one.former is not None]
            if former:  # together: a fact that another of these projections reports now stays
                gone = difference(merge(former), parts)
                removed = self._withdraw(self._runs.to_withdraw(gone), new, again=again)
            else:
                self._keep_runs(new, Facts())
        except BaseException:
            self.forget()
            raise
        self._conclude(settlements(projections), dropped, origin, removed)
        self._known.learn_wholes(parts)
        self._stores.checkpoints.projected(len(concluded))
        self._activity.end()  # before the clients that wait send their next document
        self._waiting.conclude(concluded)

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
        removed: Collection[str],
    ) -> None:
        """End a round: the journal notes it with the states of its documents."""
        settings = dict(self._stores.checkpoints.note_removals(removed))
        if origin is not None:
            settings[ROUND_KEY] = str(origin.round)
        self._stores.journal.conclude(settled, dropped, settings)
        if origin is not None:
            self.round = origin.round

    def _write(self, parts: Sequence[Part], origin: Origin | None) -> Facts:
        """Write the elements that are not known to exist, graph before catalogue. Runs come later,
        in ``_keep_runs``.
        """
        catalogue = self._stores.generations.current
        if catalogue is not self._known_catalogue or self.rebuild is not None:
            self.forget()
            self._known_catalogue = catalogue
        new = self._runs.window.structure(merge(map(self._known.new, parts)))
        self._stores.wrote(new.size)
        self._stores.graph.write(new)
        self._probe.choose(map(self._runs.window.structure, map(whole, parts)))
        catalogue.record(new.rows, origin)
        self._known.learn(new)
        if self.rebuild is not None and self._rules.settled:
            self.rebuild.add(self._runs.window.structure(merge(parts)))
        return new

    def _keep_runs(self, new: Facts, gone: Facts) -> KeptRuns:
        """Write and remove runs in the graph. The runs that it is to carry are a function of the
        catalogue's rows.
        """
        kept = self._runs.keep(new.rows, gone.rows)
        if self.rebuild is not None and self._rules.settled:
            self.rebuild.add(kept.wanted)
        return kept

    def _withdraw(self, gone: Facts, new: Facts, *, again: bool) -> Collection[str]:
        """Withdraw runs first: the elements that they touch go only once the runs have left the
        graph. Returns the ids of removed elements.
        """
        removed = RemovedElements(self._stores.graph)
        catalogue = self._stores.generations.current
        withdraw_runs(gone, removed, catalogue)
        kept = self._keep_runs(new, gone)
        removed.ids += kept.removed
        if again and kept.came_back:
            self._stores.void_checkpoint()
        withdraw_structure(gone, removed, catalogue)
        self._stores.wrote(gone.size)
        self._known.unlearn(gone)
        self._probe.lose(gone)
        if self.rebuild is not None:
            self.rebuild.note_withdrawal(gone)
        return removed.ids
