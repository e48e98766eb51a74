"""Impact: everything downstream as a table, and what the plan of a changed job would break."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from flask import Response, jsonify, request
from werkzeug.exceptions import NotAcceptable, UnsupportedMediaType
from werkzeug.http import parse_options_header

from api.asking import TIME_LIMIT_MS, deadline, is_rebuilding, whole_or_later
from api.blueprint import Blueprint
from api.bodies import ROOM
from api.destinations import prepare
from api.dumps import PLAIN_VERSION, Found, Refusal, recognise
from api.errors import InvalidRequest
from api.marking import refuse_named_hidden
from api.replies import check_reply, impact_reply
from api.routes.producer import delivered
from api.schemas.impact import (
    ColumnChange,
    Format,
    ImpactQuery,
    ImpactReply,
    PlanCheckQuery,
    PlanCheckReply,
)
from api.service import Service, current_service
from graph_model import identity, labels
from graph_model.errors import InvalidDocument
from graph_model.impact.captured import captured_outlines
from graph_model.impact.check import Check, CheckReport
from graph_model.impact.comparison import ChangeKind
from graph_model.impact.outline import PlanOutline
from graph_model.impact.report import PREFIX, Impact, ImpactReport, Scope
from graph_model.impact.tables import partial_text, write_check_markdown, write_csv, write_markdown
from graph_model.lineage import Partial
from graph_model.naming import Rules
from graph_model.store import Submission

blueprint = Blueprint("impact", __name__, url_prefix="/graph", description="What breaks")
_MEDIA_TYPES: Final = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv",
    Format.MARKDOWN: "text/markdown",
}
_CHANGES: Final = {
    ColumnChange.DROPPED: ChangeKind.COLUMN_DROPPED,
    ColumnChange.RENAMED: ChangeKind.COLUMN_RENAMED,
    ColumnChange.RETYPED: ChangeKind.COLUMN_RETYPED,
}
#: Plans and events of one check: a job has a few.
MOST_DOCUMENTS: Final = 1_000
_BODY_TYPES: Final = ("application/json", "application/x-ndjson")
_BODY: Final[Mapping[str, Any]] = {
    "required": True,
    "content": {media_type: {"schema": {}} for media_type in _BODY_TYPES},
}


@blueprint.route("/impact")
@blueprint.arguments(ImpactQuery)
@blueprint.describes(ImpactReply)
def impact(query: Mapping[str, Any]) -> Response:
    """Everything downstream of a dataset, a column, a job or a prefix, as a table."""
    form = query["format"] or accepted_format()
    rebuilding = is_rebuilding()
    with whole_or_later():
        report = _marked(_report(query, current_service()), rebuilding)
    return _with_state(_WRITERS[form](report), report)


def _report(query: Mapping[str, Any], service: Service) -> ImpactReport:
    node, change = query["node"], query["change"]
    scope = _scope(query, columns=query["columns"], indirect=query["indirect"] or False)
    asking = impact_of(service)
    if node.startswith(PREFIX) and change is None:
        return asking.of_prefix(node.removeprefix(PREFIX), scope)
    found = service.references.resolve(node, scope.at)
    refuse_named_hidden(found, node, service)
    if change is None:
        return asking.of_node(found, scope)
    judged = replace(scope, indirect=query["indirect"] is not False)
    return check_of(service).of_column(found, _CHANGES[change], judged)


def _scope(query: Mapping[str, Any], *, columns: bool, indirect: bool) -> Scope:
    return Scope(
        depth=query["depth"],
        at=query["at"],
        columns=columns,
        indirect=indirect,
        jobs=query["jobs"],
        limit=query["limit"],
    )


def _marked(report: ImpactReport, rebuilding: bool) -> ImpactReport:
    return replace(report, partial=Partial("rebuilding", 0)) if rebuilding else report


@blueprint.route("/impact/plan", methods=["POST"])
@blueprint.arguments(PlanCheckQuery)
@blueprint.doc(requestBody=_BODY)
@blueprint.describes(PlanCheckReply)
def plan(query: Mapping[str, Any]) -> Response:
    """What breaks when captured plans take the place of those that run now. Nothing is stored.

    The body: a plan of Spline, a list of them, or lines as ``headwater journal import`` reads them.
    """
    form = query["format"] or accepted_format()
    service = current_service()
    rebuilding = is_rebuilding()
    captured = _captured(service.projector.rules)
    scope = _scope(query, columns=False, indirect=query["indirect"])
    with whole_or_later():
        if query["job"] is not None:
            captured = _under(query["job"], captured, service)
        report = check_of(service).of_plans(captured, scope)
    report = replace(report, impact=_marked(report.impact, rebuilding))
    return _with_state(_CHECK_WRITERS[form](report), report.impact)


def _captured(rules: Rules) -> tuple[PlanOutline, ...]:
    """The plans of the body; raises InvalidInput naming the line of one that is refused."""
    _require_json_lines()
    delivery = delivered(PLAIN_VERSION)
    body = delivery.inflate(delivery.raw)
    with ROOM.hold(len(body)):
        text = body.decode("utf-8-sig", "surrogateescape")
        pieces = list(
            islice(recognise(io.StringIO(text), "body", len(text) + 1), MOST_DOCUMENTS + 1)
        )
        if len(pieces) > MOST_DOCUMENTS:
            raise InvalidDocument("", f"at most {MOST_DOCUMENTS:,} plans and events")
        found = captured_outlines([_submission(one, delivery.scope) for one in pieces], rules)
    if not found:
        raise InvalidDocument("", "at least one plan that writes a dataset")
    return found


def _require_json_lines() -> None:
    media_type, _ = parse_options_header(request.headers.get("Content-Type"))
    if media_type.lower() not in _BODY_TYPES:
        raise UnsupportedMediaType(f"Content-Type: expected one of {', '.join(_BODY_TYPES)}")


def _submission(found: Found, key_scope: str) -> Submission:
    if isinstance(found, Refusal):
        raise InvalidRequest({found.where: [found.reason.removeprefix("expected ")]})
    submission = prepare(found).submission
    return replace(submission, scope=submission.scope or key_scope)


def _under(
    reference: str, captured: Iterable[PlanOutline], service: Service
) -> tuple[PlanOutline, ...]:
    """These plans as those of another job that is known; raises NotFound."""
    node = reference if identity.kind_of(reference) == labels.JOB else f"job:{reference}"
    found = refuse_named_hidden(service.references.resolve(node), node, service)
    row = service.catalogue.jobs((found,))[0]
    return tuple(replace(one, job=row.id, job_name=(row.namespace, row.name)) for one in captured)


def impact_of(service: Service) -> Impact:
    """What answers questions about impact, for one request."""
    catalogue = service.catalogue
    kept = service.kept(catalogue)
    return Impact(
        service.graph,
        catalogue,
        kept.governance,
        rules=service.projector.rules,
        expired=deadline(),
        time_limit_ms=TIME_LIMIT_MS,
        structure=kept.structure,
    )


def check_of(service: Service) -> Check:
    """What holds a change against the graph, for one request."""
    governance = service.governance
    return Check(service.graph, service.catalogue, impact_of(service), governance.hidden)


# --- formats -------------------------------------------------------------------------------------


def accepted_format() -> Format:
    """What the header Accept asks for; JSON where it does not care, 406 for anything else."""
    accepted = request.accept_mimetypes
    found = accepted.best_match(list(_MEDIA_TYPES.values())) if accepted else "application/json"
    if found is None:
        raise NotAcceptable(f"expected one of {', '.join(_MEDIA_TYPES.values())}, or format=")
    return next(form for form, media_type in _MEDIA_TYPES.items() if media_type == found)


def _text(form: Format, text: str) -> Response:
    return Response(text, content_type=f"{_MEDIA_TYPES[form]}; charset=utf-8")


_WRITERS: Final[Mapping[Format, Callable[[ImpactReport], Response]]] = {
    Format.JSON: lambda report: jsonify(impact_reply(report)),
    Format.CSV: lambda report: _text(Format.CSV, write_csv(report)),
    Format.MARKDOWN: lambda report: _text(Format.MARKDOWN, write_markdown(report)),
}


_CHECK_WRITERS: Final[Mapping[Format, Callable[[CheckReport], Response]]] = {
    Format.JSON: lambda report: jsonify(check_reply(report)),
    Format.CSV: lambda report: _WRITERS[Format.CSV](report.impact),
    Format.MARKDOWN: lambda report: _text(Format.MARKDOWN, write_check_markdown(report)),
}


def _with_state(response: Response, report: ImpactReport) -> Response:
    """What an answer says of itself, for formats that have no place for it: in headers."""
    response.vary.add("Accept")
    response.headers["Headwater-As-Of"] = report.as_of or "none"
    response.headers["Headwater-Depth"] = f"{report.depth_reached} of {report.depth_asked}"
    response.headers["Headwater-Folded"] = "true" if report.folded else "false"
    response.headers["Headwater-Partial"] = (
        partial_text(report.partial) if report.partial else "none"
    )
    response.headers["Headwater-Hidden"] = str(report.hidden)
    if report.verdict is not None:
        response.headers["Headwater-Verdict"] = report.verdict
    return response
