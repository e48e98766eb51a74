"""A history as the documents that a producer would have posted of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from graph_model import identity
from graph_model.producers.openlineage.events.documents import run_key
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import Submission
from tests.builders import PlanBuilder, Step
from tests.oracle.histories import Column, Execution, History, Place, Plan, Version
from tests.projections import lineage_event, submission

START: Final = 1_700_000_000_000
"""Epoch milliseconds of a history's second 0."""

_NAMESPACE: Final = uuid.UUID("6c0b1c9e-5d1c-5c1d-9d5e-0d3f6f1c2b7a")
_PRODUCERS: Final = {
    "spline": {"name": "spline", "version": "2.2.0"},
    "listener": {"name": "headwater-listener", "version": "0.2.0"},
}


def submissions(history: History) -> list[Submission]:
    """Plans, then events; any order of them is the same history.

    Spline's plans write something: of one that only reads OpenLineage tells, run by run.
    """
    plans = [plan for plan in history.plans.values() if not plan.by_run]
    return [submission(PLAN_KIND, plan_document(plan)) for plan in plans] + [
        _event_submission(execution, history.plans[execution.plan])
        for execution in history.executions
    ]


def receipts(history: History) -> list[int]:
    """When each of the documents came, where the time matters (``Execution.claimed``)."""
    plans = len(submissions(history)) - len(history.executions)
    return [START] * plans + [START + execution.at for execution in history.executions]


def _event_submission(execution: Execution, plan: Plan) -> Submission:
    if plan.by_run:
        return lineage_event(run_event(execution, plan))
    return submission(EVENT_KIND, event_document(execution))


# --- ids -----------------------------------------------------------------------------------------


def plan_uuid(plan: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, plan))


def run_uuid(execution: Execution) -> str:
    answer = (execution.plan, execution.told_at, execution.failed, execution.application)
    return str(uuid.uuid5(_NAMESPACE, repr(answer)))


def event_key(execution: Execution) -> str:
    """The key in place of a plan id where OpenLineage tells of an execution."""
    return run_key(run_uuid(execution))


def uri(dataset: str) -> str:
    """``t`` => ``s3://lake/t``; ``@hr.t`` => ``spark_catalog/hr.t``."""
    return f"spark_catalog/{dataset[1:]}" if dataset.startswith("@") else f"s3://lake/{dataset}"


def dataset_id(dataset: str) -> str:
    return identity.dataset_id("", uri(dataset))


def job_id(job: str) -> str:
    return identity.job_id("default", job)


def column_id(column: Column) -> str:
    return identity.column_id(dataset_id(column.dataset), column.name)


# --- documents -----------------------------------------------------------------------------------


def event_document(execution: Execution) -> dict[str, Any]:
    return {
        "planId": plan_uuid(execution.plan),
        "timestamp": START + execution.told_at,
        "durationNs": 1_000_000,
        "error": "it failed" if execution.failed else None,
        "extra": {
            "appId": execution.application,
            "readMetrics": {},
            "writeMetrics": {},
            **_versions(execution),
        },
    }


def _versions(execution: Execution) -> dict[str, Any]:
    """The fields that a producer adds that knows of versions."""
    result: dict[str, Any] = {}
    if execution.wrote is not None:
        result["writtenVersion"] = _version(execution.wrote)
    if execution.bound:
        result["readVersions"] = [
            {"source": uri(name), **_version(version)} for name, version in execution.bound
        ]
    return result


def _version(version: Version) -> dict[str, Any]:
    answer: dict[str, Any] = {"id": version.id, "number": version.number}
    answer |= {"branch": version.branch} if version.branch else {}
    return answer | ({} if version.since is None else {"since": version.since})


def run_event(execution: Execution, plan: Plan) -> dict[str, Any]:
    """A run as a client of OpenLineage tells of it when it ends."""
    at = datetime.fromtimestamp((START + execution.told_at) / 1_000, UTC)
    return {
        "eventType": "FAIL" if execution.failed else "COMPLETE",
        "eventTime": at.isoformat(),
        "producer": "a dashboard",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_uuid(execution)},
        "job": {"namespace": "default", "name": plan.job},
        "inputs": [
            _read_by_run(item, dict(execution.bound))
            for place in plan.reads
            for item in ([Place(file) for file in place.files] or [place])
        ],
        "outputs": [_written_by_run(plan)] if plan.writes else [],
    }


def _written_by_run(plan: Plan) -> dict[str, Any]:
    """The output with its columns, without a word about the mode."""
    if plan.columns is None:
        return _named(Place(plan.target))
    fields = {
        name: {"inputFields": [_source(column, len(sources)) for column in sources]}
        for name, sources in plan.columns
        if sources
    }
    schema = [{"name": name, "type": "int"} for name, _ in plan.columns]
    facets = {"schema": {"fields": schema}, "columnLineage": {"fields": fields}}
    return _named(Place(plan.target)) | {"facets": facets}


def _source(column: Column, number: int) -> dict[str, Any]:
    how = "IDENTITY" if number == 1 else "TRANSFORMATION"
    named = _named(Place(column.dataset)) | {"field": column.name}
    return named | {"transformations": [{"type": "DIRECT", "subtype": how}]}


def _named(place: Place) -> dict[str, Any]:
    namespace, separator, name = _path(place).partition("/lake/")
    if not separator:
        return {"namespace": "", "name": namespace}
    return {"namespace": f"{namespace}/lake", "name": name}


def _read_by_run(place: Place, bound: Mapping[str, Version]) -> dict[str, Any]:
    read = _named(place)
    if place.dataset in bound:
        read["facets"] = {"version": {"datasetVersion": bound[place.dataset].id}}
    return read


def plan_document(plan: Plan) -> dict[str, Any]:
    """As the agent posts it: one read of each dataset, with a path for each part of it."""
    builder = PlanBuilder()
    reads = {name: builder.read(paths, *_columns(plan)) for name, paths in _paths(plan).items()}
    builder.write(
        _output(builder, plan, reads), _target(plan), append=plan.append, name=plan.command
    )
    document = builder.document(
        id=plan_uuid(plan.id),
        name=plan.job,
        agentInfo=_PRODUCERS[plan.producer],
    )
    document["extraInfo"]["appName"] = plan.job
    write = document["operations"]["write"]
    write["extra"] |= dict(_write_extra(plan))
    called = dict(zip(reads, document["operations"]["reads"], strict=True))
    for dataset, name in plan.names:
        for operation in _touching(dataset, plan, called, write):
            operation["params"] = (operation.get("params") or {}) | _table(name)
    return document


def _paths(plan: Plan) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = {}
    for place in plan.reads:
        paths.setdefault(place.dataset, []).extend(
            [uri(file) for file in place.files] or [_path(place)]
        )
    return paths


def _path(place: Place) -> str:
    return uri(place.dataset) + place.text.removeprefix(place.dataset)


def _target(plan: Plan) -> str:
    return uri(plan.target) if plan.listed or plan.writes is None else _path(plan.writes)


def _columns(plan: Plan) -> tuple[str, ...]:
    """Every dataset has the same columns; a plan that tells of none is schema-less."""
    return () if plan.columns is None else ("k: int", "v: int")


def _output(builder: PlanBuilder, plan: Plan, reads: Mapping[str, Step]) -> Step | None:
    if not reads:
        return None
    joined, *others = reads.values()
    if plan.columns is None:
        return builder.schemaless("Union", joined, *others) if others else joined
    for other in others:
        joined = builder.join(joined, other)
    for column in plan.filter:
        source = reads[column.dataset][column.name]
        joined = builder.filter(joined, builder.call(">", source, builder.literal(1), symbol=">"))
    computed = {}
    for name, sources in plan.columns:
        arguments = [reads[column.dataset][column.name] for column in sources]
        if not arguments:
            computed[name] = builder.literal(1)
        elif len(arguments) == 1:
            computed[name] = arguments[0]
        else:
            computed[name] = builder.call("add", *arguments, symbol="+")
    return builder.project(joined, **computed)


def _write_extra(plan: Plan) -> Iterator[tuple[str, Any]]:
    """The listener's report beside the path."""
    if plan.dynamic:
        yield "dynamicPartitionOverwrite", True
    if plan.listed and plan.writes and plan.writes.keys:
        yield "partitionColumns", list(plan.writes.keys)
        if plan.writes.partition:
            yield "staticPartitions", dict(plan.writes.partition)


def _touching(
    dataset: str, plan: Plan, reads: Mapping[str, dict[str, Any]], write: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    if dataset in reads:
        yield reads[dataset]
    if dataset == plan.target:
        yield write


def _table(name: str) -> dict[str, Any]:
    database, _, table = name.removeprefix("@").partition(".")
    return {"table": {"identifier": {"database": database, "table": table}}}
