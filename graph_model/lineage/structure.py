"""What walks have learnt of the structure, kept from one question to the next.

Kept is only what an id says for ever: the id of a logical plan is a digest of all that graph and
catalogue say of it, the id of a column one of its table and path. Nothing here says that a plan
still counts. A walk comes to a plan through its executions, its declaration or an edge, which are
read anew for every question; so what another process has withdrawn, pruned or forgotten is not
found any more, whatever is kept here. Nothing is kept of a plan that has no marker yet, or of which
a limit has cut something off.

A structure belongs to one catalogue: the next generation may come of another translator, and begins
with an empty one. Every command ends it, too (``api.standing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from graph_model.facts import Edge, LogicalPlanRow
from graph_model.shelf import Shelf
from graph_model.spellings import ColumnSpelling

_MEGABYTE: Final = 1_000_000
_ID_BYTES: Final = 150  # of a text of some forty characters with its place in a collection
_ENTRY_BYTES: Final = 300  # of whatever else an entry needs


class Structure:
    """Plans, columns and schemas, of some 75 MB at most.

    ``complete``: the logical plans that have their marker. ``sources``: what such a plan reads.
    ``plans``: a plan's row. ``columns``: the dataset and path behind a column's id.
    ``derivations``: by (logical plan, column) the edges into it. ``spellings``: by the id of a
    schema its columns by their paths.
    """

    def __init__(self) -> None:
        self.complete: Shelf[str, bool] = Shelf(5 * _MEGABYTE, lambda _: _ENTRY_BYTES)
        self.sources: Shelf[str, frozenset[str]] = Shelf(10 * _MEGABYTE, _weight_of_ids)
        self.plans: Shelf[str, LogicalPlanRow] = Shelf(15 * _MEGABYTE, _weight_of_row)
        self.columns: Shelf[str, tuple[str, str]] = Shelf(10 * _MEGABYTE, _weight_of_ids)
        self.derivations: Shelf[tuple[str, str], tuple[Edge, ...]] = Shelf(
            20 * _MEGABYTE, _weight_of_edges
        )
        self.spellings: Shelf[str, Mapping[str, ColumnSpelling]] = Shelf(
            15 * _MEGABYTE, _weight_of_spellings
        )


def _weight_of_ids(ids: Iterable[str]) -> int:
    return _ENTRY_BYTES + sum(_ID_BYTES + len(one) for one in ids)


def _weight_of_row(row: LogicalPlanRow) -> int:
    return _ENTRY_BYTES + 4 * _ID_BYTES + len(row.gaps) + len(row.partition_keys)


def _weight_of_edges(edges: Iterable[Edge]) -> int:
    return _ENTRY_BYTES + sum(
        6 * _ID_BYTES + sum(len(str(value)) for _, value in edge.properties) for edge in edges
    )


def _weight_of_spellings(columns: Mapping[str, ColumnSpelling]) -> int:
    return _ENTRY_BYTES + sum(
        _ID_BYTES + len(path) + len(column.name) + len(column.type or "")
        for path, column in columns.items()
    )
