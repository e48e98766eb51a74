"""The facts that each subject has contributed to a rebuild, in a temporary database.

When the rebuild visits a subject again, facts of the former visit may be gone from its documents;
the rebuild then withdraws them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graph_model.facts import Facts, Part, Row, whole
from graph_model.projection.withdrawal import OWN_ROWS
from graph_model.stores.temporary import KeptContents


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one subject: ids of elements, and the rows that it alone
    supports.
    """

    ids: frozenset[str] = frozenset()
    rows: frozenset[Row] = frozenset()

    def without(self, other: Contribution) -> Contribution:
        """The part that the other lacks."""
        return Contribution(self.ids - other.ids, self.rows - other.rows)


class Contributions:
    """The contributions of each subject in a pass."""

    def __init__(self) -> None:
        self._kept = KeptContents()

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def find(self, subject_key: str) -> Contribution:
        """The kept contribution of a subject; none if the pass has not come to it."""
        content = self._kept.find(subject_key)
        return Contribution(*pickle.loads(content)) if content else Contribution()  # noqa: S301 - written below

    def keep(self, subject_key: str, added: Contribution) -> None:
        """Keep this in place of the former one."""
        self._kept.keep(subject_key, pickle.dumps((added.ids, added.rows)))

    def close(self) -> None:
        """Drop all of it; safe to call twice."""
        self._kept.close()


def contribution_of(parts: Iterable[Part]) -> Contribution:
    found = [whole(part) for part in parts]
    ids = frozenset(one for facts in found for one in ids_of(facts))
    rows = (row for facts in found for row in facts.rows)
    return Contribution(ids, frozenset(row for row in rows if isinstance(row, OWN_ROWS)))


def ids_of(facts: Facts) -> Iterator[str]:
    """The ids of all vertices and edges."""
    for vertex in facts.vertices:
        yield vertex.id
    for edge in facts.edges:
        yield edge.id
