"""Processes as Linux describes them in /proc: their CPU time, memory and children."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_of(*pids: int) -> float:
    """Seconds of user and system time so far; a process that has ended counts nothing."""
    ticks = sum(int(fields[11]) + int(fields[12]) for fields in map(_fields, pids) if fields)
    return ticks / _TICKS


def resident(*pids: int) -> float:
    """Megabytes of memory that processes hold; one that has ended holds none."""
    pages = sum(int(fields[21]) for fields in map(_fields, pids) if fields)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def children(pid: int) -> list[int]:
    """The processes that this one has started and that run."""
    return _children_of_all().get(pid, [])


def tree(root: int, without: Collection[int] = ()) -> list[int]:
    """A process and all below it, except ``without`` and the processes below those."""
    known = _children_of_all()
    result: list[int] = []
    pending = [root]
    while pending:
        process = pending.pop()
        if process not in without:
            result.append(process)
            pending += known.get(process, ())
    return result


def _children_of_all() -> dict[int, list[int]]:
    """Raises FileNotFoundError where there is no /proc."""
    result: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            result.setdefault(int(fields[1]), []).append(int(entry.name))
    return result


def _fields(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the name, which may hold any text; [] when ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
