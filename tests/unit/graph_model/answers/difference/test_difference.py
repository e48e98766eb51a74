"""Differences by hand: schemas, the alignment of operations, versions, the ranking of causes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graph_model import labels
from graph_model.answers.difference.causes import (
    Cause,
    CauseNode,
    Failure,
    JobActivity,
    causes_of_activity,
    rank,
    spell_interval,
    usual_interval,
)
from graph_model.answers.difference.graphs import (
    MOST_PAIRS,
    ComparedColumn,
    PlanStep,
    align,
    compare_schemas,
    describe,
    read_schema,
)
from graph_model.answers.difference.upstream import last_good, rows_written
from graph_model.answers.difference.versions import plan_versions, schema_versions
from graph_model.facts import ExecutionRow, LogicalPlanRow, SchemaRow, SchemaUseRow
from graph_model.naming import fold
from graph_model.picture.view import GraphView, JobNode
from graph_model.stores.catalogue_values import PlanSpan

FOLDER = Path(__file__).parents[4] / "fixtures" / "differences"


def cases(name: str) -> list[Any]:
    read = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return [pytest.param(one, id=one["rule"]) for one in read]


# --- schemas -------------------------------------------------------------------------------------


def a_schema(*columns: str) -> tuple[ComparedColumn, ...]:
    parts = [text.partition(" ") for text in columns]
    return tuple(ComparedColumn(fold(name), name, kind or None) for name, _, kind in parts)


@pytest.mark.parametrize("case", cases("schemas"))
def test_schemas_differ_as_somebody_worked_out_by_hand(case: dict[str, Any]) -> None:
    changes = compare_schemas(a_schema(*case["before"]), a_schema(*case["after"]))
    assert [[c.change, c.path, c.before, c.after] for c in changes] == case["changes"]
    if "sentences" in case:
        assert list(describe(changes)) == case["sentences"]


def test_of_two_columns_with_one_path_the_first_stands() -> None:
    twice = [{"name": "a", "path": "a", "type": "int"}, {"name": "A", "path": "a", "type": "date"}]
    assert read_schema(json.dumps(twice)) == a_schema("a int")


# --- operations ----------------------------------------------------------------------------------


def a_step(text: str) -> PlanStep:
    """``3 Filter a>1 <2``: id, name, content, ids of inputs."""
    key, name, *rest = text.split()
    kind = name if name in {"read", "write"} else "transform"
    content = [word for word in rest if not word.startswith("<")]
    return PlanStep(
        id=key,
        kind=kind,
        name=name,
        content=frozenset(("word", word) for word in content),
        inputs=tuple(word[1:] for word in rest if word.startswith("<")),
        datasets=frozenset(content) if kind == "read" else frozenset(),
    )


@pytest.mark.parametrize("case", cases("alignments"))
def test_operations_are_aligned_as_somebody_worked_out_by_hand(case: dict[str, Any]) -> None:
    before, after = ([a_step(text) for text in case[side]] for side in ("before", "after"))
    assert align(before, after) == case["pairs"]
    mirrored = {new: old for old, new in case["pairs"].items()}
    assert align(after, before) == mirrored


def test_two_plans_of_very_many_alike_operations_are_paired_in_their_order() -> None:
    number = int(MOST_PAIRS**0.5) + 1
    before = [a_step(f"{n} Filter before-{n}") for n in range(number)]
    after = [a_step(f"{n} Filter after-{n}") for n in range(number)]
    assert align(before, after) == {str(n): str(n) for n in range(number)}


# --- versions ------------------------------------------------------------------------------------


def a_schema_row(key: str, *columns: str) -> SchemaRow:
    listed = [{"name": c.name, "path": c.path, "type": c.type} for c in a_schema(*columns)]
    return SchemaRow(key, "ds", json.dumps(listed))


def test_a_schema_that_comes_back_is_seen_again_and_no_other_version() -> None:
    uses = [SchemaUseRow(p, "ds", s, "write") for p, s in (("p1", "A"), ("p2", "B"), ("p3", "A"))]
    rows = [a_schema_row("A", "id int"), a_schema_row("B", "id int", "day date")]
    spans = [PlanSpan(p, "completed", 1, at, at) for p, at in (("p1", 10), ("p2", 20), ("p3", 30))]
    first, second = schema_versions(uses, rows, spans)
    assert (first.schema, first.first, first.last, first.executions) == ("A", 10, 30, 2)
    assert (second.schema, second.first, second.last) == ("B", 20, 20)
    assert first.changes is None
    assert [one.change for one in second.changes or ()] == ["added"]


def test_where_a_write_tells_a_schema_those_of_readers_are_no_versions() -> None:
    uses = [SchemaUseRow("w", "ds", "A", "write"), SchemaUseRow("r", "ds", "B", "read")]
    rows = [a_schema_row("A", "id int"), a_schema_row("B", "id string")]
    spans = [PlanSpan(plan, "completed", 1, 10, 10) for plan in ("w", "r")]
    assert [one.schema for one in schema_versions(uses, rows, spans)] == ["A"]
    failed = [PlanSpan("w", "failed", 1, 10, 10), spans[1]]
    (only_read,) = schema_versions(uses, rows, failed)
    assert (only_read.schema, only_read.role) == ("B", "read")


def test_plans_follow_each_other_target_by_target() -> None:
    rows = [LogicalPlanRow(p, "job", p, t, "overwrite", "[]", "[]")
            for p, t in (("a1", "A"), ("b1", "B"), ("a2", "A"), ("never", "A"))]  # fmt: skip
    spans = [
        PlanSpan("a1", "completed", 2, 10, 40),
        PlanSpan("b1", "completed", 1, 20, 20),
        PlanSpan("a2", "failed", 1, 30, 30),
        PlanSpan("a2", "completed", 3, 35, 50),
    ]
    versions = plan_versions(rows, spans)
    assert [(one.plan.id, one.previous) for one in versions] == [
        ("a1", None), ("b1", None), ("a2", "a1"),
    ]  # fmt: skip
    assert (versions[2].first, versions[2].executions, versions[2].completed) == (30, 4, 3)


# --- causes --------------------------------------------------------------------------------------


def a_cause(kind: str, distance: int, at: int | None = None) -> Cause:
    return Cause(kind, CauseNode(f"{kind}-{distance}", "job", ""), distance, at, "")


def test_the_nearest_cause_comes_first_then_the_one_that_breaks_most() -> None:
    causes = [
        a_cause("rows", 1),
        a_cause("failed-run", 3),
        a_cause("schema", 1),
        a_cause("plan", 2),
    ]
    assert [one.kind for one in rank(causes)] == ["schema", "rows", "plan", "failed-run"]
    assert [one.at for one in rank([a_cause("late", 1, 5), a_cause("late", 1, 9)])] == [9, 5]


def test_a_run_that_somebody_aborted_is_another_cause_than_one_that_failed() -> None:
    node = JobNode("j", "clean", "shop", "clean", False, (), None)
    view = GraphView((node,), (), None, 1, 1, None)
    activity = JobActivity(
        "j",
        (Failure(labels.FAILED, "e1", 0, "no space"), Failure(labels.ABORTED, "e2", 1_000, None)),
        frozenset({labels.FAILED}),
    )
    failed, aborted = causes_of_activity([activity], view, "other", {"j": 2}, 2_000)
    assert (failed.kind, failed.reason) == (
        "failed-run",
        "job clean failed 1 or more times, last at 1970-01-01T00:00:00.000Z: no space",
    )
    assert (aborted.kind, aborted.reason) == (
        "aborted-run",
        "job clean was aborted once, last at 1970-01-01T00:00:01.000Z",
    )
    assert not list(causes_of_activity([activity], view, "j", {"j": 0}, 2_000))


@pytest.mark.parametrize(
    ("completed", "usual"),
    [
        ((), None),
        ((50, 40, 30), None),  # two intervals tell no rhythm
        ((60, 50, 40, 30), 10),
        ((160, 60, 50, 40, 30), 10),  # one gap is no rhythm either
        ((7, 7, 7, 7), None),
    ],
)
def test_a_rhythm_is_the_median_of_enough_intervals(
    completed: tuple[int, ...], usual: float | None
) -> None:
    assert usual_interval(completed) == usual


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (400, "less than 1 s"),
        (90_000, "1 min 30 s"),
        (3_600_000, "1 h"),
        (90_061_000, "1 d 1 h"),
    ],
)
def test_an_interval_is_told_in_its_two_greatest_units(milliseconds: int, words: str) -> None:
    assert spell_interval(milliseconds) == words


def a_row(
    key: str,
    at: int,
    run: str,
    state: str = "completed",
    metrics: str = "{}",
    target: str = "ds",
) -> ExecutionRow:
    return ExecutionRow(
        key, "sub", "plan", "xp", "lp", "job", run, target, at, state, None, None, metrics,
        "overwrite", False, "write", "", "spline", run, "", "",
    )  # fmt: skip


def test_the_last_good_run_is_one_of_which_nothing_failed() -> None:
    rows = [
        a_row("e5", 50, "three", "failed"),
        a_row("e4", 40, "two"),
        a_row("e3", 30, "two", "failed"),
        a_row("e2", 20, "one"),
        a_row("e1", 10, "one"),
    ]
    found = last_good(rows)
    assert found is not None
    assert found.id == "e2"


def test_in_one_long_run_the_last_good_execution_is_the_reference() -> None:
    rows = [a_row("e3", 30, "one", "failed"), a_row("e2", 20, "one"), a_row("e1", 10, "one")]
    found = last_good(rows)
    assert found is not None
    assert found.id == "e2"
    assert last_good(rows[:1]) is None


def test_an_earlier_step_of_a_failed_run_is_no_last_good_run() -> None:
    rows = [
        a_row("e5", 50, "two", "failed", target="report"),
        a_row("e4", 40, "two", target="daily"),
        a_row("e3", 30, "one", "failed", target="report"),
        a_row("e2", 20, "one", target="daily"),
    ]
    assert last_good(rows) is None
    found = last_good([*rows, a_row("e1", 10, "one", target="report")])
    assert found is not None
    assert found.id == "e1"


def test_rows_are_known_where_the_execution_tells_them() -> None:
    assert rows_written(a_row("e", 1, "r", metrics='{"write": {"numOutputRows": 7}}')) == 7
    assert rows_written(a_row("e", 1, "r", metrics='{"write": {}}')) is None
    assert rows_written(a_row("e", 1, "r", metrics="")) is None
