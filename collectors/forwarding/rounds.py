"""The rounds of a destination: documents after its position, in order, until all are sent.

    position -> documents after it -> messages -> backend.send -> position

Over one connection documents go in the order of the journal; over several, those of one run do. A
document that the backend refuses for good is set aside with the reason; after a failure that may
pass its run waits, and the round is repeated, longer and longer pauses apart, from where it was.
Only what a killed process had sent since its last note is sent twice: ``_BATCH`` documents at most.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from collectors.forwarding.backends import (
    Backend,
    ForwardTarget,
    OutgoingMessage,
    open_backend,
    over_limits,
    read_definition,
)
from collectors.forwarding.events import Event, OpenLineageEvents
from collectors.rewriting import Rules, hold_back, read_rules, rewrite
from graph_model.errors import HeadwaterError, InvalidInput, NotFound, Unavailable
from graph_model.producers.commands import COMMAND_KIND, Forget, read_command
from graph_model.producers.openlineage.events.documents import EVENT_KINDS, RUN_EVENT_KIND
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentState, StoredDocument, compact_json
from graph_model.stores.forwarding import MOST_LETTERS, DeadLetter, ForwardState, ForwardStates
from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 1.0
_BATCH: Final = 100
_KINDS: Final = frozenset({*EVENT_KINDS, PLAN_KIND, EVENT_KIND})

Wait = Callable[[float], bool]
"""Waits so many seconds; True where the process is to stop."""
OpenBackend = Callable[[ForwardTarget], Backend]


@dataclass(slots=True)
class RoundResult:
    """``done`` positions, ``sent`` among them; ``failure`` is why the others wait, "" for none."""

    done: set[int] = field(default_factory=set)
    sent: set[int] = field(default_factory=set)
    refused: list[DeadLetter] = field(default_factory=list)
    failure: str = ""


class Forwarding:
    """One destination. For one thread; ``clock`` gives epoch milliseconds."""

    def __init__(
        self,
        name: str,
        journal: Journal,
        states: ForwardStates,
        events: OpenLineageEvents,
        clock: Callable[[], int],
        opened: OpenBackend = open_backend,
    ) -> None:
        self.name = name
        self._journal = journal
        self._states = states
        self._events = events
        self._clock = clock
        self._open = opened
        self._backends = threading.local()
        self._partly: dict[int, int] = {}  # position => how many of its messages were sent

    def run(self, wait: Wait, *, once: bool = False) -> None:
        """Rounds until ``wait`` says so, the destination is removed or, with ``once``, nothing is
        left to send now.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                state = self._states.get(self.name)
                more = not state.paused and self._round(state)
                rest = 0.0 if more else _POLL_SECONDS
                pause = FIRST_PAUSE_SECONDS
            except NotFound:
                return
            except HeadwaterError as error:
                log.warning("%s waits %.0f s: %s", self.name, pause, error)
                self._note(str(error))
                more, rest = False, pause
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if (once and not more) or wait(rest):
                return

    def _note(self, failure: str) -> None:
        try:
            self._states.fail(self.name, failure, self._clock() if failure else None)
        except HeadwaterError as error:  # gone, or the database is away: the log has it
            log.warning("%s: %s", self.name, error)

    def _round(self, state: ForwardState) -> bool:
        """Whether there may be more at once. Raises HeadwaterError where something has to wait."""
        definition = read_definition(state.definition)
        again = self._send_again(state, definition)
        if state.letters >= MOST_LETTERS:
            raise Unavailable(
                f"it has refused {state.letters:,} documents: headwater forward letters "
                f"{self.name} lists them"
            )
        newest = self._journal.newest()
        batch = self._journal.in_order(_KINDS, state.position, _BATCH, falling=False)
        result = self._send(definition, [one for one in batch if one.position not in state.ahead])
        done = result.done | state.ahead
        waiting = [one.position for one in batch if one.position not in done]
        whole = newest if len(batch) < _BATCH else batch[-1].position
        position = waiting[0] - 1 if waiting else max(whole, state.position)
        if position > state.position or result.done:
            ahead = {place for place in done if place > position}
            self._states.advance(self.name, position, ahead, len(result.sent), result.refused)
        if result.failure:
            raise Unavailable(result.failure)
        if state.failure:
            self._note("")
        return again or len(batch) == _BATCH

    def _send_again(self, state: ForwardState, definition: ForwardTarget) -> bool:
        """Dead letters that are due."""
        due = self._states.letters(self.name, _BATCH, due=True) if state.letters else ()
        if not due:
            return False
        documents = self._journal.documents([letter.position for letter in due])
        result = self._send(definition, documents)
        known = {document.position for document in documents}
        gone = {letter.position for letter in due} - known
        refused = {letter.position for letter in result.refused}
        self._states.settle(self.name, gone | (result.done - refused), result.refused)
        if result.failure:
            raise Unavailable(result.failure)
        return len(due) == _BATCH

    # --- one batch -------------------------------------------------------------------------------

    def _send(self, definition: ForwardTarget, documents: Sequence[StoredDocument]) -> RoundResult:
        rules = read_rules(definition.rules, holding_back=True) if definition.rules else ()
        chosen = self._chosen(definition, documents)
        runs: dict[str, list[StoredDocument]] = {}
        for document in chosen:
            run = document.subject_key if definition.connections > 1 else ""
            runs.setdefault(run, []).append(document)
        result = RoundResult({one.position for one in documents} - {one.position for one in chosen})
        if not runs:
            return result
        with ThreadPoolExecutor(definition.connections) as threads:
            for part in threads.map(
                lambda run: self._send_run(definition, rules, run), runs.values()
            ):
                result.done |= part.done
                result.sent |= part.sent
                result.refused += part.refused
                result.failure = result.failure or part.failure
        self._partly = {place: n for place, n in self._partly.items() if place not in result.done}
        return result

    def _chosen(
        self, definition: ForwardTarget, documents: Sequence[StoredDocument]
    ) -> Sequence[StoredDocument]:
        """Without those that came from there, and without forgotten ones."""
        kept = list(documents)
        if definition.never_from:
            senders = self._journal.principals([document.position for document in kept])
            kept = [
                one for one in kept if senders.get(one.position, "") not in definition.never_from
            ]
        forgotten = self._forgotten() if kept else frozenset()
        return [document for document in kept if document.content_hash not in forgotten]

    def _forgotten(self) -> frozenset[str]:
        """The contents that a command names whose removal is still to come."""
        commands = self._journal.in_order(
            [COMMAND_KIND], 0, _BATCH, falling=False, states=[DocumentState.PENDING]
        )
        instructions = (read_command(json.loads(one.body)).instruction for one in commands)
        return frozenset(
            digest
            for instruction in instructions
            if isinstance(instruction, Forget)
            for digest in instruction.documents
        )

    def _send_run(
        self, definition: ForwardTarget, rules: Rules, documents: Sequence[StoredDocument]
    ) -> RoundResult:
        """The documents of a run, in order, up to a failure."""
        result = RoundResult()
        for document in documents:
            try:
                if self._send_document(definition, rules, document):
                    result.sent.add(document.position)
            except InvalidInput as error:
                reason = str(error)
                log.warning("%s refuses document %d: %s", self.name, document.position, reason)
                result.refused.append(
                    DeadLetter(document.position, reason, self._clock(), due=False)
                )
            except HeadwaterError as error:
                result.failure = str(error)
                return result
            result.done.add(document.position)
        return result

    def _send_document(
        self, definition: ForwardTarget, rules: Rules, document: StoredDocument
    ) -> bool:
        """Whether anything of it was sent. Raises HeadwaterError."""
        if document.damage:
            raise InvalidInput(f"its body is damaged: {document.damage}")
        messages = tuple(self._messages(definition, rules, document))
        for message in messages[self._partly.get(document.position, 0) :]:
            self._backend(definition).send(message)
            self._partly[document.position] = self._partly.get(document.position, 0) + 1
        return bool(messages)

    def _messages(
        self, definition: ForwardTarget, rules: Rules, document: StoredDocument
    ) -> Iterator[OutgoingMessage]:
        if not definition.translates and document.kind not in EVENT_KINDS:
            yield OutgoingMessage(
                document.kind, document.api_version, document.subject_key, document.body
            )
            return
        for event in self._events.of(document):
            ruled = ruled_event(event, rules)
            if ruled is None:
                continue
            is_as_it_came = ruled is event and document.kind in EVENT_KINDS
            body = document.body if is_as_it_came else compact_json(ruled)
            if reason := over_limits(definition.to, ruled, len(body)):
                raise InvalidInput(reason)
            kind = document.kind if document.kind in EVENT_KINDS else RUN_EVENT_KIND
            yield OutgoingMessage(kind, "", document.subject_key, body)

    def _backend(self, definition: ForwardTarget) -> Backend:
        """That of this thread."""
        kept = getattr(self._backends, "opened", None)
        if kept is None or kept[0] != definition:
            kept = (definition, self._open(definition))
            self._backends.opened = kept
        backend: Backend = kept[1]
        return backend


def ruled_event(event: Event, rules: Rules) -> Event | None:
    """The event as the rules leave it; None for one that is not to be sent."""
    kept = hold_back(event, rules) if rules else event
    return None if kept is None else rewrite(kept, rules)
