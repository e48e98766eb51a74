"""A Gremlin server that does as a test tells it: no graph, only the wire.

It speaks GraphBinary over WebSocket, through the driver's own writer, on a thread of its own. Each
request is answered by the next step of a script; the last step answers all that follow. A step may
forward its request to a real server: so a test puts errors at any point of a real conversation.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, WSMsgType, web
from gremlin_python.structure.io.graphbinaryV1 import GraphBinaryWriter

STATUS_CODE = slice(18, 22)
PARTIAL_CONTENT = 206
REQUEST_ID = slice(34, 50)  # after the length and name of the format, and the version


@dataclass
class Exchange:
    """One request and the socket it came on."""

    socket: web.WebSocketResponse
    request: bytes

    @property
    def request_id(self) -> bytes:
        return self.request[REQUEST_ID]

    async def send(
        self, items: Sequence[Any], *, code: int = 200, message: str = "", to: bytes | None = None
    ) -> None:
        await self.socket.send_bytes(answer(to or self.request_id, items, code, message))


Step = Callable[[Exchange], Awaitable[None]]


def answer(request_id: bytes | None, items: Sequence[Any], code: int, message: str) -> bytes:
    """The bytes of one part of an answer."""
    empty_map = struct.pack(">i", 0)
    text = message.encode()
    value = bytearray()
    GraphBinaryWriter().to_dict(list(items), value)
    return b"".join(
        (
            b"\x81",
            b"\x01" if request_id is None else b"\x00" + request_id,
            struct.pack(">i", code),
            b"\x00" + struct.pack(">i", len(text)) + text,
            empty_map,
            empty_map,
            value,
        )
    )


# --- steps ---------------------------------------------------------------------------------------


def reply(*items: Any) -> Step:
    async def step(exchange: Exchange) -> None:
        await exchange.send(items)

    return step


def reply_in_parts(*parts: Sequence[Any]) -> Step:
    async def step(exchange: Exchange) -> None:
        for part in parts[:-1]:
            await exchange.send(part, code=206)
        await exchange.send(parts[-1])

    return step


def fail(code: int, message: str) -> Step:
    async def step(exchange: Exchange) -> None:
        await exchange.send((), code=code, message=message)

    return step


def reply_late(seconds: float, *items: Any) -> Step:
    """Answers after a while, on the same socket, as a slow server does."""

    async def step(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        if not exchange.socket.closed:
            await exchange.send(items)

    return step


def reply_after(gate: threading.Event, *items: Any) -> Step:
    """Answers once the gate is open, on the same socket, as a slow server does."""

    async def step(exchange: Exchange) -> None:
        while not gate.is_set():
            await asyncio.sleep(0.005)
        if not exchange.socket.closed:
            await exchange.send(items)

    return step


def stay_silent() -> Step:
    async def step(exchange: Exchange) -> None:
        return None

    return step


def hang_up(*first: Any) -> Step:
    """Ends the connection, after a part of the answer where there is one."""

    async def step(exchange: Exchange) -> None:
        if first:
            await exchange.send(first, code=206)
        transport = exchange.socket._req.transport
        assert transport is not None
        transport.abort()

    return step


def reply_to_another(*items: Any) -> Step:
    async def step(exchange: Exchange) -> None:
        await exchange.send(items, to=uuid.uuid4().bytes)

    return step


def send_raw(data: bytes) -> Step:
    async def step(exchange: Exchange) -> None:
        await exchange.socket.send_bytes(data)

    return step


def close_with(code: int) -> Step:
    async def step(exchange: Exchange) -> None:
        await exchange.socket.close(code=code)

    return step


def forward(url: str) -> Step:
    """Asks a real server and passes its answer on."""

    async def step(exchange: Exchange) -> None:
        for part in await ask(url, exchange.request):
            await exchange.socket.send_bytes(part)

    return step


def forward_and(url: str, then: Step) -> Step:
    """A real server does as asked, and ``then`` happens instead of its answer."""

    async def step(exchange: Exchange) -> None:
        await ask(url, exchange.request)
        await then(exchange)

    return step


def forward_then(url: str, then: Step) -> Step:
    """Asks a real server, passes its answer on, and does something more."""

    async def step(exchange: Exchange) -> None:
        await forward(url)(exchange)
        await then(exchange)

    return step


def forward_half(url: str) -> Step:
    """A real server does as asked, and half of its answer arrives."""

    async def step(exchange: Exchange) -> None:
        first = (await ask(url, exchange.request))[0]
        await exchange.socket.send_bytes(first[: len(first) // 2])

    return step


async def ask(url: str, request: bytes) -> list[bytes]:
    """Every part of a real server's answer, as bytes."""
    parts: list[bytes] = []
    async with ClientSession() as session, session.ws_connect(url, max_msg_size=0) as socket:
        await socket.send_bytes(request)
        while True:
            parts.append(await socket.receive_bytes())
            (code,) = struct.unpack(">i", parts[-1][STATUS_CODE])
            if code != PARTIAL_CONTENT:
                return parts


# --- the server ----------------------------------------------------------------------------------


@dataclass
class FakeGremlin:
    """``with FakeGremlin(reply(1)) as server: … server.url``. ``handshakes`` may refuse: (403, …).

    ``requests`` counts arrived requests; ``connections`` counts opened sockets; ``headers`` are
    those of each handshake.
    """

    script: tuple[Step, ...]
    handshakes: list[int] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0

    def __init__(
        self,
        *script: Step,
        handshakes: Sequence[int] = (),
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.script = script
        self.host = host
        self.port = port
        self.handshakes = list(handshakes)
        self.requests = []
        self.headers = []
        self.connections = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stop = self._stop
        assert stop is not None
        self._loop.call_soon_threadsafe(stop.set)
        self._thread.join(60)
        self._loop.close()

    def _serve(self) -> None:
        self._loop.run_until_complete(self._main())

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=0)
        app.router.add_get("/gremlin", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        site = web.TCPSite(runner, self.host, self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self.url = f"ws://{self.host}:{self.port}/gremlin"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if self.handshakes and (status := self.handshakes.pop(0)) != 101:
            return web.Response(status=status)
        self.connections += 1
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        async for message in socket:
            if message.type is not WSMsgType.BINARY:
                break
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(message.data)
            await step(Exchange(socket, message.data))
        return socket


@dataclass
class Pauses:
    """Sleeps no time, and remembers how long it should have."""

    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
