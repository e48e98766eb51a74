"""Facts of OpenLineage's translation, kept by a catalogue and a graph and withdrawn."""

from __future__ import annotations

import random

import pytest

from graph_model.facts import FacetBodyRow, FacetRow, Facts, RunRow, merge
from graph_model.producers import elements
from graph_model.producers.openlineage import datasets
from graph_model.producers.openlineage.events.facets import Facet, SchemaField
from graph_model.producers.openlineage.plans import heads_of
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.memory_graph import MemoryGraph
from tests.unit.graph_model.producers.openlineage.test_captured import openlineage
from tests.unit.graph_model.producers.openlineage.test_scenarios import SCENARIOS, translated


def everything() -> Facts:
    return merge(
        [openlineage("c_insert_into"), translated(SCENARIOS["declared_dataset"]["events"])]
    )


def test_every_row_is_kept_as_it_is_and_can_be_taken_back() -> None:
    rows = list(everything().rows)
    assert {RunRow, FacetRow, FacetBodyRow} <= {type(row) for row in rows}
    catalogue = Catalogue(open_database("sqlite://"))
    catalogue.record(rows)
    catalogue.record(rows)
    assert sorted(map(repr, catalogue.scan())) == sorted(map(repr, rows))
    shuffled = random.Random(0).sample(rows, len(rows))
    other = Catalogue(open_database("sqlite://"))
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


@pytest.mark.parametrize("name", ["c_insert_into", "c_struct_fields", "a3_agg"])
def test_remembered_schemas_change_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    again = openlineage(name)
    monkeypatch.setattr(datasets, "schema_of", datasets.schema_of.__wrapped__)
    monkeypatch.setattr(elements, "_schema_facts", elements._schema_facts.__wrapped__)
    monkeypatch.setattr("graph_model.producers.openlineage.plans.heads_of", heads_of.__wrapped__)
    assert openlineage(name) == again


@pytest.mark.parametrize(("description", "kept"), [("a key", True), ("x" * 4_000_000, False)])
def test_a_schema_is_remembered_unless_its_words_are_too_many(description: str, kept: bool) -> None:
    inner = SchemaField("id", "bigint", description, ())
    fields = (SchemaField("customer", "struct", "", (inner,)),)
    facet = Facet("schema", {}, f"digest of {len(description)}", value=fields)
    known = [datasets.schema_of(facet) for _ in range(2)]
    assert (known[0] is known[1]) == kept
