"""``/graph/jobs/<id>/runs``: the runs of a job, and one run with its executions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from graph_model import labels
from graph_model.answers.executions import ExecutionView, execution_views, is_after
from graph_model.answers.nodes import job_row
from graph_model.answers.runs.trees import RunBrief, RunTrees
from graph_model.answers.sources import Sources, of_one_state
from graph_model.answers.visibility import open_node
from graph_model.errors import NotFound
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.lineage.history.merging import Reports
from graph_model.picture.view import iso
from graph_model.stores.pages import Page
from graph_model.stores.protocols import RunSummary

_RECENT = 1_000


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    application_id: str
    started_at: str | None  # None: not reported
    ended_at: str
    state: str
    executions: int
    error: str | None
    items: tuple[ExecutionView, ...] | None = None
    partial: Partial | None = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs that ended. ``reported``: details from OpenLineage, by the run's id; ``open_runs``: the
    runs that have not ended, on the first page only.
    """

    page: Page[RunView]
    reported: Mapping[str, RunBrief]
    open_runs: tuple[RunBrief, ...]


@of_one_state
def runs(
    sources: Sources, job: str, *, limit: int, cursor: str | None, at: int | None, now: int
) -> RunPage:
    """The runs of a job (an id), newest first; ``now`` is epoch ms."""
    sources = open_node(sources, labels.JOB, job)
    job_row(sources, job)
    page = sources.catalogue.list_runs(job, at=at, limit=limit, cursor=cursor)
    written = sources.catalogue.written_by(job, [run.run for run in page.items])
    reports = History(sources.catalogue).writes.reports(written)
    views = (_run_view(run, _count_again(reports, job, run, at)) for run in page.items)
    trees = RunTrees(sources)
    time = now if at is None else at
    return RunPage(
        Page(tuple(views), page.total, page.next),
        trees.states([run.run for run in page.items], time),
        () if cursor else trees.open_runs(job, time),
    )


@of_one_state
def run(sources: Sources, job: str, run: str) -> RunView:
    """One run with its executions, newest first; at most the newest 1,000.

    A write that several agents report is listed once.
    """
    sources = open_node(sources, labels.JOB, job)
    job_row(sources, job)
    found = sources.catalogue.list_runs(job, run=run, limit=1).items
    if not found:
        raise NotFound("run", run)
    page = sources.catalogue.executions(job=job, run=run, limit=_RECENT)
    cut = Partial("executions", _RECENT) if page.next is not None else None
    history = History(sources.catalogue)
    reports = history.writes.reports({(row.target, row.application_id) for row in page.items})
    again = _again(reports, {row.id for row in page.items})
    rows = history.writes.completed((row for row in page.items if row.id not in again), reports)
    view = _run_view(found[0], _count_again(reports, job, found[0], None))
    shown = [row for row in rows if row.target not in sources.hidden]
    return replace(view, items=execution_views(sources, shown), partial=cut)


def _again(reports: Iterable[Reports], shown: Collection[str]) -> frozenset[str]:
    """Ids of the listed executions that repeat the report of an earlier one listed."""
    listed = ([row.id for row in group if row.id in shown] for group in reports)
    return frozenset(key for ids in listed for key in ids[1:])


def _count_again(reports: Iterable[Reports], job: str, run: RunSummary, at: int | None) -> int:
    """The number of executions of a run that repeat the report of another one in it."""
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
