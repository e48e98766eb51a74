"""Ports for programs that cannot say which one the system gave them: nginx, PostgreSQL.

Our own processes bind to port 0 and say what they have. A port from here lies below those that the
system hands out, and a lock on a file, held until this process ends, keeps it from other workers.
"""

from __future__ import annotations

import fcntl
import socket
import tempfile
from pathlib import Path
from typing import IO, Final

_FIRST: Final = 21_000
_LAST: Final = 29_000
_FOLDER: Final = Path(tempfile.gettempdir()) / "headwater-test-ports"
_held: list[IO[str]] = []
_numbers = iter(range(_FIRST, _LAST))


def reserved_port() -> int:
    """A port of 127.0.0.1 that no other process of the tests gets while this one lives."""
    _FOLDER.mkdir(exist_ok=True)
    for port in _numbers:
        if _lock(port) and _is_free(port):
            return port
    raise AssertionError(f"no port from {_FIRST} to {_LAST} is free")


def _lock(port: int) -> bool:
    lock = (_FOLDER / str(port)).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _held.append(lock)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
