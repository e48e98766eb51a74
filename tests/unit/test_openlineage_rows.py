"""What OpenLineage's translation says, kept by a catalogue and a graph and taken back."""

from __future__ import annotations

import random

import pytest

from graph_model.catalogue import SqlCatalogue
from graph_model.database import open_database
from graph_model.facts import FacetBodyRow, FacetRow, Facts, RunRow, merge
from graph_model.memory import MemoryGraph
from graph_model.openlineage import datasets
from graph_model.openlineage.facets import Facet, SchemaField
from graph_model.openlineage.plans import Plans
from graph_model.shelf import Shelf
from graph_model.translate import plans
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


@pytest.mark.parametrize("name", ["c_insert_into", "c_struct_fields", "a3_agg"])
def test_what_is_remembered_of_schemas_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    again = openlineage(name)
    for module in (datasets, plans):
        monkeypatch.setattr(module, "_SCHEMAS", Shelf(0, lambda _: 1))  # nothing is kept
    monkeypatch.setattr("graph_model.openlineage.translate.PLANS", Plans(most=0))
    assert openlineage(name) == again


@pytest.mark.parametrize(("description", "kept"), [("a key", True), ("x" * 200_000, False)])
def test_a_schema_is_remembered_unless_its_words_are_too_many(description: str, kept: bool) -> None:
    inner = SchemaField("id", "bigint", description, ())
    fields = (SchemaField("customer", "struct", "", (inner,)),)
    facet = Facet("schema", {}, f"digest of {len(description)}", value=fields)
    known = [datasets._schema_of(facet) for _ in range(2)]
    assert (known[0] is known[1]) == kept


def test_the_shelf_gives_one_value_and_keeps_what_was_asked_for_last() -> None:
    shelf: Shelf[str, int] = Shelf(2, lambda _: 1)
    shelf.keep({"a": 1, "b": 2})
    assert (shelf.get("a"), shelf.get("c")) == (1, None)
    shelf.keep({"c": 3})
    assert (shelf.get("a"), shelf.get("b"), shelf.get("c")) == (1, None, 3)
