"""Conditions and parts of statements on executions that several questions share."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from graph_model import labels

BEFORE_EVERYTHING: Final = -(2**63) + 1


def until(column: sa.ColumnElement[int], at: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that a time is not after ``at``, for ``where(*until(…))``."""
    return () if at is None else (column <= at,)


def is_doubtful(of: Any) -> sa.ColumnElement[bool]:
    """The condition that an execution counts from its receipt (``producers.counted_times``), in the
    words of its indexes.
    """
    doubtful: sa.ColumnElement[bool] = of.ahead > sa.literal_column("0")
    return doubtful


def successful(of: Any, *, writes_only: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (``of``: columns of the table or an alias) completed."""
    completed = of.state == labels.COMPLETED
    return (of.kind == labels.WRITE_KIND, completed) if writes_only else (completed,)


def shown_state(of: Any) -> sa.ColumnElement[str]:
    """``ExecutionRow.shown_state`` of an execution (``of``: columns of the table or an alias)."""
    return sa.case((of.running, labels.RUNNING), else_=of.state)


def pairs_from(
    first: sa.ColumnElement[str],
    second: sa.ColumnElement[str],
    start: sa.CTE,
    *conditions: sa.ColumnElement[bool],
    name: str = "pairs",
) -> sa.CTE:
    """Each ``value`` of ``start`` with every ``second`` beside it; the last one is null.

    A loose index scan: from one ``second`` the next is found by a seek, however many rows hold it.
    """

    def least(of: sa.ColumnElement[str], *more: sa.ColumnElement[bool]) -> Any:
        return (
            sa.select(sa.func.min(second)).where(first == of, *conditions, *more).scalar_subquery()
        )

    pairs = sa.select(start.c.value.label("first"), least(start.c.value).label("second")).cte(
        name, recursive=True
    )
    return pairs.union_all(
        sa.select(pairs.c.first, least(pairs.c.first, second > pairs.c.second)).where(
            pairs.c.second.is_not(None)
        )
    )
