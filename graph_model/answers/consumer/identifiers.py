"""Ids as Spline spells them, and back.

    operation, attribute   <plan id>:<local id>                 83b6be41-…:op-1
    event                  <plan id>:<time, base 36>            83b6be41-…:lozl4ow0
                           <plan id>:<time, base 36>-<our id>   where another event has that time

A viewer cuts off all behind the last colon to get the plan's id, so colons (and whatever a path
of a URL may not hold) are percent-encoded in local ids. Those of the agents hold nothing of it.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from graph_model import identity, labels
from graph_model.errors import InvalidDocument, NotFound
from graph_model.producers.spline.documents import read_uuid

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_DIGITS: Final = 12
_RUN: Final = "run:"


@dataclass(frozen=True, slots=True)
class EventId:
    """The plan, the time and the execution that an event id names; ``execution`` None in the short
    form.
    """

    plan_id: str
    at: int
    execution: str | None


def base36(number: int) -> str:
    """``1234567890 => kf12oi``."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def event_id(plan_id: str, at: int, execution: str | None = None) -> str:
    """With an ``execution``, the form that distinguishes events of one time."""
    plain = f"{plan_id}:{base36(at)}"
    return plain if execution is None else f"{plain}-{execution}"


def read_event_id(text: str) -> EventId:
    """Raises NotFound for a text that is not an event id."""
    plan_id, separator, rest = text.rpartition(":")
    digits, _, execution = rest.partition("-")
    if not separator or not 0 < len(digits) <= _MOST_DIGITS or set(digits) - set(_DIGITS):
        raise NotFound("event", text)
    # A UUID in any case; the key of an OpenLineage run (run:…) as its client spells it.
    known = plan_id if ":" in plan_id else plan_id.lower()
    return EventId(known, int(digits, 36), execution or None)


def local_id(plan_id: str, identifier: str) -> str:
    """The id of a part of a plan."""
    return f"{plan_id}:{quote(identifier, safe='')}"


def read_plan_id(text: str) -> str:
    """A plan's id in lower case; raises NotFound for a text that is not a UUID."""
    try:
        return read_uuid(text, "")
    except InvalidDocument:
        raise NotFound("execution plan", text) from None


def is_event_plan(text: str) -> bool:
    """Whether this is a logical plan's id or an OpenLineage run's key, so that
    no document has it.
    """
    return text.startswith(_RUN) or identity.kind_of(text) == labels.LOGICAL_PLAN


def split_local_id(text: str, kind: str) -> tuple[str, str]:
    """(plan id, local id as the client sent it); raises NotFound.

    The key of an OpenLineage run contains colons: the last colon separates it from the local id.
    """
    cut = str.rpartition if text.startswith(_RUN) else str.partition
    plan_id, separator, identifier = cut(text, ":")
    if not separator or not identifier:
        raise NotFound(kind, text)
    if is_event_plan(plan_id):
        return plan_id, identifier
    try:
        return read_uuid(plan_id, ""), identifier
    except InvalidDocument:
        raise NotFound(kind, text) from None


def known_id(sent: str, known: Container[str]) -> str | None:
    """The local id that matches; a proxy may already have percent-decoded the one sent."""
    decoded = unquote(sent)
    if decoded in known and quote(decoded, safe="") == sent:
        return decoded
    return sent if sent in known else None
