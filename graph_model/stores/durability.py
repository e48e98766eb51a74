"""Writes to disk that are complete before they are reported."""

from __future__ import annotations

import os
from pathlib import Path


def make_durable(path: Path) -> None:
    """Make a file's content, or the names in a folder, survive a power cut. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(file: Path, text: str) -> None:
    """Replace a small file as a whole: a crash leaves the former one, or this. Raises OSError."""
    draft = file.with_suffix(".new")
    draft.write_text(text, "utf-8")
    make_durable(draft)
    draft.replace(file)
