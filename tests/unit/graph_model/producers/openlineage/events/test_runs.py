"""Many events, one run: states, facets, trees, and runs that never end."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.answers.runs import ancestors, newest, status
from graph_model.facts import (
    DatasetRow,
    ExecutionRow,
    FacetBodyRow,
    FacetRow,
    JobRow,
    NameRow,
    RunRow,
    SchemaRow,
    merge,
)
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.accumulate import accumulate
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run
from tests.projections import budget

HOUR = 3_600_000


def event(minute: int, kind: str = "RUNNING", **more: Any) -> Any:
    document = {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:{minute:02}:00Z",
        "run": {"runId": more.pop("run", "r1"), "facets": more.pop("run_facets", {})},
        "job": {
            "namespace": "etl",
            "name": more.pop("job", "load"),
            "facets": more.pop("job_facets", {}),
        },
    }
    return read_event({**document, **more})


def table(name: str, **more: Any) -> dict[str, Any]:
    return {"namespace": "s3://lake", "name": name, **more}


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([("START", 0), ("RUNNING", 1)], "running"),
        ([("START", 0), ("COMPLETE", 1)], "completed"),
        ([("COMPLETE", 1), ("RUNNING", 5), ("START", 9)], "completed"),
        ([("COMPLETE", 1), ("FAIL", 2)], "failed"),
        ([("FAIL", 1), ("COMPLETE", 2)], "completed"),
        ([("ABORT", 1)], "aborted"),
        ([("COMPLETE", 1), ("FAIL", 1)], "failed"),
        ([("OTHER", 1), ("WHATEVER", 2), ("", 3)], "running"),
    ],
)
def test_terminal_states_win_by_event_time(events, state):
    listed = [event(minute, kind) for kind, minute in events]
    for order in (listed, listed[::-1], listed * 2):
        assert accumulate(order).state == state


@pytest.mark.parametrize(
    ("inlets", "named"),
    [
        ([{"uri": "s3://lake/in/a.csv", "extra": {}}], [("s3://lake", "in/a.csv")]),
        ("[{'uri': 's3://lake/in/a.csv', 'extra': {'n': 1}}]", [("s3://lake", "in/a.csv")]),
        ([{"uri": "file:///lake/a.csv"}], [("file", "/lake/a.csv")]),
        (
            [{"uri": "postgres://db:5432/shop/public/raw"}],
            [("postgres://db:5432", "shop.public.raw")],
        ),
        ([{"uri": "orders are ready"}, {"name": "no uri"}, 5, {"uri": 5}], []),
        ([{"uri": "s3://lake"}, {"uri": "://x/y"}], []),
        ({"uri": "s3://lake/in"}, []),
        (None, []),
    ],
)
def test_assets_of_a_task_that_names_no_dataset_are_its_datasets(inlets, named):
    def task(kind: str, **more: Any) -> Any:
        return event(
            0,
            "COMPLETE",
            run_facets={"airflow": {"task": {"inlets": inlets, "outlets": inlets}}},
            job_facets={"jobType": {"integration": "AIRFLOW", "jobType": kind}},
            **more,
        )

    state = accumulate([task("TASK")]).statement
    assert [dataset.key for dataset in state.inputs] == named
    assert [dataset.key for dataset in state.outputs] == named
    query = accumulate([task("QUERY")]).statement
    assert (query.inputs, query.outputs) == ((), ())
    extracted = accumulate([task("TASK", outputs=[table("out")])]).statement
    assert (extracted.inputs, [dataset.name for dataset in extracted.outputs]) == ((), ["out"])


def test_after_a_failure_of_spark_complete_only_says_that_the_query_is_done():
    failed = event(1, "FAIL", run_facets={"spark.exception": {"message": "no space"}})
    done = event(2, "COMPLETE")
    state = accumulate([done, failed])
    assert (state.state, state.ended_at) == ("failed", failed.at)
    lenient = Rules(spark_error_facets=())
    assert accumulate([done, failed], lenient).state == "completed"


def test_a_facet_replaces_the_earlier_one_whole_and_a_deletion_takes_it_away():
    owners = {"ownership": {"owners": [{"name": "a"}], "note": "x"}}
    first = event(1, job_facets={**owners, "sql": {"query": "select 1"}})
    second = event(2, job_facets={"ownership": {"owners": [{"name": "b"}]}})
    third = event(3, "COMPLETE", job_facets={"sql": {"_deleted": True}})
    facets = accumulate([third, first, second]).statement.job_facets
    assert facets["ownership"].body == {"owners": [{"name": "b"}]}
    assert facets["sql"].deleted
    rows = [r for r in facts_of_run([first, second, third]).rows if isinstance(r, FacetRow)]
    assert [(r.name, r.deleted) for r in rows] == [("ownership", False), ("sql", True)]


def test_datasets_of_any_event_belong_to_the_run():
    state = accumulate(
        [
            event(1, inputs=[table("a")]),
            event(2, inputs=[table("b")]),
            event(3, outputs=[table("c")]),
        ]
    )
    assert [d.name for d in state.statement.inputs] == ["a", "b"]
    assert [d.name for d in state.statement.outputs] == ["c"]


def test_the_events_of_two_runs_are_no_run():
    with pytest.raises(ValueError, match="one run"):
        accumulate([event(1), event(1, run="r2")])
    with pytest.raises(ValueError, match="one run"):
        accumulate([])


EVENTS = st.lists(
    st.builds(
        lambda minute, kind, inputs, outputs, owner: event(
            minute,
            kind,
            inputs=[table(name) for name in inputs],
            outputs=[
                table(name, outputFacets={"outputStatistics": {"rowCount": minute}})
                for name in outputs
            ],
            job_facets={"ownership": {"owners": [{"name": owner}]}} if owner else {},
        ),
        st.integers(0, 5),
        st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"]),
        st.sets(st.sampled_from("abc"), max_size=2),
        st.sets(st.sampled_from("de"), max_size=2),
        st.sampled_from(["", "x", "y"]),
    ),
    min_size=1,
    max_size=6,
)


@given(EVENTS, st.randoms(use_true_random=False))
def test_any_order_and_repetition_of_events_gives_equal_facts(events: Any, chance: random.Random):
    again = [*events, *chance.choices(events, k=3)]
    chance.shuffle(again)
    assert facts_of_run(again) == facts_of_run(events)


@budget(50)
@given(EVENTS, EVENTS)
def test_two_states_of_one_run_never_share_an_id_with_other_content(first: Any, second: Any):
    merge([facts_of_run(first), facts_of_run([*first, *second]), facts_of_run(second)])


def test_a_late_symlink_changes_only_names():
    link = {"symlinks": {"identifiers": [{"namespace": "", "name": "hr.b", "type": "TABLE"}]}}
    before = [event(1, "START", inputs=[table("a")]), event(2, "COMPLETE", outputs=[table("b")])]
    late = event(3, outputs=[table("b", facets=link)])
    one, other = facts_of_run(before), facts_of_run([*before, late])
    new = {*other.vertices, *other.edges, *other.rows} - {*one.vertices, *one.edges, *one.rows}
    gone = {*one.vertices, *one.edges, *one.rows} - {*other.vertices, *other.edges, *other.rows}
    assert {type(row) for row in gone} == {RunRow}  # the newest event's time
    kinds = sorted(getattr(item, "label", type(item).__name__) for item in new)
    assert kinds == ["DatasetRow", "NameRow", "RunRow", "dataset", "names"]
    assert [row.uri for row in new if isinstance(row, DatasetRow)] == ["spark_catalog/hr.b"]
    assert len([row for row in new if isinstance(row, NameRow)]) == 1


def test_many_runs_of_one_logic_share_a_plan_and_the_bodies_of_their_facets():
    facets = {"documentation": {"description": "all about b"}}
    runs = [
        [
            event(
                n, "COMPLETE", run=f"r{n}", inputs=[table("a")], outputs=[table("b", facets=facets)]
            )
        ]
        for n in range(5)
    ]
    facts = merge(facts_of_run(events) for events in runs)
    assert len([v for v in facts.vertices if v.label == labels.LOGICAL_PLAN]) == 1
    assert len([row for row in facts.rows if isinstance(row, ExecutionRow)]) == 5
    assert len([row for row in facts.rows if isinstance(row, FacetBodyRow)]) == 1


# --- trees ---------------------------------------------------------------------------------------


def below(parent: str, root: str = "") -> dict[str, Any]:
    job = {"namespace": "etl", "name": f"job of {parent}"}
    found: dict[str, Any] = {"run": {"runId": parent}, "job": job}
    if root:
        found["root"] = {
            "run": {"runId": root}, "job": {"namespace": "etl", "name": f"job of {root}"}
        }  # fmt: skip
    return {"parent": found}


def rows_of(*runs: list[Any]) -> dict[str, RunRow]:
    facts = merge(facts_of_run(events) for events in runs)
    return newest(row for row in facts.rows if isinstance(row, RunRow))


def test_a_run_that_never_completes_is_closed_by_the_nearest_run_above_it_that_ended():
    rows = rows_of(
        [event(0, "START", run="dag"), event(30, "COMPLETE", run="dag")],
        [event(1, "START", run="task", run_facets=below("dag"))],
        [event(2, "START", run="app", run_facets=below("task", "dag"))],
    )
    above = ancestors(rows["app"], rows)
    assert [row.run_id for row in above] == ["task", "dag"]
    end = rows["dag"].ended_at
    assert end is not None
    assert status(rows["app"], above, end - 1).state == "running"
    closed = status(rows["app"], above, end)
    assert (closed.state, closed.ended_at, closed.closed) == ("aborted", end, "parent")


def test_silence_makes_a_run_stale_but_not_a_stream():
    stream = {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}}
    rows = rows_of([event(0, "START", run="b")], [event(0, "START", run="s", job_facets=stream)])
    later = rows["b"].last_at + 25 * HOUR
    assert status(rows["b"], (), later).closed == "stale"
    assert status(rows["b"], (), later, stale_after=26 * HOUR).state == "running"
    assert status(rows["s"], (), later).state == "running"


def windows(processing: str, seconds: object) -> dict[str, Any]:
    emission = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT"}
    if seconds is not None:
        emission["windowDuration"] = seconds  # type: ignore[assignment]
    said = {"processingType": processing, "integration": "FLINK", "emissionPattern": emission}
    return {"jobType": said}


@pytest.mark.parametrize("processing", ["BATCH", "STREAMING", "SERVICE", "ODD"])
@pytest.mark.parametrize(
    ("seconds", "state"),
    [
        (300, "aborted"),
        (43_200, "aborted"),
        (43_201, "running"),
        (None, "running"),
        ("300", "running"),
        (True, "running"),
    ],
)
def test_a_job_that_reports_short_windows_of_time_has_stopped_when_a_day_is_silent(
    processing: str, seconds: object, state: str
) -> None:
    reported = windows(processing, seconds)
    rows = rows_of([event(at, "RUNNING", run="w", job_facets=reported) for at in (0, 5, 10)])
    last = rows["w"].last_at
    assert status(rows["w"], (), last + 23 * HOUR).state == "running"
    assert status(rows["w"], (), last + 25 * HOUR).state == state


def test_a_run_that_ended_says_its_own_state_from_that_time_on():
    rows = rows_of([event(0, "START"), event(5, "FAIL")])
    end = rows["r1"].ended_at
    assert end is not None
    assert status(rows["r1"], (), end - 1).state == "running"
    assert status(rows["r1"], (), end).state == "failed"


def test_parents_in_a_circle_end_the_walk():
    rows = rows_of(
        [event(0, "START", run="a", run_facets=below("b"))],
        [event(0, "START", run="b", run_facets=below("a"))],
        [event(0, "START", run="c", run_facets=below("c"))],
    )
    assert [row.run_id for row in ancestors(rows["a"], rows)] == ["b"]
    assert ancestors(rows["c"], rows) == ()


def test_the_newer_of_two_rows_of_one_run_counts():
    facts = merge(
        [
            facts_of_run([event(0, "START")]),
            facts_of_run([event(0, "START"), event(1, "COMPLETE")]),
        ]
    )
    rows = [row for row in facts.rows if isinstance(row, RunRow)]
    assert len(rows) == 2
    assert newest(rows)["r1"].state == "completed"
    assert newest(rows[::-1])["r1"].state == "completed"


# --- Spark's and dbt's parts ---------------------------------------------------------------------

SPARK = {"jobType": {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}}


def spark_write(fields: dict[str, Any], columns: tuple[str, ...] = ("a", "b")) -> list[str]:
    """The gaps of a command that writes these columns, with this column lineage."""
    facets: dict[str, Any] = {"schema": {"fields": [{"name": name} for name in columns]}}
    if fields:
        facets["columnLineage"] = {"fields": fields}
    told = event(
        1,
        "COMPLETE",
        job="app.execute_insert_into_hadoop_fs_relation_command.t",
        job_facets=SPARK,
        inputs=[table("in")],
        outputs=[table("out", facets=facets)],
    )
    (plan,) = (v for v in facts_of_run([told]).vertices if v.label == labels.LOGICAL_PLAN)
    return [f"{gap['code']} {gap['detail']}" for gap in json.loads(str(plan.value("gaps")))]


def source(name: str) -> dict[str, Any]:
    return {"inputFields": [{**table("in"), "field": name, "transformations": []}]}


def test_a_column_that_spark_s_client_leaves_out_is_a_gap() -> None:
    assert spark_write({"a": source("x"), "B": source("y")}) == []
    assert spark_write({"a": source("x")}) == ["column-untold b"]
    assert spark_write({"a.inner": source("x"), "b": source("y")}) == []
    assert spark_write({}) == ["columns-untold s3://lake/out"]
    assert spark_write({}, columns=()) == []


def test_a_client_that_does_not_speak_of_columns_has_no_gaps() -> None:
    facets = {"schema": {"fields": [{"name": "a"}]}}
    told = [event(1, "COMPLETE", inputs=[table("in")], outputs=[table("out", facets=facets)])]
    (plan,) = (v for v in facts_of_run(told).vertices if v.label == labels.LOGICAL_PLAN)
    assert plan.value("gaps") == "[]"


def statement_of_dbt(**more: Any) -> Any:
    kind = {"processingType": "BATCH", "integration": "DBT", "jobType": "SQL"}
    parent = {"run": {"runId": "m1"}, "job": {"namespace": "etl", "name": "model.shop.orders"}}
    return event(1, "COMPLETE", run="s1", job="model.shop.orders.sql.1",
                 job_facets={"jobType": kind}, run_facets={"parent": parent}, **more)  # fmt: skip


def test_a_statement_of_a_dbt_model_is_a_part_of_its_run() -> None:
    facts = facts_of_run([statement_of_dbt()])
    (run,) = (row for row in facts.rows if isinstance(row, RunRow))
    assert run.folded
    assert (run.parent_run, run.job) == ("m1", run.parent_job)
    assert {row.name for row in facts.rows if isinstance(row, JobRow)} == {"model.shop.orders"}


def test_a_statement_that_touches_a_dataset_is_a_job_of_its_own() -> None:
    facts = facts_of_run([statement_of_dbt(inputs=[table("in")])])
    names = {row.name for row in facts.rows if isinstance(row, JobRow)}
    assert names == {"model.shop.orders", "model.shop.orders.sql.1"}


def test_where_a_test_would_store_failures_is_no_dataset() -> None:
    kind = {"jobType": {"processingType": "BATCH", "integration": "DBT", "jobType": "TEST"}}
    told = [event(1, "COMPLETE", job_facets=kind, inputs=[table("t")], outputs=[table("audit.t")])]
    assert {r.uri for r in facts_of_run(told).rows if isinstance(r, DatasetRow)} == {"s3://lake/t"}
    stored = Rules(test_job_types=())
    assert len([r for r in facts_of_run(told, stored).rows if isinstance(r, DatasetRow)]) == 2


def test_the_memory_of_a_program_is_no_dataset() -> None:
    memory = {"namespace": "memory://4e3b", "name": "/jvm_0d1f-77"}
    shared = {"namespace": "memory", "name": "dashboard"}
    ended = event(1, "COMPLETE", inputs=[table("t"), memory], outputs=[memory, shared])
    uris = {row.uri for row in facts_of_run([ended]).rows if isinstance(row, DatasetRow)}
    assert uris == {"s3://lake/t", "memory/dashboard"}


@pytest.mark.parametrize("kind", ["JOB", "QUERY", "BATCH"])
def test_a_producer_that_only_names_spark_as_its_engine_names_it_with_and_without_datasets(
    kind: str,
) -> None:
    """Spark's agent alone has applications with commands below them."""
    says = {"jobType": {"processingType": "BATCH", "integration": "SPARK", "jobType": kind}}
    ends = {"inputs": [table("in")], "outputs": [table("out")]}
    start = event(0, "START", job="etl_l00.load_orders", job_facets=says)
    complete = event(1, "COMPLETE", job="etl_l00.load_orders", job_facets=says, **ends)
    for events in ([start], [complete], [start, complete]):
        rows = facts_of_run(events).rows
        assert {(row.namespace, row.name) for row in rows if isinstance(row, JobRow)} == {
            ("etl", "etl_l00.load_orders")
        }


def schema_written(*facets: dict[str, Any]) -> list[str]:
    """The columns of the schemas that a run writes whose events have these schema facets."""
    told = [
        event(minute, "RUNNING", outputs=[table("out", facets={"schema": facet})])
        for minute, facet in enumerate(facets)
    ]
    rows = facts_of_run([*told, event(59, "COMPLETE")]).rows
    return [row.columns for row in rows if isinstance(row, SchemaRow)]


def test_a_schema_without_fields_says_nothing_and_a_deletion_takes_the_columns_away() -> None:
    known = {"fields": [{"name": "a"}]}
    assert schema_written(known, {"fields": []}) == schema_written(known) != []
    assert schema_written({"fields": []}) == []
    assert schema_written(known, {"_deleted": True}) == ["[]"]
