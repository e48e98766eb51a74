"""How often jobs run: ``hourly=1,daily=25,weekly=74`` are shares of the jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

DEFAULT: Final = "hourly=1,daily=25,weekly=74"
"""Of 5,000 jobs some 1,090,000 runs a year."""
EXPECTED: Final = "hourly, daily, weekly or <hours>h, each with =<share>: hourly=1,6h=4,daily=95"
_HOURS: Final = {"hourly": 1, "daily": 24, "weekly": 168}
_LONGEST_CYCLE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A share of the jobs runs every ``hours``."""

    hours: int
    share: float


def read_rhythms(text: str) -> tuple[Rhythm, ...]:
    """Raises ValueError with the expected form."""
    parts = [part.partition("=") for part in text.split(",")]
    rhythms = tuple(Rhythm(_hours(name.strip()), _share(share)) for name, _, share in parts)
    if math.lcm(*(rhythm.hours for rhythm in rhythms)) > _LONGEST_CYCLE:
        raise ValueError(f"periods that come together within {_LONGEST_CYCLE:,} hours")
    if not sum(rhythm.share for rhythm in rhythms):
        raise ValueError(EXPECTED)
    return rhythms


def _hours(name: str) -> int:
    hours = _HOURS.get(name) or (int(name[:-1]) if name[:-1].isdecimal() else 0)
    if not hours or (name not in _HOURS and name[-1] != "h"):
        raise ValueError(EXPECTED)
    return hours


def _share(text: str) -> float:
    share = float(text) if text.replace(".", "", 1).isdecimal() else math.nan
    if not share >= 0:
        raise ValueError(EXPECTED)
    return share


def deal(jobs: int, rhythms: tuple[Rhythm, ...]) -> tuple[int, ...]:
    """How many jobs have each rhythm: together all of them."""
    total = sum(rhythm.share for rhythm in rhythms)
    ends, reached = [0], 0.0
    for item in rhythms:
        reached += item.share
        ends.append(round(jobs * reached / total))
    return tuple(end - begin for begin, end in pairwise(ends))
