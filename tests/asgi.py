"""Asks an ASGI application as a server would, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api.arriving import Application


@dataclass(frozen=True)
class Asked:
    """A request; ``parts`` are those in which its body arrives."""

    method: str
    path: str
    parts: tuple[bytes, ...] = (b"",)
    headers: tuple[tuple[str, str], ...] = ()
    leaves: bool = False


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    data: bytes


def post(path: str, body: bytes, kind: str, **headers: str) -> Asked:
    named = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
    return Asked("POST", path, (body,), tuple(named.items()))


def ask(application: Application, *requests: Asked) -> list[Answered]:
    """The answers to requests that are sent at once."""

    async def together() -> list[Answered]:
        return await asyncio.gather(*(answer(application, one) for one in requests))

    return asyncio.run(together())


async def answer(application: Application, asked: Asked) -> Answered:
    """The answer to one request; status 0 for none."""
    sent: list[Any] = []
    events = iter(_events(asked))

    async def receive() -> Any:
        return next(events)

    async def send(message: Any) -> None:
        sent.append(message)

    await application(_scope(asked), receive, send)
    if not sent:
        return Answered(0, {}, b"")
    head, *parts = sent
    names = {name.decode().title(): value.decode() for name, value in head["headers"]}
    return Answered(head["status"], names, b"".join(part["body"] for part in parts))


def _events(asked: Asked) -> Iterable[dict[str, Any]]:
    for place, part in enumerate(asked.parts):
        more = asked.leaves or place < len(asked.parts) - 1
        yield {"type": "http.request", "body": part, "more_body": more}
    yield {"type": "http.disconnect"}


def _scope(asked: Asked) -> dict[str, Any]:
    return {
        "type": "http",
        "method": asked.method,
        "path": asked.path,
        "query_string": b"",
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", 8080),
        "client": ("127.0.0.1", 50_000),
        "headers": [(name.lower().encode(), value.encode()) for name, value in asked.headers],
    }
