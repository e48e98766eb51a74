"""The impact page: a table that is sorted, filtered, read aloud and taken along."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.page.browser import wait_for
from tests.e2e.page.fake_api import FakeApi, fixture
from tests.e2e.page.test_page import LINEAGE, asked, state_of

pytestmark = pytest.mark.browser

TABLE = "/?view=impact&node=ds_1"
COLUMN = "/?view=impact&node=col_1"


def rows(page: Page) -> Locator:
    return page.get_by_test_id("impact-items").locator("tbody tr")


def names(page: Page) -> Locator:
    return rows(page).locator("th a")


def opened(page: Page, address: str) -> None:
    page.goto(address)
    wait_for(page)


def test_everything_downstream_is_a_row(page: Page, api: FakeApi) -> None:
    opened(page, f"{TABLE}&columns=true")
    items = fixture("impact")["items"]
    expect(rows(page)).to_have_count(len(items))
    expect(page.get_by_test_id("heading")).to_have_text("orders")
    subtitle = "downstream: 3 tables · 6 columns · 3 jobs · 2 steps"
    expect(page.get_by_test_id("subtitle")).to_have_text(subtitle)
    daily = rows(page).filter(has_text="sales team").first
    expect(daily).to_contain_text("orders → (daily) → daily")
    expect(daily).to_contain_text("finance")
    expect(daily).to_contain_text("curated")
    expect(page.get_by_test_id("announcer")).to_contain_text("orders. downstream: 3 tables")
    assert asked(api, "/graph/impact") == [{"node": "ds_1", "columns": "true"}]


def test_on_a_narrow_screen_each_cell_stands_beside_its_heading(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, TABLE)
    cells = rows(page).first.locator("td").all()
    headings = [cell.get_attribute("data-heading") for cell in cells]
    assert headings == [
        "Kind", "Depth", "How", "Read by", "Last run", "Owner", "Layer and classes",
    ]  # fmt: skip


def test_a_row_that_rests_on_a_declaration_says_so_and_is_found_by_it(
    page: Page, api: FakeApi
) -> None:
    api.play("declared")
    opened(page, TABLE)
    expect(rows(page).locator(".chip.declared")).to_have_count(1)
    page.get_by_test_id("impact-filter").fill("declared")
    expect(rows(page)).to_have_count(1)


def test_columns_are_asked_for_of_a_job_too(page: Page, api: FakeApi) -> None:
    opened(page, "/?view=impact&node=job_1&columns=true")
    assert asked(api, "/graph/impact") == [{"node": "job_1", "columns": "true"}]


def test_a_heading_sorts_up_down_and_back(page: Page) -> None:
    opened(page, TABLE)
    as_told = names(page).all_inner_texts()
    head = page.get_by_role("columnheader", name="Name")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    up = names(page).all_inner_texts()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert up[::-1] != up
    expect(names(page)).to_have_text(up[::-1])
    page.keyboard.press("Enter")
    expect(head).not_to_have_attribute("aria-sort", "descending")
    expect(names(page)).to_have_text(as_told)


def test_rows_are_filtered_by_words_and_by_kind(page: Page, api: FakeApi) -> None:
    opened(page, TABLE)
    page.get_by_test_id("impact-filter").fill("lake/report orders")
    expect(page.get_by_test_id("impact-shown")).to_have_text("3 of 12 shown")
    page.get_by_test_id("impact-filter").fill("")
    page.get_by_test_id("impact-kind").select_option("job")
    expect(rows(page)).to_have_count(3)
    page.get_by_test_id("impact-filter").fill("no such thing")
    expect(rows(page)).to_have_count(0)
    assert len(asked(api, "/graph/impact")) == 1


@pytest.mark.parametrize(("form", "name"), [("csv", "impact.csv"), ("markdown", "impact.md")])
def test_the_table_is_taken_along(
    page: Page, api: FakeApi, tmp_path: Path, form: str, name: str
) -> None:
    opened(page, f"{TABLE}&columns=true&at=2026-03-01T08%3A15%3A00.000Z")
    with page.expect_download() as download:
        page.get_by_test_id(f"export-{form}").click()
    assert download.value.suggested_filename == name
    download.value.save_as(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0
    assert asked(api, "/graph/impact")[-1] == {
        "node": "ds_1", "columns": "true", "at": "2026-03-01T08:15:00.000Z", "format": form,
    }  # fmt: skip
    expect(page.get_by_test_id("announcer")).to_have_text(f"{name} was saved.")


def test_the_effect_of_a_dropped_column_is_one_press_away(page: Page, api: FakeApi) -> None:
    opened(page, COLUMN)
    page.get_by_role("navigation", name="Change of the column").get_by_text("dropped").click()
    expect(page.get_by_test_id("subtitle")).to_contain_text("breaks · downstream")
    assert state_of(page)["change"] == "dropped"
    assert asked(api, "/graph/impact")[-1] == {"node": "col_1", "change": "dropped"}
    expect(rows(page).first.locator(".chip.verdict")).to_have_text("breaks")
    expect(rows(page).first).to_contain_text("which is dropped")
    current = page.get_by_role("navigation", name="Change of the column").locator("[aria-current]")
    expect(current).to_have_text("dropped")


@pytest.mark.parametrize("selected", ["dataset", "job"])
def test_the_panel_leads_to_the_table(page: Page, selected: str) -> None:
    node = next(n for n in fixture("lineage")["nodes"] if n["kind"] == selected)
    opened(page, f"{LINEAGE}&selected={quote(node['id'])}")
    page.get_by_test_id("panel").get_by_role("link", name="Impact").click()
    expect(page.get_by_test_id("impact")).to_be_visible()
    assert state_of(page) == {"view": "impact", "node": node["id"]}


def test_a_column_s_panel_leads_to_its_table(page: Page) -> None:
    column = next(n for n in fixture("lineage-columns")["nodes"] if n["kind"] == "column")
    opened(page, f"{LINEAGE}&columns=true&selected={quote(column['id'])}")
    page.get_by_test_id("panel").get_by_role("link", name="Impact").click()
    expect(page.get_by_test_id("impact")).to_be_visible()


def test_a_prefix_is_asked_for_in_a_field(page: Page, api: FakeApi) -> None:
    opened(page, "/?view=impact")
    page.get_by_test_id("impact-node").fill("prefix:s3://lake/raw/")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("impact-items")).to_be_visible()
    assert asked(api, "/graph/impact")[-1] == {"node": "prefix:s3://lake/raw/"}


def test_nothing_downstream_is_said(page: Page, api: FakeApi) -> None:
    api.play("empty")
    opened(page, TABLE)
    expect(page.get_by_test_id("impact")).to_contain_text("Nothing lies downstream.")
    expect(page.get_by_test_id("subtitle")).to_contain_text("downstream: nothing")


def test_a_partial_answer_says_so_and_offers_more(page: Page, api: FakeApi) -> None:
    api.play("partial")
    opened(page, TABLE)
    expect(page.get_by_test_id("partial")).to_contain_text("not complete")
    page.get_by_test_id("partial").get_by_role("button").click()
    wait_for(page)
    assert asked(api, "/graph/impact")[-1]["limit"] == "4000"


@pytest.mark.parametrize(
    ("name", "refusals", "address", "notice"),
    [
        ("usual", 0, "/?view=impact&node=nosuch", "error"),
        ("broken", 0, TABLE, "error"),
        ("rebuilding", 1, TABLE, "rebuilding"),
        ("forbidden", 0, TABLE, "error"),
    ],
)
def test_every_face_is_shown(
    page: Page, api: FakeApi, name: str, refusals: int, address: str, notice: str
) -> None:
    api.play(name, refusals)
    page.goto(address)
    expect(page.get_by_test_id(f"notice-{notice}")).to_be_visible()


def test_hostile_names_stay_text(page: Page, api: FakeApi) -> None:
    api.play("hostile")
    opened(page, TABLE)
    expect(rows(page).first).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#document img")).to_have_count(0)
