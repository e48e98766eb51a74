"""The stores and rules of one request, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

from graph_model import naming
from graph_model.answers.references import References
from graph_model.governance.statements import NOTHING, Governance
from graph_model.lineage import Lineage, Partial, Structure
from graph_model.naming import Rules
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")
_Row = TypeVar("_Row")
MOST_READ: Final = 100_000
"""Rows that an answer reads where no index knows the few that it is about."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of every answer.

    ``rules`` name datasets; ``producers`` read documents; ``governance`` holds classifications,
    hidden nodes and other statements by people; ``structure`` is the graph structure kept between
    requests. ``expired`` returns True once ``time_limit_ms`` has passed.

    ``hidden`` are ids of datasets and jobs that no answer names or counts, except as hidden ones.
    Only ``visibility`` changes the set: with ``opens_hidden`` (the caller is an admin) it takes out
    a hidden node requested by its id.
    """

    graph: Graph
    catalogue: Catalogue
    journal: Journal
    rules: Rules = naming.DEFAULT_RULES
    producers: Producers = PRODUCERS
    governance: Governance = NOTHING
    structure: Structure = field(default_factory=Structure)
    hidden: frozenset[str] = frozenset()
    opens_hidden: bool = False
    expired: Callable[[], bool] = _never
    time_limit_ms: int = 0

    @property
    def references(self) -> References:
        """Resolves the references that clients write for a node, hidden nodes included."""
        return References(self.catalogue, self.graph, self.rules)

    @property
    def lineage(self) -> Lineage:
        """A new walk, which remembers everything that it reads."""
        return Lineage(
            self.graph,
            self.catalogue,
            expired=self.expired,
            time_limit_ms=self.time_limit_ms,
            structure=self.structure,
            hidden=self.hidden,
        )

    @contextmanager
    def at_once(self) -> Iterator[Sources]:
        """The same sources, with the catalogue read in one snapshot."""
        with self.catalogue.snapshot() as catalogue:
            yield replace(self, catalogue=catalogue)


class BoundedRows(Generic[_Row]):
    """Rows, up to MOST_READ of them and the time of the sources. ``partial`` says, once they are
    read, which bound was met.
    """

    def __init__(self, sources: Sources, rows: Iterable[_Row]) -> None:
        self._sources = sources
        self._rows = rows
        self.partial: Partial | None = None

    def __iter__(self) -> Iterator[_Row]:
        for number, row in enumerate(self._rows):
            if number == MOST_READ:
                self.partial = Partial("nodes", MOST_READ)
            elif self._sources.expired():
                self.partial = Partial("time", self._sources.time_limit_ms)
            if self.partial:
                return
            yield row


def of_one_state(
    ask: Callable[Concatenate[Sources, _Asked], _Answer],
) -> Callable[Concatenate[Sources, _Asked], _Answer]:
    """Makes all catalogue reads of the question see one snapshot."""

    @wraps(ask)
    def asked(sources: Sources, /, *given: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        with sources.at_once() as same:
            return ask(same, *given, **named)

    return asked
