"""Writes that several documents may report together: from several producers, or from one twice."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.labels import CTAS_COMMANDS
from graph_model.stores.catalogue.history.write_columns import fields_of_write
from graph_model.stores.catalogue.reading.applications import names_of_applications
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import MATERIALIZED, input_table, made_once
from graph_model.stores.catalogue.tables import applications, executions
from graph_model.stores.database import StoredId, StoredText, chunks
from graph_model.stores.protocols import SuccessfulWrite

_PAIR: Final = (
    ("target", StoredId()), ("application", StoredText()), ("anyway", sa.BigInteger()),
)  # fmt: skip


class SqlCompanions(CatalogueReader):
    """The companions of ``protocols.SeenWrites``."""

    def companions(
        self, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        with self.snapshot() as same:
            with same._read() as connection:
                unnamed = _unnamed(connection, set(pairs), state)
            incomplete = {(write.target, write.application_id) for write in unnamed}
            asked = [(*pair, int(pair in incomplete)) for pair in pairs]
            found = same._rows_beside(_companions(state), asked)
        return (*unnamed, *(SuccessfulWrite(*row) for row in found))

    def companions_of_target(
        self, target: str, state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """Reads each write of the target once, in one of two indexes."""
        given = {"target": target, "state": state}
        with self.snapshot() as same:
            with same._read() as connection:
                doubled = {
                    *_companions_of_target().rows(connection, given),
                    *_named_elsewhere().rows(connection, given),
                }
            return same.companions([(target, application) for (application,) in doubled], state)


def _unnamed(
    connection: Connection, pairs: Collection[tuple[str, str]], state: str
) -> list[SuccessfulWrite]:
    """The writes of these pairs whose own events do not name the application."""
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
        found = sa.select(extreme(beside.c.producer)).where(*reported_by(beside.c))
        return found.correlate_except(beside).scalar_subquery()  # else of all pairs together

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
