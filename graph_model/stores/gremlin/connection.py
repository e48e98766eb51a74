"""WebSockets to a Gremlin server that reconnect; gremlin_python's failures become our own here.

From gremlin_python come bytecode and its wire format (GraphBinary), not its connection pool: there
a dead socket is never replaced, a failed connect loses its place in the pool for ever, and after a
read timeout the late answer is taken for the answer to the next question. Here:

* a connection carries one request at a time, and one that failed in any way is never used again;
* an answer counts only when it bears the id of the request;
* every wait has an end: for a free connection, for the handshake, for the answer;
* a process that forked leaves its parent's sockets alone and opens its own.

Requests are bytecode only: no text is ever spliced into a query. All our requests may be sent twice
(upserts by id, removals, reads), so a request whose connection broke is simply sent again.
"""

from __future__ import annotations

import asyncio
import os
import random
import struct
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import aiohttp
from gremlin_python.driver.request import RequestMessage
from gremlin_python.driver.serializer import GraphBinarySerializersV1
from gremlin_python.process.traversal import Bytecode
from gremlin_python.structure.io.graphbinaryV1 import GraphBinaryWriter

from graph_model.errors import GraphRejected, GraphTimeout, GraphUnavailable
from graph_model.stores.gremlin import graphbinary
from graph_model.stores.gremlin.dialect import Dialect, FailureAction, judge
from graph_model.stores.gremlin.graphbinary import SERIALIZERS

Headers = Callable[[], Mapping[str, str]]
"""Returns the headers of a handshake; called at each one, so that a signature is always fresh."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a pool of connections; times in seconds."""

    connections: int = 8
    connect: float = 5.0  # a handshake
    wait: float = 10.0  # for a free connection
    answer: float = 30.0  # one answer, or one part of a streamed one
    grace: float = 2.0  # how much longer we listen than the server may compute
    stream: float = 900.0  # the whole of a streamed answer
    idle: float = 600.0  # an older idle connection is not trusted: Neptune ends it after 20 min
    message_bytes: int = 256 << 20  # one part of an answer
    batch_items: int = 1000  # items in one part of an answer


class Shrinkable(Exception):
    """A failure that a smaller request may avoid: the server lives, and was overloaded."""


_TOO_SLOW: Final = "the graph database did not answer in time"


class _AnsweredTimeout(Shrinkable, GraphTimeout):
    """The server gave up and answered; without an answer, a smaller request is no help."""


class _Strained(Shrinkable, GraphUnavailable):
    """The server has no memory for the request."""


class _TooLarge(Shrinkable, GraphRejected):
    """The request is larger than the server takes."""


class _Failure(Exception):
    """A request failed; ``verdict`` is the reaction. Never leaves this module."""

    def __init__(self, verdict: FailureAction, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


_SERIALIZER: Final = GraphBinarySerializersV1(writer=GraphBinaryWriter(SERIALIZERS))
_PARTIAL_CONTENT: Final = 206
_NO_CONTENT: Final = 204
_SUCCESS: Final = 200
_FULL: Final = (429, 502, 503, 504)  # statuses of a handshake, those of proxies included
_MESSAGE_TOO_BIG: Final = 1009  # a WebSocket close code
_DATA: Final = (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)

_Result = TypeVar("_Result")


class _Socket:
    """One WebSocket, one request in flight, used by one thread at a time.

    It owns an event loop that runs only inside its calls, in the caller's thread.
    """

    def __init__(self, url: str, headers: Mapping[str, str], limits: Limits) -> None:
        self._limits = limits
        self._loop = asyncio.new_event_loop()
        self._session: aiohttp.ClientSession | None = None
        self._websocket: Any = None
        self.used_at = 0.0
        try:
            self._run(self._connect(url, headers), limits.connect)
        except BaseException:
            self.close()
            raise

    async def _connect(self, url: str, headers: Mapping[str, str]) -> None:
        self._session = aiohttp.ClientSession()
        self._websocket = await self._session.ws_connect(
            url,
            headers=headers,
            max_msg_size=self._limits.message_bytes,
            timeout=aiohttp.ClientWSTimeout(ws_close=0.5),
        )

    def ask(self, request_id: str, payload: bytes, seconds: float) -> Iterator[list[Any]]:
        """Send a request and yield the parts of its answer; ``seconds`` for each part."""
        message = self._run(self._exchange(payload), seconds)
        while True:
            code, items = _open(message, request_id)
            yield items
            if code != _PARTIAL_CONTENT:
                return
            message = self._run(self._receive(), seconds)

    async def _exchange(self, payload: bytes) -> bytes:
        await self._websocket.send_bytes(payload)
        return await self._receive()

    async def _receive(self) -> bytes:
        message = await self._websocket.receive()
        if message.type in _DATA:
            data = message.data
            return data if isinstance(data, bytes) else str(data).encode()
        code = self._websocket.close_code
        if code == _MESSAGE_TOO_BIG:
            raise _Failure(
                FailureAction.TOO_LARGE, "a message is larger than the other side accepts"
            )
        raise _Failure(FailureAction.BROKEN, f"the server ended the connection (close code {code})")

    def _run(self, work: Awaitable[_Result], seconds: float) -> _Result:
        """Run to the end or to the time limit, and give every failure a verdict."""

        async def bounded() -> _Result:
            async with asyncio.timeout(seconds):
                return await work

        try:
            return self._loop.run_until_complete(bounded())
        except TimeoutError as failure:
            raise _Failure(FailureAction.TIMEOUT, f"no answer within {seconds:g} s") from failure
        except aiohttp.WSServerHandshakeError as failure:
            verdict = FailureAction.BUSY if failure.status in _FULL else FailureAction.REFUSED
            raise _Failure(verdict, f"handshake refused: HTTP {failure.status}") from failure
        except (aiohttp.ClientError, OSError) as failure:
            raise _Failure(
                FailureAction.BROKEN, str(failure) or type(failure).__name__
            ) from failure
        except aiohttp.http.WebSocketError as failure:
            raise _Failure(FailureAction.BROKEN, str(failure)) from failure

    def close(self) -> None:
        """End the connection; never raises, and takes at most about a second."""
        if self._loop.is_closed():
            return
        try:
            self._loop.run_until_complete(asyncio.wait_for(self._end(), 2.0))
        except (TimeoutError, OSError, aiohttp.ClientError, RuntimeError):
            pass  # it is being thrown away
        finally:
            self._loop.close()

    async def _end(self) -> None:
        if self._websocket is not None:
            await self._websocket.close()
        if self._session is not None:
            await self._session.close()
        await asyncio.sleep(0)  # lets the transport report its end, else it warns later


def _open(message: bytes, request_id: str) -> tuple[int, list[Any]]:
    """Decode one part of an answer: its status code and items. Raises for an error status."""
    try:
        answer = graphbinary.answer(message)
    except ValueError as failure:
        raise _Failure(FailureAction.BROKEN, str(failure)) from failure
    if answer.request_id not in (request_id, None):
        raise _Failure(FailureAction.BROKEN, "an answer to another request")
    if answer.code not in (_SUCCESS, _NO_CONTENT, _PARTIAL_CONTENT):
        raise _ServerError(answer.code, answer.message)
    return answer.code, answer.items


class _ServerError(Exception):
    """The server's own words; the dialect turns them into a verdict."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(slots=True)
class _Pool:
    """The connections of one process. ``busy`` counts those lent out."""

    process: int
    free: threading.Condition = field(default_factory=threading.Condition)
    idle: list[_Socket] = field(default_factory=list)
    busy: int = 0


# Sockets that a fork copied belong to the parent. Dropping them would close them politely, on the
# parent's wire, so they are kept here for good.
_INHERITED: Final[list[_Pool]] = []


class Connections:
    """A pool of connections to one server; safe to use from any number of threads.

    Not from a thread that runs an event loop: each connection runs one of its own in the caller's
    thread.

    ``explain`` may know why the server is down (an engine that ran out of memory); its text goes
    with GraphUnavailable. ``clock``, ``sleep`` and ``chance`` (0 <= chance() < 1) are seams for
    tests.
    """

    def __init__(
        self,
        url: str,
        dialect: Dialect,
        *,
        limits: Limits | None = None,
        headers: Headers = dict,
        source: str = "g",
        explain: Callable[[], str | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = url
        self.dialect = dialect
        self.limits = limits or Limits()
        self._headers = headers
        self._source = source
        self._explain = explain
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._closed = False
        self._pool = _Pool(os.getpid())

    def submit(self, request: Bytecode, *, seconds: float | None = None) -> list[Any]:
        """The whole answer to a request; ``seconds`` replaces ``Limits.answer``.

        Raises GraphTimeout, GraphUnavailable (after retries) or GraphRejected.
        """
        limit = self.limits.answer if seconds is None else seconds
        return self._retrying(lambda: self._collect(request, limit))

    def stream(self, request: Bytecode) -> Iterator[list[Any]]:
        """The answer in parts of at most ``Limits.batch_items`` items, as they arrive.

        Only the start is retried: a stream that breaks later raises GraphUnavailable. The
        connection is lent until the iterator ends or is closed.
        """
        first, rest = self._retrying(lambda: self._begin(request))
        try:
            yield first
            yield from rest
        except (_Failure, _ServerError) as failure:
            raise self._named(failure) from failure
        finally:
            rest.close()

    def close(self) -> None:
        """End all connections; those lent out end when they come back. Safe to call twice."""
        self._closed = True
        pool = self._own_pool()
        with pool.free:
            idle, pool.idle = pool.idle, []
            pool.free.notify_all()
        for socket in idle:
            socket.close()

    # --- one attempt ------------------------------------------------------------------------

    def _collect(self, request: Bytecode, seconds: float) -> list[Any]:
        request_id, payload = self._encode(request, seconds)
        pool, socket = self._lend()
        healthy = False
        try:
            answer = [
                item
                for part in socket.ask(request_id, payload, seconds + self.limits.grace)
                for item in part
            ]
            healthy = True
            return answer
        except _ServerError:
            healthy = True  # an answer like any other: the connection is in order
            raise
        finally:
            self._take_back(pool, socket, healthy=healthy)

    def _begin(self, request: Bytecode) -> tuple[list[Any], Generator[list[Any]]]:
        """A started stream and its first part: a failure to start shows here, and is retried."""
        parts = self._parts(request)
        return next(parts), parts

    def _parts(self, request: Bytecode) -> Generator[list[Any]]:
        request_id, payload = self._encode(request, self.limits.stream)
        pool, socket = self._lend()
        healthy = False
        try:
            yield from socket.ask(request_id, payload, self.limits.answer + self.limits.grace)
            healthy = True
        finally:
            self._take_back(pool, socket, healthy=healthy)

    def _encode(self, request: Bytecode, seconds: float) -> tuple[str, bytes]:
        request_id = str(uuid.uuid4())
        arguments = {
            "gremlin": request,
            "aliases": {"g": self._source},
            "evaluationTimeout": max(1, int(seconds * 1000)),
            "batchSize": self.limits.batch_items,
        }
        try:
            message = RequestMessage("traversal", "bytecode", arguments)
            payload = bytes(_SERIALIZER.serialize_message(request_id, message))
        except (struct.error, UnicodeError, ValueError, OverflowError) as failure:
            raise GraphRejected(f"a value that no graph can hold: {failure}") from failure
        if len(payload) > self.dialect.request_bytes:
            raise _TooLarge(
                f"a request of {len(payload):,} bytes; {self.dialect.name} takes "
                f"{self.dialect.request_bytes:,}"
            )
        return request_id, payload

    # --- retries ----------------------------------------------------------------------------

    def _retrying(self, attempt: Callable[[], _Result]) -> _Result:
        tries = 0
        while True:
            tries += 1
            try:
                return attempt()
            except (_Failure, _ServerError) as failure:
                verdict = self._verdict(failure)
                if verdict in (FailureAction.BROKEN, FailureAction.MOVED):
                    self._drop_idle()  # a failure of one connection has most likely broken all
                retry = self.dialect.retry(verdict)
                if tries >= retry.attempts or self._closed:
                    raise self._named(failure) from failure
                pause = min(retry.longest_pause, retry.first_pause * 2 ** (tries - 1))
                # half is fixed, half by chance: two that collided do not collide again
                self._sleep(pause * (0.5 + 0.5 * self._chance()))

    def _verdict(self, failure: _Failure | _ServerError) -> FailureAction:
        if isinstance(failure, _Failure):
            return failure.verdict
        return judge(failure.code, failure.message)

    def _named(self, failure: _Failure | _ServerError) -> Exception:
        """The failure as the rest of the program knows it."""
        verdict = self._verdict(failure)
        message = f"{self.url}: {failure}"
        match verdict:
            case FailureAction.TIMEOUT if isinstance(failure, _ServerError):
                return _AnsweredTimeout(_TOO_SLOW, message)
            case FailureAction.TIMEOUT:
                return GraphTimeout(_TOO_SLOW, message)
            case FailureAction.REJECTED:
                return GraphRejected(message)
            case FailureAction.TOO_LARGE:
                return _TooLarge(message)
            case FailureAction.STRAINED:
                return _Strained("the graph database has no memory for the request", message)
        return GraphUnavailable(self._explain() or "the graph database does not answer", message)

    # --- lending ----------------------------------------------------------------------------

    def _lend(self) -> tuple[_Pool, _Socket]:
        """A connection of this process: an idle one that is young enough, or a new one."""
        pool = self._own_pool()
        stale: list[_Socket] = []
        with pool.free:
            if not pool.free.wait_for(
                lambda: self._closed or pool.busy < self.limits.connections, self.limits.wait
            ):
                raise _Failure(
                    FailureAction.TIMEOUT,
                    f"all {self.limits.connections} connections were busy for "
                    f"{self.limits.wait:g} s",
                )
            if self._closed:
                raise _Failure(FailureAction.REFUSED, "the graph is closed")
            pool.busy += 1
            socket = self._youngest(pool, stale)
        for old in stale:
            old.close()
        if socket is None:
            try:
                socket = _Socket(self.url, self._headers(), self.limits)
            except BaseException:
                self._give_place(pool)
                raise
        return pool, socket

    def _youngest(self, pool: _Pool, stale: list[_Socket]) -> _Socket | None:
        while pool.idle:
            socket = pool.idle.pop()
            if self._clock() - socket.used_at < self.limits.idle:
                return socket
            stale.append(socket)
        return None

    def _take_back(self, pool: _Pool, socket: _Socket, *, healthy: bool) -> None:
        socket.used_at = self._clock()
        if not healthy or self._closed:
            socket.close()
            self._give_place(pool)
            return
        with pool.free:
            pool.idle.append(socket)
            pool.busy -= 1
            pool.free.notify()

    def _give_place(self, pool: _Pool) -> None:
        with pool.free:
            pool.busy -= 1
            pool.free.notify()

    def _drop_idle(self) -> None:
        pool = self._own_pool()
        with pool.free:
            idle, pool.idle = pool.idle, []
        for socket in idle:
            socket.close()

    def _own_pool(self) -> _Pool:
        if self._pool.process != os.getpid():
            _INHERITED.append(self._pool)
            self._pool = _Pool(os.getpid())
        return self._pool
