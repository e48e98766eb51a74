"""Received documents, their states and reasons; replay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from flask import Response, jsonify

from api.http.blueprint import Blueprint
from api.http.times import format_instant
from api.schemas.journal import (
    JournalQuery,
    JournalReply,
    RebuildReply,
    ReplayReply,
    ReplayRequest,
    StorageReply,
)
from api.service import current_service
from api.service.storage import SAVED_NOTE, Report, RunsInGraph
from graph_model import identity
from graph_model.errors import InvalidFields, NotFound
from graph_model.producers.registry import Producers
from graph_model.projection.rebuilding import Progress
from graph_model.retention.forecast import Forecast
from graph_model.stores.documents import DocumentKind, StoredDocument

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
        kind=known_kind(query["kind"], service.producers),
        limit=query["limit"],
        cursor=query["cursor"],
    )
    return {
        "items": [describe(document) for document in page.items],
        "total": page.total,
        "next": page.next,
    }


def known_kind(kind: str | None, producers: Producers) -> DocumentKind | None:
    """The kind of documents with this name. Raises InvalidFields, naming those there are."""
    if kind is not None and producers.of(kind) is None:
        *names, last = producers.kinds
        raise InvalidFields({"kind": [f"{', '.join(names)} or {last}"]})
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
@blueprint.response(202, RebuildReply)
def start_rebuild() -> dict[str, Any]:
    """Project everything anew beside the projection in force; a running rebuild continues."""
    service = current_service()
    if service.storage is not None and not service.projector.rebuild_waits:
        service.storage.ensure_rebuild_fits()
    return describe_rebuild(service.projector.request_rebuild())


@blueprint.route("/journal/rebuild")
@blueprint.no_parameters
@blueprint.response(200, RebuildReply)
def rebuild_progress() -> dict[str, Any]:
    """How far the rebuild is that runs, or ran last in this process."""
    progress = current_service().projector.progress
    if progress is None:
        raise NotFound("rebuild", reason="none was started since this process began")
    return describe_rebuild(progress)


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
    found = report.forecast
    now = found.measured
    shares = {name: [asdict(one) for one in shares] for name, shares in report.by.items()}
    shares["job"] = [one for one in shares["job"] if _job_id(one["name"]) not in hidden]
    return {
        "measuredAt": format_instant(now.at),
        "measuredSince": None if found.since is None else format_instant(found.since),
        "documents": now.documents,
        "stored": {
            "journal": now.journal_bytes,
            "catalogue": now.catalogue_bytes,
            "log": report.log_bytes,
            "elements": now.elements,
            "heap": _heap(report.runs, now.elements),
        },
        "growth": {
            "documents": found.growth.documents,
            "bytes": found.growth.disk_bytes,
            "elements": found.growth.elements,
        },
        "tooEarly": found.too_early,
        "full": {
            "disk": _describe_full(found, found.free_bytes, found.disk_days),
            "heap": _describe_full(found, found.free_elements, found.heap_days),
        },
        "sampled": report.sampled,
        "by": shares,
        "keep": None if report.keep is None else str(report.keep),
        "saved": dict(report.saved),
        "savedNote": SAVED_NOTE,
        "runs": _describe_runs(report.runs),
        "warning": found.warning,
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


def describe_rebuild(progress: Progress) -> dict[str, Any]:
    """Hashes are over all elements and rows, null until they are known."""
    return {
        "phase": progress.phase.value,
        "plansDone": progress.plans_done,
        "plans": progress.plans,
        "removed": progress.removed,
        "before": progress.before,
        "after": progress.after,
    }


def describe(document: StoredDocument) -> dict[str, Any]:
    """A document as its list shows it."""
    return {
        "position": document.position,
        "kind": document.kind,
        "planId": document.subject_key,
        "apiVersion": document.api_version,
        "contentHash": document.content_hash,
        "scope": document.scope,
        "state": document.state.value,
        "reason": document.reason,
        "receivedAt": format_instant(document.received_at),
        "size": document.size,
    }
