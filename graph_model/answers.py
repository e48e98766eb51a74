"""The read road's one door: questions in, frozen values out.

Gathers what ``lineage`` (which plans, which nodes) and the catalogue (names, times, counts) know
into the values of ``view`` and of this module. Routes, the command line and notebooks' helpers go
through here, so an answer is the same wherever it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_model import identity, labels, naming
from graph_model.errors import InvalidReference, NotFound
from graph_model.facts import (
    DatasetRow,
    Edge,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
)
from graph_model.history import repeated_executions
from graph_model.history.past import Past, moment_of
from graph_model.inspection import PlanInspection, inspect
from graph_model.lineage import HUB_LIMIT, Answer, Lineage, Partial, Question
from graph_model.naming import Rules
from graph_model.projection.plans import read_plan_document
from graph_model.references import References
from graph_model.store import (
    Catalogue,
    Direction,
    DocumentKind,
    Graph,
    Journal,
    Match,
    Page,
    RunSummary,
    walk_pages,
)
from graph_model.translate import PlanDocument
from graph_model.view import ColumnSpelling, GraphView, LastRun, Names, draw, iso, last_run

_PLANS_SHOWN = 200
_EXECUTIONS_SHOWN = 20
_RECENT = 1_000


@dataclass(frozen=True, slots=True)
class JobReference:
    id: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class DatasetReference:
    id: str
    uri: str
    label: str


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as lists and pages show it."""

    id: str
    at: str
    state: str
    duration_ms: float | None
    mode: str
    command: str
    plan_id: str
    plan: str
    run: str
    job: JobReference
    target: DatasetReference | None  # None: it writes nothing
    partitions: tuple[str, ...]
    metrics: Any
    error: str | None
    application_id: str
    producer: str


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    application_id: str
    started_at: str
    ended_at: str
    state: str
    executions: int
    error: str | None
    items: tuple[ExecutionView, ...] | None = None
    partial: Partial | None = None


@dataclass(frozen=True, slots=True)
class JobItem:
    id: str
    namespace: str
    name: str
    shared: bool
    runs: int
    last_run: LastRun | None


@dataclass(frozen=True, slots=True)
class PlanItem:
    """A logical plan on its job's page."""

    id: str
    fingerprint: str
    mode: str
    target: DatasetReference | None  # None: it only reads
    sources: tuple[DatasetReference, ...]
    partition_keys: Any
    gaps: Any
    last_run: LastRun | None
    plan_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobPage:
    id: str
    namespace: str
    name: str
    shared: bool
    runs: int
    last_run: LastRun | None
    plans: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class DatasetItem:
    id: str
    uri: str
    scope: str
    label: str
    type: str
    last_write: str | None


@dataclass(frozen=True, slots=True)
class SchemaColumnView:
    id: str
    name: str
    path: str
    type: str | None


@dataclass(frozen=True, slots=True)
class SchemaView:
    id: str
    columns: tuple[SchemaColumnView, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A job that writes or reads a dataset through one logical plan; ``at``: its newest write."""

    job: JobReference
    plan: str
    mode: str
    at: str | None


@dataclass(frozen=True, slots=True)
class DatasetPage:
    id: str
    uri: str
    scope: str
    label: str
    type: str
    last_write: str | None
    names: tuple[str, ...]
    schema: SchemaView | None
    writers: tuple[Neighbour, ...]
    readers: tuple[Neighbour, ...]
    partition_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastWriter:
    """``failed_since``: failed attempts after it, newest first."""

    execution: ExecutionView | None
    failed_since: tuple[ExecutionView, ...]


@dataclass(frozen=True, slots=True)
class ColumnEnd:
    id: str
    dataset: str
    name: str


@dataclass(frozen=True, slots=True)
class ColumnStep:
    source: ColumnEnd
    target: ColumnEnd
    kind: str
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The fine view of one plan."""

    id: str
    plan_id: str
    plan: str
    job: JobReference
    name: str
    system: str
    agent: str
    api_version: str
    command: str
    mode: str
    labels: Any
    target: DatasetReference
    sources: tuple[DatasetReference, ...]
    inspection: PlanInspection[DatasetReference]
    columns: tuple[ColumnStep, ...]
    executions: tuple[ExecutionView, ...]
    other_plans: int
    gaps: Any
    document: Any | None


@dataclass(frozen=True, slots=True)
class SearchItem:
    kind: str
    id: str
    label: str
    detail: str
    node: str


class Answers:
    """Everything that can be asked. Raises NotFound, InvalidReference, GraphUnavailable."""

    def __init__(
        self,
        graph: Graph,
        catalogue: Catalogue,
        journal: Journal,
        *,
        rules: Rules = naming.DEFAULT_RULES,
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules
        self.references = References(catalogue, graph, rules)

    # --- graphs

    def overview(
        self,
        *,
        namespace: str | None,
        query: str,
        limit: int,
        at: int | None,
        layout: bool,
        keep: Callable[[DatasetRow], bool] | None = None,
    ) -> GraphView:
        """All jobs and tables; with a namespace its jobs and the tables beside them.

        With ``keep`` the tables that it wants, and the jobs that read or write one of them.
        """
        jobs = self._catalogue.list_jobs(
            query="", namespace=namespace, limit=min(limit, 1000), at=at
        )
        datasets = self._catalogue.list_datasets(query="", limit=min(limit, 1000), at=at)
        job_ids = {i.job.id for i in jobs.items if at is None or i.last_at is not None}
        dataset_ids = {i.dataset.id for i in datasets.items if i.dataset.kind != "name"}
        if at is not None:  # what did not exist yet is not drawn
            dataset_ids = set(self._catalogue.seen(dataset_ids, at))
        answer = self._lineage().overview(dataset_ids, job_ids, at)
        answer = self._narrow(answer, namespace, query)
        if keep is not None:
            answer = self._keep(answer, keep)
        total = len(answer.datasets) + len(answer.jobs)
        cut = total > limit or jobs.next is not None or datasets.next is not None
        answer = limit_nodes(answer, limit, cut=cut)
        return self._draw(answer, at, jobs=True, columns=False, layout=layout)

    def _keep(self, answer: Answer, keep: Callable[[DatasetRow], bool]) -> Answer:
        datasets = {row.id for row in self._catalogue.datasets(answer.datasets) if keep(row)}
        jobs = {
            use.job for use in answer.plans if not datasets.isdisjoint({*use.sources, *use.targets})
        }
        return keep_nodes(answer, datasets, jobs)

    def _narrow(self, answer: Answer, namespace: str | None, query: str) -> Answer:
        """Keep what matches the words asked for, and what stands beside it."""
        if not namespace and not query:
            return answer
        beside = {d for use in answer.plans for d in (*use.sources, *use.targets)}
        if not query:
            return replace(answer, datasets=tuple(d for d in answer.datasets if d in beside))
        needle = query.casefold()
        rows = self._catalogue.datasets(answer.datasets)
        datasets = {row.id for row in rows if needle in row.uri.casefold()}
        if namespace:
            datasets &= beside
        jobs = {
            row.id
            for row in self._catalogue.jobs(answer.jobs)
            if needle in f"{row.namespace}/{row.name}".casefold()
        }
        for use in answer.plans:
            ends = {*use.sources, *use.targets}
            if use.job in jobs or ends & datasets:
                jobs |= {use.job}
        shown = {d for use in answer.plans if use.job in jobs for d in (*use.sources, *use.targets)}
        return keep_nodes(answer, datasets | shown, jobs)

    def lineage(
        self,
        question: Question,
        *,
        jobs: bool = True,
        layout: bool = False,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> GraphView:
        """The neighbourhood of ``question.node`` (an id that ``references`` resolved)."""
        answer = self._lineage(expired, time_limit_ms).ask(question)
        if identity.kind_of(question.node) == labels.DATASET:
            question = replace(question, node=self._location(question.node, question.at))
        columns = question.columns or identity.kind_of(question.node) == labels.COLUMN
        view = self._draw(answer, question.at, jobs=jobs, columns=columns, layout=layout)
        return replace(view, focus=question.node)

    def column_lineage(
        self,
        dataset: str,
        column: str | None,
        question: Question,
        *,
        layout: bool = False,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> GraphView:
        """Columns across jobs, from one column or from all of a dataset (URI or id)."""
        dataset_id = self.references.dataset(dataset.removeprefix("dataset:"), question.at)
        if column is not None:
            start = [self.references.column(dataset_id, column)]
        else:
            start = self._schema_column_ids(dataset_id, question.at)
        answer = self._lineage(expired, time_limit_ms).ask_columns(start, question)
        if dataset_id not in answer.datasets:
            answer = replace(answer, datasets=tuple(sorted({*answer.datasets, dataset_id})))
        view = self._draw(answer, question.at, jobs=False, columns=True, layout=layout)
        return replace(view, focus=dataset_id if column is None else start[0])

    def _lineage(
        self, expired: Callable[[], bool] = lambda: False, time_limit_ms: int = 0
    ) -> Lineage:
        return Lineage(self._graph, self._catalogue, expired=expired, time_limit_ms=time_limit_ms)

    def _schema_column_ids(self, dataset: str, at: int | None) -> list[str]:
        schema = self._catalogue.newest_schemas((dataset,), at).get(dataset)
        listed = [] if schema is None else json.loads(schema.columns)
        return [identity.column_id(dataset, column["path"]) for column in listed]

    def _draw(
        self, answer: Answer, at: int | None, *, jobs: bool, columns: bool, layout: bool
    ) -> GraphView:
        names = self._names(answer, at, columns=columns)
        return draw(answer, names, jobs=jobs, columns=columns, layout=layout)

    def _names(self, answer: Answer, at: int | None, *, columns: bool) -> Names:
        datasets = answer.datasets
        plans = {plan for edge in answer.column_edges for plan in edge.plans}
        return Names(
            datasets={row.id: row for row in self._catalogue.datasets(datasets)},
            jobs={row.id: row for row in self._catalogue.jobs(answer.jobs)},
            catalog_names=self._catalog_names(datasets, at),
            last_writes=Past(self._catalogue).last_writes(datasets, at),
            last_executions=self._catalogue.last_executions(answer.jobs, at),
            columns=self._spellings(datasets, at) if columns else {},
            plan_jobs={row.id: row.job for row in self._catalogue.logical_plans(plans)},
        )

    def _catalog_names(self, datasets: Collection[str], at: int | None) -> dict[str, list[str]]:
        seen: Sequence[NameRow] = self._catalogue.names_of(datasets, at)
        uris = {row.id: row.uri for row in self._catalogue.datasets({row.name for row in seen})}
        names: dict[str, list[str]] = {}
        for row in seen:
            if row.name in uris and uris[row.name] not in names.setdefault(row.location, []):
                names[row.location].append(uris[row.name])
        return {location: sorted(found) for location, found in names.items()}

    def _spellings(self, datasets: Collection[str], at: int | None) -> dict[str, ColumnSpelling]:
        spellings: dict[str, ColumnSpelling] = {}
        for dataset, schema in self._catalogue.newest_schemas(datasets, at).items():
            for position, column in enumerate(json.loads(schema.columns)):
                key = identity.column_id(dataset, column["path"])
                spellings[key] = ColumnSpelling(column["name"], column.get("type"), position)
        return spellings

    def _location(self, dataset: str, at: int | None) -> str:
        """Where a catalog name stood at the time; any other dataset itself."""
        return self._catalogue.location_of(dataset, at) or dataset

    # --- jobs and runs

    def jobs(
        self,
        *,
        query: str,
        namespace: str | None,
        limit: int,
        cursor: str | None,
        at: int | None,
    ) -> Page[JobItem]:
        page = self._catalogue.list_jobs(
            query=query, namespace=namespace, limit=limit, cursor=cursor, at=at
        )
        last = self._catalogue.last_executions([item.job.id for item in page.items], at)
        items = tuple(
            JobItem(
                i.job.id, i.job.namespace, i.job.name, i.job.shared, i.runs,
                last_run(last.get(i.job.id)),
            )
            for i in page.items
        )  # fmt: skip
        return Page(items, page.total, page.next)

    def job(self, job: str, at: int | None) -> JobPage:
        """One job (an id) with its logical plans, newest run first."""
        row = self._job_row(job)
        plans = self._plans_of(job)
        last = self._last_runs_of_plans(job, plans, at)
        if at is not None:
            plans = [plan for plan in plans if plan in last]
        rows = self._catalogue.logical_plans(plans)
        sources = self._sources_of(plans)
        references = self._dataset_references(
            {row.target for row in rows} | {d for found in sources.values() for d in found}
        )
        items = [self._plan_item(plan, last, sources, references) for plan in rows]
        items.sort(key=lambda item: (item.last_run.at if item.last_run else "", item.id))
        newest = self._catalogue.last_executions((job,), at).get(job)
        return JobPage(
            id=row.id,
            namespace=row.namespace,
            name=row.name,
            shared=row.shared,
            runs=self._catalogue.list_runs(job, at=at, limit=1).total,
            last_run=last_run(newest),
            plans=tuple(reversed(items)),
        )

    def _plan_item(
        self,
        row: LogicalPlanRow,
        last: dict[str, ExecutionRow],
        sources: dict[str, list[str]],
        references: dict[str, DatasetReference],
    ) -> PlanItem:
        documents = self._catalogue.execution_plans(logical_plan=row.id, limit=20)
        return PlanItem(
            id=row.id,
            fingerprint=row.fingerprint,
            mode=row.mode,
            target=references.get(row.target),
            sources=tuple(references[d] for d in sources.get(row.id, ()) if d in references),
            partition_keys=json.loads(row.partition_keys),
            gaps=json.loads(row.gaps),
            last_run=last_run(last.get(row.id)),
            plan_ids=tuple(dict.fromkeys(document.plan_id for document in documents)),
        )

    def _plans_of(self, job: str) -> list[str]:
        page = self._graph.edges((job,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        return sorted(plans)[:_PLANS_SHOWN]

    def _last_runs_of_plans(
        self, job: str, plans: Iterable[str], at: int | None
    ) -> dict[str, ExecutionRow]:
        """One look at the job's newest executions, then one a plan that is not among them."""
        last: dict[str, ExecutionRow] = {}
        for row in self._catalogue.executions(job=job, at=at, limit=_RECENT).items:
            last.setdefault(row.logical_plan, row)
        for plan in plans:
            if plan not in last:
                page = self._catalogue.executions(logical_plan=plan, at=at, limit=1)
                last.update({row.logical_plan: row for row in page.items})
        return last

    def _sources_of(self, plans: Collection[str]) -> dict[str, list[str]]:
        if not plans:
            return {}
        page = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        sources: dict[str, list[str]] = {}
        for edge in page.edges:
            sources.setdefault(edge.in_id, []).append(edge.out_id)
        return sources

    def runs(self, job: str, *, limit: int, cursor: str | None, at: int | None) -> Page[RunView]:
        self._job_row(job)
        page = self._catalogue.list_runs(job, at=at, limit=limit, cursor=cursor)
        return Page(tuple(_run_view(run) for run in page.items), page.total, page.next)

    def run(self, job: str, run: str) -> RunView:
        """One run with its executions, newest first; of more than 1,000 the newest."""
        self._job_row(job)
        found = self._catalogue.list_runs(job, run=run, limit=1).items
        if not found:
            raise NotFound("run", run)
        page = self._catalogue.executions(job=job, run=run, limit=_RECENT)
        cut = Partial("executions", _RECENT) if page.next is not None else None
        return replace(_run_view(found[0]), items=self._execution_views(page.items), partial=cut)

    def _job_row(self, job: str) -> JobRow:
        rows = self._catalogue.jobs((job,))
        if not rows:
            raise NotFound("job", job)
        return rows[0]

    # --- datasets

    def datasets(
        self, *, query: str, limit: int, cursor: str | None, at: int | None
    ) -> Page[DatasetItem]:
        page = self._catalogue.list_datasets(query=query, limit=limit, cursor=cursor, at=at)
        last = Past(self._catalogue).last_writes([i.dataset.id for i in page.items], at)
        items = tuple(_dataset_item(i.dataset, last.get(i.dataset.id)) for i in page.items)
        return Page(items, page.total, page.next)

    def dataset_items(self, rows: Sequence[DatasetRow], at: int | None) -> tuple[DatasetItem, ...]:
        """These datasets as a list shows them, in this order."""
        writes = self._catalogue.last_writes([row.id for row in rows], at)
        return tuple(_dataset_item(row, writes.get(row.id)) for row in rows)

    def dataset(self, dataset: str, at: int | None) -> DatasetPage:
        """One dataset (an id): schema, who writes and reads it now, what it is called."""
        row = self._dataset_row(dataset)
        past = Past(self._catalogue)
        item = _dataset_item(row, past.last_writes((dataset,), at).get(dataset))
        times = self._visible_plans(past, (dataset,), at)
        written_by = self._catalogue.logical_plans(times.keys())
        keys = {key for plan in written_by for key in json.loads(plan.partition_keys)}
        return DatasetPage(
            id=item.id,
            uri=item.uri,
            scope=item.scope,
            label=item.label,
            type=item.type,
            last_write=item.last_write,
            names=tuple(self._catalog_names((dataset,), at).get(dataset, ())),
            schema=self._schema(dataset, at),
            writers=self._neighbours(written_by, times),
            readers=self._readers(past, dataset, at),
            partition_keys=tuple(sorted(keys)),
        )

    def _readers(self, past: Past, dataset: str, at: int | None) -> tuple[Neighbour, ...]:
        """Plans that read it, under any of its names, whose writes are still to be seen."""
        called = {dataset, *past.names_of((dataset,))[dataset]}
        page = self._graph.edges(called, Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
        plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        rows = self._catalogue.logical_plans(plans)
        places = past.locations_of({row.target for row in rows})
        targets = {place for found in places.values() for place in found}
        times = self._visible_plans(past, targets, at)
        return self._neighbours([row for row in rows if row.id in times], times)

    def _visible_plans(
        self, past: Past, datasets: Collection[str], at: int | None
    ) -> dict[str, int]:
        """Logical plans whose writes are to be seen in these datasets, each with its newest."""
        times: dict[str, int] = {}
        for sight in past.sights({moment_of(dataset, at) for dataset in datasets}).values():
            newest = [(write.logical_plan, write.at) for write in sight.writes]
            newest += [(older.logical_plan, older.last) for older in sight.older]
            for plan, time in newest:
                times[plan] = max(time, times.get(plan, time))
        return times

    def _neighbours(
        self, rows: Iterable[LogicalPlanRow], times: dict[str, int]
    ) -> tuple[Neighbour, ...]:
        listed = sorted(rows, key=lambda row: (-times.get(row.id, 0), row.id))
        jobs = self._job_references({row.job for row in listed})
        return tuple(
            Neighbour(jobs[row.job], row.id, row.mode, iso(times.get(row.id)))
            for row in listed
            if row.job in jobs
        )

    def _schema(self, dataset: str, at: int | None) -> SchemaView | None:
        row = self._catalogue.newest_schemas((dataset,), at).get(dataset)
        if row is None:
            return None
        return SchemaView(
            row.id,
            tuple(
                SchemaColumnView(
                    identity.column_id(dataset, c["path"]), c["name"], c["path"], c.get("type")
                )
                for c in json.loads(row.columns)
            ),
        )

    def history(
        self, dataset: str, *, limit: int, cursor: str | None, at: int | None
    ) -> Page[ExecutionView]:
        """The executions that wrote a dataset, failed ones too; a write told twice is shown once.

        It stands where its earliest telling does, whatever page one looks at.
        """
        self._dataset_row(dataset)
        repeated = self._repeated(dataset, at)
        rows: list[ExecutionRow] = []
        while True:
            page = self._catalogue.executions(
                target=dataset, at=at, limit=limit - len(rows), cursor=cursor
            )
            rows += [row for row in page.items if row.id not in repeated]
            cursor = page.next
            if cursor is None or len(rows) == limit:
                return Page(self._execution_views(rows), page.total - len(repeated), cursor)

    def _repeated(self, dataset: str, at: int | None) -> frozenset[str]:
        """Ids of executions at or before ``at`` that tell a write of the dataset once more."""
        rows = self._catalogue.told_twice(dataset)
        repeated = repeated_executions(rows)
        return frozenset(row.id for row in rows if row.id in repeated and not _is_after(row.at, at))

    def last_writer(self, dataset: str, *, partition: str | None, at: int | None) -> LastWriter:
        """The newest completed write (that touched the partition), and what failed since.

        A write without partition values touches every partition. Raises InvalidReference for a
        partition that is not ``key=value/…`` with keys that the dataset is partitioned by.
        """
        self._dataset_row(dataset)
        if partition is not None:
            partition = self._known_partition(dataset, partition)
        repeated = self._repeated(dataset, at)
        failed: list[ExecutionRow] = []

        def ask(cursor: str | None) -> Page[ExecutionRow]:
            return self._catalogue.executions(
                target=dataset, at=at, limit=_EXECUTIONS_SHOWN * 5, cursor=cursor
            )

        for page in walk_pages(ask):
            rows = [r for r in page.items if r.kind == "write" and r.id not in repeated]
            for row in self._touching(rows, dataset, partition):
                if row.state == labels.COMPLETED:
                    views = self._execution_views([row, *failed])
                    return LastWriter(views[0], views[1:])
                failed.append(row)
        return LastWriter(None, self._execution_views(failed))

    def _known_partition(self, dataset: str, partition: str) -> str:
        """``DT=2026-01-01`` as ingestion spells it."""
        pairs = naming.partition_pairs(partition)
        keys = [naming.fold(key) for key, _ in pairs]
        if len(pairs) != len(partition.split("/")) or len(set(keys)) != len(keys):
            raise InvalidReference(partition, "key=value/key=value, each key once")
        plans = {writer.logical_plan for writer in self._catalogue.writers((dataset,), None)}
        rows = self._catalogue.logical_plans(plans)
        known = {key for row in rows for key in json.loads(row.partition_keys)}
        if not set(keys) <= known:
            names = ", ".join(sorted(known)) or "none: it is not known to be partitioned"
            raise InvalidReference(partition, f"partition keys of this dataset ({names})")
        return naming.partition_text(pairs)

    def _touching(
        self, rows: Sequence[ExecutionRow], dataset: str, partition: str | None
    ) -> list[ExecutionRow]:
        if partition is None:
            return list(rows)
        touched: dict[str, set[str]] = {}
        for row in self._catalogue.partitions([row.id for row in rows]):
            if row.dataset == dataset and row.role == "write":
                touched.setdefault(row.execution, set()).add(row.partition)
        return [
            row
            for row in rows
            if row.id not in touched
            or any(naming.may_overlap(other, partition) for other in touched[row.id])
        ]

    def _dataset_row(self, dataset: str) -> DatasetRow:
        rows = self._catalogue.datasets((dataset,))
        if not rows:
            raise NotFound("dataset", dataset)
        return rows[0]

    # --- plans

    def plan(self, plan_id: str, *, at: int | None, document: bool, layout: bool) -> PlanPage:
        """The fine view, by the producer's plan id or an ``lp_`` / ``xp_`` id."""
        row, others = self._plan_row(plan_id)
        others = max(others, self._other_bodies(row.plan_id))
        stored = self._journal.plan_document(row.plan_id, row.content_hash)
        if stored is None:
            raise NotFound("document of plan", plan_id)
        plan_document = read_plan_document(stored)
        logical = self._catalogue.logical_plans((row.logical_plan,))
        if not logical:
            raise NotFound("plan", plan_id)
        sources = self._sources_of((row.logical_plan,)).get(row.logical_plan, [])
        references = self._dataset_references({logical[0].target, *sources})
        page = self._catalogue.executions(
            plan_id=row.plan_id, logical_plan=row.logical_plan, at=at, limit=_EXECUTIONS_SHOWN
        )
        return PlanPage(
            id=row.id,
            plan_id=row.plan_id,
            plan=row.logical_plan,
            job=self._job_references((row.job,))[row.job],
            name=row.name,
            system=row.system,
            agent=row.agent,
            api_version=row.api_version,
            command=row.command,
            mode=logical[0].mode,
            labels=json.loads(row.labels),
            target=references[logical[0].target],
            sources=tuple(references[d] for d in sorted(sources) if d in references),
            inspection=inspect(plan_document, references_of=self._named, layout=layout),
            columns=self._column_steps(row.logical_plan, logical[0].target),
            executions=self._execution_views(page.items),
            other_plans=others,
            gaps=json.loads(logical[0].gaps),
            document=json.loads(stored.body) if document else None,
        )

    def _plan_row(self, plan_id: str) -> tuple[ExecutionPlanRow, int]:
        kind = identity.kind_of(plan_id)
        if kind == labels.LOGICAL_PLAN:
            rows = self._catalogue.execution_plans(logical_plan=plan_id)
        elif kind == labels.EXECUTION_PLAN:
            rows = self._catalogue.execution_plans(id=plan_id)
        else:
            rows = self._catalogue.execution_plans(plan_id=plan_id.lower())
        if not rows:
            raise NotFound("plan", plan_id)
        return rows[0], len(rows) - 1

    def _other_bodies(self, plan_id: str) -> int:
        """How many more plan documents the journal has under this id."""
        documents = self._journal.plan(plan_id, all_events=False)
        return sum(document.kind == DocumentKind.PLAN for document in documents) - 1

    def _named(self, document: PlanDocument, uri: str) -> tuple[DatasetReference, ...]:
        """The datasets that a URI of the document stands for."""
        found = naming.normalise(uri, document.scope, self._rules)
        return tuple(
            DatasetReference(identity.dataset_id(n.scope, n.uri), n.uri, n.name) for n in found
        )

    def _column_steps(self, plan: str, target: str) -> tuple[ColumnStep, ...]:
        """The plan's own column edges; influences once a column, onto the whole target."""
        page = self._graph.edges((plan,), Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
        schemas = [edge.in_id for edge in page.edges]
        held = self._graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        written = {edge.in_id for edge in held.edges}
        derived = self._graph.edges(written, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
        edges = [edge for edge in derived.edges if edge.value("logical_plan") == plan]
        influences = self._graph.edges((plan,), Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        ids = {end for e in edges for end in (e.out_id, e.in_id)}
        ids |= {edge.out_id for edge in influences.edges}
        ends = {v.id: _column_end(v.id, dict(v.properties)) for v in self._graph.vertices(ids)}
        whole = ColumnEnd("", self._dataset_row(target).uri, "*")
        steps = [_step(edge, ends[edge.out_id], ends[edge.in_id]) for edge in edges]
        steps += [_step(edge, ends[edge.out_id], whole) for edge in influences.edges]
        return tuple(
            sorted(steps, key=lambda s: (s.target.name, s.kind, s.source.dataset, s.source.name))
        )

    # --- search

    def search(self, text: str, *, kinds: Collection[str], limit: int) -> Page[SearchItem]:
        """By name; a URI is looked up as ingestion spells it (``s3a://…`` finds ``s3://…``)."""
        page = self._catalogue.search(self._searched(text), kinds=kinds, limit=limit)
        ids = {match.dataset or match.id for match in page.items if match.kind != labels.JOB}
        datasets = {row.id: row for row in self._catalogue.datasets(ids)}
        items = tuple(_search_item(match, datasets) for match in page.items)
        return Page(items, page.total, page.next)

    def _searched(self, text: str) -> str:
        words = text.strip()
        scheme, separator, rest = words.partition("://")
        if not separator or not rest or " " in words:
            return words
        aliases = dict(self._rules.scheme_aliases)
        return f"{aliases.get(scheme.lower(), scheme)}://{rest}"

    # --- shared

    def _execution_views(self, rows: Sequence[ExecutionRow]) -> tuple[ExecutionView, ...]:
        jobs = self._job_references({row.job for row in rows})
        targets = self._dataset_references({row.target for row in rows})
        partitions: dict[str, list[str]] = {}
        for row in self._catalogue.partitions([row.id for row in rows]) if rows else ():
            if row.role == "write":
                partitions.setdefault(row.execution, []).append(row.partition)
        return tuple(
            ExecutionView(
                id=row.id,
                at=iso(row.at) or "",
                state=row.state,
                duration_ms=None if row.duration_ns is None else row.duration_ns / 1_000_000,
                mode=row.mode,
                command=row.command,
                plan_id=row.plan_id,
                plan=row.logical_plan,
                run=row.run,
                job=jobs[row.job],
                target=targets.get(row.target),
                partitions=tuple(sorted(partitions.get(row.id, ()))),
                metrics=json.loads(row.metrics),
                error=row.error,
                application_id=row.application_id,
                producer=row.producer,
            )
            for row in rows
        )

    def _job_references(self, ids: Collection[str]) -> dict[str, JobReference]:
        return {
            row.id: JobReference(row.id, row.namespace, row.name)
            for row in self._catalogue.jobs(ids)
        }

    def _dataset_references(self, ids: Collection[str]) -> dict[str, DatasetReference]:
        return {
            row.id: DatasetReference(row.id, row.uri, row.name or row.uri)
            for row in self._catalogue.datasets(ids)
        }


def keep_nodes(answer: Answer, datasets: Collection[str], jobs: Collection[str]) -> Answer:
    """The answer with these nodes only, and of its plans what is left between them."""
    plans = tuple(
        replace(
            use,
            sources=tuple(d for d in use.sources if d in datasets),
            targets=tuple(d for d in use.targets if d in datasets),
        )
        for use in answer.plans
        if use.job in jobs
    )
    return replace(
        answer,
        datasets=tuple(d for d in answer.datasets if d in datasets),
        jobs=tuple(job for job in answer.jobs if job in jobs),
        plans=plans,
    )


def limit_nodes(answer: Answer, limit: int, *, cut: bool) -> Answer:
    """At most ``limit`` nodes: jobs first, each with its tables; ``cut`` marks it partial."""
    if not cut:
        return answer
    jobs: list[str] = []
    datasets: set[str] = set()
    tables: dict[str, set[str]] = {job: set() for job in answer.jobs}
    for use in answer.plans:
        tables.setdefault(use.job, set()).update(use.sources, use.targets)
    for job in sorted(answer.jobs, key=lambda key: (-len(tables[key]), key)):
        if len(jobs) + 1 + len(datasets | tables[job]) > limit:
            continue
        jobs.append(job)
        datasets |= tables[job]
    for dataset in answer.datasets:
        if len(jobs) + len(datasets) >= limit:
            break
        datasets.add(dataset)
    kept = keep_nodes(answer, datasets, jobs)
    return replace(kept, partial=answer.partial or Partial("nodes", limit))


def _is_after(time: int, at: int | None) -> bool:
    return at is not None and time > at


def _run_view(run: RunSummary) -> RunView:
    return RunView(
        id=run.run,
        application_id=run.application_id,
        started_at=iso(run.started_at) or "",
        ended_at=iso(run.ended_at) or "",
        state=run.state,
        executions=run.executions,
        error=run.error,
    )


def _dataset_item(row: DatasetRow, last_write_at: int | None) -> DatasetItem:
    return DatasetItem(
        row.id, row.uri, row.scope, row.name or row.uri, row.kind, iso(last_write_at)
    )


def _column_end(key: str, values: dict[str, Any]) -> ColumnEnd:
    return ColumnEnd(key, str(values.get("dataset", "")), str(values.get("path", "")))


def _step(edge: Edge, source: ColumnEnd, target: ColumnEnd) -> ColumnStep:
    return ColumnStep(
        source,
        target,
        str(edge.value("kind") or labels.INDIRECT),
        str(edge.value("how")),
        str(edge.value("expression") or ""),
    )


def _search_item(match: Match, datasets: dict[str, DatasetRow]) -> SearchItem:
    if match.kind == labels.JOB:
        namespace, _, name = match.text.partition("/")
        return SearchItem(match.kind, match.id, name or match.text, namespace, match.id)
    row = datasets.get(match.dataset or match.id)
    uri = "" if row is None else row.uri
    if match.kind == labels.COLUMN:
        return SearchItem(match.kind, match.id, match.text, uri, match.id)
    return SearchItem(match.kind, match.id, (row.name if row else "") or uri, uri, match.id)
