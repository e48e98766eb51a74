"""Two outlines of a job's plan -> their differences. Pure.

The columns that others read come first. A dropped column beside a new one with the same sources and
the same expression counts as renamed; that is a guess, and is marked as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

from graph_model import labels, naming
from graph_model.answers.impact.changes import Change, ChangeKind
from graph_model.answers.impact.outline import ColumnOutline, PlanOutline, RowInfluence
from graph_model.naming.schemas import field_changes, same_type

_SHOWN_DIGITS: Final = 8


def compare(before: PlanOutline, after: PlanOutline) -> tuple[Change, ...]:
    """The differences, in the order of :class:`ChangeKind`, then of the columns."""
    found = [
        *_columns(before, after),
        *_rows(before, after),
        *_inputs(before, after),
        *_writes(before, after),
    ]
    if not found:
        found += _remaining(before, after)
    order = list(ChangeKind)
    return tuple(sorted(found, key=lambda change: order.index(change.kind)))


def _remaining(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    """A difference that outlines do not show: a limit, the order of the columns, another step."""
    if before.fingerprint != after.fingerprint:
        ends = before.fingerprint[:_SHOWN_DIGITS], after.fingerprint[:_SHOWN_DIGITS]
        yield Change(ChangeKind.PLAN_CHANGED, "fingerprint", *ends)


# --- columns -------------------------------------------------------------------------------------


def _columns(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    if before.columns is None or after.columns is None:
        if before.columns != after.columns:
            yield Change(ChangeKind.SCHEMA_UNKNOWN, after.target_uri)
        return
    old = {column.path: column for column in before.columns}
    new = {column.path: column for column in after.columns}
    dropped = [column for path, column in old.items() if path not in new]
    added = [column for path, column in new.items() if path not in old]
    renamed = _renamed(dropped, added, before.columns, after.columns)
    for column in dropped:
        if column.path in renamed:
            to = renamed[column.path]
            yield Change(ChangeKind.COLUMN_RENAMED, column.path, column.name, to.name)
        else:
            yield Change(ChangeKind.COLUMN_DROPPED, column.path, column.type)
    taken = {column.path for column in renamed.values()}
    for column in added:
        if column.path not in taken:
            yield Change(ChangeKind.COLUMN_ADDED, column.path, None, column.type)
    for path, column in old.items():
        if path in new:
            yield from _column(column, new[path])


def _column(before: ColumnOutline, after: ColumnOutline) -> Iterator[Change]:
    if before.type is not None and after.type is not None:
        if not same_type(before.type, after.type):
            yield Change(ChangeKind.COLUMN_RETYPED, before.path, before.type, after.type)
        yield from _inside(before.path, before.type, after.type)
    if (before.sources, before.expressions) != (after.sources, after.expressions):
        yield Change(
            ChangeKind.COLUMN_RECOMPUTED,
            before.path,
            labels.BETWEEN_EXPRESSIONS.join(before.expressions),
            labels.BETWEEN_EXPRESSIONS.join(after.expressions),
        )


def _inside(path: str, before: str, after: str) -> Iterator[Change]:
    """The fields of a struct, as columns of their own: a reader of ``person.email`` breaks without
    it, whatever else ``person`` holds.
    """
    for field in field_changes(before, after):
        names = (*naming.split_path(path), *map(naming.fold, field.path))
        kind = ChangeKind.COLUMN_RETYPED
        if field.before is None or field.after is None:
            gone = field.after is None
            kind = ChangeKind.COLUMN_DROPPED if gone else ChangeKind.COLUMN_ADDED
        yield Change(kind, naming.column_path(names), field.before, field.after)


def _renamed(
    dropped: Sequence[ColumnOutline],
    added: Sequence[ColumnOutline],
    before: Sequence[ColumnOutline],
    after: Sequence[ColumnOutline],
) -> dict[str, ColumnOutline]:
    """Path of a dropped column -> the added column that is probably its new
    name; each used once.
    """
    old_place = {column.path: place for place, column in enumerate(before)}
    new_place = {column.path: place for place, column in enumerate(after)}

    def unlikeness(old: ColumnOutline, new: ColumnOutline) -> tuple[bool, bool, int]:
        apart = abs(old_place[old.path] - new_place[new.path])
        return old.expressions != new.expressions, not same_type(old.type, new.type), apart

    pairs = [
        (unlikeness(old, new), old.path, new)
        for old in dropped
        for new in added
        if old.sources and old.sources == new.sources
    ]
    found: dict[str, ColumnOutline] = {}
    taken: set[str] = set()
    for _, path, new in sorted(pairs, key=lambda pair: (pair[0], pair[1], pair[2].path)):
        if path not in found and new.path not in taken:
            found[path] = new
            taken.add(new.path)
    return found


# --- rows, mode and target -----------------------------------------------------------------------

_DECIDING: Final = {
    labels.FILTER: "filtered by",
    labels.JOIN: "joined by",
    labels.GROUP_BY: "grouped by",
    labels.SORT: "sorted by",
}


def _rows(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    """Changes to the set of rows: filters, joins, groupings and sort orders."""
    for how in sorted({one.how for one in before.influences | after.influences}):
        old = {one for one in before.influences if one.how == how}
        new = {one for one in after.influences if one.how == how}
        if _differ(old, new):
            subject = _DECIDING.get(how, how)
            yield Change(ChangeKind.ROWS_CHANGED, subject, _conditions(old), _conditions(new))
    if before.joins is not None and after.joins is not None and before.joins != after.joins:
        ends = ", ".join(before.joins), ", ".join(after.joins)
        yield Change(ChangeKind.ROWS_CHANGED, "join types", *ends)


def _differ(old: Set[RowInfluence], new: Set[RowInfluence]) -> bool:
    """Columns alone are compared where a producer does not report its conditions."""
    if all(one.expression for one in old | new):
        return old != new
    return {(one.dataset, one.path) for one in old} != {(one.dataset, one.path) for one in new}


def _conditions(influences: Iterable[RowInfluence]) -> str:
    """The conditions, or the columns without one, each once: a condition stands at each of its
    columns. One that holds the separator itself (``flags | 4 > 0``) stands in two parts.
    """
    texts = {
        text
        for one in influences
        for text in (one.expression or one.path).split(labels.BETWEEN_EXPRESSIONS)
    }
    return ", ".join(sorted(texts))


def _inputs(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    for dataset in sorted(before.inputs.keys() - after.inputs.keys()):
        yield Change(ChangeKind.INPUT_DROPPED, before.inputs[dataset])
    for dataset in sorted(after.inputs.keys() - before.inputs.keys()):
        yield Change(ChangeKind.INPUT_ADDED, after.inputs[dataset])


def _writes(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    if before.target != after.target:
        yield Change(
            ChangeKind.TARGET_MOVED, before.target_uri, before.target_uri, after.target_uri
        )
    if before.mode != after.mode and labels.UNKNOWN_MODE not in (before.mode, after.mode):
        yield Change(ChangeKind.MODE_CHANGED, before.target_uri, before.mode, after.mode)
    if before.partition_keys != after.partition_keys:
        yield Change(
            ChangeKind.PARTITIONING_CHANGED,
            before.target_uri,
            ", ".join(before.partition_keys),
            ", ".join(after.partition_keys),
        )


# --- pairing plans of a job ---------------------------------------------------------------------


def pair(
    captured: Sequence[PlanOutline], current: Sequence[PlanOutline]
) -> list[tuple[PlanOutline, PlanOutline | None]]:
    """Per captured plan the plan of the job that it replaces; None for a new one.

    Equal plans are paired first, then plans with one target, those with most columns and inputs in
    common before others. Last, if one plan is left on each side, these two are paired: the target
    has moved.
    """
    found: dict[int, int] = {}
    candidates = sorted(
        (-_likeness(new, old), number, place)
        for number, new in enumerate(captured)
        for place, old in enumerate(current)
        if new.target == old.target
    )
    for _, number, place in candidates:
        if number not in found and place not in found.values():
            found[number] = place
    left = [number for number in range(len(captured)) if number not in found]
    free = [place for place in range(len(current)) if place not in found.values()]
    if len(left) == len(free) == 1:
        found[left[0]] = free[0]
    return [
        (new, current[found[number]] if number in found else None)
        for number, new in enumerate(captured)
    ]


def _likeness(one: PlanOutline, other: PlanOutline) -> int:
    if one.fingerprint == other.fingerprint:
        return 1_000_000
    columns = {c.path for c in one.columns or ()} & {c.path for c in other.columns or ()}
    return len(columns) + len(one.inputs.keys() & other.inputs.keys())
