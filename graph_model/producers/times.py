"""Event times as clients write them: ISO 8601 with anything from no fraction to nanoseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_TIME: Final = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[Tt ](?P<clock>\d{2}:\d{2}(?::\d{2})?)"
    r"(?:[.,](?P<fraction>\d{1,12}))?"
    r"\s?(?P<zone>[Zz]|UTC|[+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+:\-]{1,64}\])?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000_000
_END: Final = 253_402_300_800 * _SECOND
"""The year 10000, which no date of a day can name."""


def read_nanoseconds(text: str) -> int | None:
    """Nanoseconds since 1970; without a zone the time is UTC. None for a text that is no time up to
    the year 9999.

    2026-03-01T10:00:00.98Z, 2026-03-01T20:00:00+10:00, 2026-03-01T10:00:00.123456789Z.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    try:
        clock = found["clock"] if found["clock"].count(":") == 2 else found["clock"] + ":00"
        seconds = datetime.fromisoformat(f"{found['date']}T{clock}+00:00") - _EPOCH
    except ValueError:
        return None
    seconds -= _offset(found["zone"] or "Z")
    fraction = (found["fraction"] or "0")[:9].ljust(9, "0")
    total = (seconds.days * 86_400 + seconds.seconds) * _SECOND + int(fraction)
    return total if 0 <= total < _END else None


def _offset(zone: str) -> timedelta:
    if zone.upper() in ("Z", "UTC"):
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    distance = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -distance if zone[0] == "-" else distance
