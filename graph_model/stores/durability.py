"""Writes to disk that are complete before they are reported."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

_log = logging.getLogger(__name__)


def make_durable(path: Path) -> None:
    """Make a file's content, or the names in a folder, survive a power cut. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_durably(file: Path, content: object) -> None:
    """Replace a JSON file as a whole: a crash leaves the former one, or this. Raises OSError."""
    draft = file.with_name(f"{file.name}.new")
    with draft.open("w", encoding="utf-8") as written:
        json.dump(content, written)
    make_durable(draft)
    draft.replace(file)


def note_durably(note: Mapping[str, int], file: Path) -> None:
    """As :func:`replace_durably`; a file that cannot be written is logged."""
    try:
        replace_durably(file, note)
    except OSError as failure:
        _log.warning("%s cannot be written: %s", file, failure)
