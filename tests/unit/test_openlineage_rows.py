"""What OpenLineage's translation says, kept by a catalogue and a graph and taken back."""

from __future__ import annotations

import random

from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.facts import FacetBodyRow, FacetRow, Facts, RunRow, merge
from graph_model.memory import MemoryGraph
from tests.unit.test_openlineage_captured import openlineage
from tests.unit.test_openlineage_scenarios import SCENARIOS, translated


def everything() -> Facts:
    return merge(
        [openlineage("c_insert_into"), translated(SCENARIOS["declared_dataset"]["events"])]
    )


def test_every_row_is_kept_as_it_is_and_can_be_taken_back() -> None:
    rows = list(everything().rows)
    assert {RunRow, FacetRow, FacetBodyRow} <= {type(row) for row in rows}
    catalogue = SqlCatalogue(open_database("sqlite://"))
    catalogue.record(rows)
    catalogue.record(rows)
    assert sorted(map(repr, catalogue.scan())) == sorted(map(repr, rows))
    shuffled = random.Random(0).sample(rows, len(rows))
    other = SqlCatalogue(open_database("sqlite://"))
    for row in shuffled:
        other.record([row])
    assert other.digest() == catalogue.digest()
    catalogue.withdraw(rows)
    assert list(catalogue.scan()) == []


def test_a_graph_takes_the_elements() -> None:
    facts = everything()
    graph = MemoryGraph()
    graph.write(facts)
    graph.write(facts)
    assert graph.count() == (len(facts.vertices), len(facts.edges))
