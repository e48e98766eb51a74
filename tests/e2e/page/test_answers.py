"""Columns in words, nodes that a limit left out, ends of chains, and the columns of a class."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import wait_for
from tests.e2e.page.fake_api import FakeApi, fixture
from tests.e2e.page.test_page import asked

pytestmark = pytest.mark.browser


def a_column() -> str:
    nodes = fixture("lineage-columns")["nodes"]
    return str(next(node["id"] for node in nodes if node["kind"] == "column"))


def test_the_panel_describes_a_column_in_words(page: Page, api: FakeApi) -> None:
    page.goto(f"/?view=lineage&node=x&columns=true&selected={quote(a_column())}")
    wait_for(page)
    said = page.get_by_test_id("definition")
    expect(said).to_have_text(f"{fixture('column')['sentence']}.")
    expect(page.get_by_test_id("definition-gaps")).to_contain_text("opaque-rdd")
    assert asked(api, f"/graph/columns/{a_column()}")


def test_omitted_neighbours_are_counted_and_one_click_away(page: Page, api: FakeApi) -> None:
    hub = next(node for node in fixture("lineage")["nodes"] if node["kind"] == "dataset")
    api.play("hub")
    page.goto(f"/?view=lineage&node=x&selected={quote(hub['id'])}")
    wait_for(page)
    way = page.get_by_test_id("left-out").get_by_role("link")
    expect(way).to_have_text("4,501 more downstream")
    way.click()
    wait_for(page)
    last = asked(api, "/graph/lineage")[-1]
    assert (last["node"], last["direction"], last["limit"]) == (hub["id"], "downstream", "5000")


def test_the_middle_of_chains_can_be_left_out(page: Page, api: FakeApi) -> None:
    page.goto("/?view=columns&dataset=s3%3A%2F%2Flake%2Ft&column=a")
    wait_for(page)
    assert asked(api, "/graph/column-lineage")[-1]["reach"] == "possible"
    page.get_by_test_id("control-ends").click()
    wait_for(page)
    question = asked(api, "/graph/column-lineage")[-1]
    assert question["ends"] == "true"
    assert "reach" not in question
    assert "ends=true" in page.url


def test_a_class_lists_its_columns_blocks_and_gaps(page: Page, api: FakeApi) -> None:
    page.goto("/?view=classes")
    wait_for(page)
    page.get_by_test_id("class-items").get_by_role("link", name="PII").click()
    wait_for(page)
    expect(page.locator("#heading")).to_have_text("PII")
    columns = page.get_by_test_id("class-columns")
    expect(columns.locator("tbody tr")).to_have_count(2)
    columns.get_by_text("reached in 1 step").click()
    expect(columns.get_by_text("identity by default/report")).to_be_visible()
    expect(page.get_by_test_id("class-blocks")).to_contain_text("hash")
    expect(page.get_by_test_id("class-gaps")).to_contain_text("opaque-rdd")
    assert asked(api, "/classifications/PII/columns")[-1]["propagate"] == "true"


def test_a_class_without_columns_and_no_class_at_all_say_so(page: Page, api: FakeApi) -> None:
    api.play("empty")
    page.goto("/?view=classes&classification=PII")
    wait_for(page)
    expect(page.get_by_text("No column is known to carry it.")).to_be_visible()
    page.goto("/?view=classes")
    wait_for(page, "empty")
    expect(page.get_by_role("heading", name="Nothing is classified")).to_be_visible()


def test_a_class_that_was_not_walked_to_its_end_says_so(page: Page, api: FakeApi) -> None:
    api.play("partial")
    page.goto("/?view=classes&classification=PII")
    wait_for(page)
    expect(page.get_by_test_id("partial")).to_be_visible()


def test_boxes_stand_in_lanes_when_asked_to(page: Page, api: FakeApi) -> None:
    api.play("governed")
    page.goto("/?view=overview")
    wait_for(page)
    page.get_by_test_id("control-group").click()
    wait_for(page)
    assert asked(api, "/graph/overview")[-1]["group"] == "layer"
    assert "group=layer" in page.url


def test_the_naming_rules_are_shown_with_their_authors(page: Page, api: FakeApi) -> None:
    page.goto("/?view=layers")
    wait_for(page)
    page.get_by_test_id("layers").get_by_role("link", name="naming rules").click()
    wait_for(page)
    expect(page.get_by_test_id("rule-versions")).to_contain_text("our buckets")
    changed = page.locator("details[data-rule=schemeAliases]")
    expect(changed.locator("summary")).to_contain_text("changed")
    changed.locator("summary").click()
    expect(changed.locator("pre")).to_contain_text("s3a")
