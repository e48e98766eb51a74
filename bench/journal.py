"""How many documents a second the journal makes durable: threads, databases, repeats.

    python -m bench.journal                                   SQLite in a folder here
    python -m bench.journal --url postgresql://me@host/db     an empty PostgreSQL database

Every answer counted here came after the fsync of its own transaction. ``pair`` is a plan and its
event, as two requests; ``repeat`` sends bytes that are known already.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from sqlalchemy import event

from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentKind, Receipt, Submission, content_hash
from graph_model.stores.journal import Journal

_OPERATIONS: Final = 40
_THREADS: Final = (1, 4, 16)


def a_pair(number: int) -> tuple[Submission, Submission]:
    """A plan of about 12 kB and its event, like no other pair."""
    plan_id = f"00000000-0000-4000-8000-{number:012d}"
    operations = [
        {"id": f"op-{place}", "name": "Project", "params": {"text": f"column {place} of {number}"}}
        for place in range(_OPERATIONS * 3)
    ]
    plan = {"id": plan_id, "name": f"job {number}", "operations": operations}
    done = {"planId": plan_id, "timestamp": 1_700_000_000_000 + number, "durationNs": 1}
    return _submission(PLAN_KIND, plan_id, plan), _submission(EVENT_KIND, plan_id, done)


def _submission(kind: DocumentKind, plan_id: str, document: object) -> Submission:
    body = json.dumps(document).encode()
    content = content_hash(kind, "1.2", body)
    return Submission(kind, "1.2", plan_id, "", plan_id, content, body)


def accept_pair(journal: Journal, number: int) -> None:
    for item in a_pair(number):
        journal.accept([item], Receipt(1_700_000_000_000, "", "bench", item.content_hash))


def repeat(journal: Journal, number: int) -> None:
    for item in a_pair(number):
        raw_hash = item.content_hash
        if not journal.acknowledge(raw_hash, "", Receipt(1_700_000_000_001, "", "bench", raw_hash)):
            raise AssertionError(f"pair {number} is not known")


def measure(
    journal: Journal,
    work: Callable[[Journal, int], None],
    numbers: Sequence[int],
    threads: int,
) -> float:
    """Pairs a second."""
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda number: work(journal, number), numbers))
    return len(numbers) / (time.perf_counter() - began)


def main(arguments: Sequence[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__, add_help=True)
    options.add_argument("--url", default="")
    options.add_argument("--pairs", type=int, default=1500, help="of each measurement")
    given = options.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        engine = open_database(given.url or Path(folder) / "headwater.db")
        journal = Journal(engine)
        commits: list[object] = []
        event.listen(engine, "commit", commits.append)
        print(f"{engine.dialect.name}, pairs a second (commits a pair)")
        start = journal.summary().received
        for threads in _THREADS:
            numbers = range(start, start + given.pairs)
            start += given.pairs
            for name, work in (("pair", accept_pair), ("repeat", repeat)):
                before = len(commits)
                rate = measure(journal, work, numbers, threads)
                shared = (len(commits) - before) / given.pairs
                print(f"{threads:>3} threads  {name:<7} {rate:>8,.0f}  ({shared:.2f})")
        journal.close()


if __name__ == "__main__":
    main(sys.argv[1:])
