"""The page in a real browser, against a server of fixtures (fake_api)."""

from __future__ import annotations

import itertools
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.page.browser import by_id, point_of, wait_for
from tests.e2e.page.fake_api import FakeApi, fixture

pytestmark = pytest.mark.browser

EMPLOYEES = "s3://corp-data-lake-eu-west-1/curated/hr/employees"
LINEAGE = f"/?view=lineage&node={quote('dataset:' + EMPLOYEES, safe='')}"
JOB = "/?view=job&node=job%3Adefault%2Fattendance"
PLAN = "/?view=plan&plan=83b6be41-2f0e-5a53-9d0a-6f2c7e1b0c9d"
TARGET = "department_payroll_by_site_and_cost_centre"


def state_of(page: Page) -> dict[str, str]:
    """The state that the link holds: as the page has it, of which ``page.url`` hears later."""
    query = page.evaluate("location.search.slice(1)")
    return {name: values[-1] for name, values in parse_qs(query).items()}


def node(name: str, reply: str = "overview", kind: str = "job") -> dict[str, Any]:
    found = [n for n in fixture(reply)["nodes"] if n["label"] == name and n["kind"] == kind]
    return dict(found[0])


def asked(api: FakeApi, path: str) -> list[dict[str, str]]:
    """The questions in their order, without the size of the window."""
    queries = [query for at, query in api.scenario.asked if at == path]
    return [
        {name: text for name, text in query.items() if name != "flow" or text == "down"}
        for query in queries
    ]


# --- overview and canvas -----------------------------------------------------------------------


def test_the_overview_draws_every_job_and_table_and_names_the_failed_job(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    canvas = page.get_by_test_id("canvas")
    expect(canvas).to_have_attribute("data-nodes", "12")
    expect(canvas).to_have_attribute("data-edges", "12")
    expect(page.get_by_test_id("subtitle")).to_have_text(
        "4 jobs, 1 whose last run failed · 8 tables"
    )
    expect(page.get_by_test_id("failures").get_by_role("link")).to_have_text("attendance")
    expect(page.get_by_test_id("legend")).to_contain_text("Last run failed")


def test_the_overview_stands_in_the_middle_where_only_the_room_for_a_panel_came_and_went(
    own_page: Page,
) -> None:
    own_page.add_init_script(
        """addEventListener('DOMContentLoaded', () => {
          const style = document.createElement('style');
          style.textContent = '.strip { position: absolute } .work { flex: none; height: 500px }';
          document.head.append(style);
        })"""
    )
    own_page.goto("/?view=overview")
    wait_for(own_page)
    canvas = own_page.get_by_test_id("canvas").bounding_box()
    assert canvas is not None
    boxes = fixture("overview")["nodes"]
    ends = [one["x"] + side * one["width"] / 2 for one in boxes for side in (-1, 1)]
    left, right = (point_of(own_page, x, 0)[0] for x in (min(ends), max(ends)))
    assert (left + right) / 2 == pytest.approx(canvas["x"] + canvas["width"] / 2, abs=3)


def test_lone_jobs_are_a_count_that_lists_them_at_a_press(page: Page, api: FakeApi) -> None:
    api.play("lone")
    page.goto("/?view=overview")
    wait_for(page)
    lone = page.get_by_test_id("lone")
    expect(lone.get_by_role("link", name="cleanup")).to_be_hidden()
    lone.get_by_text("197 jobs that share no table with another job").click()
    expect(lone.get_by_role("link", name="cleanup")).to_be_visible()
    expect(lone).to_contain_text("196 more")


def test_an_event_dated_in_the_future_does_not_hide_the_failed_job(own_page: Page) -> None:
    def misdated(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "asOf": "9999-12-31T23:59:59.000Z"})

    own_page.route("**/graph/overview*", misdated)
    own_page.clock.set_fixed_time("2026-03-02T23:30:00Z")
    own_page.goto("/?view=overview")
    wait_for(own_page)
    expect(own_page.get_by_test_id("failures").get_by_role("link")).to_have_text("attendance")


@pytest.mark.parametrize(
    ("asked", "reply", "width", "whole"),
    [
        ("depth=3", "lineage-deep", 2200, True),
        ("depth=3", "lineage-deep", 1100, False),
        ("columns=true", "lineage-columns", 2200, True),
        ("columns=true", "lineage-columns", 1100, False),
    ],
)
def test_a_lineage_opens_whole_when_its_letters_can_be_read(
    page: Page, api: FakeApi, asked: str, reply: str, width: int, whole: bool
) -> None:
    api.play("usual")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{LINEAGE}&{asked}")
    wait_for(page)
    canvas = page.get_by_test_id("canvas").bounding_box()
    assert canvas is not None
    boxes = [one for one in fixture(reply)["nodes"] if one["kind"] != "column"]
    ends = [
        point_of(page, one["x"] + side * one["width"] / 2, one["y"])[0]
        for one in boxes
        for side in (-1, 1)
    ]
    seen = [canvas["x"] <= x <= canvas["x"] + canvas["width"] for x in ends]
    assert all(seen) is whole
    assert any(seen)


def test_a_picture_that_is_cut_counts_and_names_the_nodes_that_it_does_not_draw(
    page: Page, api: FakeApi
) -> None:
    api.play("cut")
    page.goto("/?view=overview")
    wait_for(page)
    expect(page.get_by_test_id("subtitle")).to_have_text(
        "289 jobs, 24 whose last run failed · 410 tables · drawn: 4 jobs, 8 tables"
    )
    failures = page.get_by_test_id("failures")
    names = ["nightly-close", "attendance", "and 22 more"]
    expect(failures.get_by_role("link")).to_have_text(names)


def test_the_legend_opens_at_a_press_names_hues_and_glyphs_and_covers_no_node(
    page: Page, api: FakeApi
) -> None:
    api.play("governed")
    page.goto("/?view=overview")
    wait_for(page)
    legend = page.get_by_test_id("legend")
    summary = legend.locator("summary")
    expect(legend.get_by_role("list", name="Layers")).to_be_hidden()
    summary.focus()
    page.keyboard.press("Enter")
    for group, words in (("Layers", "curated"), ("Classes", "PII"), ("Platforms", "Object store")):
        expect(legend.get_by_role("list", name=group)).to_contain_text(words)
    canvas, below = page.get_by_test_id("canvas").bounding_box(), summary.bounding_box()
    assert canvas is not None
    assert below is not None
    assert below["y"] >= canvas["y"] + canvas["height"]
    page.reload()
    wait_for(page)
    expect(legend.get_by_role("list", name="Layers")).to_be_visible()
    summary.click()
    expect(legend.get_by_role("list", name="Layers")).to_be_hidden()


def test_an_attempted_edge_is_named_in_legend_list_and_panel(page: Page, api: FakeApi) -> None:
    api.play("attempted")
    edge = fixture("overview")["edges"][0]["id"]
    page.goto(f"/?view=overview&selected={edge}")
    wait_for(page)
    expect(page.get_by_test_id("legend")).to_contain_text("Attempted by a run that failed")
    expect(page.get_by_test_id("panel")).to_contain_text("nothing flowed here")
    page.goto("/?view=overview&as=list")
    page.get_by_test_id("list-edges").locator("summary").click()
    expect(page.get_by_test_id("list-edges")).to_contain_text("feeds (attempted)")


def test_the_server_is_asked_for_its_layout(page: Page, api: FakeApi) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    assert asked(api, "/graph/overview") == [{"lone": "counted", "layout": "true"}]


def test_a_picture_is_drawn_where_it_stays(own_page: Page) -> None:
    moves: list[str] = []
    own_page.on("console", lambda said: moves.append(said.text))
    own_page.add_init_script(
        """new MutationObserver((changes) => {
          for (const { target } of changes) console.log(target.dataset.transform);
        }).observe(document, { subtree: true, attributeFilter: ["data-transform"] });"""
    )
    own_page.goto("/?view=overview")
    wait_for(own_page)
    for _ in range(2):
        own_page.screenshot()  # a frame of its own
    assert len(set(moves)) == 1


def test_a_picture_opens_with_the_selected_node_beside_the_panel(page: Page) -> None:
    table = node("monthly_attendance", kind="dataset")
    page.goto(f"/?view=overview&selected={quote(table['id'], safe='')}")
    wait_for(page)
    for _ in range(2):
        page.screenshot()
    panel = page.get_by_test_id("panel").bounding_box()
    assert panel is not None
    assert point_of(page, table["x"], table["y"])[0] < panel["x"]


def test_something_is_painted_where_a_node_lies(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    job = node("attendance")
    x, y = point_of(page, job["x"], job["y"])
    ground = page.screenshot(clip={"x": 700, "y": 640, "width": 40, "height": 20})
    painted = page.screenshot(clip={"x": x - 20, "y": y - 10, "width": 40, "height": 20})
    assert len(painted) > 2 * len(ground)


def test_a_click_on_a_node_opens_its_details_and_goes_into_the_link(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    job = node("attendance")
    page.mouse.click(*point_of(page, job["x"], job["y"]))
    expect(page.get_by_test_id("panel-title")).to_have_text("attendance")
    assert state_of(page)["selected"] == job["id"]
    page.reload()
    wait_for(page)
    expect(page.get_by_test_id("panel-title")).to_have_text("attendance")
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-selected", job["id"])
    page.get_by_test_id("panel-close").click()
    expect(page.get_by_test_id("panel")).to_be_hidden()
    assert "selected" not in state_of(page)


def test_a_double_click_opens_a_node_and_back_returns(page: Page) -> None:
    page.goto("/?view=overview&q=emp")
    wait_for(page)
    job = node("attendance")
    page.mouse.dblclick(*point_of(page, job["x"], job["y"]))
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("attendance")
    assert state_of(page)["view"] == "job"
    page.go_back()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("Overview")
    assert state_of(page)["q"] == "emp"
    expect(page.get_by_test_id("control-q")).to_have_value("emp")
    page.go_forward()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("attendance")


def test_hovering_tells_the_whole_name_and_lights_up_the_neighbours(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    table = node(TARGET, kind="dataset")
    page.mouse.move(*point_of(page, table["x"], table["y"]))
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-hovered", table["id"])
    expect(page.get_by_role("tooltip")).to_contain_text(table["uri"])
    page.mouse.move(640, 760)
    expect(page.get_by_role("tooltip")).to_be_hidden()


def test_an_edge_can_be_selected_and_tells_its_mode(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    job, table = node("attendance"), node("monthly_attendance", kind="dataset")
    middle = (job["x"] + job["width"] / 2 + table["x"] - table["width"] / 2) / 2
    page.mouse.click(*point_of(page, middle, (job["y"] + table["y"]) / 2))
    expect(page.get_by_test_id("panel-title")).to_have_text("attendance → monthly_attendance")
    expect(page.get_by_test_id("panel")).to_contain_text("append")


def test_zooming_and_fitting_move_the_picture(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    canvas = page.get_by_test_id("canvas")
    fitted = canvas.get_attribute("data-transform")
    assert fitted is not None
    assert float(fitted.split()[0]) <= 1.2
    page.get_by_test_id("zoom-in").click()
    expect(canvas).not_to_have_attribute("data-transform", fitted)
    page.get_by_test_id("fit").click()
    expect(canvas).to_have_attribute("data-transform", fitted)


@pytest.mark.parametrize("width", [390, 900, 1180, 1280, 1600])
def test_counts_that_come_late_do_not_move_the_picture(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    held: list[Route] = []
    page.route("**/journal?*", lambda route: held.append(route))
    page.goto("/?view=overview")
    wait_for(page)
    stage = page.get_by_test_id("stage")
    before = stage.bounding_box()
    for route in list(held):
        route.continue_()
    expect(page.get_by_test_id("journal-indicator")).to_contain_text("3 failed")
    assert stage.bounding_box() == before


def test_a_picture_without_places_is_laid_out_by_the_page(page: Page, api: FakeApi) -> None:
    api.play("unplaced")
    page.goto("/?view=overview")
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "12")


def test_a_large_overview_starts_legible_with_a_small_map(page: Page, api: FakeApi) -> None:
    api.play("large")
    page.goto("/?view=overview")
    wait_for(page)
    canvas = page.get_by_test_id("canvas")
    expect(canvas).to_have_attribute("data-nodes", "720")
    assert float((canvas.get_attribute("data-transform") or "0").split()[0]) >= 0.4
    expect(page.locator("#minimap")).to_be_visible()
    before = canvas.get_attribute("data-transform")
    page.locator("#minimap").click(position={"x": 84, "y": 60})
    expect(canvas).not_to_have_attribute("data-transform", before or "")


def test_the_picture_can_be_saved(page: Page, tmp_path: Path) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    with page.expect_download() as download:
        page.get_by_test_id("save-image").click()
    assert download.value.suggested_filename == "employees.png"
    download.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")

    page.get_by_test_id("share").locator("summary").click()
    with page.expect_download() as download:
        page.get_by_test_id("save-svg").click()
    download.value.save_as(tmp_path / "picture.svg")
    drawing = ElementTree.parse(tmp_path / "picture.svg").getroot()
    words = {one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"employees", "Nodes", "Table", "Job", "Edges", "Data flow", "Platforms"} <= words


# --- keyboard and screen readers ---------------------------------------------------------------


def test_arrow_keys_follow_edges_over_the_canvas_and_say_where_they_are(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    stage, said = page.get_by_test_id("stage"), page.get_by_test_id("announcer")
    stage.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("employees, Table, 1 upstream, 2 downstream")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("1 of 2 downstream of employees")
    page.keyboard.press("PageDown")
    expect(said).to_contain_text("2 of 2 downstream of employees")
    expect(stage).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("panel-title")).to_be_focused()
    stage.focus()
    page.keyboard.press("Escape")
    assert "selected" not in state_of(page)


def test_shift_and_enter_lead_on_from_a_node_and_from_nothing_else(page: Page) -> None:
    stage = page.get_by_test_id("stage")
    for selected in ("", fixture("lineage")["edges"][0]["id"]):
        page.goto(f"{LINEAGE}&selected={selected}")
        wait_for(page)
        before = page.url
        stage.focus()
        page.keyboard.press("Shift+Enter")
        assert page.url == before
    page.goto(f"{LINEAGE}&selected={node('employee-agg')['id']}")
    wait_for(page)
    stage.focus()
    page.keyboard.press("Shift+Enter")
    assert state_of(page)["node"] == node("employee-agg")["id"]


def test_the_keyboard_goes_on_from_the_node_that_the_link_selects(page: Page) -> None:
    page.goto(f"/?view=overview&selected={node('employee-agg')['id']}")
    wait_for(page)
    page.get_by_test_id("stage").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("panel-title")).to_have_text(TARGET)


def test_the_list_has_one_row_in_the_tab_order_and_its_arrows_follow_edges(page: Page) -> None:
    page.goto("/?view=overview&as=list")
    wait_for(page)
    rows = page.get_by_test_id("list").locator("tbody tr")
    expect(rows).to_have_count(12)
    reachable = page.get_by_test_id("list").locator('tbody tr[tabindex="0"]')
    expect(reachable).to_have_count(1)
    reachable.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(by_id(page, node("employee-agg")["id"])).to_be_focused()
    expect(page.get_by_test_id("announcer")).to_contain_text("employee-agg, Job, 1 upstream")
    expect(reachable).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("panel-title")).to_have_text("employee-agg")
    expect(page.get_by_test_id("panel-title")).to_be_focused()
    assert state_of(page)["selected"] == node("employee-agg")["id"]


def test_at_390_pixels_each_row_of_the_list_is_a_card_and_nothing_scrolls_sideways(
    page: Page,
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{LINEAGE}&columns=true&as=list")
    wait_for(page)
    page.get_by_test_id("list-edges").locator("summary").click()
    expect(page.get_by_test_id("list-edges").locator("tbody tr").first).to_be_visible()
    assert page.locator("#list").evaluate("(list) => list.scrollWidth <= list.clientWidth")


def test_the_list_holds_every_edge(page: Page) -> None:
    page.goto(f"{LINEAGE}&columns=true&as=list")
    wait_for(page)
    edges = page.get_by_test_id("list-edges")
    edges.locator("summary").click()
    expect(edges.locator("tbody tr")).to_have_count(len(fixture("lineage-columns")["edges"]))
    expect(edges).to_contain_text("sum(salary + bonus)")


def test_graph_and_list_are_two_forms_of_one_link(page: Page, api: FakeApi) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.get_by_test_id("as-list").click()
    expect(page.get_by_test_id("list")).to_be_visible()
    assert state_of(page)["as"] == "list"
    page.get_by_test_id("as-graph").click()
    expect(page.get_by_test_id("canvas")).to_be_visible()
    assert len(asked(api, "/graph/overview")) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/?view=overview", "/?view=overview&as=list", LINEAGE, LINEAGE + "&columns=true", JOB, PLAN,
        "/?view=journal", "/?view=layers", "/?view=rules",
    ],
)  # fmt: skip
def test_names_headings_and_widths_of_a_page(page: Page, path: str) -> None:
    """What can be operated has a name, headings go down level by level, nothing sticks out."""
    wide = dict[int, bool]()
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(path)
    wait_for(page)
    page.wait_for_load_state("networkidle")
    for width in (360, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.screenshot(clip={"x": 0, "y": 0, "width": 1, "height": 1})  # a frame of this size
        wide[width] = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a[href], input, select, [tabindex="0"]')]
            .filter((one) => one.checkVisibility())
            .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim()
                || one.labels?.length))
            .map((one) => one.outerHTML.slice(0, 120))"""
    )
    levels = page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')]"
        ".filter((one) => one.getClientRects().length > 0).map((one) => Number(one.tagName[1]))"
    )
    steps = [after - before for before, after in pairwise(levels)]
    found = {
        "sticks out": [width for width, is_wide in wide.items() if is_wide],
        "has no name": nameless,
        "headings": levels if levels[0] != 1 or max(steps, default=0) > 1 else [],
    }
    assert {what: where for what, where in found.items() if where} == {}


def test_focus_can_be_seen_and_the_first_tab_stop_skips_the_header(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    assert skip.evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stage")).to_be_focused()


def test_a_link_that_names_nothing_says_it_once_and_leads_on(page: Page) -> None:
    page.goto("/?view=lineage&node=dataset:nosuch")
    wait_for(page, "error")
    notice = page.get_by_test_id("notice-error")
    expect(notice.get_by_text("nosuch")).to_have_count(1)
    notice.get_by_role("link", name="Go to the overview").click()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("Overview")


def test_where_there_is_no_picture_the_first_tab_stop_leads_to_the_content(page: Page) -> None:
    page.goto("/?view=layers")
    wait_for(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_escape_in_the_panel_closes_it_and_goes_back_to_the_picture(page: Page) -> None:
    page.goto(f"/?view=overview&selected={node('attendance')['id']}")
    wait_for(page)
    page.get_by_test_id("stage").press("Enter")
    expect(page.get_by_test_id("panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("panel")).to_be_hidden()
    expect(page.get_by_test_id("stage")).to_be_focused()


def test_an_outage_keeps_the_picture_and_says_since_when(page: Page, api: FakeApi) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    canvas = page.get_by_test_id("canvas")
    page.context.set_offline(True)
    page.get_by_test_id("refresh").click()
    wait_for(page, "away")
    banner = page.get_by_test_id("away")
    expect(banner).to_contain_text("has not answered since")
    since = banner.locator("time").get_attribute("datetime")
    expect(canvas).to_have_attribute("data-nodes", "12")
    kept = canvas.get_attribute("data-transform") or ""
    page.get_by_test_id("zoom-in").click()
    expect(canvas).not_to_have_attribute("data-transform", kept)
    moved = canvas.get_attribute("data-transform")
    banner.get_by_role("button", name="Try now").click()
    wait_for(page, "away")
    assert banner.locator("time").get_attribute("datetime") == since
    before = len(asked(api, "/graph/overview"))
    page.context.set_offline(False)
    wait_for(page)
    expect(banner).to_have_count(0)
    assert len(asked(api, "/graph/overview")) > before
    expect(canvas).to_have_attribute("data-transform", moved or "")


def test_an_outage_is_noticed_without_a_press(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    page.context.set_offline(True)
    wait_for(page, "away")
    expect(page.get_by_test_id("panel")).to_contain_text("attendance")
    page.context.set_offline(False)
    wait_for(page)
    expect(page.get_by_test_id("away")).to_have_count(0)


def wait_for_arrival(page: Page, runs: int) -> None:
    """Documents arrive, so many more runs of the job that is shown, and its page has the answer."""

    def answer(route: Route) -> None:
        reply = route.fetch().json()
        route.fulfill(json={**reply, "total": reply["total"] + runs})

    more = {**fixture("journal-summary"), "pending": 0, "projected": 10**6 + runs}
    path = re.compile("/graph/jobs/[^/]+/runs")
    page.route(path, answer)
    with page.expect_response(path) as answered:
        page.route("**/journal?summary=true", lambda route: route.fulfill(json=more))
    answered.value.finished()
    page.evaluate("async () => { await (await fetch('/health/ready')).text(); }")


def test_a_link_stays_under_the_button_while_new_documents_arrive(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    page.get_by_test_id("plans").get_by_role("link").first.hover()
    page.mouse.down()
    wait_for_arrival(page, runs=1)
    page.mouse.up()
    expect(page.locator('body[data-view="plan"]')).to_be_visible()
    wait_for(page)
    assert state_of(page)["view"] == "plan"


def test_a_press_that_ends_elsewhere_lets_the_new_answer_in(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    page.get_by_test_id("subtitle").hover()
    page.mouse.down()
    wait_for_arrival(page, runs=1)
    expect(page.locator('body[data-state="loading"]')).to_be_visible()
    page.mouse.move(0, 0)
    page.mouse.up()
    wait_for(page)
    assert state_of(page)["view"] == "job"


def test_documents_that_change_nothing_on_the_page_replace_nothing(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    shown = page.get_by_test_id("plans").get_by_role("link").first.element_handle()
    wait_for_arrival(page, runs=0)
    wait_for(page)
    assert shown.evaluate("(link) => link.isConnected")
    wait_for_arrival(page, runs=1)
    wait_for(page)
    assert not shown.evaluate("(link) => link.isConnected")


def test_what_was_unfolded_is_open_after_new_documents(page: Page) -> None:
    page.goto("/?view=journal&state=failed")
    wait_for(page)
    folds = page.locator("details.payload")
    folds.nth(1).locator("summary").click()
    expect(folds.nth(1)).to_have_attribute("open", "")
    more = {**fixture("journal-summary"), "pending": 0, "projected": 10**6}
    page.route("**/journal?summary=true", lambda route: route.fulfill(json=more))
    expect(page.get_by_test_id("journal")).to_contain_text("1,000,000")
    expect(folds.nth(1)).to_have_attribute("open", "")
    expect(folds.nth(0)).not_to_have_attribute("open", "")


@pytest.mark.parametrize(
    ("alike", "row"), [(False, 2), (True, 1)], ids=["rows that differ", "rows that are alike"]
)
def test_the_focus_stays_in_its_row_when_new_documents_come(
    page: Page, alike: bool, row: int
) -> None:
    """All rows lead to one job, and the second has the focus; a document comes above them."""
    usual = fixture("journal-failed")
    last = usual["items"][2]
    items = [{**(last if alike else item), "job": last["job"]} for item in usual["items"]]
    replies = [{**usual, "items": [{**items[0], "size": 99}, *items]}, {**usual, "items": items}]
    listed = re.compile("/journal[?]state=failed")
    page.route(listed, lambda route: route.fulfill(json=replies[-1]))
    page.goto("/?view=journal&state=failed")
    wait_for(page)
    rows = page.get_by_test_id("journal-items").locator("tbody tr")
    links = rows.get_by_role("link", name="employee-curate")
    links.nth(1).focus()
    replies.pop()
    more = {**fixture("journal-summary"), "pending": 0, "projected": 10**6}
    page.route("**/journal?summary=true", lambda route: route.fulfill(json=more))
    expect(rows).to_have_count(4)
    wait_for(page)
    expect(links.nth(row)).to_be_focused()


def test_a_page_whose_modules_did_not_come_is_loaded_again_by_itself(own_page: Page) -> None:
    cut = iter([True])
    own_page.route(
        "**/js/main.js", lambda route: route.abort() if next(cut, False) else route.continue_()
    )
    own_page.goto("/?view=overview")
    wait_for(own_page)


def test_a_page_whose_modules_do_not_come_again_says_so(own_page: Page) -> None:
    own_page.route("**/js/main.js", lambda route: route.fulfill(status=404, body="another version"))
    own_page.goto("/?view=overview")
    wait_for(own_page, "error")
    expect(own_page.get_by_test_id("heading")).to_have_text("The page did not load")
    own_page.unroute_all(behavior="wait")
    own_page.get_by_role("link", name="Load it again").click()
    wait_for(own_page)


def test_a_server_that_was_away_from_the_start_is_noticed_without_a_press(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.context.set_offline(True)
    page.get_by_test_id("journal-indicator").click()
    wait_for(page, "error")
    expect(page.get_by_test_id("notice-error")).to_contain_text("comes back by itself")
    page.context.set_offline(False)
    wait_for(page)


def test_at_two_hundred_percent_the_header_is_one_row(page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})  # 1280 x 800
    page.goto(JOB)
    wait_for(page)
    expect(page.get_by_text("Menu", exact=True)).to_be_visible()
    bar = page.locator("header.bar").bounding_box()
    assert bar is not None
    assert bar["height"] < 60
    assert page.evaluate("document.documentElement.scrollWidth") == 640


# --- search ------------------------------------------------------------------------------------


def test_search_groups_its_results_and_opens_one_by_keyboard(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search tables, jobs, columns, owners")
    expect(box).to_be_focused()
    box.press_sequentially("employee")
    results = page.get_by_test_id("results")
    expect(results.get_by_role("group")).to_have_count(3)
    expect(results.get_by_role("option")).to_have_count(5)
    expect(results.get_by_role("option").last).to_have_text("All results, with choices")
    for _ in range(3):
        box.press("ArrowDown")
    expect(results.get_by_role("option", selected=True)).to_contain_text("employee-agg")
    expect(box).to_have_attribute("aria-activedescendant", "result-2")
    box.press("Enter")
    wait_for(page)
    assert state_of(page)["view"] == "job"
    expect(results).to_be_hidden()


def test_search_waits_for_a_pause_and_says_when_there_is_nothing(page: Page, api: FakeApi) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    box = page.get_by_test_id("search-input")
    box.press_sequentially("nosuch", delay=20)
    expect(page.get_by_test_id("results")).to_contain_text("Nothing is known by these words.")
    assert len(asked(api, "/graph/search")) < 6
    box.press("Escape")
    expect(page.get_by_test_id("results")).to_be_hidden()


def test_a_found_column_opens_the_column_view(page: Page, api: FakeApi) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.get_by_test_id("search-input").fill("employee_id")
    page.get_by_role("option", name="employee_id").click()
    wait_for(page)
    assert state_of(page)["view"] == "columns"
    question = asked(api, "/graph/column-lineage")[-1]
    curated = next(n for n in fixture("overview")["nodes"] if n.get("uri") == EMPLOYEES)
    assert (question["dataset"], question["column"]) == (curated["id"], "employee_id")


# --- lineage -----------------------------------------------------------------------------------


def test_lineage_follows_direction_depth_columns_and_indirect(page: Page, api: FakeApi) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text("employees")
    page.get_by_test_id("control-columns").check()
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-columns", "33")
    page.get_by_test_id("control-indirect").check()
    expect(page.get_by_test_id("legend")).to_contain_text("Filter, join, group, sort")
    with page.expect_response(lambda answer: "depth=2" in answer.url):
        page.get_by_test_id("depth-more").click()
    expect(page.get_by_test_id("depth")).to_have_text("2")
    with page.expect_response(lambda answer: "direction=upstream" in answer.url):
        page.get_by_test_id("direction-upstream").click()
    wait_for(page)
    last = asked(api, "/graph/lineage")[-1]
    assert last == {
        "node": f"dataset:{EMPLOYEES}",
        "direction": "upstream",
        "depth": "2",
        "columns": "true",
        "indirect": "true",
        "beyond": "true",
        "reach": "possible",
        "layout": "true",
    }
    assert state_of(page)["depth"] == "2"


def test_a_picture_can_run_down_as_long_as_it_has_no_columns(page: Page, api: FakeApi) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    down = page.get_by_test_id("control-flow")
    down.check()
    wait_for(page)
    assert state_of(page)["flow"] == "down"
    assert asked(api, "/graph/lineage")[-1]["flow"] == "down"
    page.get_by_test_id("control-columns").check()
    wait_for(page)
    expect(down).to_be_disabled()
    expect(down).not_to_be_checked()
    assert "flow" not in asked(api, "/graph/lineage")[-1]
    page.get_by_test_id("control-columns").uncheck()
    wait_for(page)
    expect(down).to_be_checked()


def test_indirect_edges_are_off_until_asked_for(page: Page, api: FakeApi) -> None:
    page.goto(f"{LINEAGE}&columns=true")
    wait_for(page)
    assert "indirect" not in asked(api, "/graph/lineage")[-1]
    expect(page.get_by_test_id("control-indirect")).not_to_be_checked()


def test_a_click_on_a_column_row_traces_it_and_tells_its_expressions(page: Page) -> None:
    page.goto(f"{LINEAGE}&columns=true")
    wait_for(page)
    column = node("total_compensation", "lineage-columns", "column")
    page.mouse.click(*point_of(page, column["x"], column["y"]))
    panel = page.get_by_test_id("panel")
    expect(page.get_by_test_id("panel-title")).to_have_text("total_compensation")
    expect(panel).to_contain_text("sum(salary + bonus)")
    expect(panel.get_by_text("aggregated")).to_have_count(2)
    panel.get_by_role("link", name="Trace across jobs").click()
    wait_for(page)
    expect(page.get_by_test_id("heading")).to_have_text(f"{TARGET}.total_compensation")


def test_a_double_click_moves_the_centre_and_keeps_the_controls(page: Page) -> None:
    page.goto(f"{LINEAGE}&direction=downstream")
    wait_for(page)
    job = node("employee-curate", "lineage")
    page.mouse.dblclick(*point_of(page, job["x"], job["y"]))
    wait_for(page)
    assert state_of(page)["node"] == job["id"]
    assert state_of(page)["direction"] == "downstream"


def test_the_details_of_a_table_tell_schema_writers_and_readers(page: Page) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    panel = page.get_by_test_id("panel")
    expect(page.get_by_test_id("panel-title")).to_have_text("employees")
    expect(panel).to_contain_text(EMPLOYEES)
    expect(panel.get_by_role("link", name="employee-curate").first).to_be_visible()
    expect(panel.get_by_text("overwrite").first).to_be_visible()
    times = panel.locator('time[title="2026-03-02T05:31:40.072Z"]')
    expect(times.first).to_have_text("2 Mar 2026, 06:31:40")
    page.get_by_test_id("tab-schema").click()
    expect(panel.get_by_test_id("schema").locator("tbody tr")).to_have_count(10)


def test_a_time_can_be_chosen_and_cleared(page: Page, api: FakeApi) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    place = page.get_by_test_id("canvas").bounding_box()
    page.get_by_test_id("control-at-open").click()
    page.get_by_test_id("control-at").fill("2026-03-01T09:15")
    expect(page.get_by_test_id("as-of-note")).to_contain_text("1 Mar 2026, 09:15:00")
    assert page.get_by_test_id("canvas").bounding_box() == place, "the picture moved"
    assert state_of(page)["at"] == "2026-03-01T08:15:00.000Z"
    assert asked(api, "/graph/lineage")[-1]["at"] == "2026-03-01T08:15:00.000Z"
    page.get_by_test_id("panel").get_by_role("link", name="employee-curate").first.click()
    wait_for(page)
    assert state_of(page)["at"] == "2026-03-01T08:15:00.000Z"
    page.get_by_test_id("control-now").click()
    expect(page.get_by_test_id("as-of-note")).to_have_count(0)
    assert "at" not in state_of(page)


def test_refresh_asks_again_and_keeps_the_picture(page: Page, api: FakeApi) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    page.get_by_test_id("refresh").click()
    wait_for(page)
    assert len(asked(api, "/graph/lineage")) == 2
    expect(page.get_by_test_id("heading")).to_have_text("employees")


# --- job, plan, columns, journal ---------------------------------------------------------------


def test_a_job_shows_its_tables_plans_runs_and_the_error_of_a_run(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "4")
    plans = page.get_by_test_id("plans").locator("tbody tr")
    expect(plans).to_have_count(2)
    expect(plans.first).to_contain_text("append")
    expect(plans.nth(1)).to_contain_text("overwrite")
    runs = page.get_by_test_id("runs")
    expect(runs).to_contain_text("1 min 31 s")
    error = runs.get_by_test_id("error-text").first
    expect(error).to_contain_text("remaining connection slots are reserved")
    assert error.evaluate("(one) => one.scrollWidth <= one.clientWidth"), "it scrolls sideways"
    runs.get_by_role("button", name="1 execution").first.click()
    expect(runs).to_contain_text("1 min 27 s")
    plans.first.get_by_role("link").first.click()
    wait_for(page)
    assert state_of(page)["view"] == "plan"


def test_a_plan_shows_operations_expressions_sources_and_executions(page: Page) -> None:
    page.goto(PLAN)
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "7")
    columns = page.get_by_test_id("plan-columns")
    expect(columns).to_contain_text("sum(salary + bonus)")
    executions = page.get_by_test_id("executions")
    expect(executions.get_by_test_id("error-text")).to_contain_text("UNRESOLVED_COLUMN")
    expect(executions).to_contain_text("rows")
    aggregate = next(o for o in fixture("plan")["operations"] if o["kind"] == "aggregate")
    page.mouse.click(*point_of(page, aggregate["x"], aggregate["y"]))
    panel = page.get_by_test_id("panel")
    expect(page.get_by_test_id("panel-title")).to_have_text("Aggregate")
    expect(panel.get_by_test_id("operation-schema")).to_contain_text("sum(salary + bonus)")
    expect(panel).to_contain_text("groupingExpressions")
    assert state_of(page)["selected"] == aggregate["id"]


def test_columns_across_jobs_tell_the_expression_of_every_hop(page: Page, api: FakeApi) -> None:
    uri = node(TARGET, kind="dataset")["uri"]
    page.goto(f"/?view=columns&dataset={quote(uri, safe='')}&column=total_compensation")
    wait_for(page)
    hops = page.get_by_test_id("hops").locator("tbody tr")
    expect(hops).to_have_count(6)
    expect(hops.last).to_contain_text("sum(salary + bonus)")
    expect(hops.last).to_contain_text("employee-agg")
    question = asked(api, "/graph/column-lineage")[-1]
    assert (question["column"], question["depth"]) == ("total_compensation", "10")


def test_a_view_that_is_left_listens_to_nothing(page: Page, api: FakeApi) -> None:
    page.goto(LINEAGE)
    wait_for(page)
    session = page.context.new_cdp_session(page)
    numbers = []
    for _ in range(3):
        page.get_by_role("link", name="Graph", exact=True).click()
        expect(page.locator('body[data-view="overview"]')).to_be_visible()
        wait_for(page)
        page.go_back()
        expect(page.locator('body[data-view="lineage"]')).to_be_visible()
        wait_for(page)
        document = session.send("Runtime.evaluate", {"expression": "document"})["result"]
        asked = {"objectId": document["objectId"]}
        numbers.append(len(session.send("DOMDebugger.getEventListeners", asked)["listeners"]))
    assert numbers[0] > 0
    # A module that comes late may listen for good, and does so once.
    assert any(later <= earlier for earlier, later in itertools.pairwise(numbers))


def test_the_documents_indicator_leads_to_failures_with_their_reasons(
    page: Page, api: FakeApi
) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    indicator = page.get_by_test_id("journal-indicator")
    expect(indicator).to_contain_text("1,284 received")
    expect(indicator).to_contain_text("3 failed")
    expect(indicator).to_have_attribute("title", "5 documents still to come into the graph")
    indicator.click()
    wait_for(page)
    items = page.get_by_test_id("journal-items").locator("tbody tr")
    expect(items).to_have_count(3)
    expect(items.first).to_contain_text("operations.write: field required")
    expect(items.last.get_by_role("link", name="employee-curate")).to_be_visible()
    expect(items.last).to_contain_text("spline 2.2.0")
    items.last.get_by_text("Payload").click()
    expect(items.last.locator("pre")).to_have_text('{ "name": "curate" }')
    expect(items.last.get_by_role("button", name="Copy")).to_be_visible()
    refused = page.get_by_test_id("refused-requests")
    expect(refused.get_by_role("row").last).to_contain_text("eventType: expected one of START")
    refused.get_by_text("Beginning").click()
    expect(refused.locator("pre")).to_have_text('{"eventType": "DONE"}')
    page.get_by_test_id("replay").click()
    expect(page.get_by_test_id("news")).to_have_text("3 documents will be tried again.")
    expect(page.get_by_test_id("announcer")).to_have_text("3 documents will be tried again.")
    assert api.scenario.posted == [("/journal/replay", {"state": "failed"})]
    page.get_by_test_id("state-waiting").click()
    expect(page.get_by_text("No documents in this state.")).to_be_visible()
    assert state_of(page)["state"] == "waiting"


# --- notices -----------------------------------------------------------------------------------


def test_an_empty_server_tells_how_to_send_the_first_lineage(page: Page, api: FakeApi) -> None:
    api.play("empty")
    page.goto("/?view=overview")
    wait_for(page, "empty")
    notice = page.get_by_test_id("notice-empty")
    expect(notice).to_contain_text("Nothing received yet")
    expect(notice).to_contain_text("make demo")
    expect(notice).to_contain_text("headwater config spark")


def test_documents_that_are_not_yet_in_the_graph_are_not_called_nothing(
    page: Page, api: FakeApi
) -> None:
    api.play("pending")
    page.goto("/?view=overview")
    wait_for(page, "empty")
    expect(page.get_by_test_id("notice-empty")).to_contain_text("7 documents arrived")


def test_a_filter_that_nothing_passes_says_so_and_leads_back(page: Page) -> None:
    page.goto("/?view=overview")
    wait_for(page)
    page.get_by_test_id("control-q").press_sequentially("nosuch")
    wait_for(page, "empty")
    expect(page.get_by_test_id("notice-empty")).to_contain_text("Nothing matches")
    page.get_by_role("link", name="Show everything").click()
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "12")
    expect(page.get_by_test_id("control-q")).to_have_value("")


def test_a_partial_answer_names_reason_and_limit_and_offers_more(page: Page, api: FakeApi) -> None:
    api.play("partial")
    page.goto("/?view=overview")
    wait_for(page)
    banner = page.get_by_test_id("partial")
    expect(banner).to_contain_text("limit 500")
    banner.get_by_role("button").click()
    expect(banner).to_contain_text("limit 2,000")
    assert asked(api, "/graph/overview")[-1]["limit"] == "2000"


def test_a_folded_answer_says_so(page: Page, api: FakeApi) -> None:
    api.play("folded")
    page.goto(LINEAGE)
    wait_for(page)
    expect(page.get_by_test_id("folded")).to_be_visible()


def test_an_error_tells_its_message_and_can_be_tried_again(page: Page, api: FakeApi) -> None:
    api.play("broken")
    page.goto("/?view=overview")
    wait_for(page, "error")
    expect(page.get_by_test_id("error-message")).to_contain_text("request 7f3a")
    api.play("usual")
    page.get_by_test_id("retry").click()
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "12")


def test_an_unknown_node_is_not_found(page: Page) -> None:
    page.goto("/?view=lineage&node=dataset:s3://nosuch")
    wait_for(page, "error")
    expect(page.get_by_test_id("notice-error")).to_contain_text("Not found")


def test_the_page_of_an_unknown_run_has_the_runs_id_as_its_heading(page: Page) -> None:
    page.goto("/?view=run&run=nosuch")
    wait_for(page, "error")
    expect(page.get_by_role("heading", level=1)).to_have_text("nosuch")


def test_a_name_that_fits_two_tables_offers_both(page: Page) -> None:
    page.goto("/?view=lineage&node=dataset:hdfs:///twice")
    wait_for(page, "error")
    links = page.get_by_test_id("notice-error").get_by_role("link")
    expect(links).to_have_count(2)
    links.first.click()
    wait_for(page)
    assert state_of(page)["node"] == "ds_" + "1" * 32


def test_a_rebuilding_server_is_asked_again_without_a_click(page: Page, api: FakeApi) -> None:
    api.play("usual", refusals=1)
    page.goto("/?view=overview")
    wait_for(page, "rebuilding")
    expect(page.get_by_test_id("notice-rebuilding")).to_contain_text("5 documents still to go")
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "12")


def test_a_server_that_is_gone_is_an_error_not_a_blank_page(page: Page) -> None:
    page.route("**/graph/overview**", lambda route: route.abort())
    page.goto("/?view=overview")
    wait_for(page, "error")
    expect(page.get_by_test_id("notice-error")).to_contain_text("No answer")


# --- keys ----------------------------------------------------------------------------------------

KEY = "hw_3f9c21ab77e0_" + "q" * 43


def test_a_server_that_wants_a_key_is_given_one_that_never_enters_the_address(
    page: Page, api: FakeApi
) -> None:
    api.play("usual", needed=KEY)
    page.goto("/?view=overview&q=emp")
    wait_for(page, "locked")
    expect(page.get_by_test_id("notice-key")).to_contain_text("An API key is needed")
    field = page.get_by_test_id("key")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("type", "password")
    before = page.url
    field.fill(f" {KEY} ")
    field.press("Enter")
    wait_for(page)
    assert page.url == before
    assert api.scenario.keys[-1] == KEY
    assert KEY not in str(api.scenario.asked)


def test_a_key_is_kept_for_the_tab_alone(own_page: Page, api: FakeApi) -> None:
    api.play("usual", needed=KEY)
    own_page.goto("/?view=overview")
    wait_for(own_page, "locked")
    own_page.get_by_test_id("key").fill(KEY)
    own_page.get_by_test_id("key-send").click()
    wait_for(own_page)
    own_page.reload()
    wait_for(own_page)
    kept = own_page.context.storage_state()
    assert KEY not in str(kept)  # cookies and localStorage of the whole browser
    other = own_page.context.new_page()
    other.goto("/")
    wait_for(other, "locked")


def test_a_key_that_is_refused_is_asked_for_again_and_says_why(page: Page, api: FakeApi) -> None:
    api.play("usual", needed=KEY)
    page.goto("/?view=overview")
    wait_for(page, "locked")
    for wrong in ("hw_wrong", "schlüssel"):
        page.get_by_test_id("key").fill(wrong)
        page.get_by_test_id("key-send").click()
        expect(page.get_by_test_id("notice-key")).to_contain_text("This key was refused")
        expect(page.get_by_test_id("key")).to_have_value("")
    assert set(api.scenario.keys) == {"", "hw_wrong"}


def test_a_key_without_the_role_names_the_role_and_can_be_changed(page: Page, api: FakeApi) -> None:
    api.play("forbidden")
    page.goto("/?view=overview")
    wait_for(page, "error")
    expect(page.get_by_test_id("notice-error")).to_contain_text("Not allowed")
    expect(page.get_by_test_id("error-message")).to_contain_text("role reader or admin")
    api.play("usual", needed=KEY)
    page.get_by_test_id("change-key").click()
    wait_for(page, "locked")
    page.get_by_test_id("key").fill(KEY)
    page.get_by_test_id("key-send").click()
    wait_for(page)


def test_a_page_that_asks_too_often_waits_as_long_as_it_is_told(page: Page, api: FakeApi) -> None:
    api.play("busy", refusals=10**6)  # it asks each second
    page.goto("/?view=overview")
    expect(page.get_by_test_id("notice-error")).to_contain_text("Too many requests")
    api.scenario.refusals = 0
    wait_for(page)


# --- hostile names -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/?view=overview", "/?view=overview&as=list", "/?view=lineage&node=ds_" + "a" * 32]
)
@pytest.mark.parametrize("selected", ["", "ds_" + "a" * 32, "ds_" + "b" * 32, "job_" + "d" * 32])
def test_hostile_names_are_text_and_nothing_runs(
    page: Page, api: FakeApi, path: str, selected: str
) -> None:
    api.play("hostile")
    page.goto(path + ("&" if "?" in path else "?") + f"selected={selected}")
    wait_for(page)
    if selected:
        expect(page.get_by_test_id("panel-title")).not_to_be_empty()
        page.wait_for_load_state("networkidle")
    assert page.locator("img, main script, b, i, iframe").count() == 0
    assert "owned" not in page.title()
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    if "list" in path:
        expect(page.get_by_test_id("list")).to_contain_text("<img src=x onerror=alert(1)>")
    if selected == "ds_" + "a" * 32:
        expect(page.get_by_test_id("panel-title")).to_have_text("<img src=x onerror=alert(1)>")
        expect(page.get_by_test_id("panel")).to_contain_text("<script>document.title")


def test_a_name_of_2000_characters_does_not_fill_the_panel_and_is_shown_when_asked(
    page: Page, api: FakeApi
) -> None:
    api.play("hostile")
    page.goto("/?view=overview&selected=ds_" + "b" * 32)
    wait_for(page)
    title = page.get_by_test_id("panel-title")
    cut = title.bounding_box()
    assert cut is not None
    assert cut["height"] < 80
    press = page.get_by_test_id("whole-name")
    press.focus()
    page.keyboard.press("Enter")
    expect(press).to_have_attribute("aria-expanded", "true")
    whole = title.bounding_box()
    assert whole is not None
    assert whole["height"] > 10 * cut["height"]


@pytest.mark.parametrize("width", [390, 1280])
def test_names_without_a_break_scroll_no_list_sideways(page: Page, width: int) -> None:
    long = "x" * 500
    table = {"id": "ds_1", "uri": f"s3://lake/{long}", "label": long}
    column = {"id": "col_1", "name": long, "dataset": table, "classifications": ["t" * 64]}
    reply = {"items": [column], "total": 1, "next": None}
    page.route("**/graph/columns?*", lambda route: route.fulfill(json=reply))
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/?view=fields")
    wait_for(page)
    listed = page.get_by_test_id("list-fields").get_by_role("region")
    expect(listed).to_contain_text(long)
    assert listed.evaluate("(part) => part.scrollWidth <= part.clientWidth")


def test_a_uri_is_never_a_link_target(page: Page, api: FakeApi) -> None:
    api.play("hostile")
    page.goto("/?view=overview&selected=ds_" + "c" * 32)
    wait_for(page)
    expect(page.get_by_test_id("panel")).to_contain_text("javascript:alert(1)")
    targets = page.evaluate("() => [...document.querySelectorAll('a')].map((a) => a.protocol)")
    assert set(targets) == {"http:"}


# --- looks -------------------------------------------------------------------------------------


def test_dark_follows_the_system_and_the_switch_is_remembered(own_page: Page) -> None:
    own_page.emulate_media(color_scheme="dark")
    own_page.goto("/?view=overview")
    wait_for(own_page)
    body = own_page.locator("body")
    expect(body).to_have_attribute("data-theme", "dark")
    own_page.get_by_test_id("theme").click()
    expect(body).to_have_attribute("data-theme", "light")
    own_page.reload()
    wait_for(own_page)
    expect(body).to_have_attribute("data-theme", "light")


def test_the_canvas_is_painted_in_the_colours_of_the_theme(page: Page) -> None:
    page.goto(JOB)
    wait_for(page)
    canvas = page.locator("#canvas canvas")
    light = canvas.screenshot()
    page.get_by_test_id("theme").click()
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")
    assert canvas.screenshot() != light
