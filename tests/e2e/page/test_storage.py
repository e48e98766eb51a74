"""Storage on the page: forecasts, shares, savings to copy; each state has a notice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.page.fake_api import FakeApi, fixture
from tests.e2e.page.test_page import state_of
from tests.e2e.retention.test_storage import Asked, asked
from tests.e2e.small_client import serving_client
from tests.unit.graph_model.producers.test_commands import DAY

pytestmark = pytest.mark.browser
__all__ = ["asked"]  # a fixture that these tests share


def open_storage(page: Page, query: str = "") -> None:
    page.goto(f"/?view=storage{query}")
    wait_for(page)


def test_it_says_when_disk_and_heap_are_full_and_warns_of_the_near_one(page: Page) -> None:
    open_storage(page)
    expect(page.get_by_test_id("heading")).to_have_text("Storage")
    expect(page.get_by_test_id("capacity-disk")).to_contain_text("Full in 4 years at this rate")
    expect(page.get_by_test_id("capacity-heap")).to_contain_text("Full in 8 days at this rate")
    warned = page.get_by_test_id("storage-warning")
    expect(warned).to_contain_text("Heap of the engine: full in 8 days at this rate.")
    expect(warned).not_to_contain_text("Disk")
    expect(page.get_by_test_id("storage-basis")).to_have_text("At the rate of the last 7 days.")
    expect(page.get_by_test_id("storage-takers").locator("tbody tr")).to_have_count(4)


def test_the_journal_is_shared_out_as_the_link_says(page: Page) -> None:
    open_storage(page)
    rows = page.get_by_test_id("storage-shares").locator("tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("orders-hourly")
    expect(rows.last).to_contain_text("All other jobs")
    page.get_by_test_id("by-namespace").press("Enter")
    expect(rows).to_have_count(3)
    assert state_of(page)["by"] == "namespace"
    expect(page.get_by_test_id("by-namespace")).to_be_focused()
    expect(page.get_by_test_id("by-namespace")).to_have_attribute("aria-pressed", "true")
    page.reload()
    wait_for(page)
    expect(rows).to_have_count(3)
    page.go_back()
    expect(rows).to_have_count(6)


def test_a_job_leads_to_its_page_and_a_namespace_to_its_jobs(page: Page) -> None:
    open_storage(page)
    shares = page.get_by_test_id("storage-shares")
    link = shares.get_by_role("link", name="employee-agg")
    assert "node=job%3Ahr%252Feu%2Femployee-agg" in str(link.get_attribute("href"))
    page.goto("/?view=storage&by=namespace")
    wait_for(page)
    shares.get_by_role("link", name="hr/eu").click()
    wait_for(page)
    assert state_of(page)["namespace"] == "hr/eu"


def test_a_setting_is_copied_from_the_keyboard_and_that_is_announced(
    browser: Browser, api: FakeApi
) -> None:
    api.play("usual")
    granted = ["clipboard-read", "clipboard-write"]
    with open_page(browser, api.url, permissions=granted) as page:
        open_storage(page)
        page.get_by_role("button", name="Copy HEADWATER_KEEP=days=90").press("Enter")
        expect(page.get_by_test_id("announcer")).to_have_text("Copied")
        page.get_by_test_id("search-input").focus()
        page.keyboard.press("Control+V")
        pasted = page.get_by_test_id("search-input")
        expect(pasted).to_have_value("HEADWATER_KEEP=days=90")


def test_savings_tell_how_much_longer_room_lasts_and_the_settings_in_force(page: Page) -> None:
    open_storage(page)
    rows = page.get_by_test_id("storage-savings").locator("tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("HEADWATER_KEEP=days=30")
    expect(rows.first).to_contain_text("up to 21 days more")
    expect(page.get_by_test_id("storage-saved-note")).to_contain_text("headwater prune counts")
    expect(rows.filter(has_text="in force")).to_contain_text("HEADWATER_KEEP=days=400")
    expect(page.get_by_test_id("storage-in-force")).to_contain_text("HEADWATER_GRAPH_RUNS=all")


def test_the_warning_leads_to_the_savings_and_the_link_stays(page: Page) -> None:
    open_storage(page)
    before = page.url
    page.get_by_test_id("storage-warning").get_by_role("link").press("Enter")
    expect(page.locator("#savings")).to_be_focused()
    assert page.url == before


def test_without_a_rate_it_says_since_when_it_measures(page: Page, api: FakeApi) -> None:
    api.play("unforecast")
    open_storage(page)
    said = page.get_by_test_id("storage-basis")
    expect(said).to_have_text("Measured for 8 minutes: no forecast yet.")
    for capacity in ("disk", "heap"):
        expect(page.get_by_test_id(f"capacity-{capacity}")).to_contain_text("No forecast yet")
    expect(page.get_by_test_id("storage-warning")).to_have_count(0)
    expect(page.get_by_test_id("storage-savings")).to_contain_text("up to 1.1 GB")


def test_a_database_and_a_graph_elsewhere_are_named_as_such(page: Page, api: FakeApi) -> None:
    api.play("elsewhere")
    open_storage(page)
    expect(page.get_by_test_id("capacity-disk")).to_contain_text("a disk of its own")
    expect(page.get_by_test_id("capacity-heap")).to_contain_text("no embedded engine")


def test_an_empty_headwater_and_an_error_have_faces(page: Page, api: FakeApi) -> None:
    api.play("empty")
    page.goto("/?view=storage")
    wait_for(page, "empty")
    notice = page.get_by_test_id("notice-empty")
    expect(notice).to_contain_text("Nothing is stored yet")
    expect(page.get_by_test_id("storage-warning")).to_have_count(0)
    api.play("storage-broken")
    page.reload()
    wait_for(page, "error")
    expect(page.get_by_test_id("error-message")).to_contain_text("a bug of ours")
    api.play("usual")
    page.get_by_test_id("retry").press("Enter")
    wait_for(page)
    expect(page.get_by_test_id("capacity-disk")).to_be_visible()


def test_hostile_names_are_text_and_break_nothing(page: Page, api: FakeApi) -> None:
    api.play("hostile")
    for by in fixture("storage")["by"]:
        open_storage(page, f"&by={by}")
        expect(page.get_by_test_id("storage-shares")).to_contain_text("onerror=alert(1)")
        expect(page.locator("main img")).to_have_count(0)


def test_it_is_reached_from_the_documents(page: Page) -> None:
    page.goto("/?view=journal")
    wait_for(page)
    page.get_by_test_id("journal").get_by_role("link", name="Disk and memory in use").press("Enter")
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("Storage")


@pytest.mark.parametrize("play", ["usual", "hostile", "elsewhere"])
def test_at_390_pixels_the_page_has_no_sideways_scroll(
    browser: Browser, api: FakeApi, play: str
) -> None:
    api.play(play)
    with open_page(browser, api.url) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        open_storage(page)
        wide = page.locator("html").evaluate("node => node.scrollWidth")
        assert wide <= 390


def test_the_tables_scroll_below_the_header_and_the_window_does_not(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    open_storage(page)
    assert page.locator("html").evaluate("node => node.scrollHeight - innerHeight") == 0


@pytest.fixture
def address(asked: Asked) -> Iterator[str]:
    asked.storage.keep_measure()
    asked.clock.now += DAY
    asked.memory.elements = 200
    with serving_client(asked.client) as url:
        yield url


def test_the_real_reply_is_shown_and_has_the_fields_of_the_fixture(
    browser: Browser, address: str, asked: Asked
) -> None:
    with open_page(browser, address) as page:
        open_storage(page)
        expect(page.get_by_test_id("capacity-heap")).to_contain_text("Full in 8 days at this rate")
        shares = page.get_by_test_id("storage-shares")
        expect(shares.get_by_role("link", name="load")).to_be_visible()
        expect(page.get_by_test_id("storage-in-force")).to_contain_text("HEADWATER_KEEP=runs=5")
    real, drawn = asked.client.get("/storage").get_json(), fixture("storage")
    assert real.keys() == drawn.keys()
    for field in ("stored", "growth", "full", "by", "runs", "saved"):
        assert real[field].keys() >= drawn[field].keys()
