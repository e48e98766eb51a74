"""Times: epoch milliseconds or ISO 8601 in, ISO 8601 in UTC with milliseconds out."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final, overload

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
LATEST: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
EXPECTED: Final = "a time: epoch milliseconds or ISO 8601, such as 2026-03-01T08:15:00.000Z"
#: A "+" that is not percent-encoded arrives as a space: "...T08:15:00 02:00" => "+02:00".
_LOST_PLUS: Final = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
_DATE_AND_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]")


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


@overload
def iso(at: int) -> str: ...


@overload
def iso(at: int | None) -> str | None: ...


def iso(at: int | None) -> str | None:
    """``1772352900000`` => ``2026-03-01T08:15:00.000Z``."""
    if at is None:
        return None
    moment = datetime.fromtimestamp(at // 1000, UTC).isoformat()
    return f"{moment[:19]}.{at % 1000:03d}Z"


def parse_instant(text: str) -> int:
    """Epoch milliseconds (floor). Digits alone are epoch milliseconds, few or many; a
    time without a zone is UTC, a date is its midnight.

    Raises ValueError for anything else, and before 1970 or after the year 9999.
    """
    if text.isascii() and text.isdigit():
        return _within(int(text) if len(text) < 20 else LATEST + 1)
    if _DATE_AND_TIME.match(text):
        text = _LOST_PLUS.sub("+", text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _within((moment - _EPOCH) // _MILLISECOND)


def _within(milliseconds: int) -> int:
    if not 0 <= milliseconds <= LATEST:
        raise ValueError("before 1970 or after 9999")
    return milliseconds
