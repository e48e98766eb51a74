"""Versions of tables: the writes that made them, and the executions that read them.

Every answer is a seek in an index of those executions alone whose version is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa

from graph_model import labels
from graph_model.facts import NO_NUMBER, ReadVersionRow
from graph_model.stores.catalogue.reading import (
    AT_ONCE,
    MATERIALIZED,
    CatalogueReader,
    input_column,
    input_table,
    input_values,
    is_input,
    made_once,
    pairs_from,
    prepared,
    successful,
)
from graph_model.stores.catalogue.tables import executions, read_versions
from graph_model.stores.catalogue.writes import fields_of_write, in_place
from graph_model.stores.catalogue_values import (
    NumberedTime,
    SuccessfulWrite,
    VersionId,
    VersionSpan,
    VersionWrites,
)
from graph_model.stores.database import StoredId, StoredText, chunks, rows_of

_SPAN: Final = (
    ("place_number", sa.BigInteger()), ("target", StoredId()), ("branch", StoredText()),
    ("number", sa.BigInteger()), ("since", sa.BigInteger()), ("place", StoredId()),
    ("whole", sa.BigInteger()),
)  # fmt: skip
_VERSION_ID: Final = (
    ("target", StoredId()), ("version", StoredText()), ("branch", StoredText()),
)  # fmt: skip
_READ: Final = prepared(sa.select(read_versions).where(is_input(read_versions.c.execution)))


class VersionedWrites(CatalogueReader):
    """Which writes a read saw, by the version that it read."""

    def version_writes(
        self, spans: Collection[VersionSpan], *, most: int
    ) -> dict[VersionSpan, VersionWrites]:
        """Per span its completed writes whose version is known by number.

        One statement.
        """
        writes: dict[VersionSpan, VersionWrites] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(spans)), AT_ONCE):
                rows = ((n, *span[:-1], int(span.whole)) for n, span in enumerate(chunk))
                asked = input_values(rows) | {"most": most}
                writes |= _by_span(chunk, rows_of(connection, _version_writes(), asked))
        return writes

    def writes_by_version(self, asked: Collection[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per version the first write that reports it: on its branch, else on any branch."""
        rows = self._rows_beside(_first_reports(), asked)
        return {VersionId(*row[:3]): SuccessfulWrite(*row[3:]) for row in rows}

    def read_versions(self, executions: Collection[str]) -> tuple[ReadVersionRow, ...]:
        """The versions that these executions read."""
        rows = self._rows_for(_READ, executions)
        return tuple(sorted(ReadVersionRow(*row) for row in rows))

    def bound_reads(self, logical_plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads for which some execution read a version.

        A seek for each plan and dataset.
        """
        rows = self._rows_for(_bound_reads(), logical_plans)
        return frozenset((plan, dataset) for plan, dataset in rows)


def _by_span(
    spans: Sequence[VersionSpan], rows: Iterable[tuple[Any, ...]]
) -> dict[VersionSpan, VersionWrites]:
    listed: dict[int, list[SuccessfulWrite]] = {}
    heads: dict[int, tuple[Any, ...]] = {}
    for row in rows:
        heads[row[0]] = row[1:7]
        writes = listed.setdefault(row[0], [])
        if row[7] is not None:
            writes.append(SuccessfulWrite._make(row[7:]))
    return {spans[n]: _answer(head, listed[n]) for n, head in heads.items()}


def _answer(head: tuple[Any, ...], writes: list[SuccessfulWrite]) -> VersionWrites:
    low, cut, first, first_at, following, following_at = head
    return VersionWrites(
        tuple(writes),
        cut=cut is not None,
        floor=low is not None,
        first=None if first is None else NumberedTime(first, first_at),
        following=None if following is None else NumberedTime(following, following_at),
    )


@made_once
def _version_writes() -> sa.Select[Any]:
    ends, row = _with_ends(_with_lows()), executions.alias("listed")
    of = ends.c
    heads = (of.place_number, of.low, of.cut, of.first, of.first_at, of.following, of.following_at)
    within = (
        *_of_branch(row.c, of),
        row.c.version_number <= of.number,
        # One lower bound: of two SQLite would seek the first, and check the other row by row.
        row.c.version_number > sa.func.coalesce(of.cut, of.low - 1, NO_NUMBER),
    )
    return sa.select(*heads, *fields_of_write(row)).join_from(
        ends, row, sa.and_(*within), isouter=True
    )


def _with_lows() -> sa.CTE:
    """The given spans, each with the number of its first version (``low``)."""
    asked, seen = input_table(_SPAN), executions.alias("seen").c
    own = (*_of_branch(seen, asked.c),)
    newest = sa.select(seen.version_number).order_by(seen.version_number.desc()).limit(1)
    overwrite = newest.where(
        *own, seen.mode == labels.OVERWRITE, seen.version_number <= asked.c.number
    )
    former = newest.where(*own, seen.version_number < asked.c.since)
    low = sa.case(
        (asked.c.since >= 0, former.scalar_subquery()),
        (asked.c.whole == 1, None),
        else_=overwrite.scalar_subquery(),
    )
    return sa.select(asked, low.label("low")).cte("lows").prefix_with(MATERIALIZED)


def _with_ends(lows: sa.CTE) -> sa.CTE:
    """The same with the first version too many (``cut``), the lowest version of the branch
    (``first``) and the lowest one above the span (``following``).
    """
    seen, of = executions.alias("seen").c, lows.c
    own = _of_branch(seen, of)
    many = (
        sa.select(seen.version_number)
        .where(
            *own,
            seen.version_number <= of.number,
            seen.version_number >= sa.func.coalesce(of.low, 0),
        )
        .order_by(seen.version_number.desc())
        .limit(1)
        .offset(sa.bindparam("most", type_=sa.BigInteger(), required=True))
    )

    def lowest(field: Any, above: Any) -> Any:
        higher = sa.select(field).where(*own, seen.version_number > above)
        return higher.order_by(seen.version_number, seen.at, seen.id).limit(1).scalar_subquery()

    return (
        sa.select(
            lows,
            many.scalar_subquery().label("cut"),
            lowest(seen.version_number, NO_NUMBER).label("first"),
            lowest(seen.at, NO_NUMBER).label("first_at"),
            lowest(seen.version_number, of.number).label("following"),
            lowest(seen.at, of.number).label("following_at"),
        )
        .cte("ends")
        .prefix_with(MATERIALIZED)
    )


def _of_branch(row: Any, of: Any) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        row.target == of.target,
        row.branch == of.branch,
        *successful(row, writes_only=True),
        in_place(row, of),
    )


@made_once
def _first_reports() -> sa.Select[Any]:
    asked, row = input_table(_VERSION_ID), executions.alias("listed")
    seen = executions.alias("seen").c
    first = (
        sa.select(seen.id)
        .where(
            seen.target == asked.c.target,
            seen.version == asked.c.version,
            seen.version != "",
            *successful(seen, writes_only=True),
        )
        .order_by(seen.at, seen.id)
        .limit(1)
    )
    own = first.where(seen.branch == asked.c.branch)
    chosen = sa.func.coalesce(own.scalar_subquery(), first.scalar_subquery())
    return sa.select(asked, *fields_of_write(row)).join_from(asked, row, row.c.id == chosen)


@made_once
def _bound_reads() -> sa.Select[Any]:
    own = read_versions.alias("listed").c
    pairs = pairs_from(own.logical_plan, own.dataset, input_column())
    return sa.select(pairs.c.first, pairs.c.second).where(pairs.c.second.is_not(None))
