"""Connections: uvicorn's, with bounds, and with the one error body for what is no HTTP.

uvicorn answers a broken request in text of its own, waits for ever for a request that never ends,
and reads heads of any length.

Nearly all requests are small, have a head that came before, and come to a connection that has
nothing else to do. Such a one (``Brief``) passes by uvicorn's parser, scopes, tasks and messages.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from socket import socket
from typing import Any, Final, cast

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.arriving import Application, Recognise, Scope, Take
from api.brief import Brief
from api.heads import read_head
from api.refusals import refusal

MOST_HEAD: Final = 262_144
"""Bytes of a request's line and headers."""
_MOST_CONNECTIONS: Final = 2_000
"""Idle ones included; the next one is hung up on."""
_SILENT_SECONDS: Final = 120
"""How long a connection stays that says nothing: between requests, or in the middle of one."""
_LOOK_TICKS: Final = 300  # of a tenth of a second
_HEED_SECONDS: Final = 0.25
"""After so long at most a signal that another thread was given is heeded."""
_END_SECONDS: Final = 5
_HEAD: Final = "a request of HTTP/1.1"
_OFFER: Final = (b"connection", b"upgrade")
_CONTINUE: Final = b"HTTP/1.1 100 "
_BRIEF: Final = 64 * 1024
"""Bytes of a body."""
_MOST_HEADS: Final = 1_024
_NOT_BRIEF: Final = frozenset({b"expect", b"transfer-encoding", b"upgrade"})
_KEPT: Final = b"\r\n"
_CLOSED: Final = b"Connection: close\r\n\r\n"


_SPELLINGS: Final = {
    b"absa-spline-api-version": b"ABSA-Spline-API-Version",
    b"absa-spline-api-lts-version": b"ABSA-Spline-API-LTS-Version",
    b"absa-spline-accept-request-encoding": b"ABSA-Spline-Accept-Request-Encoding",
    b"www-authenticate": b"WWW-Authenticate",
    b"etag": b"ETag",
}


class Spelling:
    """A transport that writes names of headers as people and scripts look for them.

    Names have no case, and uvicorn writes them small; Spline documents ``ABSA-Spline-API-Version``.
    A head goes with what follows it: to send costs the system as much for ten bytes as for all.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._at_head = True
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._at_head and not data.startswith(_CONTINUE):
            self._at_head = False
            self._head = spell(data)
        else:
            self._transport.write(self._head + data)
            self._head = b""

    def end(self) -> None:
        """What is written next begins an answer."""
        if self._head:
            self._transport.write(self._head)
        self._head, self._at_head = b"", True

    def close(self) -> None:
        self.end()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def spell(head: bytes) -> bytes:
    """``content-type: text/html`` => ``Content-Type: text/html``, in each line but the first."""
    first, *lines = head.split(b"\r\n")
    return b"\r\n".join((first, *map(_spell_line, lines)))


def _spell_line(line: bytes) -> bytes:
    name, colon, value = line.partition(b":")
    return _spell_name(name) + colon + value if colon else line


@lru_cache(maxsize=4)  # the date is another one every second
def _opening(code: int, *headers: tuple[bytes, bytes]) -> bytes:
    """The first line of an answer, and what the server says of itself in every one."""
    lines = (b"%b: %b" % header for header in headers)
    phrase = HTTPStatus(code).phrase.encode()
    return spell(b"HTTP/1.1 %d %b\r\n%b\r\n" % (code, phrase, b"\r\n".join(lines)))


@lru_cache(maxsize=256)
def _spell_name(name: bytes) -> bytes:
    return _SPELLINGS.get(name) or name.title()


class Refused(Exception):
    """Raised in a callback of the parser, which goes no further."""


class Connection(HttpToolsProtocol):
    """One connection, with the bounds above; a body beyond ``most_bytes`` is refused unread."""

    most_bytes: int
    recognise: Recognise
    heads: dict[bytes, Take]
    """How requests are taken by their heads, without length: those that came once."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._plain = transport
        self._spelling = Spelling(transport)
        super().connection_made(cast(asyncio.Transport, self._spelling))
        self._heard_at = self.loop.time()
        self._unsent = 0
        self._broken = False
        self._trailer_bytes = self._body_bytes = 0
        self._head_bytes = 0
        self._in_head = False
        self._between = True
        self._lines: bytes | None = None
        self._brief: Brief | None = None
        self._held = b""
        self._known: Mapping[str, Any] = {}
        self._refusal = (400, f"expected {_HEAD}")
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self.loop.time()
        if self._held:
            self._held += data
        elif self._brief is not None:
            self._hear(self._brief, data)
        elif not self._begins_brief(data):
            self._parse(data)

    # --- brief requests ---------------------------------------------------------------------------

    def _begins_brief(self, data: bytes) -> bool:
        """Whether a request begins here that needs no parser; else its head may be remembered."""
        head = read_head(data) if self._is_free() else None
        if head is None or not 0 < head.length <= _BRIEF:
            return False
        take = self.heads.get(head.lines)
        if take is None:
            self._lines = head.lines
            return False
        self._unset_keepalive_if_required()
        self._brief = Brief(self, take, data[: head.size], head.length)
        self.cycle = cast(RequestResponseCycle, self._brief)
        self._hear(self._brief, data[head.size :])
        return True

    def _is_free(self) -> bool:
        """Whether the parser is between two requests, and every answer has been sent."""
        answered = self.cycle is None or self.cycle.response_complete
        idle = answered and self._between and not self.pipeline
        return idle and not (self.flow.write_paused or self._plain.is_closing())

    def _hear(self, brief: Brief, data: bytes) -> None:
        """What comes before the answer is held back, and no more of it is read."""
        arriving = brief.more_body
        self._held = brief.hear(data)
        if self._held:
            self.flow.pause_reading()
        if arriving and not brief.more_body:
            brief.begin()

    def answer(self, code: int, lines: bytes, body: bytes, *, keep_alive: bool) -> None:
        """See ``brief.Connection``. Who is silent after it is hung up on at the next look."""
        self._brief = None
        if self._plain.is_closing():
            return
        opening = _opening(code, *self.server_state.default_headers)
        self._plain.write(opening + lines + (_KEPT if keep_alive else _CLOSED) + body)
        self.server_state.total_requests += 1
        if not keep_alive:
            self._plain.close()
        elif self._held:
            self.loop.call_soon(self._release)

    def hear_again(self, request: bytes, known: Mapping[str, Any], *, keep_alive: bool) -> None:
        """See ``brief.Connection``."""
        self._brief, self._known = None, known
        self.cycle = cast(RequestResponseCycle, None)
        self._parse(request)
        if self.cycle is not None:  # else the parser has refused it
            self.cycle.keep_alive &= keep_alive
        if self._held:
            self.loop.call_soon(self._release)

    def _release(self) -> None:
        held, self._held = self._held, b""
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.data_received(held)

    def give_up(self) -> None:
        """Answer what the service cannot wait for any longer."""
        if self._brief is not None:
            self._brief.give_up()

    def _remember(self, lines: bytes) -> None:
        if not self._may_be_brief():
            return
        take = self.recognise(cast(Scope, self.scope))
        if take is not None:
            if len(self.heads) >= _MOST_HEADS:
                self.heads.clear()
            self.heads[lines] = take

    def _may_be_brief(self) -> bool:
        names = [name for name, _ in self.headers]
        kept = self.scope["http_version"] == "1.1" and self.parser.should_keep_alive()
        return kept and _NOT_BRIEF.isdisjoint(names) and names.count(b"content-length") == 1

    # --- every other request ----------------------------------------------------------------------

    def _parse(self, data: bytes) -> None:
        while data:
            self._received, self._rest = data, b""
            super().data_received(data)
            data = self._rest
        self._head_bytes = self._head_bytes + len(self._received) if self._in_head else 0
        if self._head_bytes >= MOST_HEAD and not self.transport.is_closing():
            self._refusal = (431, f"expected a head of less than {MOST_HEAD:,} bytes")
            self.send_400_response("")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._between = False
        self._in_head = True
        self._trailer_bytes = self._body_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """What stands behind a body is no header: nobody before us has looked at it."""
        if self._in_head:
            super().on_header(name, value)
            return
        self._trailer_bytes += len(name) + len(value)
        if self._trailer_bytes >= MOST_HEAD:
            self._refusal = (431, f"expected trailers of less than {MOST_HEAD:,} bytes")
            raise Refused

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self.most_bytes:
            self._refuse_length()
        super().on_body(body)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self.parser.get_method() == b"CONNECT":
            self._refusal = (501, "this is no proxy")
            raise Refused
        length = self._length()
        if length > self.most_bytes:
            self._refuse_length()
        lines, self._lines = self._lines, None
        if self._known:
            cast(Scope, self.scope).update(self._known)
            self._known = {}
        super().on_headers_complete()
        if lines is not None:
            self._remember(lines)

    def on_message_complete(self) -> None:
        self._between = True
        super().on_message_complete()

    def _refuse_length(self) -> None:
        self._refusal = (413, f"the body is larger than {self.most_bytes:,} bytes")
        raise Refused

    def on_response_complete(self) -> None:
        self._spelling.end()
        if self._broken and not self.pipeline:
            self._refuse()
        else:
            super().on_response_complete()

    def _length(self) -> int:
        # The parser has refused what is no number, and two that differ.
        return next((int(text) for name, text in self.headers if name == b"content-length"), 0)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Answer what is refused, when all that came before it has its answer."""
        if self._is_answered():
            self.transport.close()
        elif self._answers_another():
            self._broken = True
            if self.pipeline and self.cycle.more_body:
                self.pipeline.popleft()  # the broken one itself, the last in the queue
            self.flow.pause_reading()
        else:
            self._refuse()

    def _refuse(self) -> None:
        code, message = self._reason()
        _, headers, body = refusal(code, message)
        head = b"".join(b"%b: %b\r\n" % header for header in headers)
        line = f"HTTP/1.1 {code} {HTTPStatus(code).phrase}\r\n".encode()
        self.transport.write(line + head + b"\r\n")
        self.transport.write(body)
        self.transport.close()

    def _is_answered(self) -> bool:
        """Whether the request that is broken was answered before it was whole."""
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

    def _answers_another(self) -> bool:
        """Whether an earlier request than the one that is broken has no answer yet."""
        if self.cycle is None or self.cycle.response_complete:
            return False
        own = self.cycle.more_body and not self.pipeline and not self.cycle.response_started
        return not own

    def _reason(self) -> tuple[int, str]:
        codings = [
            value.strip().lower()
            for name, value in self.headers or ()
            if name == b"transfer-encoding"
        ]
        lengths = [value for name, value in self.headers or () if name == b"content-length"]
        if codings and not lengths and codings != [b"chunked"]:
            return 501, "Transfer-Encoding: expected chunked or none"
        if codings and lengths:
            return 400, "Content-Length and Transfer-Encoding exclude each other"
        return self._refusal

    def _should_upgrade(self) -> bool:
        return True  # see below

    def handle_websocket_upgrade(self) -> None:
        """Read on as if no other protocol had been offered, which a server may (RFC 9110, 7.8).

        Java's client offers HTTP/2 with the first request of every connection, and after such an
        offer the parser stops for good: the request is given to a new one without the offer.
        """
        offer = cast(httptools.HttpParserUpgrade, sys.exception())
        version = self.parser.get_http_version().encode()
        head = [b"%b %b HTTP/%b\r\n" % (self.scope["method"].encode(), self.url, version)]
        head += [b"%b: %b\r\n" % one for one in self.headers if one[0] not in _OFFER]
        if self._wants_end():
            head.append(b"connection: close\r\n")
        rest = self._received[offer.args[0] :]
        self.parser = httptools.HttpRequestParser(self)
        self._rest = b"".join((*head, b"\r\n", rest))

    def _wants_end(self) -> bool:
        return any(b"close" in value.lower() for name, value in self.headers if name in _OFFER)

    def hang_up_if_silent(self, now: float) -> None:
        """Give up a client who is awaited too long: with a request, the rest of one, or to take
        its answer.
        """
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._heard_at = unsent, now
        answering = self.cycle is not None and not self.cycle.response_complete
        awaited = unsent > 0 or not answering or self.cycle.more_body
        if awaited and now - self._heard_at > _SILENT_SECONDS:
            self.transport.abort()


class _Server(uvicorn.Server):
    """Looks at its connections from time to time."""

    async def on_tick(self, counter: int) -> bool:
        if counter % _LOOK_TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in self._connections():
                connection.hang_up_if_silent(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in self._connections():
            connection.give_up()

    def _connections(self) -> list[Connection]:
        return [one for one in self.server_state.connections if isinstance(one, Connection)]


class Web:
    """An application on bound sockets. ``run`` serves until it is interrupted.

    The event loop has a thread of its own: the main one is where signals arrive. ``recognise``
    takes brief requests instead of the application.
    """

    def __init__(
        self,
        application: Application,
        sockets: Sequence[socket],
        most_bytes: int,
        recognise: Recognise = lambda _scope: None,
    ) -> None:
        bounds = {"most_bytes": most_bytes, "recognise": staticmethod(recognise), "heads": {}}
        config = uvicorn.Config(
            application,
            http=type("BoundedConnection", (Connection,), bounds),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_SILENT_SECONDS,
            timeout_graceful_shutdown=_END_SECONDS,
        )
        self._server = _Server(config)
        self._sockets = list(sockets)
        for one in self._sockets:
            one.listen(config.backlog)  # from here on nobody is refused: who comes early waits
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="http", daemon=True)

    def run(self) -> None:
        """Serve until an interrupt, which is raised again, or an error of the server itself."""
        self._thread.start()
        while not self._ended.wait(_HEED_SECONDS):
            pass  # of two signals at once another thread may get one, which wakes nobody here
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Take no more requests; those under way have a few seconds to end."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()

    def _serve(self) -> None:
        try:
            self._server.run(self._sockets)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()
