"""Projecting everything anew, beside what stands: after an upgrade, a new rule, or on request.

    1. every plan id of the journal is translated again; its facts are merged into the graph and
       its rows recorded in a fresh catalogue; the ids of all facts are noted
    2. the fresh catalogue takes the place of the old one: from here on answers are the new ones
    3. what stands in the graph and was not noted is removed, page by page

Readers enter the graph through the plans that their catalogue names, so until step 2 they see the
old answers, and after it the new ones. There is no second graph: that would double the memory of
an embedded engine, and Neptune has none to give.

Documents that arrive meanwhile are projected as usual, into both catalogues (``add``). Where a
document takes back what stood before (``withdraw``), the pass starts over: rare, and simpler than
knowing what else a half-finished pass will still say. A crash leaves the old catalogue in force
and the graph with more than it needs; the next pass begins from its start and sweeps.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final, TypeVar

from graph_model.digests import ElementSum
from graph_model.facts import Edge, Facts, Vertex, merge
from graph_model.identity import digest
from graph_model.projection.outcome import project_apart
from graph_model.projection.projections import Projection, settlements
from graph_model.store import DocumentState, Generations, Graph, Journal, StoredDocument
from graph_model.withdrawal import TOLD_ROWS

log = logging.getLogger(__name__)

_PLANS_A_STEP: Final = 20
_ELEMENTS_A_STEP: Final = 2_000
_LOOKUP: Final = 500
_Item = TypeVar("_Item")


class Phase(StrEnum):
    """The old catalogue is in force until SWEEPING."""

    WANTED = "waiting for the projector"
    HASHING_BEFORE = "hashing what stands"
    TRANSLATING = "translating"
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


class NotedIds:
    """A set of ids that may outgrow memory: a private temporary database, gone when closed."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self.clear()

    def clear(self) -> None:
        """Forget every id."""
        self._database.execute("DROP TABLE IF EXISTS noted")
        self._database.execute("CREATE TABLE noted (id TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, ids: Iterable[str]) -> None:
        """Note ids; known ones are ignored."""
        self._database.execute("BEGIN")
        self._database.executemany("INSERT OR IGNORE INTO noted VALUES (?)", ((i,) for i in ids))
        self._database.execute("COMMIT")

    def missing(self, ids: Collection[str]) -> set[str]:
        """Those that were never noted."""
        unknown = set(ids)
        for chunk in _batches(ids, _LOOKUP):
            marks = ",".join("?" * len(chunk))
            rows = self._database.execute(f"SELECT id FROM noted WHERE id IN ({marks})", chunk)  # noqa: S608 - only question marks
            unknown.difference_update(found for (found,) in rows)
        return unknown

    def close(self) -> None:
        """Drop the set; safe to call twice."""
        self._database.close()


class Rebuild:
    """One re-projection of everything, in steps that a projector takes between its rounds.

    ``project_all`` translates all documents of a plan id as if they had just come. Everything
    runs on the projector's thread. With ``compare`` the hash over all elements and
    rows is taken before and after.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        project_all: Callable[[Sequence[StoredDocument]], Projection],
        *,
        compare: bool = False,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._translate_all = project_all
        self._compare = compare
        self._noted = NotedIds()
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
        self._last = ""
        self._plans_done = 0
        self._plans = self._journal.count_plan_ids()

    @property
    def progress(self) -> Progress:
        """How far it is; may be asked by any thread."""
        return Progress(
            self._phase,
            self._plans_done,
            self._plans,
            self._removed,
            self._before,
            self._after,
        )

    # what the projector tells

    def add(self, facts: Facts) -> None:
        """Documents were projected while this runs: they belong to what is built as well."""
        if self._is_before_switch():
            self._catalogue.record(facts.rows)
        self._noted.add(_ids(facts))

    def note_withdrawal(self, gone: Facts) -> None:
        """Something was taken back: what was noted of it is not to be trusted.

        Rows alone (a run that was going on has ended) are taken back here as well: a rebuild that
        started over with every run would never end.
        """
        if not gone.vertices and not gone.edges:
            if self._is_before_switch():
                told = [row for row in gone.rows if isinstance(row, TOLD_ROWS)]
                self._catalogue.withdraw(told)
            return
        log.info("a document changed what stood before: the rebuild starts over")
        if self._is_before_switch():
            self._begin()
        else:
            self._phase = Phase.DONE  # what is left over goes with the next one

    def revisit(self, plan_ids: Iterable[str]) -> None:
        """These have new documents, projected beside this under other rules: before the switch
        they are translated (again) under the new ones.
        """
        self._revisited.update(plan_ids)

    @property
    def switched(self) -> bool:
        """Whether what it built is in force."""
        return not self._is_before_switch()

    def _is_before_switch(self) -> bool:
        return self._phase in {Phase.HASHING_BEFORE, Phase.TRANSLATING}

    # its own steps

    def step(self) -> bool:
        """One bounded piece of work; False when all is done. Raises Unavailable: try again."""
        match self._phase:
            case Phase.TRANSLATING:
                self._translate()
            case Phase.SWEEPING:
                self._sweep()
            case Phase.HASHING_BEFORE | Phase.HASHING_AFTER:
                self._hash()
        return self._phase is not Phase.DONE

    def close(self) -> None:
        """Give back the temporary database; safe to call twice."""
        self._noted.close()

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
        else:
            self._generations.switch()
            self._start_scan(Phase.SWEEPING)

    def _project_several(self, plan_ids: Sequence[str]) -> None:
        project_apart(plan_ids, self._project, self._set_aside)

    def _project(self, plan_ids: Sequence[str]) -> None:
        projections = [self._project_all(plan_id) for plan_id in plan_ids]
        self._take(merge(part for one in projections for part in one.parts))
        dropped = [position for one in projections for position in one.dropped]
        self._journal.conclude(settlements(projections), dropped)

    def _set_aside(self, plan_id: str, reason: str) -> None:
        positions = [document.position for document in self._journal.plan(plan_id)]
        self._journal.settle(positions, DocumentState.FAILED, reason)

    def _project_all(self, plan_id: str) -> Projection:
        return self._translate_all(self._journal.plan(plan_id))

    def _take(self, facts: Facts) -> None:
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


def _ids(facts: Facts) -> Iterator[str]:
    for vertex in facts.vertices:
        yield vertex.id
    for edge in facts.edges:
        yield edge.id


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
