# ruff: noqa: N815 - fields are spelled as on the wire
"""``POST /uploads``: a place in a bucket for a document larger than a gateway or a function takes.

The answer is no promise that the document is taken: the consumer checks it once the client has put
it, and sends one that can never be taken to the dead-letter queue with its reason (docs/queues.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flask import current_app
from marshmallow import Schema, ValidationError, fields, validates_schema

from api.http.blueprint import Blueprint
from api.http.rights import REPORTING, current_principal
from api.schemas.fields import Checked, Choice, Count, RequestBody, expecting
from api.settings import Settings
from graph_model.errors import InvalidFields, NotFound
from graph_model.producers.spline.documents import API_VERSIONS
from graph_model.stores.uploads import Announced, Uploads

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES: Final = 1 << 30


class Sha256(Checked):
    """A SHA-256 in hex."""

    expected = "the SHA-256 of the bytes, 64 characters of lower-case hex"

    def read(self, value: Any) -> str:
        if not _SHA256.fullmatch(super().read(value)):
            raise ValueError(value)
        return str(value)


class UploadRequest(RequestBody):
    """``size`` and ``sha256`` are of the bytes that are to be put, compressed if they are.
    ``event``: one of Spline, or a list; ``lineage``: one of OpenLineage, or a list.
    """

    kind = Choice(("plan", "event", "lineage"), required=True)
    apiVersion = fields.String(load_default="", error_messages=expecting("a text"))
    encoding = Choice(("identity", "gzip"), load_default="identity")
    size = Count(_MOST_BYTES, required=True)
    sha256 = Sha256(required=True)

    @validates_schema
    def check_version(self, data: Any, **_: Any) -> None:
        """A document of Spline has a version, one of OpenLineage none."""
        known = () if data["kind"] == "lineage" else API_VERSIONS
        if data["apiVersion"] not in (known or ("",)):
            expected = f"one of {', '.join(known)}" if known else "none: an event names its own"
            raise ValidationError(expected, "apiVersion")


class UploadReply(Schema):
    """A PUT to ``url`` with exactly these headers, before ``expiresInSeconds`` have passed."""

    url = fields.String(required=True)
    method = fields.String(required=True)
    headers = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    expiresInSeconds = fields.Integer(required=True)


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
