"""An estate of many jobs and one of hostile names, as OpenLineage events for a running server.

    python -m bench.page.documents --url http://…    5,000 jobs and the hostile names
    python -m bench.page.documents --url http://… --jobs 0      the hostile names alone

The estate is seeded: the same jobs, tables and failures at every time. Look at the page with it, in
light and dark, at 1280 and 390 pixels.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

import requests

_BATCH: Final = 500
_TIMEOUT_SECONDS: Final = 600
_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACET: Final = "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json"
_AREAS: Final = ("sales", "finance", "people", "web", "supply", "risk", "growth", "shared")
#: Where tables live, and how the name of one in an area is spelled there.
_PLACES: Final = (
    ("s3://lake-raw", "{}/{}"), ("s3://lake-curated", "{}/{}"), ("s3://lake-mart", "{}/{}"),
    ("postgres://shop-db:5432", "shop.{}.{}"), ("kafka://events:9092", "{}.{}"),
    ("hdfs://old-cluster:8020", "/data/{}/{}"), ("bigquery", "warehouse.{}.{}"),
)  # fmt: skip
_PRODUCERS: Final = (
    "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
    "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3",
    "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/dbt",
    "https://example.org/own-runner",
)
#: Long without a break, right to left, markup, pictures, invisible, quotes, of a prototype.
HOSTILE: Final = (
    "x" * 500,
    "a_very_long_name_with_breaks_" * 16,
    "تقرير_المبيعات_الشهرية",
    "invoice\u202efdp.exe",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "orders 🧾👩‍👩‍👧‍👦🏳️‍🌈",
    "zero\u200bwidth\u200d\ufeffname",
    "line\nbreak\tand tab",
    "'); DROP TABLE jobs; --",
    "constructor",
    "Z̸̧̛͉a̵l̶g̷o̴" * 8,
)

Dataset = tuple[str, str]


def estate(jobs: int, now: datetime) -> Iterator[dict[str, Any]]:
    """A run of each job: it reads a few tables, sought-after ones more often, and writes one."""
    choice = random.Random(jobs)
    tables: list[Dataset] = [
        table(_PLACES[number % len(_PLACES)], area, f"source_{number:03d}")
        for number, area in enumerate(_AREAS * 12)
    ]
    sought = list(tables)
    for number in range(jobs):
        area = choice.choice(_AREAS)
        reads = sorted({choice.choice(sought) for _ in range(choice.randint(1, 4))})
        target = table(choice.choice(_PLACES), area, f"table_{number:05d}")
        at = now - timedelta(minutes=jobs - number)
        yield event(
            (f"{area}-{choice.randint(1, 3)}", f"build_{area}_table_{number:05d}"),
            reads,
            [target],
            at,
            state="FAIL" if choice.random() < 0.02 else "COMPLETE",
            producer=choice.choice(_PRODUCERS),
        )
        sought += [*reads, target, target]
        del sought[:-4_000]


def table(place: tuple[str, str], area: str, name: str) -> Dataset:
    return place[0], place[1].format(area, name)


def hostile_names(now: datetime) -> Iterator[dict[str, Any]]:
    """A chain through every hostile name, as a table, its job and its columns."""
    tables = [("s3://hostile", name) for name in HOSTILE]
    for number, (source, target) in enumerate(zip(tables, [*tables[1:], tables[0]], strict=True)):
        job = ("hostile", HOSTILE[number])
        yield event(job, [source], [target], now, columns=HOSTILE)


def event(
    job: tuple[str, str],
    inputs: Sequence[Dataset],
    outputs: Sequence[Dataset],
    at: datetime,
    *,
    state: str = "COMPLETE",
    producer: str = _PRODUCERS[0],
    columns: Sequence[str] = ("id", "amount", "updated_at"),
) -> dict[str, Any]:
    listed = [{"name": name, "type": "string"} for name in columns]
    schema = {"_producer": producer, "_schemaURL": _FACET, "fields": listed}
    return {
        "eventType": state, "eventTime": at.isoformat(), "producer": producer, "schemaURL": _SCHEMA,
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{job}{at}"))},
        "job": {"namespace": job[0], "name": job[1]},
        "inputs": [{"namespace": place, "name": name} for place, name in inputs],
        "outputs": [
            {"namespace": place, "name": name, "facets": {"schema": schema}}
            for place, name in outputs
        ],
    }  # fmt: skip


def send(url: str, events: Iterator[dict[str, Any]]) -> int:
    """The number of events that were accepted."""
    sent = 0
    while batch := list(islice(events, _BATCH)):
        reply = requests.post(f"{url}/api/v1/lineage/batch", json=batch, timeout=_TIMEOUT_SECONDS)
        reply.raise_for_status()
        sent += reply.json()["summary"]["successful"]
    return sent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page.documents", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--jobs", type=int, default=5_000)
    options = parser.parse_args()
    now = datetime.fromtimestamp(time.time(), UTC)
    print(f"{send(options.url, estate(options.jobs, now))} runs of the estate")
    print(f"{send(options.url, hostile_names(now))} runs of hostile names")


if __name__ == "__main__":
    main()
