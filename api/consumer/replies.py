"""Values of the consumer API -> JSON in Spline's spelling."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graph_model.answers.consumer.executions import EventPage, Overview, PlanNode
from graph_model.answers.consumer.identifiers import event_id, local_id
from graph_model.answers.consumer.plans import (
    AttributeGraph,
    DataSourceReference,
    DetailedOperation,
    DetailedPlan,
    OperationNode,
    PlanInfo,
)
from graph_model.lineage import Partial
from graph_model.producers.spline.documents import Product
from graph_model.stores.catalogue_values import EventRecord, WriteRecord

Json = dict[str, Any]
_UNWRITTEN: Json = dict.fromkeys(
    (
        "executionEventId", "executionPlanId", "frameworkName", "applicationName",
        "applicationId", "timestamp", "durationNs", "dataSourceType", "append", "error", "extra",
        "labels",
    )
)  # fmt: skip


def events_reply(page: EventPage, query: Mapping[str, Any], now: int) -> Json:
    """A list of executions or of data sources."""
    times: list[int] = []
    if query["facetTimestamp"]:
        times = list(page.times or (now, now))
    return {
        "items": [event_item(record) for record in page.items],
        "totalCount": page.total,
        "pageNum": query["pageNum"],
        "pageSize": query["pageSize"],
        "totalDateRange": times,
    }


def event_item(record: EventRecord) -> Json:
    """One row; of a data source that was never written all but its name is null."""
    dataset = record.dataset
    written = _UNWRITTEN if record.write is None else _written(record.write)
    return {
        **written,
        "dataSourceName": dataset.name or dataset.uri,
        "dataSourceUri": dataset.uri,
    }


def _written(write: WriteRecord) -> Json:
    row = write.execution
    own_id = row.id if write.ambiguous else None
    return {
        "executionEventId": event_id(row.plan_id, row.at, own_id),
        "executionPlanId": row.plan_id if row.execution_plan else row.logical_plan,
        "frameworkName": write.system,
        "applicationName": write.application or row.plan_id,
        "applicationId": row.application_id or None,
        "timestamp": row.at,
        "durationNs": row.duration_ns,
        "dataSourceType": write.format or None,
        "append": write.append,
        "error": row.error,
        "extra": json.loads(write.extra),
        "labels": json.loads(write.labels),
    }


def overview_reply(overview: Overview, *, lack: Partial | None) -> Json:
    """Lineage or impact of an execution; ``info.partial`` is the reason of a partial answer."""
    info: Json = {
        "timestamp": overview.timestamp,
        "applicationId": overview.application_id or None,
        "targetDataSourceId": overview.target,
    }
    partial = lack or overview.partial
    if partial is not None:
        info["partial"] = {"reason": partial.reason, "limit": partial.limit}
    sources = [
        {"_id": node.id, "_type": "DataSourceNode", "name": node.uri} for node in overview.sources
    ]
    return {
        "info": info,
        "graph": {
            "nodes": [*sources, *(_execution_node(node) for node in overview.plans)],
            "edges": [_edge(source, target) for source, target in overview.edges],
            "depthRequested": overview.depth_requested,
            "depthComputed": overview.depth_computed,
        },
    }


def _execution_node(node: PlanNode) -> Json:
    reply: Json = {
        "_id": node.id,
        "_type": "ExecutionNode",
        "name": node.name,
        "systemInfo": _named(node.system),
    }
    if node.agent is not None:
        reply["agentInfo"] = _named(node.agent)
    return reply


def _named(text: str) -> Json:
    """``spark 3.5.1`` => name and version."""
    name, _, version = text.rpartition(" ")
    return {"name": name or version, "version": version if name else ""}


def _edge(source: str, target: str) -> Json:
    return {"source": source, "target": target}


def detailed_reply(detailed: DetailedPlan) -> Json:
    """A plan with its operations."""
    return {
        "executionPlan": plan_reply(detailed.plan),
        "graph": {
            "nodes": [operation_node(node) for node in detailed.nodes],
            "edges": [_edge(source, target) for source, target in detailed.edges],
        },
    }


def plan_reply(plan: PlanInfo) -> Json:
    """A plan without its operations."""
    return {
        "_id": plan.id,
        "name": plan.name,
        "systemInfo": _product(plan.system),
        "agentInfo": None if plan.agent is None else _product(plan.agent),
        "extra": dict(plan.extra),
        "inputs": [_place(place) for place in plan.inputs],
        "output": _place(plan.output),
    }


def _product(product: Product) -> Json:
    return {"name": product.name, "version": product.version}


def _place(place: DataSourceReference) -> Json:
    return {"source": place.source, "sourceType": place.source_type}


def operation_node(node: OperationNode) -> Json:
    """An operation of a plan."""
    return {
        "_id": node.id,
        "_type": node.type,
        "name": node.name,
        "properties": dict(node.properties),
    }


def operation_reply(detailed: DetailedOperation) -> Json:
    """One operation; ``inputs`` and ``output`` are places in ``schemas``."""
    last = len(detailed.schemas) - 1
    return {
        "operation": operation_node(detailed.operation),
        "dataTypes": [dict(item) for item in detailed.data_types],
        "schemas": [
            [{"id": a.id, "name": a.name, "dataTypeId": a.data_type_id} for a in schema]
            for schema in detailed.schemas
        ],
        "inputs": list(range(last)),
        "output": last,
    }


def attribute_graph(plan_id: str, graph: AttributeGraph) -> Json:
    """Attributes and the ones that each derives from."""
    return {
        "nodes": [
            {
                "_id": local_id(plan_id, node.attribute),
                "name": node.name,
                "originOpId": local_id(plan_id, node.origin),
                "transOpIds": [local_id(plan_id, key) for key in node.passed],
            }
            for node in graph.nodes
        ],
        "edges": [
            _edge(local_id(plan_id, derived), local_id(plan_id, source))
            for derived, source in graph.edges
        ],
    }
