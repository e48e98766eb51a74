"""``/graph/runs``: the executions of all jobs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from graph_model.answers.nodes import dataset_references, job_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.error_text import cause_line
from graph_model.picture.view import DatasetReference, JobReference, iso
from graph_model.stores.pages import ExecutionOrder, Page


@dataclass(frozen=True, slots=True)
class RunItem:
    """One execution; ``run`` is the id of its run; ``target`` None: it only read. ``at`` and
    ``counted_at`` are as in an ``ExecutionView``.
    """

    id: str
    run: str
    job: JobReference | None
    target: DatasetReference | None
    at: str
    state: str
    kind: str
    duration_ms: int | None
    error: str | None
    metrics: Any
    counted_at: str | None = None


@of_one_state
def all_runs(
    sources: Sources,
    *,
    state: str | None,
    doubtful: bool = False,
    limit: int,
    cursor: str | None,
    at: int | None,
    order: ExecutionOrder = ExecutionOrder.AT_FALLING,
) -> Page[RunItem]:
    page = sources.catalogue.recent_executions(
        sources.hidden,
        state=state,
        doubtful=doubtful,
        limit=limit,
        cursor=cursor,
        at=at,
        order=order,
    )
    jobs = job_references(sources, {one.job for one in page.items})
    datasets = dataset_references(sources, {one.target for one in page.items if one.target})
    items = tuple(
        RunItem(
            id=one.id,
            run=one.run,
            job=jobs.get(one.job),
            target=datasets.get(one.target),
            at=iso(one.at + one.ahead) or "",
            state=one.state,
            kind=one.kind,
            duration_ms=one.duration_ms,
            error=cause_line(one.error),
            metrics=json.loads(one.metrics) if one.metrics else {},
            counted_at=iso(one.at) if one.ahead else None,
        )
        for one in page.items
    )
    return Page(items, page.total, page.next)
