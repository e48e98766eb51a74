"""``/graph/jobs/<id>/runs``: the runs of a job, and one run with its executions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from graph_model.answers.executions import ExecutionView, execution_views, is_after
from graph_model.answers.nodes import job_row
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import NotFound
from graph_model.history.past import Past, Reports
from graph_model.lineage import (
    Partial,
)
from graph_model.store import (
    Page,
    RunSummary,
)
from graph_model.view import (
    iso,
)

_RECENT = 1_000


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    application_id: str
    started_at: str | None  # None: nobody said it
    ended_at: str
    state: str
    executions: int
    error: str | None
    items: tuple[ExecutionView, ...] | None = None
    partial: Partial | None = None


@of_one_state
def runs(
    sources: Sources, job: str, *, limit: int, cursor: str | None, at: int | None
) -> Page[RunView]:
    job_row(sources, job)
    page = sources.catalogue.list_runs(job, at=at, limit=limit, cursor=cursor)
    written = sources.catalogue.written_by(job, [run.run for run in page.items])
    reports = Past(sources.catalogue).reports(written)
    views = (_run_view(run, _count_again(reports, job, run, at)) for run in page.items)
    return Page(tuple(views), page.total, page.next)


@of_one_state
def run(sources: Sources, job: str, run: str) -> RunView:
    """One run with its executions, newest first; of more than 1,000 the newest.

    A write that several agents report is one of them.
    """
    job_row(sources, job)
    found = sources.catalogue.list_runs(job, run=run, limit=1).items
    if not found:
        raise NotFound("run", run)
    page = sources.catalogue.executions(job=job, run=run, limit=_RECENT)
    cut = Partial("executions", _RECENT) if page.next is not None else None
    past = Past(sources.catalogue)
    reports = past.reports({(row.target, row.application_id) for row in page.items})
    again = _again(reports, {row.id for row in page.items})
    rows = past.completed((row for row in page.items if row.id not in again), reports)
    view = _run_view(found[0], _count_again(reports, job, found[0], None))
    shown = [row for row in rows if row.target not in sources.hidden]
    return replace(view, items=execution_views(sources, shown), partial=cut)


def _again(reports: Iterable[Reports], shown: Collection[str]) -> frozenset[str]:
    """Ids of those shown that report what an earlier one of them has."""
    listed = ([row.id for row in group if row.id in shown] for group in reports)
    return frozenset(key for ids in listed for key in ids[1:])


def _count_again(reports: Iterable[Reports], job: str, run: RunSummary, at: int | None) -> int:
    """How many executions of a run report what another one of it has."""
    if not run.application_id:
        return 0
    own = {
        row.id
        for group in reports
        for row in group
        if (row.job, row.application_id) == (job, run.application_id) and not is_after(row.at, at)
    }
    return len(_again(reports, own))


def _run_view(run: RunSummary, again: int) -> RunView:
    return RunView(
        id=run.run,
        application_id=run.application_id,
        started_at=iso(run.started_at),
        ended_at=iso(run.ended_at) or "",
        state=run.state,
        executions=run.executions - again,
        error=run.error,
    )
