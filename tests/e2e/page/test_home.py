"""The home page on an empty server and on the sample; lists; the sample goes away at a press."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.small_client import running, serving
from tests.projections import small_headwater
from tests.waiting import eventually

pytestmark = pytest.mark.browser


def top_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def bottom_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def is_beside(part: Locator, other: Locator) -> bool:
    """Whether it stands to the right of the other one."""
    box, left = part.bounding_box(), other.bounding_box()
    return box is not None and left is not None and left["x"] + left["width"] <= box["x"]


def is_a_column(parts: Locator) -> bool:
    """Whether each stands on a line of its own."""
    tops = [top_of(part) for part in parts.all()]
    return len(set(tops)) == len(tops)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with (
        running(small_headwater()) as headwater,
        serving(headwater, None) as address,
        open_page(browser, address) as opened,
    ):
        yield opened


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_command_of_an_empty_page_is_answered_and_its_document_appears(page: Page) -> None:
    page.goto("/")
    command = page.locator(".snippet", has_text="Anything else").locator("pre").text_content()
    sent = subprocess.run(["sh", "-c", str(command)], capture_output=True, text=True, check=True)
    assert " 201 " in sent.stdout.splitlines()[0]
    expect(page.get_by_role("link", name="first_job")).to_be_visible(timeout=60_000)


def test_where_the_tables_written_lately_come_from_some_executions_their_card_shows_the_bound(
    page: Page,
) -> None:
    def many(route: Route) -> None:
        partial = {"reason": "executions", "limit": 12_345}
        route.fulfill(json={**route.fetch().json(), "partial": partial})

    page.route("**/graph/home", many)
    page.goto("/")
    page.get_by_test_id("load-sample").click()
    written = page.get_by_test_id("card-written")
    expect(written).to_contain_text("Of the newest 12,345 executions", timeout=60_000)
    expect(page.get_by_test_id("card-failed")).not_to_contain_text("executions")
    expect(page.get_by_test_id("card-running")).to_have_count(0)


def test_catalog_names_that_the_map_leaves_out_are_counted_below_its_heading(page: Page) -> None:
    def many(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "names": 1_234})

    page.route("**/graph/map*", many)
    page.goto("/")
    page.get_by_test_id("load-sample").click()
    said = page.get_by_text(
        "The map leaves out 1,234 catalog names: each table with a known location is drawn once"
    )
    expect(said).to_be_visible(timeout=60_000)
    page.get_by_test_id("map").get_by_role("link").first.click()
    expect(page.get_by_test_id("map")).to_be_visible()
    expect(said).to_have_count(0)


def test_the_sample_is_loaded_looked_at_and_removed(page: Page) -> None:
    page.goto("/")
    first = page.get_by_test_id("first-visit")
    expect(first).to_contain_text(page.url.rstrip("/") + "/producer")
    with page.expect_response("**/classifications/PII", timeout=60_000) as tagged:
        page.get_by_test_id("load-sample").click()
    assert tagged.value.status == 200
    expect(page.get_by_test_id("subtitle")).to_have_text("15 jobs · 20 tables", timeout=60_000)

    failed = page.get_by_test_id("card-failed")
    expect(failed).to_contain_text("conversion")
    expect(failed).to_contain_text("division by zero")
    expect(failed).to_contain_text("1 job · team:web · affects 1 table, 1 job that only reads")
    expect(failed.get_by_role("link", name="Impact")).to_have_count(1)
    expect(page.get_by_test_id("card-late")).to_contain_text("usually every 1 day")
    expect(page.get_by_test_id("card-table")).to_contain_text("not_null (country)")
    expect(page.get_by_test_id("well")).to_contain_text("No write was unusually slow")
    outage = {"message": "no answer"}
    page.route("**/graph/incidents", lambda route: route.fulfill(status=503, json=outage))
    page.reload()
    expect(failed).to_contain_text("Not read: what failed")
    expect(page.get_by_test_id("card-late")).to_contain_text("customer_value")
    page.unroute("**/graph/incidents")
    page.get_by_test_id("read-incidents").click()
    expect(failed).to_contain_text("division by zero")
    failed.get_by_role("link", name="What changed").click()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_contain_text("conversion")
    page.goto("/")
    failed.get_by_role("link", name="conversion", exact=True).click()
    wait_for(page)
    parts = page.get_by_test_id("panel-part").locator(".panel-stack > *")
    expect(parts.nth(1)).to_have_text("ERROR: division by zero in column rate")
    expect(parts.nth(2)).to_contain_text("sessionise", timeout=60_000)
    page.get_by_test_id("tab-history").click()
    expect(page.get_by_test_id("panel-part")).to_contain_text("Runs and versions")
    page.goto("/")

    page.get_by_test_id("map").get_by_role("link", name="shop-lake").click()
    expect(page.get_by_test_id("map")).to_contain_text("curated")
    assert "within=" in page.url

    page.set_viewport_size({"width": 390, "height": 844})
    region = page.get_by_role("region", name="Map of the estate")
    eventually(lambda: region.evaluate("map => map.scrollWidth <= map.clientWidth"))
    areas = page.get_by_test_id("map").locator("a")
    eventually(lambda: is_a_column(areas))
    page.set_viewport_size({"width": 1280, "height": 800})

    page.get_by_role("link", name="Tables", exact=True).click()
    page.get_by_role("link", name="Last write").click()
    rows = page.get_by_test_id("tables-table").locator("tbody tr")
    expect(rows.first).to_contain_text("CONTACT_LIST")
    assert "sort=-lastWrite" in page.url
    page.reload()
    expect(rows.first).to_contain_text("CONTACT_LIST")

    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_test_id("pager-right").click()
    page.get_by_role("link", name="Took").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Took")
    expect(page.get_by_test_id("pager-left")).to_be_hidden()
    page.get_by_test_id("ended-failed").click()
    expect(page.get_by_test_id("runs-table").locator("tbody tr")).to_have_count(1)
    page.goto("/?view=runs")
    page.get_by_test_id("control-q").fill("Division zero")
    expect(page.get_by_test_id("runs-table").locator("tbody tr")).to_have_count(1)

    page.goto("/?view=job&node=job:sample/churn_scores")
    page.get_by_test_id("hide").click()
    page.get_by_test_id("confirm-hide").click()
    expect(page.get_by_test_id("show")).to_be_focused()
    page.goto("/?view=jobs")
    expect(page.get_by_test_id("subtitle")).to_have_text("14 jobs")
    page.goto("/?view=hidden")
    expect(page.get_by_test_id("hidden-items")).to_contain_text("sample/churn_scores")
    page.get_by_test_id("show-again").click()
    expect(page.get_by_test_id("hidden")).to_contain_text("Nothing is hidden.")

    page.goto("/")
    page.get_by_test_id("map").scroll_into_view_if_needed()
    expect(page.get_by_test_id("card-failed")).not_to_be_in_viewport()
    page.get_by_test_id("tour").click()
    light = page.get_by_test_id("tour-light")
    expect(light).to_be_visible()
    expect(page.get_by_test_id("card-failed")).to_be_in_viewport()
    page.get_by_test_id("tour-next").click()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("mart.daily_revenue")
    card = page.get_by_test_id("tour-card")
    eventually(lambda: is_beside(card, light))  # the light follows in the next frame
    page.set_viewport_size({"width": 390, "height": 844})
    for heading in ("mart.daily_revenue", "mart.daily_revenue.margin_eur", "conversion"):
        page.get_by_test_id("tour-next").click()
        expect(page.get_by_test_id("heading")).to_have_text(heading)
        wait_for(page)
    expect(light).to_be_visible()
    cause = page.get_by_test_id("panel-part").get_by_text("column bought was boolean").first
    expect(cause).to_be_in_viewport()
    eventually(lambda: bottom_of(cause) <= top_of(card))  # the panel may still scroll
    page.set_viewport_size({"width": 1280, "height": 800})
    for heading in ("sessionise", "orders", "Home"):
        page.get_by_test_id("tour-next").click()
        expect(page.get_by_test_id("heading")).to_have_text(heading)
        wait_for(page)
    expect(page.get_by_test_id("tour-card")).to_contain_text("observe(spark")
    page.get_by_test_id("tour-end").click()
    expect(page.get_by_test_id("tour-card")).to_be_hidden()
    expect(light).to_be_hidden()

    page.goto("/")
    page.get_by_test_id("remove-sample").click()
    expect(page.get_by_test_id("first-visit")).to_be_visible(timeout=60_000)
    page.goto("/?view=journal&state=all")
    wait_for(page)
    expect(page.get_by_text("No documents in this state.")).to_be_visible()
    page.get_by_test_id("state-commands").click()
    expect(page.get_by_test_id("journal-items")).to_contain_text("command")
