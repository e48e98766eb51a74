"""Writes facts to graph and catalogue, in the order that readers and a crash need.

    a server that keeps its elements    elements, then rows: readers enter through the rows
    an engine that forgets them         rows with the elements in one transaction, then the engine:
                                        it gets after a start what was committed, and nothing else

In between a process may end, or the engine. The documents of a round are pending until both have
it, so the round is repeated, which changes nothing that is there; and an engine that ended gets
its elements from the catalogue. From such an end until it has them, answers are partial
(``api.service.sources``); in an ordinary round rows are there moments before the engine has them.
"""

from __future__ import annotations

from typing import Final

from graph_model.facts import Facts
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.origin import Origin
from graph_model.stores.graph import Graph

_NOTHING: Final = Facts()


def write_facts(
    graph: Graph, catalogue: Catalogue, facts: Facts, origin: Origin | None = None
) -> None:
    """Commit elements and rows. Raises GraphRejected, FactConflict or Unavailable; with the first
    two, an engine that forgets and its catalogue have nothing of these facts.
    """
    if graph.forgets:
        graph.check(facts)
        record_facts(graph, catalogue, facts, origin)
        graph.write(facts)
    else:
        graph.write(facts)
        record_facts(graph, catalogue, facts, origin)


def record_facts(
    graph: Graph, catalogue: Catalogue, facts: Facts, origin: Origin | None = None
) -> None:
    """Commit the rows, with the elements where the graph forgets them."""
    catalogue.record(facts.rows, origin, facts if graph.forgets else _NOTHING)
