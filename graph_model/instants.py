"""Instants as answers spell them."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(at: int | None) -> str | None:
    """Epoch milliseconds as ISO 8601 in UTC: ``2026-03-01T08:15:00.000Z``."""
    if at is None:
        return None
    moment = datetime.fromtimestamp(at // 1000, UTC).isoformat()
    return f"{moment[:19]}.{at % 1000:03d}Z"
