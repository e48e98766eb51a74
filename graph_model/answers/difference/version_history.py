"""Versions: the schemas of a dataset, the logical plans of a job.

Pure: rows in, versions out, oldest first. A version is one distinct content with the first and the
last time it was seen; one that comes back (A, B, A) is seen again, not another version.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from graph_model import labels
from graph_model.answers.difference.graphs import ColumnChange, Schema, compare_schemas, read_schema
from graph_model.facts import LogicalPlanRow, SchemaRow, SchemaUseRow
from graph_model.stores.catalogue_values import PlanSpan


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """``role``: whether completed executions wrote the schema, or read it where no visible
    execution writes the dataset. Times are epoch ms. ``changes`` is None for the first version.
    """

    schema: str
    role: str
    first: int
    last: int
    executions: int
    plans: tuple[str, ...]
    columns: Schema
    changes: tuple[ColumnChange, ...] | None


def schema_versions(
    uses: Iterable[SchemaUseRow],
    rows: Iterable[SchemaRow],
    spans: Iterable[PlanSpan],
    repeated: Iterable[str] = (),
) -> list[SchemaVersion]:
    """Versions by the time first seen. Reads count only where no write reports a schema, since a
    reader may declare its own.

    ``repeated``: for each execution that repeats another's report, the plan of the other one. Types
    that two agents spell differently (``long``, ``bigint``) make one version.
    """
    completed = {span.logical_plan: span for span in spans if span.state == labels.COMPLETED}
    seen = [use for use in uses if use.logical_plan in completed]
    role = labels.WRITE if any(use.role == labels.WRITE for use in seen) else labels.READ
    plans: defaultdict[str, set[str]] = defaultdict(set)
    for use in seen:
        if use.role == role:
            plans[use.schema].add(use.logical_plan)
    contents = {row.id: read_schema(row.columns) for row in rows}
    versions = [
        _schema_version(schema, role, contents[schema], [completed[plan] for plan in sorted(ids)])
        for schema, ids in plans.items()
        if schema in contents
    ]
    versions.sort(key=lambda version: (version.first, version.schema))
    versions = [_counted_once(version, Counter(repeated)) for version in _without_repeats(versions)]
    return [
        replace(version, changes=compare_schemas(former.columns, version.columns))
        if former
        else version
        for former, version in zip([None, *versions], versions, strict=False)
    ]


def _without_repeats(versions: Iterable[SchemaVersion]) -> list[SchemaVersion]:
    distinct: list[SchemaVersion] = []
    for version in versions:
        place = next((p for p, v in enumerate(distinct) if _says_the_same(v, version)), None)
        if place is None:
            distinct.append(version)
        else:
            distinct[place] = _merged(distinct[place], version)
    return distinct


def _says_the_same(version: SchemaVersion, other: SchemaVersion) -> bool:
    return not compare_schemas(version.columns, other.columns)


def _merged(version: SchemaVersion, other: SchemaVersion) -> SchemaVersion:
    return replace(
        version,
        last=max(version.last, other.last),
        executions=version.executions + other.executions,
        plans=tuple(dict.fromkeys((*version.plans, *other.plans))),
    )


def _counted_once(version: SchemaVersion, repeated: Counter[str]) -> SchemaVersion:
    again = sum(repeated[plan] for plan in version.plans) if version.role == labels.WRITE else 0
    return replace(version, executions=version.executions - again)


def _schema_version(
    schema: str, role: str, columns: Schema, spans: Collection[PlanSpan]
) -> SchemaVersion:
    return SchemaVersion(
        schema=schema,
        role=role,
        first=min(span.first for span in spans),
        last=max(span.last for span in spans),
        executions=sum(span.executions for span in spans),
        plans=tuple(span.logical_plan for span in spans),
        columns=columns,
        changes=None,
    )


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """``previous``: the plan of the job that wrote the same target before; None for the first.

    Times are epoch ms, over executions of any state.
    """

    plan: LogicalPlanRow
    first: int
    last: int
    executions: int
    completed: int
    previous: str | None


def plan_versions(rows: Iterable[LogicalPlanRow], spans: Iterable[PlanSpan]) -> list[PlanVersion]:
    """The logical plans of a job that had run, by the time of their first execution."""
    by_plan: defaultdict[str, list[PlanSpan]] = defaultdict(list)
    for span in spans:
        by_plan[span.logical_plan].append(span)
    listed = [_plan_version(row, by_plan[row.id]) for row in rows if row.id in by_plan]
    listed.sort(key=lambda version: (version.first, version.plan.id))
    newest: dict[str, str] = {}
    versions: list[PlanVersion] = []
    for version in listed:
        versions.append(replace(version, previous=newest.get(version.plan.target)))
        newest[version.plan.target] = version.plan.id
    return versions


def _plan_version(row: LogicalPlanRow, spans: Collection[PlanSpan]) -> PlanVersion:
    return PlanVersion(
        plan=row,
        first=min(span.first for span in spans),
        last=max(span.last for span in spans),
        executions=sum(span.executions for span in spans),
        completed=sum(span.executions for span in spans if span.state == labels.COMPLETED),
        previous=None,
    )
