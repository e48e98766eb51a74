"""The heap that fits this machine, or the container that this process runs in.

A container's limit is that of its cgroup, which is far below the memory of the machine. Half of it
is for the engine's heap; the other half is for the service, for the JVM's needs beside its heap,
and for the pages of the databases that the kernel keeps.
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
    """Half of so many bytes, in MB; 128 at least."""
    return max(LEAST_HEAP_MB, limit // 2 // MEBIBYTE)


def memory_limit(root: Path = _ROOT) -> int:
    """Bytes that this process and the JVM beside it may use; ``root`` is that of the file system.

    The least of the machine's memory and of the limits of our control groups (version 2, or 1).
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
