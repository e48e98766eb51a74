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
