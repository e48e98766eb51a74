"""Docs that can rot are held against the code."""

from __future__ import annotations

import re
from pathlib import Path

from graph_model import labels
from graph_model.facts import Facts
from graph_model.producers.openlineage.events import documents as openlineage
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from tests.captures import events, plans
from tests.openlineage_facts import facts_of_run
from tests.spline_facts import facts_of_plan

_DOCS = Path(__file__).parent.parent.parent / "docs"
_GRAPH = (_DOCS / "graph.md").read_text(encoding="utf-8")
_HTTP = (_DOCS / "http.md").read_text(encoding="utf-8")


def translated(name: str) -> list[Facts]:
    """The facts of a capture's 1.2 plans with their events."""
    result = []
    for document in plans(name):
        plan = read_plan(document)
        own = tuple(read_event(event) for event in events(name) if event["planId"] == plan.id)
        result.append(facts_of_plan(PlanDocument(plan, "", "hash", "1.2"), own))
    return result


FACTS = [f for name in ("a3_agg", "b_attendance_table", "c_fail_plan", "c_cte_twice")
         for f in translated(name)]  # fmt: skip
#: Columns that only the text of a query leaves open.
_OPEN = openlineage.read_event({
    "eventTime": "2026-01-01T08:00:00Z", "eventType": "COMPLETE", "run": {"runId": "r"},
    "job": {"namespace": "etl", "name": "load", "facets": {"sql": {
        "query": "CREATE TABLE t AS SELECT * FROM s", "dialect": "duckdb"}}},
    "inputs": [{"namespace": "n", "name": "s"}], "outputs": [{"namespace": "n", "name": "t"}],
})  # fmt: skip
assert isinstance(_OPEN, openlineage.RunEvent)
FACTS.append(facts_of_run([_OPEN]))


def row_of(word: str) -> str:
    """The row of a table in docs/graph.md that explains a word."""
    rows = [line for line in _GRAPH.splitlines() if line.startswith("|") and f"`{word}`" in line]
    first_cell = [row for row in rows if f"`{word}`" in row.split("|")[1]]
    assert len(first_cell) == 1, f"{word} has {len(first_cell)} rows in docs/graph.md"
    return first_cell[0]


def test_every_label_has_its_row() -> None:
    for label in (*labels.VERTEX_LABELS, *labels.EDGE_LABELS):
        assert row_of(label)


def test_no_row_explains_a_label_that_does_not_exist() -> None:
    cells = [line.split("|")[1] for line in _GRAPH.splitlines() if line.startswith("| `")]
    explained = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}
    assert explained == {*labels.VERTEX_LABELS, *labels.EDGE_LABELS}


def test_every_property_that_a_translation_writes_is_explained() -> None:
    for facts in FACTS:
        for element in (*facts.vertices, *facts.edges):
            for key, _ in element.properties:
                assert f"`{key}`" in row_of(element.label), (element.label, key)


def test_the_translation_shows_every_label_but_those_of_others() -> None:
    seen = {element.label for facts in FACTS for element in (*facts.vertices, *facts.edges)}
    assert seen == {*labels.VERTEX_LABELS, *labels.EDGE_LABELS}


def test_every_word_for_how_is_in_the_docs() -> None:
    for how in (*labels.DIRECT_HOWS, *labels.COLUMN_INDIRECT_HOWS, *labels.PLAN_INDIRECT_HOWS):
        assert how in _HTTP
        assert how in _GRAPH


def test_every_decision_has_a_number_of_its_own() -> None:
    """A decision that another one supersedes is removed, and its number stays unused."""
    numbers = [int(path.name[:4]) for path in (_DOCS / "decisions").glob("*.md")]
    assert numbers
    assert len(numbers) == len(set(numbers))
