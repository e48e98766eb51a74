"""Real PySpark with the listener -> a real Headwater -> a real Chromium."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import open_browser, open_page, wait_for
from tests.e2e.service import RunningHeadwater

pytestmark = [
    pytest.mark.spark,
    pytest.mark.engine,
    pytest.mark.browser,
    pytest.mark.timeout(900),
]
_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningHeadwater, str]]:
    """A Headwater that the example pipeline has reported to, and the demo's output."""
    folder = tmp_path_factory.mktemp("road")
    headwater = RunningHeadwater(folder / "data")
    headwater.start()
    done = subprocess.run(
        [sys.executable, "-m", "api.command_line", "demo", "--url", headwater.url],
        cwd=folder, capture_output=True, text=True, timeout=800, check=False,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    yield headwater, done.stdout
    assert headwater.stop() == 0


@pytest.fixture(scope="module")
def page(filled: tuple[RunningHeadwater, str]) -> Iterator[Page]:
    with open_browser() as browser, open_page(browser, filled[0].url, timeout=60_000) as opened:
        yield opened


def table(headwater: RunningHeadwater, name: str) -> str:
    """The URI of the dataset with this friendly name."""
    found: set[str] = {item["uri"] for item in headwater.get("/graph/datasets", q=name)["items"]}
    (uri,) = {uri for uri in found if uri.rstrip("/").endswith("/" + name)}
    return uri


def test_every_document_of_the_pipeline_is_in_the_graph(
    filled: tuple[RunningHeadwater, str],
) -> None:
    summary = filled[0].await_projected()
    assert summary["failed"] == summary["waiting"] == 0
    assert summary["projected"] >= 12


def test_the_overview_shows_the_jobs_and_tables_of_the_example(
    filled: tuple[RunningHeadwater, str], page: Page
) -> None:
    page.goto("/?view=overview&as=list")
    wait_for(page)
    listed = page.get_by_test_id("list")
    for name in ("curate-employees", "report-managers", "load-attendance", "rank-absences"):
        expect(listed).to_contain_text(name)
    for name in ("attendance_with_emp1", "employees", "managers", "attendance.csv"):
        expect(listed).to_contain_text(name)
    page.goto("/")
    wait_for(page)
    expect(page.get_by_test_id("card-failed")).to_contain_text("export-payroll")
    page.goto("/?view=overview")
    wait_for(page)
    drawn = filled[0].get("/graph/overview")
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", str(len(drawn["nodes"])))


def test_the_links_that_the_demo_prints_open(
    filled: tuple[RunningHeadwater, str], page: Page
) -> None:
    headwater, output = filled
    links = [line.split()[-1] for line in output.splitlines() if headwater.url in line]
    links = [link for link in links if "?" in link]
    assert len(links) >= 6
    for link in links:
        page.goto(link)
        wait_for(page)


def test_a_column_is_traced_across_jobs_to_the_database_and_the_files(
    filled: tuple[RunningHeadwater, str], page: Page
) -> None:
    headwater, _ = filled
    managers = table(headwater, "managers")
    graph = headwater.get("/graph/column-lineage", dataset=managers, direction="upstream", depth=5)
    columns = {n["id"]: n for n in graph["nodes"] if n["kind"] == "column"}
    sources = {
        (columns[e["from"]]["dataset"].rpartition("/")[2], columns[e["from"]]["name"].lower())
        for e in graph["edges"]
    }
    assert ("salaries.csv", "base_salary") in sources
    names = {(n["dataset"].partition(":")[0], n["name"].lower()) for n in columns.values()}
    assert ("jdbc", "first_name") in names
    expressions = {e["expression"] for e in graph["edges"] if e["how"] == "AGGREGATION"}
    assert any("total_pay" in text for text in expressions)
    page.goto(f"/?view=columns&dataset={quote(managers, safe='')}&direction=upstream&depth=5")
    wait_for(page)
    expect(page.get_by_test_id("below")).to_contain_text("base_salary")


def test_an_operation_shows_its_schema_and_its_expressions(
    filled: tuple[RunningHeadwater, str], page: Page
) -> None:
    headwater, _ = filled
    jobs = {job["name"]: job for job in headwater.get("/graph/jobs")["items"]}
    job = headwater.get(f"/graph/jobs/{jobs['report-managers']['id']}")
    plan = job["plans"][0]["planIds"][0]
    kinds = {o["name"] for o in headwater.get(f"/graph/plans/{plan}")["operations"]}
    assert {"Join", "Aggregate"} <= kinds
    page.goto(f"/?view=plan&plan={plan}")
    wait_for(page)
    expect(page.get_by_test_id("below")).to_contain_text("total_pay")


def test_the_failed_run_is_shown_with_its_error(
    filled: tuple[RunningHeadwater, str], page: Page
) -> None:
    page.goto("/?view=job&node=job%3Ademo%2Fexport-payroll")
    wait_for(page)
    expect(page.get_by_test_id("below")).to_contain_text("failed")
    # The employees are read by several tasks, and Spark names the one that failed first.
    cause = re.compile(r"LookupError: no bank account is known for employee \d+")
    expect(page.get_by_test_id("below")).to_contain_text(cause)
