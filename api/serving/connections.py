"""The HTTP server, and which connections it keeps.

Waitress holds a number of connections and leaves further ones waiting until another ends, so that
clients which say nothing would keep all others out, a health check included. Here a new connection
always comes in: at the bound the one closes that needs its place least.

    never sent a whole head  <  between two requests  <  in the middle of a body

A connection whose request is being answered stays. A health probe has a thread of its own: it
waits for no other request.
"""

from __future__ import annotations

import re
import resource
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from flask import Flask
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from api.settings import Settings

_FILES: Final = 8_192
_UNREADABLE: Final = 4
"""A body is heard to its end up to this multiple of the largest one, so that its sender sees the
413; beyond it the connection is cut off."""
_SPARE: Final = 10
"""Places kept free for those that come while others close."""
_MOST_HEAD: Final = 262_144
"""Bytes of a request's line and headers."""
_HEAD_SECONDS: Final = 10
"""How long a new connection may take for its first whole head."""
_YOUNG_SECONDS: Final = 1
"""How long a connection without a head counts as one that is about to send it."""
_SILENT_SECONDS: Final = 120
"""How long a silent connection stays open: between requests, or in the middle of one."""
_LOOK_SECONDS: Final = 5
"""How often the server looks for connections that took too long."""
_UNTAKEN_SECONDS: Final = 30
"""How long the system keeps a connection whose client reads nothing of an answer."""
_IN_MEMORY: Final = 256 * 1024
"""Bytes of a body, and of answers not sent yet, that a connection keeps in memory; the rest is in a
file."""
_UNSENT: Final = 16 * 1024 * 1024
"""Bytes of answers that a connection may leave unsent; the next one waits for its client."""
_PROBES: Final = ("/health/live", "/health/ready", "/about/liveness", "/about/readiness")
_PROXY_HEADERS: Final = frozenset({"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"})


class RequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Refuses a body with two lengths, and one in chunks that waitress does not read (HTTP/1.0,
    RFC 9112, 6.1): a proxy that believes otherwise would take what follows for another client's
    request. So with two hosts, or none in HTTP/1.1 (RFC 9112, 3.2).
    """

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        hosts = self.headers.get("HOST")
        if "," in hosts if hosts is not None else self.version == "1.1":
            raise ParsingError("Host: expected one")
        if _ENCODED.search(header_plus) is None:
            return
        if "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length: expected none beside Transfer-Encoding")
        if not self.chunked:
            raise ParsingError("Transfer-Encoding: expected chunked, and HTTP/1.1")


_ENCODED: Final = re.compile(rb"(?i)\r\ntransfer-encoding:")


class Connection(HTTPChannel):  # type: ignore[misc]
    """``spoke``: whether it ever sent a whole head."""

    parser_class = RequestParser
    spoke = False

    def received(self, data: bytes) -> bool:
        taken = bool(super().received(data))
        request = self.request  # None: the data ended with the end of a request
        self.spoke = self.spoke or request is None or bool(request.headers_finished)
        return taken

    @property
    def waits(self) -> bool:
        """Whether nothing is owed to the client."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def need(self, now: float) -> tuple[bool, bool, float]:
        """The least is closed first where another connection needs the place."""
        may_speak = self.spoke or now < self.creation_time + _YOUNG_SECONDS
        return may_speak, self.request is not None, self.last_activity


class HttpServer(TcpWSGIServer):  # type: ignore[misc]
    """Keeps at most ``most`` connections, ``most_of_peer`` of them from one address, and closes one
    for each that comes beyond.
    """

    channel_class = Connection
    most = most_of_peer = sys.maxsize

    def handle_accept(self) -> None:
        before = list(self.active_channels.values())
        known = set(before)
        super().handle_accept()
        for new in [channel for channel in self.active_channels.values() if channel not in known]:
            address = new.addr[0]
            peers = [
                channel
                for channel in before
                if channel.addr[0] == address and not channel.will_close
            ]
            if len(peers) >= self.most_of_peer:
                if not _close_least(peers, new.creation_time):  # all others are at work
                    new.will_close = True
            elif len(self.active_channels) > self.most:
                _close_least(before, new.creation_time)

    def maintenance(self, now: float) -> None:
        super().maintenance(now)
        for channel in self.active_channels.values():
            if not channel.spoke and channel.creation_time < now - _HEAD_SECONDS:
                channel.will_close = True


def _close_least(connections: Sequence[Connection], now: float) -> bool:
    """Close the one that needs its place least; False where an answer is owed to each."""
    waiting = [connection for connection in connections if connection.waits]
    if waiting:
        min(waiting, key=lambda connection: connection.need(now)).will_close = True
    return bool(waiting)


class RequestThreads(ThreadedTaskDispatcher):  # type: ignore[misc]
    """The threads that answer requests, and one for each path of ``_PROBES``: liveness does not
    wait for readiness either, which asks database and graph.
    """

    def __init__(self) -> None:
        super().__init__()
        self._of_probes = {path: ThreadedTaskDispatcher() for path in _PROBES}
        for threads in self._of_probes.values():
            threads.set_thread_count(1)

    def add_task(self, task: Connection) -> None:
        request = task.requests[0]
        probed = None if request.error else self._of_probes.get(request.path)
        if probed is None:
            super().add_task(task)
        else:
            probed.add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:
        for threads in self._of_probes.values():
            threads.shutdown(cancel_pending, timeout)
        return bool(super().shutdown(cancel_pending, timeout))


def allow_files() -> None:
    """Raise the limit of open files, which is 1,024 on many systems, for all connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def listening(app: Flask, settings: Settings, listener: socket.socket) -> Iterator[HttpServer]:
    """A server on a bound socket; ``run()`` serves until interrupted."""
    allow_files()
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # each connection has it from its listener
        milliseconds = 1000 * _UNTAKEN_SECONDS
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    adjustments = Adjustments(
        sockets=[listener],
        threads=settings.threads,
        ident=None,
        connection_limit=settings.connections,
        channel_timeout=_SILENT_SECONDS,
        cleanup_interval=_LOOK_SECONDS,
        max_request_header_size=_MOST_HEAD,
        max_request_body_size=_UNREADABLE * settings.max_body_bytes,
        inbuf_overflow=_IN_MEMORY,
        outbuf_overflow=_IN_MEMORY,
        outbuf_high_watermark=_UNSENT,
        log_socket_errors=False,  # a client that leaves is no news
        asyncore_use_poll=True,  # the default knows no more than 1,024 files
        **_proxy(settings),
    )
    threads = RequestThreads()
    threads.set_thread_count(adjustments.threads)
    place = (listener.family, listener.type, listener.proto, listener.getsockname())
    server = HttpServer(
        app, {}, True, listener, threads, adjustments, sockinfo=place, bind_socket=False
    )
    server.most = settings.connections - _SPARE
    if not settings.trusted_proxy:
        server.most_of_peer = settings.connections_per_peer
    try:
        yield server
    finally:
        server.close()


def _proxy(settings: Settings) -> dict[str, Any]:
    """The headers of a proxy that waitress trusts: it removes those of all other clients."""
    if not settings.trusted_proxy:
        return {}
    return {"trusted_proxy": settings.trusted_proxy, "trusted_proxy_headers": _PROXY_HEADERS}
