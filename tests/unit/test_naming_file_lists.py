"""Many files that one read lists are one dataset of their folder and pattern."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.documents import read_plan
from graph_model.errors import InvalidDocument
from graph_model.naming import DEFAULT_RULES, fold_files, folder_of, normalise
from graph_model.naming.rule_documents import read_rules
from graph_model.translate import PlanDocument, translate_plan
from tests.builders import a_document

MANY = [f"file:/in/orders-{number}.csv" for number in range(30)]


@pytest.mark.parametrize(
    ("options", "sources", "folded"),
    [
        ({"path": "/in/2024-*.csv"}, ["file:/in/2024-1.csv"], ("file:/in/2024-*.csv",)),
        ({"path": "/in/{a,b}/*.json"}, ["s3://b/in/a/x.json"], ("s3://b/in/{a,b}/*.json",)),
        ({"path": "s3a://b/in/*.json"}, ["s3a://b/in/x.json"], ("s3a://b/in/*.json",)),
        (
            {"paths": '["/a/*.csv","/b"]'},
            ["file:/a/x.csv", "file:/b"],
            ("file:/a/*.csv", "file:/b"),
        ),
        ({"path": "/t/dt=2024-*"}, ["file:/t/dt=2024-1"], ("file:/t/dt=2024-1",)),
        ({"path": "/t/part-*"}, ["file:/t/part-0"], ("file:/t/part-0",)),
        ({"path": "in/*.csv"}, ["file:/w/in/x.csv"], ("file:/w/in/x.csv",)),
        ({"path": 5, "paths": "[["}, ["file:/a"], ("file:/a",)),
        ({"path": "/in/*.csv"}, [], ()),
        ({}, MANY[:20], tuple(MANY[:20])),
        ({}, MANY, ("file:/in/*.csv",)),
        ({}, [*MANY, "file:/other/a.csv"], ("file:/in/*.csv", "file:/other/a.csv")),
        ({}, ["jdbc:h2:mem:x:a.csv"] * 30, ("jdbc:h2:mem:x:a.csv",)),
    ],
)
def test_a_pattern_stands_for_the_files_that_a_read_lists(options, sources, folded):
    assert fold_files(sources, options) == folded
    assert fold_files(folded, options) == folded


@given(st.permutations(MANY), st.integers(0, 9))
def test_neither_the_order_nor_another_file_makes_another_dataset(files, more):
    files = [*files, *(f"file:/in/late-{number}.csv" for number in range(more))]
    assert fold_files(files, {}) == ("file:/in/*.csv",)


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("file:/in/2024-*.csv", "file:/in"),
        ("s3://b/in/*/part-*.json", "s3://b/in"),
        ("s3://b/*.csv", "s3://b"),
        ("file:/*.csv", None),
        ("file:/in", None),
    ],
)
def test_a_pattern_lies_in_the_folder_above_its_first_wildcard(pattern, folder):
    found = folder_of(normalise(pattern, "")[0])
    assert (found.uri if found else None) == folder


def test_how_many_files_are_a_pattern_is_a_rule():
    assert fold_files(MANY[:3], {}, read_rules({"mostFilesOfAFolder": 2})) == ("file:/in/*.csv",)
    for wrong in (-1, True, "20", 10**9):
        with pytest.raises(InvalidDocument, match="mostFilesOfAFolder"):
            read_rules({"mostFilesOfAFolder": wrong})


def test_a_plan_over_another_number_of_files_is_the_same_logical_plan():
    one, two = (_translated(count) for count in (3_000, 3_001))
    assert one[1].logical_plan == two[1].logical_plan
    uris = {dict(v.properties)["uri"] for v in one[0].vertices if v.label == labels.DATASET}
    assert {"file:/in/*.csv", "file:/in"} <= uris
    assert not any(uri.endswith("o-1.csv") for uri in uris)
    name, place = one[1].names[0]
    assert (name.uri, place) == ("file:/in/*.csv", identity.dataset_id("", "file:/in"))


def _translated(count):
    document = json.loads(json.dumps(a_document()))
    read = document["operations"]["reads"][0]
    read["inputSources"] = [f"file:/in/o-{number}.csv" for number in range(count)]
    read["params"] = {"header": "true"}
    return translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"), DEFAULT_RULES)
