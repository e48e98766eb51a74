"""A node opens where it stands: more is drawn, and nothing else moves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, FloatRect, Page, expect

from tests.e2e.page.browser import count_different_pixels, open_page, point_of, wait_for
from tests.e2e.page.test_fans import ran
from tests.e2e.small_client import serving
from tests.projections import lineage_event, small_headwater

pytestmark = pytest.mark.browser

MIDDLE = "/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2Fb"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    headwater = small_headwater()
    links = [("one", "a", "b"), ("two", "b", "c"), ("three", "c", "d"), ("four", "c", "e")]
    headwater.accept(*(lineage_event(ran(*link)) for link in links))
    headwater.project()
    with (
        serving(headwater, 1_800_000_000_000) as address,
        open_page(browser, address, reduced_motion="reduce") as opened,
    ):
        yield opened
    headwater.close()


def corner(page: Page, label: str) -> tuple[float, float]:
    """The lower right corner of a box on the screen, from the server's own answer."""
    reply = page.request.get(
        "/graph/lineage?node=dataset:s3://lake/b&layout=true&beyond=true"
    ).json()
    [node] = [node for node in reply["nodes"] if node["label"] == label]
    assert node["more"] == {"upstream": 0, "downstream": 2}
    return point_of(page, node["x"] + node["width"] / 2, node["y"] + node["height"] / 2)


def test_a_handle_shows_what_it_opened_and_closes_it_again(page: Page) -> None:
    page.goto(MIDDLE)
    wait_for(page)
    canvas = page.get_by_test_id("canvas")
    expect(canvas).to_have_attribute("data-nodes", "5")
    before = page.get_by_test_id("subtitle").inner_text()
    stood = canvas.get_attribute("data-transform") or ""

    page.mouse.click(*corner(page, "c"))
    expect(canvas).to_have_attribute("data-nodes", "9")
    assert "opened=d." in page.url
    expect(page.get_by_test_id("subtitle")).to_contain_text("5 tables")
    expect(canvas).not_to_have_attribute("data-transform", stood)
    seen = canvas.bounding_box()
    assert seen is not None
    assert corner(page, "c")[0] < seen["x"] + seen["width"] - 300, "what it opened has room"

    page.mouse.click(*corner(page, "c"))
    expect(canvas).to_have_attribute("data-nodes", "5")
    expect(page.get_by_test_id("subtitle")).to_have_text(before)
    assert "opened" not in page.url


def test_a_link_opens_the_same_nodes_again(page: Page) -> None:
    page.goto(MIDDLE)
    wait_for(page)
    page.mouse.click(*corner(page, "c"))
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "9")
    page.reload()
    wait_for(page)
    expect(page.get_by_test_id("canvas")).to_have_attribute("data-nodes", "9")


def test_flow_that_was_not_seen_yet_is_drawn_and_named_where_it_is_in_reach(
    browser: Browser,
) -> None:
    headwater = small_headwater()
    reader, writer = ran("report", "daily", "result"), ran("load", "raw", "daily")
    reader["eventTime"] = "2026-03-01T09:00:00Z"
    writer["eventTime"] = "2026-03-01T10:00:00Z"
    for event in (reader, writer):
        field = {**event["inputs"][0], "field": "k"}
        copied = {"columnLineage": {"fields": {"k": {"inputFields": [field]}}}}
        event["outputs"][0]["facets"] = copied
    headwater.accept(lineage_event(reader), lineage_event(writer))
    headwater.project()
    with (
        serving(headwater, 1_800_000_000_000) as address,
        open_page(browser, address) as page,
    ):
        raw = "/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2Fraw"
        page.goto(raw)
        wait_for(page)
        canvas = page.get_by_test_id("canvas")
        expect(canvas).to_have_attribute("data-nodes", "3")
        unseen = page.get_by_label("Edges").get_by_text("Not seen yet: a next run would bring it")
        expect(unseen).to_have_count(0)
        asked = "/graph/lineage?node=dataset:s3://lake/raw&depth=5&reach=possible"
        edges = page.request.get(asked).json()["edges"]
        unseen_id = next(edge["id"] for edge in edges if edge.get("seen") is False)
        page.goto(f"{raw}&depth=5&selected={unseen_id}")
        wait_for(page)
        expect(canvas).to_have_attribute("data-nodes", "5")
        expect(unseen).to_have_count(1)
        expect(page.locator("#footnote")).to_contain_text("Nothing beyond 2 steps")
        expect(page.get_by_test_id("panel")).to_contain_text("not seen yet")

        column = "/?view=columns&dataset=s3%3A%2F%2Flake%2Fraw&column=k&depth=5"
        page.goto(column)
        wait_for(page)
        expect(unseen).to_have_count(1)
        expect(page.locator("#footnote")).to_contain_text("Nothing beyond 2 steps")
        page.goto(f"{column}&ends=true")
        wait_for(page)
        expect(page.locator("#footnote")).to_contain_text("Newest event")
        expect(page.locator("#footnote")).not_to_contain_text("beyond")
    headwater.close()


def drag(page: Page, distance: float) -> None:
    """Drag the picture sideways by its ground."""
    box = page.get_by_test_id("canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 40
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + distance, y, steps=8)
    page.mouse.up()
    page.mouse.move(x, y)
    page.wait_for_timeout(300)


def test_a_table_half_in_view_is_painted(browser: Browser) -> None:
    headwater = small_headwater()
    names = [f"a_table_whose_name_is_rather_long_{letter}" for letter in "abc"]
    headwater.accept(*(lineage_event(ran(f"job_of_{b}", a, b)) for a, b in pairwise(names)))
    headwater.project()
    with (
        serving(headwater, 1_800_000_000_000) as address,
        open_page(browser, address) as page,
    ):
        page.goto(f"/?view=lineage&node=dataset%3As3%3A%2F%2Flake%2F{names[1]}")
        wait_for(page)
        asked = f"/graph/lineage?node=dataset:s3://lake/{names[1]}&layout=true&beyond=true"
        nodes = {node["label"]: node for node in page.request.get(asked).json()["nodes"]}
        box = page.get_by_test_id("canvas").bounding_box()
        assert box is not None
        centre, _ = point_of(page, nodes[names[0]]["x"], 0)
        drag(page, box["x"] - 30 - centre)
        centre, _ = point_of(page, nodes[names[0]]["x"], 0)
        right, top = point_of(
            page,
            nodes[names[0]]["x"] + nodes[names[0]]["width"] / 2,
            nodes[names[0]]["y"] - nodes[names[0]]["height"] / 2,
        )
        assert centre < box["x"] < right
        inside = page.screenshot(clip=FloatRect(x=right - 9, y=top + 2, width=4, height=4))
        ground = page.screenshot(clip=FloatRect(x=right - 9, y=top - 60, width=4, height=4))
        assert count_different_pixels(browser, inside, ground) == 16
    headwater.close()


def test_an_outage_is_said_at_the_handle_that_was_pressed(page: Page) -> None:
    page.goto(MIDDLE)
    wait_for(page)
    canvas, complaint = page.get_by_test_id("canvas"), page.get_by_test_id("complaint")
    expect(complaint).to_be_hidden()
    at = corner(page, "c")
    # The press meets the outage first: the page's own watch would say so, and move the picture.
    summary = page.request.get("/journal?summary=true").json()
    page.route("**/journal?summary=true", lambda route: route.fulfill(json=summary))
    page.context.set_offline(True)
    page.mouse.click(*at)
    wait_for(page, "away")
    expect(complaint).to_contain_text("opens once it does")
    said = complaint.bounding_box()
    assert said is not None
    assert said["x"] <= at[0] <= said["x"] + said["width"]
    assert 0 < said["y"] - at[1] < 40
    page.get_by_test_id("zoom-out").click()
    expect(complaint).to_be_visible()
    page.context.set_offline(False)
    wait_for(page)
    expect(canvas).to_have_attribute("data-nodes", "9")
    expect(complaint).to_be_hidden()
