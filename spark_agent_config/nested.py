"""Writes that run inside another: Spark tells both, the inner one first.

An INSERT INTO a catalog table over JDBC runs a save of its own, a CREATE TABLE AS SELECT of the
second data source API an append. Only the outer one knows the query and the table, so an inner
one that could be such is held back until the next query ends, or for a moment. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from spark_agent_config.captured import CapturedQuery

#: The command around, and the commands that it may have run.
_ENCLOSED: Final = {
    "InsertIntoDataSourceCommand": frozenset({"SaveIntoDataSourceCommand"}),
    "CreateTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
    "ReplaceTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
}
_INNER: Final = frozenset(name for names in _ENCLOSED.values() for name in names)


class NestedWrites:
    """Holds at most one write. Not for several threads at once."""

    def __init__(self) -> None:
        self._held: CapturedQuery | None = None

    @property
    def holding(self) -> bool:
        return self._held is not None

    def admit(self, captured: list[CapturedQuery]) -> list[CapturedQuery]:
        """The writes to tell now that a query has ended with these; it may be none."""
        told = self.release()
        if not captured:
            return told
        if told and _encloses(captured[0], told[0]):
            return [_with_outcome(captured[0], told[0]), *captured[1:]]
        if captured[-1].command in _INNER:
            self._held = captured[-1]
            return [*told, *captured[:-1]]
        return [*told, *captured]

    def release(self) -> list[CapturedQuery]:
        """What is held, which is held no longer."""
        held, self._held = self._held, None
        return [] if held is None else [held]


def _encloses(outer: CapturedQuery, inner: CapturedQuery) -> bool:
    inside = _ENCLOSED.get(outer.command, frozenset())
    return inner.command in inside and inner.target.uri == outer.target.uri


def _with_outcome(outer: CapturedQuery, inner: CapturedQuery) -> CapturedQuery:
    return replace(
        outer,
        read_metrics=outer.read_metrics or inner.read_metrics,
        write_metrics=outer.write_metrics or inner.write_metrics,
        written_partitions=outer.written_partitions or inner.written_partitions,
        written_version=outer.written_version or inner.written_version,
    )
