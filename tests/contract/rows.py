"""Catalogue rows with defaults, and hypothesis strategies that make them collide."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graph_model.facts import (
    ApplicationRow,
    ArrivalRow,
    ColumnRow,
    DatasetRow,
    EventLabelRow,
    EventRow,
    ExecutionPlanRow,
    ExecutionRow,
    FacetBodyRow,
    FacetRow,
    HostlessNameRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    PatternRow,
    ReadVersionRow,
    RenameRow,
    Row,
    RunRow,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
)
from graph_model.stores.catalogue import Catalogue

# One database serves all examples of a property: each begins with clear().
property_test = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

_EXECUTION = ExecutionRow(
    id="ex-1",
    subject="sub-1",
    plan_id="plan-1",
    execution_plan="xp-1",
    logical_plan="lp-1",
    job="job-1",
    run="run-1",
    target="ds-1",
    at=1_000,
    state="completed",
    duration_ns=None,
    error=None,
    metrics="{}",
    mode="overwrite",
    dynamic=False,
    kind="write",
    command="InsertIntoHadoopFsRelationCommand",
    producer="spline",
    application_id="app-1",
    scope="",
    reads="r",
)


def an_execution(id: str, **values: Any) -> ExecutionRow:
    return _EXECUTION._replace(id=id, **values)


def a_dataset(id: str, uri: str, name: str = "", scope: str = "") -> DatasetRow:
    return DatasetRow(id, uri, scope, name or uri.rsplit("/", 1)[-1], "file")


def a_job(id: str, namespace: str, name: str) -> JobRow:
    return JobRow(id, namespace, name, shared=False)


def an_execution_plan(id: str, **values: Any) -> ExecutionPlanRow:
    plan = ExecutionPlanRow(
        id=id,
        subject="sub-1",
        scope="",
        plan_id="plan-1",
        content_hash="c",
        api_version="1.2",
        logical_plan="lp-1",
        job="job-1",
        name="n",
        system="spark 3.5",
        agent="spline 2",
        command="c",
        labels="{}",
    )
    return plan._replace(**values)


_RUN = RunRow(
    id="olr-1",
    subject="sub-1",
    run_id="r1",
    run="run-1",
    job="job-1",
    namespace="etl",
    name="load",
    scope="",
    state="running",
    folded=False,
    endless=False,
    application_id="",
    started_at=10,
    ended_at=None,
    last_at=10,
    parent_run="",
    parent_job="",
    root_run="",
    root_job="",
    producer="p",
    error=None,
)


def a_run(number: int, **values: Any) -> RunRow:
    own = {"id": f"olr-{number}", "subject": f"sub-{number}", "run_id": f"r{number}"}
    return _RUN._replace(**{**own, **values})


def _pool(prefix: str, size: int) -> st.SearchStrategy[str]:
    return st.integers(0, size - 1).map(lambda number: f"{prefix}-{number}")


TIMES = st.integers(0, 12)
TARGETS, PLANS, JOBS, RUNS = _pool("ds", 3), _pool("lp", 6), _pool("job", 2), _pool("run", 4)

_states = st.sampled_from(
    [
        ("completed", None),
        ("completed", None),
        ("failed", "boom\n at line 2"),
        ("failed", None),
        ("aborted", "stopped"),
    ]
)


@st.composite
def _an_execution(draw: st.DrawFn) -> ExecutionRow:
    state, error = draw(_states)
    plan = draw(PLANS)
    return an_execution(
        "",
        target=f"ds-{int(plan[3:]) % 3}",  # the one dataset that the plan writes
        logical_plan=plan,
        job=draw(JOBS),
        run=draw(RUNS),
        plan_id=draw(_pool("plan", 3)),
        at=draw(TIMES),
        state=state,
        error=error,
        mode=draw(st.sampled_from(["overwrite", "append", "lifecycle"])),
        kind=draw(st.sampled_from(["write", "write", "lifecycle"])),
        duration_ns=draw(st.none() | st.integers(0, 5_000_000)),
    )


# The id of an execution is its place in the list, so ids are distinct and times are not.
EXECUTIONS = st.lists(_an_execution(), max_size=25).map(
    lambda found: [row._replace(id=f"ex-{number:02}") for number, row in enumerate(found)]
)

# Every field is a function of the key, as law 2 has it.
ANY_ROW: st.SearchStrategy[Row] = st.one_of(
    st.integers(0, 5).map(lambda n: a_dataset(f"ds-{n}", f"s3://b/Ünï {n}%_\\")),
    st.integers(0, 5).map(lambda n: PatternRow(f"ds-{n}", f"ds-{n % 2}")),
    st.integers(0, 5).map(lambda n: ColumnRow(f"col-{n}", f"ds-{n % 2}", f"a.b{n}")),
    st.integers(0, 5).map(lambda n: SchemaRow(f"sch-{n}", f"ds-{n % 2}", "[]")),
    st.integers(0, 5).map(lambda n: JobRow(f"job-{n}", "ns", f"job {n}\0\ud800", n % 2 == 0)),
    st.integers(0, 5).map(lambda n: LogicalPlanRow(f"lp-{n}", "job", "f", "t", "append", "[]", "")),
    st.integers(0, 5).map(lambda n: an_execution_plan(f"xp-{n}", plan_id=f"plan-{n}")),
    st.integers(0, 5).map(lambda n: an_execution(f"ex-{n}", at=n, dynamic=n > 2)),
    st.builds(ReadVersionRow, _pool("ex", 2), TARGETS, st.just("lp-1"), RUNS, TIMES, RUNS, TIMES),
    st.builds(PartitionRow, _pool("ex", 2), TARGETS, st.sampled_from(["read", "write"]), RUNS),
    st.tuples(RUNS, TARGETS, st.integers(0, 3)).map(
        lambda key: NameRow(key[0], key[1], f"ex-{key[2]}", key[2])
    ),
    st.tuples(RUNS, TARGETS, st.integers(0, 3)).map(
        lambda key: HostlessNameRow(key[0], key[1], f"ex-{key[2]}", key[2])
    ),
    st.tuples(TARGETS, TARGETS, st.integers(0, 3)).map(
        lambda key: RenameRow(key[0], key[1], f"ex-{key[2]}", key[2])
    ),
    st.builds(SchemaUseRow, PLANS, TARGETS, _pool("sch", 3), st.sampled_from(["read", "write"])),
    st.integers(0, 5).map(lambda n: EventRow(f"ex-{n}", "csv", n % 2 == 0, f"wör {n}", "{}", "{}")),
    st.builds(EventLabelRow, _pool("ex", 2), _pool("name", 2), RUNS),
    st.integers(0, 5).map(
        lambda n: EventRow(f"ol-{n}", "", False, "w", "{}", "{}", f"flink {n}", "jöb")
    ),
    st.integers(0, 5).map(lambda n: a_run(n, ended_at=n if n % 2 else None, error="x" * n)),
    st.builds(
        FacetRow,
        TARGETS,
        st.sampled_from(["dataset", "input"]),
        _pool("facet", 2),
        TIMES,
        _pool("sub", 2),
        _pool("digest", 2),
        st.just(False),
        _pool("job", 2) | st.just(""),
        st.sampled_from((0, 3)),
    ),
    st.integers(0, 5).map(lambda n: FacetBodyRow(f"digest-{n}", f'{{"a":"{n}ü"}}')),
    st.builds(SupportRow, _pool("sub", 3), PLANS),
    st.builds(ArrivalRow, _pool("ex", 3), TIMES),
    st.integers(0, 5).map(lambda n: ApplicationRow(f"ola-{n}", f"run-{n}", f"äpp {n}", "run-9")),
)


def record_in_threads(catalogue: Catalogue, rows: Sequence[Any]) -> None:
    """Six threads record the same rows at the same time, each in an order of its own."""

    def record(seed: int) -> None:
        mine = random.Random(seed).sample(rows, len(rows))
        for start in range(0, len(mine), 7):
            catalogue.record(mine[start : start + 7])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(record, range(6)))
