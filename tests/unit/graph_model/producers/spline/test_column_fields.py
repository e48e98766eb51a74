"""The fields of a written struct that each source flows into: one rule, one test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels, naming
from graph_model.producers.spline import column_derivation, plan_logic
from graph_model.producers.spline.column_derivation import PlanColumns, derive
from graph_model.producers.spline.documents import ExecutionPlan, Reference
from graph_model.producers.spline.plan_logic import PlanDocument, read_logic
from tests.builders import PlanBuilder, Step

Make = Callable[[PlanBuilder, Step], tuple[str, Reference]]


def struct_of(plan: PlanBuilder, members: dict[str, Reference], kind: str = "") -> Reference:
    named = [item for name, value in members.items() for item in (plan.literal(name), value)]
    return plan.call("struct", *named, of="CreateNamedStruct", type=kind)


def home_type(plan: PlanBuilder) -> str:
    return plan.struct_type(city="string", zip="int")


def people(plan: PlanBuilder) -> Step:
    home = home_type(plan)
    return plan.read(
        "s3://lake/people",
        *("name: string", "email: string", "age: int", "vip: boolean"),
        *(f"home: {home}", f"work: {home}", f"homes: {plan.array_type(home)}"),
    )


def project(plan: PlanBuilder, below: Step, kind: str, value: Reference) -> Step:
    return plan.operation("Project", below, output=[plan.column(f"x: {kind}", value)])


def reached(plan: ExecutionPlan, columns: PlanColumns | None = None) -> dict[str, str]:
    """``{"name TRANSFORMATION": '{"name":false}'}``; "" for the whole column."""
    return {
        f"{'.'.join((plan.attributes[d.source].name, *d.source_path))} {d.how}": (
            naming.spell_fields(dict(d.fields))
        )
        for d in (columns or derive(plan)).derivations
    }


def written(make: Make) -> dict[str, str]:
    plan = PlanBuilder()
    rows = people(plan)
    plan.write(project(plan, rows, *make(plan, rows)))
    return reached(plan.build())


# --- values --------------------------------------------------------------------------------------


def members(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    value = struct_of(plan, {"Name": rows["name"], "age": rows["age"], "n": plan.literal(1)})
    return plan.struct_type(Name="string", age="int", n="int"), value


def a_member_in_two_ways(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    value = struct_of(
        plan,
        {
            "name": rows["name"],
            "both": plan.call("concat_ws", rows["name"], rows["email"]),
        },
    )
    return plan.struct_type(name="string", both="string"), value


def nested(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    inner = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    value = struct_of(plan, {"home": inner, "work": rows["work"]})
    return plan.struct_type(home=home_type(plan), work=home_type(plan)), value


def chosen(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    built = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    value = plan.call("casewhen", rows["vip"], built, rows["home"], of="CaseWhen")
    return home_type(plan), value


def collected(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    built = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    return plan.array_type(home_type(plan)), plan.aggregate_of("collect_list", built)


def greatest(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    built = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    return home_type(plan), plan.call("max", built, of="aggregate.Max")


def changed(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    with_zip = plan.call("WithField", rows["age"], of="WithField", params={"name": "zip"})
    value = plan.call("update_fields", rows["home"], with_zip, of="UpdateFields")
    return home_type(plan), value


def copied(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return home_type(plan), rows["home"]


def copied_array(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return plan.array_type(home_type(plan)), rows["homes"]


def exploded(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return home_type(plan), plan.call("explode", rows["homes"], of="Explode")


def cast(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    to = plan.struct_type(city="string", zip="string")
    return to, plan.call("cast", rows["home"], of="Cast", type=to)


def renamed_by_a_cast(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return plan.struct_type(town="string", code="int"), rows["home"]


def renamed_members(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    value = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    return plan.struct_type(zip="int", city="string"), value


def opaque(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return home_type(plan), plan.call("parse", rows["name"], rows["home"], of="ScalaUDF")


def one_opaque_choice(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    built = struct_of(plan, {"city": rows["name"], "zip": rows["age"]})
    parsed = plan.call("from_json", rows["email"], of="JsonToStructs")
    return home_type(plan), plan.call("coalesce", built, parsed, of="Coalesce")


def no_struct(plan: PlanBuilder, rows: Step) -> tuple[str, Reference]:
    return "string", rows["name"]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            members,
            {"name TRANSFORMATION": '{"name":false}', "age TRANSFORMATION": '{"age":false}'},
        ),
        (
            a_member_in_two_ways,
            {
                "name TRANSFORMATION": '{"both":false,"name":false}',
                "email TRANSFORMATION": '{"both":false}',
            },
        ),
        (
            nested,
            {
                "name TRANSFORMATION": '{"home.city":false}',
                "age TRANSFORMATION": '{"home.zip":false}',
                "work TRANSFORMATION": '{"work":true}',
            },
        ),
        (
            chosen,
            {
                "vip CONDITIONAL": "",
                "name TRANSFORMATION": '{"city":false}',
                "age TRANSFORMATION": '{"zip":false}',
                "home TRANSFORMATION": '{"":true}',
            },
        ),
        (
            collected,
            {"name AGGREGATION": '{"city":false}', "age AGGREGATION": '{"zip":false}'},
        ),
        (
            greatest,
            {
                "name AGGREGATION": '{"city":false}',
                "age AGGREGATION": '{"zip":false}',
                "name CONDITIONAL": '{"zip":false}',
            },
        ),
        (
            changed,
            {"home.city TRANSFORMATION": '{"city":false}', "age TRANSFORMATION": '{"zip":false}'},
        ),
        (copied, {"home IDENTITY": '{"":true}'}),
        (copied_array, {"homes IDENTITY": '{"":true}'}),
        (exploded, {"homes TRANSFORMATION": '{"":true}'}),
        (cast, {"home TRANSFORMATION": ""}),
        (renamed_by_a_cast, {"home IDENTITY": ""}),
        (renamed_members, {"name TRANSFORMATION": "", "age TRANSFORMATION": ""}),
        (opaque, {"name TRANSFORMATION": "", "home TRANSFORMATION": ""}),
        (
            one_opaque_choice,
            {"name TRANSFORMATION": "", "age TRANSFORMATION": "", "email TRANSFORMATION": ""},
        ),
        (no_struct, {"name IDENTITY": ""}),
    ],
)
def test_a_source_reaches_the_fields_that_the_document_shows(
    make: Make, expected: dict[str, str]
) -> None:
    assert written(make) == expected


def test_a_union_of_structs_with_other_names_is_whole() -> None:
    """Spark unites structs by place; the second branch calls its fields otherwise."""
    plan = PlanBuilder()
    first = plan.read("s3://lake/a", f"x: {plan.struct_type(a='int', b='int')}")
    second = plan.read("s3://lake/b", f"y: {plan.struct_type(c='int', d='int')}")
    both = plan.union(first, second)
    plan.write(project(plan, both, plan.struct_type(a="int", b="int"), both["x"]))
    assert reached(plan.build()) == {"x IDENTITY": '{"":true}', "y IDENTITY": ""}


def test_an_update_keeps_the_fields_of_the_columns_that_it_does_not_set() -> None:
    def fields_of(set_to: str) -> dict[str, str]:
        plan = PlanBuilder()
        home = home_type(plan)
        rows = plan.read("file:/lake/t", "id: int", f"home: {home}", f"other: {home}")
        expressions = {"updateExpressions": ["id#29", set_to, "other#31"]}
        plan.write(rows, "file:/lake/t", name="UpdateCommand", params=expressions)
        return reached(plan.build())

    assert fields_of("home#30")["home IDENTITY"] == '{"":true}'
    changed = fields_of("other#31")
    assert changed["home IDENTITY"] == ""


def test_two_columns_of_one_table_are_one_edge_that_reaches_all_their_fields() -> None:
    """A table that is read twice is two columns in the document and one in the graph."""
    plan = PlanBuilder()
    first, two = (plan.read("s3://lake/a", "id: int", "name: string") for _ in range(2))
    output = [step[name] for step in (first, two) for name in step.names]
    joined = plan.operation("Join", first, two, output=output)
    value = struct_of(plan, {"mine": first["name"], "boss": two["name"]})
    plan.write(project(plan, joined, plan.struct_type(mine="string", boss="string"), value))
    (flow,) = read_logic(PlanDocument(plan.build(), "", "", "1.2")).flows
    assert (flow.source[1], flow.fields) == ("name", '{"boss":false,"mine":false}')


def test_a_flow_into_the_whole_hides_the_fields_of_another() -> None:
    plan = PlanBuilder()
    home = home_type(plan)
    first, two = (plan.read("s3://lake/a", f"home: {home}") for _ in range(2))
    other = plan.call("parse", two["home"], of="ScalaUDF")
    same = plan.call("coalesce", first["home"], first["home"], of="Coalesce")
    united = plan.union(project(plan, first, home, same), project(plan, two, home, other))
    plan.write(project(plan, united, home, united["x"]))
    logic = read_logic(PlanDocument(plan.build(), "", "", "1.2"))
    assert [(flow.how, flow.fields) for flow in logic.flows] == [(labels.TRANSFORMATION, "")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("select home from t", '{"":true}'), ("select parse(home) as home from t", "")],
)
def test_a_struct_that_a_query_computes_is_whole(query: str, expected: str) -> None:
    plan = PlanBuilder()
    source = f"jdbc:postgresql://db:5432/shop:({query}) q"
    plan.write(plan.read(source, f"home: {home_type(plan)}"), "s3://lake/b")
    (flow,) = read_logic(PlanDocument(plan.build(), "", "", "1.2")).flows
    assert (flow.source[1], flow.fields) == ("home", expected)


def test_a_plan_without_structs_keeps_its_fingerprint() -> None:
    plan = PlanBuilder()
    rows = plan.read("s3://lake/a", "id: int", "name: string")
    plan.write(rows, "s3://lake/b")
    logic = read_logic(PlanDocument(plan.build(), "", "", "1.2"))
    assert [flow.fields for flow in logic.flows] == ["", ""]
    assert (
        logic.fingerprint() == "a0f53684b78ae0ec144e30b4751d6a82"
    )  # of the version without fields


# --- a field across jobs has the sources that it has inside a plan -------------------------------

Shape = str | dict[str, Any]
_NAMES = ("a", "b", "c")


def shapes() -> st.SearchStrategy[Shape]:
    return st.recursive(
        st.just("int"),
        lambda inner: st.dictionaries(st.sampled_from(_NAMES), inner, min_size=1, max_size=3),
        max_leaves=6,
    )


class Values:
    """Draws a value of a shape, from the columns of one read."""

    def __init__(self, draw: Any, shape: Shape) -> None:
        self.draw = draw
        self.plan = PlanBuilder()
        self.inner = self._structs_in(shape)
        columns = ["p: int", "q: int", "r: boolean"]
        columns += [f"s{n}: {self.type_of(item)}" for n, item in enumerate(self.inner)]
        self.rows = self.plan.read("s3://lake/t", *columns)

    def _structs_in(self, shape: Shape) -> list[Shape]:
        if isinstance(shape, str):
            return []
        result = [item for inner in shape.values() for item in self._structs_in(inner)]
        return [shape, *(item for item in result if item != shape)]

    def type_of(self, shape: Shape) -> str:
        if isinstance(shape, str):
            return shape
        return self.plan.struct_type(**{k: self.type_of(v) for k, v in shape.items()})

    def value(self, shape: Shape, depth: int = 0) -> Reference:
        kinds = ["made", "chosen", "united"] if depth < 3 else ["made"]
        kind = self.draw(st.sampled_from([*kinds, "read"]))
        if kind == "chosen":
            both = self.value(shape, depth + 1), self.value(shape, depth + 1)
            return self.plan.call("casewhen", self.rows["r"], *both, of="CaseWhen")
        if kind == "united":
            both = self.value(shape, depth + 1), self.value(shape, depth + 1)
            return self.plan.call("coalesce", *both, of="Coalesce")
        if isinstance(shape, str):
            first = self.rows[self.draw(st.sampled_from(["p", "q"]))]
            return first if kind == "read" else self.plan.call("negative", first, of="UnaryMinus")
        if kind == "read":
            return self.rows[f"s{self.inner.index(shape)}"]
        of = {name: self.value(inner, depth + 1) for name, inner in shape.items()}
        return struct_of(self.plan, of)


def paths_in(shape: Shape) -> list[tuple[str, ...]]:
    if isinstance(shape, str):
        return []
    return [
        path
        for name, inner in shape.items()
        for path in [(name,), *((name, *below) for below in paths_in(inner))]
    ]


@given(st.data(), shapes().filter(lambda shape: not isinstance(shape, str)))
def test_a_field_has_the_same_sources_inside_a_plan_and_across_two(
    data: st.DataObject, shape: Shape
) -> None:
    values = Values(data.draw, shape)
    plan, rows = values.plan, values.rows
    value = values.value(shape)
    path = data.draw(st.sampled_from(paths_in(shape)))
    picked = value
    for name in path:
        picked = plan.call(name, picked, of="GetStructField", params={"name": name})
    output = [
        plan.column(f"x: {values.type_of(shape)}", value),
        plan.column("y", picked),
    ]
    plan.write(plan.operation("Project", rows, output=output))
    built = plan.build()
    inside, across = set(), set()
    for d in derive(built).derivations:
        source = naming.column_path([built.attributes[d.source].name, *d.source_path])
        if d.output == 1:
            inside.add((source, d.kind))
        else:
            text = naming.spell_fields(dict(d.fields))
            flows = naming.FieldSources([(d, source, text)]).of(naming.column_path(path))
            across.update((item, d.kind) for _, item in flows)
    assert across == inside


# --- bounds --------------------------------------------------------------------------------------


def wide(count: int, outputs: int = 1) -> ExecutionPlan:
    plan = PlanBuilder()
    rows = plan.read("s3://lake/wide", *(f"c{n}: int" for n in range(count)))
    kind = plan.struct_type(**{f"c{n}": "int" for n in range(count)})
    value = struct_of(plan, {f"c{n}": rows[f"c{n}"] for n in range(count)})
    packed = project(plan, rows, kind, value)
    output = [plan.column(f"y{n}: {kind}", packed["x"]) for n in range(outputs)]
    plan.write(plan.operation("Project", packed, output=output))
    return plan.build()


def codes(columns: PlanColumns) -> set[str]:
    return {gap.code for gap in columns.gaps}


def test_a_wide_struct_has_a_field_for_each_edge() -> None:
    columns = derive(wide(1_900))
    assert codes(columns) == set()
    assert {len(d.fields) for d in columns.derivations} == {1}


def test_a_struct_beyond_the_bound_is_whole_with_a_gap() -> None:
    columns = derive(wide(2_100))
    assert codes(columns) == {labels.FIELDS_TOO_MANY}
    assert len(columns.derivations) == 2_100
    assert {d.fields for d in columns.derivations} == {()}


def test_too_many_fields_of_a_plan_are_left_out_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(column_derivation, "MOST_FIELDS", 5_000)
    assert codes(derive(wide(200, 10))) == set()
    columns = derive(wide(200, 30))
    assert codes(columns) == {labels.FIELDS_TOO_MANY}
    assert len(columns.derivations) == 6_000
    assert {d.fields for d in columns.derivations} == {()}


def test_long_paths_of_fields_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_derivation, "MOST_CHARACTERS", 500)
    assert codes(derive(wide(300))) == {labels.FIELDS_TOO_MANY}


def test_fields_share_the_characters_of_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    document = PlanDocument(wide(20, 3), "", "", "1.2")
    assert all(flow.fields for flow in read_logic(document).flows)
    monkeypatch.setattr(plan_logic, "MOST_CHARACTERS", 100)
    logic = read_logic(document)
    assert labels.FIELDS_TOO_MANY in {code for code, _ in logic.gaps}
    assert {flow.fields for flow in logic.flows} == {""}
