"""The read road's one door: questions in, frozen values out.

Gathers what ``lineage`` (which plans, which nodes) and the catalogue (names, times, counts) know
into the values of ``view`` and of this module. Routes, the command line and notebooks' helpers go
through here, so an answer is the same wherever it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from graph_model import identity, labels, naming
from graph_model.about import About, DatasetAbout, JobAbout, described_columns
from graph_model.errors import InvalidReference, NotFound
from graph_model.facts import (
    MAIN_BRANCH,
    DatasetRow,
    Edge,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
)
from graph_model.filtering import (
    EVERYTHING,
    Filter,
    keep_datasets,
    keep_derivations,
    keep_jobs,
    keep_nodes,
    limit_nodes,
)
from graph_model.governance.previews import walk_datasets
from graph_model.governance.quality_rules import QualityRule
from graph_model.history.merging import Write, part_of
from graph_model.history.past import Past, Reports, moment_of
from graph_model.history.visibility import maybe_touched, surely_touched
from graph_model.inspection import PlanInspection, inspect
from graph_model.lineage import (
    HUB_LIMIT,
    Answer,
    ColumnNode,
    Lineage,
    Partial,
    Question,
    Structure,
    holders,
    keep_ends,
)
from graph_model.naming import Rules
from graph_model.openlineage.descriptions import ColumnDescription, Tag
from graph_model.openlineage.inspection import Use, draw_told
from graph_model.projection.notes import gaps_of
from graph_model.projection.plans import read_plan_document
from graph_model.references import References
from graph_model.spellings import ColumnSpelling, read_spellings, spell_column
from graph_model.store import (
    Catalogue,
    Direction,
    DocumentKind,
    Graph,
    JobSummary,
    Journal,
    Match,
    Page,
    RunSummary,
    walk_pages,
)
from graph_model.told_plans import ToldPlan, ToldPlans, raw_events
from graph_model.translate import PlanDocument
from graph_model.translate.partitions import PARTITIONS_UNKNOWN
from graph_model.view import (
    LINEAGE,
    SCHEMA,
    GraphView,
    LastRun,
    Names,
    dataset_reference,
    draw,
    in_schema_order,
    iso,
    job_reference,
    known_mode,
    last_run,
)
from graph_model.view import DatasetReference as DatasetReference
from graph_model.view import JobReference as JobReference

#: The origin of what a plan's own document says.
PLAN = "plan"
#: Failures that an overview names.
FAILURES_NAMED = 20
_PLANS_SHOWN = 200
_EXECUTIONS_SHOWN = 20
_CANDIDATES_SHOWN = 100
_RECENT = 1_000
_AT_ONCE = 1_000

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class SourceReference(DatasetReference):
    """A dataset that a plan reads; ``origin``: plan, or what of OpenLineage's says so."""

    origin: str


@dataclass(frozen=True, slots=True)
class Gap:
    """What is not known, as a code and in words."""

    code: str
    detail: str


_SOME_PARTITIONS = Gap(PARTITIONS_UNKNOWN, "it may have left some alone: nobody says which")


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as lists and pages show it.

    ``version`` is the id of the table's version that it made, None where nobody told; ``branch``
    None: the main one.
    """

    id: str
    at: str
    state: str
    duration_ms: float | None
    mode: str | None  # None: nobody said it
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
    gaps: tuple[Gap, ...] = ()
    version: str | None = None
    branch: str | None = None


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


@dataclass(frozen=True, slots=True)
class JobItem:
    id: str
    namespace: str
    name: str
    shared: bool
    runs: int
    last_run: LastRun | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all jobs and datasets, whatever a picture shows; ``failed``: of how many jobs the newest
    execution failed.
    """

    jobs: int
    datasets: int
    failed: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A job whose newest execution failed, and when."""

    job: JobReference
    at: str


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
class JobPage:
    id: str
    namespace: str
    name: str
    shared: bool
    runs: int
    last_run: LastRun | None
    plans: tuple[PlanItem, ...]
    producer: str | None = None
    about: JobAbout | None = None


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
    description: str = ""
    tags: tuple[Tag, ...] = ()
    known: str = SCHEMA
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaView:
    """``columns``: those of the schema, then (``known`` is ``lineage``) those that column lineage
    alone names, all with the fields that are known in them. ``id`` None: there is no schema.
    """

    id: str | None
    columns: tuple[SchemaColumnView, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A job that writes or reads a dataset through one logical plan.

    ``at``: of its newest write, or read where it writes nothing, or since when it is declared.
    """

    job: JobReference
    plan: str
    mode: str | None
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
    about: DatasetAbout | None = None


@dataclass(frozen=True, slots=True)
class LastWriter:
    """``failed_since``: failed attempts after it, newest first.

    ``certain``: it is known to have written the partition asked for. Else ``candidates``, newest
    first, begin with ``execution`` and end with the newest write that is, or with the oldest.
    """

    execution: ExecutionView | None
    failed_since: tuple[ExecutionView, ...]
    certain: bool = True
    candidates: tuple[ExecutionView, ...] = ()
    partial: Partial | None = None


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
    origin: str = PLAN
    masking: bool = False


@dataclass(frozen=True, slots=True)
class JobLinkView:
    """A job that the plan goes by; ``column`` of its target, None: the whole."""

    job: JobReference
    column: str | None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The fine view of one plan. ``origin`` is that of the edge to its target; ``openlineage`` is
    what events tell, None for a plan with a document.
    """

    id: str
    plan_id: str
    plan: str
    job: JobReference
    name: str
    system: str
    agent: str
    api_version: str
    command: str
    mode: str | None
    labels: Any
    target: DatasetReference | None
    sources: tuple[SourceReference, ...]
    inspection: PlanInspection[DatasetReference]
    columns: tuple[ColumnStep, ...]
    executions: tuple[ExecutionView, ...]
    other_plans: int
    gaps: Any
    document: Any | None
    origin: str = PLAN
    links: tuple[JobLinkView, ...] = ()
    openlineage: ToldPlan | None = None


@dataclass(frozen=True, slots=True)
class SearchItem:
    kind: str
    id: str
    label: str
    detail: str
    node: str


def _of_one_state(
    ask: Callable[Concatenate[Answers, _Asked], _Answer],
) -> Callable[Concatenate[Answers, _Asked], _Answer]:
    """All that the method asks the catalogue, it asks of one state of it."""

    @wraps(ask)
    def asked(answers: Answers, /, *given: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        with answers.at_once() as same:
            return ask(same, *given, **named)

    return asked


class Answers:
    """Everything that can be asked. Raises NotFound, InvalidReference, GraphUnavailable."""

    def __init__(
        self,
        graph: Graph,
        catalogue: Catalogue,
        journal: Journal,
        *,
        rules: Rules = naming.DEFAULT_RULES,
        quality_rules: Sequence[QualityRule] = (),
        structure: Structure | None = None,
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules
        self._quality_rules = quality_rules
        self._structure = structure or Structure()
        self.references = References(catalogue, graph, rules)
        self._about = About(catalogue, quality_rules)
        self._told = ToldPlans(catalogue, journal, rules)

    @contextmanager
    def at_once(self) -> Iterator[Answers]:
        """The same answers, out of one state of the catalogue."""
        with self._catalogue.snapshot() as catalogue:
            yield Answers(
                self._graph,
                catalogue,
                self._journal,
                rules=self._rules,
                quality_rules=self._quality_rules,
                structure=self._structure,
            )

    # --- graphs

    @_of_one_state
    def overview(
        self,
        *,
        namespace: str | None,
        query: str,
        limit: int,
        at: int | None,
        layout: bool,
        job: str | None = None,
        keep: Callable[[DatasetRow], bool] | None = None,
    ) -> GraphView:
        """All jobs and tables; with a namespace or a job (an id) that, and the tables beside it.

        With ``keep`` the tables that it wants, and the jobs that read or write one of them.
        """
        lineage = self._lineage()
        if namespace or query or job or keep is not None:
            found, more = self._matching(namespace, query, job, keep, limit, at)
            datasets, jobs, hub = lineage.around(*found, at)
        else:
            (datasets, jobs), more = self._first(limit, at)
            hub = False
        answer = lineage.overview(datasets, jobs, at)
        if hub:
            answer = replace(answer, partial=answer.partial or Partial("hub", HUB_LIMIT))
        answer = self._narrow(answer, namespace, query)
        answer = self._filter(answer, lineage.past, Filter(namespace, job, keep), frozenset())
        cut = more or len(answer.datasets) + len(answer.jobs) > limit
        answer = limit_nodes(answer, limit, cut=cut)
        return self._draw(answer, lineage.past, at, jobs=True, columns=False, layout=layout)

    def totals(self, hidden: Collection[str], at: int | None) -> tuple[Totals, tuple[Failure, ...]]:
        """What there is but for the hidden (ids), and the newest failures, newest first."""
        found = self._catalogue.estate(hidden, failures=FAILURES_NAMED, at=at)
        failures = tuple(
            Failure(job_reference(one.job), iso(one.at) or "") for one in found.failures
        )
        return Totals(found.jobs, found.datasets, found.failed), failures

    def _first(self, limit: int, at: int | None) -> tuple[tuple[set[str], set[str]], bool]:
        """The first datasets and jobs, and whether there are more."""
        most = min(limit, _AT_ONCE)
        jobs = self._catalogue.list_jobs(limit=most, at=at)
        datasets = self._catalogue.list_datasets(limit=most, at=at)
        ids = {row.id for row in datasets.items if row.kind != "name"}
        more = jobs.next is not None or datasets.next is not None
        return (ids, {i.job.id for i in jobs.items}), more

    def _matching(
        self,
        namespace: str | None,
        query: str,
        job: str | None,
        keep: Callable[[DatasetRow], bool] | None,
        limit: int,
        at: int | None,
    ) -> tuple[tuple[set[str], set[str]], bool]:
        """As ``_first``, those that a filter asks for."""
        most = min(limit, _AT_ONCE)
        datasets: list[str] = []
        if keep is not None or (query and job is None):
            rows = walk_datasets(self._catalogue, query, at)
            wanted = (row.id for row in rows if row.kind != "name" and (keep is None or keep(row)))
            datasets = list(islice(wanted, most + 1))
        if job is not None:
            return (set(datasets[:most]), {job}), len(datasets) > most
        jobs: set[str] = set()
        more = False
        for space, name in _job_queries(namespace, query) if namespace or query else ():
            page = self._catalogue.list_jobs(query=name, namespace=space, limit=most, at=at)
            jobs |= {item.job.id for item in page.items}
            more |= page.next is not None
        return (set(datasets[:most]), jobs), more or len(datasets) > most

    def _filter(self, answer: Answer, past: Past, wanted: Filter, asked: frozenset[str]) -> Answer:
        """What of an answer somebody wants to see; ``asked`` (ids) stays."""
        if wanted.namespace or wanted.job:
            plans = past.plans({plan for edge in answer.column_edges for plan in edge.plans})
            rows = self._catalogue.jobs({*answer.jobs, *(row.job for row in plans.values())})
            jobs = {row.id for row in rows if wanted.takes(row)}
            if answer.jobs:
                answer = keep_jobs(answer, jobs, asked)
            else:
                derived = {plan for plan, row in plans.items() if row.job in jobs}
                answer = keep_derivations(answer, derived, asked)
        if wanted.keep is not None:
            datasets = self._catalogue.datasets(answer.datasets)
            home = {column.dataset for column in answer.columns if column.id in asked}
            kept = {row.id for row in datasets if wanted.keep(row)}
            answer = keep_datasets(answer, kept, asked | home)
        return answer

    def _narrow(self, answer: Answer, namespace: str | None, query: str) -> Answer:
        """Keep what matches the words asked for, and what stands beside it."""
        if not query:
            return answer
        needle = query.casefold()
        rows = self._catalogue.datasets(answer.datasets)
        datasets = {row.id for row in rows if needle in row.uri.casefold()}
        if namespace:
            datasets &= {d for use in answer.plans for d in (*use.sources, *use.targets)}
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

    @_of_one_state
    def lineage(
        self,
        question: Question,
        *,
        jobs: bool = True,
        layout: bool = False,
        wanted: Filter = EVERYTHING,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> GraphView:
        """The neighbourhood of ``question.node`` (an id that ``references`` resolved).

        ``wanted`` leaves nodes out of what was found, never the one asked about.
        """
        lineage = self._lineage(expired, time_limit_ms)
        answer = lineage.ask(question)
        if identity.kind_of(question.node) == labels.DATASET:
            question = replace(question, node=self._location(question.node, question.at))
        elif identity.kind_of(question.node) == labels.COLUMN:
            question = replace(question, node=self._located_column(question.node, question.at))
        answer = self._filter(answer, lineage.past, wanted, frozenset({question.node}))
        columns = question.columns or identity.kind_of(question.node) == labels.COLUMN
        view = self._draw(
            answer, lineage.past, question.at, jobs=jobs, columns=columns, layout=layout
        )
        return replace(view, focus=question.node)

    @_of_one_state
    def column_lineage(
        self,
        dataset: str,
        column: str | None,
        question: Question,
        *,
        ends: bool = False,
        layout: bool = False,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> GraphView:
        """Columns across jobs, from one column or from all of a dataset (URI or id).

        ``ends``: what a chain begins and ends with alone (``lineage.keep_ends``).
        """
        lineage = self._lineage(expired, time_limit_ms)
        references = References(self._catalogue, self._graph, self._rules, lineage.past.columns)
        dataset_id = references.dataset(dataset.removeprefix("dataset:"), question.at)
        if column is not None:
            start = [references.column(dataset_id, column)]
            answer = lineage.ask_columns(start, question)
            start = [self._located_column(one, question.at) for one in start]
        else:
            answer = lineage.ask_columns_of((dataset_id,), question)
            place = self._location(dataset_id, question.at)
            start = [node.id for node in answer.columns if node.dataset == place]
        if ends:
            answer = keep_ends(answer, start)
        if dataset_id not in answer.datasets:
            answer = replace(answer, datasets=tuple(sorted({*answer.datasets, dataset_id})))
        view = self._draw(
            answer, lineage.past, question.at, jobs=False, columns=True, layout=layout
        )
        return replace(view, focus=dataset_id if column is None else start[0])

    def _lineage(
        self, expired: Callable[[], bool] = lambda: False, time_limit_ms: int = 0
    ) -> Lineage:
        return Lineage(
            self._graph,
            self._catalogue,
            expired=expired,
            time_limit_ms=time_limit_ms,
            structure=self._structure,
        )

    def _draw(
        self,
        answer: Answer,
        past: Past,
        at: int | None,
        *,
        jobs: bool,
        columns: bool,
        layout: bool,
    ) -> GraphView:
        names = self._names(answer, past, at, columns=columns)
        view = draw(answer, names, jobs=jobs, columns=columns, layout=layout)
        return replace(view, declared=past.declared_plans(_plans_of(answer)))

    def _names(self, answer: Answer, past: Past, at: int | None, *, columns: bool) -> Names:
        datasets = answer.datasets
        plans = {plan for edge in answer.column_edges for plan in edge.plans}
        return Names(
            datasets={row.id: row for row in self._catalogue.datasets(datasets)},
            jobs={row.id: row for row in self._catalogue.jobs(answer.jobs)} if answer.jobs else {},
            catalog_names=self._catalog_names(past, datasets, at),
            last_writes=past.last_writes(datasets, at),
            last_runs=self._catalogue.last_states(answer.jobs, at) if answer.jobs else {},
            columns=self._spellings(answer.columns, at) if columns else {},
            plan_jobs=past.jobs_of(plans),
            quality=self._about.quality(datasets, at),
        )

    def _catalog_names(
        self, past: Past, datasets: Collection[str], at: int | None
    ) -> dict[str, list[str]]:
        named = {dataset for dataset, found in past.names_of(datasets).items() if found}
        seen: Sequence[NameRow] = self._catalogue.names_of(named, at)
        uris = {row.id: row.uri for row in self._catalogue.datasets({row.name for row in seen})}
        names: dict[str, list[str]] = {}
        for row in seen:
            if row.name in uris and uris[row.name] not in names.setdefault(row.location, []):
                names[row.location].append(uris[row.name])
        return {location: sorted(found) for location, found in names.items()}

    def _spellings(
        self, columns: Collection[ColumnNode], at: int | None
    ) -> dict[str, ColumnSpelling]:
        chosen = self._catalogue.newest_schema_ids({column.dataset for column in columns}, at)
        listed = self._listed(set(chosen.values()))
        spellings: dict[str, ColumnSpelling] = {}
        for column in columns:
            columns_of_schema = listed.get(chosen.get(column.dataset, ""), {})
            spelling = spell_column(column.path, columns_of_schema)
            if spelling is not None:
                spellings[column.id] = spelling
        return spellings

    def _listed(self, schemas: Collection[str]) -> dict[str, Mapping[str, ColumnSpelling]]:
        """Per schema its columns by their paths."""
        kept = self._structure.spellings.find(schemas)
        rows = self._catalogue.schemas(set(schemas) - kept.keys())
        read = {row.id: read_spellings(row.columns) for row in rows}
        self._structure.spellings.keep(read)
        return {**kept, **read}

    def _location(self, dataset: str, at: int | None) -> str:
        """Where a catalog name stood at the time; any other dataset itself."""
        return self._catalogue.location_of(dataset, at) or dataset

    def _located_column(self, column: str, at: int | None) -> str:
        """The column where its table stood at the time."""
        rows = self._catalogue.columns((column,))
        return (
            identity.column_id(self._location(rows[0].dataset, at), rows[0].path)
            if rows
            else column
        )

    # --- jobs and runs

    @_of_one_state
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
        items = tuple(map(_job_item, page.items))
        return Page(items, page.total, page.next)

    @_of_one_state
    def job(self, job: str, at: int | None) -> JobPage:
        """One job (an id) with its logical plans, newest run first."""
        row = self._job_row(job)
        plans = self._plans_of(job)
        last = self._last_runs_of_plans(job, plans, at)
        if at is not None:
            plans = [plan for plan in plans if plan in last]
        rows = self._catalogue.logical_plans(plans)
        sources = self._sources_of(plans)
        references = self.dataset_references(
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
            producer=newest.producer if newest else None,
            about=self._about.job(job, at),
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
            mode=known_mode(row.mode),
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

    @_of_one_state
    def runs(self, job: str, *, limit: int, cursor: str | None, at: int | None) -> Page[RunView]:
        self._job_row(job)
        page = self._catalogue.list_runs(job, at=at, limit=limit, cursor=cursor)
        written = self._catalogue.written_by(job, [run.run for run in page.items])
        reports = Past(self._catalogue).reports(written)
        views = (_run_view(run, _count_again(reports, job, run, at)) for run in page.items)
        return Page(tuple(views), page.total, page.next)

    @_of_one_state
    def run(self, job: str, run: str) -> RunView:
        """One run with its executions, newest first; of more than 1,000 the newest.

        A write that several agents report is one of them.
        """
        self._job_row(job)
        found = self._catalogue.list_runs(job, run=run, limit=1).items
        if not found:
            raise NotFound("run", run)
        page = self._catalogue.executions(job=job, run=run, limit=_RECENT)
        cut = Partial("executions", _RECENT) if page.next is not None else None
        past = Past(self._catalogue)
        reports = past.reports({(row.target, row.application_id) for row in page.items})
        again = _again(reports, {row.id for row in page.items})
        rows = past.completed((row for row in page.items if row.id not in again), reports)
        view = _run_view(found[0], _count_again(reports, job, found[0], None))
        return replace(view, items=self.execution_views(rows), partial=cut)

    def _job_row(self, job: str) -> JobRow:
        rows = self._catalogue.jobs((job,))
        if not rows:
            raise NotFound("job", job)
        return rows[0]

    # --- datasets

    @_of_one_state
    def datasets(
        self, *, query: str, limit: int, cursor: str | None, at: int | None
    ) -> Page[DatasetItem]:
        page = self._catalogue.list_datasets(query=query, limit=limit, cursor=cursor, at=at)
        last = Past(self._catalogue).last_writes([row.id for row in page.items], at)
        items = tuple(_dataset_item(row, last.get(row.id)) for row in page.items)
        return Page(items, page.total, page.next)

    def dataset_items(self, rows: Sequence[DatasetRow], at: int | None) -> tuple[DatasetItem, ...]:
        """These datasets as a list shows them, in this order."""
        writes = self._catalogue.last_writes([row.id for row in rows], at)
        return tuple(_dataset_item(row, writes.get(row.id)) for row in rows)

    @_of_one_state
    def dataset(self, dataset: str, at: int | None) -> DatasetPage:
        """One dataset (an id): schema, who writes and reads it now, what it is called."""
        row = self._dataset_row(dataset)
        past = Past(self._catalogue)
        item = _dataset_item(row, past.last_writes((dataset,), at).get(dataset))
        times = self._visible_plans(past, (dataset,), at)
        written_by = self._catalogue.logical_plans(times.keys())
        keys = {key for plan in written_by for key in json.loads(plan.partition_keys)}
        about = self._about.dataset(dataset, at)
        return DatasetPage(
            id=item.id,
            uri=item.uri,
            scope=item.scope,
            label=item.label,
            type=item.type,
            last_write=item.last_write,
            names=tuple(self._catalog_names(past, (dataset,), at).get(dataset, ())),
            schema=self._schema(dataset, at, about),
            writers=self._neighbours(written_by, times),
            readers=self._readers(past, dataset, at),
            partition_keys=tuple(sorted(keys)),
            about=about,
        )

    def _readers(self, past: Past, dataset: str, at: int | None) -> tuple[Neighbour, ...]:
        """Plans that read it, under any of its names, and whose writes are still to be seen or that
        write nothing.
        """
        called = {dataset, *past.names_of((dataset,))[dataset]}
        page = self._graph.edges(called, Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
        plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        rows = self._catalogue.logical_plans(plans)
        places = past.locations_of({row.target for row in rows})
        targets = {place for found in places.values() for place in found if place}
        reading = {row.id for row in rows if not row.target}
        times = self._visible_plans(past, targets | reading, at)
        return self._neighbours([row for row in rows if row.id in times], times)

    def _visible_plans(self, past: Past, ends: Collection[str], at: int | None) -> dict[str, int]:
        """Logical plans whose writes are to be seen in these datasets, or (``ends`` may be plans)
        that read and write nothing: each with its newest time.
        """
        times: dict[str, int] = {}
        for sight in past.sights({moment_of(end, at) for end in ends}).values():
            newest = [(write.logical_plan, write.at) for write in sight.writes]
            newest += [(older.logical_plan, older.last) for older in sight.older]
            newest += [(flow.logical_plan, flow.since) for flow in sight.declared]
            for plan, time in newest:
                times[plan] = max(time, times.get(plan, time))
        return times

    def _neighbours(
        self, rows: Iterable[LogicalPlanRow], times: dict[str, int]
    ) -> tuple[Neighbour, ...]:
        listed = sorted(rows, key=lambda row: (-times.get(row.id, 0), row.id))
        jobs = self.job_references({row.job for row in listed})
        return tuple(
            Neighbour(jobs[row.job], row.id, known_mode(row.mode), iso(times.get(row.id)))
            for row in listed
            if row.job in jobs
        )

    def _schema(self, dataset: str, at: int | None, about: DatasetAbout) -> SchemaView | None:
        schema = self._catalogue.newest_schema_ids((dataset,), at).get(dataset)
        columns = self._lineage().columns_of(dataset, at)
        if schema is None and not columns:
            return None
        described = described_columns(about)
        ids = {column.path: column.id for column in columns}
        spelled = self._spellings(columns, at)
        listed = [
            _schema_column(column, spelled.get(column.id), described.get(column.path), ids)
            for column in in_schema_order(columns, spelled)
        ]
        return SchemaView(schema, tuple(listed))

    @_of_one_state
    def history(
        self, dataset: str, *, limit: int, cursor: str | None, at: int | None
    ) -> Page[ExecutionView]:
        """The executions that wrote a dataset, failed ones too; a write told twice is shown once.

        It stands where its earliest telling does, whatever page one looks at.
        """
        self._dataset_row(dataset)
        past = Past(self._catalogue)
        reports = past.reports_of(dataset)
        repeated = _repeated(reports, at)
        rows: list[ExecutionRow] = []
        while True:
            page = self._catalogue.executions(
                target=dataset, at=at, limit=limit - len(rows), cursor=cursor
            )
            rows += [row for row in page.items if row.id not in repeated]
            cursor = page.next
            if cursor is None or len(rows) == limit:
                views = self.execution_views(past.completed(rows, reports))
                return Page(views, page.total - len(repeated), cursor)

    def last_writer(self, dataset: str, *, partition: str | None, at: int | None) -> LastWriter:
        """The newest completed write (that may have touched the partition), and what failed since.

        Writes to a branch of the table are no writes of the table itself.

        Raises InvalidReference for a partition that is not ``key=value/…`` with keys that the
        dataset is partitioned by.
        """
        self._dataset_row(dataset)
        part = part_of(self._known_partition(dataset, partition)) if partition is not None else None
        past = Past(self._catalogue)
        reports = past.reports_of(dataset)
        writers: list[ExecutionRow] = []
        failed: list[ExecutionRow] = []
        certain = part is None
        for row, write in self._attempts(past, dataset, reports, at):
            if write.branch != MAIN_BRANCH:
                continue
            if part is not None and not maybe_touched(write, part):
                continue
            if row.state == labels.COMPLETED:
                writers.append(row)
                certain = certain or (part is not None and surely_touched(write, part))
            elif not writers:
                failed.append(row)
            if writers and (certain or len(writers) == _CANDIDATES_SHOWN):
                break
        shown = self.execution_views(past.completed(writers, reports))
        cut = not certain and len(shown) == _CANDIDATES_SHOWN
        alone = not shown or (certain and len(shown) == 1)
        return LastWriter(
            shown[0] if shown else None,
            self.execution_views(past.completed(failed, reports)),
            certain=alone,
            candidates=() if alone else shown,
            partial=Partial("candidates", _CANDIDATES_SHOWN) if cut else None,
        )

    def _attempts(
        self, past: Past, dataset: str, reports: Sequence[Reports], at: int | None
    ) -> Iterator[tuple[ExecutionRow, Write]]:
        """Writes of a dataset and attempts at one, newest first, each with what it touched."""
        repeated = _repeated(reports, at)

        def ask(cursor: str | None) -> Page[ExecutionRow]:
            return self._catalogue.executions(
                target=dataset, at=at, limit=_EXECUTIONS_SHOWN * 5, cursor=cursor
            )

        for page in walk_pages(ask):
            rows = [r for r in page.items if r.kind == "write" and r.id not in repeated]
            writes = past.told_writes(rows, reports)
            yield from ((row, writes[row.id]) for row in rows)

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

    def _dataset_row(self, dataset: str) -> DatasetRow:
        rows = self._catalogue.datasets((dataset,))
        if not rows:
            raise NotFound("dataset", dataset)
        return rows[0]

    # --- plans

    @_of_one_state
    def plan(self, plan_id: str, *, at: int | None, document: bool, layout: bool) -> PlanPage:
        """The fine view, by the producer's plan id or an ``lp_`` / ``xp_`` id.

        Of OpenLineage, which has no plans, by a run's id (the client's) as well.
        """
        found = self._plan_row(plan_id)
        if found is None:
            return self._told_page(plan_id, at, document=document, layout=layout)
        row, others = found
        others = max(others, self._other_bodies(row.plan_id))
        stored = self._journal.plan_document(row.plan_id, row.content_hash)
        if stored is None:
            raise NotFound("document of plan", plan_id)
        plan_document = read_plan_document(stored)
        logical = self._catalogue.logical_plans((row.logical_plan,))
        if not logical:
            raise NotFound("plan", plan_id)
        references, reads = self._reads(row.logical_plan, logical[0].target)
        page = self._catalogue.executions(
            plan_id=row.plan_id, logical_plan=row.logical_plan, at=at, limit=_EXECUTIONS_SHOWN
        )
        return PlanPage(
            id=row.id,
            plan_id=row.plan_id,
            plan=row.logical_plan,
            job=self.job_references((row.job,))[row.job],
            name=row.name,
            system=row.system,
            agent=row.agent,
            api_version=row.api_version,
            command=row.command,
            mode=known_mode(logical[0].mode),
            labels=json.loads(row.labels),
            target=references[logical[0].target],
            sources=_source_references(reads),
            inspection=inspect(plan_document, references_of=self._named, layout=layout),
            columns=self._column_steps(row.logical_plan, logical[0].target),
            executions=self.execution_views(page.items),
            other_plans=others,
            gaps=json.loads(logical[0].gaps) + gaps_of(stored),
            document=json.loads(stored.body) if document else None,
        )

    def _reads(self, plan: str, target: str) -> tuple[dict[str, DatasetReference], list[Use]]:
        """The datasets of a plan by id, and those it reads with the origin of the edge."""
        page = self._graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        origins = {edge.out_id: str(edge.value("origin") or PLAN) for edge in page.edges}
        references = self.dataset_references({target, *origins})
        reads = [
            Use(key, references[key], origins[key]) for key in sorted(origins) if key in references
        ]
        return references, reads

    def _told_page(self, plan_id: str, at: int | None, *, document: bool, layout: bool) -> PlanPage:
        """A plan that events tell: the newest run speaks."""
        found = self._told.find(plan_id, at)
        plan, execution = found.logical_plan, found.execution
        logical = self._catalogue.logical_plans((plan,))
        if not logical:
            raise NotFound("plan", plan_id)
        references, reads = self._reads(plan, logical[0].target)
        target = references.get(logical[0].target)
        origin = self._write_origin(plan)
        write = Use(logical[0].target, target, origin) if target else None
        documents = self._told.events(execution)
        told = self._told.read(execution, documents, reads, write)
        job = self.job_references((execution.job,))[execution.job]
        name = told.name or job.name
        columns = self._columns_of(logical[0].target)
        steps = self._column_steps(plan, logical[0].target, columns)
        page = self._catalogue.executions(logical_plan=plan, at=at, limit=_EXECUTIONS_SHOWN)
        return PlanPage(
            id=plan,
            plan_id=execution.plan_id,
            plan=plan,
            job=job,
            name=name,
            system=told.system,
            agent=told.producer,
            api_version="",
            command=execution.command,
            mode=known_mode(logical[0].mode),
            labels={},
            target=target,
            sources=_source_references(reads),
            inspection=draw_told(told.datasets, name, _expressions(told, steps), layout=layout),
            columns=steps,
            executions=self.execution_views(page.items),
            other_plans=found.others,
            gaps=json.loads(logical[0].gaps) + [gap for one in documents for gap in gaps_of(one)],
            document=raw_events(documents) if document else None,
            origin=origin,
            links=self._job_links(plan, job.id, columns) if told.explicit else (),
            openlineage=told,
        )

    def _write_origin(self, plan: str) -> str:
        page = self._graph.edges((plan,), Direction.DOWNSTREAM, (labels.FEEDS,), 1)
        return next((str(edge.value("origin") or PLAN) for edge in page.edges), PLAN)

    def _job_links(
        self, plan: str, job: str, columns: Mapping[str, str]
    ) -> tuple[JobLinkView, ...]:
        """Jobs that feed the plan's job, or a column of its target (id -> path), by an explicit
        lineage.
        """
        fed = {job: "", **columns}
        page = self._graph.edges(fed, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        own = [edge for edge in page.edges if edge.value("logical_plan") == plan]
        jobs = self.job_references({edge.out_id for edge in own})
        links = [(jobs[edge.out_id], fed[edge.in_id]) for edge in own if edge.out_id in jobs]
        links.sort(key=lambda link: (link[0].namespace, link[0].name, link[1]))
        return tuple(JobLinkView(one, column or None) for one, column in links)

    def _columns_of(self, dataset: str) -> dict[str, str]:
        """The ids of all columns that a dataset ever had, each with its path."""
        if not dataset:
            return {}
        page = self._graph.edges((dataset,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        rows = self._catalogue.columns([edge.in_id for edge in page.edges])
        return {row.id: row.path for row in rows}

    def _plan_row(self, plan_id: str) -> tuple[ExecutionPlanRow, int] | None:
        """The row of the plan's document and how many others there are; None for none."""
        kind = identity.kind_of(plan_id)
        if kind == labels.LOGICAL_PLAN:
            rows = self._catalogue.execution_plans(logical_plan=plan_id)
        elif kind == labels.EXECUTION_PLAN:
            rows = self._catalogue.execution_plans(id=plan_id)
        else:
            rows = self._catalogue.execution_plans(plan_id=plan_id.lower())
        return (rows[0], len(rows) - 1) if rows else None

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

    def _column_steps(
        self, plan: str, target: str, columns: Iterable[str] = ()
    ) -> tuple[ColumnStep, ...]:
        """The plan's own column edges; influences once a column, onto the whole target.

        ``columns`` of the target are looked at as well: events may name some that no schema has.
        """
        page = self._graph.edges((plan,), Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
        schemas = [edge.in_id for edge in page.edges]
        held = self._graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        written = {edge.in_id for edge in held.edges} | set(columns)
        derived = self._graph.edges(written, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
        edges = [edge for edge in derived.edges if edge.value("logical_plan") == plan]
        influences = self._graph.edges((plan,), Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        ids = {end for e in edges for end in (e.out_id, e.in_id)}
        ids |= {edge.out_id for edge in influences.edges}
        ends = {v.id: _column_end(v.id, dict(v.properties)) for v in self._graph.vertices(ids)}
        whole = ColumnEnd("", self._dataset_row(target).uri if target else "", "*")
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

    def execution_views(self, rows: Sequence[ExecutionRow]) -> tuple[ExecutionView, ...]:
        jobs = self.job_references({row.job for row in rows})
        targets = self.dataset_references({row.target for row in rows})
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
                mode=_mode_of(row),
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
                gaps=() if row.id in partitions or not _replaces_some(row) else (_SOME_PARTITIONS,),
                version=row.version or None,
                branch=row.branch or None,
            )
            for row in rows
        )

    def job_references(self, ids: Collection[str]) -> dict[str, JobReference]:
        """By id the names of those of these jobs that are known."""
        return {row.id: job_reference(row) for row in self._catalogue.jobs(ids)}

    def dataset_references(self, ids: Collection[str]) -> dict[str, DatasetReference]:
        """By id the names of those of these datasets that are known."""
        return {row.id: dataset_reference(row) for row in self._catalogue.datasets(ids)}


def _job_queries(namespace: str | None, query: str) -> Iterator[tuple[str | None, str]]:
    """Where a text may be found: in names of jobs; ``finance/load`` names a namespace as well."""
    yield namespace, query
    space, separator, name = query.partition("/")
    if separator and namespace in (None, space):
        yield space, name


def _plans_of(answer: Answer) -> set[str]:
    """The logical plans behind its edges."""
    derived = {plan for edge in answer.column_edges for plan in edge.plans}
    return derived | {use.logical_plan for use in answer.plans}


def _mode_of(row: ExecutionRow) -> str | None:
    return labels.DECLARED if row.kind == labels.DECLARATION_KIND else known_mode(row.mode)


def _repeated(reports: Iterable[Reports], at: int | None) -> frozenset[str]:
    """Ids of executions at or before ``at`` that report what an earlier one has."""
    return frozenset(row.id for _, *again in reports for row in again if not _is_after(row.at, at))


def _replaces_some(row: ExecutionRow) -> bool:
    return row.dynamic and row.mode == labels.OVERWRITE_PARTITIONS


def _is_after(time: int, at: int | None) -> bool:
    return at is not None and time > at


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
        if (row.job, row.application_id) == (job, run.application_id) and not _is_after(row.at, at)
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


def _job_item(found: JobSummary) -> JobItem:
    last = None
    if found.last_at is not None:
        last = LastRun(iso(found.last_at) or "", found.last_state or "")
    job = found.job
    return JobItem(job.id, job.namespace, job.name, job.shared, found.runs, last)


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
        str(edge.value("origin") or PLAN),
        masking=edge.value("masking") is True,
    )


def _source_references(
    reads: Iterable[Use],
) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(use.id, use.dataset.uri, use.dataset.label, use.origin) for use in reads
    )


def _schema_column(
    column: ColumnNode,
    spelling: ColumnSpelling | None,
    described: ColumnDescription | None,
    ids: Mapping[str, str],
) -> SchemaColumnView:
    """``ids``: of the table's columns by their paths."""
    above = (holder for holder in holders(column.path)[1:] if holder in ids)
    return SchemaColumnView(
        column.id,
        spelling.name if spelling else column.path,
        column.path,
        spelling.type if spelling else None,
        described.description if described else "",
        described.tags if described else (),
        SCHEMA if spelling else LINEAGE,
        next((ids[holder] for holder in above), None),
    )


def _expressions(told: ToldPlan, steps: Iterable[ColumnStep]) -> dict[str, str]:
    """Per written column's name how it comes about; a column that is passed on is left out."""
    by_path: dict[str, list[ColumnStep]] = {}
    for step in steps:
        if step.kind == labels.DIRECT:
            by_path.setdefault(step.target.name, []).append(step)
    texts = {path: _expression(path, found) for path, found in by_path.items()}
    return {
        column.name: texts[path]
        for dataset in told.datasets
        if dataset.role == "output"
        for column in dataset.columns or ()
        if texts.get(path := naming.column_path((naming.fold(column.name),)))
    }


def _expression(path: str, steps: Sequence[ColumnStep]) -> str:
    """``AGGREGATION(amount)`` where the client does not say more."""
    if [(step.how, step.source.name) for step in steps] == [(labels.IDENTITY, path)]:
        return ""
    if told := sorted({step.expression for step in steps if step.expression}):
        return " | ".join(told)
    sources: dict[str, list[str]] = {}
    for step in steps:
        sources.setdefault(step.how, []).append(step.source.name)
    return ", ".join(f"{how}({', '.join(names)})" for how, names in sorted(sources.items()))


def _search_item(match: Match, datasets: dict[str, DatasetRow]) -> SearchItem:
    if match.kind == labels.JOB:
        namespace, _, name = match.text.partition("/")
        return SearchItem(match.kind, match.id, name or match.text, namespace, match.id)
    row = datasets.get(match.dataset or match.id)
    uri = "" if row is None else row.uri
    if match.kind == labels.COLUMN:
        return SearchItem(match.kind, match.id, match.text, uri, match.id)
    return SearchItem(match.kind, match.id, (row.name if row else "") or uri, uri, match.id)
