"""What an ASGI server hands to an application, and the body of a request as it arrives."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import IO, Any, Final, NoReturn, Protocol

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Reply(Protocol):
    """Who waits for the answer to a whole request that became no scope and no messages."""

    def created(self, lines: bytes, body: bytes) -> None:
        """201; ``lines`` are headers as they go on the wire, each with its end."""

    def hand_on(self, known: Mapping[str, Any]) -> None:
        """The application shall answer it; its scope gets these entries too."""


Take = Callable[[bytes, Reply], None]
"""Takes the body of a request whose head it knows; returns at once, and is answered later."""
Recognise = Callable[[Scope], Take | None]
"""How requests with a head like this one's are taken; None: the application is asked each time."""

_SMALL: Final = 64 * 1024
IN_MEMORY: Final = 512 * 1024
"""Bytes of a body that are kept in memory while the rest is awaited; two thousand connections may
each bring one, and be in no hurry."""


class Gone(Exception):
    """Who asked has left before the request was whole; there is nobody to answer."""


class Names(dict[str, str]):
    """Headers by their names in lower case, asked for in any."""

    def get(self, key: str, default: Any = None, /) -> Any:
        """Its value, or ``default``."""
        return super().get(key.lower(), default)


def named(scope: Scope) -> Names:
    """The headers of a request; what is given twice is one list (RFC 9110, 5.3)."""
    found = Names()
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]},{text}" if key in found else text
    return found


async def read_body(
    receive: Receive, limit: int, refuse: Callable[[], NoReturn]
) -> bytes | IO[bytes]:
    """The whole body, a large one as a file, which the caller closes; ``refuse`` is called for one
    of more than ``limit`` bytes, once it is over.

    What is beyond the limit is heard and dropped: a client that is cut off while it sends does not
    see the answer. Raises Gone.
    """
    message = await _heard(receive)
    first: bytes = message.get("body", b"")
    if not message.get("more_body") and len(first) <= limit:
        return first
    body = await _collected(receive, message, limit)
    if body.tell() <= limit and body.tell() > _SMALL:
        return body
    with body:
        if body.tell() > limit:
            refuse()
        body.seek(0)
        return body.read()


async def read_file(receive: Receive, limit: int) -> IO[bytes] | None:
    """The whole body as a file at its start; None for one of more than ``limit`` bytes."""
    body = await _collected(receive, await _heard(receive), limit)
    if body.tell() > limit:
        body.close()
        return None
    body.seek(0)
    return body


async def _collected(receive: Receive, message: Message, limit: int) -> IO[bytes]:
    """At its end; of what is beyond ``limit`` only that there is some."""
    body: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the caller's
    try:
        while True:
            body.write(message.get("body", b"")[: limit + 1 - body.tell()])
            if not message.get("more_body"):
                return body
            message = await _heard(receive)
    except BaseException:
        body.close()
        raise


async def _heard(receive: Receive) -> Message:
    message = await receive()
    if message["type"] != "http.request":
        raise Gone
    return message
