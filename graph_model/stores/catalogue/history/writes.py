"""The writes that a read can have seen, for many datasets and times in one statement.

Every answer costs a seek or a bounded walk over an index, however long the history of a table is:
its last full overwrite is one seek, and of a table with more writes since then than an answer may
hold, each logical plan's newest are found by a seek for each plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import EVERY_BRANCH
from graph_model.stores.catalogue.history.write_columns import (
    bounds_of_plan,
    fields_of_write,
    in_place,
)
from graph_model.stores.catalogue.reading.applications import run_of
from graph_model.stores.catalogue.reading.conditions import successful
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    AT_ONCE,
    MATERIALIZED,
    input_table,
    input_values,
    made_once,
)
from graph_model.stores.catalogue.tables import executions, partitions
from graph_model.stores.database import StoredId, StoredText, chunks
from graph_model.stores.protocols import (
    NewestWrite,
    OlderWrites,
    ReadableWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
)

_BEGINNING: Final = -(2**62)
_SPAN: Final = (
    ("number", sa.BigInteger()), ("target", StoredId()), ("since", sa.BigInteger()),
    ("before", sa.BigInteger()), ("place", StoredId()), ("key", StoredText()),
    ("head", StoredText()), ("branch", StoredText()),
)  # fmt: skip


class SqlSpanWrites(CatalogueReader):
    """The writes by time of ``protocols.SeenWrites``."""

    def readable_writes(
        self, reads: Collection[tuple[Span, ...]], *, reach: int, most: int, per_plan: int
    ) -> dict[tuple[Span, ...], ReadableWrites]:
        """One statement, and a second one for spans with too many writes."""
        answers: dict[tuple[Span, ...], _SpanRows] = {}
        with self._read() as connection:
            for chunk in chunks(set(reads), AT_ONCE):
                answers |= _read_spans(connection, chunk, reach, most)
            long = {
                span for one in answers.values() if one.full for span in one.long(reach).values()
            }
            newest = _read_newest_of_each_plan(connection, long, per_plan)
        return {read: one.readable(reach, newest) for read, one in answers.items()}

    def writes(
        self, spans: Collection[Span], *, most: int, per_plan: int
    ) -> dict[Span, SpanWrites]:
        found: list[tuple[Span, Sequence[Any]]] = []
        full: set[Span] = set()
        with self._read() as connection:
            for chunk, parameters in _batches(spans):
                rows = _writes_of_spans().rows(connection, parameters | {"most": most})
                for number, cut, *values in rows:
                    if cut is not None:
                        full.add(chunk[number])
                    elif values[0] is not None:
                        found.append((chunk[number], values))
            long = _read_newest_of_each_plan(connection, full, per_plan)
        listed = _by_span(spans, found)
        return {span: SpanWrites(tuple(writes)) for span, writes in listed.items()} | long

    def newest_writes(self, spans: Collection[Span]) -> dict[Span, tuple[NewestWrite, ...]]:
        """A loose index scan over the plans of each target, then a seek for each of them."""
        found: dict[Span, list[NewestWrite]] = {span: [] for span in spans}
        with self._read() as connection:
            for chunk, parameters in _batches(spans):
                for number, run, *values in _newest_writes().rows(connection, parameters):
                    found[chunk[number]].append(NewestWrite(SuccessfulWrite(*values), run))
        return {span: tuple(rows) for span, rows in found.items()}

    def runs_with(self, asked: Collection[tuple[str, str, int]]) -> frozenset[tuple[str, str, int]]:
        """Of each plan the executions since the first one of the run, from an index."""
        found: set[tuple[str, str, int]] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(asked)), AT_ONCE):
                rows = ((number, *pair) for number, pair in enumerate(chunk))
                numbers = _plans_in_runs().rows(connection, input_values(rows))
                found.update(chunk[number] for (number,) in numbers)
        return frozenset(found)


@dataclass(slots=True)
class _SpanRows:
    """The rows of one read; of ``full``, its spans with too many writes, those at the floor."""

    floor: int | None
    declared: bool
    writes: dict[Span, tuple[SuccessfulWrite, ...]] = field(default_factory=dict)
    full: set[Span] = field(default_factory=set)

    def long(self, reach: int) -> dict[Span, Span]:
        """The spans with too many writes, each from where its writes count."""
        since = _BEGINNING if self.floor is None else self.floor - reach
        return {span: span._replace(since=since) for span in self.full}

    def readable(self, reach: int, newest: Mapping[Span, SpanWrites]) -> ReadableWrites:
        """With the newest writes of each plan where there are too many."""
        spans = {span: SpanWrites(writes) for span, writes in self.writes.items()}
        for span, long in self.long(reach).items():
            writes, older = newest[long]
            spans[span] = SpanWrites(tuple(dict.fromkeys((*self.writes[span], *writes))), older)
        return ReadableWrites(self.floor, spans, self.declared)


def _read_spans(
    connection: Connection, reads: Sequence[tuple[Span, ...]], reach: int, most: int
) -> dict[tuple[Span, ...], _SpanRows]:
    found = [_SpanRows(None, False) for _ in reads]
    spans = [(number, span) for number, read in enumerate(reads) for span in read]
    asked = input_values(
        (*_span_values(place, span), number) for place, (number, span) in enumerate(spans)
    )
    rows: defaultdict[int, list[SuccessfulWrite]] = defaultdict(list)
    for row in _writes_of_reads().rows(connection, asked | {"reach": reach, "most": most}):
        place, floor, declared, cut = row[:4]
        number, span = spans[place]
        own = found[number]
        own.floor = floor
        own.declared |= bool(declared)
        if cut is not None:
            own.full.add(span)
        if row[4] is not None:
            rows[place].append(SuccessfulWrite._make(row[4:]))
    _assign_writes(found, spans, rows)
    return dict(zip(reads, found, strict=True))


def _assign_writes(
    found: Sequence[_SpanRows],
    spans: Sequence[tuple[int, Span]],
    rows: Mapping[int, Sequence[SuccessfulWrite]],
) -> None:
    """Give each span its writes: the rows listed for it, or those listed for the span that differs
    from it in its end alone. ``spans`` have the numbers of their reads, ``rows`` the places of the
    spans.
    """
    shared: dict[Span, Sequence[SuccessfulWrite]] = {}
    for place, (number, span) in enumerate(spans):
        if place in rows and span not in found[number].full:
            shared[_without_end(span, found[number].floor)] = rows[place]
    for place, (number, span) in enumerate(spans):
        own = found[number]
        if span in own.full:
            listed = rows.get(place, ())
        else:
            listed = shared.get(_without_end(span, own.floor), ())
        own.writes[span] = tuple(row for row in listed if row.at < span.before)


def _without_end(span: Span, floor: int | None) -> Span:
    """Equal for spans that differ in their end alone: they share one list of writes."""
    since = _BEGINNING if floor is None else floor
    return span._replace(since=since, before=_BEGINNING, partition=_head(span))


@made_once
def _writes_of_reads() -> sa.Select[Any]:
    """The writes of each span since the last full overwrite before its read. Of spans that differ
    in their end alone only the one that ends last has its writes listed; a span with too many has
    those at the time of the overwrite.
    """
    spans = _with_end_ranks(_with_cuts(_since_floors(_with_last_overwrites())))
    of, row = spans.c, executions.alias("listed")
    at_floor = sa.and_(of.cut.is_not(None), of.floor.is_not(None))
    since = sa.case(
        (at_floor, of.floor),
        (sa.and_(of.cut.is_(None), of.ended == 1), of.since),
        else_=of.before,  # none
    )
    before = sa.case((at_floor, of.floor + 1), else_=of.before)
    listed = _in_span(row.c, spans, since=since, before=before)
    return sa.select(of.number, of.floor, of.declared, of.cut, *fields_of_write(row)).join_from(
        spans, row, sa.and_(*listed), isouter=True
    )


def _with_last_overwrites() -> sa.CTE:
    """The given spans, whose ``since`` is the time of the read, each with its target's ``last``
    full overwrite before that, and whether a declaration names the target.
    """
    asked, seen = input_table((*_SPAN, ("read", sa.BigInteger()))), executions.alias("seen").c
    last = (
        sa.select(seen.at)
        .where(
            seen.target == asked.c.target,
            *successful(seen, writes_only=True),
            seen.mode == labels.OVERWRITE,
            seen.branch == asked.c.branch,
            seen.at < asked.c.since,
            in_place(seen, asked.c),
        )
        .order_by(seen.at.desc())
        .limit(1)
        .scalar_subquery()
    )
    stated = (seen.target == asked.c.target, seen.kind == labels.DECLARATION_KIND)
    declared = sa.select(seen.id).where(*stated).exists()
    return sa.select(asked, last.label("last"), declared.label("declared")).cte("lasts")


def _since_floors(lasts: sa.CTE) -> sa.CTE:
    """The same with the ``floor`` of each read; ``since`` is ``reach`` before that."""
    floor = sa.func.max(lasts.c["last"]).over(partition_by=lasts.c["read"])
    floors = sa.select(lasts, floor.label("floor")).cte("floors")
    reach = sa.bindparam("reach", type_=sa.BigInteger(), required=True)
    since = sa.func.coalesce(floors.c.floor - reach, _BEGINNING)
    same = ("number", "target", "before", "place", "key", "head", "branch", "declared", "floor")
    return sa.select(*(floors.c[name] for name in same), since.label("since")).cte("ranges")


def _with_end_ranks(cuts: sa.CTE) -> sa.CTE:
    """The same with the rank ``ended`` of a span among those without a cut that differ from it in
    their end alone: 1 is the one that ends last.
    """
    of = cuts.c
    same = (of.target, of.since, of.place, of.key, of.head, of.branch, of.cut.is_(None))
    ended = sa.func.row_number().over(partition_by=same, order_by=of.before.desc())
    return sa.select(cuts, ended.label("ended")).cte("longest").prefix_with(MATERIALIZED)


def _by_span(
    spans: Collection[Span], found: Sequence[tuple[Span, Sequence[Any]]]
) -> dict[Span, list[SuccessfulWrite]]:
    rows: dict[Span, list[SuccessfulWrite]] = {span: [] for span in spans}
    for span, values in found:
        rows[span].append(SuccessfulWrite(*values))
    return rows


@made_once
def _writes_of_spans() -> sa.Select[Any]:
    """The writes of each span; for a span with more than ``most`` at least one row with a cut.

    Such a span is read from its end on, so that no row is in it: a condition on the cut would be
    checked on each row, because the join is an outer one.
    """
    cuts, row = _with_cuts(input_table(_SPAN)), executions.alias("listed")
    since = sa.case((cuts.c.cut.is_(None), cuts.c.since), else_=cuts.c.before)
    return sa.select(cuts.c.number, cuts.c.cut, *fields_of_write(row)).join_from(
        cuts, row, sa.and_(*_in_span(row.c, cuts, since=since)), isouter=True
    )


def _with_cuts(spans: sa.CTE) -> sa.CTE:
    """The same with the time of the first write too many, null where there is none."""
    seen = executions.alias("seen").c
    cut = (
        sa.select(seen.at)
        .where(*_in_span(seen, spans))
        .order_by(seen.at.desc())
        .limit(1)
        .offset(sa.bindparam("most", type_=sa.BigInteger(), required=True))
        .scalar_subquery()
    )
    return sa.select(spans, cut.label("cut")).cte("cuts").prefix_with(MATERIALIZED)


def _read_newest_of_each_plan(
    connection: Connection, spans: Collection[Span], per_plan: int
) -> dict[Span, SpanWrites]:
    found: list[tuple[Span, Sequence[Any]]] = []
    older: dict[Span, set[OlderWrites]] = {span: set() for span in spans}
    for chunk, parameters in _batches(spans):
        rows = _newest_of_each_plan().rows(connection, parameters | {"per_plan": per_plan})
        for number, plan, job, cut, first, *values in rows:
            span = chunk[number]
            if cut is not None:
                older[span].add(OlderWrites(plan, job, first, cut))
            if values[0] is not None:
                found.append((span, values))
    writes = _by_span(spans, found)
    return {
        span: SpanWrites(tuple(writes[span]), tuple(sorted(older[span], key=_order)))
        for span in spans
    }


def _order(older: OlderWrites) -> tuple[str, int]:
    return older.logical_plan, older.first


@made_once
def _newest_of_each_plan() -> sa.Select[Any]:
    """A loose index scan over the plans of a target, then a seek for each of them."""
    asked = input_table(_SPAN)
    plans = _plans_of(asked)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    # A plan writes one target. With a condition on it SQLite walks all writes of the target.
    own = (seen.logical_plan == plans.c.plan, *_in_period(seen, asked))
    groups = (
        sa.select(asked, plans.c.plan, *bounds_of_plan(seen, own))
        .join_from(plans, asked, asked.c.number == plans.c.number)
        .where(plans.c.plan.is_not(None))
        .cte("groups")
        .prefix_with(MATERIALIZED)
    )  # fmt: skip
    newest = sa.and_(
        row.c.logical_plan == groups.c.plan,
        *_in_period(row.c, groups, since=sa.func.coalesce(groups.c.cut + 1, groups.c.since)),
    )
    listed = (groups.c.number, groups.c.plan, groups.c.job, groups.c.cut, groups.c.first)
    return (
        sa.select(*listed, *fields_of_write(row))
        .join_from(groups, row, newest, isouter=True)
        .where(groups.c.first.is_not(None))
    )


@made_once
def _newest_writes() -> sa.Select[Any]:
    asked = input_table(_SPAN)
    plans = _plans_of(asked)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    newest = (
        sa.select(seen.id)
        .where(seen.logical_plan == plans.c.plan, *_in_period(seen, asked))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    chosen = (
        sa.select(asked.c.number, newest.label("newest"))
        .join_from(plans, asked, asked.c.number == plans.c.number)
        .where(plans.c.plan.is_not(None))
        .cte("chosen")
        .prefix_with(MATERIALIZED)
    )
    return sa.select(chosen.c.number, run_of(row.c), *fields_of_write(row)).join_from(
        chosen, row, row.c.id == chosen.c.newest
    )


@made_once
def _plans_in_runs() -> sa.Select[Any]:
    """The numbers of the given pairs of which the plan completed in the run."""
    asked = input_table(
        (
            ("number", sa.BigInteger()), ("plan", StoredId()), ("run", StoredId()),
            ("before", sa.BigInteger()),
        )
    )  # fmt: skip
    seen, first = executions.alias("seen").c, executions.alias("first").c
    began = sa.select(sa.func.min(first.at)).where(first.run == asked.c.run).scalar_subquery()
    within = sa.select(seen.id).where(
        seen.logical_plan == asked.c.plan,
        seen.at >= began,
        seen.at < asked.c.before,
        seen.run == asked.c.run,
        *successful(seen, writes_only=False),
        seen.kind != labels.DECLARATION_KIND,
    )
    return sa.select(asked.c.number).where(within.exists())


def _plans_of(asked: sa.CTE) -> sa.CTE:
    """Each span's number with every plan that ever wrote its target; the last one is null."""
    seen = executions.alias("seen").c

    def least(*more: sa.ColumnElement[bool]) -> Any:
        chosen = (*successful(seen, writes_only=True), *more)
        return sa.select(sa.func.min(seen.logical_plan)).where(*chosen).scalar_subquery()

    plans = sa.select(
        asked.c.number, asked.c.target, least(seen.target == asked.c.target).label("plan")
    ).cte("plans", recursive=True)
    following = least(seen.target == plans.c.target, seen.logical_plan > plans.c.plan)
    return plans.union_all(
        sa.select(plans.c.number, plans.c.target, following).where(plans.c.plan.is_not(None))
    )


def _batches(spans: Collection[Span]) -> Iterator[tuple[Sequence[Span], dict[str, Any]]]:
    """The spans, some at a time, with the parameter of their table; ``number`` is the place
    among these.
    """
    for chunk in chunks(sorted(set(spans)), AT_ONCE):
        rows = [_span_values(number, span) for number, span in enumerate(chunk)]
        yield chunk, input_values(rows)


def _span_values(number: int, span: Span) -> tuple[Any, ...]:
    """``dt=1/h=2`` => key ``dt=``, head ``dt=1``."""
    head = _head(span)
    key, separator, _ = head.partition("=")
    return (
        number, span.target, span.since, span.before, span.place, key + separator, head, span.branch
    )  # fmt: skip


def _head(span: Span) -> str:
    return span.partition.partition("/")[0]


def _in_span(
    row: Any, asked: sa.CTE, **period: sa.ColumnElement[int]
) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (columns of the table or an alias) lies in a span; ``since``
    and ``before`` replace the period of the span.
    """
    return (row.target == asked.c.target, *_in_period(row, asked, **period))


def _in_period(
    row: Any,
    asked: sa.CTE,
    *,
    since: sa.ColumnElement[int] | None = None,
    before: sa.ColumnElement[int] | None = None,
) -> tuple[sa.ColumnElement[bool], ...]:
    """As ``_in_span``, for an execution that is known to have the target of the span."""
    of = asked.c
    return (
        *successful(row, writes_only=True),
        row.at >= (of.since if since is None else since),
        row.at < (of.before if before is None else before),
        sa.or_(of.branch == EVERY_BRANCH, row.branch == of.branch),
        in_place(row, of),
        sa.or_(of.key == "", _may_touch(row, of)),
    )


def _may_touch(row: Any, of: Any) -> sa.ColumnElement[bool]:
    """Whether a write may touch a part: it names no partition, or one without another value of the
    part's key.
    """
    seen = partitions.alias("seen_partitions")
    part = seen.c
    own = sa.select(part.partition).where(
        part.execution == row.id, part.dataset == row.target, part.role == labels.WRITE
    )
    own = own.correlate_except(seen)  # else the subquery would join the spans once more
    same = own.where(
        sa.or_(
            sa.func.substr(part.partition, 1, sa.func.length(of.key)) != of.key,
            part.partition == of.head,
            sa.func.substr(part.partition, 1, sa.func.length(of.head) + 1) == of.head.concat("/"),
        )
    )
    return sa.or_(sa.not_(own.exists()), same.exists())
