"""Signatures of AWS (version 4) on requests, as SDKs make them: pure.

    Authorization: AWS4-HMAC-SHA256 Credential=<key id>/20260301/eu-west-1/datazone/aws4_request,
                   SignedHeaders=host;x-amz-date, Signature=<hex>

The signed text names the method, the path and the query as they were sent, some headers and the
SHA-256 of the body. A signature holds for 15 minutes around its time. Rules: "Signature Version 4
for API requests" in AWS's Identity and Access Management User Guide.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from graph_model.errors import WrongSignature

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SKEW_MS: Final = 15 * 60 * 1000
SERVICE: Final = "datazone"
_END: Final = "aws4_request"
_NEEDED: Final = frozenset({"host", "x-amz-date"})
_MOST_HEADERS: Final = 50
_FORM: Final = re.compile(
    rf"{ALGORITHM} +Credential=([\w-]{{1,128}})/(\d{{8}})/([a-z0-9-]{{1,64}})/([a-z0-9-]{{1,64}})"
    rf"/{_END}, *SignedHeaders=([a-z0-9;-]{{1,2000}}), *Signature=([0-9a-f]{{64}})"
)
_TIME: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as it was sent: ``path`` and ``query`` encoded, names of ``headers`` in lower
    case.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class AwsSignature:
    """The parts of an ``Authorization`` header: who signed which headers, for what."""

    key_id: str
    day: str
    region: str
    service: str
    headers: tuple[str, ...]
    value: str


def is_signed(authorization: str) -> bool:
    """Whether a header carries a signature of AWS, of whatever form."""
    return authorization.startswith("AWS4-")


def read_signature(authorization: str, date: str, now: int) -> AwsSignature:
    """The parts of the header; ``date`` is that of X-Amz-Date, ``now`` epoch ms.

    Raises WrongSignature for another form, another service, and a time 15 minutes away.
    """
    match = _FORM.fullmatch(authorization)
    if match is None:
        raise WrongSignature(f"expected {ALGORITHM} with Credential, SignedHeaders and Signature")
    key_id, day, region, service, headers, value = match.groups()
    signature = AwsSignature(key_id, day, region, service, tuple(headers.split(";")), value)
    if service != SERVICE:
        raise WrongSignature(f"it is for the service {service}, not {SERVICE}")
    if not _NEEDED.issubset(signature.headers) or len(signature.headers) > _MOST_HEADERS:
        raise WrongSignature(f"SignedHeaders: expected {' and '.join(sorted(_NEEDED))} among them")
    try:
        at = datetime.strptime(date, _TIME).replace(tzinfo=UTC).timestamp() * 1000
    except ValueError:
        raise WrongSignature("X-Amz-Date: expected a time as 20260301T101500Z") from None
    if abs(at - now) > SKEW_MS:
        raise WrongSignature("X-Amz-Date is more than 15 minutes away from the time here")
    if not date.startswith(day):
        raise WrongSignature("the day of Credential is not that of X-Amz-Date")
    return signature


def proves(signature: AwsSignature, request: SignedRequest, secret: str) -> bool:
    """Whether this secret made the signature of this request."""
    scope = f"{signature.day}/{signature.region}/{signature.service}/{_END}"
    text = _canonical(signature, request).encode()
    signed = "\n".join(
        [ALGORITHM, request.headers["x-amz-date"], scope, hashlib.sha256(text).hexdigest()]
    )
    key = f"AWS4{secret}".encode()
    for part in (signature.day, signature.region, signature.service, _END):
        key = hmac.digest(key, part.encode(), "sha256")
    expected = hmac.new(key, signed.encode(), "sha256").hexdigest()
    return hmac.compare_digest(expected, signature.value)


def _canonical(signature: AwsSignature, request: SignedRequest) -> str:
    headers = (
        f"{name}:{' '.join(request.headers.get(name, '').split())}\n"
        for name in sorted(signature.headers)
    )
    return "\n".join(
        [
            request.method.upper(),
            quote(_normal(request.path), safe="/~"),
            "&".join(f"{name}={value}" for name, value in sorted(_pairs(request.query))),
            "".join(headers),
            ";".join(sorted(signature.headers)),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )


def _normal(path: str) -> str:
    """Without empty parts and dots, which SDKs leave out of the signed path."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    end = "/" if path.endswith("/") and parts else ""
    return f"/{'/'.join(parts)}{end}"


def _pairs(query: str) -> list[tuple[str, str]]:
    """``b=2&a`` => (b, 2), (a, ""), as they are encoded."""
    parts = (part.partition("=") for part in query.split("&") if part)
    return [(name, value) for name, _, value in parts]
