"""One spelling of JSON inside facts: equal content, equal text."""

from __future__ import annotations

from typing import Any

from graph_model import identity


def spell(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return identity.spelled(value)
