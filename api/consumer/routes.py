"""The consumer API of Spline, for its UI and for scripts that were written against it.

Paths, parameters and shapes are Spline's (released 0.7.x, and additions since);
the answers are Headwater's own, in that form.

Errors have the form that Spline's viewers expect.

    {"errorId": "3f0c…", "timestamp": 1700000000000, "message": "no event 'x' is known"}

The id is the request's: a person copies it from the screen and finds the line in the log.
The status and headers are those of every other error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, current_app, jsonify, url_for

from api.consumer import replies
from api.consumer.queries import (
    Access,
    AttributeQuery,
    DataSourcesQuery,
    ExecutionEventsQuery,
    LabelsQuery,
    LineageDetailedQuery,
    LineageOverviewQuery,
    PlanSourcesQuery,
    PlansQuery,
    SpringParser,
)
from api.http.blueprint import Blueprint
from api.http.errors import RETRY_AFTER_SECONDS
from api.http.rights import OPEN
from api.logs import current_request_id
from api.service import current_service
from api.service.readiness import ask
from api.service.sources import answer_errors, current_sources, lacking
from graph_model.answers.consumer import executions, plan_documents
from graph_model.answers.consumer.executions import ListQuestion
from graph_model.stores.catalogue_values import EventFilter, ListPage

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


@blueprint.route("/execution-events")
@blueprint.arguments(ExecutionEventsQuery)
@blueprint.doc(responses={200: {"description": "A page of executions"}})
def execution_events(query: Mapping[str, Any]) -> Response:
    """Executions, the newest first."""
    page = executions.execution_events(current_sources(), _asked(query))
    return jsonify(replies.events_reply(page, query, current_service().clock()))


@blueprint.route("/data-sources")
@blueprint.arguments(DataSourcesQuery)
@blueprint.doc(responses={200: {"description": "A page of data sources"}})
def data_sources(query: Mapping[str, Any]) -> Response:
    """Data sources, each with its last write."""
    page = executions.data_sources(current_sources(), _asked(query))
    return jsonify(replies.events_reply(page, query, current_service().clock()))


@blueprint.route("/lineage-overview")
@blueprint.arguments(LineageOverviewQuery)
@blueprint.doc(responses={200: {"description": "Executions and data sources, as a graph"}})
def lineage_overview(query: Mapping[str, Any]) -> Response:
    """The origins of an execution's output."""
    overview = executions.lineage_overview(current_sources(), query["eventId"], query["maxDepth"])
    return jsonify(replies.overview_reply(overview, lack=lacking()))


@blueprint.route("/impact-overview")
@blueprint.arguments(LineageOverviewQuery)
@blueprint.doc(responses={200: {"description": "Executions and data sources, as a graph"}})
def impact_overview(query: Mapping[str, Any]) -> Response:
    """The uses of an execution's output."""
    overview = executions.impact_overview(current_sources(), query["eventId"], query["maxDepth"])
    return jsonify(replies.overview_reply(overview, lack=lacking()))


@blueprint.route("/lineage-detailed")
@blueprint.arguments(LineageDetailedQuery)
@blueprint.doc(responses={200: {"description": "The plan and the graph of its operations"}})
def lineage_detailed(query: Mapping[str, Any]) -> Response:
    """One plan: its operations, schemas and types."""
    return jsonify(replies.detailed_reply(plan_documents.plan(current_sources(), query["execId"])))


@blueprint.route("/execution-plans")
@blueprint.arguments(PlansQuery)
@blueprint.doc(responses={200: {"description": "A page of plans"}})
def execution_plans(query: Mapping[str, Any]) -> Response:
    """Plans that have run, the last that ran first."""
    number, size = query["pageNum"], query["pageSize"]
    plans, total = executions.plans(current_sources(), _moment(query), (number - 1) * size, size)
    items = [replies.plan_reply(plan) for plan in plans]
    reply = {"items": items, "totalCount": total, "pageNum": number, "pageSize": size}
    return jsonify(reply)


@blueprint.route("/execution-plans/<plan_id>")
@blueprint.no_parameters
@blueprint.doc(responses={200: {"description": "The plan and the graph of its operations"}})
def execution_plan(plan_id: str) -> Response:
    """The same reply as /lineage-detailed."""
    return jsonify(replies.detailed_reply(plan_documents.plan(current_sources(), plan_id)))


@blueprint.route("/execution-plans/<plan_id>/write-op")
@blueprint.no_parameters
@blueprint.doc(responses={302: {"description": "To the operation that writes"}})
def write_operation(plan_id: str) -> Response:
    """A redirect to the operation that writes."""
    location = url_for(
        ".operation", operation_id=plan_documents.write_operation(current_sources(), plan_id)
    )
    return Response(status=302, headers={"Location": location})


@blueprint.route("/execution-plans/<plan_id>/data-sources")
@blueprint.arguments(PlanSourcesQuery)
@blueprint.doc(responses={200: {"description": "URIs"}})
def plan_sources(query: Mapping[str, Any], plan_id: str) -> Response:
    """The data sources that a plan reads, writes, or both."""
    access = query["access"]
    uris = plan_documents.plan_sources(
        current_sources(), plan_id, read=access != Access.WRITE, write=access != Access.READ
    )
    return jsonify(list(uris))


@blueprint.route("/operations/<path:operation_id>")
@blueprint.no_parameters
@blueprint.doc(responses={200: {"description": "The operation, its schemas and data types"}})
def operation(operation_id: str) -> Response:
    """One operation: its properties with expressions as trees, and the schemas around it."""
    return jsonify(
        replies.operation_reply(plan_documents.operation(current_sources(), operation_id))
    )


@blueprint.route("/attribute-lineage-and-impact")
@blueprint.arguments(AttributeQuery)
@blueprint.doc(responses={200: {"description": "Two graphs of columns"}})
def attribute_lineage_and_impact(query: Mapping[str, Any]) -> Response:
    """The origins and the uses of a plan's column, inside that plan."""
    plan_id, lineage, impact = plan_documents.attribute(current_sources(), query["attributeId"])
    return jsonify(
        {
            "lineage": replies.attribute_graph(plan_id, lineage),
            "impact": replies.attribute_graph(plan_id, impact),
        }
    )


@blueprint.route("/labels/names")
@blueprint.arguments(LabelsQuery)
@blueprint.doc(responses={200: {"description": "Names of labels"}})
def label_names(query: Mapping[str, Any]) -> Response:
    """The names of labels that executions carry."""
    names = executions.label_names(
        current_sources(), query["search"], query["offset"], _length(query)
    )
    return jsonify(list(names))


@blueprint.route("/labels/names/<path:name>/values")
@blueprint.arguments(LabelsQuery)
@blueprint.doc(responses={200: {"description": "Values of a label"}})
def label_values(query: Mapping[str, Any], name: str) -> Response:
    """The values of one label."""
    values = executions.label_values(
        current_sources(), name, query["search"], query["offset"], _length(query)
    )
    return jsonify(list(values))


def _length(query: Mapping[str, Any]) -> int | None:
    return query["length"] if query["length"] > 0 else None


about = Blueprint("about", __name__, url_prefix="/about", description="As Spline's /about")
about.ARGUMENTS_PARSER = SpringParser()


@about.route("/version")
@about.no_parameters
@about.doc(responses={200: {"description": "Version of the build"}})
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
    ready = ask(current_service()).status == "ready"
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
