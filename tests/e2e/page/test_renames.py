"""The panel of a table that was given another name, over real answers of a small Headwater."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.answers.test_answers import DAY, START, job, ran
from tests.e2e.answers.test_renames import HOUR, move, uri
from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.small_client import serving
from tests.projections import small_headwater

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    headwater = small_headwater()
    ran(headwater, job("load", uri("green"), 1), START)
    move(headwater, "green", "blue", START + HOUR, 10)
    with serving(headwater, START + DAY) as url:
        yield url
    headwater.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with open_page(browser, address) as opened:
        yield opened


def panel_of(page: Page, table: str) -> None:
    node = quote(f"dataset:{uri(table)}", safe="")
    page.goto(f"/?view=lineage&node={node}&selected={node}")
    wait_for(page)


def test_each_name_of_a_table_leads_to_the_other(page: Page) -> None:
    panel_of(page, "blue")
    renames = page.get_by_test_id("renames")
    expect(renames).to_contain_text("Renamed from")
    expect(renames).not_to_contain_text("Renamed to")
    renames.get_by_role("link", name="green").click()
    wait_for(page)
    expect(page.get_by_test_id("renames")).to_contain_text("Renamed to")
    expect(page.get_by_test_id("renames").get_by_role("link", name="blue")).to_be_visible()


def test_a_write_under_the_former_name_says_so(page: Page) -> None:
    panel_of(page, "blue")
    page.get_by_test_id("tab-history").click()
    expect(page.get_by_text("under the former name green")).to_have_count(1)
