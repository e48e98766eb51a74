# ruff: noqa: N815 - fields are spelled as on the wire
"""The producer API of Spline, as its agents speak it; at the root and under ``/producer``.

An agent sends ``HEAD /status`` once: a 2xx with one header line per version, or it switches itself
off. It never looks at bodies of answers, but scripts splice the plan's answer into an event, so
that is exactly the quoted id. Redirects count as success there and lose the document: paths are
normalised before routing (``http.blueprint.normalise_paths``).

``POST /uploads`` names a place in a bucket for a document larger than a gateway or a function
takes. The answer is no promise that the document is taken: the consumer checks it once the client
has put it, and sends one that can never be taken to the dead-letter queue with its reason
(docs/queues.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from flask import Response, current_app, request
from marshmallow import Schema, ValidationError, fields, validates_schema

from api.http.blueprint import REPORTING, Blueprint, current_principal
from api.http.bodies import CONTENT_TYPES, api_version
from api.intake.documents import (
    ANY_SIZE,
    LARGE,
    Documents,
    Reading,
    count_refusals,
    created,
    current_delivery,
    prepare_events,
    prepare_plans,
    take,
)
from api.schemas.fields import Checked, Choice, Count, RequestBody, expecting
from api.service import current_service
from api.settings import Settings
from graph_model.errors import InvalidFields, NotFound
from graph_model.producers.spline.documents import API_VERSIONS as DOCUMENT_VERSIONS
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.uploads import Announced, Uploads

API_VERSIONS: Final = ("1.2", "1.1", "1")
LONG_TERM_VERSIONS: Final = ("1.2", "1.1")
PATHS: Final = ("/status", "/execution-plans", "/execution-events")
PREFIXES: Final = ("", "/producer")
_PLANS: Final = Reading(PLAN_KIND, prepare_plans, ANY_SIZE)
_EVENTS: Final = Reading(EVENT_KIND, prepare_events, LARGE)

blueprint = Blueprint(
    "producer",
    __name__,
    access=REPORTING,
    description="The producer API of Spline: at the root and under /producer",
)


def _object(required: str = "", **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    shape: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        shape["required"] = required.split()
    return {**shape, "additionalProperties": True}


def _list(items: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "array", "items": items}


def _or_null(shape: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**shape, "nullable": True}


_TEXT: Final = {"type": "string"}
_UUID: Final = {"type": "string", "format": "uuid"}
_ANY_OBJECT: Final = {"type": "object", "additionalProperties": True, "nullable": True}
_LABELS: Final = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": _TEXT},
    "nullable": True,
}
_OPERATION: Final[Mapping[str, Any]] = {
    "id": _TEXT,
    "name": _or_null(_TEXT),
    "childIds": _or_null(_list(_TEXT)),
    "params": _ANY_OBJECT,
    "extra": _ANY_OBJECT,
}
_OUTPUT: Final = _or_null(_list(_TEXT))
_WRITE: Final = _object(
    "id outputSource append childIds",
    **_OPERATION,
    outputSource=_TEXT,
    append={"type": "boolean"},
)
_READ: Final = _object("id inputSources", **_OPERATION, inputSources=_list(_TEXT), output=_OUTPUT)
_PARTS: Final = _or_null(_list(_object("id name")))
_PRODUCT: Final = _object("name version", name=_TEXT, version=_TEXT)

PLAN_SHAPE: Final = _object(
    "operations systemInfo",
    id=_or_null(_UUID),
    name=_or_null(_TEXT),
    discriminator=_or_null(_TEXT),
    labels=_LABELS,
    operations=_object(
        "write",
        write=_WRITE,
        reads=_or_null(_list(_READ)),
        other=_or_null(_list(_object("id", **_OPERATION, output=_OUTPUT))),
    ),
    attributes=_PARTS,
    expressions=_or_null(_object(functions=_PARTS, constants=_or_null(_list(_object("id value"))))),
    systemInfo=_PRODUCT,
    agentInfo=_or_null(_PRODUCT),
    extraInfo=_ANY_OBJECT,
)
"""A plan for the OpenAPI document; ``producers.spline.documents`` reads it."""

EVENT_SHAPE: Final = _object(
    "planId timestamp",
    planId=_UUID,
    timestamp={"type": "integer", "description": "Epoch milliseconds at the end."},
    durationNs={"type": "integer", "nullable": True},
    discriminator=_or_null(_TEXT),
    labels=_LABELS,
    error={"nullable": True},
    extra=_ANY_OBJECT,
)

count_refusals(blueprint, {"execution_plans": PLAN_KIND, "execution_events": EVENT_KIND})


@blueprint.route("/status")
@blueprint.doc(summary="The handshake", responses={200: {"description": "Documents are taken"}})
def status() -> Response:
    """The supported API versions; 503 when documents cannot be made durable now.

    ``ABSA-Spline-API-Version`` comes as one header line per version.
    """
    current_service().journal.ensure_taking()
    response = Response(status=200)
    for version in API_VERSIONS:
        response.headers.add("ABSA-Spline-API-Version", version)
    for version in LONG_TERM_VERSIONS:
        response.headers.add("ABSA-Spline-API-LTS-Version", version)
    response.headers.add("ABSA-Spline-Accept-Request-Encoding", "gzip")
    del response.headers["Content-Type"]
    return response


@blueprint.route("/execution-plans", methods=["POST"])
@blueprint.takes(PLAN_SHAPE, CONTENT_TYPES)
@blueprint.doc(
    summary="Take an execution plan",
    responses={
        201: {
            "description": "Durable; the plan's id",
            "content": {"application/json": {"schema": {"type": "string", "format": "uuid"}}},
        }
    },
)
def execution_plans() -> Response:
    """Durable when answered; the graph follows. A repeat is a 201 as well."""
    (plan,) = _taken(_PLANS)
    return created(PLAN_KIND, 1, json.dumps(plan.subject_key))


@blueprint.route("/execution-events", methods=["POST"])
@blueprint.takes(_list(EVENT_SHAPE), CONTENT_TYPES)
@blueprint.doc(
    summary="Take execution events", responses={201: {"description": "Durable; no body"}}
)
def execution_events() -> Response:
    """A list of events, all or none. One whose plan is not known yet waits for it."""
    return created(EVENT_KIND, len(_taken(_EVENTS)))


def _taken(reading: Reading) -> Documents:
    """The documents of the current request, durable."""
    version = api_version(request.headers.get("Content-Type"))
    wait = _settings().projection_wait_ms / 1000
    return take(reading, current_delivery(version), current_service(), wait).documents


def _settings() -> Settings:
    settings: Settings = current_app.config["HEADWATER"]
    return settings


# --- large documents, by way of a bucket ---------------------------------------------------------

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
        known = () if data["kind"] == "lineage" else DOCUMENT_VERSIONS
        if data["apiVersion"] not in (known or ("",)):
            expected = f"one of {', '.join(known)}" if known else "none: an event names its own"
            raise ValidationError(expected, "apiVersion")


class UploadReply(Schema):
    """A PUT to ``url`` with exactly these headers, before ``expiresInSeconds`` have passed."""

    url = fields.String(required=True)
    method = fields.String(required=True)
    headers = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    expiresInSeconds = fields.Integer(required=True)


uploads = Blueprint(
    "uploads", __name__, access=REPORTING, description="Large documents, by way of a bucket"
)


def require_place() -> None:
    """Before the body is looked at: a client need not mend a body that no place takes."""
    settings = _settings()
    if not settings.uploads:
        raise NotFound("place for uploads", reason="HEADWATER_UPLOADS is not set here")


uploads.before_request(require_place)


@uploads.route("/uploads", methods=["POST"])
@uploads.no_parameters
@uploads.arguments(UploadRequest, location="json")
@uploads.response(201, UploadReply)
def announce(body: Mapping[str, Any]) -> dict[str, Any]:
    """A URL, signed for one document, this client and fifteen minutes. 404 without
    HEADWATER_UPLOADS.
    """
    settings = _settings()
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
