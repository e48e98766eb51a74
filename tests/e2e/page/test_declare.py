"""Declared lineage on the page: the form, its errors, the declarations, and taking them back."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import wait_for
from tests.e2e.page.fake_api import FakeApi, fixture
from tests.e2e.page.test_page import EMPLOYEES, asked

pytestmark = pytest.mark.browser


def employees() -> dict[str, Any]:
    return dict(next(n for n in fixture("overview")["nodes"] if n.get("uri") == EMPLOYEES))


def pick(page: Page, field: str, text: str, option: str) -> None:
    """Type, wait for the results, take one with the keyboard."""
    page.get_by_test_id(field).fill(text)
    found = page.get_by_role("option").filter(has_text=option).first
    expect(found).to_be_visible()
    while found.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_lineage_is_declared_from_the_keyboard_with_columns(page: Page, api: FakeApi) -> None:
    page.goto("/?view=declare")
    wait_for(page)
    pick(page, "declare-source", "employees", EMPLOYEES)
    pick(page, "declare-target", "s3://sheets/staff", "s3://sheets/staff")
    page.get_by_test_id("declare-add-column").press("Enter")
    page.keyboard.type("email")
    page.keyboard.press("Tab")
    page.keyboard.type("mail")
    page.get_by_test_id("declare-note").fill("monthly upload")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("announcer")).to_have_text("It is declared.")
    key = employees()["id"]
    assert api.scenario.posted == [
        ("/declarations", {"declarations": [{
            "target": "s3://sheets/staff", "sources": [key],
            "columns": [{"source": key, "from": "email", "to": "mail"}],
            "note": "monthly upload",
        }]}),
    ]  # fmt: skip


def test_the_pickers_ask_for_tables_alone(page: Page, api: FakeApi) -> None:
    page.goto("/?view=declare")
    wait_for(page)
    page.get_by_test_id("declare-source").fill("employees")
    expect(page.get_by_role("option")).to_have_count(2)
    assert asked(api, "/graph/search")[-1]["kind"] == "dataset"
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)


def test_a_missing_value_is_told_at_its_field_and_nothing_is_sent(page: Page, api: FakeApi) -> None:
    page.goto("/?view=declare")
    wait_for(page)
    page.get_by_test_id("declare-save").click()
    expect(page.get_by_test_id("error-target")).to_contain_text("Choose the table")
    expect(page.get_by_test_id("declare-source")).to_be_focused()
    expect(page.get_by_test_id("declare-source")).to_have_attribute("aria-invalid", "true")
    assert api.scenario.posted == []


def test_a_value_that_the_server_refuses_is_told_at_its_field(page: Page) -> None:
    page.goto("/?view=declare")
    wait_for(page)
    pick(page, "declare-source", "s3://sheets/plan", "s3://sheets/plan")
    pick(page, "declare-target", "s3://sheets/staff", "s3://sheets/staff")
    page.get_by_test_id("declare-add-column").click()
    page.get_by_test_id("declare-column-from").fill("wrong")
    page.get_by_test_id("declare-save").click()
    expect(page.get_by_test_id("error-columns")).to_have_text(
        "line 1, from: expected a column of s3://lake"
    )
    expect(page.get_by_test_id("declare-column-from")).to_have_value("wrong")


def test_a_reader_that_may_not_declare_is_told_the_needed_role(page: Page, api: FakeApi) -> None:
    api.play("only-readers")
    page.goto("/?view=declare")
    wait_for(page)
    pick(page, "declare-source", "s3://sheets/plan", "s3://sheets/plan")
    pick(page, "declare-target", "s3://sheets/staff", "s3://sheets/staff")
    page.get_by_test_id("declare-save").click()
    expect(page.get_by_test_id("declare-said")).to_contain_text("needs the role producer or admin")


def test_the_form_is_reached_from_a_table_with_the_table_as_target(page: Page) -> None:
    page.goto(f"/?view=overview&selected={employees()['id']}")
    wait_for(page)
    page.get_by_test_id("panel").get_by_role("link", name="Declare lineage").click()
    form = page.get_by_role("form", name="Declare lineage")
    expect(form.locator(".picked .chip")).to_have_count(1)


def test_declared_lineage_shows_author_and_time_and_is_taken_back_after_a_question(
    page: Page, api: FakeApi
) -> None:
    api.play("declared")
    page.goto("/?view=declare")
    wait_for(page)
    rows = page.get_by_test_id("declarations").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("monthly upload")
    expect(rows.first).to_contain_text("ann")
    expect(rows.last.get_by_role("button")).to_have_count(0)
    rows.first.get_by_role("button", name="Take back").click()
    assert api.scenario.posted == []
    rows.first.get_by_role("button", name="Keep it").click()
    rows.first.get_by_role("button", name="Take back").click()
    expect(page.get_by_test_id("declare-remove")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("announcer")).to_have_text("It was taken back.")
    assert api.scenario.posted == [("DELETE /declarations/decl_" + "1" * 32, None)]


def test_the_panel_of_a_table_tells_its_declared_lineage(page: Page, api: FakeApi) -> None:
    api.play("declared")
    page.goto(f"/?view=overview&selected={employees()['id']}")
    wait_for(page)
    expect(page.get_by_test_id("declared")).to_contain_text("declared by ann")
    assert asked(api, "/declarations")[-1] == {"node": employees()["id"]}


def test_a_declared_edge_is_named_in_legend_list_and_panel(page: Page, api: FakeApi) -> None:
    api.play("declared")
    page.goto("/?view=overview")
    wait_for(page)
    expect(page.get_by_test_id("legend")).to_contain_text("Declared by a person")
    page.goto("/?view=overview&as=list")
    wait_for(page)
    page.get_by_test_id("list-edges").locator("summary").click()
    expect(page.get_by_test_id("list-edges")).to_contain_text("feeds (declared)")
    edge = fixture("overview")["edges"][0]["id"]
    page.goto(f"/?view=overview&selected={edge}")
    wait_for(page)
    expect(page.get_by_test_id("panel")).to_contain_text("declared by a person")
