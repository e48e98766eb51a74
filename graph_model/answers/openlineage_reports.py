"""What OpenLineage's events report, in the words of pages.

Plans from events are found by their runs, read from the journal and drawn as any other. A logical
plan is shared by its runs; its page shows the newest one's events, as a page of Spline's shows the
newest document. A declaration is its own event. Events have no operations; in their place are the
read datasets, the job between, and the written dataset.

A facet's body may be anything: a part with another shape than the specification's is left out of
the words about a job or a dataset, and stays among the facets as it came.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument, NotFound
from graph_model.facts import ExecutionRow
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.picture.layout import Box, Flow, Point, Size, arrange, size_of
from graph_model.picture.operations import (
    OperationView,
    OutputColumn,
    PlanInspection,
    Property,
)
from graph_model.picture.view import DatasetReference
from graph_model.producers.openlineage.datasets import DatasetNamer, type_text
from graph_model.producers.openlineage.events.accumulate import (
    JobStatement,
    accumulate,
    declared,
    separate_runs,
)
from graph_model.producers.openlineage.events.documents import (
    Dataset,
    DatasetEvent,
    Event,
    JobEvent,
    RunEvent,
    read_event,
)
from graph_model.producers.openlineage.events.facets import Facets
from graph_model.producers.openlineage.rows import DEPENDENCIES, system_text
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import StoredDocument
from graph_model.stores.journal import Journal

#: Of a run with more events (a stream), only the newest are read.
MOST_EVENTS: Final = 1_000
_PLANS_LOOKED_AT: Final = 1_000
MOST_DATASETS: Final = 500
MOST_COLUMNS: Final = 20_000
READ_ROLE: Final = "input"
WRITE_ROLE: Final = "output"
_JOB: Final = "job"

EventOf = Callable[[StoredDocument, Rules], JsonObject | None]
"""``registry.Producers.event``."""


@dataclass(frozen=True, slots=True)
class EventColumn:
    name: str
    type: str | None
    description: str


@dataclass(frozen=True, slots=True)
class EventDataset:
    """A dataset of a plan. ``namespace`` and ``name`` are the client's, "" for a dataset that only
    column lineage names; ``columns`` None: no schema reported. ``usage`` are the inputFacets or
    outputFacets; ``cut`` names the facets of both without a body, as ``EventPlan`` does.
    """

    role: str
    dataset: DatasetReference
    namespace: str
    name: str
    origin: str
    columns: tuple[EventColumn, ...] | None
    facets: Mapping[str, Any]
    usage: Mapping[str, Any]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A dataset that a plan reads or writes, and the origin of the edge."""

    id: str
    dataset: DatasetReference
    origin: str


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The content of the events of a run or declaration that is not in the graph. ``run_id`` "" for
    a declaration; facets are as the client wrote them; ``events`` counts those read, ``cut``: there
    are more; ``explicit``: one of them has a lineage facet. ``cut_job_facets`` and
    ``cut_run_facets`` name those without a body because a page has no room for it.
    """

    system: str
    producer: str
    namespace: str
    name: str
    run_id: str
    job_facets: dict[str, Any]
    run_facets: dict[str, Any]
    datasets: tuple[EventDataset, ...]
    events: int
    cut: bool
    explicit: bool
    cut_job_facets: tuple[str, ...] = ()
    cut_run_facets: tuple[str, ...] = ()


def without_facets(event_plan: EventPlan) -> EventPlan:
    """Without the parts that are shown as the client wrote them."""
    datasets = tuple(
        replace(dataset, facets={}, usage={}, cut=()) for dataset in event_plan.datasets
    )
    return replace(
        event_plan,
        job_facets={},
        run_facets={},
        datasets=datasets,
        cut_job_facets=(),
        cut_run_facets=(),
    )


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """The requested logical plan, the run whose events describe it, and the number of the run's
    other plans.
    """

    logical_plan: str
    execution: ExecutionRow
    others: int


class EventPlans:
    """Reads one catalogue and one journal."""

    def __init__(
        self,
        catalogue: Catalogue,
        journal: Journal,
        rules: Rules,
        event_of: EventOf,
    ) -> None:
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules
        self._event_of = event_of

    def find(self, plan: str, at: int | None) -> FoundPlan:
        """By a logical plan's id, a client's run id or a subject key. Raises NotFound."""
        if identity.kind_of(plan) == labels.LOGICAL_PLAN:
            for time in (at, None):  # a plan without a run by then is shown with a later run
                rows = self._catalogue.executions(logical_plan=plan, at=time, limit=1).items
                if rows and not rows[0].execution_plan:
                    return FoundPlan(plan, rows[0], 0)
            raise NotFound("plan", plan)
        for key in (plan, f"run:{plan}"):
            page = self._catalogue.executions(plan_id=key, limit=_PLANS_LOOKED_AT)
            rows = tuple(row for row in page.items if not row.execution_plan)
            if rows:
                others = {row.logical_plan for row in rows}
                return FoundPlan(rows[0].logical_plan, rows[0], len(others) - 1)
        raise NotFound("plan", plan)

    def events(self, execution: ExecutionRow) -> tuple[StoredDocument, ...]:
        """The documents behind an execution, by event time; NotFound where none is left."""
        documents = self._journal.newest_documents(execution.plan_id, execution.scope, MOST_EVENTS)
        events = ((self._event(document), document) for document in documents)
        pairs = [(event, document) for event, document in events if event is not None]
        if not any(isinstance(event, RunEvent) for event, _ in pairs):
            pairs = [
                (event, document) for event, document in pairs if event.at == execution.claimed_at
            ][-1:]
        if not pairs:
            raise NotFound("events of plan", execution.plan_id)
        return tuple(document for _, document in sorted(pairs, key=_order))

    def read(
        self,
        execution: ExecutionRow,
        documents: Sequence[StoredDocument],
        reads: Sequence[Use],
        write: Use | None,
    ) -> EventPlan:
        """The content of the documents; ``reads`` and ``write`` are the plan's
        edges in the graph.
        """
        events = self._of(execution, map(self._event, documents))
        statement = self._statement(events)
        names = DatasetNamer.of(statement.inputs, statement.outputs, execution.scope, self._rules)
        run_id = next((event.run_id for event in events if isinstance(event, RunEvent)), "")
        return EventPlan(
            system_text(statement),
            execution.producer,
            statement.namespace,
            statement.name,
            run_id,
            bodies(statement.job_facets),
            bodies(statement.run_facets),
            event_datasets(statement, names, reads, write),
            len(events),
            len(documents) == MOST_EVENTS,
            _is_explicit(statement),
        )

    def _event(self, document: StoredDocument) -> Event | None:
        return shown_event(document, self._rules, self._event_of)

    def _of(self, execution: ExecutionRow, events: Iterable[Event | None]) -> list[Event]:
        """The events of the execution's own run: another run of the same id may have sent the
        others.
        """
        readable = [event for event in events if event is not None]
        run_events = [event for event in readable if isinstance(event, RunEvent)]
        runs = separate_runs(run_events, lambda event: event)
        if len(runs) < 2:
            return readable
        rows = self._catalogue.runs.of_subjects((execution.subject,))
        named = {(row.namespace, row.name) for row in rows if row.job == execution.job}
        then = [
            run for run in runs if any(event.at == execution.claimed_at for event in run.members)
        ]
        own = [
            run
            for run in then
            if any((event.job.namespace, event.job.name) in named for event in run.members)
        ]
        # A `lineage` facet tells of further jobs, which have no event of their own.
        return [event for run in own or then for event in run.members]

    def _statement(self, events: Sequence[Event]) -> JobStatement:
        runs = [event for event in events if isinstance(event, RunEvent)]
        if runs:
            return accumulate(runs, self._rules).statement
        return _declared(events[-1])


def shown_event(document: StoredDocument, rules: Rules, event_of: EventOf) -> Event | None:
    """None for a document that has no event, or one that OpenLineage does not allow."""
    event = event_of(document, rules)
    try:
        return None if event is None else read_event(event)
    except InvalidDocument:
        return None


def _is_explicit(statement: JobStatement) -> bool:
    outputs = (dataset.facets for dataset in statement.outputs)
    return any("lineage" in facets for facets in (statement.job_facets, *outputs))


def _declared(event: Event) -> JobStatement:
    if isinstance(event, JobEvent):
        return declared(event)
    listed = (event.dataset,) if isinstance(event, DatasetEvent) else ()
    return JobStatement("", "", {}, {}, (), listed, (), explicit=False)


def raw_events(documents: Iterable[StoredDocument]) -> list[Any]:
    """The bodies as received (masked before they were stored)."""
    return [json.loads(document.body) for document in documents]


def _order(item: tuple[Event, StoredDocument]) -> tuple[int, int]:
    event, document = item
    return event.time, document.position


def event_datasets(
    statement: JobStatement, names: DatasetNamer, reads: Sequence[Use], write: Use | None
) -> tuple[EventDataset, ...]:
    """The plan's datasets with the statement's details of each: first those read, then those
    written.
    """
    inputs, outputs = _by_id(statement.inputs, names), _by_id(statement.outputs, names)
    datasets = [_event_dataset(READ_ROLE, use, inputs.get(use.id)) for use in reads]
    if write is not None:
        datasets.append(_event_dataset(WRITE_ROLE, write, outputs.get(write.id)))
    return tuple(datasets)


def _by_id(datasets: Iterable[Dataset], names: DatasetNamer) -> dict[str, Dataset]:
    """The first of several partitions of one dataset."""
    by_id: dict[str, Dataset] = {}
    for dataset in datasets:
        for use in names.uses(*dataset.key):
            by_id.setdefault(use.id, dataset)
    return by_id


def _event_dataset(role: str, use: Use, dataset: Dataset | None) -> EventDataset:
    if dataset is None:
        return EventDataset(role, use.dataset, "", "", use.origin, None, {}, {})
    return EventDataset(
        role,
        use.dataset,
        dataset.namespace,
        dataset.name,
        use.origin,
        _columns(dataset),
        bodies(dataset.facets),
        bodies(dataset.usage),
    )


def _columns(dataset: Dataset) -> tuple[EventColumn, ...] | None:
    facet = dataset.facets.get("schema")
    if facet is None or facet.deleted:
        return None
    listed = facet.value[:MOST_COLUMNS]
    return tuple(EventColumn(field.name, type_text(field), field.description) for field in listed)


def bodies(facets: Facets) -> dict[str, Any]:
    """Facets by name as the client wrote them; deleted ones are left out."""
    return {name: facet.body for name, facet in sorted(facets.items()) if not facet.deleted}


# --- drawn as operations -------------------------------------------------------------------------


def draw_datasets(
    datasets: Sequence[EventDataset],
    job: str,
    expressions: Mapping[str, str],
    *,
    layout: bool,
    flow: Flow,
) -> PlanInspection[DatasetReference]:
    """Reads -> job -> write; of more than 500 datasets only the last. ``expressions``: those of the
    written columns, by name.
    """
    shown = datasets[-MOST_DATASETS:]
    keys = [f"dataset-{place}" for place in range(len(shown))]
    pairs = list(zip(keys, shown, strict=True))
    reads = tuple(key for key, event_dataset in pairs if event_dataset.role == READ_ROLE)
    writes = tuple(key for key, event_dataset in pairs if event_dataset.role != READ_ROLE)
    edges = (*((key, _JOB) for key in reads), *((_JOB, key) for key in writes))
    names = {key: event_dataset.dataset.label for key, event_dataset in pairs} | {_JOB: job}
    sizes = {key: size_of(label) for key, label in names.items()}
    points = _places(names, sizes, edges, flow) if layout else {}
    operations = [
        _operation(key, event_dataset, expressions, sizes[key], points.get(key))
        for key, event_dataset in pairs
    ]
    between: OperationView[DatasetReference] = OperationView(
        _JOB, labels.TRANSFORM, "Job", job, reads, writes, None, (), (), points.get(_JOB),
        sizes[_JOB].width, sizes[_JOB].height,
    )  # fmt: skip
    operations.insert(len(reads), between)
    return PlanInspection(tuple(operations), edges, len(shown) < len(datasets))


def _operation(
    key: str,
    event_dataset: EventDataset,
    expressions: Mapping[str, str],
    size: Size,
    point: Point | None,
) -> OperationView[DatasetReference]:
    read = event_dataset.role == READ_ROLE
    label = event_dataset.dataset.label
    return OperationView(
        id=key,
        kind=labels.READ if read else labels.WRITE,
        name="Input" if read else "Output",
        label=label,
        inputs=() if read else (_JOB,),
        outputs=(_JOB,) if read else (),
        schema=None
        if event_dataset.columns is None
        else _schema(event_dataset.columns, {} if read else expressions),
        properties=_properties(event_dataset),
        datasets=(event_dataset.dataset,),
        point=point,
        width=size.width,
        height=size.height,
    )


def _schema(
    columns: Iterable[EventColumn], expressions: Mapping[str, str]
) -> tuple[OutputColumn, ...]:
    return tuple(
        OutputColumn(column.name, column.type, column.name, expressions.get(column.name))
        for column in columns
    )


def _properties(event_dataset: EventDataset) -> tuple[Property, ...]:
    named = [
        ("namespace", event_dataset.namespace),
        ("name", event_dataset.name),
        ("origin", event_dataset.origin),
    ]
    measured = [
        Property(key, str(value), measured=True)
        for name in ("inputStatistics", "outputStatistics")
        for key, value in sorted(event_dataset.usage.get(name, {}).items())
    ]
    return (*(Property(name, text) for name, text in named if text), *measured)


def _places(
    names: Mapping[str, str],
    sizes: Mapping[str, Size],
    edges: Sequence[tuple[str, str]],
    flow: Flow,
) -> dict[str, Point]:
    boxes = [Box(key, sizes[key].width, sizes[key].height, name) for key, name in names.items()]
    return arrange(boxes, edges, flow).points


Bodies = Mapping[str, Mapping[str, Any]]
"""The facets in force, by name."""


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Tag:
    """``column`` "" where the tag is on the whole dataset."""

    key: str
    value: str
    source: str
    column: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """``language`` is the SQL's dialect, or the source's language."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """Where the source code is; "" for unknown parts. ``link`` is "" for a URL that no browser
    opens.
    """

    type: str
    url: str
    link: str
    repository: str
    path: str
    version: str
    branch: str
    tag: str


Direction = Literal["upstream", "downstream"]


@dataclass(frozen=True, slots=True)
class JobDependency:
    """A job that this one waits for (``upstream``), or that waits for it (``downstream``): the
    order of their runs, not a flow of data. "" for unknown parts.
    """

    direction: Direction
    namespace: str
    name: str
    run_id: str
    type: str
    sequence_rule: str
    status_rule: str


@dataclass(frozen=True, slots=True)
class JobDescription:
    """The description of a job in OpenLineage facets. ``trigger_rule``: how the jobs before it must
    have ended ("" for unknown).
    """

    job_type: str
    integration: str
    processing_type: str
    owners: tuple[Owner, ...]
    tags: tuple[Tag, ...]
    documentation: str
    sql: Code | None
    source_code: Code | None
    source_code_location: CodeLocation | None
    dependencies: tuple[JobDependency, ...]
    trigger_rule: str


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    description: str
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class DatasetDescription:
    """The description of a dataset in OpenLineage facets. ``hierarchy`` outermost first, as ``type
    name``; ``storage`` is ``layer format``.
    """

    owners: tuple[Owner, ...]
    tags: tuple[Tag, ...]
    documentation: str
    dataset_type: str
    storage: str
    data_source: str
    catalog: str
    hierarchy: tuple[str, ...]


def describe_job(facets: Bodies) -> JobDescription:
    """The facets of a job in force at one time."""
    kind = facets.get("jobType", {})
    return JobDescription(
        job_type=_text(kind, "jobType"),
        integration=_text(kind, "integration"),
        processing_type=_text(kind, "processingType"),
        owners=_owners(facets),
        tags=_tags(facets),
        documentation=_text(facets.get("documentation", {}), "description"),
        sql=_code(facets.get("sql", {}), "dialect", "query"),
        source_code=_code(facets.get("sourceCode", {}), "language", "sourceCode"),
        source_code_location=_location(facets.get("sourceCodeLocation", {})),
        dependencies=_dependencies(order := facets.get(DEPENDENCIES, {})),
        trigger_rule=_text(order, "trigger_rule"),
    )


def _dependencies(facet: Mapping[str, Any]) -> tuple[JobDependency, ...]:
    """Those that name a job, in the order of the facet."""
    directions: tuple[Direction, ...] = ("upstream", "downstream")
    return tuple(
        JobDependency(
            direction,
            _text(job, "namespace"),
            _text(job, "name"),
            _text(_object(listed, "run"), "runId"),
            _text(listed, "dependency_type"),
            _text(listed, "sequence_trigger_rule"),
            _text(listed, "status_trigger_rule"),
        )
        for direction in directions
        for listed in _items(facet, direction)
        if _text(job := _object(listed, "job"), "name")
    )


def describe_dataset(facets: Bodies) -> DatasetDescription:
    """The facets of a dataset in force at one time."""
    kind, storage = facets.get("datasetType", {}), facets.get("storage", {})
    source, catalog = facets.get("dataSource", {}), facets.get("catalog", {})
    return DatasetDescription(
        owners=_owners(facets),
        tags=tuple(tag for tag in _tags(facets) if not tag.column),
        documentation=_text(facets.get("documentation", {}), "description"),
        dataset_type=_words(_text(kind, "datasetType"), _text(kind, "subType")),
        storage=_words(_text(storage, "storageLayer"), _text(storage, "fileFormat")),
        data_source=_text(source, "name") or _text(source, "uri"),
        catalog=_words(*(_text(catalog, key) for key in ("framework", "type", "name"))),
        hierarchy=tuple(
            _words(_text(level, "type"), _text(level, "name"))
            for level in _items(facets.get("hierarchy", {}), "hierarchy")
        ),
    )


def describe_columns(facets: Bodies) -> dict[str, ColumnDescription]:
    """By column path: the descriptions in the schema, and the tags on the column."""
    texts = {
        _path(_text(field, "name")): _text(field, "description")
        for field in _items(facets.get("schema", {}), "fields")
        if _text(field, "name")
    }
    tags: dict[str, list[Tag]] = {}
    for tag in _tags(facets):
        if tag.column:
            tags.setdefault(_path(tag.column), []).append(tag)
    return {
        path: ColumnDescription(texts.get(path, ""), tuple(tags.get(path, ())))
        for path in sorted({*texts, *tags})
        if texts.get(path) or path in tags
    }


def _path(name: str) -> str:
    return naming.column_path((naming.fold(name),))


def _owners(facets: Bodies) -> tuple[Owner, ...]:
    listed = _items(facets.get("ownership", {}), "owners")
    owners = [Owner(_text(entry, "name"), _text(entry, "type")) for entry in listed]
    return tuple(owner for owner in owners if owner.name)


def _tags(facets: Bodies) -> tuple[Tag, ...]:
    listed = _items(facets.get("tags", {}), "tags")
    tags = [
        Tag(*(_text(entry, key) for key in ("key", "value", "source", "field"))) for entry in listed
    ]
    return tuple(tag for tag in tags if tag.key)


def _code(body: Mapping[str, Any], language: str, text: str) -> Code | None:
    code = _text(body, text)
    return Code(_text(body, language), code) if code else None


def _location(body: Mapping[str, Any]) -> CodeLocation | None:
    url = _text(body, "url")
    keys = ("repoUrl", "path", "version", "branch", "tag")
    link = url if url.lower().startswith(("https://", "http://")) else ""
    location = CodeLocation(_text(body, "type"), url, link, *(_text(body, key) for key in keys))
    return location if url or location.repository else None


def _items(body: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    listed = body.get(key)
    return (item for item in (listed if isinstance(listed, list) else ()) if isinstance(item, dict))


def _object(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)
