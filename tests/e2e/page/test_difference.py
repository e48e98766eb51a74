"""Differences, versions and causes on the page: signs and words, keyboard, notices."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import by_id, wait_for
from tests.e2e.page.fake_api import FakeApi, fixture
from tests.e2e.page.test_page import JOB, LINEAGE, PLAN, asked, state_of

pytestmark = pytest.mark.browser

TIMES = "&from=2023-11-14T22:13:20.001Z&to=2023-11-15T00:13:20.000Z"
DIFF = f"/?view=diff&node=dataset%3As3%3A%2F%2Flake%2Freport{TIMES}&depth=5&columns=true"
PLANS = "/?view=plans&fromPlan=one&toPlan=two"


def changed(name: str, change: str) -> dict[str, Any]:
    found = [one for one in fixture("diff")["nodes"] if one["change"] == change]
    return dict(next(one for one in found if one["label"] == name))


def test_two_times_are_one_picture_with_a_sign_and_a_word_for_every_change(
    page: Page, api: FakeApi
) -> None:
    page.goto(DIFF)
    wait_for(page)
    question = asked(api, "/graph/diff")[-1]
    assert (question["depth"], question["columns"], question["unchanged"]) == ("5", "true", "true")
    legend = page.get_by_test_id("legend")
    expect(legend).to_contain_text("+ Added")
    expect(legend).to_contain_text("− Removed")
    expect(legend).to_contain_text("~ Changed")
    rows = page.get_by_test_id("changed-nodes").locator("tbody tr")
    raw = rows.filter(has_text="column bonus removed")
    expect(raw).to_contain_text("Changed")
    expect(raw).to_contain_text("column total added")
    expect(page.get_by_test_id("changed-edges").locator("tbody tr")).to_have_count(
        sum(bool(one["change"]) for one in fixture("diff")["edges"])
    )


def test_the_list_says_every_change_in_words(page: Page) -> None:
    page.goto(DIFF + "&as=list")
    wait_for(page)
    gone = by_id(page, changed("bonus", "removed")["id"])
    expect(gone.locator(".chip.change")).to_have_text("−Removed")
    gone.click()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_test_id("announcer")).to_contain_text("total, Column, added")


def test_the_panel_tells_of_a_change_with_its_reporter(page: Page) -> None:
    page.goto(f"{DIFF}&selected={changed('raw', 'changed')['id']}")
    wait_for(page)
    panel = page.get_by_test_id("panel")
    expect(panel.get_by_role("heading", name="Between both times")).to_be_visible()
    expect(panel).to_contain_text("column bonus removed")
    expect(panel.get_by_role("link", name="clean").first).to_be_visible()


def test_times_are_chosen_from_the_keyboard_and_stand_in_the_link(page: Page, api: FakeApi) -> None:
    page.goto(DIFF)
    wait_for(page)
    page.get_by_test_id("control-from").fill("2023-11-14T20:00:00")
    page.get_by_test_id("control-from").press("Tab")
    wait_for(page)
    assert state_of(page)["from"] == "2023-11-14T19:00:00.000Z"
    assert asked(api, "/graph/diff")[-1]["from"] == "2023-11-14T19:00:00.000Z"


def test_without_a_time_the_versions_are_offered(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    page.get_by_test_id("panel").get_by_role("link", name="Compare with…").click()
    chosen = page.get_by_test_id("choose")
    expect(chosen.get_by_test_id("schema-versions").get_by_role("listitem").first).to_be_visible()
    chosen.get_by_role("link", name="Compare with before").first.click()
    wait_for(page)
    assert state_of(page)["to"] == "2023-11-14T23:13:20.000Z"
    assert state_of(page)["from"] == "2023-11-14T23:13:19.999Z"


def test_where_nothing_changed_the_page_says_so(page: Page) -> None:
    page.goto("/?view=diff&node=n&from=2023-11-15T00:13:20.000Z&to=2023-11-15T00:13:20.000Z")
    wait_for(page, "empty")
    expect(page.get_by_test_id("notice-empty")).to_contain_text("Nothing changed")


def test_a_cut_side_makes_the_comparison_partial(page: Page, api: FakeApi) -> None:
    api.play("partial")
    page.goto(DIFF)
    wait_for(page)
    expect(page.get_by_test_id("partial")).to_contain_text("not complete")


def test_an_error_and_a_missing_node_have_their_faces(page: Page, api: FakeApi) -> None:
    page.goto("/?view=diff")
    wait_for(page, "empty")
    expect(page.get_by_test_id("notice-empty")).to_contain_text("Which table or job?")
    page.goto("/?view=plans")
    wait_for(page, "empty")
    expect(page.get_by_test_id("notice-empty")).to_contain_text("Which plans?")
    api.play("broken")
    page.goto(DIFF)
    wait_for(page, "error")
    expect(page.get_by_test_id("error-message")).to_contain_text("a bug of ours")


def test_two_plans_are_compared_operation_by_operation(page: Page, api: FakeApi) -> None:
    page.goto(PLANS)
    wait_for(page)
    assert asked(api, "/graph/diff")[-1]["fromPlan"] == "one"
    expect(page.get_by_test_id("plan-summary")).to_contain_text(
        "Filter: condition was pay > 10, is pay > 20"
    )
    operations = fixture("diff-plans")["plan"]["operations"]
    condition = next(one for one in operations if one["name"] == "Filter")
    page.goto(f"{PLANS}&selected={condition['id']}")
    wait_for(page)
    panel = page.get_by_test_id("panel")
    expect(panel.locator(".version.removed").first).to_contain_text("pay > 10")
    expect(panel.locator(".version.added").first).to_contain_text("pay > 20")
    expect(panel).to_contain_text("Changed")


def test_a_job_whose_last_run_failed_shows_the_changes_upstream(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    place = page.get_by_test_id("upstream-changes")
    first = place.get_by_test_id("causes").get_by_role("listitem").first
    expect(first).to_contain_text("job report runs another plan")
    both = place.get_by_role("link", name="Compare the lineage of both times")
    expect(both).not_to_have_attribute("href", re.compile("undefined"))
    first.get_by_role("link", name="Compare the plans").click()
    wait_for(page)
    assert state_of(page)["view"] == "plans"


def test_versions_stand_on_the_pages_of_a_job_and_of_a_plan(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    versions = page.get_by_test_id("plan-versions")
    expect(versions.locator("tbody tr")).to_have_count(2)
    expect(versions).to_contain_text("Filter: condition was pay > 10, is pay > 20")
    page.goto(PLAN)
    wait_for(page)
    link = page.get_by_test_id("plan-versions").get_by_role("link", name="Compare with this plan")
    link.first.click()
    wait_for(page)
    assert state_of(page)["fromPlan"] == fixture("job-versions")["items"][0]["id"]
