"""OpenLineage: documents -> the facts that Spline's plans make. Pure: no I/O, clock, environment.

    body -> read_event -> RunEvent | JobEvent | DatasetEvent
    all events of a run -> accumulate -> RunState -> read_logics -> facts

Reading order: ``documents`` (the normal form), ``facets``, ``accumulate`` (many events, one
state), ``jobs`` and ``datasets`` (whose run, which vertices), ``logic`` (what it did, by output),
``plans`` and ``translate`` (facts), ``runs`` (trees of runs, and runs that never end).
"""

from __future__ import annotations

from typing import Final

from graph_model.openlineage.accumulate import RunState, Statement, accumulate
from graph_model.openlineage.documents import (
    DatasetEvent,
    Declaration,
    Event,
    JobEvent,
    RunEvent,
    read_event,
    subject_key,
)
from graph_model.openlineage.runs import RunStatus, ancestors, newest, roll_up, status
from graph_model.openlineage.translate import (
    Translation,
    read_declaration,
    read_run,
    translate_declaration,
    translate_run,
)

#: Part of the projection epoch: raise it when equal documents must give other facts.
OPENLINEAGE_VERSION: Final = 8

__all__ = [
    "OPENLINEAGE_VERSION",
    "DatasetEvent",
    "Declaration",
    "Event",
    "JobEvent",
    "RunEvent",
    "RunState",
    "RunStatus",
    "Statement",
    "Translation",
    "accumulate",
    "ancestors",
    "newest",
    "read_declaration",
    "read_event",
    "read_run",
    "roll_up",
    "status",
    "subject_key",
    "translate_declaration",
    "translate_run",
]
