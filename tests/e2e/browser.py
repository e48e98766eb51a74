"""A browser for tests of the page, and how a test knows what the page has done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
)


def chromium_path() -> str | None:
    """``$HEADWATER_CHROMIUM``, else the system's Chromium, else None: Playwright's own."""
    named = os.environ.get("HEADWATER_CHROMIUM")
    if named:
        return named
    return "/usr/bin/chromium" if Path("/usr/bin/chromium").exists() else None


@contextmanager
def open_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(
    browser: Browser, url: str, *, height: int = 800, timeout: int = 10_000, **context: Any
) -> Iterator[Page]:
    """A page of its own at this address; an error that it throws fails the test.

    ``timeout`` is in milliseconds; ``context`` is what a new context of the browser takes.
    """
    opened = browser.new_context(
        base_url=url, viewport={"width": 1280, "height": height}, **context
    )
    complaints: list[str] = []
    try:
        opened.set_default_timeout(timeout)
        page = opened.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
    finally:
        opened.close()
    assert not complaints, complaints


def wait_for(page: Page, state: str = "ready") -> None:
    """Until the page says so: loading, ready, empty, error or rebuilding.

    A locator waits without evaluating text in the page, which its policy would refuse.
    """
    page.locator(f'body[data-state="{state}"]').wait_for()
    if state == "ready" and page.locator('body[data-form="picture"]').count() > 0:
        canvas = page.get_by_test_id("canvas")
        if canvas.is_visible():
            expect(canvas).to_have_attribute("data-drawn", "true")


def point_of(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the layout lies on the page, after zooming and panning."""
    canvas = page.get_by_test_id("canvas")
    scale, left, top = map(float, (canvas.get_attribute("data-transform") or "").split())
    box = canvas.bounding_box()
    assert box is not None
    return box["x"] + left + scale * x, box["y"] + top + scale * y


def by_id(page: Page, identifier: str) -> Locator:
    """The row of the accessible list for a node."""
    assert re.fullmatch(r"[A-Za-z0-9_-]+", identifier)
    return page.locator(f'[data-testid="list"] tr[data-id="{identifier}"]')
