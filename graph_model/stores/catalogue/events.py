"""Lists of executions and data sources with filters and any order.

A list walks ``executions`` (or ``datasets``) and joins nothing that neither filter nor order
needs; the other columns of the page are fetched for that page alone. Sorting by the time, and the
history of one dataset, follow an index; a search and the other orders look at every row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import MAIN_BRANCH, DatasetRow, ExecutionPlanRow, ExecutionRow
from graph_model.labels import CTAS_COMMANDS
from graph_model.stores.catalogue.executions import newest_executions
from graph_model.stores.catalogue.names import BY_IDS
from graph_model.stores.catalogue.reading import (
    MATERIALIZED,
    CatalogueReader,
    application_of,
    excluding,
    input_column,
    made_once,
    rows_for,
    successful,
    under_applications,
    until,
)
from graph_model.stores.catalogue.search import holds
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    arrivals,
    datasets,
    event_labels,
    events,
    execution_plans,
    executions,
    fold,
    names,
    schema_uses,
)
from graph_model.stores.catalogue_values import (
    EventFilter,
    EventRecord,
    ListPage,
    SortField,
    SortOrder,
    WriteRecord,
)
from graph_model.stores.database import chunks, count_rows, none_of
from graph_model.values import plain

_event: Final[Any] = events.alias("own_event").c
_Conditions = list[sa.ColumnElement[bool]]
_MOST_DISTINCT: Final = 10_000
_MOMENTS: Final = 100
_EXECUTIONS_HAVE: Final = (
    SortField.TIMESTAMP, SortField.EXECUTION_EVENT_ID, SortField.EXECUTION_PLAN_ID,
)  # fmt: skip
_DATA_SOURCES_HAVE: Final = (SortField.DATA_SOURCE_NAME, SortField.DATA_SOURCE_URI)
#: From a plan's document; an OpenLineage event, which has none, has these fields itself.
_SYSTEM: Final = sa.func.coalesce(execution_plans.c.system, sa.func.nullif(events.c.system, ""))
_APPLICATION: Final = sa.func.coalesce(
    execution_plans.c.name, sa.func.nullif(events.c.application, "")
)
#: What a job says of itself: a list of data sources leaves it out where the job is hidden.
_OF_A_JOB: Final = (SortField.APPLICATION_NAME, SortField.APPLICATION_ID, SortField.ERROR)
_SORTED: Final[dict[SortField, tuple[Any, ...]]] = {
    SortField.EXECUTION_EVENT_ID: (executions.c.plan_id, executions.c.at),
    SortField.EXECUTION_PLAN_ID: (executions.c.plan_id,),
    SortField.FRAMEWORK_NAME: (_SYSTEM,),
    SortField.APPLICATION_NAME: (_APPLICATION,),
    SortField.APPLICATION_ID: (application_of(executions.c),),
    SortField.TIMESTAMP: (executions.c.at,),
    SortField.DURATION_NS: (executions.c.duration_ns,),
    SortField.DATA_SOURCE_NAME: (datasets.c.name,),
    SortField.DATA_SOURCE_URI: (datasets.c.uri,),
    SortField.DATA_SOURCE_TYPE: (events.c.format,),
    SortField.APPEND: (events.c.append,),
    SortField.ERROR: (executions.c.error,),
}
_JOINED: Final = (
    (execution_plans, execution_plans.c.id == executions.c.execution_plan),
    (datasets, datasets.c.id == executions.c.target),
    (events, events.c.execution == executions.c.id),
)
#: The tables that each sort needs.
_NEEDED: Final = {
    field: frozenset(sa.select(*columns).get_final_froms()) for field, columns in _SORTED.items()
}


class Events(CatalogueReader):
    """The catalogue's answers for the consumer API. Raises Unavailable."""

    def executions(self, event_filter: EventFilter, page: ListPage) -> tuple[EventRecord, ...]:
        """One page of events."""
        source: Any = executions
        for table, condition in _JOINED:
            if table in _NEEDED[page.sort]:
                source = source.outerjoin(table, condition)
        listed = sa.select(executions.c.id).select_from(source).where(*_chosen(event_filter))
        order = _order(page, _EXECUTIONS_HAVE)
        listed = listed.order_by(*order, executions.c.at.desc(), executions.c.id.desc())
        with self._read() as connection:
            ids = list(connection.execute(_cut(listed, page)).scalars())
            written = _records(connection, ids)
        return tuple(written[key] for key in ids if key in written)

    def count_executions(self, event_filter: EventFilter) -> int:
        """The number of rows on all pages."""
        with self._read() as connection:
            return count_rows(connection, executions, _chosen(event_filter))

    def repeated_writes(self, event_filter: EventFilter, most: int) -> tuple[tuple[str, str], ...]:
        """(target, application id) where the executions listed may report one write twice: by
        several producers, or one of ``labels.CTAS_COMMANDS``. Only the newest ``most`` of the
        executions are compared.

        In the order of their newest executions, newest first.
        """
        own = executions.c
        newest = (
            sa.select(own.target, own.at, own.producer, own.command)
            .add_columns(application_of(own).label("application"))
            .where(*_chosen(event_filter))
            .order_by(own.at.desc(), own.id.desc())
            .limit(most)
            .subquery("newest")
        )
        columns = newest.c
        several = sa.func.min(columns.producer) != sa.func.max(columns.producer)
        double = sa.func.max(sa.case((columns.command.in_(CTAS_COMMANDS), 1), else_=0))
        pairs = (
            sa.select(columns.target, columns.application)
            .where(columns.application != "")
            .group_by(columns.target, columns.application)
            .having(sa.or_(several, double == 1))
            .order_by(sa.func.max(columns.at).desc(), columns.target, columns.application)
        )
        with self._read() as connection:
            return tuple((target, name) for target, name in connection.execute(pairs))

    def listed(self, event_filter: EventFilter, ids: Collection[str]) -> frozenset[str]:
        """The executions among these that are listed, on whatever page."""
        listed: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(ids))):
                chosen = sa.select(executions.c.id).where(executions.c.id.in_(chunk))
                listed.update(connection.execute(chosen.where(*_chosen(event_filter))).scalars())
        return frozenset(listed)

    def execution_times(self, event_filter: EventFilter) -> tuple[int, int] | None:
        """The first and last time; the requested window is ignored.

        First and last time of all that the other conditions choose: each by a walk over the
        index of times that ends at the first execution found.
        """
        at = executions.c.at
        chosen = sa.select(at).where(*_chosen(event_filter, window=False)).limit(1)
        first, last = chosen.order_by(at), chosen.order_by(at.desc())
        return self._times(sa.select(first.scalar_subquery(), last.scalar_subquery()))

    def data_sources(self, event_filter: EventFilter, page: ListPage) -> tuple[EventRecord, ...]:
        """One item for each dataset, with its last execution by (time, id), failed ones too.

        One page of data sources.
        """
        joined, conditions = _data_sources(event_filter)
        listed = (
            sa.select(datasets.c.id, executions.c.id.label("write"))
            .select_from(joined)
            .where(*conditions)
            .order_by(
                *_order(page, _DATA_SOURCES_HAVE, event_filter.hidden),
                datasets.c.uri,
                datasets.c.id,
            )
        )
        with self._read() as connection:
            pairs = [tuple(row) for row in connection.execute(_cut(listed, page))]
            written = _records(connection, [write for _, write in pairs if write is not None])
            rows = _datasets(connection, [key for key, _ in pairs])
        return tuple(
            EventRecord(rows[key], written[write].write if write in written else None)
            for key, write in pairs
            if key in rows
        )

    def count_data_sources(self, event_filter: EventFilter) -> int:
        """The number of rows on all pages."""
        joined, conditions = _data_sources(event_filter)
        with self._read() as connection:
            return count_rows(connection, joined, conditions)

    def data_source_times(self, event_filter: EventFilter) -> tuple[int, int] | None:
        """First and last of the last writes."""
        joined, conditions = _data_sources(event_filter, window=False)
        at = executions.c.at
        chosen = sa.select(sa.func.min(at), sa.func.max(at)).select_from(joined)
        return self._times(chosen.where(*conditions))

    def _times(self, asked: sa.Select[Any]) -> tuple[int, int] | None:
        with self._read() as connection:
            first, last = connection.execute(asked).one()
        return None if first is None else (first, last)

    def executions_at(self, moments: Collection[tuple[str, int]]) -> tuple[ExecutionRow, ...]:
        """For each (plan id, time) the executions of the plan id at exactly this time; by id.

        By id. SQLite cannot seek pairs in an index, so the statement finds all combinations of
        the given plan ids and times.
        """
        reported: list[ExecutionRow] = []
        own = executions.c
        with self._read() as connection:
            for chunk in chunks(sorted(set(moments)), _MOMENTS):
                asked = sa.select(*STORAGE_OF[ExecutionRow].fields).where(
                    own.plan_id.in_(sorted({plan_id for plan_id, _ in chunk})),
                    own.at.in_(sorted({at for _, at in chunk})),
                )
                pairs = set(chunk)
                rows = [ExecutionRow(*row) for row in connection.execute(asked)]
                kept = [row for row in rows if (row.plan_id, row.at) in pairs]
                reported += under_applications(connection, kept)
        return tuple(sorted(reported, key=lambda row: row.id))

    def newest_of_plans(self, plans: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per logical plan its newest completed write at or before ``at``.

        Completed writes alone.
        """
        with self._read() as connection:
            return newest_executions(connection, "logical_plan", plans, at, only="writes")

    def first_of_plans(self, plans: Collection[str], after: int) -> dict[str, int]:
        """Per logical plan the time of its first completed write after this one.

        Completed writes alone.
        """
        rows = self._rows_for(_first_of_plans(), plans, after=after)
        return {plan: at for plan, at in rows if at is not None}

    def next_overwrite(self, execution: ExecutionRow, but: Collection[str] = ()) -> int | None:
        """The time of the first completed full overwrite of its target, and of the branch that it
        wrote, after this execution.

        ``but``: ids of executions that report the same write.
        """
        columns = executions.c
        asked = sa.select(sa.func.min(columns.at)).where(
            columns.target == execution.target,
            columns.branch == execution.branch,
            columns.mode == sa.literal(labels.OVERWRITE, literal_execute=True),  # for its index
            *successful(columns, writes_only=True),
            columns.at > execution.at,
            *excluding(columns.id, but),
        )
        with self._read() as connection:
            next_at: int | None = connection.execute(asked).scalar()
        return next_at

    def plan_ids(
        self, at: int | None, offset: int, limit: int, hidden: Collection[str] = ()
    ) -> tuple[tuple[str, ...], int]:
        """Plan ids with an execution at or before ``at``, by their newest one; and how many there
        are. Executions of ``hidden`` jobs or datasets (ids) do not count.

        By the newest execution of each plan, newest first: a walk of an index for each plan.
        """
        own, plans = executions.c, sa.select(execution_plans.c.plan_id).distinct().cte("plans")
        newest = (
            sa.select(own.at)
            .where(own.plan_id == plans.c.plan_id, *until(own.at, at))
            .where(_has_document(), _has_target(), *_visible(hidden))
            .order_by(own.at.desc())
            .limit(1)
        )
        ran = (
            sa.select(plans.c.plan_id, newest.scalar_subquery().label("at"))
            .cte("ran")
            .prefix_with(MATERIALIZED)
        )
        known = sa.select(ran.c.plan_id).where(ran.c.at.is_not(None))
        listed = known.order_by(ran.c.at.desc(), ran.c.plan_id).offset(offset).limit(limit)
        with self._read() as connection:
            shown = tuple(connection.execute(listed).scalars())
            return shown, count_rows(connection, known.subquery())

    def plans(self, ids: Collection[str]) -> tuple[ExecutionPlanRow, ...]:
        """The rows of plan documents by their own ids.

        By id.
        """
        rows = self._rows_for(BY_IDS[ExecutionPlanRow], ids)
        return tuple(sorted(ExecutionPlanRow(*row) for row in rows))

    def label_names(self, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """Of executions, without those of ``hidden`` jobs or datasets (ids).

        At most 10,000, sorted.
        """
        return self._distinct(event_labels.c.name, (), hidden)

    def label_values(self, name: str, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """As ``label_names``.

        At most 10,000, sorted.
        """
        return self._distinct(event_labels.c.value, (event_labels.c.name == name,), hidden)

    def _distinct(
        self,
        column: sa.ColumnElement[str],
        chosen: Sequence[sa.ColumnElement[bool]],
        hidden: Collection[str],
    ) -> tuple[str, ...]:
        asked = sa.select(column).where(*chosen).distinct().order_by(column).limit(_MOST_DISTINCT)
        if hidden:
            asked = asked.join_from(
                event_labels, executions, executions.c.id == event_labels.c.execution
            ).where(*_visible(hidden))
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())


@made_once
def _first_of_plans() -> sa.Select[Any]:
    """A seek for each plan."""
    asked, seen = input_column(), executions.alias("seen").c
    first = (
        sa.select(seen.at)
        .where(
            seen.logical_plan == asked.c.value,
            *successful(seen, writes_only=True),
            seen.at > sa.bindparam("after", type_=sa.BigInteger(), required=True),
        )
        .order_by(seen.at)
        .limit(1)
        .scalar_subquery()
    )
    return sa.select(asked.c.value, first)


# --- conditions ----------------------------------------------------------------------------------


def _chosen(event_filter: EventFilter, *, window: bool = True) -> _Conditions:
    """The conditions on executions, whatever else the statement joins."""
    columns = executions.c
    chosen = [*_is_known(), *_execution_conditions(event_filter, window=window)]
    chosen += [*excluding(columns.id, event_filter.without), *_visible(event_filter.hidden)]
    if event_filter.targets is not None:
        chosen.append(columns.target.in_(sorted(event_filter.targets)))
    if event_filter.append:
        wanted = [mode for mode in event_filter.append if mode is not None]
        chosen.append(_has_event(_event.append.in_(wanted)))
    if event_filter.search:
        chosen.append(_has_event(holds(_event.words, plain(event_filter.search))))
    return chosen


def _is_known() -> _Conditions:
    """The conditions that the dataset is known, and the plan's document or, for OpenLineage's runs,
    which have none, the event.
    """
    from_event = sa.and_(executions.c.execution_plan == "", _has_event(sa.true()))
    return [sa.or_(_has_document(), from_event), _has_target()]


def _has_document() -> sa.ColumnElement[bool]:
    plan = execution_plans.alias("known_plan").c
    return sa.select(plan.id).where(plan.id == executions.c.execution_plan).exists()


def _has_target() -> sa.ColumnElement[bool]:
    dataset = datasets.alias("known_dataset").c
    return sa.select(dataset.id).where(dataset.id == executions.c.target).exists()


def _execution_conditions(event_filter: EventFilter, *, window: bool) -> _Conditions:
    """The conditions of both kinds of list on the execution itself."""
    columns = executions.c
    chosen: _Conditions = [*_received(columns.id, event_filter.received_by)]
    if window and event_filter.since is not None:
        chosen.append(columns.at >= event_filter.since)
    if window and event_filter.until is not None:
        chosen.append(columns.at <= event_filter.until)
    if event_filter.application_id is not None:
        chosen.append(application_of(columns) == event_filter.application_id)
    for name, values in event_filter.labels:
        own = event_labels.c
        labelled = sa.select(own.execution).where(
            own.execution == columns.id, own.name == name, own.value.in_(values)
        )
        chosen.append(labelled.exists())
    return chosen


def _has_event(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return (
        sa.select(_event.execution).where(_event.execution == executions.c.id, condition).exists()
    )


def _visible(hidden: Collection[str]) -> _Conditions:
    """The conditions that neither job nor dataset of an execution is hidden."""
    return [*excluding(executions.c.target, hidden), *excluding(executions.c.job, hidden)]


def _received(reported: sa.ColumnElement[str], by: int | None) -> _Conditions:
    """The condition that a document about an execution or a plan had arrived by then."""
    if by is None:
        return []
    own = arrivals.alias("arrived").c
    return [sa.select(own.told).where(own.told == reported, own.received_at <= by).exists()]


def _dataset_received(by: int | None) -> _Conditions:
    """The condition that a plan or execution had reported a dataset by then, or that none did."""
    return [] if by is None else [sa.or_(_dataset_reported(by), sa.not_(_dataset_reported(None)))]


def _dataset_reported(by: int | None) -> sa.ColumnElement[bool]:
    plan, run, use = (
        table.alias(f"telling_{table.name}") for table in (execution_plans, executions, schema_uses)
    )
    of_plan = sa.select(plan.c.id).join_from(use, plan, plan.c.logical_plan == use.c.logical_plan)
    of_run = sa.select(run.c.id).join_from(use, run, run.c.logical_plan == use.c.logical_plan)
    own = use.c.dataset == datasets.c.id
    written = sa.select(run.c.id).where(run.c.target == datasets.c.id, *_received(run.c.id, by))
    return sa.or_(
        of_plan.where(own, *_received(plan.c.id, by)).exists(),
        of_run.where(own, run.c.execution_plan == "", *_received(run.c.id, by)).exists(),
        written.exists(),
    )


def _data_sources(event_filter: EventFilter, *, window: bool = True) -> tuple[Any, _Conditions]:
    """Data sources beside their last executions, declarations and writes to a branch aside, and the
    conditions on both.
    """
    own = executions.alias("last").c
    last = (
        sa.select(own.id)
        .where(
            own.target == datasets.c.id,
            own.branch == MAIN_BRANCH,
            own.kind != labels.DECLARATION_KIND,
            *_received(own.id, event_filter.received_by),
        )
        .order_by(own.at.desc(), own.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    joined = (
        datasets.outerjoin(executions, executions.c.id == last)
        .outerjoin(execution_plans, execution_plans.c.id == executions.c.execution_plan)
        .outerjoin(events, events.c.execution == executions.c.id)
    )
    # A catalog name with a known location is not listed beside its location.
    placed = sa.select(names.c.name).where(names.c.name == datasets.c.id).exists()
    chosen: _Conditions = [sa.or_(datasets.c.kind != "name", sa.not_(placed))]
    chosen += [
        *_dataset_received(event_filter.received_by),
        *excluding(datasets.c.id, event_filter.hidden),
    ]
    chosen += _execution_conditions(
        EventFilter(
            event_filter.since,
            event_filter.until,
            event_filter.application_id,
            labels=event_filter.labels,
        ),
        window=window,
    )
    # What a hidden job said of itself, its errors included, finds nothing.
    visible = excluding(executions.c.job, event_filter.hidden)
    if event_filter.application_id or event_filter.labels:
        chosen += visible
    if event_filter.targets is not None:
        chosen.append(datasets.c.id.in_(sorted(event_filter.targets)))
    if event_filter.append:
        chosen.append(_mode(event_filter.append))
    if event_filter.search:
        chosen.append(
            sa.or_(
                sa.and_(holds(events.c.words, plain(event_filter.search)), *visible),
                holds(datasets.c.search_text, fold(event_filter.search)),
                holds(datasets.c.search_name, fold(event_filter.search)),
            )
        )
    return joined, chosen


def _mode(append: Collection[bool | None]) -> sa.ColumnElement[bool]:
    wanted = [mode for mode in append if mode is not None]
    never: _Conditions = [executions.c.id.is_(None)] if None in append else []
    return sa.or_(events.c.append.in_(wanted), *never)


# --- order and rows ------------------------------------------------------------------------------


def _order(
    page: ListPage, never_null: Collection[SortField], hidden: Collection[str] = ()
) -> list[Any]:
    """By the given field; an unknown value counts as least, on every engine alike. What a
    ``hidden`` job (an id) said of itself is unknown.
    """
    terms: list[Any] = []
    for column in _SORTED[page.sort]:
        shown = column
        if page.sort in _OF_A_JOB and hidden:
            shown = sa.case((none_of(executions.c.job, hidden), column), else_=None)
        keys = [shown]
        if page.sort not in never_null:
            keys.insert(0, sa.case((shown.is_(None), 0), else_=1))
        terms += [key.asc() if page.order == SortOrder.ASCENDING else key.desc() for key in keys]
    return terms


def _cut(asked: sa.Select[Any], page: ListPage) -> sa.Select[Any]:
    return asked.offset(page.offset).limit(page.limit)


def _datasets(connection: Connection, ids: Iterable[str]) -> dict[str, DatasetRow]:
    rows = [DatasetRow(*row) for row in rows_for(connection, BY_IDS[DatasetRow], ids)]
    return {row.id: row for row in rows}


def _records(connection: Connection, ids: Sequence[str]) -> dict[str, EventRecord]:
    """Executions with the shown fields of their plans, datasets and events."""
    fields = STORAGE_OF[ExecutionRow].fields
    plans, shown = execution_plans.c, events.c
    records: dict[str, tuple[ExecutionRow, Any]] = {}
    for chunk in chunks(sorted(set(ids))):
        asked = (
            sa.select(
                *fields,
                _SYSTEM, _APPLICATION,
                shown.format, shown.append, shown.labels, shown.extra,
            )
            .outerjoin_from(
                executions, execution_plans, plans.id == executions.c.execution_plan
            )
            .outerjoin(events, shown.execution == executions.c.id)
            .where(executions.c.id.in_(chunk))
        )  # fmt: skip
        for row in connection.execute(asked):
            execution = ExecutionRow(*row[: len(fields)])
            records[execution.id] = (execution, row[len(fields) :])
    located = under_applications(connection, [execution for execution, _ in records.values()])
    rows = _datasets(connection, {execution.target for execution in located})
    twice = _ambiguous(connection, located)
    return {
        execution.id: EventRecord(
            rows[execution.target], _record(execution, records[execution.id][1], twice)
        )
        for execution in located
        if execution.target in rows
    }


def _record(execution: ExecutionRow, values: Any, twice: set[tuple[str, int]]) -> WriteRecord:
    system, application, kind, append, labelled, extra = values
    return WriteRecord(
        execution=execution,
        system=system or "",
        application=application or "",
        format=kind or "",
        append=execution.mode in labels.KEEPING_MODES if append is None else bool(append),
        labels=labelled or "{}",
        extra=extra or "{}",
        ambiguous=(execution.plan_id, execution.at) in twice,
    )


def _ambiguous(connection: Connection, rows: Sequence[ExecutionRow]) -> set[tuple[str, int]]:
    """The (plan id, time) that several executions share."""
    columns = executions.c
    shared: set[tuple[str, int]] = set()
    for chunk in chunks(sorted({(row.plan_id, row.at) for row in rows})):
        asked = (
            sa.select(columns.plan_id, columns.at)
            .where(
                columns.plan_id.in_(sorted({plan_id for plan_id, _ in chunk})),
                columns.at.in_(sorted({at for _, at in chunk})),
            )
            .group_by(columns.plan_id, columns.at)
            .having(sa.func.count() > 1)
        )
        shared.update((plan_id, at) for plan_id, at in connection.execute(asked))
    return shared
