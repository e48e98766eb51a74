"""The rows of the catalogue beside a subject's executions: facets, checks, what lists show, and the
author, the reason and the nodes of a declaration.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.facts import (
    CHECK,
    READER,
    DeclarationRow,
    EventLabelRow,
    EventRow,
    ExecutionRow,
    FacetBodyRow,
    FacetRow,
    FactCollector,
    SupportRow,
)
from graph_model.naming import JobName, Rules
from graph_model.producers.elements import add_dataset, label_rows, labels_text
from graph_model.producers.openlineage.datasets import DatasetNamer, DatasetUse, Names
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset, JobEvent, subject_key
from graph_model.producers.openlineage.events.facets import (
    DECLARATION_FACET,
    DeclarationFacet,
    Facet,
    Facets,
    JobType,
    Lifecycle,
    value_of,
)
from graph_model.producers.openlineage.events.jobs import (
    JobPlace,
    facet_body,
    parent_of,
    run_tags,
    stripped,
)
from graph_model.producers.openlineage.job_logic import RunLogic
from graph_model.producers.openlineage.plans import LogicalPlan
from graph_model.producers.openlineage.quality import (
    CHECKED_IN,
    MARKS,
    WITHOUT_VERDICT,
    read_checks,
)
from graph_model.values import plain

#: The run facet with the jobs before and after a run. The newest run's is shown with its job.
DEPENDENCIES: Final = "jobDependencies"


@dataclass(frozen=True, slots=True)
class Subject:
    """The values that all facts of a run or a declaration share; ``job`` "" for a dataset's
    declaration.
    """

    key: str
    scope: str
    rules: Rules
    at: int
    producer: str
    job: str = ""
    names: Names = field(default_factory=dict)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", identity.subject_id(self.scope, self.key))


def add_facets(
    collector: FactCollector,
    statement: JobStatement,
    plans: Iterable[LogicalPlan],
    place: JobPlace,
    subject: Subject,
    names: DatasetNamer,
) -> None:
    """Facets of a job belong to it, and so do the jobs before and after its run; those of a Spark
    command belong to its plan, because an application runs many commands.
    """
    _add_rows(collector, subject, subject.id, "run", statement.run_facets)
    _add_forwarded(collector, statement, place, subject)
    if place.role == "command":
        for plan, _ in plans:
            _add_rows(collector, subject, plan.id, "logical_plan", statement.job_facets)
    else:
        job = identity.job_id(place.job.namespace, place.job.name)
        order = {
            name: facet for name, facet in statement.run_facets.items() if name == DEPENDENCIES
        }
        _add_rows(collector, subject, job, "job", {**order, **statement.job_facets})
    if not statement.outputs and not statement.entries:
        _add_reader_rows(collector, subject, statement, names)
    if place.folded and not plans:
        _add_marks(collector, statement, subject, names)
        return
    held = {dataset for plan, _ in plans for dataset in (*plan.reads, plan.target)}
    for role, listed in (("input", statement.inputs), ("output", statement.outputs)):
        for dataset in listed:
            add_dataset_facets(collector, subject, dataset, names, role, held)


def _add_forwarded(
    collector: FactCollector, statement: JobStatement, place: JobPlace, subject: Subject
) -> None:
    """The facets that a run passes on of the jobs above it: a scheduler may send no event."""
    parents = parent_of(statement.run_facets)
    if parents is None:
        return
    for run, job in ((parents.parent, place.parent_job), (parents.root, place.root_job)):
        if run is not None and job is not None:
            above = identity.job_id(job.namespace, job.name)
            _add_rows(collector, subject, above, "job", run.job_facets)


def _add_marks(
    collector: FactCollector, statement: JobStatement, subject: Subject, names: DatasetNamer
) -> None:
    """For a query without an output, only the quality checks of its inputs."""
    for dataset in statement.inputs:
        described = replace(
            dataset, facets=_only_marks(dataset.facets), usage=_only_marks(dataset.usage)
        )
        if described.facets or described.usage:
            add_dataset_facets(collector, subject, described, names, "input")


def _only_marks(facets: Facets) -> Facets:
    return {name: facet for name, facet in facets.items() if MARKS.search(name)}


def _add_reader_rows(
    collector: FactCollector, subject: Subject, statement: JobStatement, names: DatasetNamer
) -> None:
    """The run facets of a run that only reads, as rows of the datasets that it read: a quality rule
    may find a result in them (a contract was kept).
    """
    silent = WITHOUT_VERDICT.union(subject.rules.facets_without_rows)
    facets = {name: facet for name, facet in statement.run_facets.items() if name not in silent}
    for dataset in statement.inputs if facets else ():
        for use in names.uses(*dataset.key):
            _support(collector, subject, use)
            _add_rows(collector, subject, use.id, READER, facets)


def _support(collector: FactCollector, subject: Subject, use: DatasetUse) -> None:
    add_dataset(collector, use.dataset)
    collector.add(SupportRow(subject.id, use.id))


def add_dataset_facets(
    collector: FactCollector,
    subject: Subject,
    dataset: Dataset,
    names: DatasetNamer,
    role: str,
    held: Container[str] = (),
) -> None:
    """A facet in both ``facets`` and ``inputFacets`` (dbt) counts once.

    ``held`` are the datasets that a plan reads or writes: they need no other support.
    """
    own = {
        name: facet
        for name, facet in dataset.facets.items()
        if name not in dataset.usage or dataset.usage[name].digest != facet.digest
    }
    for use in names.uses(*dataset.key):
        if use.id not in held:  # otherwise its plan has it
            _support(collector, subject, use)
        _add_rows(collector, subject, use.id, "dataset", own)
        if role:
            _add_rows(collector, subject, use.id, role, dataset.usage)
        _add_checks(collector, subject, use.id, dataset)
        if schema := _described_schema(dataset.facets):
            add_row(collector, subject, use.id, "dataset", schema)
    change = value_of(dataset.facets, "lifecycleStateChange", Lifecycle)
    if change is not None and change.previous is not None:  # its former name reports it too
        for former in names.uses(*change.previous):
            add_dataset(collector, former.dataset)
            collector.add(SupportRow(subject.id, former.id))
            add_row(
                collector, subject, former.id, "dataset", dataset.facets["lifecycleStateChange"]
            )


def _add_checks(
    collector: FactCollector, subject: Subject, dataset_id: str, dataset: Dataset
) -> None:
    """One row for each check in a dataset's assertions, so that the newest result of a check is
    found whichever job made it.
    """
    for facets in (dataset.facets, dataset.usage):
        for facet in (facets[name] for name in CHECKED_IN if name in facets):
            if facet.deleted:
                add_row(collector, subject, dataset_id, CHECK, replace(facet, name=""))
                continue
            for check in read_checks(facet.body, subject.at, subject.job, subject.producer):
                digest = identity.digest_of_spelled(identity.spelled(check.body))
                result = Facet(check.key, check.body, digest)
                add_row(collector, subject, dataset_id, CHECK, result)


def _described_schema(facets: Facets) -> Facet | None:
    """The schema as a facet, where it has more than names and types."""
    facet = facets.get("schema")
    if (
        facet is None
        or facet.deleted
        or not any(schema_field.description for schema_field in facet.value)
    ):
        return None
    return facet


def _add_rows(
    collector: FactCollector, subject: Subject, entity: str, kind: str, facets: Facets
) -> None:
    for facet in facets.values():
        if facet.name not in subject.rules.facets_without_rows:
            add_row(collector, subject, entity, kind, facet)


def add_row(
    collector: FactCollector,
    subject: Subject,
    entity: str,
    kind: str,
    facet: Facet,
    *,
    with_body: bool = True,
) -> None:
    row = FacetRow(
        entity, kind, facet.name, subject.at, subject.id, facet.digest, facet.deleted, subject.job
    )
    if facet.deleted or not with_body:
        collector.add(row)
    else:
        collector.add(row, FacetBodyRow(facet.digest, identity.spelled(facet.body)))


# --- the columns that lists of executions show and search -----------------------------------------


def event_rows(
    row: ExecutionRow, job: JobName, uri: str, statement: JobStatement, outputs: Sequence[Dataset]
) -> tuple[EventRow | EventLabelRow, ...]:
    """The rows that accompany an execution of a job; ``uri`` is that of its target, ``outputs``
    are its targets as the client names them.
    """
    system = system_text(statement) or row.producer
    tagged = run_tags(statement.run_facets)
    listed = EventRow(
        execution=row.id,
        format=next(filter(None, map(_format, outputs)), ""),
        append=row.mode in labels.KEEPING_MODES,
        words=plain("\n".join((job.name, system, uri, row.application_id))),
        labels=labels_text(tagged),
        extra="{}",
        system=system,
        application=job.name,
    )
    return (listed, *sorted(label_rows(row.id, tagged)))


def system_text(statement: JobStatement) -> str:
    """``spark 3.5.1`` from ``processing_engine``, otherwise the integration in
    lower case, or "".
    """
    engine = facet_body(statement.run_facets, "processing_engine")
    named = " ".join(filter(None, (_text(engine, "name").lower(), _text(engine, "version"))))
    kind = value_of(statement.job_facets, "jobType", JobType)
    return named or (kind.integration.lower() if kind else "")


def _format(dataset: Dataset) -> str:
    return _text(facet_body(dataset.facets, "storage"), "fileFormat")


def _text(body: Mapping[str, Any], key: str) -> str:
    return stripped(body, key)[:200]


# --- declarations ---------------------------------------------------------------------------------


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
