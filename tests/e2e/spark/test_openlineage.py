"""OpenLineage's client for Spark and our listener in one session: one picture, and how they differ.

The jobs report to a real server. The events are then taken from its journal, so that each of the
two can be looked at alone as well.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model import labels
from graph_model.facts import Edge, Vertex
from graph_model.stores.documents import DocumentKind, Submission
from spark_agent_config.demo import JOBS
from tests.e2e.service import RunningHeadwater
from tests.e2e.small_client import client_of
from tests.e2e.spark.openlineage_jobs import QUERIES, SHORT, SHORT_NAMESPACE, SHORT_PARENT
from tests.e2e.spark.spark_jars import openlineage_jar
from tests.projections import SmallHeadwater, lineage_event, small_headwater, submission

pytestmark = [pytest.mark.spark, pytest.mark.part("openlineage"), pytest.mark.timeout(1_000)]
_ROOT: Final = Path(__file__).parents[3]
_TABLES: Final = (
    "customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier",
)  # fmt: skip
#: OpenLineage's client takes any Derby database for the metastore in the folder of the process.
_DERBY: Final = "metastore_db/EMPLOYEES"


@dataclass(frozen=True)
class Together:
    """The server after the jobs, the working folder, and the reports of each agent."""

    server: RunningHeadwater
    root: str
    openlineage: SmallHeadwater
    listener: SmallHeadwater
    events: list[Any]

    def items(self, path: str, **query: Any) -> list[Any]:
        found: list[Any] = self.server.get(path, limit=1000, **query)["items"]
        return found

    def datasets(self) -> dict[str, str]:
        """Names below the working folder, by their ids."""
        return {one["id"]: self.short(one["uri"]) for one in self.items("/graph/datasets")}

    def short(self, uri: str) -> str:
        return uri.replace(f"file:{self.root}/", "").replace(self.root, "~")


@dataclass(frozen=True)
class Short:
    """The server after the short queries, and its journal."""

    server: RunningHeadwater
    lines: list[Any]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Together]:
    jar = _client()
    folder = tmp_path_factory.mktemp("together")
    root = folder / "work"
    server = RunningHeadwater(folder / "data")
    server.start()
    alone = {"openlineage": small_headwater(), "listener": small_headwater()}
    try:
        _run_jobs(root, server.url, jar)
        server.await_projected()
        lines = _export(server, folder)
        for line in lines:
            one = alone["listener" if line["kind"] in ("plan", "event") else "openlineage"]
            one.accept(_submission(line))
        for headwater in alone.values():
            headwater.project()
        events = [line["body"] for line in lines if line["kind"] not in ("plan", "event")]
        yield Together(server, str(root), **alone, events=events)
    finally:
        server.stop()
        for headwater in alone.values():
            headwater.close()


def _client() -> str:
    """Where OpenLineage's client is; skips where there is no Spark."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("no java on this machine")
    pytest.importorskip("pyspark")
    return openlineage_jar(os.environ)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Short]:
    """Short queries; the client captures no more than it does by default."""
    jar = _client()
    folder = tmp_path_factory.mktemp("short")
    server = RunningHeadwater(folder / "data")
    server.start()
    try:
        _run_jobs(folder / "work", server.url, jar, "short")
        server.await_projected()
        yield Short(server, _export(server, folder))
    finally:
        server.stop()


def _run_jobs(root: Path, url: str, jar: str, *more: str) -> None:
    root.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.spark.openlineage_jobs", str(root), url, jar, *more],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": sys.executable},
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _export(server: RunningHeadwater, folder: Path) -> list[Any]:
    file = folder / "journal.ndjson"
    subprocess.run(
        [sys.executable, "-m", "api.command_line", "journal", "export", str(file)],
        env={**os.environ, "HEADWATER_DATA": str(server.data)},
        cwd=_ROOT,
        capture_output=True,
        check=True,
    )
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _submission(line: Mapping[str, Any]) -> Submission:
    if line["kind"] in ("plan", "event"):
        return submission(DocumentKind(line["kind"]), line["body"])
    return lineage_event(line["body"])


# --- one picture ---------------------------------------------------------------------------------


def test_an_application_that_both_report_is_one_job_with_one_run(together: Together) -> None:
    jobs = together.items("/graph/jobs")
    assert {(job["namespace"], job["name"]) for job in jobs} == {
        ("demo", name) for name in (*(job.name for job in JOBS), "tpch")
    }
    assert {job["name"]: job["runs"] for job in jobs} == {job["name"]: 1 for job in jobs}
    failed = {job["name"] for job in jobs if job["lastRun"]["state"] == "failed"}
    assert failed == {"export-payroll"}


def test_both_reported_and_nothing_was_refused(together: Together) -> None:
    producers = {
        execution["producer"].split(" ")[0]
        for job in together.items("/graph/jobs")
        for run in together.items(f"/graph/jobs/{job['id']}/runs")
        for execution in together.server.get(f"/graph/jobs/{job['id']}/runs/{run['id']}")["items"]
    }
    assert producers == {"openlineage-spark", "headwater-listener"}
    summary = together.server.get("/journal", summary="true")
    assert (summary["failed"], summary["pending"], summary["waiting"]) == (0, 0, 0)


def test_the_end_of_every_run_says_whose_application_it_is(together: Together) -> None:
    """It may be the only event of a query that was too short for its start to be told."""
    ends = [event for event in together.events if event["eventType"] in ("COMPLETE", "FAIL")]
    settings = [event["run"]["facets"]["spark_properties"]["properties"] for event in ends]
    assert len(settings) > 15
    assert all("spark.app.id" in one for one in settings)


def test_every_place_is_one_dataset_whoever_names_it(together: Together) -> None:
    pipeline = {
        "raw/salaries.csv", "raw/departments.csv", "raw/attendance.csv", "curated/employees",
        "reports/managers", "reports/absence_ranking", "export/payroll",
        "warehouse/attendance_with_emp1", "spark_catalog/default.attendance_with_emp1",
        "jdbc:derby:~/database/hr:EMPLOYEES",
    }  # fmt: skip
    queries = {f"out/tpch_q{number:02}" for number in QUERIES}
    found = set(together.datasets().values())
    wrong = {name for name in found if name.endswith(_DERBY)}
    assert len(wrong) == 1
    assert found - wrong == pipeline | queries | {f"tpch/{name}" for name in _TABLES}


def test_a_write_that_both_report_is_one_write(together: Together) -> None:
    writes = {
        name: len(together.items(f"/graph/datasets/{key}/history"))
        for key, name in together.datasets().items()
        if name.startswith(("out/", "reports/", "warehouse/"))
    }
    assert set(writes.values()) == {1}, writes


def test_a_write_on_which_the_two_agents_disagree_is_told_twice(together: Together) -> None:
    """The client reads another table than the job does: reads that differ are no one write."""
    ids = {name: key for key, name in together.datasets().items()}
    history = together.items(f"/graph/datasets/{ids['curated/employees']}/history")
    assert len(history) == 2
    assert len({write["producer"] for write in history}) == 2


def test_helper_runs_are_no_jobs_and_no_runs_of_their_own(together: Together) -> None:
    """Spark's client starts a run for each file footer that it reads, and never ends it."""
    elements, _ = together.openlineage.elements()
    jobs = {dict(one.properties)["name"] for one in _vertices(elements, labels.JOB)}
    assert jobs == {*(job.name for job in JOBS), "tpch"}
    assert len(_vertices(elements, labels.RUN)) == len(jobs)


def test_the_columns_of_a_write_come_from_the_agent_that_knows_their_expressions(
    together: Together,
) -> None:
    ids = {name: key for key, name in together.datasets().items()}
    answer = together.server.get(
        "/graph/column-lineage", dataset=ids["out/tpch_q01"], column="sum_disc_price",
        direction="upstream",
    )  # fmt: skip
    expressions = {edge["expression"] for edge in answer["edges"] if edge["kind"] == "DIRECT"}
    assert any("l_discount" in text for text in expressions), expressions


# --- short queries, default settings ------------------------------------------------------------


def test_short_queries_are_one_run_and_one_write_each(short: Short) -> None:
    ends = [one for one in _told(short) if one["eventType"] == "COMPLETE"]
    assert not any(_names_application(one) for one in ends), "more than the client's defaults"
    assert _application(short)["runs"] == 1
    assert _writes(short.server.get) == dict(Counter(SHORT))


def test_a_namespace_and_a_parent_of_the_client_s_do_not_part_the_reports_of_two_agents(
    short: Short,
) -> None:
    assert {event["job"]["namespace"] for event in _told(short)} == {SHORT_NAMESPACE}
    application = _application(short)
    (run,) = short.server.get(f"/graph/jobs/{application['id']}/runs")["items"]
    above = short.server.get(f"/graph/runs/{run['id']}")["parent"]
    assert (above["job"]["namespace"], above["job"]["name"]) == SHORT_PARENT[:2]
    assert not above["known"], "nobody told of the task itself"
    told = short.server.get(f"/graph/jobs/{application['id']}/runs/{run['id']}")["items"]
    assert len(told) == len(SHORT), "one execution a write, whichever agent's report is shown"
    reported = {line["kind"] for line in short.lines}
    assert reported > {"plan", "event"}, "both agents have reported"


def _application(short: Short) -> Any:
    return _beside_its_task(short.server.get("/graph/jobs")["items"])


def _beside_its_task(jobs: Sequence[Any]) -> Any:
    """The one job that is not the task which started it."""
    named = {(job["namespace"], job["name"]): job for job in jobs}
    assert set(named) == {("default", "short queries"), SHORT_PARENT[:2]}
    return named["default", "short queries"]


def test_so_are_they_where_all_but_the_end_of_each_was_lost(
    short: Short, headwater: SmallHeadwater
) -> None:
    """The client's events for a query that ends before it has seen its start."""
    lost = [
        line
        for line in short.lines
        if _is_of_a_query(line) and line["body"]["eventType"] != "COMPLETE"
    ]
    assert len(lost) >= 2 * len(SHORT)
    for line in short.lines:
        if line not in lost:
            headwater.accept(_submission(line))
    headwater.project()
    client = client_of(headwater, 2**41)

    def get(path: str, **query: Any) -> Any:
        return client.get(path, query_string=query).get_json()

    job = _beside_its_task(get("/graph/jobs")["items"])
    assert job["runs"] == 1
    (run,) = get(f"/graph/jobs/{job['id']}/runs")["items"]
    assert run["executions"] == len(SHORT)
    assert _writes(get) == dict(Counter(SHORT))


def _is_of_a_query(line: Mapping[str, Any]) -> bool:
    """The application's own events name the task as their parent."""
    parent = _facets(line).get("parent")
    return parent is not None and parent["run"]["runId"] != SHORT_PARENT[2]


def _told(short: Short) -> list[Any]:
    return [line["body"] for line in short.lines if line["kind"] not in ("plan", "event")]


def _facets(line: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = line["body"].get("run", {}).get("facets", {})
    return found


def _names_application(event: Mapping[str, Any]) -> bool:
    facets = event["run"]["facets"]
    settings = facets["spark_properties"]["properties"]
    return "spark_applicationDetails" in facets or "spark.app.id" in settings


def _writes(get: Callable[..., Any]) -> dict[str, int]:
    """How many writes the history of each table below ``out/`` shows."""
    listed = get("/graph/datasets", q="/out/", limit=100)["items"]
    return {
        one["uri"].rpartition("/")[2]: len(get(f"/graph/datasets/{one['id']}/history")["items"])
        for one in listed
    }


# --- how they differ -----------------------------------------------------------------------------

Sources = dict[str, set[tuple[str, str]]]


def _vertices(elements: Any, label: str) -> list[Vertex]:
    return [one for one in elements if isinstance(one, Vertex) and one.label == label]


def _direct_sources(together: Together, headwater: SmallHeadwater) -> Sources:
    """{output column: {(source column, how)}}, names below the working folder."""
    elements, _ = headwater.elements()
    columns = {one.id: dict(one.properties) for one in _vertices(elements, labels.COLUMN)}

    def name(key: str) -> str:
        return f"{together.short(str(columns[key]['dataset']))}#{columns[key]['path']}"

    found: Sources = defaultdict(set)
    for one in elements:
        if isinstance(one, Edge) and one.label == labels.DERIVES:
            said = dict(one.properties)
            if said["kind"] == labels.DIRECT:
                found[name(one.in_id)].add((name(one.out_id), str(said["how"])))
    return found


def test_the_two_agree_on_all_columns_but_those_that_the_documentation_lists(
    together: Together,
) -> None:
    told = _direct_sources(together, together.openlineage)
    derived = _direct_sources(together, together.listener)
    columns = [name for name in {*told, *derived} if not name.startswith("curated/")]
    differing = {
        name for name in columns if {one for one, _ in told.get(name, ())}
        != {one for one, _ in derived.get(name, ())}
    }  # fmt: skip
    assert differing == {
        "export/payroll#account",  # a Python function: the client names no source
        "reports/absence_ranking#position",  # the order of a window: DIRECT to the client
        "out/tpch_q08#mkt_share",  # the condition of a CASE: DIRECT to the client
    }
    how = {name for name in columns if name not in differing and told[name] != derived[name]}
    assert how == {
        "out/tpch_q07#revenue",  # sum(...): a TRANSFORMATION to the client, across a subquery
        "out/tpch_q09#sum_profit",
    }


def test_a_column_that_the_client_does_not_follow_is_a_gap_of_its_plan(together: Together) -> None:
    elements, _ = together.openlineage.elements()
    gaps = [
        (gap["code"], gap["detail"])
        for one in _vertices(elements, labels.LOGICAL_PLAN)
        for gap in json.loads(str(dict(one.properties)["gaps"]))
    ]
    assert ("column-untold", "account") in gaps
