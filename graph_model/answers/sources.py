"""The stores and rules that a question is answered from, as one value a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from graph_model import naming
from graph_model.governance.quality_rules import QualityRule
from graph_model.lineage import Structure
from graph_model.naming import Rules
from graph_model.references import References
from graph_model.store import Catalogue, Graph, Journal

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Sources:
    """``rules`` name datasets, ``quality_rules`` read custom run facets as checks; ``structure``
    is what is kept of the graph between two requests. ``hidden`` are ids of datasets and jobs that
    no answer names; with ``opens_hidden`` (an admin asks) a hidden node's own page is answered.
    """

    graph: Graph
    catalogue: Catalogue
    journal: Journal
    rules: Rules = naming.DEFAULT_RULES
    quality_rules: tuple[QualityRule, ...] = ()
    structure: Structure = field(default_factory=Structure)
    hidden: frozenset[str] = frozenset()
    opens_hidden: bool = False

    @property
    def references(self) -> References:
        """Resolves what people write for a node."""
        return References(self.catalogue, self.graph, self.rules)

    @contextmanager
    def at_once(self) -> Iterator[Sources]:
        """The same sources, the catalogue in one state of it."""
        with self.catalogue.snapshot() as catalogue:
            yield replace(self, catalogue=catalogue)


def of_one_state(
    ask: Callable[Concatenate[Sources, _Asked], _Answer],
) -> Callable[Concatenate[Sources, _Asked], _Answer]:
    """All that the question asks the catalogue, it asks of one state of it."""

    @wraps(ask)
    def asked(sources: Sources, /, *given: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        with sources.at_once() as same:
            return ask(same, *given, **named)

    return asked
