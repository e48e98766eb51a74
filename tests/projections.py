"""A small Headwater in memory for tests: journal, memory graph, catalogue, projector."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graph_model import identity
from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.facts import Edge, Row, Vertex
from graph_model.journal import SqlJournal
from graph_model.journal.content import content_hash
from graph_model.memory import MemoryGraph
from graph_model.projector import Projector
from graph_model.store import DocumentKind, Receipt, Submission


def submission(
    kind: DocumentKind, body: Mapping[str, Any], *, scope: str = "", api_version: str = "1.2"
) -> Submission:
    """A document as the edge hands it to the journal."""
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    plan_id = body["id"] if kind == DocumentKind.PLAN else body["planId"]
    return Submission(
        kind,
        api_version,
        plan_id,
        scope,
        identity.subject_id(scope, plan_id),
        content_hash(kind.value, api_version, raw),
        raw,
    )


@dataclass
class SmallHeadwater:
    """Everything in memory; ``project`` runs the projector until nothing is pending."""

    journal: SqlJournal
    graph: MemoryGraph
    catalogue: SqlCatalogue
    projector: Projector

    def accept(self, *submissions: Submission) -> tuple[int, ...]:
        return self.journal.accept(submissions, Receipt(0, "", "test", "raw"))

    def project(self) -> None:
        while self.projector.project_pending():
            pass

    def elements(self) -> tuple[tuple[Vertex | Edge, ...], tuple[Row, ...]]:
        """All elements and all rows, in one order: equal projections are equal values."""
        return (
            tuple(sorted(self.graph.scan(), key=lambda element: element.id)),
            tuple(sorted(self.catalogue.scan(), key=repr)),
        )

    def close(self) -> None:
        self.catalogue.close()
        self.journal.close()


def small_headwater() -> SmallHeadwater:
    engine = open_database("sqlite://")
    journal, catalogue, graph = SqlJournal(engine), SqlCatalogue(engine), MemoryGraph()
    projector = Projector(journal, graph, catalogue)
    projector.prepare()
    return SmallHeadwater(journal, graph, catalogue, projector)


def project(submissions: Iterable[Submission], *, stepwise: bool) -> SmallHeadwater:
    """A Headwater that received these in this order; stepwise: projected after each."""
    headwater = small_headwater()
    for one in submissions:
        headwater.accept(one)
        if stepwise:
            headwater.project()
    headwater.project()
    return headwater
