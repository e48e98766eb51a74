"""Which executions are one write, and which writes a read saw.

``past`` reads rows from a catalogue; the other modules are pure functions on rows. In reading
order:

``past``        the writes of datasets at given times
``visibility``  the writes that a read saw
``merging``     executions that report one write -> that write
``versions``    the writes behind a version of a table
"""

from __future__ import annotations

from graph_model.lineage.history.merging import (
    MERGE_WINDOW_MS,
    Write,
    group_executions,
    merge_writes,
)
from graph_model.lineage.history.visibility import Moment, visible_writes

__all__ = [
    "MERGE_WINDOW_MS",
    "Moment",
    "Write",
    "group_executions",
    "merge_writes",
    "visible_writes",
]
