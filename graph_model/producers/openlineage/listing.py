"""The columns that lists of executions show and search of a run, as of a Spline document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_model import labels
from graph_model.facts import EventLabelRow, EventRow, ExecutionRow
from graph_model.folded_text import plain
from graph_model.naming import JobName
from graph_model.producers.elements.executions import label_rows, labels_text
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import JobType, value_of
from graph_model.producers.openlineage.events.jobs import facet_body, run_tags, stripped


def event_rows(
    row: ExecutionRow, job: JobName, uri: str, statement: JobStatement, outputs: Sequence[Dataset]
) -> tuple[EventRow | EventLabelRow, ...]:
    """The rows that accompany an execution of a job; ``uri`` is that of its target, ``outputs``
    are its targets as the client names them.
    """
    system = system_text(statement) or row.producer
    tagged = run_tags(statement.run_facets)
    listed = EventRow(
        execution=row.id,
        format=next(filter(None, map(_format, outputs)), ""),
        append=row.mode in labels.KEEPING_MODES,
        words=plain("\n".join((job.name, system, uri, row.application_id))),
        labels=labels_text(tagged),
        extra="{}",
        system=system,
        application=job.name,
    )
    return (listed, *sorted(label_rows(row.id, tagged)))


def system_text(statement: JobStatement) -> str:
    """``spark 3.5.1`` from ``processing_engine``, otherwise the integration in
    lower case, or "".
    """
    engine = facet_body(statement.run_facets, "processing_engine")
    named = " ".join(filter(None, (_text(engine, "name").lower(), _text(engine, "version"))))
    kind = value_of(statement.job_facets, "jobType", JobType)
    return named or (kind.integration.lower() if kind else "")


def _format(dataset: Dataset) -> str:
    return _text(facet_body(dataset.facets, "storage"), "fileFormat")


def _text(body: Mapping[str, Any], key: str) -> str:
    return stripped(body, key)[:200]
