"""Tables that no visible job reads, where many hidden ones do; tables by the rows of their last
write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph_model.answers import datasets as dataset_answers
from graph_model.answers.datasets import DatasetListing, datasets
from graph_model.lineage import Partial
from tests.projections import SmallHeadwater, lineage_event, small_headwater

READERS = ("first", "second", "third")
ROWS = {"empty": 0, "few": 3, "many": 5_000, "unknown": None}


def event(job: str, target: str, source: str, rows: int | None = None) -> Any:
    facets = {} if rows is None else {"outputStatistics": {"rowCount": rows}}
    return lineage_event({
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T02:00:00Z",
        "producer": "https://example.org/etl",
        "run": {"runId": job},
        "job": {"namespace": "n", "name": job},
        "inputs": [{"namespace": "s3://lake", "name": source}],
        "outputs": [{"namespace": "s3://lake", "name": target, "outputFacets": facets}],
    })  # fmt: skip


@pytest.fixture(scope="module")
def estate() -> Iterator[SmallHeadwater]:
    """Three jobs read one table, and other jobs write tables of different sizes."""
    headwater = small_headwater()
    headwater.accept(*(event(reader, f"of {reader}", "read") for reader in READERS))
    headwater.accept(*(event(f"load {name}", name, "raw", rows) for name, rows in ROWS.items()))
    headwater.project()
    yield headwater
    headwater.close()


def listed(estate: SmallHeadwater, hidden: tuple[str, ...] = (), **asked: Any) -> DatasetListing:
    jobs = estate.catalogue.list_jobs(hidden=frozenset()).items
    ids = frozenset(summary.job.id for summary in jobs if summary.job.name in hidden)
    sources = replace(estate.sources, hidden=ids)
    return datasets(sources, query="", limit=99, cursor=None, at=None, **asked)


def unread(estate: SmallHeadwater, hidden: tuple[str, ...]) -> tuple[bool, Partial | None]:
    """Whether the table that the three read is listed as unread; what bounded the answer."""
    listing = listed(estate, hidden, unread=True)
    return "read" in [item.label for item in listing.page.items], listing.partial


def test_a_reader_behind_hidden_ones_counts_whichever_it_is(
    estate: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine chooses which edges survive a cut."""
    monkeypatch.setattr(dataset_answers, "_READERS_SEEN", 1)
    for visible in READERS:
        others = tuple(reader for reader in READERS if reader != visible)
        assert unread(estate, others) == (False, None), visible
    assert unread(estate, READERS) == (True, None), "all of its readers were looked at"


def test_the_reply_says_where_not_all_readers_of_an_unread_table_were_looked_at(
    estate: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_answers, "_READERS_SEEN", 1)
    monkeypatch.setattr(dataset_answers, "_READERS_MOST", 2)
    assert unread(estate, READERS) == (True, Partial("hub", 2))
    assert unread(estate, ()) == (False, None), "no table that is listed has so many"
    assert listed(estate).partial is None


@pytest.mark.parametrize(
    ("least", "most", "labels"),
    [
        (3, None, ["few", "many"]),
        (None, 3, ["empty", "few"]),
        (3, 3, ["few"]),
        (0, None, ["empty", "few", "many"]),
        (None, 0, ["empty"]),
        (5_001, None, []),
    ],
)
def test_tables_are_filtered_by_the_rows_of_their_last_write(
    estate: SmallHeadwater, least: int | None, most: int | None, labels: list[str]
) -> None:
    page = listed(estate, least_rows=least, most_rows=most).page
    assert ([item.label for item in page.items], page.total) == (labels, len(labels))
