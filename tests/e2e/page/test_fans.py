"""A table that many jobs read: folded, opened in steps, walked and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.browser import by_id, open_page, wait_for
from tests.e2e.page.test_page import state_of
from tests.e2e.small_client import serving
from tests.projections import lineage_event, small_headwater

pytestmark = pytest.mark.browser

READERS = 70
HUB = "/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2Fhub"


def ran(job: str, source: str, target: str) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": f"run of {job}"},
        "job": {"namespace": "n", "name": job},
        "inputs": [{"namespace": "s3://lake", "name": source}],
        "outputs": [{"namespace": "s3://lake", "name": target}],
    }


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    headwater = small_headwater()
    events = [ran("load", "raw", "hub")]
    events += [ran(f"reader_{one:02d}", "hub", f"out_{one:02d}") for one in range(READERS)]
    headwater.accept(*map(lineage_event, events))
    headwater.project()
    with serving(headwater, 1_800_000_000_000) as url:
        yield url
    headwater.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with open_page(browser, address) as opened:
        yield opened


def fold_of(page: Page) -> str:
    """The id of the folded box, from the list."""
    page.goto(f"{HUB}&as=list")
    wait_for(page)
    row = page.get_by_test_id("list").locator("tr.row-group")
    expect(row).to_have_count(1)
    return str(row.get_attribute("data-id"))


def test_a_wide_fan_is_a_dozen_boxes_and_one_that_says_how_many_more(page: Page) -> None:
    page.goto(HUB)
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", str(3 + 12 + 12 + 1))
    expect(page.get_by_test_id("subtitle")).to_contain_text(f"{READERS + 1} jobs")
    expect(page.get_by_test_id("legend")).to_contain_text("Folded")


def test_the_list_has_the_folded_box_too(page: Page) -> None:
    fold = fold_of(page)
    expect(by_id(page, fold)).to_contain_text("58 more jobs")
    expect(by_id(page, fold)).to_contain_text("with 58 tables")


def test_it_opens_in_steps_from_the_panel_and_stands_in_the_link(page: Page) -> None:
    fold = fold_of(page)
    page.goto(f"{HUB}&selected={fold}")
    wait_for(page)
    expect(page.get_by_test_id("fan-members").get_by_role("listitem")).to_have_count(58)
    canvas = page.get_by_test_id("canvas")
    page.get_by_test_id("fan-more").press("Enter")
    expect(canvas).to_have_attribute("data-nodes", str(3 + 36 + 36 + 1))
    expect(page.get_by_test_id("stage")).to_be_focused()
    assert state_of(page)["fans"].endswith(".36")
    page.reload()
    wait_for(page)
    expect(canvas).to_have_attribute("data-nodes", str(3 + 36 + 36 + 1))
    page.go_back()
    expect(canvas).to_have_attribute("data-nodes", str(3 + 12 + 12 + 1))
    page.get_by_test_id("fan-all").click()
    expect(canvas).to_have_attribute("data-nodes", str(3 + 2 * READERS))


def test_a_double_click_and_shift_enter_open_it(page: Page) -> None:
    fold = fold_of(page)
    page.goto(f"{HUB}&selected={fold}")
    wait_for(page)
    page.get_by_test_id("stage").press("Shift+Enter")
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", str(3 + 36 + 36 + 1))
    expect(page.get_by_test_id("announcer")).to_contain_text("76 nodes are drawn")


def test_arrow_keys_reach_it_and_its_name_is_spoken(page: Page) -> None:
    page.goto(f"{HUB}&as=list")
    wait_for(page)
    page.get_by_test_id("list").locator("tr[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    expect(page.get_by_test_id("announcer")).to_contain_text("58 more jobs, Folded")


def test_a_node_that_a_link_selects_is_drawn_though_it_would_be_folded(page: Page) -> None:
    fold = fold_of(page)
    page.goto(f"{HUB}&selected={fold}")
    wait_for(page)
    last = page.get_by_test_id("fan-members").get_by_role("link", name=f"reader_{READERS - 1}")
    last.click()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text(f"reader_{READERS - 1}")
    job = page.evaluate("new URLSearchParams(location.search).get('node')")
    page.goto(f"{HUB}&selected={job}&as=list")
    wait_for(page)
    expect(by_id(page, job)).to_have_attribute("aria-selected", "true")


def test_the_line_to_it_says_that_it_is_several(page: Page) -> None:
    page.goto(HUB)
    wait_for(page)
    fold = fold_of(page)
    hub = page.get_by_test_id("list").locator("tr", has_text="s3://lake/hub").first
    bundle = f"{hub.get_attribute('data-id')} {fold} feeds"
    page.goto(f"{HUB}&selected={bundle.replace(' ', '+')}")
    wait_for(page)
    expect(page.get_by_test_id("panel")).to_contain_text("Several edges in one")
