"""See the package."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from bench.reads.lake import Hub, Lake, rerun
from bench.reads.plans import page, store_plans
from bench.reads.questions import Cost, Question, ask, hub_questions, measure, questions
from bench.reads.stores import Stores, open_stores
from graph_model import labels
from graph_model.facts import ExecutionRow, Facts
from graph_model.stores.database import chunks

_WARM: Final = 20
_MINUTES: Final = 24 * 60


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reads", description=__doc__)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20, help="of each question")
    parser.add_argument("--days", type=int, default=0, help="on which every job runs once more")
    parser.add_argument("--reruns", type=int, default=1000, help="of each of 100 jobs")
    parser.add_argument("--plans", type=int, default=40_000, help="stored, for the page of one")
    parser.add_argument("--readers", type=int, default=5000, help="jobs that read one table")
    parser.add_argument("--only", default="", help="questions whose name holds this")
    parser.add_argument("--heap", type=int, default=2048, help="heap of the engine, MB")
    options = parser.parse_args()
    lake = Lake(options.jobs, options.layers)
    with tempfile.TemporaryDirectory() as folder, open_stores(Path(folder), options.heap) as stores:
        known = questions(stores, lake)
        listed = [entry for entry in known if options.only in entry.name]
        if not listed:
            parser.error(
                f"--only: expected part of one of {', '.join(item.name for item in known)}"
            )
        load(stores, lake.facts())
        if options.days:
            add_days(stores, lake, options.days)
        before = compare(stores, listed, options.requests)
        if options.reruns:
            add_reruns(stores, lake, options.reruns)
            after = compare(stores, listed, options.requests)
            for left, first, second in zip(listed, before, after, strict=True):
                print(f"{left.name:<28} re-runs: {second.cpu / first.cpu:.2f} times the CPU")
        if options.plans:
            store_plans(stores, options.plans)
            question = Question(
                f"a plan page of {options.plans:,}", lambda n: page(n, options.plans)
            )
            compare(stores, [question], options.requests)
        if options.readers:
            load(stores, Hub(options.readers).facts())
            compare(stores, hub_questions(stores), options.requests // 2)


def load(stores: Stores, facts: Iterable[Facts]) -> None:
    began = time.monotonic()
    vertices, edges = stores.load(facts)
    print(f"{vertices:,} vertices, {edges:,} edges in {time.monotonic() - began:.0f} s", flush=True)


def compare(stores: Stores, listed: Sequence[Question], count: int) -> list[Cost]:
    """Each question and its floor in turns, after some rounds to warm up about other nodes."""
    print(
        f"{'':<28}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'nodes':>8}{'edges':>8}"
        f"{'floor':>9}{'CPU':>9}{'times':>7}"
    )
    costs = []
    for item in listed:
        works = [partial(_asked, stores, item)] + ([item.floor] if item.floor else [])
        measure(stores, _WARM, *works)
        cost, *floor = measure(stores, count, *(partial(_later, work) for work in works))
        print(describe(item.name, cost, floor[0] if floor else None), flush=True)
        costs.append(cost)
    return costs


def _asked(stores: Stores, question: Question, number: int) -> object:
    return ask(stores, question.path(number))


def _later(work: Callable[[int], object], number: int) -> object:
    """About nodes that the rounds to warm up were not about."""
    return work(number + _WARM)


def describe(name: str, cost: Cost, floor: Cost | None) -> str:
    """One line of the table."""
    line = (
        f"{name:<28}{cost.percentile(0.5):>9.1f}{cost.percentile(0.95):>9.1f}{cost.cpu:>9.1f}"
        f"{cost.size:>8.0f}{cost.edges:>8.0f}"
    )
    if floor is None:
        return line
    return line + f"{floor.percentile(0.5):>9.1f}{floor.cpu:>9.1f}{cost.cpu / floor.cpu:>7.2f}"


def add_reruns(stores: Stores, lake: Lake, count: int) -> None:
    """So many later executions of each of 100 jobs, evenly spread."""
    rows: list[ExecutionRow] = []
    for job in range(0, lake.jobs, max(1, lake.jobs // 100)):
        page = stores.catalogue.executions(target=lake.dataset_id(job), limit=1)
        rows += [rerun(page.items[0], number) for number in range(1, count + 1)]
    stores.catalogue.copy(rows)
    print(f"{len(rows):,} more executions")


def add_days(stores: Stores, lake: Lake, days: int) -> None:
    """A daily run of every job; each fourth job appends, the others overwrite."""
    for jobs in chunks(range(lake.jobs)):
        rows: list[ExecutionRow] = []
        for job in jobs:
            page = stores.catalogue.executions(target=lake.dataset_id(job), limit=1)
            first = page.items[0]._replace(mode=labels.OVERWRITE if job % 4 else labels.APPEND)
            rows += [rerun(first, _MINUTES * day) for day in range(1, days + 1)]
        stores.catalogue.copy(rows)
    print(f"{lake.jobs * days:,} more executions")


if __name__ == "__main__":
    main()
