"""What is true at a time (DESIGN.md): which executions are one write, which writes a read saw.

``merging`` and ``visibility`` are pure functions on rows; ``past`` asks a catalogue for the rows.
"""

from __future__ import annotations

from graph_model.history.merging import (
    CTAS_COMMANDS,
    MERGE_WINDOW_MS,
    Write,
    group_executions,
    merge_writes,
)
from graph_model.history.visibility import Bound, Moment, visible_versions, visible_writes

#: The two commands of one CREATE TABLE AS SELECT end this close together (milliseconds).
CTAS_WINDOW_MS = MERGE_WINDOW_MS

__all__ = [
    "CTAS_COMMANDS",
    "CTAS_WINDOW_MS",
    "MERGE_WINDOW_MS",
    "Bound",
    "Moment",
    "Write",
    "group_executions",
    "merge_writes",
    "visible_versions",
    "visible_writes",
]
