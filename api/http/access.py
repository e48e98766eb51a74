"""Access: the key of a request -> a principal -> allowed or refused.

    X-API-Key: hw_…              both agents can send either; a proxy may require a Basic
    Authorization: Bearer hw_…   login, which is left to it

Until the first key is made, every client may do everything: that is a laptop, and ``server``
refuses to listen beyond it. From the first key on every request needs one, except where a route
is open or a setting leaves a role to those without a key. Where a blueprint takes signatures of AWS
(``most_signed``), a request that is signed with the secret of a key counts as one that carries it.

A route that only reads needs a reader, one that changes something an admin, unless its blueprint
names another right (``rights``). So a new route is closed until it names one.

The rate of a key is one token bucket, kept by this process. A bucket holds a minute's worth
of requests, so a job that reports a plan and its events at once is not held up; it fills evenly.
Several processes behind one address each grant the rate.

Signatures of AWS (version 4) are those that SDKs make:

    Authorization: AWS4-HMAC-SHA256 Credential=<key id>/20260301/eu-west-1/datazone/aws4_request,
                   SignedHeaders=host;x-amz-date, Signature=<hex>

The signed text names the method, the path and the query as they were sent, some headers and the
SHA-256 of the body. A signature holds for 15 minutes around its time. Rules: "Signature Version 4
for API requests" in AWS's Identity and Access Management User Guide.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from urllib.parse import quote

from flask import Flask, request
from werkzeug.wsgi import get_input_stream

from api.http.blueprint import (
    ANONYMOUS_NAME,
    EVERYBODY,
    READING,
    READING_METHODS,
    Blueprint,
    Principal,
    admit,
    sent_path,
)
from api.http.bodies import read_bounded
from graph_model.errors import NotAllowed, NotAuthenticated, TooManyRequests, WrongSignature
from graph_model.stores.keys import Key, signing_secret
from graph_model.values import Role

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


API_KEY_HEADER: Final = "X-API-Key"
_BEARER: Final = "bearer"
_PREFLIGHT: Final = "OPTIONS"
FILES: Final = frozenset({"api-docs", "pages"})
"""Blueprints of files, the page's and the API description: they are open to everybody."""


class Rates:
    """``clock`` gives seconds that never go back. Safe from several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # key id -> (tokens, at)

    def take(self, key_id: str, rate_per_minute: int) -> int:
        """Take one request: 0, or the whole seconds (at least 1) until there is one again.

        A rate of 0 is no limit.
        """
        if rate_per_minute <= 0:
            return 0
        now = self._clock()
        with self._lock:
            tokens, at = self._buckets.get(key_id, (float(rate_per_minute), now))
            tokens = min(rate_per_minute, tokens + (now - at) * rate_per_minute / 60)
            enough = tokens >= 1
            self._buckets[key_id] = (tokens - 1 if enough else tokens, now)
        return 0 if enough else max(1, math.ceil((1 - tokens) * 60 / rate_per_minute))


class Headers(Protocol):
    """Names in any case."""

    def get(self, key: str, default: str, /) -> str: ...


class Keys(Protocol):
    """Where keys are looked up (``graph_model.stores.keys.SqlKeys``)."""

    def exist(self) -> bool:
        """Whether a key was ever made."""

    def find(self, text: str) -> Key | None:
        """The key of this text, unless it was revoked."""

    def signer(self, identifier: str) -> Key | None:
        """The key of this id, if it may sign and was not revoked."""


class NoKeys:
    """No key was made yet."""

    def exist(self) -> bool:
        return False

    def find(self, text: str) -> Key | None:  # noqa: ARG002 - there is none
        return None

    def signer(self, identifier: str) -> Key | None:  # noqa: ARG002 - there is none
        return None


def needed_role(app: Flask, endpoint: str, method: str) -> Role | None:
    """The role that a caller needs (an admin has them all); None for an open route.

    ``endpoint`` is Flask's: ``graph.lineage``, ``producer_at_root.status``.
    """
    name = endpoint.rpartition(".")[0]
    if name in FILES:
        return None
    blueprint = app.blueprints.get(name)
    access = blueprint.access_of(endpoint) if isinstance(blueprint, Blueprint) else READING
    return access.needed(method)


def presented_key(headers: Headers) -> str | None:
    """The key that a request carries; None when it carries none.

    Raises NotAuthenticated for two that differ: which of them was meant cannot be known.
    """
    given = headers.get(API_KEY_HEADER, "").strip()
    scheme, _, token = headers.get("Authorization", "").strip().partition(" ")
    bearer = token.strip() if scheme.lower() == _BEARER else ""
    if given and bearer and given != bearer:
        raise NotAuthenticated(f"{API_KEY_HEADER} and Authorization carry two different keys")
    return given or bearer or None


class Guard:
    """Decides on requests. ``anonymous`` are the roles of callers without a key; ``installation``
    reads the key of this installation, None where there is none.
    """

    def __init__(
        self,
        keys: Keys,
        anonymous: frozenset[Role],
        rates: Rates,
        installation: Callable[[], bytes | None] = lambda: None,
    ) -> None:
        self._keys = keys
        self._anonymous = Principal(ANONYMOUS_NAME, anonymous)
        self._rates = rates
        self._installation = installation

    def admitted(self, text: str | None, needed: Role) -> Principal:
        """The principal of this key (None: no key) if it has this role.

        Raises NotAuthenticated, NotAllowed, TooManyRequests or Unavailable.
        """
        if not self._keys.exist():
            return EVERYBODY
        if text is None:
            return self._without_key(needed)
        key = self._keys.find(text)
        if key is None:
            raise NotAuthenticated("this API key is not known here, or was revoked")
        return self._let_in(key, needed)

    def admitted_signed(
        self, authorization: str, date: str, now: int, read: Callable[[], SignedRequest],
        needed: Role,
    ) -> Principal:  # fmt: skip
        """The principal of the key that signed, if it has this role. ``read`` takes the body, and
        is called only for a key that is known.

        Raises WrongSignature, NotAllowed, TooManyRequests, Unavailable, and what ``read`` raises.
        """
        if not self._keys.exist():
            return EVERYBODY
        signature = read_signature(authorization, date, now)
        key, installation = self._keys.signer(signature.key_id), self._installation()
        if key is None and self._anonymous.may(needed):
            return self._anonymous  # a client that can send no key signs with any
        if (
            key is None
            or installation is None
            or not proves(signature, read(), signing_secret(installation, key.id))
        ):
            raise WrongSignature("no key that signs here (headwater keys create --aws) made it")
        return self._let_in(key, needed)

    def _let_in(self, key: Key, needed: Role) -> Principal:
        if wait := self._rates.take(key.id, key.rate_per_minute):
            raise TooManyRequests(key.name, key.rate_per_minute, wait)
        principal = Principal(key.name, key.roles, key.scope, key.any_scope)
        if not principal.may(needed):
            raise NotAllowed(key.name, _named(needed))
        return principal

    def _without_key(self, needed: Role) -> Principal:
        if self._anonymous.may(needed):
            return self._anonymous
        raise NotAuthenticated(
            f"an API key is needed: send it as {API_KEY_HEADER}, or as Authorization: Bearer; "
            "the headwater command sends that in HEADWATER_API_KEY"
        )


def _named(needed: Role) -> tuple[str, ...]:
    """``reader`` => (reader, admin)."""
    return tuple(dict.fromkeys((needed.value, Role.ADMIN.value)))


def guard_requests(app: Flask, guard: Guard, clock: Callable[[], int]) -> None:
    """Let every request of this app pass by the guard, before anything of it is read but the body
    of a signed one. ``clock`` gives epoch ms.
    """

    def check() -> None:
        endpoint = request.endpoint
        if endpoint is None or request.method == _PREFLIGHT:
            return  # nothing is served there; a browser's preflight request carries no key
        needed = needed_role(app, endpoint, request.method)
        if needed is None:
            return
        key, header = presented_key(request.headers), request.headers.get("Authorization", "")
        blueprint = app.blueprints.get(endpoint.rpartition(".")[0])
        most = blueprint.most_signed if isinstance(blueprint, Blueprint) else None
        if key is None and most is not None and is_signed(header):
            date = request.headers.get("X-Amz-Date", "")
            principal = guard.admitted_signed(
                header, date, clock(), lambda: _signed_request(most), needed
            )
        else:
            principal = guard.admitted(key, needed)
        if needed is Role.ADMIN and request.method not in READING_METHODS:
            principal.check_unbounded()
        admit(principal)

    app.before_request(check)


def _signed_request(most: int) -> SignedRequest:
    """The current request, with a body of at most ``most`` bytes, which its view reads again.

    Raises DocumentTooLarge.
    """
    environ = request.environ
    body = read_bounded(get_input_stream(environ), most)
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))
    headers = {name.lower(): value for name, value in request.headers.items()}
    query = str(environ.get("QUERY_STRING", ""))
    return SignedRequest(request.method, sent_path(environ), query, headers, body)


SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": API_KEY_HEADER,
        "description": "A key of headwater keys create; needed once one was made.",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The same key as Authorization: Bearer.",
    },
}

SECURITY: Final[list[dict[str, list[str]]]] = [{"apiKey": []}, {"bearer": []}, {}]
"""Either of them, or none where no key was made or a role is left to anonymous callers."""
