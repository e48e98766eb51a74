"""The ids of elements that left the graph after its last checkpoint: a file beside it.

A start that loads the checkpoint removes them again, because the documents that they came from may
be gone by then. The file only grows. How many of its bytes count, and their checksum (CRC-32), is
noted in the journal, in the transaction that ends a round:

    checkpoint-x.removed: n:1 LF e:7 LF n:9 LF ...     journal: "checkpoint-x.removed 8 1c291ca3"

So a round that breaks off, whose removals are repeated, leaves nothing that counts, and a database
restored from a backup does not meet removals that came after it. Nothing waits for the disk: bytes
that a power cut has taken are missed by their checksum, and the checkpoint is then refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

REMOVALS_KEY: Final = "engine_removals"
"""Where the journal keeps the note."""
_SUFFIX: Final = ".removed"


class CountedBytes(NamedTuple):
    """The first bytes of a file, and their checksum."""

    size: int = 0
    checksum: int = 0


def removals_of(checkpoint: Path) -> Path:
    """The file of the removals after a checkpoint, beside the checkpoint's own."""
    return checkpoint.with_suffix(_SUFFIX)


def read_note(note: str | None, file: Path) -> CountedBytes:
    """The bytes of this file that count; none by a note about another file. Raises ValueError for a
    note that ``append_removals`` did not write.
    """
    name, _, numbers = (note or "").partition(" ")
    if name != file.name:
        return CountedBytes()
    size, _, checksum = numbers.partition(" ")
    return CountedBytes(int(size), int(checksum, 16))


def append_removals(file: Path, counted: CountedBytes, ids: Collection[str]) -> str:
    """Write these ids behind the bytes that count. Returns the note. Raises OSError."""
    added = "".join(f"{one}\n" for one in ids).encode()
    with file.open("r+b" if counted.size else "wb") as stream:
        stream.truncate(counted.size)
        stream.seek(counted.size)
        stream.write(added)
    return f"{file.name} {counted.size + len(added)} {zlib.crc32(added, counted.checksum):08x}"


def read_removals(file: Path, counted: CountedBytes) -> list[str]:
    """The ids in the bytes that count. Raises OSError, also where these are not the bytes that were
    written.
    """
    if counted.size == 0:
        return []
    with file.open("rb") as stream:
        found = stream.read(counted.size)
    if len(found) < counted.size or zlib.crc32(found) != counted.checksum:
        raise OSError(f"its first {counted.size:,} bytes are not those that were written")
    return found.decode().splitlines()
