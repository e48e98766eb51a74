"""One spelling of JSON inside facts: equal content, equal text."""

from __future__ import annotations

import json
from typing import Any, Final

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def spell(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return _ENCODER.encode(value)
