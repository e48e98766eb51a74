"""Writes that run inside another: Spark reports both, the inner one first.

An INSERT INTO a catalog table over JDBC runs a save of its own, a CREATE TABLE AS SELECT of the
second data source API an append. Only the outer one knows the query and the table, so a possible
inner one waits for it:

    a write into a table under creation (``staged``)   a minute: the outer write will come
    a write that may have no outer one (JDBC)          a moment

Queries of several threads end in any order, so the end of another query does not end the wait.
Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from spark_agent_config.capture.captured import CapturedQuery, Target

#: The command around, and the commands that it may have run.
_ENCLOSED: Final = {
    "InsertIntoDataSourceCommand": frozenset({"SaveIntoDataSourceCommand"}),
    "DeleteFromTable": frozenset({"SaveIntoDataSourceCommand"}),  # Hudi's
    "CreateTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
    "ReplaceTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
}
_INNER: Final = frozenset(name for names in _ENCLOSED.values() for name in names)
_ALONE_SECONDS: Final = 5.0
#: The time for the commit to the catalog, which comes in between.
_STAGED_SECONDS: Final = 60.0
_MOST_HELD: Final = 100


@dataclass(frozen=True, slots=True)
class _Held:
    query: CapturedQuery
    until: float


class NestedWrites:
    """Holds writes until the one around them ends. Not for several threads at once.

    ``now`` is in seconds, by a clock that never goes back.
    """

    def __init__(self) -> None:
        self._held: list[_Held] = []

    @property
    def next_due(self) -> float | None:
        """When the first held write has waited long enough; None: no write is held."""
        return min((held.until for held in self._held), default=None)

    def admit(self, captured: list[CapturedQuery], now: float) -> list[CapturedQuery]:
        """The writes to report now that a query has ended with these; may be empty."""
        ready = []
        for query in captured:
            query = self._with_inner(query)
            if query.command in _INNER and query.staged is not False:
                wait = _STAGED_SECONDS if _is_going_on(query) else _ALONE_SECONDS
                self._held.append(_Held(query, now + wait))
            else:
                ready.append(query)
        return [*self.due(now), *ready]

    def due(self, now: float) -> list[CapturedQuery]:
        """The held queries whose wait is over, and the oldest where there are too many."""
        late = [held for held in self._held[:-_MOST_HELD] if held.until > now]
        return self._take([*(held for held in self._held if held.until <= now), *late])

    def release(self, *, staged: bool) -> list[CapturedQuery]:
        """The held writes; with ``staged`` also parts of an unfinished write."""
        return self._take([held for held in self._held if staged or not _is_going_on(held.query)])

    def _take(self, taken: list[_Held]) -> list[CapturedQuery]:
        self._held = [held for held in self._held if held not in taken]
        return [held.query for held in taken]

    def _with_inner(self, outer: CapturedQuery) -> CapturedQuery:
        """A write with the fields of the one inside it, which is then held no longer."""
        inside = [held for held in self._held if _encloses(outer, held.query)]
        if not inside:
            return outer
        (inner,) = self._take(inside[-1:])
        return _with_outcome(outer, inner)


def _is_going_on(query: CapturedQuery) -> bool:
    """Whether the command that makes the table will be heard of: it may not know its place then
    where the write inside it failed.
    """
    return query.staged is True and query.error is None


def _encloses(outer: CapturedQuery, inner: CapturedQuery) -> bool:
    inside = _ENCLOSED.get(outer.command, frozenset())
    return inner.command in inside and (
        inner.target.uri == outer.target.uri or _is_its_place(outer.target, inner.target)
    )


def _is_its_place(outer: Target, inner: Target) -> bool:
    """Whether a write that failed inside another knows the place of the table, which is gone."""
    if outer.unplaced is None or outer.table is None or inner.table is None:
        return False
    named = (outer.table.database, outer.table.name)
    return inner.unplaced is None and named == (inner.table.database, inner.table.name)


def _with_outcome(outer: CapturedQuery, inner: CapturedQuery) -> CapturedQuery:
    target = outer.target
    if target.unplaced is not None:
        target = replace(
            target, uri=inner.target.uri, format=inner.target.format, unplaced=inner.target.unplaced
        )
    return replace(
        outer,
        target=target,
        read_metrics=outer.read_metrics or inner.read_metrics,
        write_metrics=outer.write_metrics or inner.write_metrics,
        written_partitions=outer.written_partitions or inner.written_partitions,
        written_version=outer.written_version or inner.written_version,
    )
