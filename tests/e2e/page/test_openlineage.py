"""Runs, plans, facets and quality marks on the page, over real answers of a small Headwater."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.openlineage.test_reads import DAG, DONE, NOW, REVENUE, checked, event, table, take
from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.small_client import serving
from tests.projections import small_headwater

pytestmark = pytest.mark.browser

LOADED = event(
    "w", "COMPLETE", "08:00:00",
    job_facets={
        "ownership": {"owners": [{"name": "finance", "type": "TEAM"}]},
        "sql": {"query": "insert into t select 1", "dialect": "spark"},
        "sourceCodeLocation": {"type": "git", "url": "javascript:alert(1)"},
        "acme": {"budget": {"euro": [1, {"cent": None}]}},
    },
    run_facets={
        "jobDependencies": {
            "upstream": [
                {
                    "job": {"namespace": "etl", "name": "fetch"},
                    "status_trigger_rule": "EXECUTE_ON_SUCCESS",
                }
            ],
            "trigger_rule": "ALL_DONE",
        },
    },
    outputs=[table("t", "id", version={"datasetVersion": "42"})],
)  # fmt: skip
OPEN_TEXT = "insert into v select u.id, nobody.x from u"
TEXTED = event(
    "x", "COMPLETE", "08:30:00",
    job="texted",
    job_facets={"sql": {"query": OPEN_TEXT, "dialect": "spark"}},
    inputs=[table("u", "id")],
    outputs=[table("v", "id", "x")],
)  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server with a DAG, a failed check and two plans."""
    headwater = small_headwater()
    going = event("on", "START", "12:00:00")
    failed = checked("q", "11:00:00", "check", success=False)
    filling = event("filling", "START", "12:30:00", "fill", outputs=[table("filled")])
    stopped = event("stopped", "ABORT", "12:31:00", "stop", outputs=[table("filled")])
    take(headwater, *REVENUE, *DAG, *DONE, LOADED, TEXTED, failed, going, filling, stopped)
    with serving(headwater, NOW) as url:
        yield url
    headwater.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with open_page(browser, address, height=900, locale="en-GB") as opened:
        yield opened


def test_a_failed_check_is_told_in_words_on_the_list_and_the_panel(page: Page) -> None:
    page.goto("/?view=overview&as=list")
    wait_for(page)
    row = page.get_by_test_id("list").locator("tr", has_text="s3://lake/t")
    expect(row.get_by_test_id("quality")).to_have_text("✗checks failed")
    page.goto(f"/?view=lineage&node={quote('dataset:s3://lake/t', safe='')}")
    wait_for(page)
    page.get_by_test_id("tab-quality").click()
    checks = page.get_by_test_id("checks")
    expect(checks.locator("tbody tr")).to_have_count(1)
    expect(checks).to_contain_text("not_null")
    expect(checks).to_contain_text("on id")
    expect(page.get_by_test_id("legend")).to_contain_text("Checks failed")


def test_a_plan_that_events_tell_is_drawn_with_its_columns_code_and_facets(page: Page) -> None:
    page.goto("/?view=plan&plan=r-1")
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "4")
    expect(page.get_by_test_id("plan-columns")).to_contain_text("sum(amount)")
    expect(page.get_by_test_id("code")).to_have_text("select 1")
    page.get_by_role("button", name="Show the events as they came").click()
    events = page.get_by_test_id("raw-events").locator("details.tree")
    expect(events.first).to_contain_text("START")
    expect(events.nth(1)).to_contain_text("COMPLETE")


def test_a_run_leads_up_and_down_its_tree(page: Page) -> None:
    page.goto("/?view=run&run=app")
    wait_for(page)
    tree = page.get_by_test_id("run-tree")
    expect(tree.locator("li[aria-current=true] > .run-line")).to_contain_text("spark app")
    expect(page.get_by_test_id("history").locator("tbody tr")).to_have_count(3)
    tree.get_by_role("link", name="nightly", exact=True).click()
    expect(page.get_by_test_id("heading")).to_have_text("nightly")
    expect(tree).to_contain_text("closed by the run above it")


def test_a_job_shows_its_code_its_owners_and_custom_facets_as_a_tree(page: Page) -> None:
    page.goto(f"/?view=job&node={quote('job:etl/load', safe='')}")
    wait_for(page)
    expect(page.locator(".panel")).to_contain_text("finance (TEAM)")
    expect(page.locator(".panel")).to_contain_text("etl/fetch execute on success")
    expect(page.locator(".panel")).to_contain_text("all done")
    expect(page.locator(".panel a[target=_blank]")).to_have_count(0)
    page.get_by_test_id("tab-facets").click()
    facet = page.get_by_test_id("facets").locator("details", has_text="acme").first
    facet.locator("summary").first.click()
    expect(facet).to_contain_text("euro")
    going = page.get_by_test_id("open-runs").locator("tbody tr")
    expect(going).to_have_count(1)
    expect(going).to_contain_text("running")
    run = page.get_by_test_id("runs").locator("tbody tr").first.get_by_role("link")
    run.click()
    wait_for(page)
    expect(page.get_by_test_id("run")).to_contain_text("openlineage-python 1.54.0")


def test_a_run_in_progress_with_tables_is_listed_once_and_an_aborted_one_as_such(
    page: Page,
) -> None:
    for name, state in (("fill", "running"), ("stop", "aborted")):
        page.goto(f"/?view=job&node={quote(f'job:etl/{name}', safe='')}")
        wait_for(page)
        expect(page.get_by_test_id("runs").locator("tbody tr .chip")).to_have_text([state])
        expect(page.get_by_test_id("open-runs")).to_have_count(0)


def test_the_sql_of_a_job_stands_beside_the_columns_and_gaps_of_its_plan(page: Page) -> None:
    page.goto(f"/?view=job&node={quote('job:etl/texted', safe='')}")
    wait_for(page)
    page.get_by_test_id("tab-sql").click()
    panel = page.locator(".panel")
    expect(panel).to_contain_text("SQL · spark")
    expect(panel.get_by_test_id("code")).to_have_text(OPEN_TEXT)
    plans = page.get_by_test_id("code-plans")
    expect(plans).to_contain_text("unresolved-column")
    plans.get_by_role("link", name="columns of v").click()
    wait_for(page)
    expect(page.locator(".panel")).to_contain_text("Gaps in the column lineage")
    expect(page.get_by_test_id("plan-columns")).to_contain_text("u")


def test_a_run_that_nobody_knows_says_so(page: Page) -> None:
    page.goto("/?view=run&run=nobody")
    wait_for(page, "error")
    expect(page.locator("body")).to_contain_text("nobody")
