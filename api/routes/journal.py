# ruff: noqa: N815 - fields are spelled as on the wire
"""Received documents, their states and reasons; replay; liveness, readiness and metrics.

Probes may carry a query of a load balancer: it is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import unquote

from flask import Response, jsonify
from marshmallow import Schema, ValidationError, fields, validates_schema

from api.http import metrics as measured
from api.http.blueprint import OPEN, Blueprint, RouteAccess
from api.http.errors import RETRY_AFTER_SECONDS
from api.schemas.fields import Choice, Flag, IntegerField, Query, RequestBody, TextField
from api.schemas.graph import PartialReply, reply_of
from api.service import current_service
from api.service.parts import ServiceReadiness, ask_parts, current_sources
from api.service.storage import SAVED_NOTE, Report, RunsInGraph
from graph_model import identity
from graph_model.errors import InvalidFields, NotFound
from graph_model.picture.view import DatasetReference, dataset_reference
from graph_model.producers.registry import Producers
from graph_model.projection.rebuilding import Progress
from graph_model.retention.forecast import Forecast
from graph_model.stores.catalogue.support import PlanOrigin
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument
from graph_model.values import Role, iso

_MOST_INDENTED: Final = 1_000_000
_MOST_TEXT: Final = 200_000


class JournalQuery(Query):
    """Either a page of documents, or the summary alone."""

    state = Choice(DocumentState, load_default=None)
    kind = TextField(load_default=None)
    besides = TextField(load_default=None)
    limit = IntegerField(1, 1000, load_default=100)
    cursor = TextField(load_default=None)
    summary = Flag(load_default=False)

    @validates_schema(pass_original=True)
    def check_summary(self, data: Any, original: Any, **_: Any) -> None:
        """The summary counts everything: it takes no filter and has no pages."""
        others = [name for name in original if name != "summary"]
        if data.get("summary") and others:
            raise ValidationError("no other parameter beside summary=true", others[0])


class ReplayRequest(RequestBody):
    """Which documents to try again; ``projected`` is a rebuild."""

    state = Choice(
        (DocumentState.FAILED, DocumentState.WAITING, DocumentState.PROJECTED), required=True
    )


class ReplayReply(Schema):
    """How many documents are pending again."""

    reopened = fields.Integer(required=True)


class EntryJobSchema(Schema):
    """The job that a document tells of."""

    id = fields.String(required=True)
    namespace = fields.String(required=True)
    name = fields.String(required=True)


class EntrySchema(Schema):
    """One document of the journal, without its body.

    ``job``, ``table`` (that it writes) and ``producer`` are those of the first execution that its
    plan id has: null before one is in the graph, for commands, and where job or table is hidden.
    """

    position = fields.Integer(required=True)
    kind = fields.String(required=True)
    planId = fields.String(required=True)
    apiVersion = fields.String(required=True)
    contentHash = fields.String(required=True)
    scope = fields.String(required=True)
    state = fields.String(required=True)
    reason = fields.String(allow_none=True)
    receivedAt = fields.String(required=True)
    size = fields.Integer(required=True)
    job = fields.Nested(EntryJobSchema, required=True, allow_none=True)
    table = fields.Nested(reply_of(DatasetReference), required=True, allow_none=True)
    producer = fields.String(required=True, allow_none=True)


class JournalReply(Schema):
    """A page of documents, newest first; with ``summary=true`` the counts instead."""

    items = fields.List(fields.Nested(EntrySchema))
    total = fields.Integer()
    next = fields.String(allow_none=True)
    received = fields.Integer()
    waiting = fields.Integer()
    pending = fields.Integer()
    projected = fields.Integer()
    failed = fields.Integer()


class StoredReply(Schema):
    """Bytes in use on the disk: of journal and catalogue, and of SQLite's write-ahead ``log`` (null
    where the database is elsewhere); ``elements`` in the embedded engine and the bytes of its
    ``heap`` that they take, about; null where there is none.
    """

    journal = fields.Integer(required=True)
    catalogue = fields.Integer(required=True)
    log = fields.Integer(allow_none=True)
    elements = fields.Integer(allow_none=True)
    heap = fields.Integer(allow_none=True)


class GrowthReply(Schema):
    """A day: the increases of the last week's days, shared out over its days; null while it is not
    known, in the first ten minutes. ``bytes`` of journal and catalogue.
    """

    documents = fields.Float(allow_none=True)
    bytes = fields.Float(allow_none=True)
    elements = fields.Float(allow_none=True)


class FullReply(Schema):
    """``room`` that is left (bytes of the disk, elements of the heap) and the days that it lasts;
    0 for a full one, null where it is not known or nothing grows. ``soon``: in less than 14 days,
    at a rate of a day or more.
    """

    room = fields.Integer(allow_none=True)
    days = fields.Float(allow_none=True)
    soon = fields.Boolean(required=True)


class ShareReply(Schema):
    """``name`` "": documents that no run has reported yet."""

    name = fields.String(required=True)
    share = fields.Float(required=True)
    bytes = fields.Integer(required=True)


class ElementsReply(Schema):
    """Vertices and edges, about, and the heap that they take; null without an embedded engine."""

    elements = fields.Integer(required=True)
    bytes = fields.Integer(allow_none=True)


class RunsInGraphReply(ElementsReply):
    """The elements of the runs that the graph carries by HEADWATER_GRAPH_RUNS (``setting``).
    ``saved``: the elements that each other setting would remove.
    """

    setting = fields.String(required=True)
    saved = fields.Dict(keys=fields.String(), values=fields.Nested(ElementsReply), required=True)


class StorageReply(Schema):
    """Disk space. ``by`` kind, producer, namespace and job is scaled up from ``sampled`` documents;
    ``saved`` is per setting the most that it gives back, in bytes, ``savedNote`` why it may be
    less; ``tooEarly`` why nothing warns of a date yet, null after a day; ``keep`` is
    HEADWATER_KEEP, null where it is empty. ``measuredSince``: the oldest measurement behind
    ``growth``, null before the first one.
    """

    measuredAt = fields.String(required=True)
    measuredSince = fields.String(required=True, allow_none=True)
    documents = fields.Integer(required=True)
    stored = fields.Nested(StoredReply, required=True)
    growth = fields.Nested(GrowthReply, required=True)
    full = fields.Dict(keys=fields.String(), values=fields.Nested(FullReply), required=True)
    tooEarly = fields.String(allow_none=True)
    sampled = fields.Integer(required=True)
    by = fields.Dict(
        keys=fields.String(), values=fields.List(fields.Nested(ShareReply)), required=True
    )
    keep = fields.String(required=True, allow_none=True)
    saved = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    savedNote = fields.String(required=True)
    runs = fields.Nested(RunsInGraphReply, required=True)
    warning = fields.String(allow_none=True)


class DocumentReply(EntrySchema):
    """One document with its body as it is kept: masked. ``text`` is indented JSON (of more than
    1,000,000 bytes as it stands), at most 200,000 characters of it; then ``partial`` says so.
    """

    text = fields.String(required=True)
    cut = fields.Nested(PartialReply, required=True, allow_none=True, data_key="partial")


class RefusedQuery(Query):
    """The newest rows."""

    limit = IntegerField(1, 1000, load_default=100)


class RefusedSchema(Schema):
    """Requests of one caller, kind and kind of reason within a minute; message and beginning are of
    the first one, masked.
    """

    at = fields.String(required=True)
    last = fields.String(required=True)
    count = fields.Integer(required=True)
    kind = fields.String(required=True)
    reason = fields.String(required=True)
    message = fields.String(required=True)
    principal = fields.String(required=True)
    beginning = fields.String(required=True)


class RefusedReply(Schema):
    """The newest refusals of the last day, of this process; ``total`` of them, at most 1,000."""

    items = fields.List(fields.Nested(RefusedSchema), required=True)
    total = fields.Integer(required=True)
    next = fields.String(required=True, allow_none=True)


blueprint = Blueprint("journal", __name__, description="The journal of received documents")


@blueprint.route("/journal")
@blueprint.arguments(JournalQuery)
@blueprint.response(200, JournalReply)
def journal(query: Mapping[str, Any]) -> dict[str, Any] | Response:
    """Documents, newest first, with their state and its reason."""
    service = current_service()
    if query["summary"]:
        return jsonify(asdict(service.journal.summary()))
    page = service.journal.entries(
        state=query["state"],
        kind=known_kind("kind", query["kind"], service.producers),
        besides=known_kind("besides", query["besides"], service.producers),
        limit=query["limit"],
        cursor=query["cursor"],
    )
    return {"items": describe(page.items), "total": page.total, "next": page.next}


@blueprint.route("/journal/<int:position>", access=RouteAccess(Role.ADMIN, Role.ADMIN))
@blueprint.no_parameters
@blueprint.response(200, DocumentReply)
def document(position: int) -> dict[str, Any]:
    """One document as it is kept, secrets masked, for admins: it may name what is hidden."""
    journal = current_service().journal
    kept = journal.document(position) if position <= journal.newest() else None
    if kept is None:
        raise NotFound("document", str(position))
    return describe((kept,))[0] | describe_body(kept.body)


@blueprint.route("/journal/refused", access=RouteAccess(Role.ADMIN, Role.ADMIN))
@blueprint.arguments(RefusedQuery)
@blueprint.response(200, RefusedReply)
def refused(query: Mapping[str, Any]) -> dict[str, Any]:
    """Requests with documents that were refused in the last day, newest first, for admins."""
    service = current_service()
    rows = service.refusals.kept(service.clock())
    return {
        "items": [
            asdict(row) | {"at": iso(row.at), "last": iso(row.last)}
            for row in rows[: query["limit"]]
        ],
        "total": len(rows),
        "next": None,
    }


def known_kind(field: str, kind: str | None, producers: Producers) -> DocumentKind | None:
    """The kind of documents that a field names. Raises InvalidFields, naming those there are."""
    if kind is not None and producers.of(kind) is None:
        *names, last = producers.kinds
        raise InvalidFields({field: [f"{', '.join(names)} or {last}"]})
    return None if kind is None else DocumentKind(kind)


@blueprint.route("/journal/replay", methods=["POST"])
@blueprint.no_parameters
@blueprint.arguments(ReplayRequest, location="json")
@blueprint.response(202, ReplayReply)
def replay(body: Mapping[str, Any]) -> dict[str, int]:
    """Try documents again: failed ones after a fix, projected ones to rebuild the graph."""
    return {"reopened": current_service().projector.replay((body["state"],))}


@blueprint.route("/journal/rebuild", methods=["POST"])
@blueprint.no_parameters
@blueprint.response(202, reply_of(Progress))
@blueprint.no_body
def start_rebuild() -> Progress:
    """Project everything anew beside the projection in force; a running rebuild continues."""
    service = current_service()
    if not service.projector.rebuild_waits:
        service.generations.ensure_next_fits()
    return service.projector.request_rebuild()


@blueprint.route("/journal/rebuild")
@blueprint.no_parameters
@blueprint.response(200, reply_of(Progress))
def rebuild_progress() -> Progress:
    """How far the rebuild is that runs, or ran last in this process. Hashes are over all elements
    and rows, null until they are known.
    """
    progress = current_service().projector.progress
    if progress is None:
        raise NotFound("rebuild", reason="none was started since this process began")
    return progress


@blueprint.route("/storage")
@blueprint.no_parameters
@blueprint.response(200, StorageReply)
def storage() -> dict[str, Any]:
    """Disk space and memory: their use, growth, the date when they are full, possible savings.

    Bounded for any size of the journal: a sample of 1,000 documents, once a minute.
    """
    service = current_service()
    if service.storage is None:
        raise NotFound("measure of storage")
    return describe_storage(service.storage.report(), service.governance.hidden)


def describe_storage(report: Report, hidden: Collection[str]) -> dict[str, Any]:
    """The reply about storage, without the names of hidden jobs."""
    forecast = report.forecast
    now = forecast.measured
    shares = {name: [asdict(share) for share in shares] for name, shares in report.by.items()}
    shares["job"] = [share for share in shares["job"] if _job_id(share["name"]) not in hidden]
    return {
        "measuredAt": iso(now.at),
        "measuredSince": None if forecast.since is None else iso(forecast.since),
        "documents": now.documents,
        "stored": {
            "journal": now.journal_bytes,
            "catalogue": now.catalogue_bytes,
            "log": report.log_bytes,
            "elements": now.elements,
            "heap": _heap(report.runs, now.elements),
        },
        "growth": {
            "documents": forecast.growth.documents,
            "bytes": forecast.growth.disk_bytes,
            "elements": forecast.growth.elements,
        },
        "tooEarly": forecast.too_early,
        "full": {
            "disk": _describe_full(forecast, forecast.free_bytes, forecast.disk_days),
            "heap": _describe_full(forecast, forecast.free_elements, forecast.heap_days),
        },
        "sampled": report.sampled,
        "by": shares,
        "keep": None if report.keep is None else str(report.keep),
        "saved": dict(report.saved),
        "savedNote": SAVED_NOTE,
        "runs": _describe_runs(report.runs),
        "warning": forecast.warning,
    }


def _describe_full(forecast: Forecast, free: int | None, days: float | None) -> dict[str, Any]:
    return {"room": free, "days": days, "soon": forecast.warns(days)}


def _describe_runs(runs: RunsInGraph) -> dict[str, Any]:
    """The heap is null where the engine is not the embedded one."""

    def described(elements: int) -> dict[str, int | None]:
        return {"elements": elements, "bytes": _heap(runs, elements)}

    return {
        "setting": str(runs.window),
        **described(runs.elements),
        "saved": {setting: described(elements) for setting, elements in runs.saved.items()},
    }


def _heap(runs: RunsInGraph, elements: int | None) -> int | None:
    """The bytes of the engine's heap that elements take; None without an embedded engine."""
    size = runs.element_bytes
    return None if size is None or elements is None else elements * size


def _job_id(name: str) -> str:
    namespace, _, job = name.partition("/")
    return identity.job_id(unquote(namespace), job)


def describe(documents: Collection[StoredDocument]) -> list[dict[str, Any]]:
    """Documents as their list shows them; hidden jobs and tables have no names there."""
    sources = current_sources()
    origins = sources.catalogue.plan_origins({document.subject_key for document in documents})
    targets = {origin.target for origin in origins.values()} - sources.hidden - {""}
    tables = {row.id: dataset_reference(row) for row in sources.catalogue.datasets(targets)}
    return [
        _entry(document, origins.get(document.subject_key), tables, sources.hidden)
        for document in documents
    ]


def _entry(
    document: StoredDocument,
    origin: PlanOrigin | None,
    tables: Mapping[str, DatasetReference],
    hidden: Collection[str],
) -> dict[str, Any]:
    job = None if origin is None else identity.job_id(origin.namespace, origin.job)
    shown = None if job in hidden else origin
    table = shown and tables.get(shown.target)
    return {
        "position": document.position,
        "kind": document.kind,
        "planId": document.subject_key,
        "apiVersion": document.api_version,
        "contentHash": document.content_hash,
        "scope": document.scope,
        "state": document.state.value,
        "reason": document.reason,
        "receivedAt": iso(document.received_at),
        "size": document.size,
        "job": shown and {"id": job, "namespace": shown.namespace, "name": shown.job},
        "table": table and asdict(table),
        "producer": shown and shown.producer,
    }


def describe_body(body: bytes) -> dict[str, Any]:
    """``b'{"a": 1}'`` => its text indented, as far as it is shown, and ``cut`` where it is more."""
    pieces = (
        json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(json.loads(body))
        if len(body) <= _MOST_INDENTED
        else iter((body[: 4 * _MOST_TEXT].decode("utf-8", "ignore"),))
    )
    text = ""
    while len(text) <= _MOST_TEXT and (piece := next(pieces, None)) is not None:
        text += piece
    if len(text) <= _MOST_TEXT:
        return {"text": text, "cut": None}
    return {"text": text[:_MOST_TEXT], "cut": {"reason": "characters", "limit": _MOST_TEXT}}


# --- health and metrics --------------------------------------------------------------------------


class LiveReply(Schema):
    """The process answers."""

    status = fields.String(required=True)


health = Blueprint("health", __name__, description="Whether this Headwater is well")


@health.route("/health/live", access=OPEN)
@health.response(200, LiveReply)
def live() -> dict[str, Any]:
    """200 while the process answers."""
    return {"status": "live"}


@health.route("/health/ready", access=OPEN)
@health.response(200, reply_of(ServiceReadiness))
@health.doc(
    responses={503: {"description": "Rebuilding, or a part is away: the same body"}},
)
def ready() -> Response:
    """200 when documents are taken and the graph is up to date with the journal."""
    readiness = ask_parts(current_service())
    response = jsonify(asdict(readiness))
    if readiness.status != "ready":
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


@health.route("/metrics")
@health.no_parameters
@health.doc(
    summary="Metrics, for Prometheus",
    responses={200: {"description": "The text format", "content": {"text/plain": {}}}},
)
def metrics() -> Response:
    """Counters of this process, and the present content of the journal."""
    return Response(current_service().metrics.text(), content_type=measured.CONTENT_TYPE)
