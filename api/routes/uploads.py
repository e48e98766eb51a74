"""A place in a bucket for a document that is larger than a gateway or a function takes.

The answer is no promise that the document is taken: the consumer checks it once the client has put
it, and sends one that can never be taken to the dead-letter queue with its reason (docs/queues.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import current_app

from api.http.blueprint import Blueprint
from api.http.principals import current_principal
from api.http.rights import REPORTING
from api.schemas.uploads import UploadReply, UploadRequest
from api.settings import Settings
from graph_model.errors import InvalidFields, NotFound
from graph_model.stores.uploads import Announced, Uploads

blueprint = Blueprint(
    "uploads", __name__, access=REPORTING, description="Large documents, by way of a bucket"
)


def require_place() -> None:
    """Before the body is looked at: a client need not mend a body that no place takes."""
    settings: Settings = current_app.config["HEADWATER"]
    if not settings.uploads:
        raise NotFound("place for uploads", reason="HEADWATER_UPLOADS is not set here")


blueprint.before_request(require_place)


@blueprint.route("/uploads", methods=["POST"])
@blueprint.no_parameters
@blueprint.arguments(UploadRequest, location="json")
@blueprint.response(201, UploadReply)
def announce(body: Mapping[str, Any]) -> dict[str, Any]:
    """A URL, signed for one document, this client and fifteen minutes. 404 without
    HEADWATER_UPLOADS.
    """
    settings: Settings = current_app.config["HEADWATER"]
    if body["size"] > settings.max_body_bytes:
        raise InvalidFields({"size": [f"at most {settings.max_body_bytes:,} bytes"]}, "too-large")
    principal = current_principal()
    announced = Announced(
        body["kind"],
        body["apiVersion"],
        body["encoding"],
        body["sha256"],
        body["size"],
    )
    signed = Uploads(settings.uploads).sign(
        announced, principal.name, principal.scope, any_scope=principal.any_scope
    )
    return {
        "url": signed.url,
        "method": "PUT",
        "headers": dict(signed.headers),
        "expiresInSeconds": signed.seconds,
    }
