"""Many files that one read lists are one dataset of their folder and pattern."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.errors import InvalidDocument
from graph_model.naming import DEFAULT_RULES, MOST_LISTED, fold_files, listed_names, varying_part
from graph_model.naming.rules_json import read_rules
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from tests.builders import a_document
from tests.work import count_calls

MANY = [f"file:/in/orders-{number}.csv" for number in range(30)]
PARTS = [f"file:/t/part-{number}.csv" for number in range(30)]


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
        # relative to a folder that the files tell
        ({"path": "in/*.csv"}, ["file:/w/in/x.csv"], ("file:/w/in/*.csv",)),
        (
            {"paths": ["in/*.csv", "b/*.csv"]},
            ["file:/w/in/x.csv", "file:/w/b/x.csv"],
            ("file:/w/b/*.csv", "file:/w/in/*.csv"),
        ),
        ({"path": "in/*.csv"}, ["file:/x.csv"], ("file:/x.csv",)),
        ({"path": "in/*.csv"}, ["file:/w/out/x.csv"], ("file:/w/out/x.csv",)),
        # tables, and pieces of them
        ({"path": "/t/*"}, ["file:/t/a", "file:/t/b"], ("file:/t/a", "file:/t/b")),
        (
            {"path": "/t/*/dt=1"},
            ["file:/t/a/dt=1", "file:/t/b/dt=1"],
            ("file:/t/a/dt=1", "file:/t/b/dt=1"),
        ),
        (
            {"path": "/t/*/*.parquet"},
            ["file:/t/a/part-0.parquet", "file:/t/b/part-0.parquet"],
            ("file:/t/a/part-0.parquet", "file:/t/b/part-0.parquet"),
        ),
        ({"path": "/t/*"}, ["file:/t/a", "file:/t/x.csv"], ("file:/t/*", "file:/t/a")),
        ({"path": "/t/c*"}, [f"file:/t/c{number}" for number in range(21)], ("file:/t/c*",)),
        ({"path": 5, "paths": "[["}, ["file:/a"], ("file:/a",)),
        ({"path": "/in/*.csv"}, [], ()),
        ({}, MANY[:20], tuple(MANY[:20])),
        ({}, MANY, ("file:/in/orders-*.csv",)),
        ({}, [f"file:/in/{n}.CSV" for n in range(30)], ("file:/in/*.CSV",)),
        ({}, [f"file:/*/a{n}.csv" for n in range(30)], ("file:/*/a*.csv",)),
        ({}, [f"file:/in/a[{n}].csv" for n in range(30)], ("file:/in/a*.csv",)),
        ({}, [*MANY, "file:/other/a.csv"], ("file:/in/orders-*.csv", "file:/other/a.csv")),
        ({}, PARTS, tuple(PARTS)),
        ({}, ["jdbc:h2:mem:x:a.csv"] * 30, ("jdbc:h2:mem:x:a.csv",)),
    ],
)
def test_a_pattern_stands_for_the_files_that_a_read_lists(options, sources, folded):
    assert fold_files(sources, options) == folded
    assert fold_files(folded, options) == folded


@pytest.mark.parametrize(
    ("roots", "pattern", "source", "folded"),
    [
        ("files", "/logs/app-*", "file:/logs/app-1", "file:/logs/app-*"),
        ("folders", "/logs/app-*", "file:/logs/app-1", "file:/logs/app-1"),
        ("folders", "/out/*.csv", "file:/out/x.csv", "file:/out/x.csv"),
        ("files", "/out/*.csv", "file:/out/x.csv", "file:/out/*.csv"),
        ("files", "/t/*.csv", "file:/t/part-0.csv", "file:/t/part-0.csv"),
        (None, "/out/*.csv", "file:/out/x.csv", "file:/out/*.csv"),
        (["files"], "/logs/app-*", "file:/logs/app-1", "file:/logs/app-1"),
    ],
)
def test_a_producer_that_looked_says_which_paths_are_files(roots, pattern, source, folded):
    assert fold_files([source], {"path": pattern}, DEFAULT_RULES, roots) == (folded,)
    assert fold_files([folded], {"path": pattern}, DEFAULT_RULES, roots) == (folded,)


@given(st.permutations(MANY), st.integers(0, 9))
def test_neither_the_order_nor_another_file_with_that_beginning_makes_another_dataset(files, more):
    files = [*files, *(f"file:/in/orders-late-{number}.csv" for number in range(more))]
    assert fold_files(files, {}) == ("file:/in/orders-*.csv",)


def test_a_list_keeps_the_names_that_its_pattern_leaves_open():
    names = {str(number) for number in range(30)}
    assert listed_names([(MANY, {})]) == {"file:/in/orders-*.csv": names}
    for reads in (
        [(MANY, {"path": "/in/orders-*.csv"})],
        [(MANY, {}), (["file:/in/orders-*.csv"], {})],
        [([f"file:/in/orders-{number}.csv" for number in range(MOST_LISTED + 1)], {})],
        [(MANY[:20], {})],
    ):
        assert not listed_names(reads), reads


@pytest.mark.parametrize(
    ("file", "part"),
    [("s3://b/in/o-7.csv", "7"), ("s3://b/in/o-7.csv/part-0.csv", "7"), ("s3://b/in/o-.csv", "")],
)
def test_a_file_and_what_lies_in_it_have_its_part_of_the_name(file, part):
    assert varying_part(file, "s3://b/in/o-*.csv") == part


def test_how_many_files_are_a_pattern_is_a_rule():
    assert fold_files(MANY[:3], {}, read_rules({"mostFilesOfAFolder": 2})) == (
        "file:/in/orders-*.csv",
    )
    for wrong in (-1, True, "20", 10**9):
        with pytest.raises(InvalidDocument, match="mostFilesOfAFolder"):
            read_rules({"mostFilesOfAFolder": wrong})


def test_a_plan_over_another_number_of_files_is_the_same_logical_plan():
    first, two = (_translated(count) for count in (3_000, 3_001))
    assert first[1].logical_plan == two[1].logical_plan
    uris = {dict(v.properties)["uri"] for v in first[0].vertices if v.label == labels.DATASET}
    assert "file:/in/o-*.csv" in uris
    assert not {"file:/in", "file:/in/o-1.csv"} & uris
    assert not first[1].names


def _translated(count):
    return _plan_over([f"file:/in/o-{number}.csv" for number in range(count)])


def _plan_over(sources, **params):
    document = json.loads(json.dumps(a_document()))
    read = document["operations"]["reads"][0]
    read["inputSources"] = sources
    read["params"] = {"header": "true", **params}
    return translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"), DEFAULT_RULES)


# Files, pieces of tables, folders and names that no rule knows, of several folders and stores.
LISTED = st.sampled_from(
    [
        f"{root}/{folder}{name}"
        for root in ("file:/in", "s3://b/in")
        for folder in ("", "a/", "b/")
        for name in ("x.csv", "y.csv", "app-1", "dt=1", "dt=1/x.csv", "part-0.csv", "*.csv", "c/x")
    ]
)
TOLD = st.sampled_from(
    ["/in/*", "/in/*.csv", "/in/*/*", "in/*.csv", "*.csv", "/in/*/dt=*", "/in/{a,b}", "/in/x.csv"]
)


@given(st.lists(LISTED, min_size=1, max_size=6), TOLD, st.randoms(), st.sampled_from([0, 20]))
def test_order_and_repetition_of_the_files_make_no_other_names(sources, told, random, most):
    rules = read_rules({"mostFilesOfAFolder": most})
    again = [*sources, *random.choices(sources, k=3)]
    random.shuffle(again)
    for options in ({}, {"path": told}, {"paths": [told, "/in/b"]}):
        folded = fold_files(sources, options, rules)
        assert set(fold_files(again, options, rules)) == set(folded)
        assert fold_files(folded, options, rules) == folded


@given(st.permutations([*MANY[:3], "file:/t/a/part-0", "file:/t/b/part-0"]))
def test_the_order_of_the_files_makes_no_other_logical_plan(sources):
    plans = {
        _plan_over(listed, path="/*/*")[1].logical_plan
        for listed in (sources, sorted(sources), sources * 2)
    }
    assert len(plans) == 1


def test_twice_as_many_files_take_twice_the_steps():
    def steps(count, options):
        sources = [f"file:/in/{number % 7}/{count}-{number}.csv" for number in range(count)]
        return count_calls(lambda: fold_files(sources, options))

    for options in ({}, {"path": "/in/*/*.csv"}, {"path": "in/*/*.csv"}):
        assert steps(4_000, options) < 2.5 * steps(2_000, options)
