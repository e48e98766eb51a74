"""The rounds of a destination: documents after its position, in order, until all are sent.

    position -> documents after it -> messages -> backend.send -> position

Over one connection documents go in the order of the journal; over several, those of one run do. A
document that the backend refuses for good is set aside with the reason; after a failure that may
pass its connection waits, and the round is repeated, longer and longer pauses apart, from where it
was. Sent twice are only the document whose answer was lost, and what a killed process had sent
since its last note: of ``_NOTE_SECONDS``, ``_BATCH`` documents at most. No message is sent where
the process's lease could run out within ``LONGEST_SEND_SECONDS``: as a rule no other process sends
before it has arrived.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from collectors.forwarding.backends import (
    LIMITS,
    LONGEST_SEND_SECONDS,
    Backend,
    BackendLimits,
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
from graph_model.producers.projections import reason_of
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentState, StoredDocument, compact_json
from graph_model.stores.forwarding import MOST_LETTERS, DeadLetter, ForwardState, ForwardStates
from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 1.0
_BATCH: Final = 100
_BATCH_BYTES: Final = 16_000_000
"""Of bodies in memory; a larger document is a batch of its own."""
_NOTE_SECONDS: Final = 5.0
"""A killed process has noted what it had sent so long before."""
_LOOK_SECONDS: Final = 0.5
"""So long after a forget command a document that it names may still be sent."""
_AGAIN: Final = 10
_COMMANDS_AT_ONCE: Final = 1_000
_KINDS: Final = frozenset({*EVENT_KINDS, PLAN_KIND, EVENT_KIND})

Wait = Callable[[float], bool]
"""Waits so many seconds; True where the process is to stop. For several threads."""
OpenBackend = Callable[[ForwardTarget], Backend]


@dataclass(slots=True)
class RoundResult:
    """``done`` positions, ``sent`` among them; ``failure`` is why the others wait, "" for none."""

    done: set[int] = field(default_factory=set)
    sent: set[int] = field(default_factory=set)
    refused: list[DeadLetter] = field(default_factory=list)
    failure: str = ""
    seconds: float = 0.0  # that the destination wants to be left alone, 0: it said nothing


@dataclass(frozen=True, slots=True)
class _Terms:
    """By what a batch is sent. ``forgotten`` are the content hashes that commands up to ``newest``,
    the journal's end before the batch was read, name and have not removed yet.
    """

    definition: ForwardTarget
    rules: Rules
    newest: int
    forgotten: frozenset[str]


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
        self._wait: Wait = lambda _: False
        self._backends: dict[int, tuple[ForwardTarget, Backend]] = {}  # connection => its own
        self._partly: dict[int, int] = {}  # position => how many of its messages were sent
        self._partly_to: ForwardTarget | None = None  # whom; another one has not got them
        self._unnoted: Callable[[], None] | None = None  # notes what was done when it could not be

    def run(self, wait: Wait, *, once: bool = False) -> None:
        """Rounds until ``wait`` says so, the destination is removed or, with ``once``, nothing is
        left to send now.
        """
        pause = FIRST_PAUSE_SECONDS
        self._wait = wait
        while True:
            try:
                self._note_done()
                state = self._states.get(self.name)
                more = not state.paused and self._round(state)
                rest = 0.0 if more else _POLL_SECONDS
                pause = FIRST_PAUSE_SECONDS
            except NotFound:
                return
            except Exception as error:
                if not isinstance(error, HeadwaterError):  # else its thread would just be missing
                    log.exception("%s", self.name)
                log.warning("%s waits %.0f s: %s", self.name, pause, error)
                self._note(_reason(error))
                more, rest = False, max(pause, _seconds(error))
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if (once and not more) or wait(rest):
                return

    def _note(self, failure: str) -> None:
        try:
            self._states.fail(self.name, failure, self._clock() if failure else None)
        except HeadwaterError as error:  # gone, or the database is away: the log has it
            log.warning("%s: %s", self.name, error)

    def _note_done(self, done: Callable[[], None] | None = None) -> None:
        """Note it, or what a former call could not: before anything is sent again."""
        self._unnoted = done or self._unnoted
        if self._unnoted:
            self._unnoted()
        self._unnoted = None

    def _round(self, state: ForwardState) -> bool:
        """Whether there may be more at once. Raises HeadwaterError where something has to wait."""
        definition = read_definition(state.definition)
        again = self._send_again(state, definition)
        if state.letters >= MOST_LETTERS:
            raise Unavailable(
                f"it has refused {state.letters:,} documents: headwater forward letters "
                f"{self.name} lists them"
            )
        terms = self._terms(definition)
        batch = self._journal.in_order(
            _KINDS, state.position, _BATCH, falling=False, most_bytes=_BATCH_BYTES
        )
        result = self._send(
            terms, [document for document in batch if document.position not in state.ahead]
        )
        done = result.done | state.ahead
        waiting = [document.position for document in batch if document.position not in done]
        whole = batch[-1].position if batch else terms.newest
        position = waiting[0] - 1 if waiting else max(whole, state.position)
        if position > state.position or result.done:
            ahead = {place for place in done if place > position}
            noted = (state, position, ahead, len(result.sent), result.refused)
            self._note_done(partial(self._states.advance, *noted))
        if result.failure:
            raise Unavailable(result.failure, seconds=result.seconds)
        if state.failure:
            self._note("")
        return again or bool(batch)

    def _send_again(self, state: ForwardState, definition: ForwardTarget) -> bool:
        """Dead letters that are due."""
        due = self._states.letters(self.name, _AGAIN, due=True) if state.letters else ()
        if not due:
            return False
        terms = self._terms(definition)
        documents = self._journal.documents([letter.position for letter in due])
        result = self._send(terms, documents)
        known = {document.position for document in documents}
        gone = {letter.position for letter in due} - known
        refused = {letter.position for letter in result.refused}
        settled = (self.name, gone | (result.done - refused), len(result.sent), result.refused)
        self._note_done(partial(self._states.settle, *settled))
        if result.failure:
            raise Unavailable(result.failure, seconds=result.seconds)
        return True

    # --- one batch -------------------------------------------------------------------------------

    def _terms(self, definition: ForwardTarget) -> _Terms:
        """Those of documents that are read from now on."""
        rules = read_rules(definition.rules, holding_back=True) if definition.rules else ()
        newest = self._journal.newest()
        return _Terms(definition, rules, newest, self._forgotten(0, [DocumentState.PENDING]))

    def _send(self, terms: _Terms, documents: Sequence[StoredDocument]) -> RoundResult:
        chosen = self._chosen(terms, documents)
        if terms.definition != self._partly_to:
            self._partly, self._partly_to = {}, terms.definition
        lanes: dict[int, list[StoredDocument]] = {}
        for document in chosen:
            lane = zlib.crc32(document.subject_key.encode()) % terms.definition.connections
            lanes.setdefault(lane, []).append(document)
        result = RoundResult(
            {document.position for document in documents}
            - {document.position for document in chosen}
        )
        for part in self._send_lanes(terms, lanes):
            result.done |= part.done
            result.sent |= part.sent
            result.refused += part.refused
            result.failure = result.failure or part.failure
            result.seconds = max(result.seconds, part.seconds)
        self._partly = {place: n for place, n in self._partly.items() if place not in result.done}
        return result

    def _send_lanes(
        self, terms: _Terms, lanes: Mapping[int, list[StoredDocument]]
    ) -> Sequence[RoundResult]:
        """Each over its own connection. Their threads do not keep the process from ending."""
        results = {lane: RoundResult() for lane in lanes}
        threads = [
            threading.Thread(
                target=self._send_lane,
                args=(terms, lane, documents, results[lane]),
                daemon=True,
            )
            for lane, documents in lanes.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(results.values())

    def _chosen(
        self, terms: _Terms, documents: Sequence[StoredDocument]
    ) -> Sequence[StoredDocument]:
        """Without those that came from there."""
        foreign = terms.definition.never_from
        if not foreign:
            return documents
        senders = self._journal.principals([document.position for document in documents])
        return [each for each in documents if senders.get(each.position, "") not in foreign]

    def _forgotten(
        self, behind: int, states: Sequence[DocumentState] | None = None
    ) -> frozenset[str]:
        """The contents that commands behind a position name, those in these states (None: all)."""
        digests: set[str] = set()
        while commands := self._journal.in_order(
            [COMMAND_KIND], behind, _COMMANDS_AT_ONCE, falling=False, states=states,
            most_bytes=_BATCH_BYTES,
        ):  # fmt: skip
            behind = commands[-1].position
            for command in commands:
                digests.update(_forgotten_by(command))
        return frozenset(digests)

    def _send_lane(
        self,
        terms: _Terms,
        lane: int,
        documents: Sequence[StoredDocument],
        result: RoundResult,
    ) -> None:
        """Documents in order, up to a failure or the end of the process; some of them where they
        take long, so that they are noted.
        """
        begun = looked = time.monotonic()
        for document in documents:
            now = time.monotonic()
            if self._wait(0) or (result.done and now > begun + _NOTE_SECONDS):
                return
            try:
                if now > looked + _LOOK_SECONDS:
                    looked, later = now, self._forgotten(terms.newest)
                    terms = replace(terms, forgotten=terms.forgotten | later)
                if document.content_hash in terms.forgotten:
                    result.done.add(document.position)
                    continue
                messages = self._messages_of(terms, document)
                for message in messages[self._partly.get(document.position, 0) :]:
                    backend = self._backend(terms.definition, lane)
                    self._check_lease()
                    backend.send(message)
                    self._partly[document.position] = self._partly.get(document.position, 0) + 1
            except InvalidInput as error:
                reason = str(error)
                log.warning("%s refuses document %d: %s", self.name, document.position, reason)
                result.refused.append(
                    DeadLetter(document.position, reason, self._clock(), due=False)
                )
            except Exception as error:
                if not isinstance(error, HeadwaterError):
                    log.exception("%s, document %d", self.name, document.position)
                result.failure = _reason(error)
                result.seconds = _seconds(error)
                self._backends.pop(lane, None)  # its secret may be another one by then
                return
            else:
                if messages:
                    result.sent.add(document.position)
            result.done.add(document.position)

    def _check_lease(self) -> None:
        """Raises Unavailable where another process could send while this message is on its way."""
        if self._states.lease.seconds_left < LONGEST_SEND_SECONDS:
            raise Unavailable("the database has not renewed this process's right to send")

    def _messages_of(self, terms: _Terms, document: StoredDocument) -> Sequence[OutgoingMessage]:
        """Raises InvalidInput for one of which nothing can be made, Unavailable."""
        if document.damage:
            raise InvalidInput(f"its body is damaged: {document.damage}")
        try:
            return tuple(self._messages(terms, document))
        except HeadwaterError:
            raise
        except Exception as error:  # a hostile body may raise any error
            log.exception("%s, document %d", self.name, document.position)
            raise InvalidInput(f"no event can be made of it: {_reason(error)}") from error

    def _messages(self, terms: _Terms, document: StoredDocument) -> Iterator[OutgoingMessage]:
        if _goes_as_it_came(terms, document):
            yield OutgoingMessage(
                document.kind, document.api_version, document.subject_key, document.body
            )
            return
        for event in self._events.of(document, terms.forgotten):
            ruled = ruled_event(event, terms.rules)
            if ruled is None:
                continue
            is_as_it_came = ruled is event and document.kind in EVENT_KINDS
            body = document.body if is_as_it_came else compact_json(ruled)
            if reason := over_limits(terms.definition.to, ruled, len(body)):
                raise InvalidInput(reason)
            kind = document.kind if document.kind in EVENT_KINDS else RUN_EVENT_KIND
            yield OutgoingMessage(kind, "", document.subject_key, body)

    def _backend(self, definition: ForwardTarget, lane: int) -> Backend:
        """That of this connection."""
        kept = self._backends.get(lane)
        if kept is None or kept[0] != definition:
            kept = self._backends[lane] = (definition, self._open(definition))
        return kept[1]


def _goes_as_it_came(terms: _Terms, document: StoredDocument) -> bool:
    """Whether neither a rule nor a limit nor a translation asks what a document says."""
    if document.kind in EVENT_KINDS:
        return not terms.rules and LIMITS[terms.definition.to] == BackendLimits()
    return not terms.definition.translates


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, HeadwaterError) else reason_of(error)


def _seconds(error: Exception) -> float:
    return error.seconds if isinstance(error, Unavailable) else 0.0


def _forgotten_by(command: StoredDocument) -> Sequence[str]:
    """Nothing where it cannot be read: then it is not carried out either."""
    try:
        instruction = read_command(json.loads(command.body)).instruction
    except (ValueError, HeadwaterError):
        return ()
    return instruction.documents if isinstance(instruction, Forget) else ()


def ruled_event(event: Event, rules: Rules) -> Event | None:
    """The event as the rules leave it; None for one that is not to be sent."""
    kept = hold_back(event, rules) if rules else event
    return None if kept is None else rewrite(kept, rules)
