"""What was received, its state and why; trying again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Response, jsonify

from api.blueprint import Blueprint
from api.schemas.journal import JournalQuery, JournalReply, ReplayReply, ReplayRequest
from api.service import current_service
from api.times import format_instant
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
