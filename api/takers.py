"""What is posted to the paths that take documents, and what is answered: the parts of both roads.

``express`` drives them for any request, ``passage`` for a small one whose head is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from werkzeug.exceptions import RequestEntityTooLarge

from api.bodies import gunzip
from api.exchange import HEADER, Exchange, tell, tells_all
from api.intake import Documents, Reading
from api.security import HEADERS
from api.service import Service
from api.settings import Settings
from graph_model.keys import Role
from graph_model.store import DocumentKind

ERROR: Final = "headwater.error"
"""Where an error waits, in a scope and in an environment, to be raised inside the application."""
ADMITTED: Final = "headwater.admitted"
"""Whom the guard has let in already, in the scope of a request that turned out to be much work."""
PRODUCER: Final = frozenset({Role.PRODUCER})
CREATED: Final = 201
LIGHT: Final = 64 * 1024
"""Bytes on the wire that the event loop reads by itself; what follows in a second waits for it."""
_LIGHT_INFLATED: Final = 256 * 1024
_LIGHT_OBJECTS: Final = 400


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request brought, and the JSON of its 201; empty where there is nothing to say."""

    kind: DocumentKind
    number: int
    body: str = ""


@dataclass(frozen=True, slots=True)
class Taker:
    """What is posted to a path: ``version`` of a Content-Type (raises 415), how it is read, for how
    many seconds the graph is waited for, and what is answered.
    """

    version: Callable[[str | None], str]
    reading: Reading
    wait: Callable[[Settings], float]
    answer: Callable[[Documents], Answer]


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request that is being taken: when that began in seconds that never go back, the bytes of
    its body, and who sent it.
    """

    path: str
    began: float
    length: int
    principal: str


def account(answer: Answer, arrived: Arrived, now: float, service: Service) -> bytes:
    """The body of a 201, once what is measured and logged of the request has been told."""
    body = answer.body.encode()
    path, took = arrived.path, now - arrived.began
    service.metrics.received(answer.kind.value, answer.number)
    service.metrics.answered("POST", path, CREATED, took)
    if tells_all():
        sizes = (len(body), arrived.length)
        tell(Exchange("POST", path, path, CREATED, took, *sizes, arrived.principal))
    return body


class Heavy(Exception):
    """A small body that is a lot of work."""


def inflate_light(raw: bytes, *, packed: bool) -> bytes:
    """The document. Raises Heavy for one that the event loop shall not read."""
    try:
        body = gunzip(raw, limit=_LIGHT_INFLATED) if packed else raw
    except RequestEntityTooLarge:
        raise Heavy from None
    if body.count(b"{") > _LIGHT_OBJECTS:  # ten thousand times {} are 71 bytes on the wire
        raise Heavy
    return body


def light(*, packed: bool) -> Callable[[bytes], bytes]:
    """``inflate_light`` of a packed body, or of one that is not."""
    return _LIGHT_READERS[packed]


_LIGHT_READERS: Final = tuple(partial(inflate_light, packed=packed) for packed in (False, True))


# --- headers of a 201 ----------------------------------------------------------------------------


def created_headers(request_id: str, body: bytes) -> list[tuple[bytes, bytes]]:
    """Of an answer with this body."""
    kind = [(b"Content-Type", b"application/json")] if body else []
    length = (b"Content-Length", str(len(body)).encode())
    return [*kind, length, *_FIXED, (HEADER.encode(), request_id.encode())]


_FIXED: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def created_lines(request_id: str, body: bytes) -> bytes:
    """The same headers as they go on the wire."""
    kind = b"Content-Type: application/json\r\n" if body else b""
    return b"%bContent-Length: %d\r\n%b%b\r\n" % (
        kind, len(body), _FIXED_LINES, request_id.encode(),
    )  # fmt: skip


_FIXED_LINES: Final = b"".join(b"%b: %b\r\n" % one for one in _FIXED) + HEADER.encode() + b": "
