"""Jobs, datasets, columns and plans by their ids and names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    SchemaRow,
)
from graph_model.stores.catalogue.reading.applications import under_applications
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    AT_ONCE,
    MATERIALIZED,
    at_values,
    input_table,
    is_input,
    made_once,
    prepared,
)
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    STORAGES,
    columns,
    datasets,
    execution_plans,
    executions,
    jobs,
    logical_plans,
    patterns,
)
from graph_model.stores.database import PreparedStatement, StoredId, StoredText, chunks
from graph_model.stores.pages import checked_limit
from graph_model.stores.protocols import Surroundings

_Row = TypeVar("_Row", ColumnRow, DatasetRow, ExecutionRow, JobRow, LogicalPlanRow, SchemaRow)
_COLUMN: Final = (("dataset", StoredId()), ("path", StoredText()))
_PLACE: Final = (
    ("number", sa.BigInteger()), ("folder", StoredId()), ("scope", StoredText()),
    ("low", StoredText()), ("high", StoredText()),
)  # fmt: skip
_LAST_CHARACTER: Final = "\U0010ffff"
BY_IDS: Final[dict[type[Any], PreparedStatement]] = {
    storage.row: prepared(sa.select(*storage.fields).where(is_input(storage.table.c.id)))
    for storage in STORAGES
    if storage.key == ("id",)
}
_OF_JOBS: Final = prepared(
    sa.select(*STORAGE_OF[LogicalPlanRow].fields).where(is_input(logical_plans.c.job))
)


class SqlNodeLookup(CatalogueReader):
    """See ``protocols.NodeLookup``. Questions by ids return sorted rows."""

    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]:
        return self._by_id(DatasetRow, ids)

    def columns(self, ids: Collection[str]) -> tuple[ColumnRow, ...]:
        return self._by_id(ColumnRow, ids)

    def fields(self, columns: Collection[tuple[str, str]]) -> tuple[ColumnRow, ...]:
        """A seek for each given column."""
        return tuple(sorted({ColumnRow(*row) for row in self._rows_beside(_fields(), columns)}))

    def columns_of(self, datasets: Collection[str], limit: int) -> tuple[ColumnRow, ...]:
        found: list[ColumnRow] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(datasets)), AT_ONCE):
                if (left := limit - len(found)) > 0:
                    rows = _columns_of().rows(connection, at_values(chunk) | {"most": left})
                    found += [ColumnRow(*row) for row in rows]
        return tuple(found)

    def jobs(self, ids: Collection[str]) -> tuple[JobRow, ...]:
        return self._by_id(JobRow, ids)

    def job_ids(self, after: str, limit: int) -> tuple[str, ...]:
        asked = sa.select(jobs.c.id).where(jobs.c.id > after).order_by(jobs.c.id).limit(limit)
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())

    def logical_plans(self, ids: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        return self._by_id(LogicalPlanRow, ids)

    def execution_plans(
        self,
        *,
        plan_id: str | None = None,
        id: str | None = None,
        logical_plan: str | None = None,
        limit: int = 100,
    ) -> tuple[ExecutionPlanRow, ...]:
        """Plans without an execution come last. Raises ValueError unless one criterion is given."""
        plans = execution_plans.c
        given = ((plans.plan_id, plan_id), (plans.id, id), (plans.logical_plan, logical_plan))
        chosen = [column == value for column, value in given if value is not None]
        if len(chosen) != 1:
            raise ValueError("expected exactly one of plan_id, id and logical_plan")
        latest = (
            sa.select(sa.func.max(executions.c.at))
            .where(executions.c.plan_id == plans.plan_id, executions.c.execution_plan == plans.id)
            .scalar_subquery()
            .label("latest")
        )
        asked = (
            sa.select(execution_plans, latest)
            .where(*chosen)
            .order_by(latest.is_(None), latest.desc(), plans.id)
            .limit(checked_limit(limit))
        )
        with self._read() as connection:
            return tuple(ExecutionPlanRow(*row[:-1]) for row in connection.execute(asked))

    def schemas(self, ids: Collection[str]) -> tuple[SchemaRow, ...]:
        return self._by_id(SchemaRow, ids)

    def executions_of(self, ids: Collection[str]) -> tuple[ExecutionRow, ...]:
        with self.snapshot() as same:
            found = same._by_id(ExecutionRow, ids)
            with same._read() as connection:
                return tuple(under_applications(connection, found))

    def datasets_by_uri(self, uri: str) -> tuple[DatasetRow, ...]:
        asked = (
            sa.select(*STORAGE_OF[DatasetRow].fields)
            .where(datasets.c.uri == uri)
            .order_by(datasets.c.scope, datasets.c.id)
        )
        with self._read() as connection:
            return tuple(DatasetRow(*row) for row in connection.execute(asked))

    def datasets_around(
        self, asked: Collection[Surroundings], most: int
    ) -> dict[Surroundings, tuple[DatasetRow, ...]]:
        """A seek for each folder, and a bounded walk over an index for each text."""
        listed = sorted(set(asked))
        rows = [
            (number, folder, scope, beneath, beneath and beneath + _LAST_CHARACTER)
            for number, (folder, scope, beneath) in enumerate(listed)
        ]
        found: dict[Surroundings, list[DatasetRow]] = {one: [] for one in listed}
        for number, *values in self._rows_beside(_around(), rows, most=most):
            if values[0] is not None:
                found[listed[number]].append(DatasetRow(*values))
        return {one: tuple(sorted(around)) for one, around in found.items()}

    def job_by_name(self, namespace: str, name: str) -> JobRow | None:
        asked = (
            sa.select(*STORAGE_OF[JobRow].fields)
            .where(jobs.c.namespace == namespace, jobs.c.name == name)
            .order_by(jobs.c.id)
            .limit(1)
        )
        with self._read() as connection:
            row = connection.execute(asked).first()
        return None if row is None else JobRow(*row)

    def logical_plans_of(self, jobs: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        """Reads every plan: only forget and prune ask, so no index is kept for it."""
        return tuple(LogicalPlanRow(*row) for row in self._rows_for(_OF_JOBS, jobs))

    def reading_plans(self, jobs: Collection[str], limit: int) -> dict[str, tuple[str, ...]]:
        """From an index that holds only such plans."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        with self._read() as connection:
            for chunk in chunks(sorted(set(jobs)), AT_ONCE):
                values = at_values(chunk) | {"limit": limit}
                for job, plan in _reading_plans().rows(connection, values):
                    found[job].append(plan)
        return {job: tuple(sorted(plans)) for job, plans in found.items()}

    def _by_id(self, kind: type[_Row], ids: Collection[str]) -> tuple[_Row, ...]:
        found = self._rows_for(BY_IDS[kind], ids)
        return tuple(sorted((kind(*row) for row in found), key=_id))


def _id(row: _Row) -> str:
    return row.id


@made_once
def _around() -> sa.CompoundSelect[Any]:
    asked = _with_ends(input_table(_PLACE))
    fields, of = datasets.c, asked.c
    own = tuple(fields[name] for name in DatasetRow._fields)
    folders = sa.select(of.number, *own).join_from(asked, datasets, fields.id == of.folder)
    inside = sa.and_(patterns.c.folder == of.folder, patterns.c.id <= of.last_pattern)
    listed = sa.join(asked, patterns, inside).join(datasets, fields.id == patterns.c.id)
    # The outer join and the empty text keep SQLite from a walk over all datasets.
    scope = fields.scope.concat("") == of.scope
    beneath = sa.and_(fields.uri >= of.low, fields.uri < of.high, fields.uri <= of.last_uri, scope)
    return sa.union_all(
        folders,
        sa.select(of.number, *own).select_from(listed),
        sa.select(of.number, *own).join_from(asked, datasets, beneath, isouter=True),
    )


def _with_ends(asked: sa.CTE) -> sa.CTE:
    """The given places, each with the last pattern and the last URI that an answer holds of it."""
    most = sa.bindparam("most", type_=sa.BigInteger(), required=True)
    of, pattern, dataset = asked.c, patterns.alias("counted").c, datasets.alias("named").c
    in_folder = pattern.folder == of.folder
    beneath = (dataset.uri >= of.low, dataset.uri < of.high, dataset.scope == of.scope)
    next_pattern = sa.select(pattern.id).where(in_folder).order_by(pattern.id).limit(1).offset(most)
    next_uri = sa.select(dataset.uri).where(*beneath).order_by(dataset.uri).limit(1).offset(most)
    greatest = sa.select(sa.func.max(pattern.id)).where(in_folder).scalar_subquery()
    last_pattern = sa.func.coalesce(next_pattern.scalar_subquery(), greatest)
    last_uri = sa.func.coalesce(next_uri.scalar_subquery(), of.high)
    ends = (last_pattern.label("last_pattern"), last_uri.label("last_uri"))
    return sa.select(asked, *ends).cte("ends").prefix_with(MATERIALIZED)


@made_once
def _columns_of() -> sa.Select[Any]:
    column = columns.c
    return (
        sa.select(column.id, column.dataset, column.path)
        .where(is_input(column.dataset))
        .order_by(column.dataset, column.path)
        .limit(sa.bindparam("most", type_=sa.BigInteger(), required=True))
    )


@made_once
def _reading_plans() -> sa.Select[Any]:
    plan = logical_plans.c
    place = sa.func.row_number().over(partition_by=plan.job, order_by=plan.id)
    numbered = sa.select(plan.job, plan.id, place.label("place"))
    numbered = numbered.where(is_input(plan.job), plan.target == "")
    found = numbered.subquery("numbered").c
    limit = sa.bindparam("limit", type_=sa.BigInteger(), required=True)
    return sa.select(found.job, found.id).where(found.place <= limit)


@made_once
def _fields() -> sa.Select[Any]:
    asked, column = input_table(_COLUMN), columns.c
    return sa.select(column.id, column.dataset, column.path).join_from(
        asked,
        columns,
        sa.and_(
            column.dataset == asked.c.dataset,
            column.path > asked.c.path.concat("."),
            column.path < asked.c.path.concat("/"),  # the text right behind the dot
        ),
    )
