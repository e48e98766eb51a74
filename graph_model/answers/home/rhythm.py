"""How often a job runs, from the times of its newest runs, and whether it is late.

A job that has run at least four times has a rhythm: the median time between two of its newest runs.
``RUNS_COMPARED`` of them are enough: a failed run with three repetitions changes no rhythm. The job
is late when one and a half times that, and five minutes, have passed since its last run. After ten
times that it is no longer late but at rest: somebody has stopped it.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from statistics import median_high
from typing import Final

RUNS_COMPARED: Final = 7
_LEAST_RUNS: Final = 4
_PATIENCE_MS: Final = 5 * 60_000
_AT_REST: Final = 10


def rhythm_of(times: Collection[int]) -> int | None:
    """The usual time between two runs in ms; None where too few are known."""
    ordered = sorted(set(times))
    if len(ordered) < _LEAST_RUNS:
        return None
    return median_high(later - earlier for earlier, later in pairwise(ordered))


def is_late(last: int, rhythm: int, now: int) -> bool:
    waited = now - last
    return 1.5 * rhythm + _PATIENCE_MS < waited < _AT_REST * rhythm + _PATIENCE_MS
