"""The heap that fits this machine, or the container that this process runs in.

A container's limit is that of its cgroup, which may be far below the memory of the machine. Half of
the limit is for the engine's heap; the other half is for the service, for the JVM's needs beside
its heap, and for the pages of the databases that the kernel keeps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

LEAST_HEAP_MB: Final = 128
MEBIBYTE: Final = 2**20
_ROOT: Final = Path("/")


def fitting_heap(limit: int) -> int:
    """Half of this many bytes, in MB; at least 128."""
    return max(LEAST_HEAP_MB, limit // 2 // MEBIBYTE)


def memory_limit(root: Path = _ROOT) -> int:
    """The bytes of memory that this process and the JVM may use together: the least of the
    machine's memory and the limits of this process's control groups (version 2 or 1).

    ``root`` is the root of the file system.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(root)])


def _limits(root: Path) -> Iterator[int]:
    groups = root / "sys" / "fs" / "cgroup"
    own = PurePosixPath(_own_group(root).lstrip("/"))
    for group in (own, *own.parents):
        yield from _number(groups / group / "memory.max")
    yield from _number(groups / "memory" / "memory.limit_in_bytes")


def _own_group(root: Path) -> str:
    """``0::/system.slice/headwater.service`` => its path; a container sees ``/``."""
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text("utf-8").splitlines()
    except OSError:
        return "/"
    return next((line[3:] for line in lines if line.startswith("0::")), "/")


def _number(file: Path) -> Iterator[int]:
    """The limit in a file; none where the file is missing or says ``max``."""
    try:
        text = file.read_text("utf-8").strip()
    except OSError:
        return
    if text.isdigit():
        yield int(text)
