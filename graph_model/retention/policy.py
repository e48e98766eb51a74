"""The setting ``HEADWATER_KEEP``, and what a service notes about its last night.

runs=100,days=400 => RetentionPolicy(runs=100, days=400, hour=3)

The note says whether the work of the night is finished:

"20400"                the work of this night is done
"20400 1762700000000"  a service is at work, and gave its last sign at this time (epoch ms)
"20400 0"              a service has left the work unfinished, because it ended or for a rebuild
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EXPECTED: Final = (
    "runs=<1 to 1000000>, days=<1 to 36500> or both with a comma, hour=<0 to 23> (UTC) if another "
    "than 3, and bodies=keep if the journal's documents stay; or nothing, so that everything stays"
)
_BOUNDS: Final = {"runs": (1, 1_000_000), "days": (1, 36_500), "hour": (0, 23)}
_BODIES: Final = "bodies"
_STAY: Final = "keep"
_DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
SILENT_MS: Final = 15 * 60_000
"""Longer than a step may take: the service that was at work has died."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """The newest ``runs`` of each job stay, and all of the last ``days``: the union. At least one
    of them is given. ``hour`` (UTC) is when the rest goes. ``keeps_bodies``: the journal keeps the
    documents that go.
    """

    runs: int | None = None
    days: int | None = None
    hour: int = 3
    keeps_bodies: bool = False

    def __str__(self) -> str:
        given = {"runs": self.runs, "days": self.days}
        parts = [f"{name}={value}" for name, value in given.items() if value is not None]
        return ",".join(parts + [f"{_BODIES}={_STAY}"] * self.keeps_bodies)

    def before(self, now: int) -> int | None:
        """The time before which executions may go (epoch ms); None without a limit by days."""
        return None if self.days is None else now - self.days * _DAY_MS

    def night(self, now: int) -> int:
        """The number of the night that began last: it changes once a day, at ``hour``."""
        return (now - self.hour * _HOUR_MS) // _DAY_MS


def read_policy(text: str) -> RetentionPolicy | None:
    """The setting; None for an empty one. Raises ValueError with the expected form."""
    if not text.strip():
        return None
    parts = [part.partition("=") for part in text.split(",")]
    given = {name.strip(): value.strip() for name, _, value in parts}
    if len(given) < len(parts) or not given.keys() & {"runs", "days"}:
        raise ValueError(EXPECTED)
    bodies = given.pop(_BODIES, None)
    if bodies not in (None, _STAY):
        raise ValueError(EXPECTED)
    numbers = {name: _number(name, value) for name, value in given.items()}
    return RetentionPolicy(**numbers, keeps_bodies=bodies == _STAY)


def _number(name: str, value: str) -> int:
    if name not in _BOUNDS or not (value.isascii() and value.isdigit() and len(value) < 9):
        raise ValueError(EXPECTED)
    least, most = _BOUNDS[name]
    if not least <= int(value) <= most:
        raise ValueError(EXPECTED)
    return int(value)


@dataclass(frozen=True, slots=True)
class NightlyRun:
    """A night by its number (``RetentionPolicy.night``); ``sign`` is None when its work is done."""

    number: int
    sign: int | None = None

    def is_left(self, now: int) -> bool:
        """Whether a service began the work and no service goes on with it."""
        return self.sign is not None and now - self.sign > SILENT_MS

    def __str__(self) -> str:
        return str(self.number) if self.sign is None else f"{self.number} {self.sign}"


def read_nightly_run(noted: str | None) -> NightlyRun | None:
    """The night in this note; None where no night has begun yet."""
    if not noted:
        return None
    number, _, sign = noted.partition(" ")
    return NightlyRun(int(number), int(sign) if sign else None)
