"""A small request that passes by uvicorn's parser, scopes, tasks and messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

from api.arriving import Take
from api.refusals import STOPPING, refusal


class Connection(Protocol):
    """Where it came from."""

    def answer(self, code: int, lines: bytes, body: bytes, *, keep_alive: bool) -> None:
        """Send the answer; ``lines`` are its headers but for those that every answer has."""

    def hear_again(self, request: bytes, known: Mapping[str, Any], *, keep_alive: bool) -> None:
        """Send the whole request the road of all others; its scope gets these entries too."""


class Brief:
    """A small request whose head is known; stands where uvicorn keeps the request that is answered.

    A ``Reply`` to who takes it.
    """

    __slots__ = (
        "_connection", "_head", "_length", "_take",
        "body", "disconnected", "keep_alive", "more_body", "response_complete", "response_started",
    )  # fmt: skip
    message_event: Final = asyncio.Event()  # uvicorn wakes with it who waits, which nobody does

    def __init__(self, connection: Connection, take: Take, head: bytes, length: int) -> None:
        self._connection = connection
        self._take = take
        self._head = head
        self._length = length
        self.body = b""
        self.more_body = self.keep_alive = True
        self.disconnected = self.response_complete = self.response_started = False

    def hear(self, data: bytes) -> bytes:
        """What arrives, until the body is whole; what is left over belongs to the next request."""
        missing = self._length - len(self.body)
        self.body += data[:missing]
        self.more_body = len(self.body) < self._length
        return data[missing:]

    def begin(self) -> None:
        """Now that it is whole."""
        self._take(self.body, self)

    def created(self, lines: bytes, body: bytes) -> None:
        """See ``arriving.Reply``."""
        self._end(201, lines, body)

    def give_up(self) -> None:
        """The service stops, and cannot wait any longer."""
        self.keep_alive = False
        _, (*headers, _), body = refusal(503, STOPPING)
        self._end(503, b"".join(b"%b: %b\r\n" % one for one in headers), body)

    def hand_on(self, known: Mapping[str, Any]) -> None:
        """See ``arriving.Reply``."""
        if self._is_awaited():
            self._connection.hear_again(self._head + self.body, known, keep_alive=self.keep_alive)

    def _end(self, code: int, lines: bytes, body: bytes) -> None:
        if self._is_awaited():
            self.response_complete = True
            self.body = self._head = b""  # the connection keeps this until its next request
            self._connection.answer(code, lines, body, keep_alive=self.keep_alive)

    def _is_awaited(self) -> bool:
        return not (self.disconnected or self.response_complete)
