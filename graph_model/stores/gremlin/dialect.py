"""Differences between Gremlin engines as data: one frozen object per engine.

Only steps that Neptune accepts are used for either engine: string ids, no lambdas, no ``iterate()``
(its bytecode differs between TinkerPop 3.7 and 3.8), explicit single cardinality where an engine
would otherwise keep sets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Upsert(StrEnum):
    """How a batch is written.

    ``ROWS``: one plan for any number of rows, ``inject(rows).unfold().mergeV(…)``.
    ``CHAIN``: one literal ``mergeV(…)`` after the other, the form that Neptune optimises.
    """

    ROWS = "rows"
    CHAIN = "chain"


class FailureAction(StrEnum):
    """The reaction to a failed request."""

    CONFLICT = "conflict"  # another transaction was in the way: again, soon
    BUSY = "busy"  # too many requests, or memory short: again, later
    STRAINED = "strained"  # memory short for this request: again, later; then in smaller parts
    MOVED = "moved"  # this server takes no writes any more: ask again where it is, then again
    BROKEN = "broken"  # the connection ended: reconnect, then again
    TIMEOUT = "timeout"  # it took too long: asking again would only take as long again
    TOO_LARGE = "too large"  # never as it is; in smaller parts perhaps
    REFUSED = "refused"  # the server does not let us in: nothing to repeat
    REJECTED = "rejected"  # the request is wrong: never again


@dataclass(frozen=True, slots=True)
class Retry:
    """How often to try in all, and the pauses between (seconds; doubled up to the longest)."""

    attempts: int
    first_pause: float
    longest_pause: float


NO_RETRY: Final = Retry(1, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine.

    ``batch_elements`` and ``batch_records`` bound a write request; a record is one label or one
    property (Neptune's measure). ``batch_bytes`` bounds its encoded size; ``request_bytes`` is the
    most that the server takes at all, so that one huge element is rejected instead of ending the
    connection each time. ``remove_elements`` and ``clear_elements`` bound a removal by id and of
    everything. ``parallel_writes`` is the number of writes of one process at a time.
    """

    name: str
    upsert: Upsert
    batch_elements: int
    batch_records: int
    batch_bytes: int
    request_bytes: int
    remove_elements: int
    clear_elements: int
    parallel_writes: int
    retries: Mapping[FailureAction, Retry]

    def retry(self, verdict: FailureAction) -> Retry:
        return self.retries.get(verdict, NO_RETRY)


# --- the meaning of errors ----------------------------------------------------------------------

# By status code; 596 is TinkerPop's "temporary", 598 its "timeout".
_CODES: Final = {
    401: FailureAction.REFUSED,
    403: FailureAction.REFUSED,
    407: FailureAction.REFUSED,
    429: FailureAction.BUSY,
    503: FailureAction.BUSY,
    413: FailureAction.TOO_LARGE,
    504: FailureAction.TIMEOUT,
    596: FailureAction.CONFLICT,
    598: FailureAction.TIMEOUT,
}

# Neptune names the error in the ``code`` of a JSON message; the number is nearly always 500.
# With these a request may pass the next time, or in smaller parts, or elsewhere; any other means
# that the request is wrong. A ConstraintViolation (an edge without its end) is wrong for this
# request alone, but the writer writes the whole plan anew: see GremlinWriter.write.
_NEPTUNE: Final = {
    "ConcurrentModificationException": FailureAction.CONFLICT,
    "ThrottlingException": FailureAction.BUSY,
    "TooManyRequestsException": FailureAction.BUSY,
    "QueryLimitExceededException": FailureAction.BUSY,
    "InternalFailureException": FailureAction.BUSY,
    "CancelledByMaintenanceException": FailureAction.BUSY,
    "CancelledByUserException": FailureAction.BUSY,
    "MemoryLimitExceededException": FailureAction.STRAINED,
    "ReadOnlyViolationException": FailureAction.MOVED,
    "ServerShutdownException": FailureAction.MOVED,
    "TimeLimitExceededException": FailureAction.TIMEOUT,
    "QueryTooLargeException": FailureAction.TOO_LARGE,
    "QueryLimitException": FailureAction.TOO_LARGE,
    "AccessDeniedException": FailureAction.REFUSED,
}

# TinkerPop says it in words. "already exists" and "does not exist" here: two transactions upsert
# one element, and the second finds out while it runs rather than when it commits.
_WORDS: Final = (
    ("modified in another transaction", FailureAction.CONFLICT),
    ("concurrentmodificationexception", FailureAction.CONFLICT),
    ("with id already exists", FailureAction.CONFLICT),
    ("timeout occurred", FailureAction.TIMEOUT),
)


def judge(code: int, message: str) -> FailureAction:
    """The verdict on a server's error: its status code and message, JSON or text.

    ``judge(500, '{"code": "ThrottlingException", …}')`` => ``FailureAction.BUSY``.
    """
    name = _neptune_code(message)
    for known, verdict in _NEPTUNE.items():
        if name in (known, known.removesuffix("Exception")):
            return verdict
    folded = message.casefold()
    for words, verdict in _WORDS:
        if words in folded:
            return verdict
    return _CODES.get(code, FailureAction.REJECTED)


def _neptune_code(message: str) -> str:
    if not message.startswith("{"):
        return ""
    try:
        return str(json.loads(message).get("code", ""))
    except ValueError:
        return ""


# --- the engines ---------------------------------------------------------------------------------

_RECONNECT: Final = Retry(4, 0.1, 1.0)

EMBEDDED: Final = Dialect(
    name="embedded",
    upsert=Upsert.ROWS,
    batch_elements=4000,
    batch_records=1_000_000,
    batch_bytes=8 << 20,
    request_bytes=64 << 20,
    remove_elements=500,
    clear_elements=10_000,
    # its writers take turns
    parallel_writes=1,
    retries={
        FailureAction.CONFLICT: Retry(12, 0.02, 1.0),
        FailureAction.BUSY: Retry(6, 0.2, 2.0),
        FailureAction.BROKEN: _RECONNECT,
        FailureAction.MOVED: _RECONNECT,
    },
)

# Neptune locks ranges, so unrelated writers may conflict: 3-4 % of writes fail under load and are
# simply tried again. Its documentation advises about 200 records a request. Reads carry no
# query hints: those steer repeat() and the planner's order, and ours go by id, one level a request.
NEPTUNE: Final = Dialect(
    name="neptune",
    upsert=Upsert.CHAIN,
    batch_elements=100,
    batch_records=200,
    batch_bytes=1 << 20,
    request_bytes=55 << 20,  # the largest property or label
    # a removal locks and logs each property: about as much in one transaction as a write
    remove_elements=100,
    clear_elements=1_000,
    parallel_writes=8,
    retries={
        FailureAction.CONFLICT: Retry(10, 0.1, 4.0),
        FailureAction.BUSY: Retry(6, 1.0, 10.0),
        FailureAction.STRAINED: Retry(3, 5.0, 10.0),
        FailureAction.BROKEN: _RECONNECT,
        # the cluster's name needs some seconds to follow a failover; each try asks it anew
        FailureAction.MOVED: Retry(8, 0.5, 10.0),
    },
)

DIALECTS: Final = {dialect.name: dialect for dialect in (EMBEDDED, NEPTUNE)}
