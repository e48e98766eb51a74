"""Tabs, times, words found and the divider: by keyboard, and kept in the link."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.page.fake_api import FakeApi
from tests.e2e.page.test_page import state_of

pytestmark = pytest.mark.browser

EMPLOYEES = "dataset:s3://corp-data-lake-eu-west-1/curated/hr/employees"
LINEAGE = f"/?view=lineage&node={quote(EMPLOYEES, safe='')}"
PLAN = "/?view=plan&plan=83b6be41-2f0e-5a53-9d0a-6f2c7e1b0c9d"


def test_the_arrow_keys_go_through_the_tabs_and_the_link_keeps_the_open_one(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    page.get_by_test_id("tab-overview").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("tab-schema")).to_be_focused()
    expect(page.get_by_test_id("panel-part").get_by_test_id("schema")).to_be_visible()
    assert state_of(page)["tab"] == "schema"
    page.reload()
    wait_for(page)
    expect(page.get_by_test_id("tab-schema")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_test_id("panel-part").get_by_test_id("schema")).to_be_visible()


def test_all_tabs_of_a_table_are_in_sight(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    panel = page.get_by_test_id("panel")
    tabs = panel.get_by_role("tab")
    expect(tabs).to_have_count(5)
    for tab in tabs.all():
        tab.click()
        wait_for(page)
        assert panel.evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
        assert panel.get_by_role("tablist").evaluate("(l) => l.scrollWidth <= l.clientWidth")


def test_no_press_reaches_what_a_part_that_comes_later_will_move(page: Page) -> None:
    held: list[Route] = []
    page.route("**/last-writer*", lambda route: held.append(route))
    page.goto(LINEAGE)
    below = page.get_by_test_id("classify-open")
    expect(below).to_have_css("pointer-events", "none")
    expect(page.get_by_test_id("panel").get_by_role("link").first).to_have_css(
        "pointer-events", "auto"
    )
    held.pop().continue_()
    wait_for(page)
    expect(page.get_by_test_id("panel")).to_contain_text("Last writer")
    expect(below).to_have_css("pointer-events", "auto")


def test_a_write_that_exists_is_opened_and_compared_from_the_heading(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    page.get_by_test_id("timeline-menu").locator("summary").click()
    times = page.get_by_test_id("timeline-list")
    expect(times.get_by_role("link", name="Compare with now").first).to_be_visible()
    at = times.locator("li time").first.get_attribute("datetime")
    times.get_by_role("link", name="Open as of here").first.click()
    expect(page.get_by_test_id("as-of-note")).to_be_visible()
    expect(page.get_by_test_id("timeline-menu")).not_to_have_attribute("open", "")
    assert state_of(page)["at"] == at


def test_words_are_found_in_a_plan_and_enter_goes_to_the_next(page: Page, api: FakeApi) -> None:
    page.goto(PLAN)
    wait_for(page)
    [question] = [query for at, query in api.scenario.asked if at.startswith("/graph/plans/")]
    assert question["fold"] == "true"
    page.get_by_test_id("control-find").fill("salary")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("found")).to_contain_text("1 of ")
    first = state_of(page)["selected"]
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("found")).to_contain_text("2 of ")
    assert state_of(page)["find"] == "salary"
    assert state_of(page)["selected"] != first


def test_the_divider_is_moved_with_the_keyboard(page: Page) -> None:
    page.goto(PLAN)
    wait_for(page)
    divider = page.get_by_test_id("divider")
    divider.focus()
    page.keyboard.press("End")
    assert state_of(page)["split"] == "1"
    expect(divider).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("Home")
    assert state_of(page)["split"] == "90"
    page.keyboard.press("Enter")
    assert "split" not in state_of(page)


def test_all_results_of_a_search_are_narrowed_by_kind_and_place(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.get_by_test_id("search-input").press_sequentially("employee")
    page.get_by_test_id("all-results").click()
    items = page.get_by_test_id("found-items").get_by_role("listitem")
    expect(items.first).to_be_visible()
    assert (state_of(page)["view"], state_of(page)["q"]) == ("search", "employee")
    page.get_by_role("navigation", name="Narrow the results").get_by_role(
        "link", name="Jobs"
    ).click()
    expect(items.locator(".chip", has_text="table")).to_have_count(0)
    expect(items.locator(".chip", has_text="job").first).to_be_visible()
    assert state_of(page)["kind"] == "job"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_error_is_broken_into_lines_keeps_its_height_and_is_copied_whole(
    browser: Browser, api: FakeApi, width: int
) -> None:
    error = (
        "Task 3 failed writing s3a://lake/" + "x" * 2_000 + "\n" + "\tat org.acme.Job.run\n" * 80
    )

    def failing(route: Route) -> None:
        reply = route.fetch().json()
        route.fulfill(json={**reply, "items": [{**reply["items"][0], "error": error}], "total": 1})

    granted = ["clipboard-read", "clipboard-write"]
    with open_page(browser, api.url, permissions=granted) as page:
        page.set_viewport_size({"width": width, "height": 844})
        page.route("**/runs?*", failing)
        page.goto("/?view=job&node=job%3Adefault%2Fattendance")
        wait_for(page)
        shown = page.get_by_test_id("panel").get_by_test_id("error-text")
        expect(shown).to_contain_text("Task 3 failed")
        assert shown.evaluate("(one) => one.scrollWidth <= one.clientWidth"), "it scrolls sideways"
        height, whole = shown.evaluate("(one) => [one.clientHeight, one.scrollHeight]")
        assert height <= 220 < whole, "bounded, the rest below"
        page.get_by_test_id("panel").get_by_role("button", name="Copy the error").click()
        expect(page.get_by_title("Copied")).to_be_visible()
        assert page.evaluate("() => navigator.clipboard.readText()") == error
