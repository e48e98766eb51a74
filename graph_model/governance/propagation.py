"""The way of classified data along DIRECT column lineage, on request.

A walk downstream starts at each column that carries the tag itself; from its edges the shortest
path to each column without a blocked edge is taken. So every path was true in time for the column
where it begins. Nothing is stored: a blocked edge, or a run that no longer copies the column,
changes the next answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.governance.statements import Assignment, Governance
from graph_model.lineage import Answer, ColumnEdge, Lineage, Partial, PlanUse, Question
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction

MOST_SOURCES: Final = 200
"""Columns that carry the tag themselves and are walked from; more make the answer partial."""
MOST_DATASETS: Final = 200
"""Datasets whose readers are looked at for gaps."""
MOST_DEPTH: Final = 50


@dataclass(frozen=True, slots=True)
class Carrier:
    """A column of a class. ``path`` leads from a column that carries the tag itself, empty there;
    ``assignment`` is the statement at its beginning.
    """

    column: str
    origin: str
    assignment: Assignment
    path: tuple[ColumnEdge, ...] = ()


@dataclass(frozen=True, slots=True)
class UnfollowedPlan:
    """A plan that reads a dataset of the class and whose column lineage has gaps."""

    logical_plan: str
    job: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    gaps: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """Where a tag is. ``blocked``: edges at which it ended. ``datasets``: id of a carrier's
    column -> its dataset.
    """

    carriers: tuple[Carrier, ...]
    blocked: tuple[ColumnEdge, ...]
    gaps: tuple[UnfollowedPlan, ...]
    datasets: Mapping[str, str]
    as_of: int | None
    folded: bool
    partial: Partial | None


@dataclass(slots=True)
class _Draft:
    carriers: dict[str, Carrier] = field(default_factory=dict)
    blocked: set[ColumnEdge] = field(default_factory=set)
    datasets: dict[str, str] = field(default_factory=dict)
    as_of: int | None = None
    folded: bool = False
    partial: Partial | None = None

    def cut(self, partial: Partial | None) -> None:
        self.partial = self.partial or partial

    def note(self, answer: Answer) -> None:
        self.folded |= getattr(answer, "folded", False)
        self.as_of = answer.as_of if self.as_of is None else self.as_of
        self.cut(answer.partial)
        self.datasets.update((node.id, node.dataset) for node in answer.columns)


def spread(
    tag: str,
    governance: Governance,
    lineage: Lineage,
    catalogue: Catalogue,
    *,
    at: int | None = None,
    propagate: bool = True,
    limit: int = 1_000,
    expired: Callable[[], bool] = lambda: False,
) -> Spread:
    """All columns of a class as of ``at`` (epoch ms), direct and, where asked, propagated."""
    draft = _Draft()
    direct = _direct(tag, governance)
    for node, assignment in direct[:MOST_SOURCES] if propagate else direct:
        draft.carriers[node] = Carrier(node, node, assignment)
    if propagate and len(direct) > MOST_SOURCES:
        draft.cut(Partial("nodes", MOST_SOURCES))
    for node, assignment in direct[:MOST_SOURCES]:
        depth = MOST_DEPTH if propagate else 0
        question = Question(node, Direction.DOWNSTREAM, depth, at, columns=True, limit=limit)
        if expired():
            draft.cut(Partial("time", 0))
            break
        answer = lineage.ask(question)
        draft.note(answer)
        if propagate:
            _follow(tag, node, assignment, answer, governance, draft)
    gaps = _gaps(draft, lineage, catalogue, at, expired)
    return Spread(
        carriers=tuple(draft.carriers[key] for key in sorted(draft.carriers)),
        blocked=tuple(sorted(draft.blocked)),
        gaps=gaps,
        datasets=draft.datasets,
        as_of=draft.as_of,
        folded=draft.folded,
        partial=draft.partial,
    )


def visible_spread(whole: Spread, hidden: Collection[str]) -> Spread:
    """Without columns of hidden datasets and gaps of hidden jobs (ids). A step of a path that
    begins or ends in one is there without its ends: they are "".
    """
    if not hidden:
        return whole
    unseen = {column for column, dataset in whole.datasets.items() if dataset in hidden}
    return replace(
        whole,
        carriers=tuple(
            replace(
                carrier,
                origin="" if carrier.origin in unseen else carrier.origin,
                path=tuple(_visible_edge(edge, unseen) for edge in carrier.path),
            )
            for carrier in whole.carriers
            if carrier.column not in unseen
        ),
        blocked=tuple(edge for edge in whole.blocked if unseen.isdisjoint(edge[:2])),
        gaps=tuple(gap for gap in whole.gaps if gap.job not in hidden),
    )


def _visible_edge(edge: ColumnEdge, unseen: Collection[str]) -> ColumnEdge:
    if edge.source not in unseen and edge.target not in unseen:
        return edge
    source, target = ("" if end in unseen else end for end in (edge.source, edge.target))
    return edge._replace(source=source, target=target, expression="")


def _direct(tag: str, governance: Governance) -> list[tuple[str, Assignment]]:
    return sorted(
        (node, assignment)
        for (known, node), assignment in governance.assigned.items()
        if known == tag and identity.kind_of(node) == labels.COLUMN
    )


def _follow(
    tag: str,
    origin: str,
    assignment: Assignment,
    answer: Answer,
    governance: Governance,
    draft: _Draft,
) -> None:
    """Breadth first over this answer; of several origins the nearest, then the least id, speaks."""
    after = _edges_by_source(answer.column_edges)
    paths: dict[str, tuple[ColumnEdge, ...]] = {origin: ()}
    level = [origin]
    while level:
        following: list[str] = []
        for column in level:
            for edge in after.get(column, ()):
                if (tag, edge.source, edge.target) in governance.blocked:
                    draft.blocked.add(edge)
                elif edge.target not in paths:
                    paths[edge.target] = (*paths[column], edge)
                    following.append(edge.target)
        level = sorted(following)
    for column, path in paths.items():
        known = draft.carriers.get(column)
        if known is None or len(path) < len(known.path):
            draft.carriers[column] = Carrier(column, origin, assignment, path)


def _edges_by_source(edges: Iterable[ColumnEdge]) -> dict[str, list[ColumnEdge]]:
    after: dict[str, list[ColumnEdge]] = {}
    for edge in sorted(edges):
        if edge.kind == labels.DIRECT:
            after.setdefault(edge.source, []).append(edge)
    return after


def _gaps(
    draft: _Draft,
    lineage: Lineage,
    catalogue: Catalogue,
    at: int | None,
    expired: Callable[[], bool],
) -> tuple[UnfollowedPlan, ...]:
    """Where the class may go on unseen: plans that read its datasets and report a gap."""
    datasets = sorted({draft.datasets[key] for key in draft.carriers if key in draft.datasets})
    if len(datasets) > MOST_DATASETS:
        draft.cut(Partial("nodes", MOST_DATASETS))
    uses: dict[str, PlanUse] = {}
    for dataset in datasets[:MOST_DATASETS]:
        if expired():
            draft.cut(Partial("time", 0))
            break
        answer = lineage.ask(Question(dataset, Direction.DOWNSTREAM, 1, at))
        draft.cut(answer.partial)
        uses.update((use.logical_plan, use) for use in answer.plans if dataset in use.sources)
    rows = catalogue.logical_plans(uses)
    gaps = [
        UnfollowedPlan(row.id, row.job, uses[row.id].sources, uses[row.id].targets, tuple(listed))
        for row in rows
        if (listed := json.loads(row.gaps))
    ]
    return tuple(sorted(gaps, key=lambda gap: gap.logical_plan))
