"""Quality rules on the page: the form, its preview, its errors, over real answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.governance.test_quality_rules import run
from tests.e2e.page.browser import open_page, wait_for
from tests.e2e.page.fake_api import FakeApi
from tests.e2e.small_client import running, serving
from tests.projections import lineage_event, small_headwater

pytestmark = pytest.mark.browser

NOW = 1_800_000_000_000


@pytest.fixture
def address() -> Iterator[str]:
    headwater = small_headwater()
    headwater.accept(lineage_event(run(1, "ok")), lineage_event(run(2, "broken")))
    headwater.project()
    with running(headwater), serving(headwater, NOW) as url:
        yield url


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with open_page(browser, address) as opened:
        yield opened


def fill(page: Page, *, name: str = "acme", passes: str = "ok\nwarn") -> None:
    page.get_by_test_id("quality-name").fill(name)
    page.get_by_test_id("quality-facet").fill("acme_checks")
    page.get_by_test_id("quality-path").fill("result.status")
    page.get_by_test_id("quality-passes").fill(passes)


def test_a_rule_is_previewed_put_in_place_edited_and_removed(page: Page) -> None:
    page.goto("/?view=quality")
    wait_for(page)
    fill(page)
    page.get_by_test_id("quality-preview").click()
    changes = page.get_by_test_id("quality-changes").locator("tbody tr")
    expect(changes).to_have_count(1)
    expect(changes).to_contain_text("failed")
    expect(page.get_by_test_id("subtitle")).to_have_text("0 rules")
    page.get_by_test_id("quality-save").press("Enter")
    expect(page.get_by_test_id("announcer")).to_have_text("acme is in place.")
    rules = page.get_by_test_id("quality-rules").locator("tbody tr")
    expect(rules).to_contain_text("ok, warn")
    page.get_by_role("button", name="Edit acme").press("Enter")
    expect(page.get_by_test_id("quality-facet")).to_be_focused()
    expect(page.get_by_test_id("quality-passes")).to_have_value("ok\nwarn")
    page.get_by_test_id("quality-passes").fill("broken")
    page.get_by_test_id("quality-save").click()
    expect(rules).to_contain_text("broken")
    page.get_by_role("button", name="Remove acme").press("Enter")
    expect(page.get_by_test_id("quality-said")).to_contain_text("1 of")
    expect(page.get_by_test_id("confirm-removal")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("announcer")).to_have_text("acme is gone.")
    expect(page.get_by_test_id("quality-rules")).to_have_count(0)


def test_the_mark_is_on_the_table_at_once(page: Page) -> None:
    page.goto("/?view=quality")
    wait_for(page)
    fill(page)
    page.get_by_test_id("quality-save").click()
    expect(page.get_by_test_id("announcer")).to_have_text("acme is in place.")
    page.goto("/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2Ft")
    wait_for(page)
    expect(page.get_by_test_id("legend")).to_contain_text("Checks failed")


def test_a_missing_value_is_told_at_its_field_and_the_first_field_gets_the_keyboard(
    page: Page,
) -> None:
    page.goto("/?view=quality&facet=acme_checks")
    wait_for(page)
    expect(page.get_by_test_id("quality-facet")).to_have_value("acme_checks")
    page.get_by_test_id("quality-save").click()
    expect(page.get_by_test_id("error-name")).to_have_text("Give the rule a name.")
    expect(page.get_by_test_id("error-facet")).to_be_empty()
    expect(page.get_by_test_id("quality-name")).to_be_focused()
    expect(page.get_by_test_id("quality-name")).to_have_attribute("aria-invalid", "true")


def test_the_server_s_errors_stand_at_their_fields(page: Page) -> None:
    page.goto("/?view=quality")
    wait_for(page)
    fill(page, passes="\n".join(str(number) for number in range(51)))
    page.get_by_test_id("quality-save").click()
    expect(page.get_by_test_id("error-passes")).to_contain_text("1 to 50")


def test_a_run_leads_from_its_own_facet_to_a_rule(page: Page) -> None:
    page.goto("/?view=job&node=job%3Aetl%2Fload")
    wait_for(page)
    page.get_by_test_id("runs").get_by_role("link").first.click()
    wait_for(page)
    page.get_by_role("link", name="acme_checks").click()
    wait_for(page)
    expect(page.get_by_test_id("quality-facet")).to_have_value("acme_checks")


def test_a_reader_that_may_not_change_rules_is_told_the_needed_role(
    browser: Browser, api: FakeApi
) -> None:
    api.play("only-readers")
    with open_page(browser, api.url) as page:
        page.goto("/?view=quality")
        wait_for(page)
        fill(page)
        page.get_by_test_id("quality-save").click()
        expect(page.get_by_test_id("quality-said")).to_contain_text("needs the role admin")
