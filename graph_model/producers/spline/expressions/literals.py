"""Constants as SQL text.

The agent sends Spark's internal values: a date as days since 1970, a timestamp as microseconds, an
interval as months or microseconds, a decimal as a string. Other producers, and our own masks, send
text; text is quoted as it is.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMERIC: Final = ("decimal", "tinyint", "smallint", "int", "bigint", "float", "double")


def is_numeric(data_type: str | None) -> bool:
    """True for the simpleString of a type of numbers: ``decimal(5,2)``."""
    return data_type is not None and data_type.startswith(_NUMERIC)


def quoted(text: str) -> str:
    """``it's`` => ``'it''s'``."""
    return "'" + text.replace("'", "''") + "'"


def literal_text(value: Any, data_type: str | None) -> str:
    """SQL for a constant; ``data_type`` is its simpleString where known."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    kind = data_type or ""
    if kind.startswith("interval"):
        return f"INTERVAL {_interval(value, kind)}"
    if kind == "date":
        return f"DATE {quoted(_date(value))}"
    if kind.startswith("timestamp"):
        return f"TIMESTAMP {quoted(_timestamp(value))}"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value if is_numeric(kind) and _is_number(value) else quoted(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _date(value: Any) -> str:
    """8582 => 1993-07-01; a number outside the years 1 to 9999 is unchanged."""
    if isinstance(value, int):
        try:
            return date.fromordinal(value + _EPOCH_DAY).isoformat()
        except (ValueError, OverflowError):
            pass
    return str(value)


def _timestamp(value: Any) -> str:
    if isinstance(value, int):
        try:
            moment = _EPOCH + timedelta(microseconds=value)
        except OverflowError:
            return str(value)
        return moment.replace(tzinfo=None).isoformat(" ")
    return str(value)


def _interval(value: Any, kind: str) -> str:
    """3 of ``interval month`` => ``'3' MONTH``; 86400000000 of ``interval day`` => ``'1' DAY``."""
    units = kind.removeprefix("interval").strip().upper()
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if not isinstance(value, int) or not units:
        return quoted(str(value))
    if "YEAR" in units or "MONTH" in units:
        return _year_month(value, units)
    return _day_time(value, units)


def _year_month(months: int, units: str) -> str:
    sign, months = ("-" if months < 0 else ""), abs(months)
    if units == "YEAR":
        return f"'{sign}{months // 12}' YEAR"
    if units == "MONTH":
        return f"'{sign}{months}' MONTH"
    return f"'{sign}{months // 12}-{months % 12}' YEAR TO MONTH"


def _day_time(microseconds: int, units: str) -> str:
    sizes = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000}
    size = sizes.get(units)
    if size is not None and microseconds % size == 0:
        return f"'{microseconds // size}' {units}"
    seconds = f"{microseconds / 1_000_000:f}".rstrip("0").rstrip(".")
    return f"'{seconds}' SECOND"
