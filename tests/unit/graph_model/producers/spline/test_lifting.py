"""API 1 documents in the form of API 1.2."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from graph_model.errors import InvalidDocument
from graph_model.producers.spline import column_derivation, documents, lifting
from graph_model.producers.spline.lifting import lift, lift_event
from tests import captures

INT = "e63adadc-648a-56a0-9424-3289858cf0bb"


def attribute(identifier: str) -> dict[str, Any]:
    return {"_typeHint": "expr.AttrRef", "refId": identifier}


def alias(name: str, child: dict[str, Any]) -> dict[str, Any]:
    return {"_typeHint": "expr.Alias", "alias": name, "child": child}


def generic(name: str, *children: dict[str, Any], **params: Any) -> dict[str, Any]:
    return {
        "_typeHint": "expr.Generic",
        "name": name,
        "dataTypeId": INT,
        "children": list(children),
        "exprType": name.capitalize(),
        "params": params,
    }


def read(identifier: int, *schema: str) -> dict[str, Any]:
    return {
        "id": identifier,
        "childIds": [],
        "inputSources": [f"file:/lake/{identifier}"],
        "schema": list(schema),
        "extra": {"name": "LogicalRelation", "sourceType": "parquet"},
    }


def operation(
    identifier: int, name: str, children: list[int], schema: list[str], **params: Any
) -> dict[str, Any]:
    return {
        "id": identifier,
        "childIds": children,
        "schema": schema,
        "params": params,
        "extra": {"name": name},
    }


def plan(*operations: dict[str, Any], reads: list[dict[str, Any]]) -> dict[str, Any]:
    """A plan of API 1; the write takes from the first operation, or from the first read."""
    declared = {
        identifier: None
        for item in (*reads, *operations)
        for identifier in item["schema"]
        if not identifier.startswith("undeclared")
    }
    return {
        "id": "71bbeefd-ac2a-5965-b8fe-f068c4250901",
        "operations": {
            "write": {
                "outputSource": "file:/lake/out",
                "append": False,
                "id": 0,
                "schema": None,
                "childIds": [(operations or reads)[0]["id"]],
                "extra": {"name": "InsertIntoHadoopFsRelationCommand"},
            },
            "reads": reads,
            "other": list(operations),
        },
        "systemInfo": {"name": "spark", "version": "2.4.8"},
        "agentInfo": {"name": "spline", "version": "0.5.6"},
        "extraInfo": {
            "appName": "old job",
            "dataTypes": [{"_typeHint": "dt.Simple", "id": INT, "name": "int", "nullable": True}],
            "attributes": [
                {"id": identifier, "name": identifier, "dataTypeId": INT} for identifier in declared
            ],
        },
    }


def lifted(document: dict[str, Any]) -> documents.ExecutionPlan:
    return documents.read_plan(lift(document))


def sources(read_plan: documents.ExecutionPlan, identifier: str) -> set[str]:
    """The nearest attributes that an attribute comes from, through any expression."""
    result: set[str] = set()
    stack = list(read_plan.attributes[identifier].children)
    while stack:
        reference = stack.pop()
        if reference.kind == "attribute":
            result.add(reference.id)
        elif reference.id in read_plan.functions:
            stack.extend(read_plan.functions[reference.id].children)
    return result


def tree(read_plan: documents.ExecutionPlan, reference: documents.Reference) -> Any:
    """An expression without its ids, so that two plans can be compared."""
    if reference.kind == "attribute":
        return read_plan.attributes[reference.id].name
    if reference.id in read_plan.constants:
        return ("constant", read_plan.constants[reference.id].value)
    function = read_plan.functions[reference.id]
    children = [tree(read_plan, child) for child in function.children]
    return (function.name, function.hint, function.class_name, function.symbol, children)


# --- a job that an agent reported in both versions ----------------------------------------------


def the_same_job_in_both_versions() -> tuple[documents.ExecutionPlan, documents.ExecutionPlan]:
    return lifted(captures.plans("f_api1")[0]), documents.read_plan(captures.plans("f_normal")[0])


def test_a_lifted_plan_has_the_operations_of_its_twin() -> None:
    old, new = the_same_job_in_both_versions()
    assert (old.id, old.name, old.system, old.agent) == (new.id, new.name, new.system, new.agent)
    assert [
        (item.id, item.kind, item.name, item.children, item.output, item.sources, item.target)
        for item in old.operations
    ] == [
        (item.id, item.kind, item.name, item.children, item.output, item.sources, item.target)
        for item in new.operations
    ]
    assert [item.extra for item in old.operations] == [item.extra for item in new.operations]


def test_a_lifted_plan_has_the_attributes_types_and_expressions_of_its_twin() -> None:
    old, new = the_same_job_in_both_versions()
    assert documents.outputs(old) == documents.outputs(new)
    assert old.data_types == new.data_types
    assert old.attributes.keys() == new.attributes.keys()
    for identifier, attribute in old.attributes.items():
        twin = new.attributes[identifier]
        assert (attribute.name, attribute.data_type) == (twin.name, twin.data_type)
        assert [tree(old, child) for child in attribute.children] == [
            tree(new, child) for child in twin.children
        ]


def test_a_lifted_plan_refers_to_expressions_in_its_params_as_its_twin_does() -> None:
    old, new = the_same_job_in_both_versions()
    for before, after in zip(old.operations, new.operations, strict=True):
        assert [tree(old, item) for item in documents.references_in(before.params)] == [
            tree(new, entry) for entry in documents.references_in(after.params)
        ]


def test_a_lifted_plan_has_the_column_lineage_of_its_twin() -> None:
    old, new = the_same_job_in_both_versions()
    assert column_derivation.derive(old).derivations
    assert column_derivation.derive(old) == column_derivation.derive(new)


def test_a_plan_is_lifted_the_same_way_every_time_and_left_as_it_was() -> None:
    document = captures.plans("f_no_header")[0]
    before = copy.deepcopy(document)
    assert json.dumps(lift(document)) == json.dumps(lift(document))
    assert document == before


def test_a_plan_that_speaks_1_2_already_is_returned_unchanged() -> None:
    document = captures.plans("f_normal")[0]
    assert lift(document) is document


def test_the_other_plan_of_an_agent_without_a_version_header_lifts_to_the_same() -> None:
    assert lift(captures.plans("f_no_header")[0]) == lift(captures.plans("f_api1")[0])


# --- every captured plan, as an agent would put it into API 1 -------------------------------------


def lowered(document: dict[str, Any]) -> dict[str, Any]:
    """The API 1 form of a 1.2 plan: trees in params, attributes without their origin."""
    known = {
        item["id"]: item
        for kind in ("functions", "constants")
        for item in document["expressions"].get(kind) or ()
    }
    operations = document["operations"]
    return {
        "id": document["id"],
        "operations": {
            "write": lowered_operation(operations["write"], known),
            "reads": [lowered_operation(item, known) for item in operations.get("reads") or ()],
            "other": [lowered_operation(item, known) for item in operations.get("other") or ()],
        },
        "systemInfo": document["systemInfo"],
        "agentInfo": document["agentInfo"],
        "extraInfo": document["extraInfo"]
        | {
            "attributes": [
                {"id": item["id"], "name": item["name"], "dataTypeId": item["dataType"]}
                for item in document.get("attributes") or ()
            ]
        },
    }


def lowered_operation(item: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    kept = {key: item[key] for key in ("outputSource", "inputSources", "append") if key in item}
    return kept | {
        "id": int(item["id"].removeprefix("op-")),
        "childIds": [int(child.removeprefix("op-")) for child in item.get("childIds") or ()],
        "schema": item.get("output"),
        "params": lowered_value(item.get("params") or {}, known),
        "extra": (item.get("extra") or {}) | {"name": item["name"]},
    }


def lowered_value(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [lowered_value(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"__attrId"}:
        return attribute(value["__attrId"])
    if value.keys() == {"__exprId"}:
        return lowered_expression(known[value["__exprId"]], known)
    return {key: lowered_value(item, known) for key, item in value.items()}


def lowered_expression(item: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    hint = item.get("extra", {}).get("_typeHint")
    typed = {"dataTypeId": item["dataType"]} if "dataType" in item else {}
    if hint == "expr.Literal":
        return {"_typeHint": hint, "value": item["value"]} | typed
    children = [lowered_value(child, known) for child in item.get("childRefs") or ()]
    if hint == "expr.Alias":
        return {"_typeHint": hint, "alias": item["name"], "child": children[0]}
    if hint == "expr.Binary":
        symbol = item["extra"]["symbol"]
        return {"_typeHint": hint, "symbol": symbol, "children": children} | typed
    return typed | {
        "_typeHint": hint,
        "name": item["name"],
        "exprType": item["extra"]["simpleClassName"],
        "children": children,
        "params": lowered_value(item.get("params") or {}, known),
    }


@pytest.mark.parametrize(
    "name", sorted(set(captures.names()) - {"f_api1", "f_no_header", "c_delta_append_merge"})
)
def test_a_captured_plan_comes_back_from_api_1_with_the_sources_of_its_columns(name: str) -> None:
    for document in captures.plans(name):
        new, old = documents.read_plan(document), lifted(lowered(document))
        assert [(item.id, item.name, item.output or ()) for item in old.operations] == [
            (item.id, item.name, item.output or ()) for item in new.operations
        ]
        for identifier, column in new.attributes.items():
            assert sources(old, identifier) == sources(new, identifier), column.name
            assert [tree(old, child) for child in old.attributes[identifier].children] == [
                tree(new, child) for child in column.children
            ]
        assert column_derivation.derive(old) == column_derivation.derive(new)


def test_a_merge_in_api_1_does_not_tell_where_its_columns_come_from() -> None:
    merge = captures.plans("c_delta_append_merge")[1]
    old = lifted(lowered(merge))
    assert [sources(old, item) for item in ("attr-13", "attr-14", "attr-15")] == [set()] * 3


# --- where attributes come from -----------------------------------------------------------------


def test_a_projection_gives_each_new_column_its_expression() -> None:
    add = generic("add", attribute("a"), attribute("b"))
    result = lifted(
        plan(
            operation(1, "Project", [2], ["a", "c"], projectList=[attribute("a"), alias("c", add)]),
            reads=[read(2, "a", "b")],
        )
    )
    assert sources(result, "c") == {"a", "b"}
    assert result.attributes["a"].children == ()


def test_an_aggregate_gives_each_new_column_its_expression_and_keeps_its_keys() -> None:
    result = lifted(
        plan(
            operation(
                1,
                "Aggregate",
                [2],
                ["a", "total"],
                groupingExpressions=[attribute("a")],
                aggregateExpressions=[
                    attribute("a"),
                    alias("total", generic("sum", attribute("b"))),
                ],
            ),
            reads=[read(2, "a", "b")],
        )
    )
    assert sources(result, "total") == {"b"}
    assert result.attributes["a"].children == ()


@pytest.mark.parametrize("name", ["SubqueryAlias", "View", "View (`v`, [a#1, b#2])"])
def test_an_alias_or_a_view_renames_its_input_by_position(name: str) -> None:
    result = lifted(plan(operation(1, name, [2], ["x", "b"]), reads=[read(2, "a", "b")]))
    assert result.attributes["x"].children == (documents.Reference("attribute", "a"),)
    assert result.attributes["b"].children == ()


def test_every_column_of_a_generator_comes_from_it() -> None:
    result = lifted(
        plan(
            operation(
                1,
                "Generate",
                [2],
                ["a", "position", "value"],
                generator=generic("posexplode", attribute("a")),
                generatorOutput=[attribute("position"), attribute("value")],
            ),
            reads=[read(2, "a")],
        )
    )
    assert sources(result, "position") == {"a"}
    assert sources(result, "value") == {"a"}


def test_a_generator_that_names_undeclared_columns_still_gives_its_own_their_source() -> None:
    result = lifted(
        plan(
            operation(
                1,
                "Generate",
                [2],
                ["a", "value"],
                generator=generic("explode", attribute("a")),
                generatorOutput=[attribute("undeclared")],
            ),
            reads=[read(2, "a")],
        )
    )
    assert sources(result, "value") == {"a"}


def test_a_union_stacks_its_inputs_by_position() -> None:
    result = lifted(
        plan(
            operation(1, "Union", [2, 3], ["x", "y"]), reads=[read(2, "a", "b"), read(3, "c", "d")]
        )
    )
    assert sources(result, "x") == {"a", "c"}
    assert sources(result, "y") == {"b", "d"}
    (reference,) = result.attributes["x"].children
    assert result.functions[reference.id].name == "union"


def written_columns(document: dict[str, Any]) -> dict[str, set[str]]:
    """Per written column the read attributes behind it."""
    result = column_derivation.derive(lifted(document))
    return {
        output: {
            derivation.source for derivation in result.derivations if derivation.output == place
        }
        for place, output in enumerate(result.outputs)
    }


def test_a_union_with_the_columns_of_its_first_input_stands_for_all_of_them() -> None:
    """Agents before 0.5.3."""
    union = operation(1, "Union", [2, 3], ["a"])
    assert written_columns(plan(union, reads=[read(2, "a"), read(3, "c")])) == {"a~1": {"a", "c"}}


def test_the_operations_above_such_a_union_read_its_columns() -> None:
    document = plan(
        operation(1, "Project", [4], ["z", "b"], projectList=[
            alias("z", generic("add", attribute("a"), attribute("b"))), attribute("b"),
        ]),
        operation(4, "Filter", [5], ["a", "b"], condition=attribute("a")),
        operation(5, "Union", [6, 8], ["a", "b"]),
        operation(6, "Union", [2, 3], ["a", "b"]),
        reads=[read(2, "a", "b"), read(3, "c", "b"), read(8, "e", "f")],
    )  # fmt: skip
    assert written_columns(document) == {"z": {"a", "b", "c", "e", "f"}, "b~5": {"b", "f"}}
    result = column_derivation.derive(lifted(document))
    assert {influence.source for influence in result.influences} == {"a", "c", "e"}


def test_wide_operations_beside_a_union_are_not_counted_as_its_branches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lifting, "_MOST_BRANCHES", 4)
    names = [f"c{number}" for number in range(9)]
    document = plan(
        operation(1, "Filter", [4], names),
        operation(4, "Join", [2, 5], names),
        operation(5, "Union", [3, 6], ["u"]),
        reads=[read(2, *names), read(3, "u"), read(6, "v")],
    )
    assert lifted(document).attributes["u~5"].children
    with pytest.raises(InvalidDocument, match="unions of at most 4 columns"):
        lifted(plan(operation(1, "Union", [2] * 3, names[:2]), reads=[read(2, *names[:2])]))


def test_a_union_of_one_input_with_itself_makes_no_column() -> None:
    result = lifted(plan(operation(1, "Union", [2, 2], ["a"]), reads=[read(2, "a")]))
    assert result.attributes.keys() == {"a"}
    assert result.functions == {}


def test_window_columns_follow_those_of_the_input() -> None:
    window = generic("windowexpression", generic("sum", attribute("b")), attribute("a"))
    result = lifted(
        plan(
            operation(
                1,
                "Window",
                [2],
                ["a", "b", "running"],
                windowExpressions=[alias("running", window)],
            ),
            reads=[read(2, "a", "b")],
        )
    )
    assert sources(result, "running") == {"a", "b"}


def test_a_column_keeps_its_origin_when_later_operations_pass_it_on() -> None:
    """Whatever the order in which the operations are listed."""
    make = operation(
        2, "Project", [3], ["c"], projectList=[alias("c", generic("upper", attribute("a")))]
    )
    keep = operation(1, "Project", [2], ["c"], projectList=[attribute("c")])
    document = plan(keep, make, reads=[read(3, "a")])
    turned = copy.deepcopy(document)
    turned["operations"]["other"].reverse()
    assert sources(lifted(document), "c") == sources(lifted(turned), "c") == {"a"}


@pytest.mark.parametrize(
    "made",
    [
        operation(1, "Project", [2], ["x", "y"], projectList=[attribute("a")]),
        operation(1, "Union", [2, 3], ["x", "y"]),
        operation(1, "Window", [2], ["a", "x"], windowExpressions=[]),
        operation(1, "Generate", [2], ["a", "x"], generator="explode(a)"),
        operation(1, "View", [2, 3], ["x"]),
        operation(1, "MergeIntoCommand", [2, 3], ["x"]),
        operation(1, "Project", [2], ["x"], projectList="[a#1]"),
    ],
    ids=lambda item: item["extra"]["name"],
)
def test_positions_that_do_not_correspond_give_no_sources(made: dict[str, Any]) -> None:
    result = lifted(plan(made, reads=[read(2, "a"), read(3, "b")]))
    assert result.attributes["x"].children == ()


# --- expressions --------------------------------------------------------------------------------


def every_kind_of_node() -> documents.ExecutionPlan:
    literal = {"_typeHint": "expr.Literal", "value": 2, "dataTypeId": INT}
    binary = {
        "_typeHint": "expr.Binary",
        "symbol": "<=>",
        "dataTypeId": INT,
        "children": [attribute("a"), literal],
    }
    udf = {"_typeHint": "expr.UDF", "name": "mask", "dataTypeId": INT, "children": [binary]}
    leaf = {
        "_typeHint": "expr.GenericLeaf",
        "name": "rand",
        "dataTypeId": INT,
        "exprType": "Rand",
        "params": {"child": {"_typeHint": "expr.Literal", "value": None}},
    }
    untyped = {
        "_typeHint": "expr.UntypedExpression",
        "name": "windowspecdefinition",
        "exprType": "WindowSpecDefinition",
        "children": [attribute("a"), {}],
    }
    column = alias("c", generic("coalesce", udf, leaf, untyped, mode="x"))
    return lifted(
        plan(operation(1, "Project", [2], ["c"], projectList=[column]), reads=[read(2, "a")])
    )


def test_every_kind_of_expression_node_is_taken_apart() -> None:
    result = every_kind_of_node()
    (reference,) = result.attributes["c"].children
    assert tree(result, reference) == (
        "c",
        "expr.Alias",
        "Alias",
        None,
        [
            (
                "coalesce",
                "expr.Generic",
                "Coalesce",
                None,
                [
                    (
                        "mask",
                        "expr.UDF",
                        "ScalaUDF",
                        None,
                        [
                            (
                                "equalnullsafe",
                                "expr.Binary",
                                "EqualNullSafe",
                                "<=>",
                                ["a", ("constant", 2)],
                            )
                        ],
                    ),
                    ("rand", "expr.GenericLeaf", "Rand", None, []),
                    (
                        "windowspecdefinition",
                        "expr.UntypedExpression",
                        "WindowSpecDefinition",
                        None,
                        ["a"],
                    ),
                ],
            )
        ],
    )


def test_expressions_are_numbered_from_the_root_and_from_left_to_right() -> None:
    result = every_kind_of_node()
    parts: list[documents.Function | documents.Constant] = [
        *result.functions.values(),
        *result.constants.values(),
    ]
    parts.sort(key=lambda part: int(part.id.removeprefix("expr-")))
    assert [getattr(part, "name", "constant") for part in parts] == [
        "c",
        "coalesce",
        "mask",
        "equalnullsafe",
        "constant",
        "rand",
        "constant",
        "windowspecdefinition",
    ]


def test_params_of_an_expression_are_kept_and_their_trees_taken_apart() -> None:
    functions = {function.name: function for function in every_kind_of_node().functions.values()}
    assert functions["coalesce"].params == {"mode": "x"}
    assert functions["c"].params == {"name": "c"}
    (reference,) = documents.references_in(functions["rand"].params)
    assert every_kind_of_node().constants[reference.id].value is None


def test_types_are_those_of_the_nodes() -> None:
    functions = {function.name: function for function in every_kind_of_node().functions.values()}
    assert functions["mask"].data_type == INT
    assert functions["c"].data_type == INT  # an alias has the type of its expression
    assert functions["windowspecdefinition"].data_type is None


def test_an_operator_without_a_known_name_keeps_its_symbol() -> None:
    node = {"_typeHint": "expr.Binary", "symbol": "~~", "children": [attribute("a")]}
    result = lifted(
        plan(
            operation(1, "Filter", [2], ["a"], condition=node),
            reads=[read(2, "a")],
        )
    )
    (function,) = result.functions.values()
    assert (function.name, function.symbol, function.class_name) == ("~~", "~~", "")


def test_plain_data_in_params_stays_as_it_is() -> None:
    params = {
        "path": "/x",
        "order": [{"direction": "ASC", "expression": attribute("a")}],
        "n": None,
    }
    result = lifted(plan(operation(1, "Sort", [2], ["a"], **params), reads=[read(2, "a")]))
    assert result.operations[1].params == {
        "path": "/x",
        "order": [{"direction": "ASC", "expression": {"__attrId": "a"}}],
        "n": None,
    }


def test_a_very_deep_expression_is_taken_apart_without_recursion() -> None:
    node = attribute("a")
    for _ in range(5_000):
        node = generic("negative", node)
    result = lifted(
        plan(
            operation(1, "Project", [2], ["c"], projectList=[alias("c", node)]),
            reads=[read(2, "a")],
        )
    )
    assert len(result.functions) == 5_001
    assert sources(result, "c") == {"a"}


# --- outlines that are broken -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda d: d.update(operations=None), "operations"),
        (lambda d: d["operations"].update(write=[]), "operations.write"),
        (lambda d: d["operations"].update(reads={}), "operations.reads"),
        (lambda d: d["operations"]["reads"].append(7), "operations.reads[1]"),
        (lambda d: d["operations"]["other"][0].update(schema="a"), "operations.other[0].schema"),
        (lambda d: d["operations"]["other"][0].update(childIds=2), "operations.other[0].childIds"),
        (lambda d: d["operations"]["other"][0].update(extra=1), "operations.other[0].extra"),
        (lambda d: d.update(extraInfo=[]), "extraInfo"),
        (lambda d: d["extraInfo"].update(attributes={}), "extraInfo.attributes"),
        (lambda d: d["extraInfo"]["attributes"].append("a"), "extraInfo.attributes[1]"),
        (lambda d: d["extraInfo"]["attributes"].append({"id": 1}), "extraInfo.attributes[1].id"),
        (lambda d: d["extraInfo"]["attributes"].append({"id": "a"}), "extraInfo.attributes"),
    ],
)
def test_a_broken_outline_is_refused_in_the_spelling_of_the_document(
    change: Any, path: str
) -> None:
    document = plan(operation(1, "Filter", [2], ["a"]), reads=[read(2, "a")])
    change(document)
    with pytest.raises(InvalidDocument) as refusal:
        lift(document)
    assert refusal.value.path == path


def test_a_document_that_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidDocument):
        lift([])
    with pytest.raises(InvalidDocument):
        lift_event("x")


def test_a_plan_without_attributes_or_expressions_is_lifted_too() -> None:
    """Clients that are no Spark agent: only reads and writes."""
    result = lifted(
        {
            "id": "71bbeefd-ac2a-5965-b8fe-f068c4250901",
            "operations": {
                "write": {"id": 0, "outputSource": "t", "append": True, "childIds": [1]},
                "reads": [{"id": 1, "inputSources": ["s"]}],
            },
            "systemInfo": {"name": "tool", "version": "1"},
        }
    )
    assert [item.id for item in result.operations] == ["op-1", "op-0"]
    assert result.write.append
    assert result.name is None


# --- events -------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [1_188_092_423, "1188092423"])
def test_the_duration_of_an_event_is_taken_out_of_extra(duration: object) -> None:
    document = copy.deepcopy(captures.events("f_api1")[0])
    document["extra"]["durationNs"] = duration
    event = documents.read_event(lift_event(document))
    assert event.duration_ns == 1_188_092_423
    assert "durationNs" not in event.extra
    assert event.application_id == "local-1795236363383"
    assert document["extra"]["durationNs"] == duration


@pytest.mark.parametrize("duration", [None, True, -1, 1.5, "1.5", "soon", "", "٣", "9" * 25, 2**63])
def test_a_duration_that_counts_no_nanoseconds_stays_where_it_is(duration: object) -> None:
    document = {
        "planId": "71bbeefd-ac2a-5965-b8fe-f068c4250901",
        "timestamp": 1,
        "extra": {"durationNs": duration},
    }
    assert lift_event(document) == document
    assert documents.read_event(lift_event(document)).duration_ns is None


def test_an_event_without_extra_is_lifted_to_itself() -> None:
    document = {"planId": "71bbeefd-ac2a-5965-b8fe-f068c4250901", "timestamp": 1, "extra": None}
    assert lift_event(document) == document


def test_a_duration_in_its_place_is_not_overwritten() -> None:
    document = {"planId": "p", "timestamp": 1, "durationNs": 5, "extra": {"durationNs": 7}}
    assert lift_event(document) == document
