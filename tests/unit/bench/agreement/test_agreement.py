"""``bench.agreement``: the second derivation, and how two are held side by side."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from bench.agreement import tpcds
from bench.agreement.__main__ import unique
from bench.agreement.catalyst import UnknownOperator, direct_sources
from bench.agreement.comparison import compare, compare_text
from graph_model.producers.spline.documents import read_plan

Nodes = list[dict[str, Any]]
PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical"


def node(word: str, /, *children: Nodes, **fields: Any) -> Nodes:
    """A tree as Spark lists it: the node, then its children's trees."""
    root = {"class": f"{PLANS}.{word}", "num-children": len(children), **fields}
    return [root, *(each for child in children for each in child)]


def attribute(number: int, name: str) -> Nodes:
    return node("AttributeReference", name=name, exprId={"id": number})


def alias(number: int, name: str, child: Nodes) -> Nodes:
    return node("Alias", child, name=name, exprId={"id": number})


def relation(*columns: tuple[int, str]) -> Nodes:
    return node("LogicalRelation", output=[attribute(*column) for column in columns])


def sources(plan: Nodes) -> dict[str, set[str]]:
    return {column.name: set(column.sources) for column in direct_sources(plan)}


STAFF: Final = relation((1, "id"), (2, "pay"), (3, "dept"))


def test_a_projected_column_has_the_sources_of_all_that_stands_in_its_expression() -> None:
    total = node("Add", attribute(1, "id"), attribute(2, "pay"))
    plan = node("Project", STAFF, projectList=[attribute(3, "dept"), alias(9, "total", total)])
    assert sources(plan) == {"dept": {"dept"}, "total": {"id", "pay"}}


def test_an_influence_is_no_source() -> None:
    case = node("CaseWhen", attribute(1, "id"), attribute(2, "pay"), attribute(3, "dept"))
    window = node("WindowExpression", attribute(2, "pay"), attribute(3, "dept"))
    plan = node("Project", STAFF, projectList=[alias(8, "c", case), alias(9, "w", window)])
    assert sources(plan) == {"c": {"pay", "dept"}, "w": {"pay"}}


def test_a_union_takes_each_column_from_all_branches_by_place() -> None:
    other = relation((5, "number"), (6, "wage"), (7, "unit"))
    result = sources(node("Union", STAFF, other))
    assert result == {"id": {"id", "number"}, "pay": {"pay", "wage"}, "dept": {"dept", "unit"}}


def test_a_reference_to_a_cte_has_the_columns_of_its_definition_under_other_ids() -> None:
    definition = node("CTERelationDef", STAFF, id=4)
    output = [attribute(11, "a"), attribute(12, "b"), attribute(13, "c")]
    reference = node("CTERelationRef", cteId=4, output=output)
    plan = node("WithCTE", definition, reference, cteDefs=[0], plan=1)
    assert sources(plan) == {"a": {"id"}, "b": {"pay"}, "c": {"dept"}}


def test_a_scalar_subquery_gives_its_value_and_a_semi_join_nothing() -> None:
    inner = node("Aggregate", STAFF, aggregateExpressions=[alias(8, "m", attribute(2, "pay"))])
    value = alias(20, "most", node("ScalarSubquery", plan=inner))
    other = relation((5, "number"))
    semi = node("Join", other, STAFF, joinType={"object": "plans.LeftSemi$"})
    plan = node("Project", semi, projectList=[attribute(5, "number"), value])
    assert sources(plan) == {"number": {"number"}, "most": {"pay"}}


@pytest.mark.parametrize("projections", [None, "listed"])
def test_an_expand_has_its_inputs_and_a_number_without_a_source(projections: str | None) -> None:
    row = [attribute(1, "id"), attribute(2, "pay"), node("Literal"), node("Literal")]
    output = [attribute(31, "id"), attribute(32, "pay"), attribute(33, "dept"),
              attribute(34, "spark_grouping_id")]  # fmt: skip
    rows = None if projections is None else [row, [*row[:2], attribute(3, "dept"), row[3]]]
    result = sources(node("Expand", STAFF, projections=rows, output=output))
    assert result == {"id": {"id"}, "pay": {"pay"}, "dept": {"dept"}, "spark_grouping_id": set()}


@pytest.mark.parametrize("plan", [node("MapInPandas", STAFF), node("LogicalRDD", output=[])])
def test_an_operator_that_is_not_known_is_not_guessed(plan: Nodes) -> None:
    with pytest.raises(UnknownOperator):
        direct_sources(plan)


# --- the archive ---------------------------------------------------------------------------------


def compiled(texts: Sequence[str]) -> bytes:
    """The head of a class file with these text constants, and a long between them."""
    pool = b"".join(
        b"\x01" + struct.pack(">H", len(text)) + text.encode() + b"\x05" + bytes(8)
        for text in texts
    )
    return b"\xca\xfe\xba\xbe" + bytes(4) + struct.pack(">H", 1 + 3 * len(texts)) + pool


def test_tables_and_queries_are_read_from_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "tests.jar"
    texts = [
        "shop",
        "StringOps",
        "\n  |`s_id` INT,\n  |`s_name` CHAR(3)\n  ",
        "day",
        "\n  |`d_id` INT",
    ]
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("org/apache/spark/sql/TPCDSSchema.class", compiled(texts))
        made.writestr("tpcds/q10.sql", "select 10")
        made.writestr("tpcds/q9b.sql", "select 9")
        made.writestr("tpch/q1.sql", "select 1")
    tables = tpcds.read_tables(archive)
    assert tables == {"shop": "`s_id` INT, `s_name` CHAR(3)", "day": "`d_id` INT"}
    assert tpcds.columns_of(tables) == {"s_id": "shop", "s_name": "shop", "d_id": "day"}
    assert tpcds.read_queries(archive) == [("q9b", "select 9"), ("q10", "select 10")]


def test_names_that_files_could_not_tell_apart_are_numbered() -> None:
    assert unique(["a", "b", "A", "a"]) == ["a", "b", "A_2", "a_3"]


# --- the comparison ------------------------------------------------------------------------------

COPY: Final = {
    "id": "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
    "operations": {
        "write": {"id": "op-0", "outputSource": "file:/out", "append": False, "childIds": ["op-1"]},
        "reads": [{"id": "op-1", "inputSources": ["file:/in/shop"], "output": ["attr-0"]}],
        "other": [],
    },
    "attributes": [{"id": "attr-0", "name": "s_id"}],
    "expressions": {},
    "systemInfo": {"name": "spark", "version": "3.5.9"},
}  # fmt: skip


def test_equal_sources_are_no_difference_and_others_show_both_sides() -> None:
    plan = read_plan(COPY)
    right = direct_sources(relation((1, "s_id")))
    assert not compare("q", plan, right, {"s_id": "shop"}).differences
    (difference,) = compare("q", plan, right, {"s_id": "day"}).differences
    assert str(difference) == "q.s_id: ours ['shop#s_id'], Spark's ['s_id'], gaps []"


def test_a_text_is_held_against_its_plan_with_sources_and_how() -> None:
    tables = {"shop": "`s_id` INT, `s_name` CHAR(3)"}
    plan = read_plan(COPY)
    assert not compare_text("q", "select s_id from shop", plan, tables).differences
    (difference,) = compare_text("q", "select s_id + 1 from shop", plan, tables).differences
    assert difference.ours == {"shop#s_id TRANSFORMATION"}
    assert difference.theirs == {"shop#s_id IDENTITY"}


def test_other_columns_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="other columns"):
        compare("q", read_plan(COPY), direct_sources(STAFF), {})
