# ruff: noqa: N815 - fields are spelled as on the wire
"""The consumer API of Spline, for its UI and for scripts that were written against it.

Paths, parameters and shapes are Spline's (released 0.7.x, and additions since);
the answers are Headwater's own, in that form.

Errors have the form that Spline's viewers expect.

    {"errorId": "3f0c…", "timestamp": 1700000000000, "message": "no event 'x' is known"}

The id is the request's: a person copies it from the screen and finds the line in the log.
The status and headers are those of every other error.

Query strings have Spline's names and defaults, read as Spring reads them: an empty value counts as
none, unknown names are ignored, the first of a repeated number or switch counts, and repeated texts
are one list. A value of another type is a 400 that names its parameter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from flask import Response, current_app, jsonify, url_for
from marshmallow import fields

from api.consumer.plans import (
    attributes_json,
    detailed_json,
    edge_json,
    event_id,
    known_id,
    local_id,
    operation_json,
    plan_json,
    product_json,
    read_event_id,
    split_local_id,
)
from api.http.blueprint import OPEN, Blueprint, TolerantParser
from api.http.errors import RETRY_AFTER_SECONDS
from api.logs import current_request_id
from api.schemas.fields import (
    SWITCHES,
    CaselessChoice,
    Checked,
    Choice,
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    Switch,
    TextField,
)
from api.service import current_service
from api.service.parts import answer_errors, ask_parts, current_sources, lacking
from graph_model.answers.consumer import executions, plan_documents
from graph_model.answers.consumer.executions import EventPage, ListQuestion, Overview, PlanNode
from graph_model.answers.consumer.plan_documents import PlanAttributes
from graph_model.errors import NotFound
from graph_model.lineage import Partial
from graph_model.stores.catalogue_values import (
    EventFilter,
    EventRecord,
    ListPage,
    SortField,
    SortOrder,
    WriteRecord,
)

_LONG: Final = 20_000
_INT: Final = 2**31 - 1
_LONG_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NEVER_WRITTEN: Final = frozenset({"", "null"})
# Looked for where a name begins: a search from each of its letters would cost their square.
_LABEL: Final = re.compile(r"(?<![^:])([^:]+):(.*)", re.DOTALL)


class SpringParser(TolerantParser):
    """Reads query strings as Spring does; see the module."""

    def value_of(self, field: fields.Field[Any], values: list[str]) -> Any:
        if isinstance(field, LabelFilters):
            return values
        listed = isinstance(field, TextField | Modes)
        return ",".join(values) if listed else super().value_of(field, values)


class EpochOrInstant(Instant):
    """Epoch milliseconds of either sign, as Spring's Long; or a time as in every other query."""

    def read(self, value: Any) -> int:
        return int(value) if _LONG_INTEGER.fullmatch(str(value)) else super().read(value)


class Modes(Checked):
    """``true,false,``: append, overwrite, and (nothing behind a comma) never written.

    Released servers read one switch here.
    """

    expected = "a list of true, false and nothing (never written), comma-separated"
    shape: Mapping[str, Any] = {"type": "string", "example": "true,false,"}

    def read(self, value: Any) -> frozenset[bool | None]:
        words = [word.strip().lower() for word in str(value).split(",")]
        if not set(words) <= SWITCHES.keys() | _NEVER_WRITTEN:
            raise ValueError(value)
        return frozenset(SWITCHES.get(word) for word in words)


class LabelFilters(Checked):
    """``name:v1,v2``, perhaps several times. A text without a colon behind a name is no filter."""

    is_multiple = True
    expected = "name:value, or name:value,value"
    shape: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}

    def read(self, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple(_label(match) for text in value if (match := _LABEL.search(text)))


def _label(match: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    words = (word.strip() for word in match[2].split(","))
    return match[1], tuple(word for word in words if word)


class SortedBy(Choice):
    """A field of an item; by one that lists cannot be sorted by, they have their usual order."""

    def __init__(self, usual: SortField) -> None:
        self.usual = usual
        super().__init__(SortField, load_default=usual)

    def read(self, value: Any) -> str:
        return SortField(value) if value in set(SortField) else self.usual


class Accessed(Choice):
    """``read`` or ``write``, in any case; any other word is none."""

    def read(self, value: Any) -> str | None:
        return next((access for access in Access if access.value == str(value).lower()), None)


class _EventsQuery(Query):
    timestampStart = EpochOrInstant()
    timestampEnd = EpochOrInstant()
    asAtTime = EpochOrInstant()
    facetTimestamp = Switch(data_key="facet.timestamp", load_default=False)
    pageNum = IntegerField(1, _INT, load_default=1)
    pageSize = IntegerField(0, 1_000, load_default=10)
    searchTerm = OptionalTextField(most=_LONG, load_default="")
    label = LabelFilters(load_default=())
    append = Modes(load_default=None)
    applicationId = OptionalTextField(most=_LONG, load_default="")
    dataSourceUri = OptionalTextField(most=_LONG, load_default="")


class ExecutionEventsQuery(_EventsQuery):
    sortField = SortedBy(SortField.TIMESTAMP)
    sortOrder = CaselessChoice(SortOrder, load_default=SortOrder.DESCENDING)


class DataSourcesQuery(_EventsQuery):
    sortField = SortedBy(SortField.DATA_SOURCE_URI)
    sortOrder = CaselessChoice(SortOrder, load_default=SortOrder.ASCENDING)


class LineageOverviewQuery(Query):
    eventId = TextField(most=_LONG, required=True)
    maxDepth = IntegerField(0, _INT, load_default=5)


class LineageDetailedQuery(Query):
    execId = TextField(most=_LONG, required=True)


class AttributeQuery(Query):
    """``execId`` is sent by the UI; the attribute's id holds it already."""

    attributeId = TextField(most=_LONG, required=True)
    execId = OptionalTextField(most=_LONG, load_default="")


class PlansQuery(Query):
    asAtTime = EpochOrInstant()
    pageNum = IntegerField(1, _INT, load_default=1)
    pageSize = IntegerField(0, 100, load_default=10)


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


class PlanSourcesQuery(Query):
    access = Accessed(Access, load_default=None)


class LabelsQuery(Query):
    """``length`` below 1 asks for all."""

    search = OptionalTextField(load_default="")
    offset = IntegerField(0, _INT, load_default=0)
    length = IntegerField(-_INT - 1, _INT, load_default=-1)


Json = dict[str, Any]
_UNWRITTEN: Json = dict.fromkeys(
    (
        "executionEventId", "executionPlanId", "frameworkName", "applicationName",
        "applicationId", "timestamp", "durationNs", "dataSourceType", "append", "error", "extra",
        "labels",
    )
)  # fmt: skip

blueprint = Blueprint(
    "consumer", __name__, url_prefix="/consumer", description="The consumer API of Spline"
)
blueprint.ARGUMENTS_PARSER = SpringParser()


def _moment(query: Mapping[str, Any]) -> int | None:
    """``asAtTime``; None for now, which Spline spells 0."""
    at: int | None = query["asAtTime"]
    return at if at is not None and at > 0 else None


def _asked(query: Mapping[str, Any]) -> ListQuestion:
    """The same question for both kinds of list."""
    return ListQuestion(
        filter=EventFilter(
            since=query["timestampStart"],
            until=query["timestampEnd"],
            application_id=query["applicationId"] or None,
            append=query["append"] or frozenset(),
            labels=query["label"],
            search=query["searchTerm"],
        ),
        page=ListPage(
            query["sortField"],
            query["sortOrder"],
            (query["pageNum"] - 1) * query["pageSize"],
            query["pageSize"],
        ),
        uri=query["dataSourceUri"] or None,
        frozen_at=_moment(query),
        facet=query["facetTimestamp"],
    )


@blueprint.answer("/execution-events", "A page of executions", ExecutionEventsQuery)
def execution_events(query: Mapping[str, Any]) -> Response:
    """Executions, the newest first."""
    page = executions.execution_events(current_sources(), _asked(query))
    return jsonify(events_reply(page, query, current_service().clock()))


@blueprint.answer("/data-sources", "A page of data sources", DataSourcesQuery)
def data_sources(query: Mapping[str, Any]) -> Response:
    """Data sources, each with its last write."""
    page = executions.data_sources(current_sources(), _asked(query))
    return jsonify(events_reply(page, query, current_service().clock()))


@blueprint.answer(
    "/lineage-overview", "Executions and data sources, as a graph", LineageOverviewQuery
)
def lineage_overview(query: Mapping[str, Any]) -> Response:
    """The origins of an execution's output."""
    event = read_event_id(query["eventId"])
    overview = executions.lineage_overview(current_sources(), event, query["maxDepth"])
    return jsonify(overview_reply(overview, lack=lacking()))


@blueprint.answer(
    "/impact-overview", "Executions and data sources, as a graph", LineageOverviewQuery
)
def impact_overview(query: Mapping[str, Any]) -> Response:
    """The uses of an execution's output."""
    event = read_event_id(query["eventId"])
    overview = executions.impact_overview(current_sources(), event, query["maxDepth"])
    return jsonify(overview_reply(overview, lack=lacking()))


@blueprint.answer(
    "/lineage-detailed", "The plan and the graph of its operations", LineageDetailedQuery
)
def lineage_detailed(query: Mapping[str, Any]) -> Response:
    """One plan: its operations, schemas and types."""
    return jsonify(detailed_json(plan_documents.find_plan(current_sources(), query["execId"])))


@blueprint.answer("/execution-plans", "A page of plans", PlansQuery)
def execution_plans(query: Mapping[str, Any]) -> Response:
    """Plans that have run, the last that ran first."""
    number, size = query["pageNum"], query["pageSize"]
    plans, total = executions.plans(current_sources(), _moment(query), (number - 1) * size, size)
    items = [plan_json(plan) for plan in plans]
    reply = {"items": items, "totalCount": total, "pageNum": number, "pageSize": size}
    return jsonify(reply)


@blueprint.answer("/execution-plans/<plan_id>", "The plan and the graph of its operations")
def execution_plan(plan_id: str) -> Response:
    """The same reply as /lineage-detailed."""
    return jsonify(detailed_json(plan_documents.find_plan(current_sources(), plan_id)))


@blueprint.route("/execution-plans/<plan_id>/write-op")
@blueprint.no_parameters
@blueprint.doc(responses={302: {"description": "To the operation that writes"}})
def write_operation(plan_id: str) -> Response:
    """A redirect to the operation that writes."""
    plan = plan_documents.find_plan(current_sources(), plan_id)
    location = url_for(".operation", operation_id=local_id(plan.id, plan.write.id))
    return Response(status=302, headers={"Location": location})


@blueprint.answer("/execution-plans/<plan_id>/data-sources", "URIs", PlanSourcesQuery)
def plan_sources(query: Mapping[str, Any], plan_id: str) -> Response:
    """The data sources that a plan reads, writes, or both."""
    access = query["access"]
    uris = plan_documents.plan_sources(
        current_sources(), plan_id, read=access != Access.WRITE, write=access != Access.READ
    )
    return jsonify(list(uris))


@blueprint.answer("/operations/<path:operation_id>", "The operation, its schemas and data types")
def operation(operation_id: str) -> Response:
    """One operation: its properties with expressions as trees, and the schemas around it."""
    plan_id, sent = split_local_id(operation_id, "operation")
    return jsonify(operation_json(plan_documents.find_plan(current_sources(), plan_id), sent))


@blueprint.answer("/attribute-lineage-and-impact", "Two graphs of columns", AttributeQuery)
def attribute_lineage_and_impact(query: Mapping[str, Any]) -> Response:
    """The origins and the uses of a plan's column, inside that plan."""
    plan_id, sent = split_local_id(query["attributeId"], "attribute")
    attributes = PlanAttributes(plan_documents.find_plan(current_sources(), plan_id))
    key = known_id(sent, attributes.emitted)
    if key is None:
        raise NotFound("attribute", query["attributeId"])
    return jsonify(
        {
            "lineage": attributes_json(plan_id, attributes.lineage(key)),
            "impact": attributes_json(plan_id, attributes.impact(key)),
        }
    )


@blueprint.answer("/labels/names", "Names of labels", LabelsQuery)
def label_names(query: Mapping[str, Any]) -> Response:
    """The names of labels that executions carry."""
    names = executions.label_names(
        current_sources(), query["search"], query["offset"], _length(query)
    )
    return jsonify(list(names))


@blueprint.answer("/labels/names/<path:name>/values", "Values of a label", LabelsQuery)
def label_values(query: Mapping[str, Any], name: str) -> Response:
    """The values of one label."""
    values = executions.label_values(
        current_sources(), name, query["search"], query["offset"], _length(query)
    )
    return jsonify(list(values))


def _length(query: Mapping[str, Any]) -> int | None:
    return query["length"] if query["length"] > 0 else None


# --- values in Spline's spelling -----------------------------------------------------------------


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
            "edges": [edge_json(source, target) for source, target in overview.edges],
            "depthRequested": overview.depth_requested,
            "depthComputed": overview.depth_computed,
        },
    }


def _execution_node(node: PlanNode) -> Json:
    reply: Json = {
        "_id": node.id,
        "_type": "ExecutionNode",
        "name": node.name,
        "systemInfo": product_json(node.system),
    }
    if node.agent is not None:
        reply["agentInfo"] = product_json(node.agent)
    return reply


# --- about this service --------------------------------------------------------------------------

about = Blueprint("about", __name__, url_prefix="/about", description="As Spline's /about")
about.ARGUMENTS_PARSER = SpringParser()


@about.answer("/version", "Version of the build")
def version() -> Response:
    """The version; the time and the source of its build are not recorded."""
    number = current_app.config["API_VERSION"]
    return jsonify({"build": {"version": number, "timestamp": "", "revision": ""}})


@about.route("/liveness", access=OPEN)
@about.doc(responses={200: {"description": "The process answers; no body"}})
def liveness() -> Response:
    """200 while the process answers."""
    return _empty(200)


@about.route("/readiness", access=OPEN)
@about.doc(
    responses={
        200: {"description": "Answers are whole; no body"},
        503: {"description": "Rebuilding, or a component is unavailable; /health/ready names it"},
    },
)
def readiness() -> Response:
    """The status of /health/ready, without its body."""
    ready = ask_parts(current_service()).status == "ready"
    response = _empty(200 if ready else 503)
    if not ready:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _empty(status: int) -> Response:
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def _spelled(body: Mapping[str, Any]) -> dict[str, Any]:
    """Our body of an error, in Spline's words."""
    return {
        "errorId": current_request_id.get(),
        "timestamp": current_service().clock(),
        "message": body.get("message", ""),
    }


answer_errors(blueprint, _spelled)
