"""How long the fuzz tests run: a smoke of seconds in ``make test``, more under ``make fuzz``.

``FUZZ_EXAMPLES`` is the number of examples of each test; without it they are few. Whether they are
the same every time is the profile's to say (``tests/conftest.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, settings

_ASKED: Final = os.environ.get("FUZZ_EXAMPLES", "")
LONG: Final = bool(_ASKED)
_ALARM_MILLISECONDS: Final = 60_000  # for one example, two thousand times its usual time


def examples(smoke: int) -> Callable[[Any], Any]:
    """Settings of a fuzz test; ``smoke`` is how many examples it gets in ``make test``."""
    return settings(
        max_examples=int(_ASKED) if LONG else smoke,
        deadline=_ALARM_MILLISECONDS if LONG else None,
        suppress_health_check=list(HealthCheck),
    )
