"""The facts of one execution: O(1) elements, none of them shared by all runs of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.facts import (
    CURRENT_VERSION,
    MAIN_BRANCH,
    EventRow,
    ExecutionRow,
    FactCollector,
    Facts,
    HostlessNameRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    Version,
    edge,
)
from graph_model.naming import Rules
from graph_model.producers.elements import (
    MOST_EXTRA_CHARACTERS,
    add_application,
    add_dataset,
    add_execution,
    add_rename,
    dispatched_run,
    label_rows,
    labels_text,
)
from graph_model.producers.spline.documents import ExecutionEvent
from graph_model.producers.spline.plans import PlanHead
from graph_model.producers.spline.tables import (
    MAX_READS,
    is_query_text,
    read_version,
    wrote_partitions,
)
from graph_model.values import plain, shortened

_MAX_PARTITIONS: Final = 1_000
_KINDS: Final = {labels.LIFECYCLE: labels.LIFECYCLE_KIND, labels.NO_WRITE: labels.READ_KIND}
_EXTRA_KEPT: Final = ("appId", "user", "readMetrics", "writeMetrics")


def translate_execution(
    head: PlanHead, event: ExecutionEvent, rules: Rules = naming.DEFAULT_RULES
) -> Facts:
    """The facts of one execution: O(1) elements, none of them shared by all runs of a job."""
    row = _execution_row(head, event)
    collector = FactCollector()
    add_execution(collector, row)
    collector.add(_event_row(head, event, row.id), *label_rows(row.id, head.labels, event.labels))
    _add_dispatched(collector, head, row)
    for dataset_id, role, partition in _partitions(head, event):
        collector.add(PartitionRow(row.id, dataset_id, role, partition))
    collector.add(*_read_versions(head, row.id, event.extra.get("readVersions"), rules))
    if row.state == labels.COMPLETED:
        for name, place_id in head.names:
            name_id = add_dataset(collector, name)
            collector.add(
                edge(labels.NAMES, name_id, place_id), NameRow(name_id, place_id, row.id, row.at)
            )
        collector.add(*(HostlessNameRow(*pair, row.id, row.at) for pair in head.hostless))
        if head.renamed is not None:
            add_rename(collector, head.renamed, head.subject, row.id, row.at)
    return collector.facts()


def _add_dispatched(collector: FactCollector, head: PlanHead, row: ExecutionRow) -> None:
    """The name that the run has where the agent's OpenLineage dispatcher reports it, too."""
    if head.dispatched_as and row.application_id and row.kind == labels.WRITE_KIND:
        started_at = row.at - -(-(row.duration_ns or 0) // 1_000_000)
        key = dispatched_run(head.dispatched_as, row.target, started_at, row.at)
        run = identity.vertex_id(labels.RUN, head.scope, key)
        add_application(collector, head.subject, run, row.application_id, row.run)


def _read_versions(
    head: PlanHead, execution: str, reported: Any, rules: Rules
) -> Iterator[ReadVersionRow]:
    """The rows of the reads that the event lists, else of those whose options name a version.

    A list that is malformed or longer than the bound counts as none. A dataset that the plan reads
    more often than versions of it are named is also read as it was:

        t VERSION AS OF 0 JOIN t  =>  version 0, and the current one
    """
    listed = list(_listed_versions(head, reported, rules)) or head.bound
    often = dict(head.read_often)
    for dataset, count in Counter(dataset for dataset, _ in listed).items():
        if count < often.get(dataset, 1):
            yield ReadVersionRow(execution, dataset, head.logical_plan, *CURRENT_VERSION)
    for dataset, version in listed:
        yield ReadVersionRow(execution, dataset, head.logical_plan, *version)


def _listed_versions(head: PlanHead, reported: Any, rules: Rules) -> Iterator[tuple[str, Version]]:
    if not isinstance(reported, list) or len(reported) > MAX_READS:
        return
    for item in reported:
        version = read_version(item)
        source = item.get("source") if version else None
        if version is None or not isinstance(source, str) or is_query_text(source):
            continue
        for name in naming.normalise(source, head.scope, rules):
            yield identity.dataset_id(name.scope, name.uri), version


def _partitions(head: PlanHead, event: ExecutionEvent) -> Collection[tuple[str, str, str]]:
    """(dataset id, role, partition) of the partitions that the execution touched.

    The event's ``"writtenPartitions": ["dt=d1/h=3"]``, spelled as in paths, are more precise than
    the plan's static ones (``dt=d1``). A full overwrite replaces every partition, whichever it
    wrote.
    """
    leaves_some = _is_dynamic(head, event) or head.mode == labels.APPEND
    reported = event.extra.get("writtenPartitions") if leaves_some else None
    written = _read_partitions(reported)
    if not written:
        return head.partitions
    others = [part for part in head.partitions if part[1] != "write"]
    return {*others, *((head.target, "write", text) for text in written)}


def _read_partitions(reported: Any) -> frozenset[str]:
    """Canonical texts; none where the list is malformed or longer than the bound."""
    if not isinstance(reported, list) or len(reported) > _MAX_PARTITIONS:
        return frozenset()
    pairs = [naming.partition_pairs(text) if isinstance(text, str) else () for text in reported]
    return frozenset(map(naming.partition_text, pairs)) if all(pairs) else frozenset()


def _event_row(head: PlanHead, event: ExecutionEvent, execution: str) -> EventRow:
    extra = identity.spelled(dict(event.extra))
    if len(extra) > MOST_EXTRA_CHARACTERS:
        extra = identity.spelled(
            {key: event.extra[key] for key in _EXTRA_KEPT if key in event.extra}
        )
    return EventRow(
        execution=execution,
        format=head.format,
        append=head.append,
        words=f"{head.words}\n{plain(event.application_id)}",
        labels=labels_text(event.labels),
        extra=extra if len(extra) <= MOST_EXTRA_CHARACTERS else "{}",
    )


def _execution_row(head: PlanHead, event: ExecutionEvent) -> ExecutionRow:
    error = _error_text(event.error)
    dynamic = _is_dynamic(head, event)
    run_key = event.application_id or f"{head.plan_id}@{event.timestamp}"
    wrote = error is None and head.mode not in _KINDS
    version = read_version(event.extra.get("writtenVersion")) if wrote else None
    return ExecutionRow(
        id=identity.vertex_id(
            labels.EXECUTION, head.execution_plan, head.logical_plan, normal_event(event)
        ),
        subject=head.subject,
        plan_id=head.plan_id,
        execution_plan=head.execution_plan,
        logical_plan=head.logical_plan,
        job=head.job,
        run=identity.vertex_id(labels.RUN, head.scope, run_key),
        target=head.target,
        at=event.timestamp,
        state=labels.COMPLETED if error is None else labels.FAILED,
        duration_ns=event.duration_ns,
        error=error,
        metrics=_metrics_text(event),
        mode=_mode(head, dynamic=dynamic),
        dynamic=dynamic,
        kind=_KINDS.get(head.mode, labels.WRITE_KIND),
        command=head.command,
        producer=head.producer,
        application_id=event.application_id,
        scope=head.scope,
        reads=head.reads,
        version=version.id if version else "",
        version_number=version.number if version else None,
        branch=version.branch if version else MAIN_BRANCH,
    )


def _is_dynamic(head: PlanHead, event: ExecutionEvent) -> bool:
    """Unnamed partitions may be some or all: the execution must not claim all of them."""
    if head.dynamic is None:
        return head.mode == labels.OVERWRITE and wrote_partitions(event)
    return head.dynamic


def _mode(head: PlanHead, *, dynamic: bool) -> str:
    """An overwrite that names partitions, or selects them dynamically, keeps the others."""
    named = any(role == "write" for _, role, _ in head.partitions)
    if head.mode == labels.OVERWRITE and (dynamic or named):
        return labels.OVERWRITE_PARTITIONS
    return head.mode


def normal_event(event: ExecutionEvent) -> list[Any]:
    """The identity of an execution within its plan: every field that the event carries."""
    return [
        event.plan_id,
        event.timestamp,
        event.duration_ns,
        event.discriminator,
        {name: list(values) for name, values in event.labels.items()},
        event.error,
        dict(event.extra),
    ]


def _error_text(error: Any) -> str | None:
    """null, false and "" mean success; any other value is kept as text, bounded."""
    if error is None or error is False or error == "":
        return None
    return shortened(error if isinstance(error, str) else identity.spelled(error))


def _metrics_text(event: ExecutionEvent) -> str:
    """The metrics of an event as JSON; without any metrics where the text is too long."""
    read, write = event.extra.get("readMetrics"), event.extra.get("writeMetrics")
    text = identity.spelled({"read": _metrics(read), "write": _metrics(write)})
    return (
        text if len(text) <= MOST_EXTRA_CHARACTERS else identity.spelled({"read": {}, "write": {}})
    )


def _metrics(value: Any) -> dict[str, int | float]:
    """Only numbers, by name; agents send {} where adaptive execution hid them."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): number
        for name, number in sorted(value.items())
        if isinstance(number, int | float) and not isinstance(number, bool)
    }
