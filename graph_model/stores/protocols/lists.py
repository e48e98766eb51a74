"""Protocols of the catalogue for lists, counts and search."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from graph_model.facts import ColumnRow, DatasetRow, JobRow
from graph_model.stores.pages import ColumnOrder, DatasetOrder, ExecutionOrder, JobOrder, Page


@dataclass(frozen=True, slots=True)
class Match:
    """A hit of a search. ``kind`` is dataset, job or column; ``text`` is the matching one (a URI, a
    ``namespace/name``, a column path); ``dataset`` is the id of a column's dataset.
    """

    kind: str
    id: str
    text: str
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class JobSummary:
    """A job as its list shows it; ``last_*`` are None without executions."""

    job: JobRow
    runs: int
    last_at: int | None
    last_state: str | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job whose newest execution failed, with the time of its end (epoch ms) and its error, of
    which the beginning is enough.
    """

    job: JobRow
    at: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Estate:
    """The numbers of jobs and datasets (those that are listed), the number of jobs whose newest
    execution failed, at any time and since the given one, and the newest of these failures, newest
    first.
    """

    jobs: int
    datasets: int
    failed: int
    failed_since: int
    failures: tuple[FailedJob, ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run of a job: its executions folded. ``state`` is failed when one of them failed."""

    run: str
    application_id: str
    started_at: int | None  # epoch ms; the earliest end minus its duration, None: it has none
    ended_at: int
    state: str
    executions: int
    error: str | None


@dataclass(frozen=True, slots=True)
class RecentExecution:
    """An execution that wrote or read, as the list of all runs shows it; ``target`` "" where it
    wrote nothing; ``metrics`` is JSON. ``at`` and ``ahead`` are those of its ExecutionRow.
    """

    id: str
    job: str
    run: str
    target: str
    at: int
    state: str
    kind: str
    duration_ms: int | None
    error: str | None
    metrics: str
    ahead: int


class CatalogueLists(Protocol):
    """Lists, counts and search. Lists are ordered and paged; ``limit`` is 1..1000. ``cursor`` is a
    former ``Page.next`` of the same list in the same order; any other raises InvalidReference.
    ``hidden`` are ids of datasets and jobs that are left out, of pages, totals and cursors.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def list_datasets(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        order: DatasetOrder = DatasetOrder.NAME,
    ) -> Page[DatasetRow]:
        """The datasets that existed at the time, in an order, then by name and URI; ``query`` is a
        case-insensitive substring of the URI.

        The last write is the newest row of a completed write of the dataset, or of one of its
        other names, whichever producer reported it.
        """

    def walk_datasets(
        self,
        *,
        query: str = "",
        after: DatasetRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[DatasetRow, ...]:
        """By name, then URI, the rows behind ``after``: for callers that need every dataset."""

    def walk_jobs(
        self,
        *,
        query: str = "",
        namespace: str | None = None,
        after: JobRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[JobRow, ...]:
        """The jobs behind ``after``, as ``list_jobs`` orders them by namespace and name; only rows,
        so that the cost does not grow with the runs.
        """

    def list_jobs(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        namespace: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        state: str | None = None,
        order: JobOrder = JobOrder.NAMESPACE,
    ) -> Page[JobSummary]:
        """The jobs that existed at the time, in an order, then by namespace and name; ``query`` is
        a case-insensitive substring of the name, ``state`` that of the last run.
        """

    def list_columns(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        order: ColumnOrder = ColumnOrder.NAME,
    ) -> Page[ColumnRow]:
        """The columns of all datasets; ``query`` is a case-insensitive substring of the path."""

    def list_runs(
        self,
        job: str,
        *,
        run: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[RunSummary]:
        """The runs of a job, newest first; with ``run`` only that one."""

    def estate(
        self, hidden: Collection[str], *, failures: int, at: int | None, since: int | None = None
    ) -> Estate:
        """The totals of all nodes that existed at the time, without hidden ones (ids), and up to
        this many failures. ``failed_since`` counts those after ``since`` (epoch ms), or all.
        """

    def waiting_jobs(
        self, hidden: Collection[str], *, now: int, most: int
    ) -> dict[str, tuple[int, ...]]:
        """The jobs that have waited longer than they usually do, each with the ends of its newest
        ``most`` runs, newest first. A job is left out if it never ran, or if in at least
        ``most // 2`` cases it waited as long between two of these runs as it has waited ``now``
        (epoch ms).

        The ends are those of the newest execution, of the newest one before the first execution of
        its run, and so on: a run that lies within a newer one does not count. An execution belongs
        to the run that its own events name.
        """

    def recent_executions(
        self,
        hidden: Collection[str],
        *,
        state: str | None = None,
        doubtful: bool = False,
        counted: bool = True,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        order: ExecutionOrder = ExecutionOrder.AT_FALLING,
    ) -> Page[RecentExecution]:
        """The writes and reads of all jobs, without those of hidden jobs and datasets. The total is
        0 unless it is ``counted``. ``doubtful``: only those with a doubtful time.
        """

    def attempts(self, jobs: Collection[str], at: int | None) -> frozenset[tuple[str, str]]:
        """(job, logical plan) for the jobs among these whose newest execution failed: the plans
        that failed among the newest 100 executions of that run.
        """

    def search(
        self, text: str, *, kinds: Collection[str], limit: int, hidden: Collection[str] = ()
    ) -> Page[Match]:
        """Datasets, jobs and columns whose name holds the words of the text (any case and order);
        where there is none, with one typing error forgiven in each word of four letters or more.

        Ranked: equal name, then prefix of a name or of a path part, then substring, then the words
        apart; shorter first.
        """
