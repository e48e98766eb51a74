"""The outcome of a request with documents, or of one of them: answered, counted, logged."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, g, request

from api.http.blueprint import Blueprint
from api.http.errors import Reason
from api.http.principals import current_principal
from api.service import current_service
from graph_model.stores.documents import DocumentKind


def created(kind: DocumentKind, number: int, body: str = "") -> Response:
    """The 201 of a request that brought so many documents of a kind."""
    current_service().metrics.received(kind, number)
    response = Response(body, status=HTTPStatus.CREATED, mimetype="application/json")
    if not body:
        del response.headers["Content-Type"]
    return response


def count_refusals(blueprint: Blueprint, kinds: Mapping[str, str]) -> None:
    """Count the requests that any handler answers with an error, and log why.

    ``kinds`` are the kinds of documents by the routes' endpoints; those of other routes bring none.
    """

    def count(response: Response) -> Response:
        kind = kinds.get((request.endpoint or "").rpartition(".")[2])
        if kind is not None and response.status_code >= HTTPStatus.BAD_REQUEST:
            current_service().metrics.refused(kind, response.status_code)
            note_reason(
                kind, g.get("reason") or Reason("other", f"answered {response.status_code}")
            )
        return response

    blueprint.after_request(count)


def note_reason(kind: str, reason: Reason) -> None:
    """Why documents of the current request, or one of a batch, are refused."""
    service = current_service()
    service.metrics.refused_for(kind, reason.kind)
    service.refusals.log_refusal(kind, reason, current_principal().name)
