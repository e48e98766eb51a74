"""Tasks of an analyst and of a person on call, on the sample: how many clicks each takes.

    python -m bench.page.tasks --url http://…    a running server with the sample loaded
    python -m bench.page.tasks --url http://… --by keyboard --width 390
    python -m bench.page.tasks --url http://… --on estate      one with bench.page.documents

Every task begins at the home page. Words typed into the search are no clicks, and neither are the
keys that move the focus; a task counts as done when the page shows the answer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller

from playwright.sync_api import Browser, Locator, Page, expect

from bench.page.measurement import browsing
from tests.e2e.page.browser import wait_for

_TIMEOUT = 60_000
_WIDE = 1280
_MOST_MOVES = 250


@dataclass
class Reader:
    """Somebody with a mouse; ``clicks`` so far."""

    page: Page
    clicks: int = field(default=0)

    def press(self, target: Locator) -> None:
        """Press what stands still: nothing that is yet to arrive can move it away."""
        wait_for(self.page)
        target.click()
        self.clicks += 1

    def link(self, name: str) -> None:
        """The first link of this name; the page that it leads to is there at the end. Else the next
        step might take a link of the page before.
        """
        self.press(self.page.get_by_role("link", name=name, exact=True).first)
        wait_for(self.page)

    def test_id(self, name: str) -> None:
        self.press(self.page.get_by_test_id(name).first)

    def find(self, words: str, kind: str = "Tables") -> None:
        """The first result of a kind."""
        self.page.get_by_test_id("search-input").fill(words)
        group = self.page.get_by_test_id("results").get_by_role("group", name=kind)
        self.press(group.get_by_role("option").first)
        wait_for(self.page)

    def sees(self, words: str) -> None:
        expect(self.page.locator("body")).to_contain_text(words, timeout=_TIMEOUT)


class KeyboardReader(Reader):
    """Somebody without a mouse: Tab leads to the target, arrow keys through tabs and results."""

    def press(self, target: Locator) -> None:
        expect(target).to_be_visible(timeout=_TIMEOUT)
        wait_for(self.page)  # what comes later may stand before what Tab has reached
        self._reach(target)
        box = target.get_attribute("type") == "checkbox"
        self.page.keyboard.press("Space" if box else "Enter")
        self.clicks += 1

    def find(self, words: str, kind: str = "Tables") -> None:
        self.page.keyboard.press("/")
        self.page.keyboard.type(words)
        group = self.page.get_by_test_id("results").get_by_role("group", name=kind)
        first = group.get_by_role("option").first
        expect(first).to_be_visible(timeout=_TIMEOUT)
        self.press(first)
        wait_for(self.page)

    def _reach(self, target: Locator) -> None:
        result = target.get_attribute("role") == "option"
        for _ in range(_MOST_MOVES):
            if result and target.get_attribute("aria-selected") == "true":
                return
            if target.evaluate("target => target === document.activeElement"):
                return
            beside = target.evaluate(
                "target => document.activeElement?.closest('[role=tablist]')?.contains(target)"
            )
            self.page.keyboard.press("ArrowDown" if result else "ArrowRight" if beside else "Tab")
        raise AssertionError(f"no key leads to {target}")


READERS = {"mouse": Reader, "keyboard": KeyboardReader}


@dataclass(frozen=True)
class Task:
    name: str
    most: int
    steps: Callable[[Reader], None]


def _history(reader: Reader, way: str) -> None:
    reader.find("daily_revenue")
    reader.press(reader.page.get_by_test_id("timeline-menu").locator("summary"))
    times = reader.page.get_by_test_id("timeline-list")
    reader.press(times.get_by_role("link", name=way).last)


def _as_of(reader: Reader) -> None:
    _history(reader, "Open as of here")
    reader.sees("As it was at")


def _since(reader: Reader) -> None:
    _history(reader, "Compare with now")
    expect(reader.page.locator('body[data-view="diff"]')).to_be_visible(timeout=_TIMEOUT)


def _all_results(reader: Reader) -> None:
    reader.page.get_by_test_id("search-input").fill("order")
    reader.test_id("all-results")
    reader.press(
        reader.page.get_by_role("navigation", name="Narrow the results")
        .get_by_role("link", name="Tables")
    )  # fmt: skip
    expect(reader.page.get_by_test_id("found-items")).to_be_visible()


def _picture(reader: Reader) -> None:
    reader.find("daily_revenue")
    reader.press(reader.page.get_by_test_id("share").locator("summary"))
    with reader.page.expect_download():
        reader.test_id("save-svg")


def _compare_runs(reader: Reader) -> None:
    reader.link("conversion")
    wait_for(reader.page)
    for number in (0, 1):
        reader.press(reader.page.get_by_test_id("pick-run").nth(number))
    reader.press(reader.page.get_by_test_id("compare-runs").get_by_role("link"))
    expect(reader.page.get_by_test_id("both-executions").first).to_be_visible(timeout=_TIMEOUT)


def _steps(*actions: Callable[[Reader], None]) -> Callable[[Reader], None]:
    def run(reader: Reader) -> None:
        for action in actions:
            action(reader)

    return run


_find = partial(methodcaller, "find")
_link = partial(methodcaller, "link")
_press = partial(methodcaller, "test_id")
_sees = partial(methodcaller, "sees")


def _documents(reader: Reader) -> None:
    reader.press(reader.page.locator("#more > summary"))
    reader.link("Documents")
    reader.test_id("state-all")
    expect(reader.page.get_by_test_id("journal-items")).to_be_visible(timeout=_TIMEOUT)


ANALYST = (
    Task("where a table comes from", 1, _steps(_find("daily_revenue"), _sees("upstream and"))),
    Task("how a column is computed", 1, _steps(_find("revenue_eur", "Columns"), _sees("Column"))),
    Task("all that depends on a table", 2,
         _steps(_find("customers"), _link("Impact"), _sees("downstream"))),
    Task("the columns of a table", 2,
         _steps(_find("customers"), _press("tab-schema"), _sees("Schema ·"))),
    Task("the last writer of a table", 1, _steps(_find("customers"), _sees("Last writer"))),
    Task("a table as of an earlier write", 3, _as_of),
    Task("the changes since a write", 3, _since),
    Task("everything of a name, tables alone", 2, _all_results),
    Task("the SQL of a job", 1, _steps(_find("daily_revenue", "Jobs"), _sees("select"))),
    Task("a picture to take away", 3, _picture),
    Task("the table that a file belongs to", 1,
         _steps(_find("s3a://shop-lake/curated/customers/part-00000.parquet"),
                _sees("s3://shop-lake/curated/customers"))),
)  # fmt: skip
ON_CALL = (
    Task("the failures of the last day", 0, _sees("failed in the last day")),
    Task("whether a job is late", 0, _sees("late")),
    Task("why a job failed", 1, _steps(_link("conversion"), _sees("division by zero"))),
    Task("the changes since it last worked", 1,
         _steps(_link("conversion"), _sees("Last good run"))),
    Task("its inputs and outputs", 1, _steps(_link("conversion"), _sees("mart.conversion"))),
    Task("affected items", 2, _steps(_link("conversion"), _link("Impact"), _sees("downstream"))),
    Task("the failed run beside the good one", 4, _compare_runs),
    Task("all failed runs", 1, _steps(_link("All failed runs"), _sees("division by zero"))),
    Task("failed attempts since a table's last write", 1,
         _steps(_find("mart.conversion"), _sees("failed attempt"))),
    Task("whether an event has arrived", 3, _documents),
    Task("a run by words of its error", 1,
         _steps(_find("division by zero", "Runs"), _sees("ERROR: division by zero"))),
)  # fmt: skip


def _more(words: str) -> Callable[[Reader], None]:
    """A page that stands in the menu."""

    def run(reader: Reader) -> None:
        reader.press(reader.page.locator("#more > summary"))
        reader.link(words)

    return run


def _listed(words: str, control: str, value: str = "") -> Callable[[Reader], None]:
    """A list from the header, narrowed by one of its controls."""

    def run(reader: Reader) -> None:
        reader.link(words)
        target = reader.page.get_by_test_id(control)
        if value:
            target.fill(value)
        else:
            reader.press(target)
        wait_for(reader.page)

    return run


def _two_runs(reader: Reader) -> None:
    reader.find("build_risk_table_00050", "Jobs")
    reader.link("Open job")
    for number in (0, 1):
        reader.press(reader.page.get_by_test_id("pick-run").nth(number))
    reader.press(reader.page.get_by_test_id("compare-runs").get_by_role("link"))
    expect(reader.page.locator('body[data-view="diff"]')).to_be_visible(timeout=_TIMEOUT)


def _csv(reader: Reader) -> None:
    reader.find("table_04000")
    reader.link("Impact")
    with reader.page.expect_download():
        reader.test_id("export-csv")


#: The tasks of both on an estate of 5,000 jobs, and ten more, the last ones of the list.
ESTATE = (
    Task("origin of a column", 1, _steps(_find("table_04000.amount", "Columns"), _sees("hops"))),
    Task("what breaks if a column is dropped", 2,
         _steps(_find("source_001.amount", "Columns"), _link("Impact"), _sees("downstream"))),
    Task("a table by a misspelt name", 1, _steps(_find("tabel_04000"), _sees("table_04000"))),
    Task("two runs of a job compared", 5, _two_runs),
    Task("owner of a table", 1, _steps(_find("table_04000"), _sees("team:"))),
    Task("all tables of an owner", 2, _steps(_find("table_04000"), _steps(
        lambda reader: reader.press(
            reader.page.get_by_test_id("panel").get_by_role("link", name="team:").first)),
        _sees("tables"))),
    Task("tables that no job reads", 2, _steps(_listed("Tables", "control-unread"),
                                               _sees("tables"))),
    Task("what failed last night", 0, _sees("No space left on device")),
    Task("whom a failure affects", 0, _sees("affects at least")),
    Task("why a job failed", 0, _sees("lost executor")),
    Task("what is late", 0, _sees("usually every 1 day")),
    Task("blast radius as CSV", 3, _csv),
    Task("runs by words of their error", 1, _steps(
        _listed("Runs", "control-q", "lost executor"), _sees("lost executor"))),
    Task("whether an event has arrived", 3, _documents),
    Task("last writer of a table", 1, _steps(_find("table_04000"), _sees("Last writer"))),
    Task("jobs of an owner", 1, _steps(_listed("Jobs", "control-owner", "team:sales"),
                                       _sees("jobs"))),
    Task("late jobs as a list", 2, _steps(_listed("Jobs", "control-late"),
                                          _sees("build_risk_table_00100"))),
    Task("failed runs as a list", 1, _steps(_link("All failed runs"), _sees("failed"))),
    Task("tables of an area of the map", 1, _steps(
        lambda reader: reader.press(
            reader.page.get_by_test_id("map").get_by_role("link", name="lake-mart").first),
        _sees("sales"))),
    Task("columns named like one", 1, _steps(_listed("Columns", "control-q", "updated"),
                                             _sees("updated_at"))),
    Task("new: rows of a table over time", 2, _steps(
        _find("build_web_table_00000", "Jobs"), _press("tab-history"), _sees("Runs"))),
    Task("new: where a table of BigQuery comes from", 1, _steps(
        _find("bigquery table_04"), _sees("upstream"))),
    Task("new: a topic's readers", 1, _steps(_find("kafka source_004"), _sees("job"))),
    Task("new: the job that wrote a file", 1, _steps(
        _find("s3a://lake-raw/sales/source_000/part-00000.parquet"), _sees("source_000"))),
    Task("new: small tables", 1, _steps(_listed("Tables", "control-maxRows", "2000"),
                                        _sees("table"))),
    Task("new: jobs that fail with one error", 1, _steps(
        lambda reader: reader.press(reader.page.get_by_text("more jobs").first),
        _sees("build_"))),
    Task("new: what a whole area feeds", 2, _steps(_more("Impact"), _sees("downstream"))),
    Task("new: a hostile name is text", 1, _steps(_find("<img src=x"), _sees("<img src=x"))),
    Task("new: everything of a name", 1, _steps(
        lambda reader: reader.page.get_by_test_id("search-input").fill("table_0123"),
        _press("all-results"), _sees("results"))),
    Task("new: the storage that documents take", 2, _steps(_more("Storage"), _sees("document"))),
)  # fmt: skip


def at_home(page: Page, by: str = "mouse") -> Reader:
    """A reader on the home page; ``by`` is one of READERS."""
    page.goto("/?view=home")
    wait_for(page)
    return READERS[by](page)


@contextmanager
def _window(browser: Browser, url: str, width: int) -> Iterator[Page]:
    context = browser.new_context(base_url=url, viewport={"width": width, "height": 800})
    try:
        context.set_default_timeout(_TIMEOUT)
        yield context.new_page()
    finally:
        context.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.page.tasks", description=__doc__)
    parser.add_argument("--url", required=True, help="a running server with it loaded")
    parser.add_argument("--by", choices=READERS, default="mouse")
    parser.add_argument("--on", choices=("sample", "estate"), default="sample")
    parser.add_argument("--width", type=int, default=_WIDE, help="of the window, in pixels")
    options = parser.parse_args()
    missed = 0
    with browsing() as browser:
        lists = {
            "sample": (("analyst", ANALYST), ("on call", ON_CALL)),
            "estate": (("5,000 jobs", ESTATE),),
        }
        for role, tasks in lists[options.on]:
            for task in tasks:
                with _window(browser, options.url, options.width) as page:
                    reader = at_home(page, options.by)
                    try:
                        task.steps(reader)
                        done = "" if reader.clicks <= task.most else "  MORE THAN STATED"
                    except Exception as failure:  # a task that cannot be done is a finding too
                        done = f"  NOT DONE: {str(failure).splitlines()[0][:120]}"
                missed += bool(done)
                print(
                    f"{role}: {task.name}: {reader.clicks} of {task.most} clicks{done}", flush=True
                )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
