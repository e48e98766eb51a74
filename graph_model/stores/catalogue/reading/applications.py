"""Spark applications, some of whose events do not name them.

OpenLineage's client may lose the START of a query; the remaining events name the application's run
by the client's id, and not the application. Other events of that run name it (``ApplicationRow``).
Rows keep their own events' run; questions get them under the application:

    run_r ""  with  run_r => app-1, run_a     gives     run_a app-1

So the order of the events, or the removal of one, does not matter. A run that several applications
claim (its id was set by hand) identifies none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.facts import ExecutionRow, RunRow
from graph_model.stores.catalogue.reading.reader import rows_for
from graph_model.stores.catalogue.reading.value_tables import is_input, prepared
from graph_model.stores.catalogue.tables import applications

_Row = TypeVar("_Row", ExecutionRow, RunRow)
_OF_RUNS: Final = prepared(
    sa.select(
        applications.c.run, applications.c.application_id, applications.c.application_run
    ).where(is_input(applications.c.run))
)
_CLAIMED: Final = prepared(
    sa.select(applications.c.run).where(is_input(applications.c.application_run))
)
_NAMED: Final = prepared(
    sa.select(applications.c.run).where(is_input(applications.c.application_id))
)


def under_applications(connection: Connection, rows: Iterable[_Row]) -> list[_Row]:
    """The same rows in their order, each under its application if any event names it."""
    listed = list(rows)
    known = applications_of(connection, {row.run for row in listed if not row.application_id})
    return [
        row._replace(application_id=known[row.run][0], run=known[row.run][1])
        if not row.application_id and row.run in known
        else row
        for row in listed
    ]


def applications_of(connection: Connection, runs: Collection[str]) -> dict[str, tuple[str, str]]:
    """Per run under a client's id: its application's id, and the run under that id."""
    if not runs:
        return {}
    found: dict[str, set[tuple[str, str]]] = {}
    for run, application, named in rows_for(connection, _OF_RUNS, runs):
        found.setdefault(run, set()).add((application, named))
    return {run: next(iter(ids)) for run, ids in found.items() if len(ids) == 1}


def names_of_runs(connection: Connection, runs: Collection[str]) -> frozenset[str]:
    """All ids in the rows of these runs, from any one of them."""
    known = applications_of(connection, runs)
    own = {known[run][1] if run in known else run for run in runs}
    claimed = {run for (run,) in rows_for(connection, _CLAIMED, own)}
    return frozenset(own | applications_of(connection, claimed).keys())


def names_of_applications(
    connection: Connection, application_ids: Collection[str]
) -> dict[str, str]:
    """Per run under a client's id that belongs to one of these applications: that application."""
    claimed = {run for (run,) in rows_for(connection, _NAMED, application_ids)}
    known = applications_of(connection, claimed)
    return {run: application for run, (application, _) in known.items()}


def run_of(of: Any) -> sa.ColumnElement[str]:
    """In a statement: the run under which an execution is listed (``of``: columns of the table or
    an alias).

    Only executions that do not name their application are looked up.
    """
    named = _sole_claim(applications.alias("claims").c, of.run, "application_run")
    return sa.case((of.application_id != "", of.run), else_=sa.func.coalesce(named, of.run))


def application_of(of: Any) -> sa.ColumnElement[str]:
    """In a statement: the application of an execution (``of``: as for ``run_of``)."""
    own = sa.func.nullif(of.application_id, "")
    claimed = applications.alias("claims").c
    return sa.func.coalesce(own, _sole_claim(claimed, of.run, "application_id"), "")


def _sole_claim(claimed: Any, run: sa.ColumnElement[str], name: str) -> sa.ScalarSelect[Any]:
    """A column of the only application that claims the run; null where none or several do."""
    only = sa.select(sa.func.min(claimed[name])).where(claimed.run == run)
    return only.having(sa.func.count() == 1).scalar_subquery()
