"""The writes that executions report, and the writes that a read saw.

``rules`` are pure functions on rows; the other modules read the rows from a catalogue, each for one
question. In reading order:

``history``  all readers of one question; the states of datasets that its reads saw; the writes and
             declared flows that are visible at a moment of a dataset
``writes``   executions -> the writes that they report; the plans in force at a time; the names and
             locations of a dataset
``rules``    executions that report one write -> that write; the writes that a read saw, by time or
             by the version that it named
"""

from __future__ import annotations

from graph_model.lineage.history.rules import (
    MERGE_WINDOW_MS,
    Moment,
    Write,
    group_executions,
    merge_writes,
    visible_writes,
)

__all__ = [
    "MERGE_WINDOW_MS",
    "Moment",
    "Write",
    "group_executions",
    "merge_writes",
    "visible_writes",
]
