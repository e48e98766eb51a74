"""A projection of everything beside the one in force: after an upgrade, a new rule, or on request.

    1. all documents that are not PENDING are translated again, plan id by plan id; their facts are
       merged into the graph, their rows recorded in a fresh catalogue, the ids of all facts noted
    2. the fresh catalogue takes the place of the old one: from here on answers are the new ones
    3. the runs that the graph is to carry are written, and noted (``projection.runs``)
    4. elements of the graph that were not noted are removed, page by page

Readers enter the graph through the plans that their catalogue names, so until step 2 they see the
old answers, and after it the new ones. There is no second graph: that would double the memory of
an embedded engine, and Neptune has none to give.

Rounds project the documents that arrive meanwhile, and those that wait, as usual, into both
catalogues (``add``): a command among them is carried out there, and its documents must not be shown
before. Where a document causes a withdrawal (``withdraw``), the pass starts over: rare, and simpler
than support from a half-finished pass. Under other rules than those in force the pass visits such
a plan id again (``revisit``) and withdraws its own former facts. A crash leaves the old catalogue
in force and superfluous elements in the graph; the next pass starts anew and removes them.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from graph_model.facts import Edge, ExecutionRow, Facts, Row, Vertex, merge
from graph_model.identity import digest
from graph_model.producers.commands.documents import KEY_PREFIX
from graph_model.producers.projections import Projection, settlements
from graph_model.projection.attempts import project_apart
from graph_model.projection.fullness import is_held
from graph_model.projection.runs.graph_runs import GraphRuns
from graph_model.projection.withdrawal import OWN_ROWS
from graph_model.stores.digests import ElementSum
from graph_model.stores.protocols import DocumentState, Generations, Graph, Journal, StoredDocument
from graph_model.stores.temporary import KeptContents, NotedIds

log = logging.getLogger(__name__)

_PLANS_A_STEP: Final = 20
_ELEMENTS_A_STEP: Final = 2_000


class Phase(StrEnum):
    """The old catalogue is in force until KEEPING."""

    WANTED = "waiting for the projector"
    HASHING_BEFORE = "hashing the current graph and catalogue"
    TRANSLATING = "translating"
    KEEPING = "writing runs"
    SWEEPING = "sweeping"
    HASHING_AFTER = "hashing the result"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rebuild is. ``before`` and ``after`` are hashes over all elements and rows, None
    until they are known; documents that arrive in between change the second.
    """

    phase: Phase
    plans_done: int
    plans: int
    removed: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one plan id: ids of elements, and the rows that its subject alone
    supports.
    """

    ids: frozenset[str] = frozenset()
    rows: frozenset[Row] = frozenset()

    def without(self, other: Contribution) -> Contribution:
        """The part that the other lacks."""
        return Contribution(self.ids - other.ids, self.rows - other.rows)


class Contributions:
    """The contributions of each plan id in a pass."""

    def __init__(self) -> None:
        self._kept = KeptContents()

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def find(self, plan_id: str) -> Contribution:
        """The kept contribution of a plan id; none if the pass has not come to it."""
        content = self._kept.find(plan_id)
        return Contribution(*pickle.loads(content)) if content else Contribution()  # noqa: S301 - written below

    def keep(self, plan_id: str, added: Contribution) -> None:
        """Keep this in place of the former one."""
        self._kept.keep(plan_id, pickle.dumps((added.ids, added.rows)))

    def close(self) -> None:
        """Drop all of it; safe to call twice."""
        self._kept.close()


class Rebuild:
    """One re-projection of everything, in steps that a projector takes between its rounds.

    ``project_all`` translates all documents of a plan id as if they had just come. Everything
    runs on the projector's thread. With ``compare`` the hash over all elements and
    rows is taken before and after. ``settled``: the rules are those in force, so that nothing is
    revisited.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        project_all: Callable[[Sequence[StoredDocument]], Projection],
        runs: GraphRuns,
        *,
        compare: bool = False,
        settled: bool = False,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._translate_all = project_all
        self._runs = runs
        self._sweeps = True
        self._compare = compare
        self._settled = settled
        self._noted = NotedIds()
        self._contributions = Contributions()
        self._scan: Iterator[Vertex | Edge] = iter(())
        self._sum = ElementSum()
        self._before: str | None = None
        self._after: str | None = None
        self._removed = 0
        self._revisited: set[str] = set()
        self._begin()
        if compare:
            self._start_scan(Phase.HASHING_BEFORE)

    def _begin(self) -> None:
        """Start the pass from nothing."""
        self._phase = Phase.TRANSLATING
        self._catalogue = self._generations.begin()
        self._noted.clear()
        self._contributions.clear()
        self._overtaken = False
        self._last = ""
        self._plans_done = 0
        self._plans = self._journal.count_plan_ids()

    @property
    def progress(self) -> Progress:
        """The progress; for any thread."""
        return Progress(
            self._phase,
            self._plans_done,
            self._plans,
            self._removed,
            self._before,
            self._after,
        )

    # the projector's notices

    def add(self, facts: Facts) -> None:
        """Documents were projected during this rebuild: they belong to it as well."""
        if self._is_before_switch():
            self._catalogue.record(facts.rows)
        self._noted.add(_ids(facts))

    def note_withdrawal(self, gone: Facts) -> None:
        """Facts were withdrawn: notes about them are void.

        Rows of a run alone (an unfinished one has ended) are withdrawn here as well: a rebuild that
        started over with every run would never end.
        """
        executions = any(isinstance(row, ExecutionRow) for row in gone.rows)
        if not gone.vertices and not gone.edges and not executions:
            if self._is_before_switch():
                rows = [row for row in gone.rows if isinstance(row, OWN_ROWS)]
                self._catalogue.withdraw(rows)
            return
        log.info("a document changed facts that the rebuild had written; the rebuild restarts")
        if self._is_before_switch():
            self._begin()
        elif self._phase is Phase.KEEPING:
            self._sweeps = False  # the rest goes with the next one
        else:
            self._phase = Phase.DONE

    def revisit(self, plan_ids: Iterable[str]) -> None:
        """These have new documents, or a command covers some, and that is projected beside this
        under other rules: before the switch they are translated (again) under the new ones.
        """
        self._revisited.update(plan_ids)

    @property
    def switched(self) -> bool:
        """Whether its catalogue is in force."""
        return not self._is_before_switch()

    def _is_before_switch(self) -> bool:
        return self._phase in {Phase.HASHING_BEFORE, Phase.TRANSLATING}

    # its own steps

    def step(self) -> bool:
        """One bounded piece of work; False when all is done. Raises Unavailable: try again."""
        match self._phase:
            case Phase.TRANSLATING:
                self._translate()
            case Phase.KEEPING:
                self._keep_runs()
            case Phase.SWEEPING:
                self._sweep()
            case Phase.HASHING_BEFORE | Phase.HASHING_AFTER:
                self._hash()
        return self._phase is not Phase.DONE

    def close(self) -> None:
        """Give back the temporary databases; safe to call twice."""
        self._noted.close()
        self._contributions.close()

    def _start_scan(self, phase: Phase) -> None:
        self._phase = phase
        self._sum = ElementSum()
        self._scan = self._graph.scan()

    def _hash(self) -> None:
        page = list(islice(self._scan, _ELEMENTS_A_STEP))
        for element in page:
            self._sum.add(element)
        if page:
            return
        whole = digest(self._sum.digest(), self._generations.current.digest())
        if self._phase is Phase.HASHING_BEFORE:
            self._before, self._phase = whole, Phase.TRANSLATING
        else:
            self._after, self._phase = whole, Phase.DONE

    def _translate(self) -> None:
        plan_ids = self._journal.plan_ids(self._last, _PLANS_A_STEP)
        if plan_ids:
            self._project_several(plan_ids)
            self._last = plan_ids[-1]
            self._plans_done += len(plan_ids)
        elif self._revisited:
            again = sorted(self._revisited)[:_PLANS_A_STEP]
            self._project_several(again)
            self._revisited.difference_update(again)
            if self._overtaken:
                log.info(
                    "a document changed facts that the rebuild had written; the rebuild restarts"
                )
                self._begin()
        else:
            self._generations.switch()
            self._runs.begin_writing()
            self._phase = Phase.KEEPING

    def _keep_runs(self) -> None:
        written = self._runs.write()
        if written is not None:
            self._noted.add(_ids(written))
        elif self._sweeps:
            self._start_scan(Phase.SWEEPING)
        else:
            self._phase = Phase.DONE

    def _project_several(self, plan_ids: Sequence[str]) -> None:
        project_apart(plan_ids, self._project, self._set_aside)

    def _project(self, plan_ids: Sequence[str]) -> None:
        projections = [self._translate_all(one) for one in self._taken_up(plan_ids)]
        self._take(merge(part for one in projections for part in one.parts))
        if not self._settled:
            for plan_id, projection in zip(plan_ids, projections, strict=True):
                self._replace(plan_id, _contribution_of(projection))
        dropped = [position for one in projections for position in one.dropped]
        self._journal.conclude(settlements(projections), dropped)

    def _replace(self, plan_id: str, added: Contribution) -> None:
        """Withdraw the facts of a plan id's former visit in this pass that it no longer has.

        As with ``note_withdrawal`` that is rows alone, as a rule; else the pass starts over.
        """
        gone = self._contributions.find(plan_id).without(added)
        self._overtaken = self._overtaken or bool(gone.ids)
        self._catalogue.withdraw(list(gone.rows))
        self._contributions.keep(plan_id, added)

    def _set_aside(self, plan_id: str, reason: str) -> None:
        (documents,) = self._taken_up([plan_id])
        positions = [document.position for document in documents]
        self._journal.settle(positions, DocumentState.FAILED, reason)

    def _taken_up(self, plan_ids: Sequence[str]) -> list[list[StoredDocument]]:
        found = self._journal.plans(plan_ids)
        return [list(filter(_is_taken_up, found.get(plan_id, ()))) for plan_id in plan_ids]

    def _take(self, translated: Facts) -> None:
        facts = self._runs.window.structure(translated)
        self._runs.wrote(len(facts.vertices) + len(facts.edges))
        self._graph.write(facts)
        self._catalogue.record(facts.rows)
        self._noted.add(_ids(facts))

    def _sweep(self) -> None:
        page = list(islice(self._scan, _ELEMENTS_A_STEP))
        unknown = self._noted.missing([element.id for element in page])
        if unknown:
            vertices = {e.id for e in page if isinstance(e, Vertex)} & unknown
            self._graph.remove(vertices, unknown - vertices)
            self._removed += len(unknown)
        if not page:
            self._generations.drop_former()
            if self._compare:
                self._start_scan(Phase.HASHING_AFTER)
            else:
                self._phase = Phase.DONE


def _is_taken_up(document: StoredDocument) -> bool:
    """All but documents that wait for a round, or for room, and commands that were set aside: their
    documents are shown until they are replayed and carried out.
    """
    is_command = document.plan_id.startswith(KEY_PREFIX)
    left = {DocumentState.PENDING, *([DocumentState.FAILED] if is_command else [])}
    return document.state not in left and not is_held(document)


def _contribution_of(projection: Projection) -> Contribution:
    ids = frozenset(one for part in projection.parts for one in _ids(part))
    rows = (row for part in projection.parts for row in part.rows)
    return Contribution(ids, frozenset(row for row in rows if isinstance(row, OWN_ROWS)))


def _ids(facts: Facts) -> Iterator[str]:
    for vertex in facts.vertices:
        yield vertex.id
    for edge in facts.edges:
        yield edge.id
