"""The graphs of tables and of columns in Marquez's form: nodes by id, edges by their ends.

Its depth counts jobs, ours tables: n jobs from a job are n + 1 of our steps, from a dataset too.
Both ways by default, as there; ``direction`` asks for one.

Node ids are as its clients write them.

    dataset:<namespace>:<name>  datasetField:<namespace>:<dataset>:<field>  job:<namespace>:<name>

A version stands behind a ``#``: that of a dataset is an execution, that of a job a plan. Nothing in
a node id is escaped, so its text alone does not say where the namespace ends: each place is looked
up, and the node whose own id is the same text wins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from api.marquez.entities import dataset_json, job_json
from api.marquez.runs import key_of, version_of
from graph_model import labels
from graph_model.answers import lineage as lineage_answer
from graph_model.answers.jobs import job_ends
from graph_model.answers.openlineage import Name, find_dataset, find_job, name_of, names_of, splits
from graph_model.answers.openlineage_nodes import named_datasets, named_jobs
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow
from graph_model.lineage import ColumnEdge, Partial, Question
from graph_model.picture.json_form import to_json
from graph_model.picture.view import ColumnNodeView, DatasetNode, GraphView, JobNode
from graph_model.stores.graph import Direction

Json = dict[str, Any]
DATASET: Final = "dataset"
FIELD: Final = "datasetField"
JOB: Final = "job"
_TYPES: Final = {DATASET: "DATASET", FIELD: "DATASET_FIELD", JOB: "JOB"}
_Ends = tuple[str, str]
"""The ids of an edge's origin and destination."""
MOST_JOBS: Final = 499
"""The greatest depth: one below our own bound, in jobs."""
MOST_NODES: Final = 2_000
MOST_LISTED: Final = 10_000
"""Columns, for the origins of those of a page of datasets."""
MOST_OUTPUTS: Final = 20
"""So many tables that a job writes are asked for their columns."""


def tables(
    sources: Sources,
    node_id: str,
    depth: int,
    direction: Direction,
    lack: Partial | None,
) -> Json:
    """The tables and jobs around a dataset or a job. Raises NotFound, also for a column."""
    node = find_node(sources, node_id)
    if node.kind == FIELD:
        raise NotFound("node", node_id)
    question = Question(node.id, direction, depth + 1, node.at, limit=MOST_NODES)
    view = lineage_answer.lineage(node.sources, question)
    graph = _table_nodes(node.sources, view, node.at)
    return {"graph": graph, "partial": to_json(view.partial or lack)}


def _table_nodes(sources: Sources, view: GraphView, at: int | None) -> list[Json]:
    tables = {key: name.node(DATASET) for key, name in _tables(sources, view.nodes).items()}
    own = [node for node in view.nodes if isinstance(node, JobNode)]
    names = tables | {node.id: Name(node.namespace, node.name).node(JOB) for node in own}
    rows = sources.catalogue.datasets(tables)
    jobs = sources.catalogue.jobs([node.id for node in own])
    data = {}
    for dataset in named_datasets(sources, rows, at):
        data[dataset.name.node(DATASET)] = _without(dataset_json(dataset), _OUTSIDE_TABLES)
    for job in named_jobs(sources, jobs, at):
        reply = job_json(job)
        newest = {"currentRunUuid": reply["latestRun"] and reply["latestRun"]["id"]}
        data[job.name.node(JOB)] = _without(reply, _OUTSIDE_JOBS) | newest
    edges = {
        (names[edge.source], names[edge.target])
        for edge in view.edges
        if edge.source in names and edge.target in names
    }
    return _nodes(data, edges)


def _without(reply: Json, outside: Collection[str]) -> Json:
    return {key: reply[key] for key in reply.keys() - outside}


def _nodes(data: Mapping[str, Json], edges: Collection[_Ends], *, back: bool = False) -> list[Json]:
    """Nodes by their ids, with the edges between them. ``back``: those into a node run backwards,
    as Marquez has them between columns: its page looks for the upstream column there.
    """
    nodes: dict[str, Json] = {
        name: {
            "id": name, "type": _TYPES[name.partition(":")[0]], "data": own,
            "inEdges": [], "outEdges": [],
        }
        for name, own in sorted(data.items())
    }  # fmt: skip
    for source, target in sorted(edges):
        if source in nodes and target in nodes:
            edge = {"origin": source, "destination": target}
            nodes[source]["outEdges"].append(edge)
            into = {"origin": target, "destination": source} if back else edge
            nodes[target]["inEdges"].append(into)
    return [*nodes.values()]


def _tables(sources: Sources, nodes: Iterable[object]) -> dict[str, Name]:
    return {
        node.id: name_of(node.uri, node.scope, sources.rules)
        for node in nodes
        if isinstance(node, DatasetNode)
    }


_OUTSIDE_TABLES: Final = frozenset({"columnLineage", "currentVersion", "deleted", "facets"})
_OUTSIDE_JOBS: Final = frozenset({"currentVersion", "facets", "labels", "latestRuns", "tags"})
"""What a node of a graph lacks of a dataset or a job."""


def columns(
    sources: Sources, node_id: str, depth: int, direction: Direction, lack: Partial | None
) -> Json:
    """The columns around a column, or around those of a dataset or of what a job writes."""
    node = find_node(sources, node_id)
    question = Question("", direction, depth, node.at, columns=True, limit=MOST_NODES)
    asked, cut = _asked(node)
    views = [
        lineage_answer.column_lineage(node.sources, dataset, node.field, question)
        for dataset in asked
    ]
    partial = next((view.partial for view in views if view.partial), cut)
    graph = _column_nodes(node.sources, views, node)
    return {"graph": graph, "partial": to_json(partial or lack)}


def _asked(node: Node) -> tuple[tuple[str, ...], Partial | None]:
    """The tables whose columns are asked for, and whether they are all."""
    if node.kind != JOB:
        return (node.id,), None
    end = job_ends(node.sources, (node.id,))[node.id]
    cut = Partial("nodes", MOST_OUTPUTS) if len(end.written) > MOST_OUTPUTS else end.partial
    return tuple(sorted(end.written))[:MOST_OUTPUTS], cut


def _column_nodes(
    sources: Sources, views: Iterable[GraphView], asked: Node | None = None
) -> list[Json]:
    """Their ids have the version of their dataset where that of ``asked`` had one."""
    at = asked.at if asked else None
    drawn = {node.id: node for view in views for node in view.nodes}
    edges = {edge.id: edge for view in views for edge in view.edges if isinstance(edge, ColumnEdge)}
    tables = _tables(sources, drawn.values())
    writers = sources.catalogue.last_writers(tables, at, sources.hidden)
    versions = {key: version_of(writers[key].id if key in writers else key) for key in tables}
    columns = {
        node.id: {
            "namespace": tables[node.dataset_id].namespace,
            "dataset": tables[node.dataset_id].name,
            "datasetVersion": versions[node.dataset_id],
            "field": node.name,
        }
        for node in drawn.values()
        if isinstance(node, ColumnNodeView) and node.dataset_id in tables
    }
    shown = [edge for edge in edges.values() if edge.source in columns and edge.target in columns]
    inputs: dict[str, list[Json]] = {}
    for edge in shown:
        how = dict(zip(_TRANSFORMATION, (edge.expression or None, edge.how), strict=True))
        inputs.setdefault(edge.target, []).append({**columns[edge.source], **how})
    form = f"{_FIELD_ID}#{{datasetVersion}}" if asked and asked.versioned else _FIELD_ID
    ids = {key: form.format(**columns[key]) for key in columns}
    data = {}
    for key in {end for edge in shown for end in (edge.source, edge.target)}:
        node, own = drawn[key], inputs.get(key, [])
        kind = node.type if isinstance(node, ColumnNodeView) else None
        how = {word: own[0][word] if own else None for word in _TRANSFORMATION}
        data[ids[key]] = {**columns[key], "fieldType": kind or "", **how, "inputFields": own}
    return _nodes(data, {(ids[edge.source], ids[edge.target]) for edge in shown}, back=True)


_FIELD_ID: Final = f"{FIELD}:{{namespace}}:{{dataset}}:{{field}}"
_TRANSFORMATION: Final = ("transformationDescription", "transformationType")


def column_lineages(
    sources: Sources, rows: Sequence[DatasetRow]
) -> tuple[dict[str, list[Json]], Partial | None]:
    """The ``columnLineage`` of each dataset (by id): each computed column with its inputs, one step
    up. All are one walk; a catalog name, whose columns are those of its location, has its own.
    """
    tables = [row.id for row in rows if row.kind != "name"]
    question = Question("", Direction.UPSTREAM, 1, columns=True, limit=MOST_LISTED)
    views = [(tables, lineage_answer.columns_of_tables(sources, tables, question))]
    views += [
        ([row.id], lineage_answer.column_lineage(sources, row.id, None, question))
        for row in rows
        if row.kind == "name"
    ]
    found: dict[str, list[Json]] = {}
    for keys, view in views:
        names = _tables(sources, view.nodes)
        computed: dict[Name, list[Json]] = {}
        for node in _column_nodes(sources, [view]):
            if (column := node["data"])["inputFields"]:
                name = Name(column["namespace"], column["dataset"])
                computed.setdefault(name, []).append(_computed(column))
        for key in keys:
            found[key] = computed.get(names.get(key, Name("", "")), [])
    return found, next((view.partial for _, view in views if view.partial), None)


def _computed(column: Json) -> Json:
    """A column's data as a part of its dataset, without the versions of its inputs."""
    kept = ("namespace", "dataset", "field", *_TRANSFORMATION)
    inputs = [{key: end[key] for key in kept} for end in column["inputFields"]]
    how = {key: column[key] for key in _TRANSFORMATION}
    return {"name": column["field"], "inputFields": inputs, **how}


# --- node ids ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """``id`` is ours, of a dataset or a job; ``field`` a column of it; ``at`` (epoch ms) the time
    of the version, None without one, and for that of a dataset that nobody wrote. ``sources`` are
    those for a question about it.
    """

    sources: Sources
    kind: str
    id: str
    field: str | None
    at: int | None
    versioned: bool = False


def find_node(sources: Sources, text: str) -> Node:
    """The node of an id. Raises NotFound."""
    bare, marked, version = text.rpartition("#")
    if marked:
        plan, known = key_of(labels.LOGICAL_PLAN, version), sources.catalogue
        rows = (
            known.executions_of((key_of(labels.EXECUTION, version),))
            or (*known.last_of_plans((plan,), None).values(),)
            or known.executions(logical_plan=plan, limit=1).items  # none of it completed
        )
        if rows and sources.hidden.isdisjoint((rows[0].job, rows[0].target)):
            return replace(_find(sources, bare, rows[0].at), versioned=True)
        if key_of(labels.DATASET, version) != version:
            node = _find(sources, bare, None)
            if node.id == key_of(labels.DATASET, version):
                return replace(node, versioned=True)
    return _find(sources, text, None)


def _find(sources: Sources, text: str, at: int | None) -> Node:
    kind, _, rest = text.partition(":")
    if kind not in (DATASET, FIELD, JOB):
        raise NotFound("node", text)
    field = None
    if kind == FIELD:
        rest, _, field = rest.rpartition(":")
    find = find_job if kind == JOB else find_dataset
    first: Node | None = None
    for name in splits(rest, ":"):
        try:
            opened, key = find(sources, name)
        except NotFound:
            continue
        node = Node(opened, kind, key, field, at)
        if kind == JOB or names_of(opened, (key,))[key].node("") == f":{rest}":
            return node
        first = first or node
    if first is None:
        raise NotFound("node", text) if kind == FIELD else NotFound(kind, rest.rpartition(":")[2])
    return first
