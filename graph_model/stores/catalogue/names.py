"""Jobs, datasets, columns and plans by their ids and names; former names of datasets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    RenameRow,
    SchemaRow,
)
from graph_model.stores.catalogue.reading import (
    AT_ONCE,
    MATERIALIZED,
    CatalogueReader,
    at_values,
    input_column,
    input_table,
    is_input,
    made_once,
    pairs_from,
    prepared,
    under_applications,
    until_input,
)
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    STORAGES,
    WITH_OPEN_COLUMNS,
    columns,
    datasets,
    execution_plans,
    executions,
    hostless_names,
    jobs,
    logical_plans,
    names,
    patterns,
    renames,
)
from graph_model.stores.catalogue_values import NEVER, Surroundings
from graph_model.stores.database import StoredId, StoredText, chunks, rows_of
from graph_model.stores.pages import checked_limit

_Row = TypeVar("_Row", ColumnRow, DatasetRow, ExecutionRow, JobRow, LogicalPlanRow, SchemaRow)
_COLUMN: Final = (("dataset", StoredId()), ("path", StoredText()))
_PLACE: Final = (
    ("number", sa.BigInteger()), ("folder", StoredId()), ("scope", StoredText()),
    ("low", StoredText()), ("high", StoredText()),
)  # fmt: skip
_LAST_CHARACTER: Final = "\U0010ffff"
BY_IDS: Final[dict[type[Any], sa.Executable]] = {
    storage.row: prepared(sa.select(*storage.fields).where(is_input(storage.table.c.id)))
    for storage in STORAGES
    if storage.key == ("id",)
}
_OF_JOBS: Final = prepared(
    sa.select(*STORAGE_OF[LogicalPlanRow].fields).where(is_input(logical_plans.c.job))
)


class NodeLookup(CatalogueReader):
    """Rows by their ids and names. Questions by ids return mappings by id."""

    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]:
        return self._by_id(DatasetRow, ids)

    def columns(self, ids: Collection[str]) -> tuple[ColumnRow, ...]:
        return self._by_id(ColumnRow, ids)

    def fields(self, columns: Collection[tuple[str, str]]) -> tuple[ColumnRow, ...]:
        """The columns nested in these (dataset, path): ``a.b`` and ``a.b.c`` in ``a``.

        A seek for each given column.
        """
        return tuple(sorted({ColumnRow(*row) for row in self._rows_beside(_fields(), columns)}))

    def columns_of(self, datasets: Collection[str], limit: int) -> tuple[ColumnRow, ...]:
        """The columns that these datasets ever had, by (dataset, path); the first ``limit``."""
        known: list[ColumnRow] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(datasets)), AT_ONCE):
                if (left := limit - len(known)) > 0:
                    rows = rows_of(connection, _columns_of(), at_values(chunk) | {"most": left})
                    known += [ColumnRow(*row) for row in rows]
        return tuple(known)

    def jobs(self, ids: Collection[str]) -> tuple[JobRow, ...]:
        return self._by_id(JobRow, ids)

    def job_ids(self, after: str, limit: int) -> tuple[str, ...]:
        """The ids of jobs that come after this text, in order."""
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
        """Exactly one criterion; newest content first (by their latest execution, then id).

        Plans without an execution come last. Raises ValueError unless one criterion is given.
        """
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
        """The executions that exist among these ids, by id."""
        with self.snapshot() as same:
            stored = same._by_id(ExecutionRow, ids)
            with same._read() as connection:
                return tuple(under_applications(connection, stored))

    def datasets_by_uri(self, uri: str) -> tuple[DatasetRow, ...]:
        """All scopes that know this canonical URI, ordered by scope."""
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
        """Per surroundings the datasets there: the folder and the patterns whose first wildcard is
        right below it, or the datasets of the scope whose URI begins with the text.

        Of more than ``most`` patterns or URIs some are left out, but ``most + 1`` stay.

        A seek for each folder, and a bounded walk over an index for each text.
        """
        listed = sorted(set(asked))
        rows = [
            (number, folder, scope, beneath, beneath and beneath + _LAST_CHARACTER)
            for number, (folder, scope, beneath) in enumerate(listed)
        ]
        beside: dict[Surroundings, list[DatasetRow]] = {surroundings: [] for surroundings in listed}
        for number, *values in self._rows_beside(_around(), rows, most=most):
            if values[0] is not None:
                beside[listed[number]].append(DatasetRow(*values))
        return {surroundings: tuple(sorted(around)) for surroundings, around in beside.items()}

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
        """Every logical plan of these jobs: as many as there are.

        Reads every plan: only forget and prune ask, so no index is kept for it.
        """
        return tuple(LogicalPlanRow(*row) for row in self._rows_for(_OF_JOBS, jobs))

    def tables_with_open_columns(self, limit: int) -> tuple[str, ...]:
        """The first ``limit`` datasets (ids) that plans with the gap ``open-columns`` write.

        From an index that holds only such plans.
        """
        plan = logical_plans.c
        asked = sa.select(plan.target).where(plan.target > "", sa.text(WITH_OPEN_COLUMNS))
        with self._read() as connection:
            rows = connection.execute(asked.distinct().order_by(plan.target).limit(limit))
            return tuple(rows.scalars())

    def reading_plans(self, jobs: Collection[str], limit: int) -> dict[str, tuple[str, ...]]:
        """Per job the ids of its logical plans that write nothing, in order; the first ``limit``.

        A job without one is left out.

        From an index that holds only such plans.
        """
        by_job: defaultdict[str, list[str]] = defaultdict(list)
        with self._read() as connection:
            for chunk in chunks(sorted(set(jobs)), AT_ONCE):
                values = at_values(chunk) | {"limit": limit}
                for job, plan in rows_of(connection, _reading_plans(), values):
                    by_job[job].append(plan)
        return {job: tuple(sorted(plans)) for job, plans in by_job.items()}

    def _by_id(self, kind: type[_Row], ids: Collection[str]) -> tuple[_Row, ...]:
        rows = self._rows_for(BY_IDS[kind], ids)
        return tuple(sorted((kind(*row) for row in rows), key=_id))


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
    row = numbered.subquery("numbered").c
    limit = sa.bindparam("limit", type_=sa.BigInteger(), required=True)
    return sa.select(row.job, row.id).where(row.place <= limit)


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


_MOMENT: Final = (("name", StoredId()), ("at", sa.BigInteger()))
_RENAMES_BY: Final = prepared(sa.select(renames).where(is_input(renames.c.execution)))


class CatalogNames(CatalogueReader):
    """The present and former names of a dataset: catalog names and renames."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Names observed for these locations (newest observation of each name).

        Of several observations at one time the one of the greatest execution id counts.
        """
        rows = self._rows_for(_names_of(), locations, at)
        return tuple(sorted(NameRow(*row) for row in rows))

    def location_of(self, name: str, at: int | None) -> str | None:
        """The location of a name: last observed at or before ``at``, else the first."""
        asked = sa.select(location_at(sa.literal(name, StoredId()), NEVER if at is None else at))
        with self._read() as connection:
            location: str | None = connection.execute(asked).scalar()
            if location is None:
                location = connection.execute(_only_location_of(name)).scalar()
        return location

    def locations_of(self, moments: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """``location_of`` for many (name, at) at once; texts that are no name are left out."""
        rows = self._rows_beside(_locations(), moments)
        return {(name, at): location for name, at, location in rows if location is not None}

    def names_around(self, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        """Every (name, location) ever observed for these datasets and for the names that ever stood
        for them. A name without servers is among them while only one location has it.
        """
        rows = self._rows_for(_names_around(), datasets)
        pairs = frozenset((name, location) for name, location, hostless in rows if not hostless)
        hostless = _only_locations((name, location) for name, location, flag in rows if flag)
        return pairs | hostless

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        """Per dataset the newest rename away from it and the newest to it, at or before ``at``."""
        newest: set[RenameRow] = set()
        with self.snapshot() as same:
            for column in ("former", "current"):
                rows = same._rows_for(_renames_of(column), datasets, at)
                newest.update(RenameRow(*row) for row in rows)
        return tuple(sorted(newest))

    def renames_by(self, executions: Collection[str]) -> tuple[RenameRow, ...]:
        """The renames that these executions made."""
        rows = self._rows_for(_RENAMES_BY, executions)
        return tuple(sorted({RenameRow(*row) for row in rows}))


@made_once
def _names_of() -> sa.Select[Any]:
    inner, outer = names.alias("listed").c, names.alias("seen").c
    pairs = pairs_from(inner.location, inner.name, input_column())
    latest = (
        sa.select(sa.func.max(outer.at))
        .where(
            outer.location == pairs.c.first,
            outer.name == pairs.c.second,
            until_input(outer.at),
        )
        .scalar_subquery()
    )
    newest = sa.select(pairs.c.first, pairs.c.second, latest.label("at")).cte("newest")
    columns = names.c
    return (
        sa.select(columns.name, columns.location, sa.func.max(columns.execution), columns.at)
        .join_from(
            newest,
            names,
            sa.and_(
                columns.location == newest.c.first,
                columns.name == newest.c.second,
                columns.at == newest.c.at,
            ),
        )
        .group_by(columns.name, columns.location, columns.at)
    )


@made_once
def _locations() -> sa.Select[Any]:
    asked = input_table(_MOMENT)
    return sa.select(asked, location_at(asked.c.name, asked.c.at).label("location"))


def location_at(name: Any, at: Any) -> Any:
    """The location of a name: the last one observed until then, or itself if that one has lost its
    names since; else the first one.
    """
    seen, lost = names.alias("seen_names").c, names.alias("lost_names").c
    order = (seen.at, seen.execution, seen.location)
    own = sa.select(seen.location).where(seen.name == name).limit(1)
    itself = lost.name == seen.location, lost.location == seen.location
    gone = sa.select(sa.func.min(lost.at)).where(*itself, lost.at > seen.at).scalar_subquery()
    stood = sa.case((gone <= at, seen.name), else_=seen.location)
    last = sa.select(stood).where(seen.name == name, seen.at <= at).limit(1)
    last = last.order_by(*(column.desc() for column in order))
    return sa.func.coalesce(last.scalar_subquery(), own.order_by(*order).scalar_subquery())


@made_once
def _names_around() -> sa.CompoundSelect[Any]:
    asked = input_column()
    pairs = (_pairs_around(asked, table) for table in (names, hostless_names))
    return sa.union_all(*(select for selects in pairs for select in selects))


def _only_location_of(name: str) -> sa.Select[Any]:
    """The location of a name without servers, where there is one and no other."""
    location, own = hostless_names.c.location, hostless_names.c.name == name
    return (
        sa.select(sa.func.min(location))
        .where(own)
        .having(sa.func.min(location) == sa.func.max(location))
    )


def _only_locations(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """The pairs of the names that have one location and no other."""
    locations: dict[str, set[str]] = {}
    for name, location in pairs:
        locations.setdefault(name, set()).add(location)
    return frozenset((name, places.pop()) for name, places in locations.items() if len(places) == 1)


def _pairs_around(asked: sa.CTE, table: sa.Table) -> Iterator[sa.Select[Any]]:
    """The names of the given datasets, then every location of these names and of the given ones,
    with 1 for the names without servers; a name of a location that has lost names stands for itself
    as well.
    """
    seen = table.alias(f"seen_{table.name}").c
    names_of = pairs_from(seen.location, seen.name, asked, name=f"names_of_{table.name}").c
    called = sa.union_all(
        sa.select(asked.c.value),
        sa.select(names_of.second.label("value")).where(names_of.second.is_not(None)),
    ).cte(f"called_{table.name}")
    pairs = pairs_from(table.c.name, table.c.location, called, name=f"pairs_{table.name}").c
    flag: sa.ColumnElement[int] = sa.literal_column("1" if table is hostless_names else "0")
    yield sa.select(pairs.first, pairs.second, flag).where(pairs.second.is_not(None))
    if table is names:
        lost = names.alias("lost_names").c
        itself = lost.name == pairs.second, lost.location == pairs.second
        gone = sa.select(sa.literal(1)).where(*itself).exists()
        yield sa.select(pairs.first, pairs.first, flag).where(gone)


@made_once
def _renames_of(column: str) -> sa.Select[Any]:
    asked, seen, row = input_column(), renames.alias("seen").c, renames.c
    newest = (
        sa.select(sa.func.max(seen.at))
        .where(seen[column] == asked.c.value, until_input(seen.at))
        .scalar_subquery()
    )
    newest_rename = sa.and_(row[column] == asked.c.value, row.at == newest)
    return sa.select(renames).join_from(asked, renames, newest_rename)
