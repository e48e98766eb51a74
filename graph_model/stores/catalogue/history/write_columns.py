"""Parts of statements on writes: their columns, the location of their target, a plan's period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from graph_model.stores.catalogue.history.names import location_at
from graph_model.stores.catalogue.reading.applications import application_of
from graph_model.stores.catalogue.tables import partitions, read_versions
from graph_model.stores.protocols import SuccessfulWrite

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
