"""See the package."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from bench.ingest.service import Service
from bench.page.estates import beyond, large_plan, many_columns, many_nodes
from bench.page.measurement import (
    View,
    browsing,
    first_views,
    frames_while_dragging,
    heap_megabytes,
    milliseconds_to_open,
    milliseconds_to_paint,
    showing,
)

_OPENINGS = 200
_EVERY = 50
_PLAN = ("plan&plan=large", "/graph/plans/large")
_LINEAGE = ("lineage&node=n00000", "/graph/lineage")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--url", help="a running server, instead of one of its own")
    options = parser.parse_args()
    if options.url:
        _views(options.url)
        _pictures(options.url)
        return
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder) / "data", {}) as service:
        url = f"http://127.0.0.1:{service.port}"
        _views(url)
        _pictures(url)


def _views(url: str) -> None:
    with browsing() as browser:
        for name, view in zip(("cold", "warm"), first_views(browser, f"{url}/"), strict=True):
            print(f"first view, {name}: {_spell(view)}", flush=True)


def _spell(view: View) -> str:
    return f"{view.seconds:.2f} s, {view.kilobytes:.0f} kB in {view.requests} requests"


def _pictures(url: str) -> None:
    graph = ("overview", "/graph/overview")
    pictures = {
        "1,000 nodes, 1,500 edges": (many_nodes(1_000, 1_500), *graph),
        "300 tables x 30 columns": (many_columns(300, 30), *graph),
        "plan of 300 operations": (large_plan(300, 20), *_PLAN),
    }
    with browsing() as browser:
        for name, shown in pictures.items():
            with showing(browser, url, *shown) as page:
                paint = milliseconds_to_paint(page)
                usual, longest = frames_while_dragging(page)
                print(
                    f"{name}: {paint:.0f} ms from reply to paint; frames while dragging: "
                    f"median {usual:.0f} ms, longest {longest:.0f} ms",
                    flush=True,
                )
        _handle(browser, url)
        with showing(browser, url, many_nodes(200, 300)) as page:
            heaps = []
            for opening in range(_OPENINGS):
                page.get_by_test_id("refresh").click()
                page.locator('body[data-state="ready"]').wait_for()
                if opening % _EVERY == _EVERY - 1:
                    heaps.append(heap_megabytes(page))
            listed = ", ".join(f"{heap:.1f}" for heap in heaps)
            print(f"heap after each {_EVERY} openings, MB: {listed}", flush=True)


def _handle(browser: Browser, url: str) -> None:
    reply = many_nodes(200, 300)
    node = reply["nodes"][0]
    node["more"] = {"upstream": 0, "downstream": 12}
    with showing(browser, url, {**reply, "focus": node["id"]}, *_LINEAGE) as page:
        opened = milliseconds_to_open(page, node, beyond(reply, node, 12))
        print(f"a handle opened among 200 nodes: {opened:.0f} ms from press to paint", flush=True)


if __name__ == "__main__":
    main()
