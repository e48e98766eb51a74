"""The writes that executions report, and the writes that a read saw.

``merging``, ``read_rule`` and ``versions`` are pure functions on rows; the other modules read the
rows from a catalogue, each for one question. In reading order:

``history``               the parts below for one question, over one catalogue
``names``                 the names and locations of a dataset, and the locations around it
``plans``                 rows of logical plans; the plans in force at a time
``columns``               columns in the schemas of datasets
``parts``                 the partitions and versions that executions report
``writes``                executions -> the writes that they report
``reads``                 the state of a dataset that a read saw
``declared``              the flows into a dataset that people declared
``visible_write_reader``  the writes that are visible at a moment of a dataset
``merging``               executions that report one write -> that write
``read_rule``             the writes that a read saw
``versions``              the writes behind a version of a table
"""

from __future__ import annotations

from graph_model.lineage.history.merging import (
    MERGE_WINDOW_MS,
    Write,
    group_executions,
    merge_writes,
)
from graph_model.lineage.history.read_rule import Moment, visible_writes

__all__ = [
    "MERGE_WINDOW_MS",
    "Moment",
    "Write",
    "group_executions",
    "merge_writes",
    "visible_writes",
]
