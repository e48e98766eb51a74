"""The listener in real Spark: one session, a job a shape, against a server that only records."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from graph_model import identity
from graph_model.facts import DatasetRow
from graph_model.lineage import Question
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import Logic, PlanDocument, read_logic
from graph_model.stores.graph import Direction
from tests import captures
from tests.e2e.spark.spark_jars import paths_for
from tests.parts import environment
from tests.plan_reader import (
    condition_columns,
    names,
    operations,
    origins,
    outline,
    sources,
    written_columns,
    written_types,
)
from tests.projections import SmallHeadwater, accept_lines, small_headwater
from tests.recording_server import RecordingServer, recording_server

pytestmark = [
    pytest.mark.spark,
    # PySpark leaves the sockets of collect() and toDF() to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@dataclass(frozen=True)
class Report:
    """The documents that one job made the listener send."""

    plans: list[Any]
    events: list[Any]
    error: str | None

    @property
    def plan(self) -> Any:
        assert len(self.plans) == 1, [plan["operations"]["write"]["name"] for plan in self.plans]
        return self.plans[0]

    def written_to(self, ending: str) -> Any:
        """The only plan whose target ends like this."""
        found = [p for p in self.plans if p["operations"]["write"]["outputSource"].endswith(ending)]
        assert len(found) == 1, [p["operations"]["write"]["outputSource"] for p in self.plans]
        return found[0]


class Bench:
    """A process with its own Spark that runs jobs with the listener on, each once."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        server: RecordingServer,
        root: Path,
        *,
        has_delta: bool,
    ) -> None:
        self._process = process
        self._has_delta = has_delta
        self.server = server
        self.root = str(root)
        hello = self._read()
        self.application = hello["application"]
        self.version = hello["version"]
        self._reports: dict[str, Report] = {}

    def run(self, name: str) -> Report:
        """The documents that a job makes the listener send, however many tests look at them."""
        if name.startswith("delta_") and not self._has_delta:
            pytest.skip("there is no Delta for this Spark")
        if name not in self._reports:
            for earlier in _BEFORE.get(name, ()):
                self.run(earlier)
            self._reports[name] = self.run_again(name)
        return self._reports[name]

    def run_again(self, name: str) -> Report:
        plans, events = len(self.server.plans()), len(self.server.events())
        error = self.ask({"run": name})["error"]
        return Report(self.server.plans()[plans:], self.server.events()[events:], error)

    def ask(self, command: dict[str, str]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process with Spark has ended"
        return json.loads(line)


_ROOT = Path(__file__).parents[3]
_BEFORE = {
    "a3_agg": ("a2_managers",),
    "delta_merge": ("delta_write",),
    "delta_update": ("delta_write",),
    "delta_delete": ("delta_write",),
}
_PYTHONS = {
    "3.5": Path(sys.executable),
    "4.0": environment("spark4") / "bin" / "python",
    "4.1": environment("spark41") / "bin" / "python",
    "4.2": environment("spark42") / "bin" / "python",
    "4.3": environment("spark43") / "bin" / "python",
}


def in_parts(*versions: str) -> list[ParameterSet]:
    """These Sparks as parameters of tests, each one a part of ``make test-all``."""
    return [pytest.param(one, marks=pytest.mark.part(f"spark-{one}")) for one in versions]


def python_of(version: str) -> Path:
    """The interpreter of an environment with that Spark; skips where there is none."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")
    if version == "3.5":
        pytest.importorskip("pyspark")
    if not _PYTHONS[version].exists():
        pytest.skip(f"no Spark {version} here: make test-parts installs it")
    return _PYTHONS[version]


#: A driver that ends waits 5 s for Spark and the delivery, which busy cores do not keep.
PATIENT_END = """
from spark_agent_config import listener

for end in (listener.close_all, listener.Observation.close):
    end.__defaults__ = (200.0,)
"""


def run_driver(
    version: str, script: str, url: str, folder: Path, *, seconds: int = 560
) -> subprocess.CompletedProcess[str]:
    """Run the text of a driver in ``folder``; its arguments are the server's address and that."""
    python = python_of(version)
    return subprocess.run(
        [python, "-c", script, url, str(folder)],
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": str(python)},
        check=False,
    )


def run_worker(python: Path, module: str, root: Path, *arguments: str, seconds: float = 500) -> str:
    """Run a module of the tests in ``root``, its first argument; its output is kept beside.

    A worker that takes longer writes what its threads wait for into that output, and is ended.
    """
    said = root / "said"
    with said.open("w") as output:
        worker = subprocess.Popen(
            [python, "-X", "faulthandler", "-m", module, str(root), *arguments],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": str(python)},
            stdout=output,
            stderr=output,
        )
        try:
            worker.wait(seconds)
        except subprocess.TimeoutExpired:
            _end_with_stacks(worker)
        finally:
            worker.kill()
            worker.wait()
    text = said.read_text("utf-8")
    assert worker.returncode == 0, f"{module} ended with {worker.returncode}:\n{text[-60_000:]}"
    return text


def _end_with_stacks(worker: subprocess.Popen[bytes]) -> None:
    """The stacks of the threads of Spark's Java (its only child), then those of Python."""
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children")
    if children.exists():  # Linux
        for child in children.read_text("ascii").split():
            os.kill(int(child), signal.SIGQUIT)
        time.sleep(5)
    worker.send_signal(signal.SIGABRT)
    worker.wait(60)


#: Every job runs on the oldest, on the newest two, and on 4.1, the newest with all table formats;
#: 4.0 has the scripts here and the table formats.
@pytest.fixture(scope="module", params=["3.5", *in_parts("4.1", "4.2", "4.3")])
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    python = python_of(request.param)
    root = tmp_path_factory.mktemp("lake")
    jars = paths_for(request.param, os.environ)
    said = root / "stderr"
    with recording_server() as server, said.open("w") as stderr:
        process = subprocess.Popen(
            [python, "-m", "tests.e2e.spark.listener_worker", str(root), server.url, *jars],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": str(python)},
        )
        with process:
            try:
                yield Bench(process, server, root, has_delta=bool(jars))
            finally:
                assert process.stdin is not None
                process.stdin.close()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()


@pytest.fixture
def run(bench: Bench) -> Callable[[str], Report]:
    return bench.run


# --- against the stock agent -------------------------------------------------------------------

_SAME_JOBS = (
    "a2_managers",
    "a3_agg",
    "b_attendance_table",
    "c_union",
    "c_window",
    "c_append",
    "c_explode",
    "c_cte_twice",
    "c_rollup",
    "c_fail_plan",
)


@pytest.mark.parametrize("name", _SAME_JOBS)
def test_a_job_gives_the_plans_that_the_stock_agent_gives(
    name: str, run: Callable[[str], Report], bench: Bench
) -> None:
    if not bench.version.startswith("3.5"):
        pytest.skip("the agent was recorded on Spark 3.5")
    ours = [outline(plan, bench.root) for plan in run(name).plans]
    theirs = [outline(plan, "/nowhere") for plan in captures.plans(name)]

    assert ours == theirs[: len(ours)]
    assert len(ours) == len({tuple(lines) for lines in theirs})


@pytest.mark.parametrize("name", _SAME_JOBS)
def test_no_source_target_or_mode_of_the_stock_agent_is_missing(
    name: str, run: Callable[[str], Report], bench: Bench
) -> None:
    def told(plans: Any, root: str) -> set[tuple[Any, ...]]:
        return {
            (
                plan["operations"]["write"]["outputSource"].replace(root, "/lake"),
                plan["operations"]["write"]["append"],
                plan["operations"]["write"]["extra"]["destinationType"],
                frozenset(uri.replace(root, "/lake") for uri in sources(plan)),
            )
            for plan in plans
        }

    assert told(captures.plans(name), "/nowhere") <= told(run(name).plans, bench.root)


def test_an_rdd_of_files_is_read_where_the_stock_agent_reads_it(
    run: Callable[[str], Report], bench: Bench
) -> None:
    (agents,) = sources(captures.plans("c_rdd_toDF")[0])
    (ours,) = sources(run("c_rdd_todf").plan)

    assert ours.replace(bench.root, "/lake") == agents.rpartition("/")[0]
    assert written_columns(run("c_rdd_todf").plan) == ["a", "b"]


# --- shapes ------------------------------------------------------------------------------------


def test_a_partitioned_write_says_its_keys_and_that_it_is_dynamic(
    run: Callable[[str], Report], bench: Bench
) -> None:
    write = run("partitioned").plan["operations"]["write"]

    assert write["outputSource"] == f"file:{bench.root}/data/out/partitioned"
    assert write["append"] is False
    assert write["extra"] == {
        "destinationType": "csv",
        "saveMode": "Overwrite",
        "partitionColumns": ["dept"],
        "dynamicPartitionOverwrite": True,
    }


def test_the_partitions_that_a_write_touched_are_told(run: Callable[[str], Report]) -> None:
    written = [
        event["extra"].get("writtenPartitions")
        for event in run("partitions_again").events
        if event["extra"]["writeMetrics"].get("numOutputRows") is not None
    ]

    assert written == [
        None,  # the first makes the table
        ["day=d 2/half=0", "day=d 2/half=1"],
        ["day=d 1/half=0"],
        ["day=d 0/half=1"],
        None,  # no rows, no partitions
    ]


def test_columns_of_a_self_join_keep_their_sides(
    run: Callable[[str], Report], bench: Bench
) -> None:
    employees = f"file:{bench.root}/data/curated/employees"

    assert origins(run("a2_managers").plan) == {
        "emp_id": {f"{employees}#emp_id"},
        "employee": {f"{employees}#full_name"},
        "manager": {f"{employees}#full_name"},
        "dept": {f"{employees}#dept"},
        "total_comp": {f"{employees}#total_comp"},
        "ratio": {f"{employees}#total_comp"},
    }


def test_types_of_computed_columns_are_told(run: Callable[[str], Report]) -> None:
    assert written_types(run("a3_agg").plan) == ["string", "string", "bigint", "double", "double"]
    assert written_types(run("c_window").plan)[2:] == ["int", "int", "bigint"]


def test_columns_pass_through_a_cte_that_is_used_twice(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plan = run("c_cte_twice").plan
    employees = f"file:{bench.root}/data/curated/employees"
    definition = next(o for o in operations(plan).values() if o["name"] == "CTERelationDef")
    uses = [o for o in operations(plan).values() if o["name"] == "CTERelationRef"]

    assert origins(plan) == {
        "dept": {f"{employees}#dept"},
        "av": {f"{employees}#salary"},
        "av2": {f"{employees}#salary"},
    }
    assert [use["params"]["cteId"] for use in uses] == [definition["params"]["id"]] * 2


def test_columns_pass_through_a_recursive_cte(run: Callable[[str], Report], bench: Bench) -> None:
    if bench.version < "4.1":
        pytest.skip("Spark 4.1 has them first")
    plan = run("recursive_cte").plan
    employees = f"file:{bench.root}/data/curated/employees"

    assert origins(plan) == {
        "emp_id": {f"{employees}#emp_id"},
        "boss": {f"{employees}#emp_id", f"{employees}#manager_id"},
        "paid": {f"{employees}#salary", f"{employees}#bonus"},
    }
    assert logic_of(plan).gaps == ()


def test_a_transposed_table_says_that_its_sources_are_lost(
    run: Callable[[str], Report], bench: Bench
) -> None:
    if bench.version < "4":
        pytest.skip("Spark 4 has it first")
    plan = run("transposed").plan

    assert written_columns(plan)[0] == "key"
    assert "opaque-operation" in {code for code, _ in logic_of(plan).gaps}


def test_columns_pass_through_a_rollup(run: Callable[[str], Report], bench: Bench) -> None:
    employees = f"file:{bench.root}/data/curated/employees"

    assert origins(run("c_rollup").plan) == {
        "dept": {f"{employees}#dept"},
        "manager_id": {f"{employees}#manager_id"},
        "s": {f"{employees}#salary"},
    }


def test_tables_of_subqueries_are_read_and_their_columns_arrive(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plan = run("subqueries").plan
    employees = f"file:{bench.root}/data/curated/employees"
    attendance = f"file:{bench.root}/data/raw/attendance/att.csv"

    assert sources(plan) == {employees, attendance}
    assert origins(plan) == {
        "emp_id": {f"{employees}#emp_id"},
        "share": {f"{employees}#salary", f"{attendance}#hours"},
    }


def test_conditions_around_and_inside_subqueries_are_told(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plan = run("subqueries").plan
    employees = f"file:{bench.root}/data/curated/employees"
    attendance = f"file:{bench.root}/data/raw/attendance/att.csv"
    filters = [
        condition_columns(plan, operation)
        for operation in operations(plan).values()
        if operation["name"] == "Filter"
    ]

    assert {f"{employees}#emp_id", f"{attendance}#emp_id"} in filters  # IN
    assert {f"{attendance}#hours"} in filters  # inside IN
    assert {f"{attendance}#status"} in filters  # inside the scalar subquery
    assert {f"{employees}#manager_id", f"{employees}#emp_id"} in filters  # inside EXISTS


def test_a_lateral_subquery_is_a_side_of_the_join(
    run: Callable[[str], Report], bench: Bench
) -> None:
    assert origins(run("lateral").plan) == {
        "emp_id": {f"file:{bench.root}/data/curated/employees#emp_id"},
        "total": {f"file:{bench.root}/data/raw/attendance/att.csv#hours"},
    }


def test_columns_pass_through_a_view_of_the_catalog(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plan = run("catalog_view").written_to("/out/view")
    table = f"file:{bench.root}/warehouse/vt"
    (read,) = plan["operations"]["reads"]

    assert origins(plan) == {"id": {f"{table}#emp_id"}, "d": {f"{table}#dept"}}
    assert read["params"]["table"]["identifier"] == {"table": "vt", "database": "default"}


def test_python_functions_pass_columns_on(run: Callable[[str], Report], bench: Bench) -> None:
    assert origins(run("python_function").plan) == {
        "loud": {f"file:{bench.root}/data/curated/employees#dept"}
    }


def test_a_table_made_by_a_query_is_told_twice_with_one_target(
    run: Callable[[str], Report], bench: Bench
) -> None:
    insert, create, _ = run("b_attendance_table").plans
    wrote = [plan["operations"]["write"] for plan in (insert, create)]

    assert [write["name"] for write in wrote] == [
        "InsertIntoHadoopFsRelationCommand",
        "CreateDataSourceTableAsSelectCommand",
    ]
    place = f"file:{bench.root}/warehouse/hr.db/attendance_daily"
    assert {write["outputSource"] for write in wrote} == {place}
    assert origins(insert) == origins(create)
    assert wrote[1]["params"]["table"]["identifier"] == {
        "table": "attendance_daily",
        "database": "hr",
    }
    metrics = [event["extra"]["writeMetrics"] for event in run("b_attendance_table").events[:2]]
    assert metrics[0]["numOutputRows"] == metrics[1]["numOutputRows"] == 2


def test_the_first_append_to_a_table_makes_it_and_the_second_appends(
    run: Callable[[str], Report],
) -> None:
    appends = [plan["operations"]["write"]["append"] for plan in run("append_to_table").plans]

    assert appends == [False, False, True, True]


def test_inserts_say_their_mode_and_partitions(run: Callable[[str], Report]) -> None:
    told = [
        (write["name"], write["append"], write["extra"].get("staticPartitions"))
        for write in (plan["operations"]["write"] for plan in run("inserts").plans)
    ]

    assert told == [
        ("CreateDataSourceTableCommand", False, None),
        ("InsertIntoHadoopFsRelationCommand", True, None),
        ("InsertIntoHadoopFsRelationCommand", False, {"dept": "HR"}),
        ("TruncateTableCommand", False, None),
        ("DropTable", False, None),
    ]


def test_making_and_dropping_a_table_names_the_place_that_writes_name(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plans = run("inserts").plans

    places = {plan["operations"]["write"]["outputSource"] for plan in plans}
    assert places == {f"file:{bench.root}/warehouse/by_dept"}
    assert sources(plans[0]) == sources(plans[-1]) == set()


def test_a_drop_of_nothing_makes_nothing(run: Callable[[str], Report], bench: Bench) -> None:
    told = [plan["operations"]["write"] for plan in run("drops").plans]

    assert [(write["name"], write["outputSource"].rpartition("/")[2]) for write in told] == [
        ("CreateDataSourceTableCommand", "there"),
        ("DropTable", "there"),
        ("CreateDataSourceTableCommand", "there_too"),
        ("DropTable", "there_too"),
    ]


def test_one_statement_with_several_inserts_is_several_writes(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("several_inserts")

    inserts = [p for p in report.plans if "reads" in p["operations"]]
    targets = {plan["operations"]["write"]["outputSource"] for plan in inserts}
    assert targets == {f"file:{bench.root}/warehouse/{name}" for name in ("high", "low")}


def test_jdbc_is_read_and_written_without_its_password(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("jdbc")
    url = f"jdbc:derby:{bench.root}/database"

    (saved,) = _written_by(report, "SaveIntoDataSourceCommand")
    assert saved["operations"]["write"]["outputSource"] == f"{url};create=true:EMP"
    assert sources(report.written_to("/out/from_jdbc")) == {f"{url}:EMP"}
    (query,) = sources(report.written_to("/out/from_jdbc_query"))
    assert query == f'{url}:(SELECT "emp_id" AS id FROM EMP) SPARK_GEN_SUBQ_0'
    assert "unsaid-word" not in str(report)


def _written_by(report: Report, command: str) -> list[Any]:
    """A save over JDBC is sent after the next command: it might have been part of that."""
    return [plan for plan in report.plans if plan["operations"]["write"]["name"] == command]


def test_a_query_without_a_write_is_not_told(run: Callable[[str], Report]) -> None:
    assert run("only_read").plans == []


def test_an_ignored_write_is_not_told(run: Callable[[str], Report]) -> None:
    assert run("ignored").plans == []


# --- row-level commands ------------------------------------------------------------------------


def logic_of(plan: Any) -> Logic:
    """The plan as the server reads it."""
    return read_logic(PlanDocument(read_plan(plan), "", "hash", "1.2"))


def flows_of(plan: Any) -> set[tuple[str, str, str]]:
    """(written column, read column, kind); a read column is followed by where it lies."""
    logic = logic_of(plan)
    places = {use.dataset_id: use.dataset.uri.rpartition("/")[2] for use in logic.reads}
    return {
        (flow.target[1], f"{flow.source[1]} of {places[flow.source[0]]}", flow.kind)
        for flow in logic.flows
    }


def mode_and_reads(plan: Any) -> tuple[str, set[str]]:
    logic = logic_of(plan)
    return logic.mode, {use.dataset.uri.rpartition("/")[2] for use in logic.reads}


def test_writes_of_delta_say_their_mode_and_place(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plans = run("delta_write").plans

    assert [plan["operations"]["write"]["append"] for plan in plans] == [False, True, False]
    for plan in plans:
        write = plan["operations"]["write"]
        assert write["outputSource"] == f"file:{bench.root}/data/delta/pay"
        assert write["extra"]["destinationType"] == "delta"
    partly = [
        plan["operations"]["write"]["extra"].get("dynamicPartitionOverwrite") for plan in plans
    ]
    assert partly == [None, None, True], "replaceWhere leaves the other rows"


def test_a_merge_reads_its_target_and_gives_the_new_value_of_each_column(
    run: Callable[[str], Report],
) -> None:
    plan = run("delta_merge").plan

    assert plan["operations"]["write"]["name"] == "MergeIntoCommand"
    assert mode_and_reads(plan) == ("append", {"pay", "employees"})
    assert flows_of(plan) == {
        ("emp_id", "emp_id of pay", "DIRECT"),
        ("emp_id", "emp_id of employees", "DIRECT"),
        ("dept", "dept of pay", "DIRECT"),
        ("dept", "dept of employees", "DIRECT"),
        ("salary", "salary of pay", "DIRECT"),
        ("salary", "salary of employees", "DIRECT"),
        ("salary", "dept of employees", "INDIRECT"),
    }
    joined = {(i.source[1], i.how) for i in logic_of(plan).influences}
    assert joined == {("emp_id", "JOIN"), ("dept", "FILTER")}  # it deletes by the department


def test_an_upsert_of_a_stream_has_the_columns_of_its_source(run: Callable[[str], Report]) -> None:
    (plan,) = _written_by(run("delta_upserts"), "MergeIntoCommand")

    assert mode_and_reads(plan) == ("append", {"hours", "attendance"})
    assert logic_of(plan).gaps == ()
    assert flows_of(plan) == {
        ("emp_id", "emp_id of hours", "DIRECT"),
        ("emp_id", "emp_id of attendance", "DIRECT"),
        ("total", "total of hours", "DIRECT"),
        ("total", "hours of attendance", "DIRECT"),
    }


def test_an_update_reads_its_target_and_changes_the_columns_that_it_sets(
    run: Callable[[str], Report],
) -> None:
    plan = run("delta_update").plan

    assert plan["operations"]["write"]["name"] == "UpdateCommand"
    assert mode_and_reads(plan) == ("append", {"pay"})
    assert flows_of(plan) == {
        ("emp_id", "emp_id of pay", "DIRECT"),
        ("dept", "dept of pay", "DIRECT"),
        ("salary", "salary of pay", "DIRECT"),
        ("salary", "emp_id of pay", "DIRECT"),
        ("salary", "dept of pay", "INDIRECT"),
    }


def test_a_delete_reads_its_target_and_says_its_condition(run: Callable[[str], Report]) -> None:
    plan = run("delta_delete").plan

    assert plan["operations"]["write"]["name"] == "DeleteCommand"
    assert mode_and_reads(plan) == ("append", {"pay"})
    assert {(i.source[1], i.how) for i in logic_of(plan).influences} == {("salary", "FILTER")}


def test_a_delta_table_is_written_where_it_lies_and_made_once(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plans = [p for p in run("delta_table").plans if "reads" in p["operations"]]
    told = [(p["operations"]["write"]["name"], p["operations"]["write"]["append"]) for p in plans]

    assert told == [
        ("CreateTableAsSelect", False),
        ("AppendData", True),
        ("OverwriteByExpression", False),
        ("AppendData", True),
    ]
    places = {p["operations"]["write"]["outputSource"] for p in plans}
    assert places == {f"file:{bench.root}/warehouse/pay"}
    assert ("salary", "bonus of employees", "DIRECT") in flows_of(plans[1])


def test_columns_that_delta_generates_come_from_those_of_their_expressions(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("delta_generated")
    employees = f"file:{bench.root}/data/curated/employees"
    attendance = f"file:{bench.root}/data/raw/attendance"
    batch = {"id": {f"{employees}#emp_id"}, "dept": {f"{employees}#dept"}}
    stream = {"id": {f"{attendance}#emp_id"}, "dept": {f"{attendance}#status"}}

    assert report.error is None
    *batches, streamed = [plan for plan in report.plans if "reads" in plan["operations"]]
    assert len(batches) == 4
    for plan, given in (*((plan, batch) for plan in batches), (streamed, stream)):
        found = {name.lower(): columns for name, columns in origins(plan).items()}
        assert found == given | {"twice": given["id"], "both": given["id"] | given["dept"]}
        assert written_types(plan) == ["bigint", "string", "bigint", "string"]


# --- streams -----------------------------------------------------------------------------------


def test_a_stream_is_one_plan_with_an_execution_a_batch(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("stream_to_files")
    ids = {plan["id"] for plan in report.plans}
    plan = report.plans[0]

    assert len(ids) == 1
    assert len(report.events) == 2, "one a batch"
    assert mode_and_reads(plan) == ("append", {"attendance"})
    assert plan["operations"]["write"]["outputSource"] == f"file:{bench.root}/data/out/stream"
    assert origins(plan) == {
        name: {f"file:{bench.root}/data/raw/attendance#{column}"}
        for name, column in (("emp_id", "emp_id"), ("twice", "hours"))
    }
    assert all(event["durationNs"] > 0 for event in report.events)
    assert report.events[0]["extra"]["readMetrics"]["numOutputRows"] == 3


def test_a_write_of_a_batch_function_is_told_as_a_write(
    run: Callable[[str], Report], bench: Bench
) -> None:
    plan = run("stream_to_function").plan

    assert mode_and_reads(plan) == ("append", {"attendance"})
    place = plan["operations"]["write"]["outputSource"]
    assert place == f"file:{bench.root}/data/out/stream_function"
    assert flows_of(plan) == {
        ("emp_id", "emp_id of attendance", "DIRECT"),
        ("h", "hours of attendance", "DIRECT"),
    }


def test_a_stream_into_delta_is_told(run: Callable[[str], Report], bench: Bench) -> None:
    plan = run("delta_stream").plan

    assert plan["operations"]["write"]["outputSource"] == f"file:{bench.root}/data/delta/stream"
    assert plan["operations"]["write"]["extra"]["destinationType"] == "delta"
    assert mode_and_reads(plan) == ("append", {"attendance"})


def test_a_stream_that_is_kept_in_memory_is_not_told(run: Callable[[str], Report]) -> None:
    assert run("stream_to_memory").plans == []


def test_a_stream_that_fails_is_told_with_its_error(run: Callable[[str], Report]) -> None:
    report = run("stream_that_fails")
    (event,) = report.events

    assert report.error is not None
    assert "ZeroDivisionError" in event["error"]
    assert "durationNs" not in event


# --- more shapes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("cached", {"dept": {"dept"}, "top": {"emp_id"}}),
        ("temporary_views", {"emp_id": {"emp_id"}, "d": {"salary"}}),
        ("insert_directory", {"emp_id": {"emp_id"}, "dept": {"dept"}}),
        ("no_rows", {name: {name} for name in (
            "emp_id", "dept", "salary", "bonus", "manager_id", "hired", "full_name", "total_comp"
        )}),
        ("grouping_sets", {"dept": {"dept"}, "manager_id": {"manager_id"}, "s": {"salary"}}),
        ("unpivoted", {"emp_id": {"emp_id"}, "what": set(), "amount": {"salary", "bonus"}}),
    ],
)  # fmt: skip
def test_columns_come_from_the_employees(
    job: str, expected: dict[str, set[str]], run: Callable[[str], Report], bench: Bench
) -> None:
    employees = f"file:{bench.root}/data/curated/employees"

    assert origins(run(job).plan) == {
        name: {f"{employees}#{column}" for column in columns} for name, columns in expected.items()
    }


def test_a_field_picked_from_an_array_of_structs_is_named(run: Callable[[str], Report]) -> None:
    plan = run("nested_fields").plan
    flows = {(flow.target[1], flow.source[1]) for flow in logic_of(plan).flows}

    assert flows == {("id", "id"), ("skus", "items.sku"), ("city", "customer.address.city")}


def test_a_field_of_a_struct_keeps_its_own_sources_from_job_to_job(
    run: Callable[[str], Report],
) -> None:
    report = run("structs")
    lines = [{"kind": "plan", "body": plan} for plan in report.plans]
    lines += [{"kind": "event", "body": event} for event in report.events]
    headwater = small_headwater()
    try:
        accept_lines(headwater, lines)
        headwater.project()
        assert {
            f"{table}.{column}": employees_behind(headwater, table, column)
            for table, column in (
                ("packed", "person"), ("copied", "person"), ("grouped", "people"),
                ("names", "full_name"), ("pays", "pay"), ("both", "full_name"), ("both", "pay"),
                ("text", "text"),
            )
        } == {
            "packed.person": {"full_name", "salary"},
            "copied.person": {"full_name", "salary"},
            "grouped.people": {"full_name", "salary"},
            "names.full_name": {"full_name"},
            "pays.pay": {"salary"},
            "both.full_name": {"full_name"},
            "both.pay": {"emp_id"},
            "text.text": {"full_name", "salary"},
        }  # fmt: skip
    finally:
        headwater.close()


def employees_behind(headwater: SmallHeadwater, table: str, column: str) -> set[str]:
    """The columns of the employees from which a column flows."""
    tables = {
        row.uri.rpartition("/")[2]: row.id
        for row in headwater.catalogue.scan()
        if isinstance(row, DatasetRow)
    }
    start = identity.column_id(tables[table], column)
    question = Question("", direction=Direction.UPSTREAM, depth=20, limit=500)
    answer = headwater.sources.lineage.ask_columns((start,), question)
    return {node.path for node in answer.columns if node.dataset == tables["employees"]}


def test_columns_go_through_checkpoints_to_the_tables_before_them(
    run: Callable[[str], Report],
) -> None:
    """A checkpoint of a checkpoint, joined with itself."""
    plan = run("checkpointed").plan

    assert mode_and_reads(plan)[1] == {"employees"}
    assert logic_of(plan).gaps == ()
    assert flows_of(plan) == {
        ("emp_id", "emp_id of employees", "DIRECT"),
        ("pay", "salary of employees", "DIRECT"),
        ("pay", "bonus of employees", "DIRECT"),
        ("unit", "dept of employees", "DIRECT"),
    }


def test_rows_that_went_through_python_keep_their_table_and_have_a_gap(
    run: Callable[[str], Report],
) -> None:
    plan = run("frame_of_rdd").plan

    assert mode_and_reads(plan)[1] == {"employees"}
    assert [code for code, _ in logic_of(plan).gaps] == ["opaque-rdd"]


def test_an_insert_by_name_finds_its_columns(run: Callable[[str], Report], bench: Bench) -> None:
    by_name, some = (p for p in run("insert_by_name").plans if "reads" in p["operations"])
    employees = f"file:{bench.root}/data/curated/employees"

    assert origins(by_name) == {"dept": {f"{employees}#dept"}, "id": {f"{employees}#emp_id"}}
    assert origins(some)["id"] == {f"{employees}#emp_id"}


def test_an_insert_into_a_table_over_jdbc_is_told_once(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("table_over_jdbc")
    (insert,) = _written_by(report, "InsertIntoDataSourceCommand")

    assert len(_written_by(report, "SaveIntoDataSourceCommand")) == 1, "the one that made the table"
    assert insert["operations"]["write"]["append"] is True
    assert insert["operations"]["write"]["outputSource"].endswith("/database2:EMP")
    assert sources(insert) == {f"file:{bench.root}/data/curated/employees"}


def test_a_write_of_no_rows_counts_none(run: Callable[[str], Report]) -> None:
    (event,) = run("no_rows").events

    assert event["extra"]["writeMetrics"]["numOutputRows"] == 0


# --- executions --------------------------------------------------------------------------------


def test_an_execution_carries_its_plan_time_duration_and_counts(
    run: Callable[[str], Report], bench: Bench
) -> None:
    report = run("a3_agg")
    (event,) = report.events

    assert event["planId"] == report.plan["id"]
    assert event["durationNs"] > 0
    assert event["extra"]["appId"] == bench.application
    assert event["extra"]["writeMetrics"]["numOutputRows"] == 3  # adaptive: the final plan
    assert event["extra"]["readMetrics"]["numOutputRows"] == 3


@pytest.mark.parametrize("name", ["c_fail_plan", "failing_function"])
def test_a_failed_write_is_told_with_its_error_and_its_duration(
    name: str, run: Callable[[str], Report]
) -> None:
    report = run(name)
    (event,) = report.events

    assert report.error is not None
    assert event["error"].startswith("org.apache.spark") or ".Spark" in event["error"]
    assert event["durationNs"] > 0
    assert event["planId"] == report.plan["id"]


def test_running_a_job_again_gives_the_same_plan_id(bench: Bench) -> None:
    for name in ("subqueries", "c_cte_twice", "c_rollup", "stream_to_files"):
        first = bench.run(name).plans[-1]["id"]
        assert bench.run_again(name).plans[-1]["id"] == first, name


def test_labels_of_the_session_are_on_every_plan(run: Callable[[str], Report]) -> None:
    plan = run("c_union").plan

    assert plan["labels"] == {"namespace": ["tests"], "team": ["hr"]}
    assert plan["name"] == "listener-tests"
    assert plan["agentInfo"]["name"] == "headwater-listener"


def test_everything_that_was_sent_is_accepted_by_the_reader(
    run: Callable[[str], Report], bench: Bench
) -> None:
    run("subqueries")
    for plan in bench.server.plans():
        kept = read_plan(plan).operations
        assert len(kept) == len(operations(plan)), "an operation hangs loose"
    for event in bench.server.events():
        read_event(event)


def test_requests_are_those_of_a_producer(run: Callable[[str], Report], bench: Bench) -> None:
    run("subqueries")
    wire = "application/vnd.absa.spline.producer.v1.2+json"

    for request in bench.server.received:
        assert request.headers["Content-Type"] == wire
        large = len(request.body) > 2048
        assert (request.headers.get("Content-Encoding") == "gzip") == large
    paths = [request.path for request in bench.server.received]
    assert paths[0::2] == ["/execution-plans"] * (len(paths) // 2)
    assert paths[1::2] == ["/execution-events"] * (len(paths) // 2)


def test_observing_a_session_again_is_the_same_observation(bench: Bench) -> None:
    assert bench.ask({"observe": "again"})["same"] is True


def test_names_of_operations_are_those_of_spark(run: Callable[[str], Report]) -> None:
    assert {"Union", "Project", "LogicalRelation"} <= names(run("c_union").plan)


# --- processes ---------------------------------------------------------------------------------

_SCRIPT = """
import logging
import sys
logging.basicConfig(level=logging.INFO)
from pyspark.sql import SparkSession
from spark_agent_config.listener import observe

spark = (
    SparkSession.builder.master("local[1]").appName("script")
    .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    .config("spark.log.level", "OFF").getOrCreate()
)
observe(spark, sys.argv[1])
spark.range(3).write.mode("overwrite").parquet(sys.argv[2])
print("rows", spark.read.parquet(sys.argv[2]).count())
"""


def _run_script(
    python: Path, url: str, folder: Path, text: str = _SCRIPT
) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text)
    return subprocess.run(
        [str(python), str(script), url, str(folder / "out")],
        capture_output=True,
        text=True,
        timeout=560,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "PYSPARK_PYTHON": str(python),
            "HEADWATER_SPILL": str(folder / "spill"),
        },
        check=False,
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["4.1", *in_parts("3.5", "4.0", "4.2", "4.3")])
def test_a_script_that_just_ends_is_told(version: str, tmp_path: Path) -> None:
    """No spark.stop(), no flush: executions that Spark had not handed over are fetched at exit."""
    with recording_server() as server:
        done = _run_script(python_of(version), server.url, tmp_path, PATIENT_END + _SCRIPT)

    assert (done.returncode, done.stdout) == (0, "rows 3\n"), done.stderr
    assert "Received command" not in done.stderr, "py4j's talk about callbacks"
    (plan,) = server.plans()
    assert plan["operations"]["write"]["outputSource"] == f"file:{tmp_path}/out"
    assert [event["planId"] for event in server.events()] == [plan["id"]]


def test_a_job_without_a_server_runs_as_it_would_without_us(tmp_path: Path) -> None:
    done = _run_script(python_of("3.5"), "http://127.0.0.1:9", tmp_path)

    assert (done.returncode, done.stdout) == (0, "rows 3\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "Lineage" in line]
    assert len(told) == 1
    assert "the job goes on" in told[0]
    assert "Traceback" not in done.stderr
    (kept,) = (tmp_path / "spill").iterdir()
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["plan", "event"]
    assert lines[0]["body"]["operations"]["write"]["outputSource"] == f"file:{tmp_path}/out"


def test_a_job_with_a_file_for_an_address_writes_its_lineage_there(tmp_path: Path) -> None:
    done = _run_script(python_of("3.5"), f"file:{tmp_path}/lineage.ndjson", tmp_path)

    assert (done.returncode, done.stdout) == (0, "rows 3\n"), done.stderr
    assert "Lineage" not in done.stderr
    lines = [json.loads(line) for line in (tmp_path / "lineage.ndjson").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["plan", "event"]
    assert read_event(lines[1]["body"]).plan_id == read_plan(lines[0]["body"]).id
