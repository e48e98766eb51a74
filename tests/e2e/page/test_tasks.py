"""Ten tasks of an analyst and ten of a person on call, on the sample (bench/page/tasks.py).

By keyboard alone, and with a mouse on a screen of 390 pixels; each within its number of clicks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from bench.page.tasks import ANALYST, ON_CALL, Task, at_home
from tests.e2e.page.browser import open_page
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
    with at_home(browser, sample, by, width) as reader:
        task.steps(reader)
        assert reader.clicks <= task.most
