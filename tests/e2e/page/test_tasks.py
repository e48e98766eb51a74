"""Tasks of an analyst and of a person on call, on the sample (bench/page/tasks.py).

By keyboard alone, and with a mouse on a screen of 390 pixels; each within its number of clicks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.page.tasks import ANALYST, ON_CALL, Task, at_home
from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.small_client import running, serving
from tests.projections import small_headwater

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def sample(browser: Browser) -> Iterator[str]:
    """The address of a server with the sample."""
    with (
        running(small_headwater()) as headwater,
        serving(headwater, round(time.time() * 1000)) as address,
    ):
        with open_page(browser, address) as page:
            page.goto("/")
            page.get_by_test_id("load-sample").click()
            expect(page.get_by_test_id("subtitle")).to_have_text(
                "15 jobs · 20 tables", timeout=60_000
            )
        yield address


@pytest.mark.parametrize(("by", "width"), [("keyboard", 1280), ("mouse", 390)])
@pytest.mark.parametrize("task", [*ANALYST, *ON_CALL], ids=lambda task: task.name)
def test_a_task_is_done_in_its_number_of_clicks(
    browser: Browser, sample: str, task: Task, by: str, width: int
) -> None:
    with open_page(browser, sample) as page:
        page.set_viewport_size({"width": width, "height": 800})
        reader = at_home(page, by)
        task.steps(reader)
        assert reader.clicks <= task.most


def tabs_to(page: Page, text: str) -> int:
    """Press Tab until what has this text has the focus; how often."""
    for pressed in range(13):
        if page.evaluate("document.activeElement.textContent") == text:
            return pressed
        page.keyboard.press("Tab")
    raise AssertionError(f"{text} is more than twelve Tabs away")


def test_a_failed_job_leads_to_its_impact_in_eight_keys_and_the_focus_is_never_lost(
    browser: Browser, sample: str
) -> None:
    focused = "document.activeElement.textContent"
    with open_page(browser, sample) as page:
        at_home(page)
        pressed = 0
        for key in ("Tab", "Enter", "Tab"):
            page.keyboard.press(key)
            pressed += 1
        assert page.evaluate(focused) == "conversion"
        pressed += tabs_to(page, "Impact")
        page.keyboard.press("Enter")
        expect(page.locator('body[data-view="impact"]')).to_be_visible()
        wait_for(page)
        expect(page.get_by_test_id("heading")).to_be_focused()
        assert pressed + 1 <= 8
        page.get_by_role("link", name="Tables", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Tables", exact=True)).to_be_focused()
        wait_for(page)
        page.get_by_role("link", name="Last write").focus()
        page.keyboard.press("Enter")
        expect(page.locator("th[aria-sort]")).to_have_text("Last write")
        expect(page.get_by_role("link", name="Last write")).to_be_focused()


def test_two_versions_of_a_plan_are_compared_in_twelve_keys(browser: Browser, sample: str) -> None:
    with open_page(browser, sample) as page:
        at_home(page)
        page.keyboard.press("/")
        page.keyboard.type("sessionise")  # the words are no keys, as they are no clicks
        jobs = page.get_by_test_id("results").get_by_role("group", name="Jobs")
        expect(jobs.get_by_role("option")).to_have_count(1)
        for key in ("ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_test_id("heading")).to_have_text("sessionise")
        wait_for(page)
        pressed = 3
        for name in ("History", "Compare with the plan before"):
            pressed += tabs_to(page, name)
            page.keyboard.press("Enter")
            pressed += 1
            if name == "History":
                expect(page.get_by_test_id("timeline")).to_be_visible()
        expect(page.locator('body[data-view="plans"]')).to_be_visible()
        wait_for(page)
        assert pressed <= 12


def test_a_second_skip_leads_to_the_details_of_a_job(browser: Browser, sample: str) -> None:
    with open_page(browser, sample) as page:
        page.goto("/?view=job&node=job:sample/conversion")
        wait_for(page)
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_test_id("panel-title")).to_be_focused()
