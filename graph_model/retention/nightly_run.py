"""The note of a service about the last night of retention, and whether its work is finished.

"20400"                the work of this night is done
"20400 1762700000000"  a service is at work, and gave its last sign at this time (epoch ms)
"20400 0"              a service has left the work unfinished, because it ended or for a rebuild
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SILENT_MS: Final = 15 * 60_000
"""Longer than a step may take: the service that was at work has died."""


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
