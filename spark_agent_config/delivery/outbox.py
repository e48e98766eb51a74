"""Delivers items off the job's path: a bounded queue and one daemon thread.

Nothing here ever raises into the job or makes it wait. Undelivered items are kept in a file, if one
is configured, else dropped and counted. The outbox logs one warning an outage, not one a query, and
one at the end if more items were lost since.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Protocol, TypeVar

from spark_agent_config.delivery.post import Away, DocumentRejected, Misconfigured, Post

_NOT_REPORTED: Final = (
    "Lineage of the last queries may be lost: Spark had not reported them when the observation "
    "was closed, after a wait of %.1f s; to wait longer, call flush(60) on the observation before "
    "the job ends"
)


class Ending:
    """Adds up the queries of sessions by their fate; ``log`` writes at most one line about them
    and one about a Spark that had not reported all of them.
    """

    def __init__(self) -> None:
        self._fates: Counter[str] = Counter()
        self._unlogged = False
        self._waited: float | None = None

    def add(self, fates: Mapping[str, int], *, unlogged: bool) -> None:
        """``unlogged``: an undelivered query among these is in no earlier line."""
        self._fates.update(fates)
        self._unlogged |= unlogged

    def add_wait(self, seconds: float) -> None:
        """Spark had not reported all queries of a session after so many seconds."""
        self._waited = max(seconds, self._waited or 0.0)

    def log(self) -> None:
        if self._waited is not None:
            _LOG.warning(_NOT_REPORTED, self._waited)
        if self._unlogged:
            parts = (f"{_queries(number)} {fate}" for fate, number in self._fates.items() if number)
            _LOG.warning("Lineage at the end of the run: %s", "; ".join(parts))


def _queries(number: int) -> str:
    return "1 query is" if number == 1 else f"{number} queries are"


Item = TypeVar("Item")
_LOG: Final = logging.getLogger(__name__)
_FULL: Final = "Lineage is dropped: the queue already holds %d documents"
_LATE: Final = "Spark reported a query after the observation was closed: its lineage %s"
_UNKEPT: Final = (
    "Lineage of queries may be lost (%d at most): %s had not taken them when the time for "
    "closing was over"
)
#: Of the time for closing, the part that goes to the server; files get the rest.
_NETWORK_SHARE: Final = 0.7
#: A server that asks for a longer pause (Retry-After, in seconds) gets this one.
LONGEST_ASKED: Final = 60.0


@dataclass(frozen=True, slots=True)
class Counts:
    """The results of the items so far.

    ``kept`` were put into a file for a later run, ``refused`` were set aside in one with the
    reason, ``dropped`` are lost.
    """

    delivered: int
    dropped: int
    waiting: int
    kept: int = 0
    refused: int = 0


class Keeper(Protocol):
    """Keeps undelivered documents; ``str()`` of it is their place."""

    def keep(self, post: Post) -> None:
        """Keep a document. Raises OSError."""

    def set_aside(self, post: Post, reason: str) -> None:
        """Keep a document that no server will take, for a person to look at. Raises OSError."""

    def redelivery(self, send: Callable[[Post], None]) -> Generator[None, None, None]:
        """Post the kept documents, one a step. Raises Away, Misconfigured, OSError."""


class _Outcome(Enum):
    DELIVERED = "delivered"
    DROPPED = "dropped"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(slots=True)
class _InHand(Generic[Item]):
    """The item that the thread works on: ``unsent`` is None until it is converted."""

    item: Item
    unsent: deque[Post] | None = None


def pause_after(
    attempt: int, asked: float, chance: float, *, first: float, longest: float
) -> float:
    """Seconds to wait after the failed attempt of this number, from 1.

    Twice as long each time, of which ``chance`` (0 to 1) takes up to a half off, so that many
    drivers do not come back at one moment; at least as long as the server asks for.
    """
    own = min(first * 2.0 ** min(attempt - 1, 30), longest) * (1 - chance / 2)
    return max(own, min(asked, LONGEST_ASKED))


class Outbox(Generic[Item]):
    """A bounded queue with one thread behind it, and a second one while it is full.

    ``prepare`` turns an item into posts (in the thread: conversion costs the job nothing); ``send``
    posts one. A post is tried ``attempts`` times with growing pauses, then the rest of its item
    goes to ``keeper``. Items keep their order. After the first delivery, and after each outage,
    kept documents are delivered too, whenever no item waits. After Misconfigured nothing is sent
    any more: all later items go to ``keeper``.

    The queue is full at ``capacity`` items, or when they weigh more than ``most_weight`` together
    (``weigh`` returns the weight of an item; by default none).
    """

    def __init__(
        self,
        prepare: Callable[[Item], Sequence[Post]],
        send: Callable[[Post], None],
        *,
        keeper: Keeper | None = None,
        capacity: int = 500,
        weigh: Callable[[Item], int] = lambda _: 0,
        most_weight: int = 64 * 1024 * 1024,
        attempts: int = 5,
        first_pause: float = 0.5,
        longest_pause: float = 8.0,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prepare = prepare
        self._send = send
        self._keeper = keeper
        self._capacity = capacity
        self._weigh, self._most_weight = weigh, most_weight
        self._attempts = attempts
        self._pauses = (first_pause, longest_pause)
        self._chance, self._clock = chance, clock
        self._items: deque[Item] = deque()
        self._weight = 0
        self._overflow: deque[Item] = deque()
        self._overflowing = False
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._abandoned = False
        self._in_hand: _InHand[Item] | None = None
        self._redelivery: Generator[None, None, None] | None = None
        self._redelivery_is_due = keeper is not None
        self._stopped: Misconfigured | None = None
        self._not_before = 0.0
        self._counts = dict.fromkeys(_Outcome, 0)
        self._warned: set[str] = set()
        self._logged = 0
        self._thread: threading.Thread | None = None

    def offer(self, item: Item) -> bool:
        """Queue the item without waiting; False when there is no room and no keeper.

        The keeper gets an item that is offered after closing.
        """
        with self._changed:
            if self._closing.is_set() or not self._has_room(item):
                return self._offer_to_keeper(item)
            self._items.append(item)
            self._weight += self._weigh(item)
            if self._thread is None:
                self._thread = _daemon(self._run, "headwater-outbox")
                self._thread.start()
            self._changed.notify_all()
        return True

    def flush(self, timeout: float) -> bool:
        """Wait until all queued items are posted, kept or dropped; False after ``timeout`` s."""
        return self._wait_until(lambda: not self._is_busy(), time.monotonic() + timeout)

    def close(self, timeout: float, ending: Ending | None = None) -> bool:
        """Take nothing more; try the rest once, without pauses, for ``timeout`` seconds.

        After most of that time the undelivered rest goes to the keeper. False when a post was still
        on its way then. An interrupt cuts the waiting short, not the keeping. The results are added
        to ``ending``, which the caller logs; without one they are logged here.
        """
        deadline = time.monotonic() + timeout
        network = deadline - timeout * (1 - _NETWORK_SHARE) * (self._keeper is not None)
        with self._changed:
            self._closing.set()
            if self._counts[_Outcome.KEPT]:
                # The server may be back, and the folder of a short-lived machine dies with it.
                self._begin_redelivery()
            self._changed.notify_all()
        try:
            in_time = self._wait_until(lambda: not self._is_busy(), network)
            self._wait_until(lambda: self._redelivery is None, network)
        finally:
            self._abandon(deadline)
            self._add_results(ending)
        return in_time

    def counts(self) -> Counts:
        with self._changed:
            waiting = len(self._items) + len(self._overflow)
            return Counts(
                delivered=self._counts[_Outcome.DELIVERED],
                dropped=self._counts[_Outcome.DROPPED],
                waiting=waiting + (self._in_hand is not None) + self._overflowing,
                kept=self._counts[_Outcome.KEPT],
                refused=self._counts[_Outcome.REFUSED],
            )

    def _has_room(self, item: Item) -> bool:
        """An item that weighs too much alone has room when nothing else waits."""
        heavy = bool(self._items) and self._weight + self._weigh(item) > self._most_weight
        return len(self._items) < self._capacity and not heavy

    def _is_busy(self) -> bool:
        return bool(self._items or self._in_hand or self._overflow or self._overflowing)

    def _wait_until(self, reached: Callable[[], bool], deadline: float) -> bool:
        with self._changed:
            while not reached():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _count(self, outcome: _Outcome, items: int = 1) -> None:
        with self._changed:
            self._counts[outcome] += items
            self._changed.notify_all()

    # --- the end -------------------------------------------------------------------------------

    def _abandon(self, deadline: float) -> None:
        """Take the rest from the thread and keep it."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()
            rest = self._take_all()
        if rest and self._keeper is not None:
            if not _run_bounded(lambda: self._keep_all(rest), deadline):
                self._warn("unkept", _UNKEPT, len(rest), self._keeper)
        elif rest:
            self._count(_Outcome.DROPPED, len(rest))
            self._warn(
                "away", "Lineage of %d queries is dropped: the time for closing is over", len(rest)
            )
        self._wait_until(lambda: not self._is_busy(), deadline)

    def _take_all(self) -> list[_InHand[Item]]:
        """With the lock held: all unfinished items, in their order."""
        in_hand = [] if self._in_hand is None else [self._in_hand]
        rest = [*in_hand, *map(_InHand, (*self._items, *self._overflow))]
        self._in_hand = None
        self._items.clear()
        self._overflow.clear()
        return rest

    def _add_results(self, ending: Ending | None) -> None:
        counts = self.counts()
        is_kept = self._redelivery_is_due or self._redelivery is not None
        kept = counts.kept if is_kept else 0  # else the server was back, and has it
        fates = {
            "delivered": counts.delivered,
            f"kept in {self._keeper}, {self._next_step()}": kept,
            f"refused by the server and set aside in {self._keeper}": counts.refused,
            "lost": counts.dropped,
        }
        undelivered = kept + counts.refused + counts.dropped
        shared = ending or Ending()
        shared.add(fates, unlogged=undelivered > self._logged)
        self._logged = max(undelivered, self._logged)
        if ending is None:
            shared.log()

    def _next_step(self) -> str:
        if self._stopped is not None:
            return "from where `headwater journal import` takes them"
        return "from where the next run that reaches the server delivers them"

    # --- the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        while self._wait_for_work():
            in_hand = self._take()
            if in_hand is None:
                self._redeliver_one()
                continue
            outcome = self._deliver_safely(in_hand)
            with self._changed:
                if self._in_hand is in_hand:  # else the time was up, and it is kept already
                    self._in_hand = None
                    self._count(outcome)
        if self._redelivery is not None:
            self._redelivery.close()

    def _wait_for_work(self) -> bool:
        """False at the end."""
        with self._changed:
            while not self._items and self._redelivery is None:
                if self._closing.is_set():
                    return False
                self._changed.wait()
            return not self._abandoned

    def _take(self) -> _InHand[Item] | None:
        with self._changed:
            self._in_hand = _InHand(self._items.popleft()) if self._items else None
            if self._in_hand is not None:
                self._weight -= self._weigh(self._in_hand.item)
            return self._in_hand

    def _deliver_safely(self, in_hand: _InHand[Item]) -> _Outcome:
        try:
            return self._deliver(in_hand)
        except Exception as error:  # a bug of ours must not end the thread
            self._warn_of_bug(error)
            return self._set_aside(in_hand, f"a bug: {error!r}")

    def _deliver(self, in_hand: _InHand[Item]) -> _Outcome:
        in_hand.unsent = deque(self._prepare(in_hand.item))
        if self._stopped is not None:
            return self._keep(in_hand, self._stopped)
        try:
            while in_hand.unsent:
                self._send_with_patience(in_hand.unsent[0])
                in_hand.unsent.popleft()
        except Away as error:
            return self._keep(in_hand, error)
        except Misconfigured as error:
            self._stopped = error
            return self._keep(in_hand, error)
        except DocumentRejected as error:
            outcome = self._set_aside(in_hand, str(error))
            where = f" (set aside in {self._keeper})" if outcome is _Outcome.REFUSED else ""
            self._warn(
                f"refused:{str(error)[:80]}", "The server refused lineage: %s%s", error, where
            )
            return outcome
        self._notice_delivery()
        return _Outcome.DELIVERED

    def _notice_delivery(self) -> None:
        with self._changed:
            self._warned.discard("away")
            self._begin_redelivery()

    def _begin_redelivery(self) -> None:
        """With the lock held: the thread starts it when no item waits."""
        if self._keeper is None or self._stopped is not None or not self._redelivery_is_due:
            return
        if self._redelivery is None:
            self._redelivery_is_due = False
            self._redelivery = self._keeper.redelivery(self._send_once)

    def _redeliver_one(self) -> None:
        """One document that was kept; a failure puts the rest off, to the next delivery or run."""
        assert self._redelivery is not None  # noqa: S101 (for the type checker)
        try:
            next(self._redelivery)
        except Exception as error:  # StopIteration, Away, a folder that cannot be read
            with self._changed:
                self._redelivery_is_due |= not isinstance(error, StopIteration)
                self._redelivery = None
                self._changed.notify_all()
            if isinstance(error, Misconfigured):
                self._stopped = error
                self._warn_of_stop(error, f" (kept in {self._keeper})")

    def _send_with_patience(self, post: Post) -> None:
        self._wait_as_asked()
        first, longest = self._pauses
        for attempt in range(1, self._attempts + 1):
            try:
                return self._send_once(post)
            except Away as error:
                if attempt == self._attempts or self._closing.is_set():
                    raise
                # After a failed item the next ones are tried once: a long outage drains fast.
                if "away" in self._warned:
                    raise
                asked = error.after
            chance = self._chance()
            self._closing.wait(pause_after(attempt, asked, chance, first=first, longest=longest))
        return None

    def _send_once(self, post: Post) -> None:
        """Post it, and remember until when the server wants to be left alone."""
        try:
            self._send(post)
        except Away as error:
            self._not_before = self._clock() + min(error.after, LONGEST_ASKED)
            raise

    def _wait_as_asked(self) -> None:
        """Wait for the pause that the server requested; at the end a file takes the item."""
        left = self._not_before - self._clock()
        if left > 0 and self._closing.wait(left) and self._keeper is not None:
            raise Away("the server asked to come back later")

    # --- undelivered items
    # --------------------------------------------------------------------------

    def _offer_to_keeper(self, item: Item) -> bool:
        """With the lock held: the queue is full, or closed. Another thread does the writing."""
        has_room = self._keeper is not None and len(self._overflow) < self._capacity
        if self._closing.is_set():
            fate = f"is kept in {self._keeper}" if has_room else "is lost"
            self._warn("late", _LATE, fate)
        elif not has_room:
            self._warn("full", _FULL, self._capacity)
        if not has_room:
            self._counts[_Outcome.DROPPED] += 1
            return False
        self._overflow.append(item)
        if not self._overflowing:
            _daemon(self._keep_overflow, "headwater-spill").start()
            self._overflowing = True
        return True

    def _keep_overflow(self) -> None:
        while True:
            with self._changed:
                if not self._overflow:
                    self._overflowing = False
                    self._changed.notify_all()
                    return
                item = self._overflow.popleft()
                failure = Away(f"the queue already holds {len(self._items)} documents")
            self._keep_all([_InHand(item)], failure)

    def _keep_all(self, rest: Sequence[_InHand[Item]], failure: Away | None = None) -> None:
        for in_hand in rest:
            try:
                if in_hand.unsent is None:
                    in_hand.unsent = deque(self._prepare(in_hand.item))
                self._count(self._keep(in_hand, failure or Away("the time for closing is over")))
            except Exception as error:  # a bug of ours must not stop the others
                self._warn_of_bug(error)
                self._count(_Outcome.DROPPED)

    def _keep(self, in_hand: _InHand[Item], failure: Away | Misconfigured) -> _Outcome:
        """Keep the unsent posts of an item; one warning covers the outage and its consequences."""
        if self._is_taken_over(in_hand):
            return _Outcome.KEPT
        outcome, follows = _Outcome.DROPPED, ""
        if self._keeper is not None:
            try:
                for post in list(in_hand.unsent or ()):
                    self._keeper.keep(post)
                outcome, follows = _Outcome.KEPT, f" (kept in {self._keeper})"
                self._redelivery_is_due = True
            except OSError as error:
                follows = f" (and cannot be kept: {error})"
        if isinstance(failure, Misconfigured):
            self._warn_of_stop(failure, follows)
        elif outcome is not _Outcome.KEPT or not self._abandoned:  # else the last line says it
            self._warn("away", "Lineage is not delivered, the job goes on: %s%s", failure, follows)
        return outcome

    def _set_aside(self, in_hand: _InHand[Item], reason: str) -> _Outcome:
        """Put the unsent documents of an item where a person can look: they will never be taken.

        The event of a refused plan goes with it: alone it would wait for its plan for ever.
        """
        if self._is_taken_over(in_hand):
            return _Outcome.REFUSED
        if self._keeper is None or not in_hand.unsent:
            return _Outcome.DROPPED
        try:
            for post in list(in_hand.unsent):
                self._keeper.set_aside(post, reason)
        except OSError as error:
            self._warn("aside", "Refused lineage cannot be written to a file: %s", error)
            return _Outcome.DROPPED
        return _Outcome.REFUSED

    def _is_taken_over(self, in_hand: _InHand[Item]) -> bool:
        """Whether closing has taken the thread's item from it."""
        is_thread = threading.current_thread() is self._thread
        return is_thread and self._abandoned and self._in_hand is not in_hand

    def _warn_of_stop(self, failure: Misconfigured, follows: str) -> None:
        message = "Lineage is not sent any more in this run, the job goes on: %s%s%s"
        later = "; after the correction `headwater journal import` imports the files"
        self._warn("stopped", message, failure, follows, later if "(kept in" in follows else "")

    def _warn_of_bug(self, error: Exception) -> None:
        self._warn(f"bug:{type(error).__name__}", "Lineage of a query is lost: %r", error)

    def _warn(self, kind: str, message: str, *values: object) -> None:
        """One line for each kind of failure; a failure that ended may be logged again."""
        if kind not in self._warned:
            self._warned.add(kind)
            self._logged += 1
            _LOG.warning(message, *values)


def _daemon(target: Callable[[], None], name: str) -> threading.Thread:
    return threading.Thread(target=target, name=name, daemon=True)


def _run_bounded(work: Callable[[], None], deadline: float) -> bool:
    """Whether it was done until ``deadline``, in a thread: a folder may hang as a server may.

    An interpreter that shuts down starts no threads any more: then it is done here.
    """
    thread = _daemon(work, "headwater-last")
    try:
        thread.start()
    except RuntimeError:
        work()
        return True
    thread.join(max(0.0, deadline - time.monotonic()))
    return not thread.is_alive()
