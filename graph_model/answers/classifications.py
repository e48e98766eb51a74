"""Tags that people put on datasets and columns.

``/classifications``: the tags in use; ``/classifications/<tag>``: the nodes with one tag;
``/classifications/<tag>/columns``: the columns of a class, direct or propagated.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.governance.statements import Assignment, Block, Governance, write_block
from graph_model.lineage import Answer, ColumnEdge, Lineage, Partial, PlanUse, Question
from graph_model.picture.json_form import to_json
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction
from graph_model.values import iso


@dataclass(frozen=True, slots=True)
class TagUse:
    """How many visible datasets and columns carry a tag, and how many edges it does not follow."""

    tag: str
    datasets: int
    columns: int
    blocks: int


@dataclass(frozen=True, slots=True)
class TaggedNodes:
    """The visible nodes with one tag, by id, and the edges that the tag does not follow."""

    assigned: tuple[tuple[str, Assignment], ...]
    blocks: tuple[Block, ...]


def tags(sources: Sources) -> tuple[TagUse, ...]:
    """The tags of visible nodes, by name."""
    governance, rules = sources.governance, sources.rules
    nodes = Counter(
        (tag, identity.kind_of(node))
        for (tag, node), assignment in governance.assigned.items()
        if governance.shows(assignment.node, rules)
    )
    blocks = Counter(
        tag
        for (tag, _, _), block in governance.blocked.items()
        if governance.shows(block.source, rules) and governance.shows(block.target, rules)
    )
    return tuple(
        TagUse(tag, nodes[tag, labels.DATASET], nodes[tag, labels.COLUMN], blocks[tag])
        for tag in sorted({tag for tag, _ in nodes})
    )


def tagged_nodes(sources: Sources, tag: str) -> TaggedNodes:
    """The nodes with a tag."""
    governance, rules = sources.governance, sources.rules
    return TaggedNodes(
        tuple(
            (node, assignment)
            for (known, node), assignment in sorted(governance.assigned.items())
            if known == tag and governance.shows(assignment.node, rules)
        ),
        tuple(
            block
            for block in governance.blocks
            if block.tag == tag and governance.shows(block.source, rules)
            if governance.shows(block.target, rules)
        ),
    )


# --- the way of classified data along DIRECT column lineage, on request ---------------------------

# A walk downstream starts at each column that carries the tag itself; from its edges the shortest
# path to each column without a blocked edge is taken. So every path was true in time for the column
# where it begins. Nothing is stored: a blocked edge, or a run that no longer copies the column,
# changes the next answer.

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


# --- the columns of a class, with names --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnTitle:
    id: str
    dataset: str
    dataset_id: str | None
    name: str


@dataclass(frozen=True, slots=True)
class DatasetTitle:
    id: str
    uri: str


@dataclass(frozen=True, slots=True)
class JobTitle:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class SpreadNames:
    """Names of the columns, datasets and jobs of one answer, by id."""

    columns: Mapping[str, tuple[str, str]]  # the URI of the dataset, the path
    homes: Mapping[str, str]  # column -> dataset
    uris: Mapping[str, str]
    jobs: Mapping[str, str]
    plan_jobs: Mapping[str, str]

    def column(self, key: str) -> ColumnTitle:
        uri, path = self.columns.get(key, ("", ""))
        return ColumnTitle(key, uri, self.homes.get(key), path)

    def datasets(self, keys: Iterable[str]) -> list[DatasetTitle]:
        return [DatasetTitle(key, self.uris[key]) for key in keys if key in self.uris]

    def job(self, key: str) -> JobTitle:
        return JobTitle(key, self.jobs.get(key, ""))

    def jobs_of(self, plans: Collection[str]) -> list[JobTitle]:
        known = {self.plan_jobs[plan] for plan in plans if plan in self.plan_jobs}
        return [self.job(job) for job in sorted(known & self.jobs.keys())]


@dataclass(frozen=True, slots=True)
class ClassifiedColumns:
    """Each column of a class with its reason, edges at which the class ended, and plans through
    which it may go on unseen.
    """

    tag: str
    propagate: bool
    spread: Spread
    names: SpreadNames


@of_one_state
def classified_columns(
    sources: Sources, tag: str, *, at: int | None, propagate: bool, limit: int
) -> ClassifiedColumns:
    """All columns of a class as of ``at`` (epoch ms)."""
    whole = spread(
        tag,
        sources.governance,
        sources.lineage,
        sources.catalogue,
        at=at,
        propagate=propagate,
        limit=limit,
        expired=sources.expired,
    )
    return _named(tag, whole, sources, propagate=propagate)


@of_one_state
def preview_tag(sources: Sources, node: str, assignment: Assignment) -> ClassifiedColumns:
    """The columns that would carry a tag if ``node`` (an id) had it."""
    alone = replace(sources.governance, assigned={(assignment.tag, node): assignment})
    whole = spread(
        assignment.tag, alone, sources.lineage, sources.catalogue, expired=sources.expired
    )
    return _named(assignment.tag, whole, sources, propagate=True)


def _named(tag: str, whole: Spread, sources: Sources, *, propagate: bool) -> ClassifiedColumns:
    shown = visible_spread(whole, sources.hidden)
    names = _names(shown, sources)
    return ClassifiedColumns(tag, propagate, _in_reading_order(shown, names), names)


def _in_reading_order(shown: Spread, names: SpreadNames) -> Spread:
    """Tagged columns first, then those that the tag reaches, step by step; by table and name."""

    def name(column: str) -> tuple[str, str, str]:
        return (*names.columns.get(column, ("", "")), column)

    return replace(
        shown,
        carriers=tuple(sorted(shown.carriers, key=lambda c: (len(c.path), name(c.column)))),
        blocked=tuple(sorted(shown.blocked, key=lambda e: (name(e.source), name(e.target), e))),
        gaps=tuple(sorted(shown.gaps, key=lambda g: (names.jobs.get(g.job, ""), g.logical_plan))),
    )


def _names(shown: Spread, sources: Sources) -> SpreadNames:
    edges = [*shown.blocked, *(edge for carrier in shown.carriers for edge in carrier.path)]
    columns = {carrier.column for carrier in shown.carriers}
    columns |= {end for edge in edges for end in (edge.source, edge.target)}
    vertices = sources.graph.vertices(columns - {""})
    around = {d for gap in shown.gaps for d in (*gap.sources, *gap.targets)}
    plans = sources.catalogue.logical_plans({p for edge in edges for p in edge.plans})
    plan_jobs = {row.id: row.job for row in plans}
    jobs = job_references(sources, {gap.job for gap in shown.gaps} | set(plan_jobs.values()))
    return SpreadNames(
        columns={v.id: (str(v.value("dataset")), str(v.value("path"))) for v in vertices},
        homes=shown.datasets,
        uris={key: reference.uri for key, reference in dataset_references(sources, around).items()},
        jobs={key: f"{reference.namespace}/{reference.name}" for key, reference in jobs.items()},
        plan_jobs=plan_jobs,
    )


# --- as JSON --------------------------------------------------------------------------------------


def tagged_reply(tagged: TaggedNodes) -> dict[str, Any]:
    """The nodes with a tag, and the edges that it does not follow."""
    items = [assignment_reply(node, assignment) for node, assignment in tagged.assigned]
    return {"items": items, "total": len(items), "blocks": [*map(block_reply, tagged.blocks)]}


def assignment_reply(node: str, assignment: Assignment) -> dict[str, Any]:
    scope, uri, *path = assignment.node.names
    return {
        "tag": assignment.tag, "id": node, "kind": assignment.node.kind, "uri": uri, "scope": scope,
        "path": path[0] if path else None, "owner": assignment.owner, "note": assignment.note,
        "author": assignment.author, "at": iso(assignment.at),
    }  # fmt: skip


def block_reply(block: Block) -> dict[str, Any]:
    return {**write_block(block), "author": block.author, "at": iso(block.at)}


def columns_reply(classified: ClassifiedColumns, lack: Partial | None) -> dict[str, Any]:
    """The columns of a class."""
    shown, names = classified.spread, classified.names
    return {
        "tag": classified.tag,
        "propagate": classified.propagate,
        "items": [_carrier_reply(carrier, names) for carrier in shown.carriers],
        "total": len(shown.carriers),
        "blocked": [_edge_reply(edge, names) for edge in shown.blocked],
        "gaps": [_gap_reply(gap, names) for gap in shown.gaps],
        "asOf": iso(shown.as_of),
        "folded": shown.folded,
        "partial": to_json(lack or shown.partial),
    }


def _carrier_reply(carrier: Carrier, names: SpreadNames) -> dict[str, Any]:
    return {
        **to_json(names.column(carrier.column)),
        "direct": not carrier.path,
        "reason": {
            "origin": to_json(names.column(carrier.origin)),
            "owner": carrier.assignment.owner,
            "note": carrier.assignment.note,
            "author": carrier.assignment.author,
            "at": iso(carrier.assignment.at),
        },
        "path": [_edge_reply(edge, names) for edge in carrier.path],
    }


def _edge_reply(edge: ColumnEdge, names: SpreadNames) -> dict[str, Any]:
    return {
        "from": to_json(names.column(edge.source)),
        "to": to_json(names.column(edge.target)),
        "how": edge.how,
        "expression": edge.expression,
        "jobs": to_json(names.jobs_of(edge.plans)),
        **({"masking": True} if edge.masking else {}),
    }


def _gap_reply(gap: UnfollowedPlan, names: SpreadNames) -> dict[str, Any]:
    return {
        "plan": gap.logical_plan,
        "job": to_json(names.job(gap.job)),
        "reads": to_json(names.datasets(gap.sources)),
        "writes": to_json(names.datasets(gap.targets)),
        "gaps": [dict(pair) for pair in gap.gaps],
    }
