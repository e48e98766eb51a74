"""The ids of elements that left the graph after its last checkpoint: a file beside it.

A start that loads the checkpoint removes them again, because the documents that they came from may
be gone by then. The file only grows. The number of its bytes that count is noted in the journal, in
the transaction that ends a round:

    checkpoint-x.removed: n:1 LF e:7 LF n:9 LF ...     journal: "checkpoint-x.removed 8"

So a round that breaks off, whose removals are repeated, leaves nothing that counts, and a database
restored from a backup does not meet removals that came after it.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

REMOVALS_KEY: Final = "engine_removals"
"""Where the journal keeps the note."""
_SUFFIX: Final = ".removed"


def removals_of(checkpoint: Path) -> Path:
    """The file of the removals after a checkpoint, beside the checkpoint's own."""
    return checkpoint.with_suffix(_SUFFIX)


def counted_bytes(note: str | None, file: str) -> int:
    """How many bytes of the file of this name count, by the journal's note."""
    name, _, counted = (note or "").rpartition(" ")
    return int(counted) if name == file and counted.isascii() and counted.isdigit() else 0


def append_removals(file: Path, counted: int, ids: Collection[str]) -> str:
    """Write these ids behind the bytes that count, durably. Returns the note. Raises OSError."""
    with file.open("r+b" if counted else "wb") as stream:
        stream.truncate(counted)
        stream.seek(counted)
        stream.write("".join(f"{one}\n" for one in ids).encode())
        stream.flush()
        os.fsync(stream.fileno())
        return f"{file.name} {stream.tell()}"


def read_removals(file: Path, counted: int) -> list[str]:
    """The ids in the bytes that count. Raises OSError, also where bytes are missing, and
    UnicodeDecodeError.
    """
    if counted == 0:
        return []
    with file.open("rb") as stream:
        found = stream.read(counted)
    if len(found) < counted:
        raise OSError(f"{file.name} has {len(found):,} bytes instead of {counted:,}")
    return found.decode().splitlines()
