"""Unity Catalog's lineage API, as its REST documentation has it: the tables and columns beside one.

    GET /api/2.0/lineage-tracking/table-lineage?table_name=main.sales.orders
    GET /api/2.0/lineage-tracking/column-lineage?table_name=main.sales.orders&column_name=total

A table without a catalog name of three parts is a file: ``fileInfo`` has its path. The jobs between
are in ``jobInfos``, with our ids, where ``include_entity_lineage`` asks for them. ``partial`` is
ours, as in replies of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Request, Response, jsonify
from marshmallow import Schema

from api.http.blueprint import Blueprint, TolerantParser
from api.schemas.fields import Query, Switch, TextField
from api.service.parts import answer_errors, current_sources, lacking
from graph_model import naming
from graph_model.answers import lineage as lineage_answer
from graph_model.answers.sources import BoundedRows, Sources
from graph_model.errors import AmbiguousReference, NotFound
from graph_model.governance.statements import walk_datasets
from graph_model.lineage import ColumnEdge, Question
from graph_model.naming import Rules
from graph_model.picture.json_form import to_json
from graph_model.picture.view import ColumnNodeView, DatasetNode, GraphView, JobNode
from graph_model.stores.graph import Direction

Json = dict[str, Any]
_LEVELS: Final = 3
_MOST_NODES: Final = 5_000
_NOT_ALL: Final = "more tables have a name like it than were looked at"
_CODES: Final = {400: "INVALID_PARAMETER_VALUE", 404: "RESOURCE_DOES_NOT_EXIST"}


class QueryOrBody(TolerantParser):
    """Its documentation sends these parameters as the JSON body of a GET, its page as a query."""

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        return super().load_querystring(req, schema) if req.args else self.load_json(req, schema)


class _TableQuery(Query):
    table_name = TextField(required=True)
    include_entity_lineage = Switch(load_default=False)


class _ColumnQuery(Query):
    table_name = TextField(required=True)
    column_name = TextField(required=True)


blueprint = Blueprint(
    "unity", __name__, url_prefix="/api/2.0/lineage-tracking", description="As Unity Catalog's"
)
blueprint.ARGUMENTS_PARSER = QueryOrBody()
answer_errors(
    blueprint,
    lambda body: {
        "error_code": _CODES.get(body["code"], body["status"].upper().replace(" ", "_")),
        "message": body["message"],
    },
)


@blueprint.answer("/table-lineage", "upstreams and downstreams, one step each", _TableQuery)
def table_lineage(query: Mapping[str, Any]) -> Response:
    """The tables that a table is made of, and those that are made of it."""
    lack = lacking()
    sources = current_sources()
    table = _find_table(sources, query["table_name"])
    above, below = (
        lineage_answer.lineage(sources, Question(table, side, limit=_MOST_NODES))
        for side in (Direction.UPSTREAM, Direction.DOWNSTREAM)
    )
    entities, rules = query["include_entity_lineage"], sources.rules
    return jsonify(
        upstreams=_tables(above, Direction.UPSTREAM, rules, entities=entities),
        downstreams=_tables(below, Direction.DOWNSTREAM, rules, entities=entities),
        partial=to_json(above.partial or below.partial or lack),
    )


@blueprint.answer(
    "/column-lineage", "upstream_cols and downstream_cols, one step each", _ColumnQuery
)
def column_lineage(query: Mapping[str, Any]) -> Response:
    """The columns that a column is made of, and those that are made of it."""
    lack = lacking()
    sources = current_sources()
    question = Question("", depth=1, limit=_MOST_NODES)
    table = _find_table(sources, query["table_name"])
    view = lineage_answer.column_lineage(sources, table, query["column_name"], question)
    edges = [edge for edge in view.edges if isinstance(edge, ColumnEdge)]
    columns = {node.id: node for node in view.nodes if isinstance(node, ColumnNodeView)}
    tables = {node.id: node for node in view.nodes if isinstance(node, DatasetNode)}

    def listed(ids: set[str]) -> list[Json]:
        return [
            {
                "name": column.name,
                **(_named(table, sources.rules, "table_name") or {"path": table.uri}),
            }
            for key in sorted(ids)
            if (column := columns.get(key)) and (table := tables.get(column.dataset_id))
        ]

    return jsonify(
        upstream_cols=listed({edge.source for edge in edges if edge.target == view.focus}),
        downstream_cols=listed({edge.target for edge in edges if edge.source == view.focus}),
        partial=to_json(view.partial or lack),
    )


def _find_table(sources: Sources, name: str) -> str:
    """The id of the only table of this name; a name and its location are one table."""
    parts = tuple(map(naming.fold, naming.split_path(name)))
    if len(parts) != _LEVELS:
        raise NotFound("table", name)
    like = walk_datasets(sources.catalogue, parts[-1], hidden=sources.hidden)
    walk = BoundedRows(sources, like)
    called = [row.id for row in walk if _three_parts(row.uri, sources.rules) == parts]
    places = {sources.catalogue.location_of(key, None) or key for key in called} - sources.hidden
    if not places:
        raise NotFound("table", name, _NOT_ALL if walk.partial else "")
    if len(places) > 1:
        raise AmbiguousReference(name, tuple(sorted(places)))
    return places.pop()


def _three_parts(uri: str, rules: Rules) -> tuple[str, ...] | None:
    """``unitycatalog://host/main.hr.t`` and ``main/hr.t`` => catalog, schema and table, folded."""
    namespace, name = naming.openlineage_pair(uri, rules)
    parts = naming.split_path(name) if "/" not in name else ()
    if len(parts) == _LEVELS - 1 and ":" not in namespace:
        parts = (namespace, *parts)
    return tuple(map(naming.fold, parts)) if len(parts) == _LEVELS else None


def _tables(view: GraphView, side: Direction, rules: Rules, *, entities: bool) -> list[Json]:
    jobs = {node.id: node for node in view.nodes if isinstance(node, JobNode)}
    ends = (
        (edge.source, edge.target) if side is Direction.UPSTREAM else (edge.target, edge.source)
        for edge in view.edges
    )
    between: dict[str, list[Json]] = {}
    for end, job in ends:
        if job in jobs:
            entry = {"job_id": job, "job_name": f"{jobs[job].namespace}/{jobs[job].name}"}
            between.setdefault(end, []).append(entry)
    shown = (node for node in view.nodes if isinstance(node, DatasetNode) and node.id in between)
    return [
        _table(node, rules) | ({"jobInfos": between[node.id]} if entities else {}) for node in shown
    ]


def _table(node: DatasetNode, rules: Rules) -> Json:
    info = _named(node, rules, "name")
    return {"tableInfo": info} if info else {"fileInfo": {"path": node.uri}}


def _named(node: DatasetNode, rules: Rules, key: str) -> Json | None:
    """The three names of a table, its own under ``key``; None for a file."""
    spelled = (_three_parts(uri, rules) for uri in (*node.names, node.uri))
    parts = next((parts for parts in spelled if parts is not None), None)
    if parts is None:
        return None
    return {key: parts[2], "catalog_name": parts[0], "schema_name": parts[1], "table_type": "TABLE"}
