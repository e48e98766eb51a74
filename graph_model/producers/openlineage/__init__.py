"""OpenLineage: events -> the same facts that Spline's plans give. Pure: no I/O, clock, environment.

    body -> read_event -> RunEvent | JobEvent | DatasetEvent
    all events of a run -> accumulate -> RunState -> read_logics -> facts

In reading order:

``producer``    the producer of OpenLineage's events, and all events of a subject -> facts. Pure
``events``      events in one normal form, and all events of a run as one state
``translate``   events -> facts, within ``bounds``
``rows``        the catalogue's rows beside executions: facets, checks, lists, declarations
``job_logic``   the logic of a job, without times and run ids: one value for each output
``datasets``    datasets and columns of an event under their canonical identity
``columns``     column edges of one output: from its facets, else from the text of the job's query
``plans``       the structural facts of a RunLogic, shared by all runs with the same logic
``quality``     data quality assertions of a dataset -> passed or failed, with the failures
"""

from __future__ import annotations

from typing import Final

#: Part of the projection epoch: raise it when equal documents give other facts.
OPENLINEAGE_VERSION: Final = 28
