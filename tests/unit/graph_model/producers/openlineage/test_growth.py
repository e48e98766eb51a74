"""Large events: work grows with the document, a part that would grow beyond it becomes a gap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph_model import labels, naming
from graph_model.facts import LogicalPlanRow, SchemaRow
from graph_model.producers import bounds
from graph_model.producers.openlineage import columns, job_logic, translate
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run

WIDTH = 10_000


def wide(fields: dict[str, Any], dataset: list[Any]) -> Any:
    schema = {"schema": {"fields": [{"name": f"c{n}", "type": "int"} for n in range(WIDTH)]}}
    lineage = {"columnLineage": {"fields": fields, "dataset": dataset}}
    return read_event(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "run": {"runId": "wide"},
            "job": {"namespace": "etl", "name": "wide"},
            "inputs": [{"namespace": "s3://lake", "name": "a", "facets": schema}],
            "outputs": [{"namespace": "s3://lake", "name": "b", "facets": {**schema, **lineage}}],
        }
    )


def source(field: str, kind: str, how: str) -> dict[str, Any]:
    transformation = {"type": kind, "subtype": how}
    return {
        "namespace": "s3://lake",
        "name": "a",
        "field": field,
        "transformations": [transformation],
    }


def test_ten_thousand_columns_are_as_many_edges() -> None:
    fields = {
        f"c{n}": {
            "inputFields": [source(f"c{n}", "DIRECT", "IDENTITY"), source("c0", "INDIRECT", "JOIN")]
        }
        for n in range(WIDTH)
    }
    facts = facts_of_run([wide(fields, [source("c1", "INDIRECT", "FILTER")])])
    found = [edge.label for edge in facts.edges]
    assert found.count(labels.DERIVES) == WIDTH
    assert found.count(labels.INFLUENCES) == 2  # the join that all of them have, and the filter
    assert len([vertex for vertex in facts.vertices if vertex.label == labels.COLUMN]) == 2 * WIDTH
    assert len([row for row in facts.rows if isinstance(row, SchemaRow)]) == 2


def test_more_column_edges_than_a_plan_may_have_are_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_FLOWS", 5)
    fields = {f"c{n}": {"inputFields": [source(f"c{n}", "DIRECT", "IDENTITY")]} for n in range(6)}
    facts = facts_of_run([wide(fields, [])])
    plan = next(row for row in facts.rows if isinstance(row, LogicalPlanRow))
    assert "column-lineage-too-large" in plan.gaps
    assert labels.DERIVES not in {edge.label for edge in facts.edges}
    assert labels.FEEDS in {edge.label for edge in facts.edges}


def many(inputs: int, outputs: int, width: int) -> Any:
    schema = {"schema": {"fields": [{"name": f"c{n}", "type": "int"} for n in range(width)]}}
    return read_event(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "run": {"runId": "many"},
            "job": {"namespace": "etl", "name": "many"},
            "inputs": [
                {"namespace": "s3://lake", "name": f"in/{n}x", "facets": schema if width else {}}
                for n in range(inputs)
            ],
            "outputs": [{"namespace": "s3://lake", "name": f"out/{n}x"} for n in range(outputs)],
        }
    )


def gaps_of(facts: Any) -> str:
    return " ".join(row.gaps for row in facts.rows if isinstance(row, LogicalPlanRow))


def test_more_inputs_and_outputs_than_can_be_connected_are_a_gap() -> None:
    facts = facts_of_run([many(500, 500, 1)])
    assert job_logic.INPUTS_TOO_MANY in gaps_of(facts)
    assert [edge.label for edge in facts.edges].count(labels.FEEDS) == 1_000
    assert len([v for v in facts.vertices if v.label == labels.DATASET]) == 1_000


def test_schemas_that_all_plans_would_repeat_are_left_out_as_a_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_logic, "MOST_READ_COLUMNS", 100)
    small, large = facts_of_run([many(2, 5, 10)]), facts_of_run([many(2, 6, 10)])
    assert gaps_of(small) == " ".join(["[]"] * 5)
    assert "schemas-too-large" in gaps_of(large)
    assert [edge.label for edge in large.edges].count(labels.FEEDS) == 2 * 6 + 6


def test_a_name_is_read_once_however_many_the_event_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of names was cycled four times by an event with more of them than it holds."""
    read: list[str] = []
    normalise = naming.normalise

    def counting(uri: str, *others: Any) -> Any:
        read.append(uri)
        return normalise(uri, *others)

    monkeypatch.setattr(naming, "normalise", counting)
    monkeypatch.setattr(bounds, "MOST_ELEMENTS", 100)
    facts_of_run([many(100, 1, 1)])
    assert len(read) == len(set(read)) == 101


def test_a_reduction_that_leaves_nothing_out_is_not_translated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MOST_ELEMENTS", 100)
    translated: list[JobStatement] = []
    translate_run = translate._translate_run

    def noting(*parts: Any) -> Any:
        translated.append(parts[-1])
        return translate_run(*parts)

    monkeypatch.setattr(translate, "_translate_run", noting)
    translate.read_run([many(100, 1, 0)])
    assert [len(statement.inputs) for statement in translated] == [100, 0]


def test_the_executions_of_a_plan_beyond_the_bounds_are_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MOST_ELEMENTS", 100)
    made: list[JobStatement] = []
    add_executions = translate._add_executions

    def noting(collector: Any, base: Any, plans: Any, statement: JobStatement, *more: Any) -> None:
        made.append(statement)
        add_executions(collector, base, plans, statement, *more)

    monkeypatch.setattr(translate, "_add_executions", noting)
    translation = translate.read_run([many(100, 1, 0)])
    assert [len(statement.inputs) for statement in made] == [0]
    codes = ("column-lineage-too-large", "facets-too-large", "datasets-too-many")
    assert translation.left_out == tuple(
        (code, "more than 100 vertices and edges") for code in codes
    )


def test_many_names_of_one_dataset_are_within_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a count of names says nothing: partitions are folders of one dataset."""
    monkeypatch.setattr(bounds, "MOST_ELEMENTS", 100)
    event = many(0, 1, 0)
    folders = many(150, 0, 0).inputs
    read = tuple(replace(folder, name=f"t/n={at}") for at, folder in enumerate(folders))
    assert translate.read_run([replace(event, inputs=read)]).left_out == ()
