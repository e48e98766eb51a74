"""How often the graph outgrew a heap of this size: kept beside the engine's data, over restarts."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Final

from graph_model.stores.durability import make_durable

FILE: Final = "overflows.json"

_log = logging.getLogger(__name__)


class Overflows:
    """A number and its file; without a ``folder`` it lives as long as this process.

    With a larger heap than at the last overflow it begins at 0 again.
    """

    def __init__(self, heap_mb: int, folder: Path | None = None) -> None:
        self._heap_mb = heap_mb
        self._file = None if folder is None else folder / FILE
        self.number = 0 if self._file is None else _read(self._file, heap_mb)

    def add(self) -> None:
        """One more. A file that cannot be written is logged: it costs one more after a restart."""
        self.number += 1
        if self._file is None:
            return
        try:
            draft = self._file.with_suffix(".new")
            draft.write_text(json.dumps({"heap_mb": self._heap_mb, "number": self.number}), "utf-8")
            make_durable(draft)
            draft.replace(self._file)
        except OSError as failure:
            _log.warning("%s cannot be written: %s", self._file, failure)


def _read(file: Path, heap_mb: int) -> int:
    """0 without a file, for a larger heap, and for a file that somebody has changed."""
    try:
        noted = json.loads(file.read_text("utf-8"))
        return max(0, int(noted["number"])) if int(noted["heap_mb"]) >= heap_mb else 0
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, TypeError, KeyError) as failure:
        _log.warning("%s cannot be read: %s", file, failure)
        return 0
