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


def note_durably(note: Mapping[str, int], file: Path) -> None:
    """Replace a small JSON file as a whole: a crash leaves the former one, or this. A file that
    cannot be written is logged.
    """
    draft = file.with_suffix(".new")
    try:
        draft.write_text(json.dumps(note), "utf-8")
        make_durable(draft)
        draft.replace(file)
    except OSError as failure:
        _log.warning("%s cannot be written: %s", file, failure)
