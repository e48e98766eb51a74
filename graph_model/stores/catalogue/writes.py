"""The writes that a read can have seen, for many datasets and times in one statement.

Every answer costs a seek or a bounded walk over an index, however long the history of a table is:
its last full overwrite is one seek, and of a table with more writes since then than an answer may
hold, each logical plan's newest are found by a seek for each plan.

A declared flow is a write without a run, in force for a time. Several documents may report one
write together: from several producers, or from one twice (``companions``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import EVERY_BRANCH
from graph_model.labels import CTAS_COMMANDS
from graph_model.stores.catalogue.names import location_at
from graph_model.stores.catalogue.reading import (
    AT_ONCE,
    BEFORE_EVERYTHING,
    MATERIALIZED,
    CatalogueReader,
    application_of,
    input_column,
    input_table,
    input_values,
    is_input,
    made_once,
    run_of,
    successful,
)
from graph_model.stores.catalogue.tables import applications, executions, partitions, read_versions
from graph_model.stores.catalogue_values import (
    NEVER,
    DeclaredFlow,
    NewestWrite,
    OlderWrites,
    ReadableWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
)
from graph_model.stores.database import StoredId, StoredText, chunks, rows_of

_BEGINNING: Final = -(2**62)
_SPAN: Final = (
    ("number", sa.BigInteger()), ("target", StoredId()), ("since", sa.BigInteger()),
    ("before", sa.BigInteger()), ("place", StoredId()), ("key", StoredText()),
    ("head", StoredText()), ("branch", StoredText()),
)  # fmt: skip


class Writes(CatalogueReader):
    """Which writes a read saw: by time, by version, by declaration.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def readable_writes(
        self, reads: Collection[tuple[Span, ...]], *, reach: int, most: int, per_plan: int
    ) -> dict[tuple[Span, ...], ReadableWrites]:
        """Per read (its spans: one table under all its names) the writes that it could see.

        The floor is the newest full overwrite (mode ``overwrite``) of any of the targets before
        ``since``; a span's writes are those from ``reach`` ms before the floor on, or all, until
        ``before``, cut as in ``writes``, but those at the floor stay.

        One statement, and a second one for spans with too many writes.
        """
        answers: dict[tuple[Span, ...], _SpanRows] = {}
        with self._read() as connection:
            for chunk in chunks(set(reads), AT_ONCE):
                answers |= _read_spans(connection, chunk, reach, most)
            long = {
                span
                for answer in answers.values()
                if answer.full
                for span in answer.long(reach).values()
            }
            newest = _read_newest_of_each_plan(connection, long, per_plan)
        return {read: answer.readable(reach, newest) for read, answer in answers.items()}

    def writes(
        self, spans: Collection[Span], *, most: int, per_plan: int
    ) -> dict[Span, SpanWrites]:
        """Per span its completed writes, in any order.

        If a span has more than ``most`` of them, it gets the newest ``per_plan`` of each logical
        plan, and the period of the plan's others. At such a cut equal times are left out together.
        """
        pairs: list[tuple[Span, Sequence[Any]]] = []
        full: set[Span] = set()
        with self._read() as connection:
            for chunk, parameters in _batches(spans):
                rows = rows_of(connection, _writes_of_spans(), parameters | {"most": most})
                for number, cut, *values in rows:
                    if cut is not None:
                        full.add(chunk[number])
                    elif values[0] is not None:
                        pairs.append((chunk[number], values))
            long = _read_newest_of_each_plan(connection, full, per_plan)
        listed = _by_span(spans, pairs)
        return {span: SpanWrites(tuple(writes)) for span, writes in listed.items()} | long

    def newest_writes(self, spans: Collection[Span]) -> dict[Span, tuple[NewestWrite, ...]]:
        """Per span the newest write, by (at, id), of each logical plan.

        A loose index scan over the plans of each target, then a seek for each of them.
        """
        newest: dict[Span, list[NewestWrite]] = {span: [] for span in spans}
        with self._read() as connection:
            for chunk, parameters in _batches(spans):
                for number, run, *values in rows_of(connection, _newest_writes(), parameters):
                    newest[chunk[number]].append(NewestWrite(SuccessfulWrite(*values), run))
        return {span: tuple(rows) for span, rows in newest.items()}

    def runs_with(self, asked: Collection[tuple[str, str, int]]) -> frozenset[tuple[str, str, int]]:
        """The (logical plan, run, before) of which the plan completed in the run before the
        time; an execution belongs to the run that its own events name.

        Of each plan the executions since the first one of the run, from an index.
        """
        completed: set[tuple[str, str, int]] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(asked)), AT_ONCE):
                rows = ((number, *pair) for number, pair in enumerate(chunk))
                numbers = rows_of(connection, _plans_in_runs(), input_values(rows))
                completed.update(chunk[number] for (number,) in numbers)
        return frozenset(completed)

    def readings(
        self, moments: Collection[tuple[str, int]], *, per_plan: int
    ) -> dict[tuple[str, int], SpanWrites]:
        """Per (logical plan that only reads, time) its completed ``read`` executions before the
        time: the newest ``per_plan``, and the period of the others.
        """
        readings: defaultdict[tuple[str, int], list[SuccessfulWrite]] = defaultdict(list)
        older: dict[tuple[str, int], tuple[OlderWrites, ...]] = {}
        rows = self._rows_beside(_newest(), moments, per_plan=per_plan)
        for plan, before, job, cut, first, *values in rows:
            if cut is not None:
                older[plan, before] = (OlderWrites(plan, job, first, cut),)
            if values[0] is not None:
                readings[plan, before].append(SuccessfulWrite(*values))
        return {
            moment: SpanWrites(tuple(readings[moment]), older.get(moment, ())) for moment in moments
        }

    def declared_flows(self, targets: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """The declared flows into these, with the times in which they are in force."""
        rows = self._rows_for(_declared("target"), targets)
        return tuple(sorted(DeclaredFlow(*row) for row in rows))

    def declared_reads(self, logical_plans: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """The declared reads of these plans, which write nothing; ``target`` is ""."""
        rows = self._rows_for(_declared("logical_plan"), logical_plans)
        return tuple(sorted(DeclaredFlow(*row) for row in rows))

    def declared_plans(self, logical_plans: Collection[str]) -> frozenset[str]:
        """The logical plans among these that are declared and that no run has followed.

        A seek for each plan, and of a declared one its few executions.
        """
        return frozenset(plan for (plan,) in self._rows_for(_declared_plans(), logical_plans))

    def companions(
        self, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """Per (target, application id) all its writes of a state, where several may be one write.

        That may be so where several producers report them, or where one belongs to a command whose
        writes are reported twice (``labels.CTAS_COMMANDS``); elsewhere the result has none.
        """
        with self.snapshot() as same:
            writes = dict.fromkeys(same._rows_beside(_unnamed(state), pairs))
            unnamed = [row for row in map(SuccessfulWrite._make, writes) if row.application_id]
            incomplete = {(write.target, write.application_id) for write in unnamed}
            asked = [(*pair, int(pair in incomplete)) for pair in pairs]
            rows = same._rows_beside(_companions(state), asked)
        return (*unnamed, *(SuccessfulWrite(*row) for row in rows))

    def companions_of_target(
        self, target: str, state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """``companions`` of a target in all applications that wrote it, or failed to.

        Reads each write of the target once, in one of two indexes.
        """
        given = {"target": target, "state": state}
        with self.snapshot() as same:
            with same._read() as connection:
                doubled = {
                    *rows_of(connection, _companions_of_target(), given),
                    *rows_of(connection, _named_elsewhere(), given),
                }
            return same.companions([(target, application) for (application,) in doubled], state)


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
    answers = [_SpanRows(None, False) for _ in reads]
    spans = [(number, span) for number, read in enumerate(reads) for span in read]
    asked = input_values(
        (*_span_values(place, span), number) for place, (number, span) in enumerate(spans)
    )
    rows: defaultdict[int, list[SuccessfulWrite]] = defaultdict(list)
    for row in rows_of(connection, _writes_of_reads(), asked | {"reach": reach, "most": most}):
        place, floor, declared, cut = row[:4]
        number, span = spans[place]
        own = answers[number]
        own.floor = floor
        own.declared |= bool(declared)
        if cut is not None:
            own.full.add(span)
        if row[4] is not None:
            rows[place].append(SuccessfulWrite._make(row[4:]))
    _assign_writes(answers, spans, rows)
    return dict(zip(reads, answers, strict=True))


def _assign_writes(
    answers: Sequence[_SpanRows],
    spans: Sequence[tuple[int, Span]],
    rows: Mapping[int, Sequence[SuccessfulWrite]],
) -> None:
    """Give each span its writes: the rows listed for it, or those listed for the span that differs
    from it in its end alone. ``spans`` have the numbers of their reads, ``rows`` the places of the
    spans.
    """
    shared: dict[Span, Sequence[SuccessfulWrite]] = {}
    for place, (number, span) in enumerate(spans):
        if place in rows and span not in answers[number].full:
            shared[_without_end(span, answers[number].floor)] = rows[place]
    for place, (number, span) in enumerate(spans):
        own = answers[number]
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
    spans: Collection[Span], pairs: Sequence[tuple[Span, Sequence[Any]]]
) -> dict[Span, list[SuccessfulWrite]]:
    rows: dict[Span, list[SuccessfulWrite]] = {span: [] for span in spans}
    for span, values in pairs:
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
    pairs: list[tuple[Span, Sequence[Any]]] = []
    older: dict[Span, set[OlderWrites]] = {span: set() for span in spans}
    for chunk, parameters in _batches(spans):
        rows = rows_of(connection, _newest_of_each_plan(), parameters | {"per_plan": per_plan})
        for number, plan, job, cut, first, *values in rows:
            span = chunk[number]
            if cut is not None:
                older[span].add(OlderWrites(plan, job, first, cut))
            if values[0] is not None:
                pairs.append((span, values))
    writes = _by_span(spans, pairs)
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


_FIELDS: Final = SuccessfulWrite._fields


def in_place(row: Any, of: Any) -> sa.ColumnElement[bool]:
    """The condition that the target of a write stood for the given place then, if one is given."""
    return sa.or_(of.place == "", location_at(row.target, row.at) == of.place)


def fields_of_write(row: Any) -> tuple[sa.ColumnElement[Any], ...]:
    """The fields of a write, under its application if any event names it."""
    part, bound = partitions.alias("touched").c, read_versions.alias("bound").c
    computed: dict[str, sa.ColumnElement[Any]] = {
        "application_id": application_of(row.c),
        "partitioned": sa.select(part.execution).where(part.execution == row.c.id).exists(),
        "bound": sa.select(bound.execution).where(bound.execution == row.c.id).exists(),
    }
    return tuple(computed.get(name, row.c.get(name)) for name in _FIELDS)


def bounds_of_plan(
    seen: Any, own: Sequence[sa.ColumnElement[bool]]
) -> tuple[sa.ColumnElement[Any], ...]:
    """Of the executions ``seen`` of one plan, which meet these conditions, a seek in an index each:
    their ``job``; ``cut``, the time of the newest one beyond the parameter ``per_plan``, or null;
    and ``first``, the time of the oldest.
    """
    beyond = sa.bindparam("per_plan", type_=sa.BigInteger(), required=True)
    job = sa.select(seen.job).where(*own).limit(1)
    cut = sa.select(seen.at).where(*own).order_by(seen.at.desc()).limit(1).offset(beyond)
    first = sa.select(seen.at).where(*own).order_by(seen.at).limit(1)
    return (
        job.scalar_subquery().label("job"),
        cut.scalar_subquery().label("cut"),
        first.scalar_subquery().label("first"),
    )


_MOMENT: Final = (("plan", StoredId()), ("before", sa.BigInteger()))


@made_once
def _newest() -> sa.Select[Any]:
    """The newest reads of each plan before a time."""
    asked = input_table(_MOMENT)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    own = _read_by(seen, asked)
    plans = sa.select(asked, *bounds_of_plan(seen, own)).cte("plans").prefix_with(MATERIALIZED)
    newer = row.c.at > sa.func.coalesce(plans.c.cut, BEFORE_EVERYTHING)
    listed = (plans.c.plan, plans.c.before, plans.c.job, plans.c.cut, plans.c.first)
    return (
        sa.select(*listed, *fields_of_write(row))
        .join_from(plans, row, sa.and_(*_read_by(row.c, plans), newer), isouter=True)
        .where(plans.c.first.is_not(None))
    )


def _read_by(row: Any, asked: sa.CTE) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        row.logical_plan == asked.c.plan,
        row.kind == labels.READ_KIND,
        *successful(row, writes_only=False),
        row.at < asked.c.before,
    )


@made_once
def _declared(endpoint: Literal["target", "logical_plan"]) -> sa.Select[Any]:
    """Declared flows into a target, or reads of a plan that writes nothing."""
    row, later = executions.alias("listed"), executions.alias("seen").c
    only_reads = endpoint == "logical_plan"
    own = (row.c.target == "",) if only_reads else ()
    replaces = sa.or_(later.target != "", later.reads != "") if only_reads else later.target != ""
    replaced = (
        sa.select(later.at)
        .where(
            later.plan_id == row.c.plan_id,
            later.subject == row.c.subject,
            later.at > row.c.at,
            replaces,
        )
        .order_by(later.plan_id, later.at)  # by the index of plans, not that of all times
        .limit(1)
        .scalar_subquery()
    )
    fields = (row.c.target, row.c.logical_plan, row.c.job)
    ends = sa.func.coalesce(replaced, NEVER).label("ends")
    stated = (
        sa.select(*fields, row.c.at, ends)
        .where(
            is_input(row.c[endpoint]),  # a join would make SQLite index the table
            row.c.kind == labels.DECLARATION_KIND,
            *own,
        )
        .subquery()
    )
    # Each run of dbt declares the exposures of its tables again: the first time holds them all.
    same = [stated.c[name] for name in ("target", "logical_plan", "job")]
    return sa.select(*same, sa.func.min(stated.c.at), stated.c.ends).group_by(*same, stated.c.ends)


@made_once
def _declared_plans() -> sa.Select[Any]:
    asked, row = input_column(), executions.c

    def any_of(*conditions: sa.ColumnElement[bool]) -> sa.Exists:
        return sa.select(row.id).where(row.logical_plan == asked.c.value, *conditions).exists()

    ran = any_of(row.kind != labels.DECLARATION_KIND)
    return sa.select(asked.c.value).where(sa.not_(ran), any_of())


_PAIR: Final = (
    ("target", StoredId()), ("application", StoredText()), ("anyway", sa.BigInteger()),
)  # fmt: skip


@made_once
def _unnamed(state: str) -> sa.Select[Any]:
    """The writes of these pairs whose own events do not name the application.

    Nearly all targets have none, which one seek shows, however many runs an application claims.
    """
    asked, row = input_table(_PAIR[:2]), executions.alias("listed")

    def unnamed(of: Any) -> tuple[sa.ColumnElement[bool], ...]:
        return of.application_id == "", *_of_state(of, state)

    seen = executions.alias("seen").c
    some = sa.select(seen.id).where(seen.target == asked.c.target, *unnamed(seen)).exists()
    pairs = sa.select(asked).where(some).cte("pairs").prefix_with(MATERIALIZED)
    return (
        sa.select(*fields_of_write(row))
        .select_from(pairs)
        .join(applications, applications.c.application_id == pairs.c.application)
        .join(
            row,
            sa.and_(
                row.c.run == applications.c.run, row.c.target == pairs.c.target, *unnamed(row.c)
            ),
        )
    )


def _of_state(of: Any, state: str) -> tuple[sa.ColumnElement[bool], ...]:
    return of.kind == labels.WRITE_KIND, of.state == state


@made_once
def _companions(state: str) -> sa.Select[Any]:
    asked = input_table(_PAIR)
    seen, row = executions.alias("seen").c, executions.alias("listed")

    def reported_by(of: Any) -> tuple[sa.ColumnElement[bool], ...]:
        return (
            of.target == asked.c.target,
            of.application_id == asked.c.application,
            of.application_id != "",  # stated, because the index holds those alone
            *_of_state(of, state),
        )

    def producer(extreme: Any) -> Any:
        beside = executions.alias("seen_beside")
        reporter = sa.select(extreme(beside.c.producer)).where(*reported_by(beside.c))
        return reporter.correlate_except(beside).scalar_subquery()  # else of all pairs together

    own = reported_by(seen)
    # Nearly all applications write a table once, and one seek shows it.
    second = sa.select(seen.id).where(*own).limit(1).offset(1).exists()
    least, greatest = producer(sa.func.min), producer(sa.func.max)
    twice = (
        sa.select(seen.id)
        .where(*own, seen.producer.in_((least, greatest)), seen.command.in_(CTAS_COMMANDS))
        .exists()
    )
    doubled = (
        sa.select(asked)
        .where(sa.or_(asked.c.anyway == 1, sa.and_(second, sa.or_(least != greatest, twice))))
        .cte("doubled")
        .prefix_with(MATERIALIZED)
    )
    return sa.select(*fields_of_write(row)).join_from(
        doubled,
        row,
        sa.and_(
            row.c.target == doubled.c.target,
            row.c.application_id == doubled.c.application,
            row.c.application_id != "",
            *_of_state(row.c, state),
        ),
    )


_TARGET_AND_STATE: Final = (
    executions.c.target == sa.bindparam("target", type_=StoredId()),
    executions.c.kind == labels.WRITE_KIND,
    executions.c.state == sa.bindparam("state", type_=StoredText()),
)


@made_once
def _companions_of_target() -> sa.Select[Any]:
    """The applications that several producers report, or with a command that is reported twice."""
    own = executions.c
    double = sa.func.max(sa.case((own.command.in_(CTAS_COMMANDS), 1), else_=0))
    several = sa.func.min(own.producer) != sa.func.max(own.producer)
    return (
        sa.select(own.application_id)
        .where(*_TARGET_AND_STATE, own.application_id != "")
        .group_by(own.application_id)
        .having(sa.or_(several, double == 1))
    )


@made_once
def _named_elsewhere() -> sa.Select[Any]:
    """The applications of writes whose own events do not name them.

    The statement reads each run once: of all indexes that find these writes, only
    ``by_unnamed_application`` has the runs in order.
    """
    own = executions.c
    runs = sa.select(own.run).where(*_TARGET_AND_STATE, own.application_id == "").distinct()
    listed = runs.subquery("runs")
    return sa.select(applications.c.application_id).join_from(
        listed, applications, applications.c.run == listed.c.run
    )
