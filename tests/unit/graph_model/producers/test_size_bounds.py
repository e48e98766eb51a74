"""No document brings more into graph and catalogue than an eighth of a default heap."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from graph_model import labels
from graph_model.errors import InvalidDocument
from graph_model.facts import EventLabelRow, ExecutionRow, Facts, LogicalPlanRow, PartitionRow
from graph_model.naming import DEFAULT_RULES
from graph_model.producers import bounds
from graph_model.producers.bounds import weigh
from graph_model.producers.openlineage.events.documents import (
    RUN_EVENT_KIND,
    DatasetEvent,
    JobEvent,
    RunEvent,
    read_event,
)
from graph_model.producers.openlineage.plans import heads_of
from graph_model.producers.registry import Translation
from graph_model.producers.spline import plan_logic, plans
from graph_model.producers.spline.documents import PLAN_KIND, read_plan
from graph_model.producers.spline.documents import read_event as read_execution_event
from graph_model.producers.spline.executions import translate_execution
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument
from tests.builders import PLAN_ID
from tests.openlineage_facts import facts_of_declaration, facts_of_run

Json = dict[str, Any]
MANY = 1_000


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundredth of the real ones: the tests look at sizes, not at speed."""
    monkeypatch.setattr(bounds, "MOST_ELEMENTS", 1_000)
    monkeypatch.setattr(bounds, "MOST_CHARACTERS", 500_000)
    monkeypatch.setattr(bounds, "MOST_ROWS", 2_000)
    monkeypatch.setattr(plans, "MOST_PARTITIONS", 100)
    monkeypatch.setattr("graph_model.producers.openlineage.plans.heads_of", heads_of.__wrapped__)


def fields(count: int) -> list[Json]:
    return [{"name": f"c{n}", "type": "int"} for n in range(count)]


def dataset(name: str, **facets: Any) -> Json:
    return {"namespace": "s3://lake", "name": name, "facets": facets}


def source(field: str, name: str = "a") -> Json:
    return {"namespace": "s3://lake", "name": name, "field": field}


def a_run(inputs: list[Json], outputs: list[Json], **more: Any) -> Json:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00Z",
        "run": {"runId": "large"},
        "job": {"namespace": "etl", "name": "large"},
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def wide_schema() -> Json:
    return a_run([dataset("a")], [dataset("b", schema={"fields": fields(MANY)})])


def wide_struct() -> Json:
    inner = {"name": "s", "type": "struct", "fields": fields(MANY)}
    return a_run([dataset("a")], [dataset("b", schema={"fields": [inner]})])


def many_pairs() -> Json:
    listed = [source(f"c{n}") for n in range(64)]
    lineage = {"fields": {f"o{n}": {"inputFields": listed} for n in range(64)}}
    return a_run([dataset("a")], [dataset("b", columnLineage=lineage)])


def many_influences() -> Json:
    decides = {"transformations": [{"type": "INDIRECT", "subtype": "FILTER"}]}
    listed = [source(f"c{n}") | decides for n in range(MANY)]
    lineage = {"fields": {}, "dataset": listed}
    return a_run([dataset("a")], [dataset("b", columnLineage=lineage)])


def named_by_column_lineage_alone() -> Json:
    lineage = {"fields": {f"o{n}": {"inputFields": [source(f"c{n}")]} for n in range(MANY)}}
    return a_run([], [dataset("b", columnLineage=lineage)])


def many_columns_of_many_tables() -> Json:
    schema = {"fields": fields(100)}
    return a_run([dataset(f"in/{n}x", schema=schema) for n in range(6)], [dataset("b")])


def long_names() -> Json:
    """Each column repeats the name of its table."""
    name = "x" * 2_000
    return a_run([dataset("a")], [dataset(name, schema={"fields": fields(250)})])


def long_expressions() -> Json:
    said = [{"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "f" * 3_000}]
    listed = [source("c") | {"transformations": said}]
    lineage = {"fields": {f"o{n}": {"inputFields": listed} for n in range(20_000)}}
    return a_run([dataset("a")], [dataset("b", columnLineage=lineage)])


def explicit_fields() -> Json:
    listed = {f"o{n}": {"inputs": [source("c") | {"type": "DATASET"}]} for n in range(MANY)}
    entry = {"type": "DATASET", "namespace": "s3://lake", "name": "b", "fields": listed}
    job = {"namespace": "etl", "name": "large", "facets": {"lineage": {"entries": [entry]}}}
    return a_run([dataset("a")], [dataset("b")], job=job)


def explicit_jobs() -> Json:
    listed = {f"o{n}": {"inputs": [{"type": "JOB", "namespace": "n", "name": "j"}]}
              for n in range(MANY)}  # fmt: skip
    entry = {"type": "DATASET", "namespace": "s3://lake", "name": "b", "fields": listed}
    entry["inputs"] = [{"type": "DATASET", "namespace": "s3://lake", "name": "a"}]
    job = {"namespace": "etl", "name": "large", "facets": {"lineage": {"entries": [entry]}}}
    return a_run([], [dataset("b")], job=job)


WITHOUT_COLUMNS = [
    wide_schema,
    wide_struct,
    many_pairs,
    many_influences,
    named_by_column_lineage_alone,
    many_columns_of_many_tables,
    long_names,
    long_expressions,
    explicit_fields,
    explicit_jobs,
]


def many_symlinks() -> Json:
    links = [{"namespace": "s3://lake", "name": f"l{n}", "type": "TABLE"} for n in range(MANY)]
    return a_run([dataset("a")], [dataset("b", symlinks={"identifiers": links})])


def many_partitions() -> Json:
    partitions = [{"dimensions": {"d": str(n)}} for n in range(2_100)]
    condition = {"type": "partition", "partitions": partitions}
    read = dataset("a") | {"inputFacets": {"subset": {"inputCondition": condition}}}
    return a_run([read], [dataset("b")])


def many_facets() -> Json:
    facets: Json = {f"f{n}": {"x": n} for n in range(1_200)}
    return a_run([dataset("a", **facets)], [dataset("b")])


WITHOUT_FACETS = [many_symlinks, many_partitions, many_facets]


def many_inputs() -> Json:
    return a_run([dataset(f"in/{n}x") for n in range(600)], [dataset("b")])


def many_outputs() -> Json:
    return a_run([dataset("a")], [dataset(f"out/{n}x") for n in range(200)])


WITHOUT_DATASETS = [many_inputs, many_outputs]


def fits(facts: Facts) -> bool:
    return weigh(facts).excess == ""


def gaps_of(facts: Facts) -> set[str]:
    listed = [json.loads(row.gaps) for row in facts.rows if isinstance(row, LogicalPlanRow)]
    return {gap["code"] for gaps in listed for gap in gaps}


def names_of(facts: Facts, label: str) -> set[str]:
    return {str(v.value("name")) for v in facts.vertices if v.label == label}


def run_of(*events: Json) -> Facts:
    result = [read_event(event) for event in events]
    return facts_of_run([event for event in result if isinstance(event, RunEvent)])


@pytest.mark.parametrize("build", WITHOUT_COLUMNS)
def test_a_run_of_too_many_columns_keeps_its_tables_and_its_job(build: Callable[[], Json]) -> None:
    facts = run_of(build())
    assert fits(facts)
    assert not {v.label for v in facts.vertices} & {labels.COLUMN, labels.SCHEMA}
    assert gaps_of(facts) == {"column-lineage-too-large"}
    assert names_of(facts, labels.JOB) >= {"large"}
    feeds = [edge.label for edge in facts.edges].count(labels.FEEDS)
    assert feeds >= 2  # in and out


@pytest.mark.parametrize("build", WITHOUT_FACETS)
def test_a_run_of_too_many_names_and_partitions_keeps_its_tables(
    build: Callable[[], Json],
) -> None:
    facts = run_of(build())
    assert fits(facts)
    assert gaps_of(facts) == {"column-lineage-too-large", "facets-too-large"}
    assert names_of(facts, labels.DATASET) == {"a", "b"}


@pytest.mark.parametrize("build", WITHOUT_DATASETS)
def test_a_run_of_too_many_tables_keeps_its_job(build: Callable[[], Json]) -> None:
    facts = run_of(build())
    assert fits(facts)
    assert "datasets-too-many" in gaps_of(facts)
    assert names_of(facts, labels.JOB) == {"large"}
    assert len([row for row in facts.rows if isinstance(row, ExecutionRow)]) == 1


def test_all_events_of_a_run_are_bounded_together() -> None:
    def one(number: int) -> Json:
        schema = {"fields": fields(90)}
        start = {"eventType": "RUNNING", "eventTime": f"2026-03-01T09:0{number}:00Z"}
        return a_run([dataset(f"in{number}", schema=schema)], []) | start

    few = run_of(one(1), one(2), a_run([], [dataset("b")]))
    many = run_of(*map(one, range(6)), a_run([], [dataset("b")]))
    assert gaps_of(few) == set()
    assert gaps_of(many) == {"column-lineage-too-large"}
    assert fits(many)
    assert len(names_of(many, labels.DATASET)) == 7


def test_texts_that_several_plans_of_a_run_share_count_once() -> None:
    wide = dataset("a", schema={"fields": fields(50)})
    assert gaps_of(run_of(a_run([wide], [dataset(f"out/{n}x") for n in range(20)]))) == set()


def test_runs_of_one_job_that_are_too_large_by_different_numbers_are_one_plan() -> None:
    def of(count: int) -> set[str]:
        facts = run_of(a_run([dataset("a")], [dataset("b", schema={"fields": fields(count)})]))
        return {row.id for row in facts.rows if isinstance(row, LogicalPlanRow)}

    assert of(MANY) == of(MANY + 1)


def declared(event: Json) -> Facts:
    result = read_event(event)
    assert isinstance(result, JobEvent | DatasetEvent)
    return facts_of_declaration(result)


@pytest.mark.parametrize("build", [*WITHOUT_COLUMNS, *WITHOUT_FACETS, *WITHOUT_DATASETS])
def test_a_declared_job_is_bounded_as_a_run_is(build: Callable[[], Json]) -> None:
    event = build()
    facts = declared({name: event[name] for name in event if name not in ("run", "eventType")})
    assert fits(facts)
    assert gaps_of(facts)


@pytest.mark.parametrize("name", ["schema", "symlinks", "lineage"])
def test_a_declared_dataset_keeps_itself(name: str) -> None:
    links = [{"namespace": "s3://lake", "name": f"l{n}", "type": "TABLE"} for n in range(MANY)]
    entries = {f"o{n}": {"inputs": [source("c") | {"type": "DATASET"}]} for n in range(MANY)}
    facets: Json = {
        "schema": {"fields": fields(MANY)},
        "symlinks": {"identifiers": links},
        "lineage": {"fields": entries},
    }
    event = {"eventTime": "2026-03-01T10:00:00Z", "dataset": dataset("b", **{name: facets[name]})}
    facts = declared(event)
    assert fits(facts)
    assert "b" in names_of(facts, labels.DATASET)
    assert labels.COLUMN not in {v.label for v in facts.vertices}


# --- Spline --------------------------------------------------------------------------------------


def a_plan(reads: list[Json], other: list[Json], last: str, **parts: Any) -> Json:
    write = {"id": "w", "outputSource": "s3://lake/b", "append": False, "childIds": [last]}
    return {
        "id": PLAN_ID,
        "name": "large",
        "operations": {"write": write, "reads": reads, "other": other},
        "systemInfo": {"name": "spark", "version": "3.5.9"},
        **parts,
    }


def a_read(*sources: str, **parts: Any) -> Json:
    return {"id": "r", "inputSources": list(sources), **parts}


def wide_plan() -> Json:
    attributes = [{"id": f"c{n}", "name": f"c{n}"} for n in range(MANY)]
    read = a_read("s3://lake/a", output=[attribute["id"] for attribute in attributes])
    return a_plan([read], [], "r", attributes=attributes)


def wide_plan_of_long_names() -> Json:
    attributes = [{"id": f"c{n}", "name": f"c{n}"} for n in range(250)]
    read = a_read("s3://lake/" + "x" * 2_000, output=[attribute["id"] for attribute in attributes])
    return a_plan([read], [], "r", attributes=attributes)


def many_operations() -> Json:
    steps = [
        {"id": f"p{n}", "name": "Limit", "childIds": [f"p{n - 1}" if n else "r"]}
        for n in range(600)
    ]
    return a_plan([a_read("s3://lake/a")], steps, steps[-1]["id"])


def many_reads() -> Json:
    return a_plan([a_read(*(f"s3://lake/t{n}x" for n in range(600)))], [], "r")


def plan_facts(document: Json) -> Facts:
    return translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"))[0]


@pytest.mark.parametrize("build", [wide_plan, wide_plan_of_long_names])
def test_a_plan_of_too_many_columns_keeps_tables_and_operations(build: Callable[[], Json]) -> None:
    facts = plan_facts(build())
    assert fits(facts)
    assert "column-lineage-too-large" in gaps_of(facts)
    assert len(names_of(facts, labels.DATASET)) == 2
    assert names_of(facts, labels.OPERATION) == {"Read", "Write"}


def test_a_plan_of_too_many_operations_keeps_its_tables() -> None:
    facts = plan_facts(many_operations())
    assert fits(facts)
    assert gaps_of(facts) >= {"column-lineage-too-large", "operations-too-large"}
    assert names_of(facts, labels.DATASET) == {"a", "b"}


def test_a_plan_that_reads_too_many_tables_keeps_its_job_and_its_output() -> None:
    facts = plan_facts(many_reads())
    assert fits(facts)
    assert "datasets-too-many" in gaps_of(facts)
    assert (names_of(facts, labels.JOB), names_of(facts, labels.DATASET)) == ({"large"}, {"b"})


def an_execution(plan: Json, **parts: Any) -> Facts:
    head = translate_plan(PlanDocument(read_plan(plan), "", "hash", "1.2"))[1]
    event = {"planId": PLAN_ID, "timestamp": 1_700_000_000_000, **parts}
    return translate_execution(head, read_execution_event(event))


def test_a_plan_that_reads_too_many_partitions_of_a_table_reads_it_whole() -> None:
    parts = [f"s3://lake/a/d={n}" for n in range(101)]
    facts = an_execution(a_plan([a_read(*parts)], [], "r"))
    assert not [row for row in facts.rows if isinstance(row, PartitionRow)]
    fewer = an_execution(a_plan([a_read(*parts[:100])], [], "r"))
    assert len([row for row in fewer.rows if isinstance(row, PartitionRow)]) == 100


def test_metrics_and_labels_of_an_execution_are_bounded() -> None:
    metrics = {f"m{n}": n for n in range(50_000)}
    labelled = {f"l{n}": ["x"] for n in range(50_000)}
    plan = a_plan([a_read("s3://lake/a")], [], "r", labels=labelled)
    facts = an_execution(plan, extra={"writeMetrics": metrics}, labels=labelled)
    assert weigh(facts).characters < 10_000
    assert not [row for row in facts.rows if isinstance(row, EventLabelRow)]


# --- messages ------------------------------------------------------------------------------------


def stored(kind: DocumentKind, key: str, body: Json) -> StoredDocument:
    return StoredDocument(
        1, kind, "1.2", key, "", "", "hash", DocumentState.PENDING, None, 0, 1,
        json.dumps(body).encode(),
    )  # fmt: skip


@pytest.mark.parametrize(
    "document",
    [
        stored(RUN_EVENT_KIND, "run:large", wide_schema()),
        stored(PLAN_KIND, PLAN_ID, wide_plan()),
    ],
    ids=["run", "plan"],
)
def test_the_journal_tells_which_part_of_a_document_the_graph_does_not_take(
    document: StoredDocument,
) -> None:
    projection = Translation(DEFAULT_RULES).project([document])
    (state,) = projection.states
    assert state[1] == DocumentState.PROJECTED
    assert state[2] is not None
    assert state[2].startswith("not all of it: column-lineage-too-large (")


def test_a_name_beyond_any_bound_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_CHARACTERS", 1_000)
    with pytest.raises(InvalidDocument, match="more than 1,000 characters"):
        plan_facts(a_plan([a_read("s3://lake/a")], [], "r") | {"name": "n" * 2_000})
    with pytest.raises(InvalidDocument, match="more than 1,000 characters"):
        run_of(a_run([], []) | {"job": {"namespace": "etl", "name": "n" * 2_000}})


def test_the_derivations_of_a_column_are_one_text_of_a_bounded_length() -> None:
    text = plan_logic._alternatives(("b" * 15_000, "a" * 15_000))
    assert len(text) <= plan_logic._MAX_ALTERNATIVES_CHARACTERS
    assert text.startswith("aaa")
