"""One browser, and its own figures."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as BrowserTimeout

from tests.e2e.page.browser import ARGUMENTS, chromium_path, point_of

_READY: Final = 'body[data-state="ready"]'
_MEGABIT: Final = 1_000_000 / 8
_DRAG_STEPS: Final = 40


@dataclass(frozen=True)
class View:
    seconds: float
    kilobytes: float
    requests: int


@contextmanager
def browsing() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=[*ARGUMENTS, "--enable-precise-memory-info"]
        )
        yield browser
        browser.close()


def first_views(browser: Browser, url: str) -> tuple[View, View]:
    """With an empty cache, then with a full one, over 10 Mbit/s and 80 ms.

    On busy cores Chromium's emulation of that network stands still in about one of a hundred views:
    the server has sent all, and the browser reads no byte more of any connection. Such a view says
    nothing of the page: it is left, said, and taken once more.
    """
    try:
        return _first_views(browser, url)
    except BrowserTimeout:
        print("not ready in 30 s, perhaps the emulated network stood still: once more", flush=True)
        return _first_views(browser, url)


def _first_views(browser: Browser, url: str) -> tuple[View, View]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False, "latency": 80,
            "downloadThroughput": 10 * _MEGABIT, "uploadThroughput": 10 * _MEGABIT,
        },
    )  # fmt: skip
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    views = []
    for _ in range(2):
        sizes.clear()
        began = time.monotonic()
        page.goto(url, wait_until="commit")
        page.locator(_READY).wait_for()
        seconds = time.monotonic() - began
        on_wire = [size for size in sizes if size > 0]
        views.append(View(seconds, sum(on_wire) / 1000, len(on_wire)))
    context.close()
    return views[0], views[1]


@contextmanager
def showing(
    browser: Browser,
    url: str,
    reply: dict[str, Any],
    view: str = "overview",
    path: str = "/graph/overview",
) -> Iterator[Page]:
    """A view (as its link names it), whose question to this path is answered with this reply."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    page = context.new_page()
    body = json.dumps(reply)
    page.route(
        f"**{path}?*",
        lambda route: route.fulfill(body=body, content_type="application/json"),
    )
    page.add_init_script(
        "window.replied = 0; const real = window.fetch; window.fetch = async (...given) => {"
        " const answer = await real(...given);"
        f" if (String(given[0]).includes('{path}')) window.replied = performance.now();"
        " return answer; };"
        "new MutationObserver(() => { const canvas = document.querySelector('[data-drawn]');"
        " if (canvas && window.replied && !window.painted) requestAnimationFrame(() =>"
        " { window.painted ??= performance.now(); }); })"
        ".observe(document, {subtree: true, attributes: true, attributeFilter: ['data-drawn']});"
    )
    page.goto(f"{url}/?view={view}")
    page.locator(_READY).wait_for(timeout=60_000)
    page.wait_for_function("window.painted > 0")
    yield page
    context.close()


def milliseconds_to_paint(page: Page) -> float:
    return float(page.evaluate("window.painted - window.replied"))


def milliseconds_to_open(page: Page, node: dict[str, Any], reply: dict[str, Any]) -> float:
    """From the press on the downstream handle of a node to the next paint with more nodes."""
    body = json.dumps(reply)
    page.route(
        "**/graph/lineage?*",
        lambda route: route.fulfill(body=body, content_type="application/json"),
    )
    page.evaluate(
        "window.pressed = window.opened = 0;"
        "addEventListener('pointerup', () => { window.pressed = performance.now(); }, true);"
        "new MutationObserver(() => requestAnimationFrame(() => setTimeout(() =>"
        " { window.opened ||= performance.now(); }))).observe(document.getElementById('canvas'),"
        " {attributes: true, attributeFilter: ['data-nodes']});"
    )
    point = point_of(page, node["x"] + node["width"] / 2, node["y"] + node["height"] / 2)
    page.mouse.click(*point)
    page.wait_for_function("window.opened > 0")
    return float(page.evaluate("window.opened - window.pressed"))


def frames_while_dragging(page: Page) -> tuple[float, float]:
    """Median and longest time between two frames, ms."""
    page.evaluate(
        "window.frames_seen = []; let last = performance.now(); const tick = (now) => {"
        " window.frames_seen.push(now - last); last = now; requestAnimationFrame(tick); };"
        " requestAnimationFrame(tick);"
    )
    page.mouse.move(640, 500)
    page.mouse.down()
    for step in range(_DRAG_STEPS):
        page.mouse.move(640 - 6 * step, 500 - 3 * step)
    page.mouse.up()
    seen = [float(item) for item in page.evaluate("window.frames_seen")][2:]
    return statistics.median(seen), max(seen)


def heap_megabytes(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return float(page.evaluate("performance.memory.usedJSHeapSize")) / 1_000_000
