"""CPU time of processes, as Linux tells it in /proc."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def tree(root: int, without: Collection[int] = ()) -> list[int]:
    """A process and all below it, except ``without`` and what is below those.

    Raises FileNotFoundError where there is no /proc.
    """
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    pending = [root]
    while pending:
        process = pending.pop()
        if process not in without:
            found.append(process)
            pending += children.get(process, ())
    return found


def cpu_seconds(processes: Collection[int]) -> float:
    """User and system time so far, to a hundredth of a second; what has ended counts nothing."""
    ticks = sum(int(f[11]) + int(f[12]) for f in map(_fields, processes) if f)
    return ticks / os.sysconf("SC_CLK_TCK")


def _fields(process: int) -> list[str]:
    """Of /proc/<id>/stat what follows the name, which may hold anything; [] when it has ended."""
    try:
        text = (_PROC / str(process) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
