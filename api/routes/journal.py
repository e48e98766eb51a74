"""What was received, its state and why; trying again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Response, jsonify

from api.blueprint import Blueprint
from api.schemas.journal import JournalQuery, JournalReply, RebuildReply, ReplayReply, ReplayRequest
from api.service import current_service
from api.times import format_instant
from graph_model.errors import NotFound
from graph_model.rebuilding import Progress
from graph_model.store import DocumentState, StoredDocument

blueprint = Blueprint("journal", __name__, description="The journal: what was received")


@blueprint.route("/journal")
@blueprint.arguments(JournalQuery)
@blueprint.response(200, JournalReply)
def journal(query: Mapping[str, Any]) -> dict[str, Any] | Response:
    """Documents, newest first, with their state and its reason."""
    entries = current_service().journal
    if query["summary"]:
        return jsonify(asdict(entries.summary()))
    page = entries.entries(
        state=query["state"], kind=query["kind"], limit=query["limit"], cursor=query["cursor"]
    )
    return {
        "items": [describe(document) for document in page.items],
        "total": page.total,
        "next": page.next,
    }


@blueprint.route("/journal/replay", methods=["POST"])
@blueprint.arguments(ReplayRequest, location="json")
@blueprint.response(202, ReplayReply)
def replay(body: Mapping[str, Any]) -> dict[str, int]:
    """Try documents again: failed ones after a fix, projected ones to rebuild the graph."""
    states = (DocumentState(body["state"].value),)
    return {"reopened": current_service().projector.replay(states)}


@blueprint.route("/journal/rebuild", methods=["POST"])
@blueprint.response(202, RebuildReply)
def start_rebuild() -> dict[str, Any]:
    """Project everything anew beside what stands; one that is under way goes on."""
    return describe_rebuild(current_service().projector.request_rebuild())


@blueprint.route("/journal/rebuild")
@blueprint.response(200, RebuildReply)
def rebuild_progress() -> dict[str, Any]:
    """How far the rebuild is that runs, or ran last in this process."""
    progress = current_service().projector.progress
    if progress is None:
        raise NotFound("rebuild", "in this process")
    return describe_rebuild(progress)


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
        "kind": document.kind.value,
        "planId": document.plan_id,
        "apiVersion": document.api_version,
        "contentHash": document.content_hash,
        "scope": document.scope,
        "state": document.state.value,
        "reason": document.reason,
        "receivedAt": format_instant(document.received_at),
        "size": document.size,
    }
