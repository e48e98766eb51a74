"""Which writes count at a time: pure, on rows that the catalogue selected.

The rule of this version: at every hop the latest successful write wins. A logical plan is
*visible* when it wrote the dataset in its latest full overwrite at or before the time asked, or
appended to it or overwrote some of its partitions at that time or later. Both directions of a walk
use the same relation, so "x is downstream of y" holds exactly when "y is upstream of x" does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from graph_model import labels
from graph_model.facts import ExecutionRow
from graph_model.store import Writer

#: The two commands of one CREATE TABLE AS SELECT end this close together (milliseconds).
CTAS_WINDOW_MS: Final = 10_000
_CTAS_COMMANDS: Final = ("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand")


def visible_writers(writers: Iterable[Writer]) -> frozenset[Writer]:
    """The writers whose data is still in the dataset, per target.

    ``writers`` holds the newest write per (target, logical plan, mode). Equal times: both stay,
    for neither is known to have gone first.
    """
    rows = list(writers)
    cut: dict[str, int] = {}
    for row in rows:
        if row.mode == labels.OVERWRITE:
            cut[row.target] = max(cut.get(row.target, row.latest), row.latest)
    return frozenset(row for row in rows if row.latest >= cut.get(row.target, row.latest))


def fold_double_writes(rows: Sequence[ExecutionRow]) -> tuple[ExecutionRow, ...]:
    """One row for the two that a CREATE TABLE AS SELECT leaves, newest first as given.

    Spark 3.4 and later report the inner insert and the command around it: same application,
    output and reads, at most ten seconds apart, each used once. The pair is shown as the earlier
    of the two (DESIGN "What is true at a time": a merged write takes the earliest time).
    """
    gone: set[str] = set()
    for outer in rows:
        if outer.command not in _CTAS_COMMANDS or outer.id in gone:
            continue
        twin = next((row for row in rows if row.id not in gone and _is_twin(outer, row)), None)
        if twin is not None:
            gone.add(max(outer, twin, key=lambda row: (row.at, row.id)).id)
    return tuple(row for row in rows if row.id not in gone)


def _is_twin(outer: ExecutionRow, inner: ExecutionRow) -> bool:
    return (
        inner.command.startswith("InsertInto")
        and inner.application_id == outer.application_id
        and inner.target == outer.target
        and inner.reads == outer.reads
        and inner.state == outer.state
        and abs(inner.at - outer.at) <= CTAS_WINDOW_MS
    )
