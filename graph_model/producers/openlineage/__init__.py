"""OpenLineage: events -> the same facts that Spline's plans give. Pure: no I/O, clock, environment.

    body -> read_event -> RunEvent | JobEvent | DatasetEvent
    all events of a run -> accumulate -> RunState -> read_logics -> facts

In reading order:

``producer``          the producer of OpenLineage's events
``events``            events in one normal form, and all events of a run as one state
``translate``         events -> facts
``job_logic``         the logic of a job, without times and run ids: one value for each output
``datasets``          datasets and columns of an event under their canonical identity
``columns``           column edges of one output, from a columnLineage or lineage facet
``query_text``        column lineage from the text of a job's query, where the client reports none
``plans``             the structural facts of a RunLogic, shared by all runs with the same logic
``declaration_rows``  the row of a person's declaration: author, reason, nodes under the rules
``gathering``         the documents of one subject key -> their facts and states. Pure
``reduction``         parts to leave out of a statement above the bounds of ``size_bounds``
``submissions``       events -> submissions to the journal
``listing``           the columns that lists of executions show and search of a run
``quality``           data quality assertions of a dataset -> passed or failed, with the failures
"""

from __future__ import annotations

from typing import Final

from graph_model.producers.openlineage.events.documents import (
    DatasetEvent,
    Event,
    JobEvent,
    RunEvent,
    read_event,
    subject_key,
)
from graph_model.producers.openlineage.events.runs import ancestors, newest, status
from graph_model.producers.openlineage.translate import (
    SubjectTranslation,
    read_declaration,
    read_run,
)

#: Part of the projection epoch: raise it when equal documents give other facts.
OPENLINEAGE_VERSION: Final = 15

__all__ = [
    "OPENLINEAGE_VERSION",
    "DatasetEvent",
    "Event",
    "JobEvent",
    "RunEvent",
    "SubjectTranslation",
    "ancestors",
    "newest",
    "read_declaration",
    "read_event",
    "read_run",
    "status",
    "subject_key",
]
