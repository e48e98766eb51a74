"""Layers and classifications on the page: colours, filters, the small forms, and refused roles."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import wait_for
from tests.e2e.page.fake_api import FakeApi, fixture, govern
from tests.e2e.page.test_page import asked, state_of

pytestmark = pytest.mark.browser


def tagged() -> dict[str, str]:
    body = fixture("overview")
    govern(body)
    return dict(next(node for node in body["nodes"] if node.get("classifications")))


def open_selected(page: Page) -> None:
    page.goto(f"/?view=overview&selected={quote(tagged()['id'])}")
    wait_for(page)


def test_the_key_names_each_layer_with_its_colour_and_a_letter(page: Page, api: FakeApi) -> None:
    api.play("governed")
    page.goto("/?view=overview")
    wait_for(page)
    entry = page.get_by_test_id("legend").locator("[data-layer=curated]")
    expect(entry.locator(".data")).to_have_text("curated")
    expect(entry.locator(".swatch")).to_have_text("C")
    expect(entry.locator(".swatch")).to_have_css("border-top-color", "rgb(138, 90, 0)")


def test_a_hue_by_namespace_stands_in_the_link_and_asks_nothing_anew(
    page: Page, api: FakeApi
) -> None:
    api.play("governed")
    page.goto("/?view=overview")
    wait_for(page)
    before = len(asked(api, "/graph/overview"))
    page.get_by_test_id("hue").select_option("namespace")
    legend = page.get_by_test_id("legend")
    expect(legend.get_by_role("list", name="Namespaces")).to_be_visible()
    expect(legend.get_by_role("list", name="Layers")).to_have_count(0)
    assert state_of(page)["hue"] == "namespace"
    assert len(asked(api, "/graph/overview")) == before


def test_each_class_has_a_letter_and_a_hue_in_the_legend(page: Page, api: FakeApi) -> None:
    api.play("governed")
    page.goto("/?view=overview&hue=class")
    wait_for(page)
    expect(page.get_by_test_id("hue")).to_have_value("class")
    entry = page.get_by_test_id("legend").get_by_role("list", name="Classes").locator("li").first
    expect(entry.locator(".swatch")).to_have_text("P")
    expect(entry.locator(".swatch")).to_have_css("background-color", "rgb(31, 95, 191)")
    expect(entry.locator(".data")).to_have_text("PII")


def test_a_layer_and_a_class_filter_the_overview_and_stand_in_the_link(
    page: Page, api: FakeApi
) -> None:
    api.play("governed")
    page.goto("/?view=overview")
    wait_for(page)
    with page.expect_response(lambda answer: "layer=curated" in answer.url):
        page.get_by_test_id("control-layer").select_option("curated")
    with page.expect_response(lambda answer: "classification=PII" in answer.url):
        page.get_by_test_id("control-classification").select_option("PII")
    wait_for(page)
    assert (state_of(page)["layer"], state_of(page)["classification"]) == ("curated", "PII")
    last = asked(api, "/graph/overview")[-1]
    assert (last["layer"], last["classification"]) == ("curated", "PII")


def test_the_list_says_the_layer_and_the_tags_too(page: Page, api: FakeApi) -> None:
    api.play("governed")
    page.goto("/?view=overview&as=list")
    wait_for(page)
    row = page.get_by_test_id("list").locator(f"tr[data-id={tagged()['id']}]")
    expect(row.locator(".chip.tag")).to_have_text("PII")
    expect(row).to_contain_text("curated")


def test_without_layers_and_classes_there_is_nothing_to_choose(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    expect(page.get_by_test_id("control-layer")).to_be_hidden()
    expect(page.get_by_test_id("control-classification")).to_be_hidden()


def test_the_selected_node_is_classified_from_the_keyboard(page: Page, api: FakeApi) -> None:
    api.play("governed")
    open_selected(page)
    place = page.get_by_test_id("classifications")
    expect(place.get_by_role("listitem")).to_have_count(1)
    page.get_by_test_id("classify-open").locator("summary").click()
    page.get_by_test_id("classify-tag").fill("finance")
    page.keyboard.press("Tab")
    page.keyboard.type("ledger team")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("classify-said")).to_have_text("finance was put here.")
    expect(place.get_by_role("listitem")).to_have_count(2)
    assert api.scenario.posted == [
        ("PUT /classifications/finance", {"node": tagged()["id"], "owner": "ledger team"})
    ]
    place.get_by_role("button", name="Take PII off").click()
    expect(place.get_by_role("listitem")).to_have_count(1)
    assert api.scenario.posted[-1][0].startswith("DELETE /classifications/PII?node=ds_")


def test_a_reader_that_may_not_classify_is_told_the_needed_role(page: Page, api: FakeApi) -> None:
    api.play("only-readers")
    open_selected(page)
    page.get_by_test_id("classify-open").locator("summary").click()
    page.get_by_test_id("classify-tag").fill("finance")
    page.get_by_test_id("classify").click()
    expect(page.get_by_test_id("classify-said")).to_contain_text("needs the role admin")
    expect(page.get_by_test_id("classifications").get_by_role("listitem")).to_have_count(1)


def test_a_layer_is_previewed_before_it_is_put_in_place(page: Page, api: FakeApi) -> None:
    page.goto("/?view=layers")
    expect(page.get_by_test_id("layer-items").locator("tbody tr")).to_have_count(2)
    page.get_by_test_id("layer-name").fill("raw")
    page.get_by_test_id("layer-pattern").fill("s3://lake/raw/")
    page.get_by_test_id("layer-preview").click()
    expect(page.get_by_test_id("layer-changes").locator("tbody tr")).to_have_text(
        ["s3://lake/raw/a–raw"]
    )
    body = {"match": "prefix", "pattern": "s3://lake/raw/", "order": 30, "colour": "#0b6a84"}
    assert api.scenario.posted == [("PUT /layers/raw?preview=true", body)]
    page.get_by_test_id("layer-save").click()
    expect(page.get_by_test_id("announcer")).to_have_text("raw is in place.")
    assert api.scenario.posted[-1] == ("PUT /layers/raw", body)


def test_a_layer_is_edited_and_removed(page: Page, api: FakeApi) -> None:
    page.goto("/?view=layers")
    page.get_by_role("button", name="Edit curated").click()
    expect(page.get_by_test_id("layer-pattern")).to_have_value("s3://*/curated/**")
    expect(page.get_by_test_id("layer-match")).to_have_value("glob")
    page.get_by_role("button", name="Remove landing").click()
    expect(page.get_by_test_id("layer-changes").locator("tbody tr")).to_have_count(1)
    expect(page.get_by_test_id("confirm-removal")).to_be_focused()
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_test_id("layer-said")).to_be_empty()
    page.get_by_role("button", name="Remove landing").click()
    page.get_by_test_id("confirm-removal").click()
    expect(page.get_by_test_id("announcer")).to_have_text("landing is gone.")
    asked = ("DELETE /layers/landing?preview=true", None)
    assert api.scenario.posted == [asked, asked, ("DELETE /layers/landing", None)]
