"""The writes that a read can have seen, for many datasets and times in one statement.

Every answer costs a seek or a bounded walk over an index, however long the history of a table is:
its last full overwrite is one seek, and of a table with more writes since then than an answer may
hold, each logical plan's newest are found by a seek for each plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue import tables
from graph_model.catalogue.applications import application_of, names_of_applications
from graph_model.catalogue.asked import AT_ONCE, asked_table, asked_values, made_once
from graph_model.catalogue.births import dataset_born
from graph_model.catalogue.history import KIND_WRITE, successful
from graph_model.catalogue.tables import (
    applications,
    executions,
    names,
    partitions,
    read_versions,
)
from graph_model.database import StoredText, chunks
from graph_model.facts import EVERY_BRANCH
from graph_model.history import CTAS_COMMANDS
from graph_model.store import (
    NEVER,
    DeclaredFlow,
    OlderWrites,
    Span,
    SpanWrites,
    Standing,
    SuccessfulWrite,
)

_BEFORE_EVERYTHING: Final = -(2**63) + 1
_BEGINNING: Final = -(2**62)
_FIELDS: Final = SuccessfulWrite._fields
_WORKED_OUT: Final = "MATERIALIZED"  # once, not again for every row that is joined to it
_SPAN: Final = (
    ("number", sa.BigInteger()), ("target", StoredText()), ("since", sa.BigInteger()),
    ("before", sa.BigInteger()), ("place", StoredText()), ("key", StoredText()),
    ("head", StoredText()), ("branch", StoredText()),
)  # fmt: skip
_PAIR: Final = (
    ("target", StoredText()), ("application", StoredText()), ("anyway", sa.BigInteger()),
)  # fmt: skip
_TARGET: Final = (("target", StoredText()),)
_MOMENT: Final = (("name", StoredText()), ("at", sa.BigInteger()))


def standing(
    connection: Connection,
    reads: Collection[tuple[Span, ...]],
    reach: int,
    most: int,
    per_plan: int,
) -> dict[tuple[Span, ...], Standing]:
    """See ``store.Catalogue``. One statement, but for long histories."""
    told: dict[tuple[Span, ...], _Told] = {}
    for chunk in chunks(set(reads), AT_ONCE):
        told |= _told(connection, chunk, reach, most)
    long = {span for one in told.values() if one.full for span in one.long(reach).values()}
    newest = _by_plan(connection, long, per_plan)
    return {read: one.standing(reach, newest) for read, one in told.items()}


@dataclass(slots=True)
class _Told:
    """What rows tell of one read; ``full`` are its spans with too many writes."""

    floor: int | None
    declared: bool
    writes: dict[Span, list[SuccessfulWrite]]
    full: set[Span] = field(default_factory=set)

    def long(self, reach: int) -> dict[Span, Span]:
        """The spans with too many writes, each from where its writes count."""
        since = _BEGINNING if self.floor is None else self.floor - reach
        return {span: span._replace(since=since) for span in self.full}

    def standing(self, reach: int, newest: Mapping[Span, SpanWrites]) -> Standing:
        """With the newest writes of each plan where there are too many."""
        spans = {span: SpanWrites(tuple(writes)) for span, writes in self.writes.items()}
        if self.full:
            spans |= {span: newest[long] for span, long in self.long(reach).items()}
        return Standing(self.floor, spans, self.declared)


def _told(
    connection: Connection, reads: Sequence[tuple[Span, ...]], reach: int, most: int
) -> dict[tuple[Span, ...], _Told]:
    found = [_Told(None, False, {span: [] for span in read}) for read in reads]
    spans = [(number, span) for number, read in enumerate(reads) for span in read]
    asked = asked_values((*_row(place, span), number) for place, (number, span) in enumerate(spans))
    for row in _of_reads().rows(connection, asked | {"reach": reach, "most": most}):
        place, floor, declared, cut = row[:4]
        number, span = spans[place]
        told = found[number]
        told.floor = floor
        told.declared |= bool(declared)
        if cut is not None:
            told.full.add(span)
        elif row[4] is not None:
            told.writes[span].append(SuccessfulWrite._make(row[4:]))
    return dict(zip(reads, found, strict=True))


@made_once
def _of_reads() -> sa.Select[Any]:
    """The writes of each span since the last full overwrite before its read; as ``_newest``."""
    cuts, row = _with_cuts(_since_floors(_with_last_overwrites())), executions.alias("listed")
    of = cuts.c
    return sa.select(of.number, of.floor, of.declared, of.cut, *fields_of_write(row)).join_from(
        cuts, row, sa.and_(of.cut.is_(None), *_in_span(row.c, cuts)), isouter=True
    )


def _with_last_overwrites() -> sa.CTE:
    """The spans asked for, ``since`` being when they were read, each with its target's ``last``
    full overwrite before that, and whether anything is declared of the target.
    """
    asked, seen = asked_table((*_SPAN, ("read", sa.BigInteger()))), executions.alias("seen").c
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
    """The same with the ``floor`` of each read, ``since`` being a little before that."""
    floor = sa.func.max(lasts.c["last"]).over(partition_by=lasts.c["read"])
    floors = sa.select(lasts, floor.label("floor")).cte("floors")
    reach = sa.bindparam("reach", type_=sa.BigInteger(), required=True)
    since = sa.func.coalesce(floors.c.floor - reach, _BEGINNING)
    same = ("number", "target", "before", "place", "key", "head", "branch", "declared", "floor")
    return sa.select(*(floors.c[name] for name in same), since.label("since")).cte("ranges")


def writes(
    connection: Connection, spans: Collection[Span], most: int, per_plan: int
) -> dict[Span, SpanWrites]:
    """See ``store.Catalogue``."""
    found: list[tuple[Span, Sequence[Any]]] = []
    full: set[Span] = set()
    for chunk, parameters in _asked(spans):
        for number, cut, *values in _newest().rows(connection, parameters | {"most": most}):
            if cut is not None:
                full.add(chunk[number])
            elif values[0] is not None:
                found.append((chunk[number], values))
    rows = _by_span(spans, found)
    answer = {span: SpanWrites(tuple(writes)) for span, writes in rows.items()}
    return answer | _by_plan(connection, full, per_plan)


def _by_span(
    spans: Collection[Span], found: Sequence[tuple[Span, Sequence[Any]]]
) -> dict[Span, list[SuccessfulWrite]]:
    rows: dict[Span, list[SuccessfulWrite]] = {span: [] for span in spans}
    for span, values in found:
        rows[span].append(SuccessfulWrite(*values))
    return rows


@made_once
def _newest() -> sa.Select[Any]:
    """The writes of each span; for a span with more than ``most`` at least one row with a cut."""
    cuts, row = _with_cuts(asked_table(_SPAN)), executions.alias("listed")
    return sa.select(cuts.c.number, cuts.c.cut, *fields_of_write(row)).join_from(
        cuts, row, sa.and_(cuts.c.cut.is_(None), *_in_span(row.c, cuts)), isouter=True
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
    return sa.select(spans, cut.label("cut")).cte("cuts").prefix_with(_WORKED_OUT)


def _by_plan(
    connection: Connection, spans: Collection[Span], per_plan: int
) -> dict[Span, SpanWrites]:
    found: list[tuple[Span, Sequence[Any]]] = []
    older: dict[Span, set[OlderWrites]] = {span: set() for span in spans}
    for chunk, parameters in _asked(spans):
        rows = _newest_of_plans().rows(connection, parameters | {"per_plan": per_plan})
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
def _newest_of_plans() -> sa.Select[Any]:
    """A loose index scan over the plans of a target, then a seek for each of them."""
    asked = asked_table(_SPAN)
    plans = _plans_of(asked)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    own = (*_in_span(seen, asked), seen.logical_plan == plans.c.plan)
    cut = sa.select(seen.at).where(*own).order_by(seen.at.desc()).limit(1).offset(
        sa.bindparam("per_plan", type_=sa.BigInteger(), required=True)
    )  # fmt: skip
    first = sa.select(seen.at).where(*own).order_by(seen.at).limit(1)
    job = sa.select(seen.job).where(*own).limit(1)
    groups = (
        sa.select(
            asked, plans.c.plan, job.scalar_subquery().label("job"),
            cut.scalar_subquery().label("cut"), first.scalar_subquery().label("first"),
        )
        .join_from(plans, asked, asked.c.number == plans.c.number)
        .where(plans.c.plan.is_not(None))
        .cte("groups")
        .prefix_with(_WORKED_OUT)
    )  # fmt: skip
    newest = sa.and_(
        row.c.logical_plan == groups.c.plan,
        row.c.at > sa.func.coalesce(groups.c.cut, _BEFORE_EVERYTHING),
        *_in_span(row.c, groups),
    )
    listed = (groups.c.number, groups.c.plan, groups.c.job, groups.c.cut, groups.c.first)
    return (
        sa.select(*listed, *fields_of_write(row))
        .join_from(groups, row, newest, isouter=True)
        .where(groups.c.first.is_not(None))
    )


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


def companions(
    connection: Connection, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
) -> list[SuccessfulWrite]:
    """See ``store.Catalogue``."""
    found = _unnamed(connection, set(pairs), state)
    apart = {(write.target, write.application_id) for write in found}
    asked = [(*pair, int(pair in apart)) for pair in sorted(set(pairs))]
    for chunk in chunks(asked, AT_ONCE):
        rows = _companions(state).rows(connection, asked_values(chunk))
        found += [SuccessfulWrite(*row) for row in rows]
    return found


def _unnamed(
    connection: Connection, pairs: Collection[tuple[str, str]], state: str
) -> list[SuccessfulWrite]:
    """Those of the writes asked for whose own events do not say the application."""
    runs = names_of_applications(connection, {application for _, application in pairs})
    found: list[SuccessfulWrite] = []
    row = executions.alias("listed")
    for chunk in chunks(sorted(runs)):
        asked = sa.select(*fields_of_write(row)).where(
            row.c.run.in_(chunk), row.c.application_id == "", *_of_state(row.c, state)
        )
        found += [SuccessfulWrite(*row) for row in connection.execute(asked)]
    return [write for write in found if (write.target, write.application_id) in pairs]


def _of_state(of: Any, state: str) -> tuple[sa.ColumnElement[bool], ...]:
    return of.kind == KIND_WRITE, of.state == state


@made_once
def _companions(state: str) -> sa.Select[Any]:
    asked = asked_table(_PAIR)
    seen, row = executions.alias("seen").c, executions.alias("listed")

    def told_by(of: Any) -> tuple[sa.ColumnElement[bool], ...]:
        return (
            of.target == asked.c.target,
            of.application_id == asked.c.application,
            *_of_state(of, state),
        )

    def producer(extreme: Any) -> Any:
        beside = executions.alias("seen_beside").c
        return sa.select(extreme(beside.producer)).where(*told_by(beside)).scalar_subquery()

    own = told_by(seen)
    least, greatest = producer(sa.func.min), producer(sa.func.max)
    twice = (
        sa.select(seen.id)
        .where(*own, seen.producer.in_((least, greatest)), seen.command.in_(CTAS_COMMANDS))
        .exists()
    )
    told = (
        sa.select(asked)
        .where(sa.or_(asked.c.anyway == 1, least != greatest, twice))
        .cte("told")
        .prefix_with(_WORKED_OUT)
    )
    return sa.select(*fields_of_write(row)).join_from(
        told,
        row,
        sa.and_(
            row.c.target == told.c.target,
            row.c.application_id == told.c.application,
            *_of_state(row.c, state),
        ),
    )


def told_twice(
    connection: Connection, target: str, state: str = labels.COMPLETED
) -> list[SuccessfulWrite]:
    """See ``store.Catalogue``. One pass over an index of the target's history."""
    given = {"target": target, "state": state}
    told = {*_told_twice().rows(connection, given), *_named_elsewhere().rows(connection, given)}
    pairs = [(target, application) for (application,) in told]
    return companions(connection, pairs, state)


_TARGET_AND_STATE: Final = (
    executions.c.target == sa.bindparam("target", type_=StoredText()),
    executions.c.kind == KIND_WRITE,
    executions.c.state == sa.bindparam("state", type_=StoredText()),
)


@made_once
def _told_twice() -> sa.Select[Any]:
    """Applications of which several producers tell, or whose commands tell twice."""
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
    """Applications some of whose writes do not say so themselves."""
    return (
        sa.select(applications.c.application_id)
        .join_from(executions, applications, applications.c.run == executions.c.run)
        .where(*_TARGET_AND_STATE, executions.c.application_id == "")
        .distinct()
    )


def declared_flows(connection: Connection, targets: Collection[str]) -> list[DeclaredFlow]:
    """See ``store.Catalogue``. A seek for each target and for each of its declarations."""
    found = []
    for chunk in chunks(sorted(set(targets)), AT_ONCE):
        asked = asked_values((target,) for target in chunk)
        found += [DeclaredFlow(*row) for row in _declared_flows().rows(connection, asked)]
    return sorted(found)


@made_once
def _declared_flows() -> sa.Select[Any]:
    asked, row = asked_table(_TARGET), executions.alias("listed")
    later = executions.alias("seen").c
    replaced = (
        sa.select(later.at)
        .where(
            later.plan_id == row.c.plan_id,
            later.subject == row.c.subject,
            later.at > row.c.at,
            later.target != "",
        )
        .order_by(later.plan_id, later.at)  # by the index of plans, not that of all times
        .limit(1)
        .scalar_subquery()
    )
    fields = (row.c.target, row.c.logical_plan, row.c.job, row.c.at)
    return sa.select(*fields, sa.func.coalesce(replaced, NEVER)).where(
        row.c.target.in_(sa.select(asked.c.target)),  # a join would make SQLite index the table
        row.c.kind == labels.DECLARATION_KIND,
    )


def declared_plans(connection: Connection, plans: Collection[str]) -> set[str]:
    """See ``store.Catalogue``. A seek for each plan, and of a declared one its few executions."""
    found: set[str] = set()
    for chunk in chunks(sorted(set(plans)), AT_ONCE):
        asked = asked_values((plan,) for plan in chunk)
        found.update(plan for (plan,) in _declared_plans().rows(connection, asked))
    return found


@made_once
def _declared_plans() -> sa.Select[Any]:
    asked, row = asked_table(_TARGET), executions.c

    def any_of(*conditions: sa.ColumnElement[bool]) -> sa.Exists:
        return sa.select(row.id).where(row.logical_plan == asked.c.target, *conditions).exists()

    ran = any_of(row.kind != labels.DECLARATION_KIND)
    return sa.select(asked.c.target).where(sa.not_(ran), any_of())


# --- names ---------------------------------------------------------------------------------------


def locations_of(
    connection: Connection, moments: Collection[tuple[str, int]]
) -> dict[tuple[str, int], str]:
    """See ``store.Catalogue``."""
    found = {}
    for chunk in chunks(sorted(set(moments)), AT_ONCE):
        for name, at, location in _locations().rows(connection, asked_values(chunk)):
            if location is not None:
                found[name, at] = location
    return found


@made_once
def _locations() -> sa.Select[Any]:
    asked = asked_table(_MOMENT)
    return sa.select(asked, location_at(asked.c.name, asked.c.at).label("location"))


def location_at(name: Any, at: Any) -> Any:
    """What a name stood for: last observed at or before, else the first."""
    seen = names.alias("seen_names").c
    order = (seen.at, seen.execution, seen.location)
    own = sa.select(seen.location).where(seen.name == name).limit(1)
    last = own.where(seen.at <= at).order_by(*(column.desc() for column in order))
    return sa.func.coalesce(last.scalar_subquery(), own.order_by(*order).scalar_subquery())


def seen(connection: Connection, datasets: Collection[str], at: int) -> set[str]:
    """See ``store.Catalogue``."""
    found: set[str] = set()
    key = tables.datasets.c.id
    for chunk in chunks(sorted(set(datasets))):
        asked = sa.select(key).where(key.in_(chunk), *dataset_born(at))
        found.update(connection.execute(asked).scalars())
    return found


# --- parts ---------------------------------------------------------------------------------------


def _asked(spans: Collection[Span]) -> Iterator[tuple[Sequence[Span], dict[str, Any]]]:
    """The spans, some at a time, with the parameter of their table; ``number`` is the place
    among these.
    """
    for chunk in chunks(sorted(set(spans)), AT_ONCE):
        rows = [_row(number, span) for number, span in enumerate(chunk)]
        yield chunk, asked_values(rows)


def _row(number: int, span: Span) -> tuple[Any, ...]:
    """``dt=1/h=2`` => key ``dt=``, head ``dt=1``."""
    head = span.partition.partition("/")[0]
    key, separator, _ = head.partition("=")
    return (
        number, span.target, span.since, span.before, span.place, key + separator, head, span.branch
    )  # fmt: skip


def _in_span(row: Any, asked: sa.CTE) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (columns of the table or an alias) lies in a span."""
    of = asked.c
    return (
        row.target == of.target,
        *successful(row, writes_only=True),
        row.at >= of.since,
        row.at < of.before,
        sa.or_(of.branch == EVERY_BRANCH, row.branch == of.branch),
        in_place(row, of),
        sa.or_(of.key == "", _may_touch(row, of)),
    )


def in_place(row: Any, of: Any) -> sa.ColumnElement[bool]:
    """Its target stood then for the place asked for, where one is."""
    return sa.or_(of.place == "", location_at(row.target, row.at) == of.place)


def _may_touch(row: Any, of: Any) -> sa.ColumnElement[bool]:
    """It names no partition, or one that does not give another value to the key asked for."""
    seen = partitions.alias("seen_partitions")
    part = seen.c
    own = sa.select(part.partition).where(
        part.execution == row.id, part.dataset == row.target, part.role == labels.WRITE
    )
    own = own.correlate_except(seen)  # else each span is held against the keys of all
    same = own.where(
        sa.or_(
            sa.func.substr(part.partition, 1, sa.func.length(of.key)) != of.key,
            part.partition == of.head,
            sa.func.substr(part.partition, 1, sa.func.length(of.head) + 1) == of.head.concat("/"),
        )
    )
    return sa.or_(sa.not_(own.exists()), same.exists())


def fields_of_write(row: Any) -> tuple[sa.ColumnElement[Any], ...]:
    """Those of a write, under its application as far as anything tells it."""
    part, bound = partitions.alias("touched").c, read_versions.alias("bound").c
    worked_out: dict[str, sa.ColumnElement[Any]] = {
        "application_id": application_of(row.c),
        "partitioned": sa.select(part.execution).where(part.execution == row.c.id).exists(),
        "bound": sa.select(bound.execution).where(bound.execution == row.c.id).exists(),
    }
    return tuple(worked_out.get(name, row.c.get(name)) for name in _FIELDS)
