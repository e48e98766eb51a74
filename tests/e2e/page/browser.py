"""A browser for tests of the page, and how a test knows that the page is done."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

expect.set_options(timeout=60_000)
# Two pages of the browser's own frame, which every window starts beside the page: a third of its
# processor time. The last --disable-features counts, so Playwright's own are named again.
_SWITCHED_OFF = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    f"--disable-features={','.join(_SWITCHED_OFF)}",
)


_HEIGHT = 800


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
            _windows.pop(browser, None)
            browser.close()


@dataclass(frozen=True)
class _Window:
    """What was asked for (the address, arguments of the context), and the page that has it."""

    asked: tuple[str, ...]
    page: Page
    height: int


# Of each browser, the window that its last test left. To open another and compile the page's
# modules in it takes three times the processor time of a visit in one that has them.
_windows: dict[Browser, _Window] = {}


@contextmanager
def open_page(
    browser: Browser, url: str, *, height: int = _HEIGHT, timeout: int = 60_000, own: bool = False,
    **context: Any,
) -> Iterator[Page]:  # fmt: skip
    """A blank page at this address, in the window that the last test left where that fits.

    An error that it throws fails the test. ``timeout`` is in milliseconds; ``own``: a window that
    no other test had or gets, for scripts, clocks and media, which a page keeps; ``context`` has
    the arguments of a new context of the browser.
    """
    asked = url, repr(sorted(context.items()))
    window = None if own else _windows.pop(browser, None)
    if window is not None and window.asked != asked:
        close(window.page.context)
        window = None
    if window is None:
        size: ViewportSize = {"width": 1280, "height": height}
        opened = browser.new_context(base_url=url, viewport=size, **context)
        window = _Window(asked, opened.new_page(), height)
    page = window.page
    page.context.set_default_timeout(timeout)
    complaints: list[str] = []

    def complain(error: Error) -> None:
        complaints.append(str(error))

    page.on("pageerror", complain)
    left = False
    try:
        if window.height != height:
            page.set_viewport_size({"width": 1280, "height": height})
        yield page
        left = not own
    finally:
        if left and browser not in _windows:
            leave(page)
            page.remove_listener("pageerror", complain)
            _windows[browser] = replace(window, height=_HEIGHT)
        else:
            close(page.context)
    assert not complaints, complaints


def leave(page: Page) -> None:
    """What a test did to a page is undone, and so is what the page has stored."""
    page.unroute_all(behavior="wait")
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.context.set_offline(False)
    if page.url.startswith("http"):
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.mouse.move(0, 0)
    page.goto("about:blank")
    page.context.clear_cookies()
    page.set_viewport_size({"width": 1280, "height": _HEIGHT})


def close(context: BrowserContext) -> None:
    """Close a context when the handlers of its routes have ended.

    A handler that fetches while its page closes fails, and the failure falls to the next test.
    """
    for page in context.pages:
        page.unroute_all(behavior="wait")
    context.close()


def wait_for(page: Page, state: str = "ready") -> None:
    """Until the page says so: loading, ready, empty, error or rebuilding. A page that is ready
    stands still: no part is yet to arrive, which would move what a test presses.

    A locator waits without evaluating text in the page, which its policy would refuse.
    """
    page.locator(f'body[data-state="{state}"]').wait_for()
    if state != "ready":
        return
    expect(page.locator('[aria-busy="true"]')).to_have_count(0)
    if page.locator('body[data-form="picture"]').count() > 0:
        canvas = page.get_by_test_id("canvas")
        if canvas.is_visible():
            expect(canvas).to_have_attribute("data-drawn", "true")


_COUNT_DIFFERENT = """async (pictures) => {
  const [one, other] = await Promise.all(pictures.map(async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height);
  }));
  if (one.width !== other.width || one.height !== other.height) return Infinity;
  let different = 0;
  const differs = (at) => one.data[at] !== other.data[at];
  for (let at = 0; at < one.data.length; at += 4)
    if ([at, at + 1, at + 2].some(differs)) different += 1;
  return different;
}"""


def count_different_pixels(browser: Browser, one: bytes, other: bytes) -> float:
    """How many pixels of two screenshots differ; infinite where their sizes do."""
    with browser.new_context() as context:
        pictures = [b64encode(picture).decode() for picture in (one, other)]
        return float(context.new_page().evaluate(_COUNT_DIFFERENT, pictures))


def point_of(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the layout lies on the page, after zooming and panning.

    A window that has just changed its size is waited for: its picture follows in the next frame.
    """
    canvas = page.get_by_test_id("canvas")
    box = canvas.bounding_box()
    assert box is not None
    wide, high = (f"({floor(box[side])}|{ceil(box[side])})" for side in ("width", "height"))
    expect(canvas).to_have_attribute("data-size", re.compile(f"^{wide} {high}$"))
    scale, left, top = map(float, (canvas.get_attribute("data-transform") or "").split())
    return box["x"] + left + scale * x, box["y"] + top + scale * y


def by_id(page: Page, identifier: str) -> Locator:
    """The row of the accessible list for a node."""
    assert re.fullmatch(r"[A-Za-z0-9_-]+", identifier)
    return page.locator(f'[data-testid="list"] tr[data-id="{identifier}"]')
