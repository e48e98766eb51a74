"""The fields of a struct that a source flows into: their text, and the sources of one field."""

from __future__ import annotations

import pytest

from graph_model.naming import WHOLE, FieldSources, spell_fields


@pytest.mark.parametrize(
    ("fields", "spelled"),
    [
        ({}, WHOLE),
        ({"": False}, WHOLE),
        ({"": False, "name": False}, WHOLE),
        ({"": True}, '{"":true}'),
        ({"name": False, "home": True}, '{"home":true,"name":false}'),
    ],
)
def test_fields_have_one_text(fields: dict[str, bool], spelled: str) -> None:
    assert spell_fields(fields) == spelled


@pytest.mark.parametrize(
    ("fields", "field", "expected"),
    [
        ({}, "name", ("s",)),
        ({"name": False}, "name", ("s",)),
        ({"name": False}, "name.first", ("s",)),
        ({"name": False}, "email", ()),
        ({"name": False}, "name2", ()),
        ({"home.city": False}, "home", ("s",)),
        ({"home.city": False}, "home.street", ()),
        ({"": True}, "home.city", ("s.home.city",)),
        ({"home": True}, "home.city", ("s.city",)),
        ({"home": True}, "home", ("s",)),
        ({"home": True}, "name", ()),
        ({"": True, "name": False}, "name", ("s.name", "s")),
        ({"`a.b`": True}, "`a.b`.`c.d`", ("s.`c.d`",)),
    ],
)
def test_a_field_has_the_sources_that_flow_into_it(
    fields: dict[str, bool], field: str, expected: tuple[str, ...]
) -> None:
    result = FieldSources([("edge", "s", spell_fields(fields))]).of(field)
    assert sorted(set(result)) == sorted(("edge", source) for source in expected)


def test_a_field_of_a_wide_struct_meets_its_own_flows_alone() -> None:
    flows = [(n, f"c{n}", spell_fields({f"home.f{n}": False})) for n in range(2_000)]
    fields = FieldSources(flows)
    assert list(fields.of("home.f7")) == [(7, "c7")]
    assert [flow for flow, _ in fields.of("home")] == list(range(2_000))
