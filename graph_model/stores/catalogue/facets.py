"""Over time: runs and facets from OpenLineage's events, and the schemas of datasets.

A facet is atomic: at a time the newest one of a name is in force, and a deleted one counts as none.
Times are epoch milliseconds; ``at`` None is the end of time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model import labels
from graph_model.facts import CHECK, DESCRIBED, READER, FacetRow, RunRow, SchemaRow, SchemaUseRow
from graph_model.stores.catalogue.names import NodeLookup
from graph_model.stores.catalogue.reading import (
    AT_ONCE,
    CatalogueReader,
    ListKeys,
    at_values,
    excluding,
    excluding_hidden,
    first_of_run,
    heard_below,
    input_column,
    input_table,
    is_input,
    made_once,
    names_of_runs,
    pairs_from,
    prepared,
    rows_for,
    successful,
    under_applications,
    until,
    until_input,
)
from graph_model.stores.catalogue.tables import (
    executions,
    facet_bodies,
    facets,
    runs,
    schema_uses,
    schemas,
)
from graph_model.stores.catalogue_values import Rows, RunFacet
from graph_model.stores.database import StoredId, StoredText, chunks, count_rows
from graph_model.stores.pages import Page, checked_limit

_BODIES: Final = prepared(sa.select(facet_bodies).where(is_input(facet_bodies.c.id)))

_CONTENTS: Final = (CHECK, READER, DESCRIBED)
"""The kinds of rows that are contents of a facet and not facets themselves."""


class RunRecords(CatalogueReader):
    """Runs, ended or not."""

    def of_subjects(self, subjects: Collection[str]) -> tuple[RunRow, ...]:
        """The runs of these subjects, by id: one for each subject, for a moment two while a run is
        projected anew.
        """
        return self._every(runs.c.subject, subjects)

    def called(self, run_ids: Collection[str], scope: str | None = None) -> tuple[RunRow, ...]:
        """The runs with these client's ids, in one capture scope or in all (None); by id."""
        return self._every(runs.c.run_id, run_ids, *_within(scope))

    def first_of_runs(self, of: Collection[str]) -> tuple[RunRow, ...]:
        """Per run vertex its own run, where any event of it came, else the part of it that started
        first (``RunRow.part``): a Spark application shares its vertex with its commands.

        By id; a seek for each name of each.
        """
        rows: list[RunRow] = []
        with self._read() as connection:
            for chunk in chunks(sorted(names_of_runs(connection, of)), AT_ONCE):
                rows += _read_runs(connection, _first_of_runs(), at_values(chunk))
        first: dict[str, RunRow] = {}
        for row in sorted(rows, key=lambda row: (row.part, *_by_start(row))):
            first.setdefault(row.run, row)
        return tuple(sorted(first.values(), key=_by_id))

    def below(self, run_ids: Collection[str], scope: str | None, limit: int) -> Rows[RunRow]:
        """The runs whose parent is one of these, in one capture scope or all (None), by start."""
        return self._first(runs.c.parent_run, run_ids, limit, *_within(scope))

    def heard_below(self, rows: Iterable[RunRow]) -> dict[tuple[str, str], int]:
        """Per (run id, scope) of these runs when those below it, at any level, last sent an event;
        runs with none below are left out.
        """
        heard = self._rows_beside(_heard_below(), {(row.run_id, row.scope) for row in rows})
        return {(run_id, scope): last for run_id, scope, last in heard if last is not None}

    def of_job(self, job: str, at: int | None, limit: int) -> Rows[RunRow]:
        """The newest runs of a job that had started at or before ``at``, newest first."""
        order = (runs.c.started_at.desc(), runs.c.id.desc())
        asked = sa.select(runs).where(runs.c.job == job, *until(runs.c.started_at, at))
        with self._read() as connection:
            asked = asked.order_by(*order).limit(checked_limit(limit) + 1)
            return _rows(_read_runs(connection, asked), limit)

    def _every(
        self, column: sa.ColumnElement[str], values: Collection[str], *more: Any
    ) -> tuple[RunRow, ...]:
        rows: list[RunRow] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(values))):
                rows += _read_runs(connection, sa.select(runs).where(column.in_(chunk), *more))
        return tuple(sorted(rows, key=_by_id))

    def _first(
        self, column: sa.ColumnElement[str], values: Collection[str], limit: int, *more: Any
    ) -> Rows[RunRow]:
        rows: list[RunRow] = []
        order = (runs.c.started_at, runs.c.id)
        with self._read() as connection:
            for chunk in chunks(sorted(set(values))):
                asked = sa.select(runs).where(column.in_(chunk), *more).order_by(*order)
                rows += _read_runs(connection, asked.limit(checked_limit(limit) + 1))
        return _rows(sorted(rows, key=_by_start), limit)


def _read_runs(
    connection: Connection, asked: sa.Select[Any], values: Mapping[str, Any] | None = None
) -> list[RunRow]:
    rows = connection.execute(asked, values)
    return under_applications(connection, [RunRow(*row) for row in rows])


@lru_cache
def _first_of_runs() -> sa.Select[Any]:
    asked, seen = input_column(), runs.alias("seen").c
    first = (
        sa.select(seen.id)
        .where(seen.run == asked.c.value)
        .order_by(*first_of_run(seen))
        .limit(1)
        .scalar_subquery()
    )
    return sa.select(runs).join_from(asked, runs, runs.c.id == first)


@made_once
def _heard_below() -> sa.Select[Any]:
    asked = input_table((("run_id", StoredId()), ("scope", StoredText())))
    return sa.select(asked.c.run_id, asked.c.scope, heard_below(asked))


def _within(scope: str | None) -> tuple[sa.ColumnElement[bool], ...]:
    return () if scope is None else (runs.c.scope == scope,)


def _rows(rows: list[RunRow], limit: int) -> Rows[RunRow]:
    return Rows(tuple(rows[:limit]), len(rows) > limit)


def _by_id(row: RunRow) -> str:
    return row.id


def _by_start(row: RunRow) -> tuple[int, str]:
    return row.started_at, row.id


class FacetRecords(CatalogueReader):
    """Facets of datasets, jobs, logical plans and runs; those that ``hidden`` jobs (ids) sent count
    for nothing.
    """

    def __init__(
        self, engine: Engine, held: Connection | None = None, hidden: Collection[str] = ()
    ) -> None:
        super().__init__(engine, held)
        self._hidden = hidden

    def without(self, hidden: Collection[str]) -> FacetRecords:
        """The same facets without those that these jobs (ids; others are ignored) sent."""
        return FacetRecords(self._engine, self._held, hidden)

    def newest(self, entities: Collection[str], kind: str, at: int | None) -> tuple[FacetRow, ...]:
        """Per entity and name the newest facet of a kind, or its deletion; by entity and name.

        Of several at one time it is the one with the greatest (subject, digest).
        """
        newest: dict[tuple[str, str], FacetRow] = {}
        for row in self._newest(entities, kind, at):
            key = (row.entity, row.name)
            if key not in newest or _preference(row) > _preference(newest[key]):
                newest[key] = row
        return tuple(newest[key] for key in sorted(newest))

    def entities(self, kind: str, name: str) -> tuple[str, ...]:
        """Every entity that ever had this facet, deleted or not; by id."""
        own = facets.c
        asked = sa.select(own.entity).where(own.kind == kind, own.name == name).distinct()
        with self._read() as connection:
            return tuple(sorted(connection.execute(asked).scalars()))

    def checks(self, entities: Collection[str], at: int | None) -> tuple[FacetRow, ...]:
        """Per entity and check the rows of its newest time, unless they are older than the newest
        deletion of all checks of the entity.
        """
        rows = tuple(self._newest(entities, CHECK, at))
        deleted = {row.entity: row.at for row in rows if row.deleted}
        return tuple(
            sorted(
                row
                for row in rows
                if not row.deleted and row.at > deleted.get(row.entity, row.at - 1)
            )
        )

    def _newest(self, entities: Collection[str], kind: str, at: int | None) -> Iterable[FacetRow]:
        hidden = {"hidden": self._hidden} if self._hidden else {}
        asked = _newest_of_kind(is_hiding=bool(hidden))
        rows = self._rows_for(asked, entities, at, fixed=kind, **hidden)
        return [FacetRow(*row) for row in rows]

    def recent(
        self, entity: str, kind: str, name: str, at: int | None, limit: int
    ) -> tuple[FacetRow, ...]:
        """The newest facets of one name, newest first; the cost depends on the limit alone."""
        columns = facets.c
        chosen = [columns.entity == entity, columns.kind == kind, columns.name == name]
        order = [columns[field].desc() for field in ("at", "subject", "digest", "job")]
        chosen += [*until(columns.at, at), *self._visible()]
        asked = sa.select(facets).where(*chosen).order_by(*order)
        with self._read() as connection:
            rows = connection.execute(asked.limit(checked_limit(limit)))
            return tuple(FacetRow(*row) for row in rows)

    def history(
        self,
        entity: str,
        *,
        kind: str | None = None,
        name: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[FacetRow]:
        """Newest first; checks and readers' schemas are no facets. A foreign cursor raises
        InvalidReference.
        """
        columns = facets.c
        chosen = [columns.entity == entity, *until(columns.at, at), *self._visible()]
        chosen.append(columns.kind.not_in(_CONTENTS) if kind is None else columns.kind == kind)
        chosen += [] if name is None else [columns.name == name]
        names = ("at", "kind", "name", "subject", "digest", "job")
        keys = ListKeys("facets", True, [columns[field] for field in names])
        with self._read() as connection:
            rows, following = keys.read(connection, sa.select(facets).where(*chosen), cursor, limit)
            total = count_rows(connection, facets, chosen)
        return Page(tuple(FacetRow(*row) for row in rows), total, following)

    def _visible(self) -> tuple[sa.ColumnElement[bool], ...]:
        return excluding(facets.c.job, self._hidden)

    def bodies(self, digests: Collection[str]) -> dict[str, str]:
        """Per digest the facet's content as JSON."""
        return dict(self._rows_for(_BODIES, digests))


@made_once
def _newest_of_kind(*, is_hiding: bool) -> sa.Select[Any]:
    """Per entity and name its newest rows, of those of the kind ``fixed``, without those of the
    jobs ``hidden``.

    A seek for each pair, whatever number of rows holds it; behind it the rows of hidden jobs that
    are newer are read.
    """
    kind: sa.ColumnElement[str] = sa.bindparam("fixed", type_=StoredText(), required=True)
    listed, seen = facets.alias("listed").c, facets.alias("seen").c
    pairs = pairs_from(listed.entity, listed.name, input_column(), listed.kind == kind)
    latest = (
        sa.select(sa.func.max(seen.at))
        .where(
            seen.entity == pairs.c.first,
            seen.kind == kind,
            seen.name == pairs.c.second,
            until_input(seen.at),
            *excluding_hidden(seen.job, is_hiding),
        )
        .scalar_subquery()
    )
    # Once a pair, not once a row of it: the name keeps the planner from looking inside.
    newest = sa.select(pairs.c.first, pairs.c.second, latest.label("at")).cte("newest")
    own = facets.c
    same = (own.entity == newest.c.first, own.kind == kind, own.name == newest.c.second)
    asked = sa.select(facets).join_from(newest, facets, sa.and_(*same, own.at == newest.c.at))
    return asked.where(*excluding_hidden(own.job, is_hiding))


def _preference(row: FacetRow) -> tuple[str, str]:
    return row.subject, row.digest


class RunFacets(CatalogueReader):
    """The facets of the runs that wrote datasets last."""

    def run_facets(
        self, targets: Collection[str], names: Collection[str], at: int | None
    ) -> tuple[RunFacet, ...]:
        """Per (target, logical plan) these facets of the newest run that wrote the target, or
        failed to, at or before ``at``; a run without such facets is left out.

        A seek for each (target, logical plan), whatever its history.
        """
        newest: dict[tuple[str, str], Any] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(targets)), AT_ONCE):
                asked = at_values(chunk, at)
                for state in labels.STATES:
                    for row in connection.execute(_newest(), asked | {"state": state}):
                        key = (row.target, row.logical_plan)
                        if key not in newest or _order(newest[key]) < _order(row):
                            newest[key] = row
            return tuple(_read(connection, list(newest.values()), names))


def _order(row: Any) -> tuple[int, str]:
    return row.at, row.id


@lru_cache
def _newest() -> sa.Select[Any]:
    """Of each pair of a target and a plan the newest execution in a state; made once."""
    listed, seen = executions.alias("listed").c, executions.alias("seen").c
    state = sa.bindparam("state", type_=StoredText(), required=True)
    asked = input_column()
    wrote = (listed.kind == labels.WRITE_KIND, listed.state == state)
    pairs = pairs_from(listed.target, listed.logical_plan, asked, *wrote)
    newest = (
        sa.select(seen.id)
        .where(
            seen.target == pairs.c.first,
            seen.kind == labels.WRITE_KIND,
            seen.state == state,
            seen.logical_plan == pairs.c.second,
            until_input(seen.at),
        )
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    row = executions.c
    fields = (row.id, row.target, row.logical_plan, row.subject, row.job, row.at)
    return sa.select(*fields).join_from(pairs, executions, row.id == newest)


def _read(connection: Connection, rows: Sequence[Any], names: Collection[str]) -> list[RunFacet]:
    newest: dict[tuple[str, str], tuple[int, str]] = {}
    for chunk in chunks(sorted({row.subject for row in rows})):
        columns = facets.c
        asked = sa.select(columns.entity, columns.name, columns.at, columns.digest).where(
            columns.entity.in_(chunk),
            columns.kind == "run",
            columns.name.in_(sorted(set(names))),
            sa.not_(columns.deleted),
        )
        for entity, name, at, digest in connection.execute(asked):
            newest[entity, name] = max((at, digest), newest.get((entity, name), (at, digest)))
    by_subject: dict[str, list[tuple[str, str]]] = {}
    for (entity, name), (_, digest) in newest.items():
        by_subject.setdefault(entity, []).append((name, digest))
    return sorted(
        RunFacet(row.target, row.job, row.at, name, digest)
        for row in rows
        for name, digest in by_subject.get(row.subject, ())
    )


class SchemaHistory(NodeLookup):
    """Which schema a dataset has, and which plans use it.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        """Per dataset the schema that the newest completed execution (at or before ``at``) used.

        SchemaUseRow links plans to schemas; a write beats a read at the same time. A dataset that
        only plans without a completed execution touch gets the schema of the plan with the
        greatest id, so that its page is not empty. Datasets without any schema are left out.
        """
        with self.snapshot() as same:
            chosen = same.newest_schema_ids(datasets, at)
            rows = {row.id: row for row in same.schemas(set(chosen.values()))}
        return {dataset: rows[schema] for dataset, schema in chosen.items()}

    def newest_schema_ids(self, datasets: Collection[str], at: int | None) -> dict[str, str]:
        """The ids of ``newest_schemas``.

        Among equal times and roles the greatest ids of the plan and of the schema come first.
        """
        with self._read() as connection:
            uses: dict[str, list[_Use]] = {}
            for dataset, schema, time in rows_for(connection, _described(), datasets, at):
                uses[dataset] = [_Use("", dataset, schema, labels.WRITE, time, time)]
            alone = set(datasets) - uses.keys()
            chosen = _only_schemas(connection, alone) if at is None else {}
            left = set(datasets) - chosen.keys()
            for use in map(_Use._make, rows_for(connection, _schema_uses(), left, at)):
                uses.setdefault(use.dataset, []).append(use)
        for dataset, candidates in uses.items():
            schema = _newest_schema(candidates)
            if schema is not None:
                chosen[dataset] = schema
        return chosen

    def changed_schemas(self, datasets: Collection[str]) -> set[str]:
        """Those of the datasets whose newest schema depends on the time: they have several, or one
        from events about them alone.
        """
        with self._read() as connection:
            described = {row[0] for row in rows_for(connection, _described(), datasets)}
            return described | (set(datasets) - _only_schemas(connection, datasets).keys())

    def schema_uses(self, dataset: str, limit: int = 5_000) -> tuple[SchemaUseRow, ...]:
        """The plans that read or write a dataset, with their schemas; writing plans come first."""
        columns = schema_uses.c
        asked = (
            sa.select(schema_uses)
            .where(columns.dataset == dataset)
            .order_by(columns.role != labels.WRITE, columns.logical_plan, columns.schema)
            .limit(limit)
        )
        with self._read() as connection:
            return tuple(SchemaUseRow(*row) for row in connection.execute(asked))


class _Use(NamedTuple):
    """A SchemaUseRow with the newest execution of its plan at a time, and at any; ``logical_plan``
    "" for an event about the dataset alone.
    """

    logical_plan: str
    dataset: str
    schema: str
    role: str
    latest: int | None
    ever: int | None


def _only_schemas(connection: Connection, datasets: Collection[str]) -> dict[str, str]:
    """The schemas of the datasets that have only one, of any plan and time."""
    used: dict[str, set[str]] = {}
    for dataset, schema in rows_for(connection, _used_schemas(), datasets):
        used.setdefault(dataset, set()).add(schema)
    return {dataset: min(schemas) for dataset, schemas in used.items() if len(schemas) == 1}


@made_once
def _used_schemas() -> sa.Select[Any]:
    """Datasets with the schemas that are known of them."""
    uses = schema_uses.c
    return (
        sa.select(uses.dataset, uses.schema)
        .distinct()
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_input(uses.dataset))
    )


@made_once
def _described() -> sa.Select[Any]:
    """Datasets with the newest schema that events about them alone gave them, and its time."""
    asked, seen, own = input_column(), facets.alias("seen").c, facets.c
    newest = (
        sa.select(sa.func.max(seen.at))
        .where(seen.entity == asked.c.value, seen.kind == DESCRIBED, until_input(seen.at))
        .scalar_subquery()
    )
    return (
        sa.select(asked.c.value, sa.func.max(own.name), own.at)
        .join_from(
            asked,
            facets,
            sa.and_(own.entity == asked.c.value, own.kind == DESCRIBED, own.at == newest),
        )
        .group_by(asked.c.value, own.at)
    )


@made_once
def _schema_uses() -> sa.Select[Any]:
    """The uses of schemas that are known, each with the time of its plan's newest execution."""
    uses = schema_uses.c

    def newest(*limit: sa.ColumnElement[bool]) -> Any:
        seen = executions.c
        return (
            sa.select(sa.func.max(seen.at))
            .where(
                seen.logical_plan == uses.logical_plan,
                *successful(seen, writes_only=False),
                *limit,
            )
            .scalar_subquery()
        )

    latest = newest(until_input(executions.c.at)).label("latest")
    return (
        sa.select(schema_uses, latest, newest().label("ever"))
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_input(uses.dataset))
    )


def _newest_schema(uses: list[_Use]) -> str | None:
    seen = [use for use in uses if use.latest is not None]
    if not seen and any(use.ever is not None for use in uses):
        return None  # no execution had used a schema at that time
    best = max(
        seen or uses,
        key=lambda use: (
            -1 if use.latest is None else use.latest,
            use.role == labels.WRITE if seen else False,
            use.logical_plan,
            use.role == labels.WRITE,
            use.schema,
        ),
    )
    return best.schema
