"""Impact: everything downstream as a table, and the effects of a changed plan."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from flask import Response, jsonify, request
from marshmallow import fields
from werkzeug.exceptions import NotAcceptable, UnsupportedMediaType
from werkzeug.http import parse_options_header

from api.http.blueprint import ASKING, Blueprint
from api.intake.documents import current_delivery
from api.schemas.fields import Choice, Flag, Instant, IntegerField, Query, TextField
from api.schemas.graph import MAX_DEPTH, REACHES, DepthReply, PartialReply, Reply, reply_of
from api.service import current_service
from api.service.parts import current_sources, lacking, whole_or_later
from graph_model.answers.impact.changes import COLUMN_CHANGES
from graph_model.answers.impact.check import check_plans, check_reply, impact_of_change
from graph_model.answers.impact.check import impact as impact_of_node
from graph_model.answers.impact.outlines import PlanOutline, captured_outlines
from graph_model.answers.impact.report import (
    ImpactItem,
    ImpactReport,
    PathNode,
    Scope,
    impact_reply,
)
from graph_model.answers.impact.tables import JSON, TEXT_FORMS, TextForm, partial_text
from graph_model.documents.files import Found, Refusal, prepare, recognise
from graph_model.errors import InvalidDocument, InvalidFields
from graph_model.lineage import Partial, Reach
from graph_model.naming import Rules
from graph_model.producers.registry import Producers
from graph_model.producers.spline.producer import PLAIN_VERSION
from graph_model.stores.documents import Submission

MOST_ITEMS = 5_000
FORMS = (JSON, *TEXT_FORMS)


class ImpactQuery(Query):
    node = TextField(most=20_000, required=True)
    depth = IntegerField(0, MAX_DEPTH, load_default=MAX_DEPTH)
    at = Instant()
    columns = Flag(load_default=False)
    jobs = Flag(load_default=True)
    indirect = Flag(load_default=None)
    change = Choice(COLUMN_CHANGES, load_default=None)
    limit = IntegerField(1, MOST_ITEMS, load_default=1_000)
    format = Choice(FORMS, load_default=None)
    reach = Choice(REACHES, load_default=Reach.POSSIBLE)


class PlanCheckQuery(Query):
    job = TextField(load_default=None)
    depth = IntegerField(1, MAX_DEPTH, load_default=MAX_DEPTH)
    at = Instant()
    jobs = Flag(load_default=True)
    indirect = Flag(load_default=True)
    limit = IntegerField(1, MOST_ITEMS, load_default=1_000)
    format = Choice(FORMS, load_default=None)


class ImpactReply(Reply):
    starts = fields.List(fields.Nested(reply_of(PathNode)), required=True)
    items = fields.List(fields.Nested(reply_of(ImpactItem)), required=True)
    total = fields.Integer(required=True)
    as_of = fields.String(required=True, allow_none=True, data_key="asOf")
    depth = fields.Nested(DepthReply, required=True)
    folded = fields.Boolean(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")
    hidden = fields.Integer(required=True)
    verdict = fields.String(
        required=True, allow_none=True, metadata={"enum": ["breaks", "may-break", "none"]}
    )


class ChangeReply(Reply):
    kind = fields.String(required=True)
    subject = fields.String(required=True)
    before = fields.String(required=True, allow_none=True)
    after = fields.String(required=True, allow_none=True)
    effect = fields.String(required=True, metadata={"enum": ["breaks", "may-break", "none"]})


class PlanChangesReply(Reply):
    job = fields.String(required=True)
    target = fields.String(required=True)
    plan = fields.String(required=True, allow_none=True)
    changes = fields.List(fields.Nested(ChangeReply), required=True)


class PlanCheckReply(ImpactReply):
    plans = fields.List(fields.Nested(PlanChangesReply), required=True)
    missing = fields.List(fields.String(), required=True)
    unmet = fields.List(fields.String(), required=True)


blueprint = Blueprint("impact", __name__, url_prefix="/graph", description="Impact of a change")
_FORMS: Final[Mapping[str, str]] = {
    "application/json": JSON,
    **{form.media_type: name for name, form in TEXT_FORMS.items()},
}
"""By media type; JSON where the client accepts several alike."""
#: Plans and events of one check: a job has a few.
MOST_DOCUMENTS: Final = 1_000
_BODY_TYPES: Final = ("application/json", "application/x-ndjson")


@blueprint.route("/impact")
@blueprint.arguments(ImpactQuery)
@blueprint.describes(ImpactReply)
def impact(query: Mapping[str, Any]) -> Response:
    """Everything downstream of a dataset, a column, a job or a prefix, as a table."""
    form = TEXT_FORMS.get(query["format"] or accepted_format())
    lack = lacking()
    with whole_or_later():
        report = _marked(_report(query), lack)
    written = _text(form, form.write(report)) if form else jsonify(impact_reply(report))
    return _with_state(written, report)


def _report(query: Mapping[str, Any]) -> ImpactReport:
    node, change = query["node"], query["change"]
    scope = _scope(query, columns=query["columns"], indirect=query["indirect"] or False)
    if change is None:
        return impact_of_node(current_sources(), node, scope)
    judged = replace(scope, indirect=query["indirect"] is not False)
    return impact_of_change(current_sources(), node, COLUMN_CHANGES[change], judged)


def _scope(query: Mapping[str, Any], *, columns: bool, indirect: bool) -> Scope:
    return Scope(
        depth=query["depth"],
        at=query["at"],
        columns=columns,
        indirect=indirect,
        jobs=query["jobs"],
        limit=query["limit"],
        reach=query.get("reach", Reach.POSSIBLE),  # a check of plans is always of these
    )


def _marked(report: ImpactReport, lack: Partial | None) -> ImpactReport:
    return report if lack is None else replace(report, partial=lack)


@blueprint.route("/impact/plan", methods=["POST"], access=ASKING)
@blueprint.arguments(PlanCheckQuery)
@blueprint.takes({}, _BODY_TYPES)
@blueprint.describes(PlanCheckReply)
def plan(query: Mapping[str, Any]) -> Response:
    """The impact of captured plans in place of those in the graph. Nothing is stored.

    The body: a plan of Spline, a list of them, or lines as ``headwater journal import`` reads them.
    """
    form = TEXT_FORMS.get(query["format"] or accepted_format())
    lack = lacking()
    service = current_service()
    captured = _captured(service.projector.rules, service.producers)
    scope = _scope(query, columns=False, indirect=query["indirect"])
    with whole_or_later():
        report = check_plans(current_sources(), captured, query["job"], scope)
    report = replace(report, impact=_marked(report.impact, lack))
    written = _text(form, form.write_check(report)) if form else jsonify(check_reply(report))
    response = _with_state(written, report.impact)
    response.headers["Headwater-Unmet"] = str(len(report.unmet))
    return response


def _captured(rules: Rules, producers: Producers) -> tuple[PlanOutline, ...]:
    """The plans of the body; raises InvalidInput naming the line of one that is refused."""
    _require_json_lines()
    delivery = current_delivery(PLAIN_VERSION)
    with delivery.unpacked() as body:
        text = body.decode("utf-8-sig", "surrogateescape")
        pieces = list(
            islice(
                recognise(io.StringIO(text), "body", len(text) + 1, producers), MOST_DOCUMENTS + 1
            )
        )
        if len(pieces) > MOST_DOCUMENTS:
            raise InvalidDocument("", f"at most {MOST_DOCUMENTS:,} plans and events")
        submissions = [_submission(piece, delivery.sender.scope, producers) for piece in pieces]
        plans = captured_outlines(submissions, rules, producers)
    if not plans:
        raise InvalidDocument("", "at least one plan that writes a dataset")
    return plans


def _require_json_lines() -> None:
    media_type, _ = parse_options_header(request.headers.get("Content-Type"))
    if media_type.lower() not in _BODY_TYPES:
        raise UnsupportedMediaType(f"Content-Type: expected one of {', '.join(_BODY_TYPES)}")


def _submission(piece: Found, key_scope: str, producers: Producers) -> Submission:
    if isinstance(piece, Refusal):
        raise InvalidFields({piece.where: [piece.reason.removeprefix("expected ")]})
    submission = prepare(piece, producers).submission
    return replace(submission, scope=submission.scope or key_scope)


# --- formats -------------------------------------------------------------------------------------


def accepted_format() -> str:
    """The format in the header Accept; JSON for any, 406 for anything else."""
    accepted = request.accept_mimetypes
    mimetype = accepted.best_match(list(_FORMS)) if accepted else "application/json"
    if mimetype is None:
        raise NotAcceptable(f"expected one of {', '.join(_FORMS)}, or format=")
    return _FORMS[mimetype]


def _text(form: TextForm, text: str) -> Response:
    return Response(text, content_type=f"{form.media_type}; charset=utf-8")


def _with_state(response: Response, report: ImpactReport) -> Response:
    """The state of an answer in headers, for formats that have no place for it."""
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
