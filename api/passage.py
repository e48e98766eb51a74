"""A small request whose head is known, taken without a scope, a task and messages.

guard -> take in steps -> written, in a group -> 201
what goes wrong, or is much work after all -> handed on to the road of all others
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api.arriving import Reply
from api.exchange import request_id_of
from api.intake import Delivery, Steps, Taken, advance, follow, take_in_steps
from api.logs import current_request_id
from api.principals import Principal
from api.service import Service
from api.takers import (
    ADMITTED,
    ERROR,
    PRODUCER,
    Arrived,
    Heavy,
    Taker,
    account,
    created_lines,
    light,
)
from api.together import Outcome

if TYPE_CHECKING:
    from api.express import Express


@dataclass(frozen=True, slots=True)
class Known:
    """What the head of a request says, read once for all that have the same."""

    taker: Taker
    path: str
    version: str
    packed: bool
    key: str | None


class Passage:
    """A small request on its way from step to step; what it waits for calls it back.

    To be used on the event loop alone. It ends with one call of its reply.
    """

    __slots__ = (
        "_began", "_body", "_crowded", "_express", "_known", "_principal", "_reply",
        "_request_id", "_service", "_steps", "_taken",
    )  # fmt: skip
    _principal: Principal
    _steps: Steps
    _taken: Taken

    def __init__(
        self, express: Express, service: Service, known: Known, body: bytes, reply: Reply
    ) -> None:
        self._express = express
        self._service = service
        self._known = known
        self._body = body
        self._reply = reply
        self._began = express.seconds()
        self._request_id = request_id_of(None)
        self._crowded = False

    def go_on(self, outcome: Outcome | None = None) -> None:
        """After the outcome of what was written; None at the beginning."""
        self._end(self._attempt(self._advance, outcome))

    def _seen(self, waited: asyncio.Future[bool]) -> None:
        """The graph has been waited for."""
        if not waited.cancelled():  # else the service stops
            self._end(self._attempt(self._conclude, waited))

    def _attempt(self, step: Callable[[Any], bytes | None], given: Any) -> bytes | Exception | None:
        token = current_request_id.set(self._request_id)
        try:
            return step(given)
        except Exception as error:
            return error
        finally:
            current_request_id.reset(token)

    def _end(self, made: bytes | Exception | None) -> None:
        """With an answer's body, or an error; None: there is more to wait for."""
        if made is None:
            return
        if self._crowded:
            self._service.crowd.leave()
        if isinstance(made, bytes):
            self._reply.created(created_lines(self._request_id, made), made)
        elif isinstance(made, Heavy):
            self._reply.hand_on({ADMITTED: self._principal})
        else:
            self._reply.hand_on({ERROR: made})

    def _advance(self, outcome: Outcome | None) -> bytes | None:
        if outcome is None:
            self._enter()
        step = advance(self._steps, outcome)
        if not isinstance(step, Taken):
            self._express.together.add(step, self.go_on)
            return None
        self._taken = step
        wait = self._known.taker.wait(self._express.settings)
        if not (follow(step, self._service) and wait > 0):
            return self._answer()
        work = self._service.projector.wait
        self._express.begin_in_thread(work, step.positions, wait).add_done_callback(self._seen)
        return None

    def _enter(self) -> None:
        known = self._known
        self._principal = self._express.keeper.admitted(known.key, PRODUCER)
        delivery = Delivery(
            self._body,
            "gzip" if known.packed else "identity",
            known.version,
            known.path,
            light(packed=known.packed),
            self._principal.name,
            self._principal.scope,
        )
        self._steps = take_in_steps(known.taker.reading, delivery, self._service)
        self._service.crowd.enter()
        self._crowded = True

    def _conclude(self, waited: asyncio.Future[bool]) -> bytes:
        waited.result()
        return self._answer()

    def _answer(self) -> bytes:
        path, answer = self._known.path, self._known.taker.answer(self._taken.documents)
        arrived = Arrived(path, self._began, len(self._body), self._principal.name)
        return account(answer, arrived, self._express.seconds(), self._service)
