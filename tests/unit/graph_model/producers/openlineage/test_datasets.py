"""The columns of an event under their identity."""

from __future__ import annotations

import pytest

from graph_model.producers.openlineage.datasets import UNKNOWN_SCHEMA, Schema
from graph_model.producers.openlineage.events.facets import SchemaField


def field(name: str, *fields: SchemaField) -> SchemaField:
    return SchemaField(name, "struct" if fields else "int", "", fields)


ORDERS = Schema((field("ID"), field('"Unit Price"'), field("a.b"), field("place", field('"City"'))))


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ('"ID"', "id"),
        ("`id`", "id"),
        ("[ID]", "id"),
        ("Unit Price", "unit price"),
        ('"a.b"', "`a.b`"),
        ('"PLACE"."CITY"', "place.city"),
        ("place.city", "place.city"),
        ('"unknown"', "unknown"),
        ('id"', 'id"'),
        ('""', '""'),
        ("xs[0]", "xs[0]"),
    ],
)
def test_quotes_are_no_part_of_a_columns_name(named: str, path: str) -> None:
    assert ORDERS.path(named) == path


def test_columns_that_the_schema_spells_with_quotes_have_the_identity_of_those_without() -> None:
    paths = [column.path for column in ORDERS.columns or ()]
    assert paths == ["id", "unit price", "`a.b`", "place"]
    assert ORDERS.nested == ("place.city",)
    assert ORDERS.collisions == ()


def test_quotes_are_no_part_of_a_columns_name_where_no_schema_is_known() -> None:
    assert UNKNOWN_SCHEMA.path('"ID"') == UNKNOWN_SCHEMA.path("id") == "id"
    assert UNKNOWN_SCHEMA.path('"A"."B"') == "a.b"
