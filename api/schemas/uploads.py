# ruff: noqa: N815 - fields are spelled as on the wire
"""The body and the answer of ``POST /uploads``."""

from __future__ import annotations

import re
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validates_schema

from api.schemas.commands import Count
from api.schemas.fields import Checked, RequestBody, expecting
from api.schemas.query import Choice
from graph_model.producers.spline.documents import API_VERSIONS

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
