"""The facts of a plan without its executions (step 4 of the translation).

A plan above the bounds of ``producers.bounds`` is left out in parts:

    all of it -> without columns -> without operations -> without its inputs: its write alone

Each step is a gap of the logical plan, and the reason that the journal shows beside the document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument
from graph_model.facts import (
    LISTED,
    ExecutionPlanRow,
    FactCollector,
    Facts,
    SchemaRow,
    SupportRow,
    Version,
    Vertex,
    edge,
    properties,
)
from graph_model.naming import DatasetName, Rules
from graph_model.producers.bounds import weigh
from graph_model.producers.elements import (
    Column,
    Rename,
    add_column_edges,
    add_dataset,
    add_logical_plan,
    add_open_flows,
    add_schema,
    add_use,
    hostless_names,
)
from graph_model.producers.spline.documents import ExecutionPlan, Operation
from graph_model.producers.spline.plan_logic import (
    DatasetSchema,
    Logic,
    LogicalOperation,
    PlanDocument,
    read_logic,
    with_patterns,
)
from graph_model.producers.spline.tables import (
    MAX_READS,
    is_query_text,
    leaves_some,
    may_leave_some,
    read_rename,
    version_of_options,
)
from graph_model.values import plain

MOST_PARTITIONS: Final = 10_000
"""Of one dataset; every execution has a row for each. A plan with more reads the whole dataset."""


#: The agent's OpenLineage dispatcher names the application up to version 2.2.
_NAMELESS_SINCE: Final = (2, 3)
_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?![0-9])")

_Part = tuple[str, str, str]
"""(dataset id, role, partition) as in a PartitionRow."""


@dataclass(frozen=True, slots=True)
class PlanHead:
    """The part of a plan that the facts of its executions need, small enough to cache."""

    subject: str
    scope: str
    plan_id: str
    execution_plan: str
    logical_plan: str
    job: str
    target: str
    mode: str
    dynamic: bool | None  # None: neither reported nor shown by the document
    command: str
    producer: str
    reads: str
    partitions: tuple[_Part, ...]  # those that are named, and the files of lists
    names: tuple[tuple[DatasetName, str], ...]  # (catalog name, its location's dataset id)
    hostless: tuple[tuple[str, str], ...]  # (dataset id without its servers, dataset id)
    format: str
    append: bool
    labels: Mapping[str, tuple[str, ...]]
    words: str  # the text that searches for executions match, without the application's id
    dispatched_as: str = ""  # the job's name in events of the agent's OpenLineage dispatcher
    read_often: tuple[tuple[str, int], ...] = ()  # (dataset id, how often), of several times
    bound: tuple[tuple[str, Version], ...] = ()  # (dataset id, version that an option names)
    renamed: Rename | None = None
    left_out: tuple[tuple[str, str], ...] = ()  # gaps: parts of the plan that are not in the graph


def translate_plan(
    document: PlanDocument, rules: Rules = naming.DEFAULT_RULES
) -> tuple[Facts, PlanHead]:
    """The facts of a plan without its executions, and the head that executions need.

    A plan that exceeds the bounds of the graph keeps its tables and jobs (``reduction``). Raises
    InvalidDocument where even its job and its output exceed them.
    """
    files = _listed_files(document, rules)
    document = replace(document, plan=with_patterns(document.plan, rules))
    logic = whole = read_logic(document, rules)
    facts, head = _translate_logic(document, logic, rules, files)
    for reduced in REDUCTIONS:
        if not (excess := weigh(facts).excess):
            return facts, head
        logic = reduced(logic, excess)
        facts, head = _translate_logic(document, logic, rules, files)
        head = replace(head, left_out=tuple(gap for gap in logic.gaps if gap not in whole.gaps))
    if excess := weigh(facts).excess:
        raise InvalidDocument("", f"less than this, which comes to {excess}")
    return facts, head


def _translate_logic(
    document: PlanDocument, logic: Logic, rules: Rules, files: Collection[_Part]
) -> tuple[Facts, PlanHead]:
    plan = document.plan
    job = naming.job_name(plan.labels, plan.name, document.scope, rules)
    collector = FactCollector()
    row = add_logical_plan(
        collector,
        job,
        logic.fingerprint(),
        target=logic.written.dataset_id if logic.written else "",
        mode=logic.mode,
        partition_keys=logic.partition_keys,
        gaps=logic.gaps,
    )
    _add_operations(collector, logic, row.id)
    _add_datasets(collector, logic, row.id, rules)
    head = _head(document, logic, row.job, row.id, rules)
    read = {use.dataset_id for use in logic.reads}
    listed = (part for part in files if part[0] in read)
    head = replace(head, partitions=(*head.partitions, *listed))
    _add_execution_plan(collector, document, head)
    return collector.facts(), head


def _add_datasets(collector: FactCollector, logic: Logic, logical_plan: str, rules: Rules) -> None:
    """Add the datasets with their schemas, and the edges between their columns."""
    ids: dict[Column, str] = {}
    tables = naming.tables_of((use.dataset for use in logic.reads), rules)
    behind = {(table.scope, table.uri) for table in tables}
    for use in logic.reads:
        is_behind = use.columns is None and (use.dataset.scope, use.dataset.uri) in behind
        origin = {"origin": labels.METADATA} if is_behind else {}
        collector.add(edge(labels.FEEDS, use.dataset_id, logical_plan, origin))
        ids.update(_add_schema(collector, use, logical_plan, "read"))
    if logic.written is not None:
        ids.update(_add_schema(collector, logic.written, logical_plan, "write"))
    for _, place in logic.names:
        add_dataset(collector, place)
    add_column_edges(
        collector,
        logical_plan,
        [(flow, None, False) for flow in logic.flows],
        [(influence, None) for influence in logic.influences],
        {use.dataset_id: use.dataset.uri for use in (*logic.reads, logic.write)},
        ids,
    )
    add_open_flows(collector, logical_plan, logic.opens)


def _add_schema(
    collector: FactCollector, use: DatasetSchema, logical_plan: str, role: Literal["read", "write"]
) -> Mapping[Column, str]:
    """Add a schema; returns the ids of its columns."""
    if use.columns is None:
        add_use(collector, logical_plan, use.dataset, "", role)
        return {}
    add_use(collector, logical_plan, use.dataset, use.schema_id, role)
    row = SchemaRow(use.schema_id, use.dataset_id, use.content)
    return add_schema(collector, row, use.dataset.uri, [column.path for column in use.columns])


def _add_operations(collector: FactCollector, logic: Logic, logical_plan: str) -> None:
    ids = [
        identity.vertex_id(labels.OPERATION, logical_plan, operation.position)
        for operation in logic.operations
    ]
    for operation, operation_id in zip(logic.operations, ids, strict=True):
        values: dict[str, Any] = {
            "name": operation.name,
            "kind": operation.kind,
            "position": operation.position,
            "parameters": operation.parameters,
            "output": operation.output,
            "schema": operation.schema or None,
            "logical_plan": logical_plan,
        }
        collector.add(
            Vertex(operation_id, labels.OPERATION, properties(values)),
            edge(labels.HAS, logical_plan, operation_id),
        )
        for index, position in enumerate(operation.inputs):
            collector.add(
                edge(
                    labels.FEEDS, ids[position], operation_id, {"index": index},
                    discriminator=(index,),
                )
            )  # fmt: skip
        for dataset_id in operation.datasets:
            collector.add(edge(labels.FEEDS, dataset_id, operation_id))
    if logic.written is not None:
        collector.add(edge(labels.FEEDS, ids[-1], logic.written.dataset_id))


def _head(
    document: PlanDocument, logic: Logic, job_id: str, logical_plan: str, rules: Rules
) -> PlanHead:
    plan = document.plan
    return PlanHead(
        subject=identity.subject_id(document.scope, plan.id),
        scope=document.scope,
        plan_id=plan.id,
        execution_plan=identity.vertex_id(
            labels.EXECUTION_PLAN, document.scope, plan.id, document.content_hash
        ),
        logical_plan=logical_plan,
        job=job_id,
        target=logic.written.dataset_id if logic.written else "",
        mode=logic.mode,
        dynamic=True if may_leave_some(plan, logic.mode) else leaves_some(plan),
        command=plan.write.name,
        producer=f"{plan.agent.name} {plan.agent.version}" if plan.agent else "unknown",
        reads=identity.set_text(use.dataset_id for use in logic.reads),
        partitions=_partitions(document, logic, rules),
        read_often=_read_often(document, rules),
        bound=_bound_by_options(document, rules),
        renamed=read_rename(plan.write, document.scope, rules),
        names=tuple(
            (name, identity.dataset_id(place.scope, place.uri)) for name, place in logic.names
        ),
        hostless=hostless_names(
            (use.dataset for use in (*logic.reads, logic.write)), document.scope, rules
        ),
        format=_format(plan.write),
        append=plan.write.append,
        labels=plan.labels,
        words=_words(plan, logic.write.dataset.uri),
        dispatched_as=_dispatched_name(plan),
    )


def _dispatched_name(plan: ExecutionPlan) -> str:
    """Nothing for agents whose dispatcher names the application itself, or that have none."""
    match = _VERSION.match(plan.agent.version) if plan.agent else None
    if plan.agent is None or plan.agent.name != labels.AGENT or match is None:
        return ""
    return (plan.name or "") if (int(match[1]), int(match[2])) >= _NAMELESS_SINCE else ""


def _format(write: Operation) -> str:
    value = write.extra.get("destinationType")
    return value if isinstance(value, str) else ""


def _words(plan: ExecutionPlan, target: str) -> str:
    system = f"{plan.system.name} {plan.system.version}"
    return plain("\n".join((system, plan.name or "", target, _format(plan.write))))


def _partitions(document: PlanDocument, logic: Logic, rules: Rules) -> tuple[_Part, ...]:
    """(dataset id, role, partition) of every partition that the plan names.

    A dataset that the plan also reads or writes as a whole, or of which it names more than
    MOST_PARTITIONS, has no entry in that role.
    """
    parts: set[_Part] = set()
    whole: set[tuple[str, str]] = set()
    kept = {use.dataset_id for use in (*logic.reads, logic.write)}
    for operation in document.plan.operations:
        sources = (operation.target,) if operation.kind == "write" else operation.sources
        role = "write" if operation.kind == "write" else "read"
        for source in sources:
            if is_query_text(source):  # tables without partitions
                continue
            for name in naming.normalise(source, document.scope, rules):
                static = _static_partition(operation) if role == "write" else None
                partition = "/".join(part for part in (name.partition, static) if part)
                dataset = identity.dataset_id(name.scope, name.uri)
                if partition:
                    parts.add((dataset, role, partition))
                else:
                    whole.add((dataset, role))
    counts = Counter(part[:2] for part in parts)
    whole |= {place for place, count in counts.items() if count > MOST_PARTITIONS}
    return tuple(sorted(part for part in parts if part[0] in kept and part[:2] not in whole))


def _listed_files(document: PlanDocument, rules: Rules) -> tuple[_Part, ...]:
    """The files of the lists for which patterns stand, each once."""
    reads = [
        (operation.sources, operation.params)
        for operation in document.plan.operations
        if operation.kind == "read"
    ]
    return tuple(
        (identity.dataset_id(name.scope, name.uri), LISTED, file)
        for pattern, files in sorted(naming.listed_names(reads, rules).items())
        for name in naming.normalise(pattern, document.scope, rules)
        for file in sorted(files)
    )


def _read_by_operations(
    document: PlanDocument, rules: Rules
) -> Iterator[tuple[Operation, frozenset[str]]]:
    """Each read operation with the ids of its datasets, queries left out."""
    for operation in document.plan.operations:
        if operation.kind == "read":
            sources = [source for source in operation.sources if not is_query_text(source)]
            yield (
                operation,
                frozenset(
                    identity.dataset_id(name.scope, name.uri)
                    for source in sources
                    for name in naming.normalise(source, document.scope, rules)
                ),
            )


def _read_often(document: PlanDocument, rules: Rules) -> tuple[tuple[str, int], ...]:
    """(dataset id, how many operations read it) of those that several read."""
    if sum(operation.kind == "read" for operation in document.plan.operations) < 2:
        return ()
    reads = _read_by_operations(document, rules)
    counts = Counter(dataset for _, datasets in reads for dataset in datasets)
    return tuple(sorted((dataset, count) for dataset, count in counts.items() if count > 1))


def _bound_by_options(document: PlanDocument, rules: Rules) -> tuple[tuple[str, Version], ...]:
    """(dataset id, version) of the reads whose options name one; none where there are too many."""
    if not any(version_of_options(operation.params) for operation in document.plan.operations):
        return ()
    bound = [
        (dataset, version)
        for operation, datasets in _read_by_operations(document, rules)
        if (version := version_of_options(operation.params))
        for dataset in datasets
    ]
    return tuple(sorted(bound)) if len(bound) <= MAX_READS else ()


def _static_partition(operation: Operation) -> str | None:
    """``{"dt": "2026-01-01"}`` of the listener => ``dt=2026-01-01``."""
    static = operation.extra.get("staticPartitions")
    if not isinstance(static, dict) or not static:
        return None
    pairs = ((str(key), None if value is None else str(value)) for key, value in static.items())
    return naming.partition_text(pairs)


def _add_execution_plan(collector: FactCollector, document: PlanDocument, head: PlanHead) -> None:
    plan = document.plan
    system = f"{plan.system.name} {plan.system.version}"
    values = {"name": plan.name or "", "system": system, "agent": head.producer, "plan": plan.id}
    collector.add(
        Vertex(head.execution_plan, labels.EXECUTION_PLAN, properties(values)),
        edge(labels.IS, head.execution_plan, head.logical_plan),
        ExecutionPlanRow(
            id=head.execution_plan,
            subject=head.subject,
            scope=document.scope,
            plan_id=plan.id,
            content_hash=document.content_hash,
            api_version=document.api_version,
            logical_plan=head.logical_plan,
            job=head.job,
            name=plan.name or "",
            system=system,
            agent=head.producer,
            command=head.command,
            labels=identity.spelled(
                {name: list(values) for name, values in sorted(plan.labels.items())}
            ),
        ),
        SupportRow(head.subject, head.logical_plan),
    )


# --- parts to leave out ---------------------------------------------------------------------------


#: Gap of a plan that reads more tables than the graph accepts from one document.
DATASETS_TOO_MANY: Final = "datasets-too-many"


def without_columns(logic: Logic, excess: str) -> Logic:
    """Tables, jobs and operations, because half of a column lineage looks complete."""
    reads = {use.dataset_id: DatasetSchema(use.dataset, None) for use in logic.reads}
    fewer = replace(
        logic,
        reads=tuple(reads.values()),
        write=DatasetSchema(logic.write.dataset, None),
        operations=tuple(
            operation._replace(output="[]", schema="") for operation in logic.operations
        ),
        flows=(),
        influences=(),
        opens=(),
    )
    return _with_gap(fewer, labels.TOO_LARGE, excess)


def without_operations(logic: Logic, excess: str) -> Logic:
    """Tables and jobs."""
    return _with_gap(_write_alone(logic), labels.OPERATIONS_TOO_LARGE, excess)


def without_reads(logic: Logic, excess: str) -> Logic:
    """The job and its output: of half of the tables readers could not tell
    which half is missing.
    """
    return _with_gap(replace(logic, reads=(), names=()), DATASETS_TOO_MANY, excess)


REDUCTIONS: Final[tuple[Callable[[Logic, str], Logic], ...]] = (
    without_columns,
    without_operations,
    without_reads,
)


def _write_alone(logic: Logic) -> Logic:
    write = logic.operations[-1]
    alone: LogicalOperation = write._replace(position=0, inputs=(), datasets=())
    return replace(logic, operations=(alone,))


def _with_gap(logic: Logic, code: str, detail: str) -> Logic:
    return replace(logic, gaps=tuple(sorted({*logic.gaps, (code, detail)})))
