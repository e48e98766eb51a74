"""Tags that people put on datasets and columns.

``/classifications``: the tags in use; ``/classifications/<tag>``: the nodes with one tag;
``/classifications/<tag>/columns``: the columns of a class, direct or propagated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph_model import identity, labels
from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.governance.classifications import Assignment, Block, write_block
from graph_model.governance.propagation import (
    Carrier,
    Spread,
    UnfollowedPlan,
    spread,
    visible_spread,
)
from graph_model.instants import iso
from graph_model.lineage import ColumnEdge, Partial
from graph_model.picture.json_form import to_json


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
        for (tag, node), one in governance.assigned.items()
        if governance.shows(one.node, rules)
    )
    blocks = Counter(
        tag
        for (tag, _, _), one in governance.blocked.items()
        if governance.shows(one.source, rules) and governance.shows(one.target, rules)
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
            (node, one)
            for (known, node), one in sorted(governance.assigned.items())
            if known == tag and governance.shows(one.node, rules)
        ),
        tuple(
            one
            for one in governance.blocks
            if one.tag == tag and governance.shows(one.source, rules)
            if governance.shows(one.target, rules)
        ),
    )


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
    found = spread(
        tag,
        sources.governance,
        sources.lineage,
        sources.catalogue,
        at=at,
        propagate=propagate,
        limit=limit,
        expired=sources.expired,
    )
    return _named(tag, found, sources, propagate=propagate)


@of_one_state
def preview_tag(sources: Sources, node: str, one: Assignment) -> ClassifiedColumns:
    """The columns that would carry a tag if ``node`` (an id) had it."""
    alone = replace(sources.governance, assigned={(one.tag, node): one})
    found = spread(one.tag, alone, sources.lineage, sources.catalogue, expired=sources.expired)
    return _named(one.tag, found, sources, propagate=True)


def _named(tag: str, found: Spread, sources: Sources, *, propagate: bool) -> ClassifiedColumns:
    shown = visible_spread(found, sources.hidden)
    return ClassifiedColumns(tag, propagate, shown, _names(shown, sources))


def _names(found: Spread, sources: Sources) -> SpreadNames:
    edges = [*found.blocked, *(edge for one in found.carriers for edge in one.path)]
    columns = {one.column for one in found.carriers}
    columns |= {end for edge in edges for end in (edge.source, edge.target)}
    vertices = sources.graph.vertices(columns - {""})
    around = {d for gap in found.gaps for d in (*gap.sources, *gap.targets)}
    plans = sources.catalogue.logical_plans({p for edge in edges for p in edge.plans})
    plan_jobs = {row.id: row.job for row in plans}
    jobs = job_references(sources, {gap.job for gap in found.gaps} | set(plan_jobs.values()))
    return SpreadNames(
        columns={v.id: (str(v.value("dataset")), str(v.value("path"))) for v in vertices},
        homes=found.datasets,
        uris={key: one.uri for key, one in dataset_references(sources, around).items()},
        jobs={key: f"{one.namespace}/{one.name}" for key, one in jobs.items()},
        plan_jobs=plan_jobs,
    )


# --- as JSON --------------------------------------------------------------------------------------


def tagged_reply(found: TaggedNodes) -> dict[str, Any]:
    """The nodes with a tag, and the edges that it does not follow."""
    items = [assignment_reply(node, one) for node, one in found.assigned]
    return {"items": items, "total": len(items), "blocks": [*map(block_reply, found.blocks)]}


def assignment_reply(node: str, one: Assignment) -> dict[str, Any]:
    scope, uri, *path = one.node.names
    return {
        "tag": one.tag, "id": node, "kind": one.node.kind, "uri": uri, "scope": scope,
        "path": path[0] if path else None, "owner": one.owner, "note": one.note,
        "author": one.author, "at": iso(one.at),
    }  # fmt: skip


def block_reply(one: Block) -> dict[str, Any]:
    return {**write_block(one), "author": one.author, "at": iso(one.at)}


def columns_reply(found: ClassifiedColumns, lack: Partial | None) -> dict[str, Any]:
    """The columns of a class."""
    shown, names = found.spread, found.names
    return {
        "tag": found.tag,
        "propagate": found.propagate,
        "items": [_carrier_reply(one, names) for one in shown.carriers],
        "total": len(shown.carriers),
        "blocked": [_edge_reply(edge, names) for edge in shown.blocked],
        "gaps": [_gap_reply(gap, names) for gap in shown.gaps],
        "asOf": iso(shown.as_of),
        "folded": shown.folded,
        "partial": to_json(lack or shown.partial),
    }


def _carrier_reply(one: Carrier, names: SpreadNames) -> dict[str, Any]:
    return {
        **to_json(names.column(one.column)),
        "direct": not one.path,
        "reason": {
            "origin": to_json(names.column(one.origin)),
            "owner": one.assignment.owner,
            "note": one.assignment.note,
            "author": one.assignment.author,
            "at": iso(one.assignment.at),
        },
        "path": [_edge_reply(edge, names) for edge in one.path],
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
        "gaps": [dict(one) for one in gap.gaps],
    }
