"""How many names of a picture are read at first sight: whole, and at least 11 pixels high.

    python -m bench.page.legible --url http://…    a running server with recorded jobs

The canvas itself is watched: every text that it draws, its height on the screen and its place. A
name counts where the window shows all of it, on one line or broken over several.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.request
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from bench.page.measurement import browsing
from tests.e2e.page.browser import wait_for

_LEAST: Final = 11.0
_MOST: Final = 8  # jobs, tables and plans of each kind
_WATCH: Final = """
window.written = [];
const real = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  if (this.canvas.isConnected && this.canvas.closest('#canvas')) {
    const at = this.getTransform().transformPoint(new DOMPoint(x, y));
    const wide = this.measureText(text).width * this.getTransform().a;
    const letters = parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * this.getTransform().a;
    const inside = at.x >= 0 && at.y >= 0 && at.x + wide <= this.canvas.width && at.y <= this.canvas.height;
    const seen = at.x + wide > 0 && at.y + letters / 2 > 0 && at.x < this.canvas.width && at.y - letters / 2 < this.canvas.height;
    window.written.push([text, letters / devicePixelRatio, inside, seen]);
  }
  return real.call(this, text, x, y, ...rest);
};
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...given) {
  if (this.canvas.isConnected && this.canvas.closest('#canvas')) window.written = [];
  return clear.apply(this, given);
};
"""  # noqa: E501 - a program of the page


@dataclass(frozen=True)
class Sight:
    """Of the names of a picture those read at first sight, and those of which a part is in the
    window: a name that is cut by its edge, or by its own box, is seen and not read.
    """

    names: int
    read: int
    seen: int


def look(page: Page, link: str) -> Sight:
    page.goto(link)
    wait_for(page)
    page.wait_for_function("window.written.length > 0")
    written = page.evaluate("window.written")
    page.goto(f"{link}&as=list")
    wait_for(page)
    names = _names(page)
    whole = _heights([(text, height) for text, height, inside, _ in written if inside])
    part = _heights([(text, height) for text, height, _, seen in written if seen])
    read = sum(whole.get(name, 0.0) >= _LEAST for name in names)
    cut = [text.partition("…") for text in part if "…" in text]
    seen = sum(name in part or _stands_for(cut, name) for name in names)
    return Sight(len(names), read, seen)


def _heights(written: list[tuple[str, float]]) -> dict[str, float]:
    """Of names on one line or broken over two, without spaces."""
    lines = [(_squeezed(text), height) for text, height in written]
    return dict(lines) | {item + other: height for (item, height), (other, _) in pairwise(lines)}


def _stands_for(cut: list[tuple[str, str, str]], name: str) -> bool:
    """Whether one of the cut names is this one: ``orde…ems`` => ``order_items``."""
    return any(name.startswith(begin) and name.endswith(end) for begin, _, end in cut)


def _names(page: Page) -> list[str]:
    rows = page.locator('[data-testid="list"] tr[data-id]:not(.row-column) th')
    return [_squeezed(text) for text in rows.all_inner_texts()]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _links(url: str) -> list[tuple[str, str]]:
    result = []
    for kind, path in (("job", "jobs"), ("lineage", "datasets")):
        for item in _items(url, f"/graph/{path}?limit={_MOST * 3}")[::3][:_MOST]:
            link = {"view": "lineage", "node": item["id"], "depth": 6, "tab": ""}
            result.append((f"{kind} {item.get('name') or item['uri']}", f"/?{urlencode(link)}"))
    return result


def _items(url: str, path: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        items: list[dict[str, Any]] = json.load(answer)["items"]
        return items


def _walk(browser: Browser, url: str, width: int) -> None:
    context = browser.new_context(
        base_url=url, viewport={"width": width, "height": 800}, bypass_csp=True
    )
    page = context.new_page()
    page.add_init_script(_WATCH)
    total = [0, 0, 0]
    for name, link in _links(url):
        sight = look(page, link)
        print(f"{width}: {name[:60]}: {sight.read} of {sight.names} read, {sight.seen} seen")
        total = [a + b for a, b in zip(total, (sight.names, sight.read, sight.seen), strict=True)]
    names, read, seen = total
    print(f"{width}: {read} of {names} names read at first sight ({100 * read / names:.0f} %)")
    print(
        f"{width}: {read} of {seen} names in view ({100 * read / max(1, seen):.0f} %)", flush=True
    )
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page.legible", description=__doc__)
    parser.add_argument("--url", required=True, help="a running server with recorded jobs")
    options = parser.parse_args()
    with browsing() as browser:
        for width in (1280, 390):
            _walk(browser, options.url, width)


if __name__ == "__main__":
    main()
