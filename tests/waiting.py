"""Waiting for a condition, as long as a busy machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_SECONDS = 90.0
_PAUSE = 0.05


def eventually(check: Callable[[], Any], seconds: float = _SECONDS) -> Any:
    """The answer of ``check`` once it is true; the last answer is shown when it never is."""
    end = time.monotonic() + seconds
    while not (answer := check()):
        assert time.monotonic() < end, f"still {answer!r}"
        time.sleep(_PAUSE)
    return answer
