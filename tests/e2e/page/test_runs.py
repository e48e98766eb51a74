"""Two runs compared on the page, over real answers of a small Headwater."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from tests import impact_lake as lake
from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.page.test_page import state_of
from tests.e2e.small_client import serving
from tests.projections import small_headwater, submission

pytestmark = pytest.mark.browser

JOB = "/?view=job&node=job%3Adefault%2Fload"
BOTH = "/?view=job&node=job%3Adefault%2Faudit"
NARROW = lake.ORDER_COLUMNS[:3]


def run(body: dict, minute: int, rows: int, application: str = "") -> dict:  # type: ignore[type-arg]
    written = {"writeMetrics": {"numOutputRows": rows}}
    event = lake.run_of(body, minute, application)
    return {**event, "extra": {**event["extra"], **written}}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """``load`` ran three times: twice alike but for its rows, then with a column less. Of
    ``audit`` each run wrote two tables.
    """
    headwater = small_headwater()
    wide, narrow, audit = lake.load(), lake.load(NARROW), lake.audit()
    other = {**audit, "id": "5b3c3e57-5a0c-5e0c-8d0c-0c5f3e575b3c"}
    operations = audit["operations"]
    write = {**operations["write"], "outputSource": "s3://lake/second"}
    other["operations"] = {**operations, "write": write}
    runs = [(wide, 0, 100), (wide, 10, 150), (narrow, 20, 150)]
    for body, minute, rows in runs:
        headwater.accept(
            submission(PLAN_KIND, body),
            submission(EVENT_KIND, run(body, minute, rows)),
        )
    for minute in (30, 40):
        for body in (audit, other):
            headwater.accept(
                submission(PLAN_KIND, body),
                submission(EVENT_KIND, run(body, minute, 5, f"audit-{minute}")),
            )
    headwater.project()
    with serving(headwater, lake.START + 10**9) as url:
        yield url
    headwater.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with open_page(browser, address) as opened:
        yield opened


def opened(page: Page, address: str) -> None:
    page.goto(address)
    wait_for(page)


def compare(page: Page) -> None:
    page.get_by_test_id("compare-runs").get_by_role("link").press("Enter")
    wait_for(page)


def test_two_runs_are_ticked_from_the_keyboard_and_stand_in_the_link(page: Page) -> None:
    opened(page, JOB)
    boxes = page.get_by_test_id("pick-run")
    expect(page.get_by_test_id("compare-runs")).to_have_text("Tick two runs to compare them.")
    boxes.nth(0).press("Space")
    expect(page.get_by_test_id("compare-runs")).to_contain_text("one more")
    boxes.nth(2).press("Space")
    expect(page.get_by_test_id("compare-runs").get_by_role("link")).to_be_visible()
    page.reload()
    wait_for(page)
    expect(boxes.nth(0)).to_be_checked()
    expect(boxes.nth(1)).not_to_be_checked()
    expect(boxes.nth(2)).to_be_checked()
    compare(page)
    assert state_of(page)["view"] == "diff"
    expect(page.get_by_test_id("subtitle")).to_contain_text("two executions")


def test_a_third_tick_takes_the_place_of_the_first(page: Page) -> None:
    opened(page, JOB)
    boxes = page.get_by_test_id("pick-run")
    for place in range(3):
        boxes.nth(place).check()
    expect(boxes.nth(0)).not_to_be_checked()
    assert len(state_of(page)["runs"].split(",")) == 2


def test_another_plan_is_told_with_its_changes(page: Page) -> None:
    opened(page, JOB)
    boxes = page.get_by_test_id("pick-run")
    boxes.nth(0).check()  # the newest first: order of ticking is no order of time
    boxes.nth(1).check()
    compare(page)
    expect(page.get_by_test_id("both-plans")).to_contain_text("column status removed")
    changed = page.get_by_test_id("changed-nodes")
    expect(changed).to_contain_text("column status removed")
    page.get_by_test_id("both-plans").get_by_role("link").click()
    wait_for(page)
    assert state_of(page)["view"] == "plans"
    page.go_back()
    wait_for(page)
    expect(page.get_by_test_id("both-executions")).to_be_visible()


def test_of_one_plan_the_numbers_differ_and_the_lineage_is_said_to_be_the_same(
    page: Page,
) -> None:
    opened(page, JOB)
    boxes = page.get_by_test_id("pick-run")
    boxes.nth(1).check()
    boxes.nth(2).check()
    compare(page)
    rows = page.get_by_test_id("both-executions").locator("tbody tr")
    written = rows.filter(has_text="numOutputRows")
    expect(written).to_contain_text("+50%")
    expect(written).to_contain_text("Changed")
    expect(rows.filter(has_text="State").locator(".change")).to_have_count(0)
    expect(page.get_by_test_id("unchanged")).to_contain_text("the same at both times")
    expect(page.get_by_test_id("both-plans")).to_contain_text("Both ran the same plan")


def test_runs_of_several_tables_are_paired_table_by_table(page: Page) -> None:
    opened(page, BOTH)
    for box in page.get_by_test_id("pick-run").all():
        box.check()
    compare(page)
    pairs = page.get_by_test_id("pairs").locator("tbody tr")
    expect(pairs).to_have_count(2)
    pairs.first.get_by_role("link", name="Compare").press("Enter")
    wait_for(page)
    assert {"fromExecution", "toExecution"} <= state_of(page).keys()
    expect(page.get_by_test_id("both-executions")).to_be_visible()


def test_a_run_s_own_page_leads_to_the_run_before_and_to_any_other(page: Page) -> None:
    opened(page, JOB)
    page.get_by_test_id("runs").get_by_role("link").first.click()
    wait_for(page)
    ways = page.get_by_test_id("run-comparisons")
    ways.get_by_role("link", name="Compare with the run before").click()
    wait_for(page)
    expect(page.get_by_test_id("both-plans")).to_contain_text("column status removed")
    page.go_back()
    wait_for(page)
    ways.get_by_role("link", name="Compare with another run").click()
    wait_for(page)
    expect(page.get_by_test_id("pick-run").first).to_be_checked()


def test_a_write_is_compared_with_the_write_before_from_the_panel(page: Page) -> None:
    opened(page, "/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2Forders&tab=history")
    link = page.get_by_test_id("panel").get_by_role("link", name="Compare with the write before")
    link.first.click()
    wait_for(page)
    expect(page.get_by_test_id("both-executions")).to_be_visible()


@pytest.mark.parametrize(
    "link",
    [
        "/?view=diff&fromExecution=ex_00000000000000000000000000000000&toExecution=ex_1",
        "/?view=diff&node=job_00000000000000000000000000000000&fromRun=run_1&toRun=run_2",
    ],
)
def test_a_link_to_an_unknown_node_says_so(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_test_id("notice-error")).to_be_visible()


def test_times_are_not_asked_for_where_executions_are_compared(page: Page) -> None:
    opened(page, JOB)
    boxes = page.get_by_test_id("pick-run")
    boxes.nth(0).check()
    boxes.nth(1).check()
    compare(page)
    expect(page.get_by_test_id("control-from")).to_be_hidden()
    page.get_by_test_id("control-columns").check()
    wait_for(page)
    assert state_of(page)["columns"] == "true"
    expect(page.get_by_test_id("both-executions")).to_be_visible()
