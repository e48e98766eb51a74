"""A small Headwater in memory for tests: journal, memory graph, catalogue, projector."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from hypothesis import Phase, settings

from graph_model.answers.sources import Sources
from graph_model.facts import Edge, Row, Vertex
from graph_model.producers.openlineage.events.documents import read_event, subject_key
from graph_model.producers.openlineage.producer import KINDS
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector import Projector
from graph_model.projection.run_window import DEFAULT, RunWindow
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentKind, Receipt, Submission, make_submission
from graph_model.stores.journal import Journal
from tests.memory_graph import MemoryGraph


def budget(examples: int, *, shrinks: bool = True) -> settings:
    """So many examples where they are random, a third where they are the same each time.

    ``shrinks`` is left out for a seed: it has no smaller form.
    """
    chosen = max(2, examples // 3) if settings().derandomize else examples
    phases = tuple(Phase) if shrinks else (Phase.reuse, Phase.generate)
    return settings(max_examples=chosen, phases=phases)


def submission(
    kind: DocumentKind, body: Mapping[str, Any], *, scope: str = "", api_version: str = "1.2"
) -> Submission:
    """A document as the edge hands it to the journal."""
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    plan_id = body["id"] if kind == PLAN_KIND else body["planId"]
    return make_submission(kind, api_version, plan_id, scope, raw)


def lineage_event(body: Mapping[str, Any], scope: str = "", **changes: Any) -> Submission:
    """An OpenLineage event as the edge hands it to the journal; ``changes`` come after its key was
    made, for events that a later translator cannot read any more.
    """
    event = read_event(body)
    key, kind = subject_key(event), KINDS[type(event)]
    raw = json.dumps({**body, **changes}, ensure_ascii=False, separators=(",", ":")).encode()
    return make_submission(kind, "2", key, scope, raw)


class JournalOfProcesses(Journal):
    """A journal for several projectors in one process: one of them at a time has the lease for
    rebuilds, as of several processes on one PostgreSQL database.
    """

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self.rebuilding: SharedLease | None = None

    def rebuild_lease(self) -> SharedLease:  # type: ignore[override]
        return SharedLease(self)

    def kill_rebuilding_process(self) -> None:
        """The database gives up the lease of a process that has died."""
        self.rebuilding = None


class SharedLease:
    is_shared = True

    def __init__(self, journal: JournalOfProcesses) -> None:
        self._journal = journal

    def take(self) -> bool:
        self._journal.rebuilding = self._journal.rebuilding or self
        return self._journal.rebuilding is self

    def give_up(self) -> None:
        if self._journal.rebuilding is self:
            self._journal.rebuilding = None


class ProjectorOnDemand(Projector):
    """A projector that works when it is told to, or in its thread once that is started.

    Without the thread no document is concluded while a request waits, so it waits for none.
    """

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        return super().wait(positions, timeout if self._thread is not None else 0.0)


@dataclass
class SmallHeadwater:
    """Everything in memory; ``project`` runs the projector until nothing is pending."""

    journal: Journal
    graph: MemoryGraph
    generations: Generations
    projector: Projector

    @property
    def catalogue(self) -> Catalogue:
        return self.generations.current

    @property
    def sources(self) -> Sources:
        """The sources from which questions are answered."""
        return Sources(self.graph, self.catalogue, self.journal)

    def accept(self, *submissions: Submission, received_at: int = 0) -> tuple[int, ...]:
        return self.journal.accept(submissions, Receipt(received_at, "", "test", "raw"))

    def project(self) -> None:
        while self.projector.project_pending():
            pass

    def elements(self) -> tuple[tuple[Vertex | Edge, ...], tuple[Row, ...]]:
        """All elements and all rows, in one order: equal projections are equal values."""
        return (
            tuple(sorted(self.graph.scan(), key=lambda element: element.id)),
            tuple(sorted(self.catalogue.scan(), key=repr)),
        )

    def kill_rebuilding_process(self) -> None:
        """The process that rebuilds is gone; another may take its lease."""
        assert isinstance(self.journal, JournalOfProcesses)
        self.journal.kill_rebuilding_process()

    def project_through(self, graph: Any = None, journal: Any = None) -> None:
        """Have another projector go on, which sees stand-ins for the graph or the journal."""
        self.projector = ProjectorOnDemand(
            journal or self.journal, graph or self.graph, self.generations
        )

    def close(self) -> None:
        self.generations.close()
        self.journal.close()


def small_headwater(runs: RunWindow = DEFAULT) -> SmallHeadwater:
    engine = open_database("sqlite://")
    journal, graph = JournalOfProcesses(engine), MemoryGraph()
    generations = Generations(engine, journal)
    projector = ProjectorOnDemand(journal, graph, generations, runs=runs)
    projector.prepare()
    return SmallHeadwater(journal, graph, generations, projector)


def accept_lines(headwater: SmallHeadwater, lines: Iterable[Mapping[str, Any]]) -> None:
    """Take the documents that the listener wrote to a file: ``{"kind": "plan", "body": …}``; the
    body of an event may be a list of events.
    """
    for line in lines:
        kind = PLAN_KIND if line["kind"] == "plan" else EVENT_KIND
        bodies = line["body"] if isinstance(line["body"], list) else [line["body"]]
        headwater.accept(*(submission(kind, body) for body in bodies))


def project(
    submissions: Iterable[Submission], *, stepwise: bool, runs: RunWindow = DEFAULT
) -> SmallHeadwater:
    """A Headwater that received these in this order; stepwise: projected after each."""
    headwater = small_headwater(runs)
    for item in submissions:
        headwater.accept(item)
        if stepwise:
            headwater.project()
    headwater.project()
    return headwater


def elements_of(submissions: Iterable[Submission], *, stepwise: bool) -> tuple[object, object]:
    """The result of ``project`` for these: all elements and all rows."""
    headwater = project(submissions, stepwise=stepwise)
    result = headwater.elements()
    headwater.close()
    return result


def elements_of_events(events: Iterable[Any], *, stepwise: bool) -> tuple[object, object]:
    """The same of OpenLineage events."""
    return elements_of(map(lineage_event, events), stepwise=stepwise)
