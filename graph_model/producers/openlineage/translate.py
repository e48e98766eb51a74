"""OpenLineage's documents -> facts, in the vocabulary that Spline's plans have.

A run that has not ended shows the tables that its events name, as ``running``: its writes close
nothing, and its facts are replaced when it ends. A stream or a service need not end: what it wrote
until an event of it stays, whatever comes later, its end in a failure included. Spark's helper runs
(no output, or reads for the sake of another command) are RunRows under their application and
nothing else. The exposures on the datasets of a run of dbt are declarations of their own jobs.

One execution for each dataset that a run writes: its id covers the run, the terminal state and
its time, and all that its row says, so a later event about the run makes another one (the
projector withdraws the former).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument
from graph_model.facts import (
    DESCRIBED,
    LISTED,
    NO_NUMBER,
    EventLabelRow,
    EventRow,
    ExecutionRow,
    FactCollector,
    Facts,
    HostlessNameRow,
    NameRow,
    Part,
    PartitionRow,
    ReadVersionRow,
    RunRow,
    SupportRow,
    Version,
    edge,
)
from graph_model.labels import TOO_LARGE
from graph_model.naming import DatasetName, JobName, Rules
from graph_model.producers.bounds import Weight, excess_of, weigh
from graph_model.producers.elements import (
    Rename,
    add_application,
    add_dataset,
    add_execution,
    add_job,
    add_rename,
    hostless_names,
)
from graph_model.producers.openlineage.datasets import (
    DatasetNamer,
    DatasetUse,
    direction,
    listed_files,
    partitions,
)
from graph_model.producers.openlineage.events.accumulate import (
    JobStatement,
    RunState,
    accumulate,
    declared,
    seen_running,
)
from graph_model.producers.openlineage.events.documents import (
    Dataset,
    DatasetEvent,
    Declaration,
    JobEvent,
    RunEvent,
    subject_key,
)
from graph_model.producers.openlineage.events.facets import (
    DBT_MODEL,
    DECLARATION_FACET,
    EXPOSURES,
    ColumnLineage,
    DbtExposure,
    Facet,
    Facets,
    Lifecycle,
    LineageEntry,
    SchemaField,
    is_silent,
    value_of,
)
from graph_model.producers.openlineage.events.jobs import (
    JobPlace,
    is_dispatched,
    is_endless,
    is_query,
    may_be_silent,
    own_job,
    place_dispatched,
    place_job,
    producer_text,
    writes_dynamically,
)
from graph_model.producers.openlineage.job_logic import StatedJob, read_logics, renamed_from
from graph_model.producers.openlineage.plans import (
    LogicalPlan,
    LogicalPlanHead,
    add_schema_of,
    plans_from,
    plans_of,
)
from graph_model.producers.openlineage.rows import (
    Subject,
    add_dataset_facets,
    add_facets,
    add_row,
    declaration_rows,
    event_rows,
)
from graph_model.values import shortened

# Parts to leave out of a statement above the bounds of ``producers.bounds``.
#
#     all of it -> without columns -> without facets that name -> without datasets: the job alone
#
# Tables and jobs stay as long as they can. A statement that lists more columns than a graph takes
# goes without them before anything is made of it. Each step is a gap of every plan of the
# statement, and the reason that the journal shows beside its documents.

#: Gaps in addition to ``column-lineage-too-large``: symlinks, subsets and dataset facets are left
#: out; no dataset is in the graph at all.
FACETS_TOO_LARGE: Final = "facets-too-large"
DATASETS_TOO_MANY: Final = "datasets-too-many"
#: The facets that table lineage needs.
_COARSE_FACETS: Final = ("columnLineage", "lifecycleStateChange", DBT_MODEL)
_COARSE_USAGE: Final = ("inputStatistics", "outputStatistics")


def without_columns(statement: JobStatement, excess: str) -> JobStatement:
    """The statement's tables and jobs; ``read_logics`` then reads no schema and no column edge."""
    return _left_out(statement, TOO_LARGE, excess)


def without_facets(statement: JobStatement, excess: str) -> JobStatement:
    """Without symlinks, partitions and other facets of datasets."""
    inputs, outputs = (
        tuple(map(_coarse, listed)) for listed in (statement.inputs, statement.outputs)
    )
    fewer = replace(statement, inputs=inputs, outputs=outputs)
    return _left_out(fewer, FACETS_TOO_LARGE, excess)


def without_datasets(statement: JobStatement, excess: str) -> JobStatement:
    """The job alone: readers could not tell which half of the tables is missing."""
    alone = replace(
        statement,
        job_facets={},
        run_facets={},
        inputs=(),
        outputs=(),
        entries=(),
        explicit=False,
    )
    return _left_out(alone, DATASETS_TOO_MANY, excess)


def first_excess(statement: JobStatement) -> str:
    """The bound that the columns alone exceed, as they are listed; "" where they do not."""
    datasets = (*statement.inputs, *statement.outputs)
    listed = sum(map(_columns, datasets))
    listed += sum(len(sources) for entry in statement.entries for _, sources in entry.fields)
    return Weight(elements=listed).excess


def is_smaller(reduced: JobStatement, statement: JobStatement) -> bool:
    """Whether a reduction left anything out: a list of 100,000 tables has no columns to lose."""
    if reduced.without_columns and not statement.without_columns:
        datasets = (*statement.inputs, *statement.outputs)
        return any(map(_columns, datasets)) or any(entry.fields for entry in statement.entries)
    before, after = (
        (stated.inputs, stated.outputs, stated.entries, stated.job_facets)
        for stated in (statement, reduced)
    )
    return before != after


def _columns(dataset: Dataset) -> int:
    schema = value_of(dataset.facets, "schema", tuple) or ()
    lineage = value_of(dataset.facets, "columnLineage", ColumnLineage)
    fields = lineage.fields if lineage else ()
    decide = len(lineage.dataset) if lineage else 0
    return _fields(schema) + sum(len(sources) for _, sources in fields) + decide


def _fields(listed: Sequence[SchemaField]) -> int:
    return len(listed) + sum(_fields(field.fields) for field in listed if field.fields)


REDUCTIONS: Final[tuple[Callable[[JobStatement, str], JobStatement], ...]] = (
    without_columns,
    without_facets,
    without_datasets,
)


def _left_out(statement: JobStatement, code: str, excess: str) -> JobStatement:
    return replace(statement, left_out=(*statement.left_out, (code, excess)))


def _coarse(dataset: Dataset) -> Dataset:
    facets = {name: dataset.facets[name] for name in _COARSE_FACETS if name in dataset.facets}
    usage = {name: dataset.usage[name] for name in _COARSE_USAGE if name in dataset.usage}
    return replace(dataset, facets=facets, usage=usage)


# --------------------------------------------------------------------------------------------------

_KINDS: Final = {labels.LIFECYCLE: labels.LIFECYCLE_KIND, labels.NO_WRITE: labels.READ_KIND}


@dataclass(frozen=True, slots=True)
class SubjectTranslation:
    """``plans`` are shared by all runs of a logic (a writer may skip known ones); ``own`` are the
    facts of the subject itself.
    """

    plans: tuple[LogicalPlan, ...]
    own: Facts
    left_out: tuple[tuple[str, str], ...] = ()  # gaps, as a Statement has them

    @property
    def excess(self) -> str:
        """The bound that the subject's facts exceed; "" for none."""
        weights = (plan.head.weight for plan in self.plans)
        return _excess_alone(self.plans) or excess_of(self.parts, [*weights, weigh(self.own)])

    @property
    def parts(self) -> tuple[Part, ...]:
        """All facts; those of a plan have one key for every run of it."""
        return (*(plan.facts for plan in self.plans), self.own)


def _excess_alone(plans: Iterable[LogicalPlan]) -> str:
    """The bound that one of the plans exceeds by itself: then nothing else need be made, merged or
    weighed, because whatever holds it exceeds the same. "" for none.
    """
    return next(filter(None, (plan.head.weight.elements_excess for plan in plans)), "")


# --- runs ----------------------------------------------------------------------------------------


def read_run(
    events: Iterable[RunEvent],
    rules: Rules = naming.DEFAULT_RULES,
    scope: str = "",
    mark: str = "",
) -> SubjectTranslation:
    """The facts of one run: a function of the set of its events. ``scope``: of capture; ``mark``:
    of a run that shares its id (``events.accumulate``).

    Raises ValueError for no event, or for events of several runs.
    """
    reported = tuple(events)
    state = accumulate(reported, rules)
    statement = state.statement
    if is_dispatched(state.producer):
        place = place_dispatched(state, scope, rules)
    else:
        place = place_job(statement, state.run_id, scope, rules)
    if mark and place.run_key == state.run_id:
        place = replace(place, run_key=f"{state.run_id} {mark}")
    at = state.last_at if state.ended_at is None else state.ended_at
    producer = producer_text(state.producer)
    subject = Subject(state.key, scope, rules, at, producer, _job_id(place.job))
    before = _before_its_end(state, reported, place, rules)
    return _within_bounds(
        statement, lambda reduced: _translate_run(state, before, place, subject, reduced)
    )


def _before_its_end(
    state: RunState, events: Sequence[RunEvent], place: JobPlace, rules: Rules
) -> tuple[RunState, ...]:
    """The states of a run in progress that count as writes and reads of their own.

    Spark's agent sends START for every query: its commands count when they have ended.
    """
    if is_endless(state.statement, rules):
        seen = seen_running(events, rules)
        if not seen and _is_broken(state) and state.started_at < (state.ended_at or 0):
            return (replace(state, last_at=state.started_at),)  # only its failure names the tables
        return seen
    return (state,) if state.ended_at is None and place.role == "run" else ()


def _within_bounds(
    statement: JobStatement, translate: Callable[[JobStatement], SubjectTranslation]
) -> SubjectTranslation:
    """The result of ``translate`` for the statement, or for as much of it as the bounds allow.

    Raises InvalidDocument where even its job alone exceeds them.
    """
    if excess := first_excess(statement):
        statement = without_columns(statement, excess)
    translation = translate(statement)
    while excess := translation.excess:
        further = REDUCTIONS[len(statement.left_out) :]
        if not further:
            raise InvalidDocument("", f"less than this, which comes to {excess}")
        whole, statement = statement, further[0](statement, excess)
        if is_smaller(statement, whole):
            translation = translate(statement)
    return replace(translation, left_out=statement.left_out)


def _translate_run(
    state: RunState,
    before: Sequence[RunState],
    place: JobPlace,
    subject: Subject,
    statement: JobStatement,
) -> SubjectTranslation:
    """The facts of a run; ``statement`` is the translated part of the state's own, ``before`` are
    its states before its end.
    """
    collector = FactCollector()
    row = _run_row(state, place, subject)
    endless = is_endless(state.statement, subject.rules)
    collector.add(row)
    _add_jobs(collector, place, subject)
    _add_application(collector, row, place)
    used: dict[str, LogicalPlan] = {}
    whole = state.statement
    writes = bool(whole.outputs or whole.entries)
    for earlier in before:
        shown = statement if statement.left_out else earlier.statement
        if shown.outputs or shown.entries or (shown.inputs and not writes):
            base = _running_execution(earlier, place, subject, endless=endless)
            plans = _add_run(collector, base, shown, place, subject)
            used |= {plan.head.id: plan for plan in plans}
    if state.ended_at is not None or endless:
        _add_tree(collector, place, subject)
        plans = _plans_of_run(whole, statement, place, subject, stopped=_is_broken(state))
        if state.ended_at is not None and _excess_alone(plans):
            return SubjectTranslation(plans, collector.facts())  # its caller asks for less
        names = _namer(statement, subject)
        if state.ended_at is not None:
            base = _run_execution(state, place, subject)
            _add_executions(collector, base, plans, statement, subject, names)
            used |= {plan.head.id: plan for plan in plans}
        add_facets(collector, statement, plans, place, subject, names)
        used |= {plan.head.id: plan for plan in _add_exposures(collector, statement, subject)}
    return SubjectTranslation(tuple(used.values()), collector.facts())


def _add_run(
    collector: FactCollector,
    base: ExecutionRow,
    statement: JobStatement,
    place: JobPlace,
    subject: Subject,
) -> tuple[LogicalPlan, ...]:
    """Add the executions of a run in one of its states; returns their plans."""
    plans = _plans_of_run(statement, statement, place, subject)
    names = _namer(statement, subject)
    _add_executions(collector, base, plans, statement, subject, names)
    return plans


def _plans_of_run(
    whole: JobStatement,
    statement: JobStatement,
    place: JobPlace,
    subject: Subject,
    *,
    stopped: bool = False,
) -> tuple[LogicalPlan, ...]:
    """The plans of a statement, which is ``whole`` or a part of it; a helper of Spark has none, nor
    has an application, unless it failed or was aborted: its commands do not say so.
    """
    touches = whole.outputs or whole.entries or is_query(whole, place, subject.rules)
    alone = place.role == "run" or (place.role == "application" and stopped)
    if not (alone or touches):
        return ()
    return plans_of(_stated(statement, place.job, place.command, subject, declared=False))


def _stated(
    statement: JobStatement, job: JobName, command: str, subject: Subject, *, declared: bool
) -> StatedJob:
    return StatedJob(statement, job, command, subject.scope, subject.rules, subject.names, declared)


def _namer(statement: JobStatement, subject: Subject) -> DatasetNamer:
    inputs, outputs = statement.inputs, statement.outputs
    return DatasetNamer.of(inputs, outputs, subject.scope, subject.rules, subject.names)


def _add_jobs(collector: FactCollector, place: JobPlace, subject: Subject) -> None:
    """The jobs that a run names, added before it has ended so that clients can find them."""
    for job in {place.job, place.parent_job, place.root_job}:
        if job is not None:
            add_job(collector, _job_id(job), job)
            collector.add(SupportRow(subject.id, _job_id(job)))


def _add_application(collector: FactCollector, row: RunRow, place: JobPlace) -> None:
    """The run vertex behind the client's id of an application's run, for events of the same
    application without its application id.
    """
    if not place.application_id or not place.application_run:
        return
    named = identity.vertex_id(labels.RUN, row.scope, place.application_run)
    if named != row.run:
        add_application(collector, row.subject, named, place.application_id, row.run)


def _job_id(job: JobName | None) -> str:
    return identity.job_id(job.namespace, job.name) if job else ""


def _run_row(state: RunState, place: JobPlace, subject: Subject) -> RunRow:
    statement = state.statement
    row = RunRow(
        id="",
        subject=subject.id,
        run_id=state.run_id,
        run=identity.vertex_id(labels.RUN, subject.scope, place.run_key),
        job=_job_id(place.job),
        namespace=statement.namespace,
        name=statement.name,
        scope=subject.scope,
        state=state.state,
        folded=place.folded and not statement.outputs,
        endless=may_be_silent(statement, subject.rules),
        application_id=place.application_id,
        started_at=state.started_at,
        ended_at=state.ended_at,
        last_at=state.last_at,
        parent_run=place.parent.run_id if place.parent else "",
        parent_job=_job_id(place.parent_job),
        root_run=place.root.run_id if place.root else "",
        root_job=_job_id(place.root_job),
        producer=subject.producer,
        error=error_text(statement.run_facets) if _is_broken(state) else None,
        start_told=state.start_told,
        part=place.part,
    )
    return row._replace(id="olr_" + _digest_of(row))


def _digest_of(*rows: RunRow | ExecutionRow | EventRow | EventLabelRow) -> str:
    """A digest of all fields of rows that have no id yet, as their documents have them."""
    # ``ahead``, the last field of an ExecutionRow, is of no document.
    return identity.digest(
        *([*row[:-1]] if isinstance(row, ExecutionRow) else [*row] for row in rows)
    )


def _is_broken(state: RunState) -> bool:
    return state.state in (labels.FAILED, labels.ABORTED)


def _add_tree(collector: FactCollector, place: JobPlace, subject: Subject) -> None:
    """A job -has-> job, from a DAG to its tasks and from a task to its Spark application."""
    parent = place.parent_job
    if parent is not None and parent != place.job:
        has = edge(labels.HAS, _job_id(parent), _job_id(place.job))
        collector.add(has, SupportRow(subject.id, has.id))


def _run_execution(state: RunState, place: JobPlace, subject: Subject) -> ExecutionRow:
    """The row that every execution of the run starts from. The error of an application without a
    message is that of its commands.
    """
    broken = _is_broken(state)
    unnamed = None if place.role == "application" else state.state
    error = (error_text(state.statement.run_facets) or unnamed) if broken else None
    return _execution(
        subject,
        run_key=place.run_key,
        state=state.state if broken else labels.COMPLETED,
        duration_ns=state.duration_ns,
        error=error,
        command=place.command,
        application_id=place.application_id,
        dynamic=writes_dynamically(place.command, state.statement.run_facets),
    )


def _running_execution(
    state: RunState, place: JobPlace, subject: Subject, *, endless: bool
) -> ExecutionRow:
    """The row that the executions of a run in progress start from.

    A batch job may have written nothing yet: its write must not close earlier ones.
    """
    base = _run_execution(state, place, subject)
    return base._replace(
        at=state.last_at,
        state=labels.COMPLETED,
        error=None,
        duration_ns=None,
        mode="" if endless else labels.UNKNOWN_MODE,
        running=True,
    )


def _execution(
    subject: Subject,
    *,
    run_key: str,
    state: str = labels.COMPLETED,
    duration_ns: int | None = None,
    error: str | None = None,
    command: str = "",
    application_id: str = "",
    dynamic: bool = False,
) -> ExecutionRow:
    return ExecutionRow(
        id="",
        subject=subject.id,
        plan_id=subject.key,
        execution_plan="",
        logical_plan="",
        job="",
        run=identity.vertex_id(labels.RUN, subject.scope, run_key),
        target="",
        at=subject.at,
        state=state,
        duration_ns=duration_ns,
        error=error,
        metrics="",
        mode="",
        dynamic=dynamic,
        kind="",
        command=command,
        producer=subject.producer,
        application_id=application_id,
        scope=subject.scope,
        reads="",
    )


def error_text(facets: Facets) -> str | None:
    """``errorMessage``, ``spark.exception`` or ``extractionError`` as text, bounded."""
    for name in ("errorMessage", "spark.exception"):
        body = facets[name].body if name in facets else {}
        parts = [body.get("message"), body.get("stackTrace")]
        if text := "\n".join(part for part in parts if isinstance(part, str) and part):
            return shortened(text)
    errors = facets["extractionError"].body.get("errors") if "extractionError" in facets else None
    for item in errors if isinstance(errors, list) else ():
        if isinstance(item, dict) and isinstance(item.get("errorMessage"), str):
            return shortened(str(item["errorMessage"]))
    return None


# --- executions ----------------------------------------------------------------------------------


def _add_executions(
    collector: FactCollector,
    base: ExecutionRow,
    plans: Iterable[LogicalPlan],
    statement: JobStatement,
    subject: Subject,
    names: DatasetNamer,
) -> None:
    inputs, outputs = _by_id(statement.inputs, names), _by_id(statement.outputs, names)
    for plan, _ in plans:
        touched = _Touched.of(plan, inputs, outputs, names)
        row = _completed(base, plan, touched, subject)
        listed: tuple[EventRow | EventLabelRow, ...] = ()
        if row.kind != labels.DECLARATION_KIND:
            listed = event_rows(row, plan.job, plan.uri, statement, touched.outputs)
        # A later event may change what lists show alone: the id covers that as well.
        row = row._replace(id=identity.vertex_id(labels.EXECUTION, _digest_of(row, *listed)))
        add_execution(collector, row)
        collector.add(*(event._replace(execution=row.id) for event in listed))
        collector.add(SupportRow(subject.id, plan.id))
        for role, dataset_id, partition in sorted(touched.partitions):
            collector.add(PartitionRow(row.id, dataset_id, role, partition))
        for dataset_id, version in sorted(touched.versions):
            collector.add(ReadVersionRow(row.id, dataset_id, plan.id, *version))
        if row.state == labels.COMPLETED:
            for dataset in (*touched.inputs, *touched.outputs):
                add_names(collector, dataset, names, row.id, row.at)
            for name, location in hostless_names(touched.datasets(names), names.scope, names.rules):
                collector.add(HostlessNameRow(name, location, row.id, row.at))
            for dataset in touched.outputs:
                if rename := _rename_of(dataset, names):
                    add_rename(collector, rename, subject.id, row.id, row.at)


def _rename_of(dataset: Dataset, names: DatasetNamer) -> Rename | None:
    """The rename in ``lifecycleStateChange``; None where both names are one dataset."""
    change = value_of(dataset.facets, "lifecycleStateChange", Lifecycle)
    current = names.use(*dataset.key)
    former = renamed_from(change, current, names)
    return None if former is None else Rename(former.dataset, current.dataset, in_place=False)


@dataclass(frozen=True, slots=True)
class _Touched:
    """The datasets of one plan in a statement, as the client names them."""

    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    partitions: frozenset[tuple[str, str, str]]  # (role, dataset id, partition)
    versions: frozenset[tuple[str, Version]]  # (id of a dataset read, version)

    def datasets(self, names: DatasetNamer) -> Iterator[DatasetName]:
        for dataset in (*self.inputs, *self.outputs):
            yield from (use.dataset for use in names.uses(*dataset.key))

    @classmethod
    def of(
        cls, plan: LogicalPlanHead, inputs: _ById, outputs: _ById, names: DatasetNamer
    ) -> _Touched:
        reads = {d.key: d for dataset_id in plan.reads for d in inputs.get(dataset_id, ())}
        read = tuple(reads[key] for key in sorted(reads))
        written = tuple(outputs.get(plan.target, ()))
        touched = [
            (role, *pair)
            for role, listed in (("read", read), ("write", written))
            for dataset in listed
            for pair in partitions(dataset, names.names(*dataset.key))
        ]
        touched += [(LISTED, *pair) for pair in listed_files(read, names)]
        versions = {
            (identity.dataset_id(name.scope, name.uri), version)
            for dataset in read
            if (version := value_of(dataset.facets, "version", Version))
            for name in names.names(*dataset.key)
        }
        return cls(read, written, frozenset(touched), frozenset(versions))

    @property
    def written_version(self) -> Version | None:
        versions = (value_of(dataset.facets, "version", Version) for dataset in self.outputs)
        return min(filter(None, versions), default=None)


_ById = Mapping[str, list[Dataset]]


def _by_id(datasets: Iterable[Dataset], names: DatasetNamer) -> _ById:
    """The datasets as clients name them, by the dataset's id."""
    by_id: dict[str, list[Dataset]] = {}
    for dataset in datasets:
        for use in names.uses(*dataset.key):
            by_id.setdefault(use.id, []).append(dataset)
    return by_id


def _completed(
    base: ExecutionRow, plan: LogicalPlanHead, touched: _Touched, subject: Subject
) -> ExecutionRow:
    mode = base.mode if base.mode and plan.mode == labels.OVERWRITE else plan.mode
    dynamic = base.dynamic and mode == labels.OVERWRITE
    named = any(role == "write" for role, _, _ in touched.partitions)
    if mode == labels.OVERWRITE and (dynamic or named):
        mode = labels.OVERWRITE_PARTITIONS
    rules = subject.rules
    kind = base.kind or _KINDS.get(plan.mode, labels.WRITE_KIND)
    wrote = kind == labels.WRITE_KIND and base.state == labels.COMPLETED
    version = touched.written_version if wrote else None
    return base._replace(
        logical_plan=plan.id,
        job=plan.job_id,
        target=plan.target,
        metrics=identity.spelled(
            {
                "read": _metrics(touched.inputs, "inputStatistics", rules, 1),
                "write": _metrics(touched.outputs, "outputStatistics", rules, 2),
            }
        ),
        mode=mode,
        dynamic=dynamic,
        kind=kind,
        reads=plan.reads_text,
        version=version.id if version else "",
        version_number=version.number if version and version.number != NO_NUMBER else None,
    )


def _metrics(
    datasets: Iterable[Dataset], name: str, rules: Rules, place: int
) -> dict[str, int | float]:
    """Statistics under the names of Spline's metrics, summed."""
    metrics: dict[str, int | float] = {}
    for dataset in datasets:
        facet = dataset.usage.get(name)
        values: Mapping[str, int | float] = facet.value if facet and not facet.deleted else {}
        for spelling in rules.openlineage_statistics:
            if spelling[0] in values:
                key = spelling[place]
                metrics[key] = metrics.get(key, 0) + values[spelling[0]]
    return metrics


def add_names(
    collector: FactCollector, dataset: Dataset, names: DatasetNamer, execution: str, at: int
) -> None:
    """The catalog names and locations from a dataset's symlinks. Deleted, they leave the dataset
    standing for itself, without the names that it had.
    """
    facet = dataset.facets.get("symlinks")
    if facet is None:
        return
    own = names.use(*dataset.key).dataset
    if facet.deleted:
        alone = add_dataset(collector, own)
        collector.add(NameRow(alone, alone, execution, at))
        return
    for link in facet.value:
        name, location = direction(own, link, names.symlink(link))
        name_id = add_dataset(collector, name)
        location_id = add_dataset(collector, location)
        if name_id != location_id:
            collector.add(
                edge(labels.NAMES, name_id, location_id),
                NameRow(name_id, location_id, execution, at),
            )


# --- declarations --------------------------------------------------------------------------------


def read_declaration(
    event: Declaration, rules: Rules = naming.DEFAULT_RULES, scope: str = ""
) -> SubjectTranslation:
    """The facts of one declaration of a job or a dataset."""
    subject = Subject(subject_key(event), scope, rules, event.at, producer_text(event.producer))
    if isinstance(event, JobEvent):
        return _read_job(event, subject)
    return _read_dataset(event, subject)


def _read_job(event: JobEvent, subject: Subject) -> SubjectTranslation:
    statement = declared(event)
    place = place_job(statement, "", subject.scope, subject.rules)
    declaring = replace(subject, job=_job_id(place.job))
    return _within_bounds(statement, lambda reduced: _declare(event, reduced, place, declaring))


def _read_dataset(event: DatasetEvent, subject: Subject) -> SubjectTranslation:
    """Lineage without a job, of columns as well, gets a job that stands for the declaration, and so
    does a rename.
    """
    dataset = event.dataset
    lineage = value_of(dataset.facets, "lineage", LineageEntry)
    entries: tuple[LineageEntry, ...] = ()
    if lineage is not None:
        entries = (replace(lineage, namespace=dataset.namespace, name=dataset.name),)
    explicit = lineage is not None
    statement = JobStatement("", "", {}, {}, (), (dataset,), entries, explicit=explicit)
    return _within_bounds(statement, lambda reduced: _translate_dataset(event, subject, reduced))


def _translate_dataset(
    event: DatasetEvent, subject: Subject, statement: JobStatement
) -> SubjectTranslation:
    names = DatasetNamer(subject.scope, subject.rules, found=subject.names)
    collector = FactCollector()
    plans: tuple[LogicalPlan, ...] = ()
    use = names.use(*event.dataset.key)
    renamed = not statement.explicit and _rename_of(event.dataset, names) is not None
    columns = value_of(event.dataset.facets, "columnLineage", ColumnLineage)
    if (
        statement.explicit or renamed or _has_sources(columns)
    ):  # a rename moves data, as that of a run does
        job = own_job(subject.rules.declared_namespace, use.dataset.uri, subject.rules)
        plans = plans_of(_stated(statement, job, "", subject, declared=not renamed))
        base = _execution(subject, run_key=subject.key)
        if not renamed:
            base = base._replace(kind=labels.DECLARATION_KIND)
        _add_executions(collector, base, plans, statement, subject, names)
    else:
        execution = identity.vertex_id(labels.EXECUTION, subject.id, event.digest)
        for dataset in statement.outputs:
            add_names(collector, dataset, names, execution, subject.at)
    for dataset in statement.outputs:
        described = _without_schema(dataset) if statement.without_columns else dataset
        _add_described_dataset(collector, subject, described, use, names)
    return SubjectTranslation(plans, collector.facts())


def _has_sources(columns: ColumnLineage | None) -> bool:
    return columns is not None and bool(
        columns.dataset or any(sources for _, sources in columns.fields)
    )


def _without_schema(dataset: Dataset) -> Dataset:
    facets = {name: facet for name, facet in dataset.facets.items() if name != "schema"}
    return replace(dataset, facets=facets)


def _add_described_dataset(
    collector: FactCollector,
    subject: Subject,
    dataset: Dataset,
    use: DatasetUse,
    names: DatasetNamer,
) -> None:
    """The schema and facets that an event gives for a dataset alone."""
    names.learn(dataset)
    add_dataset(collector, use.dataset)
    add_dataset_facets(collector, subject, dataset, names, "")
    schema = dataset.facets.get("schema")
    if schema is not None and not is_silent(schema):
        known = names.use(*dataset.key)  # with no columns where they were deleted
        add_schema_of(collector, known)
        collector.add(SupportRow(subject.id, known.schema_id))
        add_row(collector, subject, use.id, "dataset", schema)
        described = Facet(known.schema_id, {}, schema.digest)
        add_row(collector, subject, use.id, DESCRIBED, described, with_body=False)


def _add_exposures(
    collector: FactCollector, statement: JobStatement, subject: Subject
) -> Iterator[LogicalPlan]:
    """Add a declaration for each exposure on each dataset of a run of dbt: the exposure's job reads
    the dataset from then on. One declaration has one dataset, because the run of each model names
    the exposure's other datasets.
    """
    stated: dict[tuple[DbtExposure, tuple[str, str]], Dataset] = {}
    for dataset in (*statement.inputs, *statement.outputs):
        for exposure in value_of(dataset.facets, EXPOSURES, tuple) or ():
            stated[exposure, dataset.key] = replace(dataset, usage={})
    for (exposure, _), dataset in sorted(stated.items(), key=itemgetter(0)):
        reading = replace(
            statement,
            name=exposure.unique_id,
            job_facets=exposure.job_facets(),
            run_facets={},
            inputs=(dataset,),
            outputs=(),
            entries=(),
            explicit=False,
        )
        place = place_job(reading, "", subject.scope, subject.rules)
        reader = replace(subject, job=_job_id(place.job))
        plans = plans_of(_stated(reading, place.job, "", reader, declared=True))
        run_key = f"{subject.key} {exposure.unique_id}"
        base = _execution(reader, run_key=run_key)._replace(kind=labels.DECLARATION_KIND)
        _add_jobs(collector, place, reader)
        _add_executions(collector, base, plans, reading, reader, _namer(reading, reader))
        for facet in reading.job_facets.values():
            add_row(collector, reader, reader.job, "job", facet)
        yield from plans


def _declare(
    event: JobEvent, statement: JobStatement, place: JobPlace, subject: Subject
) -> SubjectTranslation:
    collector = FactCollector()
    _add_jobs(collector, place, subject)
    stated = _stated(statement, place.job, place.command, subject, declared=True)
    if DECLARATION_FACET in statement.job_facets:  # its row needs the logics, known or not
        logics = read_logics(stated)
        plans = plans_from(logics)
        collector.add(*declaration_rows(event, place.job, logics, subject.scope))
    else:
        plans = plans_of(stated)
    base = _execution(subject, run_key=subject.key)._replace(kind=labels.DECLARATION_KIND)
    names = _namer(statement, subject)
    _add_executions(collector, base, plans, statement, subject, names)
    add_facets(collector, statement, plans, place, subject, names)
    return SubjectTranslation(plans, collector.facts())
