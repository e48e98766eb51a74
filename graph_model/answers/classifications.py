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
from graph_model.governance.propagation import (
    Carrier,
    Spread,
    UnfollowedPlan,
    spread,
    visible_spread,
)
from graph_model.governance.statements import Assignment, Block, write_block
from graph_model.lineage import ColumnEdge, Partial
from graph_model.picture.json_form import to_json
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
    return ClassifiedColumns(tag, propagate, shown, _names(shown, sources))


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
