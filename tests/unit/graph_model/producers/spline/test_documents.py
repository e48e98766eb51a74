"""The reader of plans and events: the faults that it forgives, and the refusals with places."""

from __future__ import annotations

import contextlib
import copy
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidDocument
from graph_model.producers.spline import documents
from graph_model.producers.spline.documents import Reference, read_event, read_plan
from tests import captures

PLAN_ID = "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10"
Change = Callable[[dict[str, Any]], object]


def plan_document() -> dict[str, Any]:
    """Keeps a > 10 of (a, b), adds c = a + b, writes (b, c)."""
    return {
        "id": PLAN_ID,
        "name": "demo",
        "operations": {
            "write": {
                "id": "op-0",
                "name": "InsertIntoHadoopFsRelationCommand",
                "outputSource": "file:/data/out",
                "append": False,
                "childIds": ["op-1"],
                "params": {"path": "/data/out"},
                "extra": {"destinationType": "parquet"},
            },
            "reads": [
                {
                    "id": "op-3",
                    "name": "LogicalRelation",
                    "inputSources": ["file:/data/in.csv"],
                    "output": ["attr-0", "attr-1"],
                    "params": {"header": "true"},
                    "extra": {"sourceType": "csv"},
                }
            ],
            "other": [
                {
                    "id": "op-2",
                    "name": "Filter",
                    "childIds": ["op-3"],
                    "output": ["attr-0", "attr-1"],
                    "params": {"condition": {"__exprId": "expr-0"}},
                },
                {
                    "id": "op-1",
                    "name": "Project",
                    "childIds": ["op-2"],
                    "output": ["attr-1", "attr-2"],
                    "params": {"projectList": [{"__attrId": "attr-1"}, {"__exprId": "expr-2"}]},
                },
            ],
        },
        "attributes": [
            {"id": "attr-0", "name": "a", "dataType": "int"},
            {"id": "attr-1", "name": "b", "dataType": "int"},
            {"id": "attr-2", "name": "c", "childRefs": [{"__exprId": "expr-2"}]},
        ],
        "expressions": {
            "functions": [
                {
                    "id": "expr-0",
                    "name": "greaterthan",
                    "childRefs": [{"__attrId": "attr-0"}, {"__exprId": "expr-1"}],
                    "extra": {"_typeHint": "expr.Binary", "symbol": ">"},
                },
                {
                    "id": "expr-2",
                    "name": "add",
                    "childRefs": [{"__attrId": "attr-0"}, {"__attrId": "attr-1"}],
                    "extra": {"_typeHint": "expr.Binary", "simpleClassName": "Add", "symbol": "+"},
                },
            ],
            "constants": [{"id": "expr-1", "value": 10}],
        },
        "systemInfo": {"name": "spark", "version": "3.5.1"},
        "agentInfo": {"name": "spline", "version": "2.2.0"},
        "extraInfo": {"appName": "demo application"},
    }


def event_document() -> dict[str, Any]:
    return {
        "planId": PLAN_ID,
        "timestamp": 1_700_000_000_000,
        "durationNs": 1_500_000_000,
        "extra": {"appId": "local-1", "readMetrics": {}},
    }


def changed(document: dict[str, Any], change: Change) -> dict[str, Any]:
    change(document)
    return document


def read_changed(change: Change) -> documents.ExecutionPlan:
    return read_plan(changed(plan_document(), change))


def refused_at(document: object) -> str:
    with pytest.raises(InvalidDocument) as refusal:
        read_plan(document)
    assert refusal.value.expected
    assert (refusal.value.path or "document") in str(refusal.value)
    return refusal.value.path


# --- the content of a plan ----------------------------------------------------------------------


def test_a_plan_is_read_into_its_normal_form() -> None:
    plan = read_plan(plan_document())
    assert (plan.id, plan.name, plan.discriminator, plan.labels) == (PLAN_ID, "demo", None, {})
    assert [operation.id for operation in plan.operations] == ["op-3", "op-2", "op-1", "op-0"]
    assert [operation.kind for operation in plan.operations] == [
        "read",
        "transform",
        "transform",
        "write",
    ]
    assert plan.write.target == "file:/data/out"
    assert plan.write.append is False
    assert plan.write.output is None
    assert [read.sources for read in plan.reads] == [("file:/data/in.csv",)]
    assert plan.system == documents.Product("spark", "3.5.1")
    assert plan.agent == documents.Product("spline", "2.2.0")


def test_attributes_functions_and_constants_are_found_by_their_id() -> None:
    plan = read_plan(plan_document())
    assert plan.attributes["attr-2"].children == (Reference("expression", "expr-2"),)
    assert plan.attributes["attr-0"].children == ()
    assert plan.functions["expr-2"] == documents.Function(
        id="expr-2",
        name="add",
        data_type=None,
        children=(Reference("attribute", "attr-0"), Reference("attribute", "attr-1")),
        params={},
        hint="expr.Binary",
        class_name="Add",
        symbol="+",
    )
    assert plan.constants["expr-1"] == documents.Constant("expr-1", 10, None)


@pytest.mark.parametrize("name", captures.names())
def test_everything_that_agents_sent_in_1_2_is_read(name: str) -> None:
    for exchange in captures.load(name):
        if "v1.2" not in exchange.content_type:
            continue
        if exchange.kind == "plan":
            plan = read_plan(exchange.document)
            assert plan.write is plan.operations[-1]
            assert plan.agent == documents.Product("spline", "2.2.0")
        else:
            assert [read_event(event) for event in exchange.document]


def test_a_plan_of_api_1_1_is_one_without_labels() -> None:
    document = captures.plans("f_labels_esc")[0]
    assert read_plan(document).labels == {"team": ("hr",), "job": ("emp-curate",)}
    del document["labels"]
    assert read_plan(document).labels == {}


# --- forgiven faults ----------------------------------------------------------------------------


def test_numeric_ids_are_texts() -> None:
    """Published clients that are no Spark agent number their operations."""
    plan = read_plan(
        {
            "id": PLAN_ID,
            "operations": {
                "write": {"id": 0, "outputSource": "t", "append": True, "childIds": [1]},
                "reads": [{"id": 2, "inputSources": ["s"], "output": [7]}],
                "other": [{"id": 1, "childIds": [2], "output": [8]}],
            },
            "attributes": [
                {"id": 7, "name": "a"},
                {"id": 8, "name": "b", "childRefs": [{"__exprId": 9}]},
            ],
            "expressions": {
                "functions": [{"id": 9, "name": "f", "childRefs": [{"__attrId": 7}]}],
            },
            "systemInfo": {"name": "tool", "version": 1},
        }
    )
    assert [operation.id for operation in plan.operations] == ["2", "1", "0"]
    assert plan.operations[1].output == ("8",)
    assert plan.attributes["8"].children == (Reference("expression", "9"),)
    assert plan.functions["9"].children == (Reference("attribute", "7"),)
    assert plan.system.version == "1"


def test_a_numeric_id_and_the_same_digits_are_one_operation() -> None:
    document = plan_document()
    document["operations"]["reads"][0]["id"] = 3
    document["operations"]["other"][0]["childIds"] = ["3"]
    assert read_plan(document).operations[0].id == "3"


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(attributes=None),
        lambda d: d.update(expressions=None),
        lambda d: d["expressions"].update(functions=None, constants=None),
        lambda d: d.update(labels=None, extraInfo=None, agentInfo=None, discriminator=None),
        lambda d: (
            d["operations"].update(other=None) or d["operations"]["write"].update(childIds=[])
        ),
        lambda d: (
            d["operations"].update(reads=None, other=None)
            or d["operations"]["write"].update(childIds=[])
        ),
        lambda d: d["operations"]["write"].update(params=None, extra=None, name=None),
        lambda d: d["operations"]["reads"][0].update(params=None, extra=None, childIds=None),
        lambda d: d["operations"]["other"][0].update(params=None, extra=None, name=None),
        lambda d: d["attributes"][2].update(childRefs=None, dataType=None, extra=None),
        lambda d: d["expressions"]["functions"][0].update(childRefs=None, params=None, extra=None),
    ],
)
def test_null_stands_for_an_absent_collection(change: Change) -> None:
    assert read_changed(change).id == PLAN_ID


def test_null_values_inside_params_are_data() -> None:
    plan = read_changed(lambda d: d["operations"]["other"][0].update(params={"condition": None}))
    assert plan.operations[1].params == {"condition": None}


def test_missing_names_are_made_from_the_kind_of_the_operation() -> None:
    def unnamed(document: dict[str, Any]) -> None:
        operations = document["operations"]
        for operation in (operations["write"], *operations["reads"], *operations["other"]):
            del operation["name"]

    names = [operation.name for operation in read_changed(unnamed).operations]
    assert names == ["Read", "Transform", "Transform", "Write"]


def test_the_name_of_the_plan_falls_back_to_that_of_the_application() -> None:
    assert read_changed(lambda d: d.pop("name")).name == "demo application"
    assert read_changed(lambda d: d.update(name="", extraInfo={"appName": 7})).name is None


def test_an_absent_plan_id_is_replaced_by_the_one_given() -> None:
    document = plan_document()
    del document["id"]
    assert read_plan(document, "made-up").id == "made-up"
    assert refused_at(document) == "id"


def test_a_plan_id_is_written_in_one_way() -> None:
    plain = PLAN_ID.replace("-", "").upper()
    assert read_changed(lambda d: d.update(id=plain)).id == PLAN_ID


def test_references_may_dangle() -> None:
    """As in MERGE and in generators with renamed columns."""

    def dangling(document: dict[str, Any]) -> None:
        document["attributes"][2]["childRefs"] = [{"__exprId": "expr-99"}, {"__attrId": "attr-99"}]
        document["operations"]["other"][1]["output"] = ["attr-98"]

    plan = read_changed(dangling)
    assert plan.attributes["attr-2"].children == (
        Reference("expression", "expr-99"),
        Reference("attribute", "attr-99"),
    )
    assert plan.operations[2].output == ("attr-98",)


def test_unknown_fields_are_kept_out_of_the_way() -> None:
    def unknown(document: dict[str, Any]) -> None:
        for item in (
            document,
            document["operations"],
            document["operations"]["write"],
            document["operations"]["reads"][0],
            document["operations"]["other"][0],
            document["attributes"][0],
            document["expressions"],
            document["expressions"]["functions"][0],
            document["expressions"]["constants"][0],
            document["systemInfo"],
        ):
            item["later"] = {"__attrId": "attr-0", "more": [1]}

    assert read_changed(unknown) == read_plan(plan_document())


def test_an_output_that_is_missing_differs_from_an_empty_one() -> None:
    plan = read_changed(lambda d: d["operations"]["other"][0].pop("output"))
    assert plan.operations[1].output is None
    plan = read_changed(lambda d: d["operations"]["other"][0].update(output=[]))
    assert plan.operations[1].output == ()


def test_a_read_may_have_several_sources_or_none() -> None:
    plan = read_changed(lambda d: d["operations"]["reads"][0].update(inputSources=["a", "b", "a"]))
    assert plan.reads[0].sources == ("a", "b", "a")
    plan = read_changed(lambda d: d["operations"]["reads"][0].update(inputSources=[]))
    assert plan.reads[0].sources == ()


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        ({"team": ["hr", "pay"]}, {"team": ("hr", "pay")}),
        ({"team": "hr"}, {"team": ("hr",)}),
        ({"n": 7, "m": [1.5]}, {"n": ("7",), "m": ("1.5",)}),
        ({"team": None, "other": [None, "x"]}, {"team": (), "other": ("x",)}),
        ({"team": []}, {"team": ()}),
    ],
)
def test_one_label_stands_for_a_list_of_one(labels: object, read: object) -> None:
    assert read_changed(lambda d: d.update(labels=labels)).labels == read
    assert read_event({**event_document(), "labels": labels}).labels == read


@pytest.mark.parametrize("value", [None, False, 0, "", 1.5, [], {"a": [None]}, "x" * 10_000])
def test_a_constant_may_be_any_json_value(value: object) -> None:
    plan = read_changed(lambda d: d["expressions"]["constants"][0].update(value=value))
    assert plan.constants["expr-1"].value == value


@pytest.mark.parametrize("agent", [None, {}])
def test_a_plan_may_come_from_no_agent(agent: object) -> None:
    assert read_changed(lambda d: d.update(agentInfo=agent)).agent is None


def test_a_data_type_that_is_no_text_is_unknown() -> None:
    plan = read_changed(lambda d: d["attributes"][0].update(dataType={"name": "int"}))
    assert plan.attributes["attr-0"].data_type is None


def test_operations_that_the_write_does_not_reach_are_left_out() -> None:
    def unreached(document: dict[str, Any]) -> None:
        document["operations"]["other"].append({"id": "op-9", "childIds": ["op-3"]})

    assert [operation.id for operation in read_changed(unreached).operations] == [
        "op-3",
        "op-2",
        "op-1",
        "op-0",
    ]


def test_a_read_that_nothing_links_to_the_write_is_still_a_read() -> None:
    def loose(document: dict[str, Any]) -> None:
        document["operations"]["reads"].append({"id": "op-9", "inputSources": ["file:/loose"]})

    plan = read_changed(loose)
    assert plan.operations[0].id == "op-9"
    assert {source for read in plan.reads for source in read.sources} >= {"file:/loose"}
    assert plan.write.id == "op-0"


# --- refusals with their places -----------------------------------------------------------------


@pytest.mark.parametrize("document", [None, [], "plan", 7, True, [plan_document()]])
def test_a_document_that_is_no_object_is_refused(document: object) -> None:
    assert refused_at(document) == ""


@pytest.mark.parametrize(
    ("path", "change"),
    [
        # required, and missing
        ("operations", lambda d: d.pop("operations")),
        ("operations.write", lambda d: d["operations"].pop("write")),
        ("operations.write.id", lambda d: d["operations"]["write"].pop("id")),
        ("operations.write.append", lambda d: d["operations"]["write"].pop("append")),
        ("operations.write.childIds", lambda d: d["operations"]["write"].pop("childIds")),
        ("operations.write.outputSource", lambda d: d["operations"]["write"].pop("outputSource")),
        ("operations.reads[0].id", lambda d: d["operations"]["reads"][0].pop("id")),
        (
            "operations.reads[0].inputSources",
            lambda d: d["operations"]["reads"][0].pop("inputSources"),
        ),
        ("operations.other[1].id", lambda d: d["operations"]["other"][1].pop("id")),
        ("attributes[2].id", lambda d: d["attributes"][2].pop("id")),
        ("attributes[1].name", lambda d: d["attributes"][1].pop("name")),
        ("expressions.functions[0].id", lambda d: d["expressions"]["functions"][0].pop("id")),
        ("expressions.functions[1].name", lambda d: d["expressions"]["functions"][1].pop("name")),
        ("expressions.constants[0].id", lambda d: d["expressions"]["constants"][0].pop("id")),
        ("expressions.constants[0].value", lambda d: d["expressions"]["constants"][0].pop("value")),
        ("systemInfo", lambda d: d.pop("systemInfo")),
        ("systemInfo.name", lambda d: d["systemInfo"].pop("name")),
        ("systemInfo.version", lambda d: d["systemInfo"].pop("version")),
        ("agentInfo.version", lambda d: d["agentInfo"].pop("version")),
        # of another type
        ("id", lambda d: d.update(id="op-0")),
        ("id", lambda d: d.update(id=7)),
        ("name", lambda d: d.update(name=["demo"])),
        ("discriminator", lambda d: d.update(discriminator={})),
        ("labels", lambda d: d.update(labels=["hr"])),
        ("labels.team", lambda d: d.update(labels={"team": [{"a": 1}]})),
        ("labels.team", lambda d: d.update(labels={"team": True})),
        ("operations", lambda d: d.update(operations=[])),
        ("operations.write", lambda d: d["operations"].update(write=[d["operations"]["write"]])),
        ("operations.write.append", lambda d: d["operations"]["write"].update(append="false")),
        ("operations.write.append", lambda d: d["operations"]["write"].update(append=0)),
        ("operations.write.append", lambda d: d["operations"]["write"].update(append=None)),
        ("operations.write.childIds", lambda d: d["operations"]["write"].update(childIds="op-1")),
        ("operations.write.childIds", lambda d: d["operations"]["write"].update(childIds=None)),
        (
            "operations.write.childIds[0]",
            lambda d: d["operations"]["write"].update(childIds=[["op-1"]]),
        ),
        ("operations.write.id", lambda d: d["operations"]["write"].update(id=True)),
        ("operations.write.name", lambda d: d["operations"]["write"].update(name={})),
        ("operations.write.params", lambda d: d["operations"]["write"].update(params=[])),
        ("operations.write.extra", lambda d: d["operations"]["write"].update(extra="x")),
        (
            "operations.write.outputSource",
            lambda d: d["operations"]["write"].update(outputSource=" "),
        ),
        (
            "operations.write.outputSource",
            lambda d: d["operations"]["write"].update(outputSource=7),
        ),
        ("operations.reads", lambda d: d["operations"].update(reads={})),
        ("operations.reads[1]", lambda d: d["operations"]["reads"].append(None)),
        (
            "operations.reads[0].inputSources",
            lambda d: d["operations"]["reads"][0].update(inputSources="file:/data/in.csv"),
        ),
        (
            "operations.reads[0].inputSources",
            lambda d: d["operations"]["reads"][0].update(inputSources=None),
        ),
        (
            "operations.reads[0].inputSources[1]",
            lambda d: d["operations"]["reads"][0].update(inputSources=["a", None]),
        ),
        (
            "operations.reads[0].inputSources[0]",
            lambda d: d["operations"]["reads"][0].update(inputSources=[""]),
        ),
        (
            "operations.reads[0].output",
            lambda d: d["operations"]["reads"][0].update(output="attr-0"),
        ),
        (
            "operations.reads[0].output[1]",
            lambda d: d["operations"]["reads"][0].update(output=["attr-0", {"__attrId": "a"}]),
        ),
        ("operations.other", lambda d: d["operations"].update(other="none")),
        ("operations.other[0]", lambda d: d["operations"].update(other=["op-1"])),
        ("operations.other[0].childIds", lambda d: d["operations"]["other"][0].update(childIds=3)),
        (
            "operations.other[0].childIds[0]",
            lambda d: d["operations"]["other"][0].update(childIds=[None]),
        ),
        ("operations.other[1].params", lambda d: d["operations"]["other"][1].update(params="x")),
        ("attributes", lambda d: d.update(attributes={})),
        ("attributes[0]", lambda d: d.update(attributes=[None])),
        ("attributes[0].id", lambda d: d["attributes"][0].update(id=False)),
        ("attributes[0].name", lambda d: d["attributes"][0].update(name=None)),
        ("attributes[0].extra", lambda d: d["attributes"][0].update(extra=[])),
        ("attributes[0].childRefs", lambda d: d["attributes"][0].update(childRefs={})),
        ("attributes[0].childRefs[0]", lambda d: d["attributes"][0].update(childRefs=["attr-1"])),
        ("attributes[0].childRefs[0]", lambda d: d["attributes"][0].update(childRefs=[{}])),
        (
            "attributes[0].childRefs[1]",
            lambda d: d["attributes"][0].update(
                childRefs=[{"__attrId": "a"}, {"__attrId": "b", "__exprId": "c"}]
            ),
        ),
        (
            "attributes[0].childRefs[0]",
            lambda d: d["attributes"][0].update(childRefs=[{"__attrId": None}]),
        ),
        (
            "attributes[0].childRefs[0]",
            lambda d: d["attributes"][0].update(childRefs=[{"__attrId": True}]),
        ),
        (
            "attributes[0].childRefs[0]",
            lambda d: d["attributes"][0].update(childRefs=[{"attrId": "a"}]),
        ),
        ("expressions", lambda d: d.update(expressions=[])),
        ("expressions.functions", lambda d: d["expressions"].update(functions={})),
        ("expressions.functions[0]", lambda d: d["expressions"].update(functions=["f"])),
        (
            "expressions.functions[1].childRefs[0]",
            lambda d: d["expressions"]["functions"][1].update(
                childRefs=[{"__exprId": "a", "x": 1}]
            ),
        ),
        (
            "expressions.functions[0].params",
            lambda d: d["expressions"]["functions"][0].update(params=[]),
        ),
        (
            "expressions.functions[0].extra",
            lambda d: d["expressions"]["functions"][0].update(extra=7),
        ),
        ("expressions.constants", lambda d: d["expressions"].update(constants=7)),
        ("expressions.constants[0]", lambda d: d["expressions"].update(constants=[[]])),
        ("systemInfo", lambda d: d.update(systemInfo="spark")),
        ("systemInfo.version", lambda d: d["systemInfo"].update(version=[3, 5])),
        ("agentInfo", lambda d: d.update(agentInfo="spline")),
        ("agentInfo", lambda d: d.update(agentInfo=[])),
        ("extraInfo", lambda d: d.update(extraInfo=[])),
        # used twice
        ("attributes[2].id", lambda d: d["attributes"][2].update(id="attr-0")),
        (
            "expressions.functions[1].id",
            lambda d: d["expressions"]["functions"][1].update(id="expr-0"),
        ),
        (
            "expressions.constants[0].id",
            lambda d: d["expressions"]["constants"][0].update(id="expr-2"),
        ),
        ("operations.reads[0].id", lambda d: d["operations"]["reads"][0].update(id="op-0")),
        ("operations.other[1].id", lambda d: d["operations"]["other"][1].update(id="op-2")),
        (
            "operations.other[0].id",
            lambda d: d["operations"]["other"][0].update(id="op-3"),
        ),
        # no such operation
        (
            "operations.write.childIds[1]",
            lambda d: d["operations"]["write"].update(childIds=["op-1", "op-7"]),
        ),
        (
            "operations.other[0].childIds[0]",
            lambda d: d["operations"]["other"][0].update(childIds=["attr-0"]),
        ),
        (
            "operations.reads[0].childIds[0]",
            lambda d: d["operations"]["reads"][0].update(childIds=["op-7"]),
        ),
        # cycles
        ("operations", lambda d: d["operations"]["other"][0].update(childIds=["op-1"])),
        ("operations", lambda d: d["operations"]["other"][0].update(childIds=["op-2"])),
        ("operations", lambda d: d["operations"]["write"].update(childIds=["op-0"])),
        ("operations", lambda d: d["operations"]["reads"][0].update(childIds=["op-0"])),
    ],
)
def test_a_plan_that_breaks_the_protocol_is_refused_where_it_does(
    path: str, change: Change
) -> None:
    assert refused_at(changed(plan_document(), change)) == path


def test_a_refusal_names_every_wrong_place() -> None:
    plan = plan_document()
    plan["labels"] = {"team": [{}], "job": "a"}
    plan["operations"]["write"] |= {"append": "yes", "childIds": [{}, "op-1"]}
    plan["operations"]["reads"][0]["inputSources"] = ["file:/a", "", 7]
    plan["attributes"] += [{"id": "a9"}, {"name": "b"}]
    plan["systemInfo"] = {}
    with pytest.raises(InvalidDocument) as refusal:
        read_plan(plan)
    attributes = len(plan["attributes"])
    assert refusal.value.errors == {
        "labels.team": ["a string or a list of strings"],
        "operations.write.append": ["true or false"],
        "operations.write.childIds[0]": ["a string"],
        "operations.reads[0].inputSources[1]": ["a URI, not empty"],
        "operations.reads[0].inputSources[2]": ["a URI, not empty"],
        f"attributes[{attributes - 2}].name": ["a string"],
        f"attributes[{attributes - 1}].id": ["a string"],
        "systemInfo.name": ["a string"],
        "systemInfo.version": ["a string"],
    }
    assert refusal.value.path == "labels.team"
    assert all(place in str(refusal.value) for place in refusal.value.errors)


class CountedList(list[Any]):
    """A list that knows how many of its entries were read."""

    entries_read = 0

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.entries_read += 1
            yield item


@pytest.mark.parametrize(
    "place",
    [
        ("operations", "reads"),
        ("operations", "other"),
        ("operations", "write", "childIds"),
        ("attributes",),
        ("expressions", "functions"),
    ],
)
def test_a_list_of_nothing_but_mistakes_is_read_for_fifty_of_them(place: tuple[str, ...]) -> None:
    listed = CountedList([{}] * 1_000)
    plan = plan_document()
    _put(plan, place, listed)
    with pytest.raises(InvalidDocument) as refusal:
        read_plan(plan)
    assert len(refusal.value.errors) == 50
    assert listed.entries_read <= 50


def test_no_change_of_type_anywhere_escapes_as_another_exception() -> None:
    """Puts each kind of JSON value in each place of a plan: it is read or refused."""
    values: list[Any] = [
        None,
        True,
        0,
        -1,
        1.5,
        math.nan,
        math.inf,
        "",
        "x",
        [],
        [[]],
        {},
        {"a": 1},
    ]
    for place in _places(plan_document()):
        for value in values:
            document = plan_document()
            _put(document, place, copy.deepcopy(value))
            with contextlib.suppress(InvalidDocument):
                read_plan(document)


def _places(value: object) -> list[tuple[str | int, ...]]:
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    result: list[tuple[str | int, ...]] = []
    for key, inner in items:
        result += [(key,), *((key, *rest) for rest in _places(inner))]
    return result


def _put(document: Any, place: tuple[str | int, ...], value: object) -> None:
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


# --- order --------------------------------------------------------------------------------------


@st.composite
def structures(draw: st.DrawFn) -> list[list[int]]:
    """Children per operation, by number; 0 is the write, and each has only greater ones."""
    count = draw(st.integers(min_value=1, max_value=9))
    return [
        draw(st.lists(st.sampled_from(range(number + 1, count)), max_size=4))
        if number + 1 < count
        else []
        for number in range(count)
    ]


def document_of(structure: list[list[int]], ids: list[str], order: list[int]) -> dict[str, Any]:
    def operation(number: int) -> dict[str, Any]:
        children = [ids[child] for child in structure[number]]
        return {"id": ids[number], "name": f"n{number}", "childIds": children}

    inner = [number for number in order if number > 0]
    return {
        "id": PLAN_ID,
        "operations": {
            "write": {**operation(0), "outputSource": "t", "append": False},
            "reads": [
                {**operation(number), "inputSources": ["s"]}
                for number in inner
                if not structure[number]
            ],
            "other": [operation(number) for number in inner if structure[number]],
        },
        "systemInfo": {"name": "spark", "version": "3"},
    }


@given(structures(), st.data())
def test_the_order_of_operations_depends_on_their_structure_alone(
    structure: list[list[int]], data: st.DataObject
) -> None:
    numbers = list(range(len(structure)))
    plain = read_plan(document_of(structure, [f"op-{number}" for number in numbers], numbers))
    ids = data.draw(st.permutations([f"x{number * 7}" for number in numbers]))
    order = data.draw(st.permutations(numbers))
    shuffled = read_plan(document_of(structure, ids, order))
    assert [item.name for item in shuffled.operations] == [item.name for item in plain.operations]


@given(structures())
def test_every_operation_comes_once_and_after_its_inputs(structure: list[list[int]]) -> None:
    numbers = list(range(len(structure)))
    plan = read_plan(document_of(structure, [str(number) for number in numbers], numbers))
    places = {operation.id: place for place, operation in enumerate(plan.operations)}
    assert len(places) == len(plan.operations)
    assert plan.write.kind == "write"
    for operation in plan.operations:
        assert all(places[child] < places[operation.id] for child in operation.children)


def test_the_order_of_children_counts() -> None:
    ids = ["op-0", "op-1", "op-2"]
    left = read_plan(document_of([[1, 2], [], []], ids, [0, 1, 2]))
    right = read_plan(document_of([[2, 1], [], []], ids, [0, 1, 2]))
    assert [item.name for item in left.operations] == ["n1", "n2", "n0"]
    assert [item.name for item in right.operations] == ["n2", "n1", "n0"]


def chain(length: int) -> dict[str, Any]:
    structure = [[number + 1] for number in range(length - 1)] + [[]]
    numbers = list(range(length))
    document = document_of(structure, [f"op-{number}" for number in numbers], numbers)
    document["operations"]["reads"][0]["output"] = ["attr-0"]
    document["attributes"] = [
        {"id": f"attr-{number}", "name": "a", "childRefs": [{"__attrId": f"attr-{number + 1}"}]}
        for number in numbers
    ]
    return document


def test_chains_of_five_thousand_operations_do_not_recurse() -> None:
    plan = read_plan(chain(5_000))
    assert len(plan.operations) == 5_000
    assert documents.outputs(plan)["op-0"] == ("attr-0",)


def test_a_cycle_behind_five_thousand_operations_is_refused() -> None:
    document = chain(5_000)
    document["operations"]["reads"][0]["childIds"] = ["op-1"]
    assert refused_at(document) == "operations"


def test_a_diamond_on_a_diamond_is_read_in_one_pass() -> None:
    """Forty levels of two parents each have 2**40 paths."""
    levels = 40
    structure = [[1, 1]]
    for level in range(levels):
        structure.append([level + 2, level + 2])
    structure.append([])
    numbers = list(range(len(structure)))
    plan = read_plan(document_of(structure, [str(number) for number in numbers], numbers))
    assert len(plan.operations) == levels + 2


# --- references ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ({"__attrId": "a"}, Reference("attribute", "a")),
        ({"__exprId": "e"}, Reference("expression", "e")),
        ({"__exprId": 7}, Reference("expression", "7")),
        ({"__attrId": "a", "more": 1}, None),
        ({"__attrId": "a", "__exprId": "e"}, None),
        ({"__attrId": ["a"]}, None),
        ({"__attrId": True}, None),
        ({"__opId": "a"}, None),
        ({}, None),
        ("attr-0", None),
        (None, None),
    ],
)
def test_a_reference_is_an_object_with_that_one_key(
    value: object, reference: Reference | None
) -> None:
    assert documents.as_reference(value) == reference


def test_references_are_found_at_any_depth_in_document_order() -> None:
    params = {
        "list": [{"__attrId": "a"}, [{"__exprId": "b"}, {"x": {"__attrId": "c"}}]],
        "plain": {"__attrId": "not", "one": "more key"},
        "last": {"__exprId": "d"},
    }
    assert [item.id for item in documents.references_in(params)] == ["a", "b", "c", "d"]


def test_references_are_found_below_any_depth_without_recursion() -> None:
    value: Any = {"__attrId": "deep"}
    for _ in range(20_000):
        value = [value]
    assert list(documents.references_in(value)) == [Reference("attribute", "deep")]
    while isinstance(value, list):  # taken apart here, so that freeing it does not recurse
        value = value.pop()


# --- schemas that operations inherit ------------------------------------------------------------


def test_an_operation_without_output_inherits_the_columns_that_its_inputs_share() -> None:
    plan = read_changed(lambda d: d["operations"]["other"][0].pop("output"))
    assert documents.outputs(plan) == {
        "op-3": ("attr-0", "attr-1"),
        "op-2": ("attr-0", "attr-1"),
        "op-1": ("attr-1", "attr-2"),
        "op-0": ("attr-1", "attr-2"),
    }


def test_an_operation_over_unlike_inputs_without_output_has_no_schema() -> None:
    ids = ["op-0", "op-1", "op-2"]
    document = document_of([[1, 2], [], []], ids, [0, 1, 2])
    first, second = document["operations"]["reads"]
    first["output"], second["output"] = ["a"], ["b"]
    assert documents.outputs(read_plan(document))["op-0"] is None
    second["output"] = ["a"]
    assert documents.outputs(read_plan(document))["op-0"] == ("a",)
    del second["output"]  # one that says nothing does not contradict
    assert documents.outputs(read_plan(document))["op-0"] == ("a",)
    del first["output"]
    assert documents.outputs(read_plan(document))["op-0"] is None


# --- types --------------------------------------------------------------------------------------


def types_of(*listed: dict[str, Any]) -> dict[str, documents.DataType]:
    plan = read_changed(lambda d: d["extraInfo"].update(dataTypes=list(listed)))
    return dict(plan.data_types)


def struct(identifier: str, *fields: tuple[str, str]) -> dict[str, Any]:
    listed = [{"name": name, "dataTypeId": field} for name, field in fields]
    return {"_typeHint": "dt.Struct", "id": identifier, "fields": listed}


def test_types_are_written_as_spark_writes_them() -> None:
    types = types_of(
        {"_typeHint": "dt.Simple", "id": "t0", "name": "decimal(10,2)", "nullable": False},
        {"_typeHint": "dt.Array", "id": "t1", "elementDataTypeId": "t2", "nullable": True},
        struct("t2", ("city", "t0"), ("zips", "t3")),
        {"_typeHint": "dt.Array", "id": "t3", "elementDataTypeId": "t0"},
    )
    assert documents.type_text(types, "t0") == "decimal(10,2)"
    assert (
        documents.type_text(types, "t1")
        == "array<struct<city:decimal(10,2),zips:array<decimal(10,2)>>>"
    )
    assert types["t0"].nullable is False
    assert types["t3"].nullable is True


def test_a_type_that_is_not_declared_is_a_name_or_unknown() -> None:
    assert documents.type_text({}, "INTEGER") == "INTEGER"
    assert documents.type_text({}, PLAN_ID) == ""
    assert documents.type_text({}, None) is None


def test_a_type_inside_itself_ends_in_dots() -> None:
    types = types_of(struct("t0", ("left", "t0"), ("right", "t0"), ("value", "long")))
    assert documents.type_text(types, "t0") == "struct<left:...,right:...,value:long>"


def test_a_type_of_endless_width_ends_in_dots() -> None:
    """Forty structs of two fields, each the next one, are 2**40 parts."""
    types = types_of(*(struct(f"t{n}", ("a", f"t{n + 1}"), ("b", f"t{n + 1}")) for n in range(40)))
    text = documents.type_text(types, "t0")
    assert text is not None
    assert text.count("...") > 0
    assert len(text) < 1_000_000


def test_a_type_of_endless_depth_ends_in_dots() -> None:
    types = types_of(*({"id": f"t{n}", "elementDataTypeId": f"t{n + 1}"} for n in range(1_000)))
    text = documents.type_text(types, "t0")
    assert text is not None
    assert text.startswith("array<array<")
    assert "..." in text


@pytest.mark.parametrize(
    "listed",
    [
        "int",
        [None],
        [{"id": 7, "name": "int"}],
        [{"name": "int"}],
        [{"id": "t0", "fields": "a"}],
        [{"id": "t0", "fields": [None, {"dataTypeId": "t0"}, {"name": 7}]}],
        [{"id": "t0", "elementDataTypeId": 7, "name": []}],
    ],
)
def test_a_malformed_type_only_costs_its_name(listed: object) -> None:
    plan = read_changed(lambda d: d["extraInfo"].update(dataTypes=listed))
    assert documents.type_text(plan.data_types, "t0") in ("t0", "")


# --- events -------------------------------------------------------------------------------------


def event_refused_at(document: object, path: str = "") -> str:
    with pytest.raises(InvalidDocument) as refusal:
        read_event(document, path)
    return refusal.value.path


def test_a_refusal_of_an_event_names_every_wrong_place() -> None:
    with pytest.raises(InvalidDocument) as refusal:
        read_event({"timestamp": "now", "durationNs": -1, "labels": 7, "extra": []}, "[3]")
    assert list(refusal.value.errors) == [
        "[3].planId", "[3].timestamp", "[3].durationNs", "[3].labels", "[3].extra",
    ]  # fmt: skip


def test_an_event_is_read_into_its_normal_form() -> None:
    assert read_event(event_document()) == documents.ExecutionEvent(
        plan_id=PLAN_ID,
        timestamp=1_700_000_000_000,
        duration_ns=1_500_000_000,
        discriminator=None,
        labels={},
        error=None,
        extra={"appId": "local-1", "readMetrics": {}},
    )


def test_an_event_needs_no_more_than_its_plan_and_time() -> None:
    event = read_event({"planId": PLAN_ID.upper(), "timestamp": 0})
    assert (event.plan_id, event.timestamp) == (PLAN_ID, 0)
    assert (event.duration_ns, event.error, event.extra) == (None, None, {})
    assert event.application_id == ""


def test_an_application_id_that_is_no_text_is_none() -> None:
    assert read_event({**event_document(), "extra": {"appId": 7}}).application_id == ""
    assert read_event(event_document()).application_id == "local-1"


@pytest.mark.parametrize("error", ["stack trace", {"code": 7}, False, ["a"], 0])
def test_an_error_may_be_any_json_value(error: object) -> None:
    assert read_event({**event_document(), "error": error}).error == error


def test_a_failed_run_says_why_and_not_how_long() -> None:
    (event,) = captures.events("c_fail_udf")
    read = read_event(event)
    assert "PythonException" in read.error
    assert read.duration_ns is None


def test_a_whole_number_may_be_written_with_a_point() -> None:
    event = read_event({**event_document(), "timestamp": 1.7e12, "durationNs": 2.0})
    assert (event.timestamp, event.duration_ns) == (1_700_000_000_000, 2)
    assert isinstance(event.timestamp, int)


@pytest.mark.parametrize(
    "timestamp",
    [None, True, "1700000000000", -1, 1.5, math.nan, math.inf, -math.inf, 253_402_300_800_000, []],
)
def test_a_timestamp_that_is_no_time_is_refused(timestamp: object) -> None:
    assert event_refused_at({**event_document(), "timestamp": timestamp}) == "timestamp"


def test_times_reach_to_the_end_of_the_year_9999() -> None:
    last = 253_402_300_799_999
    assert read_event({**event_document(), "timestamp": last}).timestamp == last


@pytest.mark.parametrize("duration", [True, "5", -1, 0.5, math.nan, math.inf, 2**63, {}])
def test_a_duration_that_counts_no_nanoseconds_is_refused(duration: object) -> None:
    assert event_refused_at({**event_document(), "durationNs": duration}) == "durationNs"


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("planId", lambda d: d.pop("planId")),
        ("planId", lambda d: d.update(planId="plan")),
        ("planId", lambda d: d.update(planId=7)),
        ("timestamp", lambda d: d.pop("timestamp")),
        ("extra", lambda d: d.update(extra=[])),
        ("labels", lambda d: d.update(labels="hr")),
        ("labels.team", lambda d: d.update(labels={"team": {}})),
        ("discriminator", lambda d: d.update(discriminator=[])),
    ],
)
def test_an_event_that_breaks_the_protocol_is_refused_where_it_does(
    path: str, change: Change
) -> None:
    document = changed(event_document(), change)
    assert event_refused_at(document) == path
    assert event_refused_at(document, "[3]") == f"[3].{path}"


@pytest.mark.parametrize("document", [None, [], "event", 7])
def test_an_event_that_is_no_object_is_refused(document: object) -> None:
    assert event_refused_at(document, "[0]") == "[0]"


def test_reading_leaves_the_document_as_it_was() -> None:
    document, event = plan_document(), event_document()
    read_plan(document)
    read_event(event)
    assert json.dumps(document) == json.dumps(plan_document())
    assert json.dumps(event) == json.dumps(event_document())
