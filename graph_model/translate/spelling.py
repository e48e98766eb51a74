"""One spelling of JSON inside facts: equal content, equal text."""

from __future__ import annotations

import json
from typing import Any


def spell(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
