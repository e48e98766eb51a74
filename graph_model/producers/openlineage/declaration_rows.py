"""The row of a declaration: author, reason, and its nodes under the rules in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graph_model import identity
from graph_model.facts import DeclarationRow
from graph_model.naming import JobName
from graph_model.producers.openlineage.datasets import DatasetUse
from graph_model.producers.openlineage.events.declaration_facet import (
    DECLARATION_FACET,
    DeclarationFacet,
)
from graph_model.producers.openlineage.events.documents import JobEvent, subject_key
from graph_model.producers.openlineage.events.facets import value_of
from graph_model.producers.openlineage.job_logic import RunLogic


def declaration_rows(
    event: JobEvent, job: JobName, logics: Sequence[RunLogic], scope: str
) -> tuple[DeclarationRow, ...]:
    """One row for an event with a declaration facet, otherwise none. ``logics`` is the event's
    logic.
    """
    facet = value_of(event.job.facets, DECLARATION_FACET, DeclarationFacet)
    written = [logic.write for logic in logics if logic.write is not None]
    if facet is None or not written:
        return ()
    target = written[0]
    sources = {use.id: use for logic in logics for use, _ in logic.reads}
    job_id = identity.job_id(job.namespace, job.name)
    body = {
        "job": {"id": job_id, "namespace": job.namespace, "name": job.name},
        "target": _described(target),
        "sources": [_described(sources[key]) for key in sorted(sources)],
        "columns": _columns(logics),
    }
    return (
        DeclarationRow(
            id=facet.id,
            event=event.digest,
            plan_id=subject_key(event),
            scope=scope,
            author=facet.author,
            declared_at=facet.declared_at,
            since=event.at,
            note=facet.note,
            job=job_id,
            target=target.id,
            nodes=" ".join(sorted({job_id, target.id, *sources})),
            body=identity.spelled(body),
        ),
    )


def _described(use: DatasetUse) -> dict[str, str]:
    return {"id": use.id, "uri": use.dataset.uri, "scope": use.dataset.scope}


def _columns(logics: Iterable[RunLogic]) -> list[dict[str, Any]]:
    """``source`` is the dataset's id, ``from`` and ``to`` are paths."""
    return [
        {"source": flow.source[0], "from": flow.source[1], "to": flow.target[1]}
        for logic in logics
        for flow in logic.flows
    ]
