"""Short documents that expand very much lose the growing part, and say so; datasets stay."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.facts import Facts
from graph_model.producers.spline import column_values
from graph_model.producers.spline import plan_logic as logic_module
from graph_model.producers.spline.column_derivation import derive
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.expressions.text import Renderer
from graph_model.producers.spline.plan_logic import Logic, PlanDocument, read_logic
from graph_model.producers.spline.plans import translate_plan
from graph_model.producers.spline.tables import MORE_QUERIES, MOST_QUERIES
from tests.builders import PLAN_ID, PlanBuilder


def a_document(columns: int, **parts: Any) -> dict[str, Any]:
    """A copy of one table of ``columns`` columns, without names and types of its own."""
    read = {"id": "r", "inputSources": ["s3://lake/t"], "output": [f"c{n}" for n in range(columns)]}
    write = {"id": "w", "outputSource": "s3://lake/out", "append": False, "childIds": ["r"]}
    return {
        "id": PLAN_ID,
        "operations": {"write": write, "reads": [read]},
        "systemInfo": {"name": "spark", "version": "3.5.9"},
        **parts,
    }


def many_sources(columns: int) -> dict[str, Any]:
    document = a_document(columns)
    sources = [f"s3://lake/t{n}x" for n in range(columns)]
    document["operations"]["reads"][0]["inputSources"] = sources
    return document


def everything_from_everything(columns: int) -> dict[str, Any]:
    document = a_document(columns)
    outputs = [f"o{n}" for n in range(columns)]
    step = {"id": "p", "name": "Project", "childIds": ["r"], "output": outputs}
    document["operations"]["other"] = [step]
    document["operations"]["write"]["childIds"] = ["p"]
    document["attributes"] = [
        {"id": name, "name": name, "childRefs": [{"__exprId": "e"}]} for name in outputs
    ]
    inputs = [{"__attrId": f"c{n}"} for n in range(columns)]
    document["expressions"] = {"functions": [{"id": "e", "name": "hash", "childRefs": inputs}]}
    return document


def types_in_types(columns: int) -> dict[str, Any]:
    types = [
        {"id": f"t{n}", "fields": [{"name": f, "dataTypeId": f"t{n + 1}"} for f in "abcd"]}
        for n in range(20)
    ]
    return a_document(
        columns,
        attributes=[{"id": f"c{n}", "name": f"c{n}", "dataType": "t0"} for n in range(columns)],
        extraInfo={"dataTypes": types},
    )


def logic_of(document: dict[str, Any]) -> Logic:
    return read_logic(PlanDocument(read_plan(document), "", "hash", "1.2"))


def datasets(document: dict[str, Any]) -> set[str]:
    facts: Facts = translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"))[0]
    return {str(v.value("uri")) for v in facts.vertices if v.label == "dataset"}


def test_a_plan_that_reads_too_many_columns_keeps_its_datasets() -> None:
    logic = logic_of(many_sources(450))
    assert logic.gaps == (("column-lineage-too-large", "202,500 columns, at most 19,550"),)
    assert len(logic.reads) == 450
    assert (logic.flows, logic.influences) == ((), ())
    assert len(datasets(many_sources(450))) == 451


def test_columns_that_are_declared_do_not_count_against_the_allowance() -> None:
    declared = [{"id": f"c{n}", "name": f"c{n}"} for n in range(12_000)]
    assert len(logic_of(a_document(12_000, attributes=declared)).flows) == 12_000
    undeclared = logic_of(a_document(12_000))
    assert undeclared.gaps == (("column-lineage-too-large", "12,000 columns, at most 8,000"),)
    assert undeclared.flows == ()
    assert undeclared.reads[0].columns is None


def test_a_column_repeated_in_an_output_without_end_is_no_schema() -> None:
    document = a_document(1)
    document["operations"]["reads"][0]["output"] = ["c"] * 25_000
    logic = logic_of(document)
    assert ("column-lineage-too-large", "25,000 columns, at most 20,000") in logic.gaps
    assert (logic.write.columns, logic.flows) == (None, ())


def test_the_first_queries_of_a_plan_are_read_and_the_rest_is_told() -> None:
    document = a_document(1)
    document["operations"]["reads"][0]["inputSources"] = [
        f"jdbc:postgresql://h{n % 2}/d:(select c{n} from t{n}) q" for n in range(MOST_QUERIES + 2)
    ]
    logic = logic_of(document)
    assert [gap for gap in logic.gaps if gap[0] == "jdbc-query"] == [MORE_QUERIES]
    uris = {use.dataset.uri for use in logic.reads}
    assert "jdbc:postgresql://h0/d:public.t0" in uris
    assert len(uris) == MOST_QUERIES + 2  # the tables of the first, two databases for the rest
    assert f"jdbc:postgresql://h0/d:public.t{MOST_QUERIES}" not in uris


def test_a_plan_with_too_many_derivations_keeps_schemas_and_operations() -> None:
    logic = logic_of(everything_from_everything(320))
    assert logic.gaps == (("column-lineage-too-large", "102,400 derivations, at most 100,000"),)
    assert logic.flows == ()
    assert len(logic.write.columns or ()) == 320
    assert [operation.name for operation in logic.operations] == ["Read", "Project", "Write"]


def test_sources_that_share_columns_count_for_each_derivation() -> None:
    document = everything_from_everything(300)
    sources = [f"s3://lake/t{n}x" for n in range(6)]
    document["operations"]["reads"][0]["inputSources"] = sources
    logic = logic_of(document)
    assert logic.gaps == (("column-lineage-too-large", "540,000 derivations, at most 100,000"),)
    assert len(logic.reads) == 6


def test_types_that_are_too_long_together_are_left_out_of_schemas() -> None:
    logic = logic_of(types_in_types(2_000))
    assert {code for code, _ in logic.gaps} == {"schemas-too-large", "operations-too-large"}
    assert {column.type for column in logic.write.columns or ()} == {None}
    assert len(logic.flows) == 2_000
    assert sum(len(operation.output) for operation in logic.operations) < 60_000_000


def test_outputs_of_operations_are_left_out_where_they_are_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logic_module, "MOST_CHARACTERS", 2_000)
    logic = logic_of(a_document(100))
    assert [operation.output for operation in logic.operations][-1] == "[]"
    assert "operations-too-large" in {code for code, _ in logic.gaps}
    assert len(logic.flows) == 100


def test_expressions_of_all_edges_share_the_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PlanBuilder()
    read = plan.read("s3://lake/t", *(f"c{n}: int" for n in range(20)))
    total = plan.call("greatest", *(read[f"c{n}"] for n in range(20)))
    plan.write(plan.project(read, total=total))
    document = PlanDocument(plan.build(), "", "hash", "1.2")
    whole = read_logic(document)
    monkeypatch.setattr(logic_module, "MOST_CHARACTERS", 1_000)
    cut = read_logic(document)
    assert [(f.source, f.target, f.how) for f in cut.flows] == [
        (f.source, f.target, f.how) for f in whole.flows
    ]
    assert max(len(flow.expression) for flow in cut.flows) <= 50


def test_sets_of_columns_are_bounded_by_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_values, "MOST_BYTES", 10_000)
    result = derive(read_plan(everything_from_everything(400)))
    assert result.derivations == ()
    assert [gap.code for gap in result.gaps] == ["column-lineage-too-large"]


def test_one_expression_repeated_in_another_is_cut_not_multiplied() -> None:
    plan = PlanBuilder()
    read = plan.read(
        "s3://lake/t", *(f"a_rather_long_name_of_a_column_{n}: int" for n in range(50))
    )
    long = plan.call("concat", *read.output or ())
    wide = plan.call("concat", *[long] * 20_000)
    plan.write(plan.project(read, wide=wide))
    built = plan.build()
    (output,) = derive(built).outputs
    renderer = Renderer(built)
    assert len(renderer.text(built.attributes[output].children[0], inline=True)) <= renderer.limit


@pytest.mark.parametrize("build", [many_sources, types_in_types])
def test_equal_documents_lose_the_same(build: Any) -> None:
    assert logic_of(build(450)).fingerprint() == logic_of(build(450)).fingerprint()


def test_parameters_nested_without_end_are_cut() -> None:
    nested: Any = "x"
    for _ in range(600):
        nested = [nested]
    document = a_document(1)
    step = {"id": "p", "name": "Project", "childIds": ["r"], "params": {"nested": nested}}
    document["operations"]["other"] = [step]
    document["operations"]["write"]["childIds"] = ["p"]
    assert "((...))" in logic_of(document).operations[1].parameters
