"""``/graph/jobs``: jobs, and one job with its logical plans."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from graph_model import identity, labels
from graph_model.answers.facets import JobFacets, job_facets, nodes_of_owner, owners_of
from graph_model.answers.home import late_jobs
from graph_model.answers.nodes import dataset_references, job_row, open_node
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import InvalidInput
from graph_model.facts import ExecutionRow, LogicalPlanRow
from graph_model.lineage import HUB_LIMIT, Partial
from graph_model.picture.view import DatasetReference, LastRun, known_mode, last_run
from graph_model.stores.catalogue_values import JobSummary
from graph_model.stores.graph import Direction
from graph_model.stores.pages import JobOrder, Page
from graph_model.values import iso

_PLANS_SHOWN = 200
_RECENT = 1_000


@dataclass(frozen=True, slots=True)
class JobItem:
    id: str
    namespace: str
    name: str
    shared: bool
    runs: int
    last_run: LastRun | None


@dataclass(frozen=True, slots=True)
class ListedJob(JobItem):
    """``late_rhythm_ms``: the usual time between two runs of a job that is late, asked for."""

    owners: tuple[str, ...]
    late_rhythm_ms: int | None


@dataclass(frozen=True, slots=True)
class PlanItem:
    """A logical plan on its job's page."""

    id: str
    fingerprint: str
    mode: str | None
    target: DatasetReference | None  # None: it only reads
    sources: tuple[DatasetReference, ...]
    partition_keys: Any
    gaps: Any
    last_run: LastRun | None
    plan_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobPage(JobItem):
    plans: tuple[PlanItem, ...]
    producer: str | None = None
    about: JobFacets | None = None


@of_one_state
def jobs(
    sources: Sources,
    *,
    query: str,
    namespace: str | None,
    limit: int,
    cursor: str | None,
    at: int | None,
    state: str | None = None,
    owner: str | None = None,
    late: bool = False,
    now: int,
    order: JobOrder = JobOrder.NAMESPACE,
) -> Page[ListedJob]:
    """``state``: of the last run; ``late``: only jobs that have waited longer than usual ``now``
    (epoch ms), as on the first page. Raises InvalidInput for these at another time.
    """
    if late and at is not None:
        raise InvalidInput("late: jobs are late now: expected no at beside it")
    rhythms = late_jobs(sources, now) if late else {}
    among: frozenset[str] | None = frozenset(rhythms) if late else None
    if owner is not None:
        owned = nodes_of_owner(sources, labels.JOB, owner, at)
        among = owned if among is None else among & owned
    page = sources.catalogue.list_jobs(
        hidden=sources.hidden,
        query=query,
        namespace=namespace,
        limit=limit,
        cursor=cursor,
        at=at,
        states=() if state is None else (state,),
        among=among,
        order=order,
        now=now,
    )
    owners = owners_of(sources, [summary.job.id for summary in page.items], labels.JOB, at)
    items = tuple(_job_item(summary, owners, rhythms) for summary in page.items)
    return Page(items, page.total, page.next)


@of_one_state
def job(sources: Sources, job: str, at: int | None) -> JobPage:
    """One job (an id) with its logical plans, newest run first; plans that write something hidden
    are left out.
    """
    sources = open_node(sources, labels.JOB, job)
    row = job_row(sources, job)
    plans = sorted(sources.lineage.plans_of_job(job))[:_PLANS_SHOWN]
    last = _last_runs_of_plans(sources, job, plans, at)
    if at is not None:
        plans = [plan for plan in plans if plan in last]
    rows = sources.catalogue.logical_plans(plans)
    rows = tuple(row for row in rows if row.target not in sources.hidden)
    read = sources_of_plans(sources, plans)
    references = dataset_references(
        sources, {row.target for row in rows} | {d for datasets in read.values() for d in datasets}
    )
    newest = sources.catalogue.last_states((job,), at, sources.now).get(job)
    states = sources.catalogue.shown_states(last.values(), at, sources.now)
    runs = {plan: last_run(row, states) for plan, row in last.items()}
    items = [_plan_item(sources, plan, runs.get(plan.id), read, references) for plan in rows]
    items.sort(key=lambda item: (item.last_run.at if item.last_run else "", item.id))
    return JobPage(
        id=row.id,
        namespace=row.namespace,
        name=row.name,
        shared=row.shared,
        runs=sources.catalogue.list_runs(job, at=at, limit=1).total,
        last_run=LastRun(iso(newest[0]), newest[1]) if newest else None,
        plans=tuple(reversed(items)),
        producer=newest[2] if newest else None,
        about=job_facets(sources, job, at),
    )


def _plan_item(
    sources: Sources,
    row: LogicalPlanRow,
    last: LastRun | None,
    read: Mapping[str, Collection[str]],
    references: dict[str, DatasetReference],
) -> PlanItem:
    documents = sources.catalogue.execution_plans(logical_plan=row.id, limit=20)
    return PlanItem(
        id=row.id,
        fingerprint=row.fingerprint,
        mode=known_mode(row.mode),
        target=references.get(row.target),
        sources=tuple(references[d] for d in read.get(row.id, ()) if d in references),
        partition_keys=json.loads(row.partition_keys),
        gaps=json.loads(row.gaps),
        last_run=last,
        plan_ids=tuple(dict.fromkeys(document.plan_id for document in documents)),
    )


def _last_runs_of_plans(
    sources: Sources, job: str, plans: Iterable[str], at: int | None
) -> dict[str, ExecutionRow]:
    """One read of the job's newest executions, then one for each plan that is not among them."""
    last: dict[str, ExecutionRow] = {}
    for row in sources.catalogue.executions(job=job, at=at, limit=_RECENT).items:
        last.setdefault(row.logical_plan, row)
    for plan in plans:
        if plan not in last:
            page = sources.catalogue.executions(logical_plan=plan, at=at, limit=1)
            last.update({row.logical_plan: row for row in page.items})
    return last


class JobEnds(NamedTuple):
    """The datasets (ids) that the plans of a job read, and those that they write. ``plans`` are
    those that write nothing hidden; ``partial``: more plans, or more sources of one, than are
    looked at.
    """

    read: frozenset[str]
    written: frozenset[str]
    plans: frozenset[str]
    partial: Partial | None


def job_ends(sources: Sources, jobs: Collection[str]) -> dict[str, JobEnds]:
    """The visible ends of each of these jobs (ids)."""
    page = sources.graph.edges(jobs, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
    known = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
    plans = {row.id: row for row in sources.catalogue.logical_plans(known)}
    fed, cut_plans = _read_by(sources, plans)
    cut = {*page.cut, *(plans[plan].job for plan in cut_plans)}
    read: dict[str, set[str]] = {job: set() for job in jobs}
    written: dict[str, set[str]] = {job: set() for job in jobs}
    for plan, ends in fed.items():
        read[plans[plan].job].update(ends)
    visible: dict[str, set[str]] = {job: set() for job in jobs}
    for row in plans.values():
        written[row.job].update((row.target,) if row.target else ())
        if sources.hidden.isdisjoint((row.job, row.target)):
            visible[row.job].add(row.id)
    hub = Partial("hub", HUB_LIMIT)
    return {
        job: JobEnds(
            frozenset(read[job] - sources.hidden),
            frozenset(written[job] - sources.hidden),
            frozenset(visible[job]),
            hub if job in cut else None,
        )
        for job in jobs
    }


def sources_of_plans(sources: Sources, plans: Collection[str]) -> dict[str, Collection[str]]:
    """The datasets (ids) that each of these logical plans reads, hidden ones too."""
    return _read_by(sources, plans)[0]


def _read_by(
    sources: Sources, plans: Collection[str]
) -> tuple[dict[str, Collection[str]], Collection[str]]:
    """The same, and the plans of which some are missing; the graph is asked for what no walk has
    kept.
    """
    by_plan: dict[str, Collection[str]] = {**sources.structure.sources.find(plans)}
    new = sorted(set(plans) - by_plan.keys())
    if not new:
        return by_plan, ()
    page = sources.graph.edges(new, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
    inputs: dict[str, list[str]] = {}
    for edge in page.edges:
        inputs.setdefault(edge.in_id, []).append(edge.out_id)
    return by_plan | inputs, page.cut


def _job_item(
    summary: JobSummary, owners: Mapping[str, tuple[str, ...]], rhythms: Mapping[str, int]
) -> ListedJob:
    last = None
    if summary.last_at is not None:
        last = LastRun(iso(summary.last_at), summary.last_state or "")
    job = summary.job
    return ListedJob(
        id=job.id,
        namespace=job.namespace,
        name=job.name,
        shared=job.shared,
        runs=summary.runs,
        last_run=last,
        owners=owners.get(job.id, ()),
        late_rhythm_ms=rhythms.get(job.id),
    )
