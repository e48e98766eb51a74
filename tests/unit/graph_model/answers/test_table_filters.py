"""Tables that no visible job reads, where many hidden ones do; tables with columns that none reads;
tables by the rows of their last write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph_model.answers import datasets as dataset_answers
from graph_model.answers.datasets import DatasetListing, UnreadColumns, datasets
from graph_model.lineage import Partial
from tests.projections import SmallHeadwater, lineage_event, small_headwater

READERS = ("first", "second", "third")
ROWS = {"empty": 0, "few": 3, "many": 5_000, "unknown": None}


def event(job: str, source: str, target: str = "", *, read: Any = None, written: Any = None) -> Any:
    """A run of a job with one input and one output, "of <job>" by default, and their facets."""
    lake = {"namespace": "s3://lake"}
    return lineage_event({
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T02:00:00Z",
        "producer": "https://example.org/etl",
        "run": {"runId": job},
        "job": {"namespace": "n", "name": job},
        "inputs": [{**lake, "name": source, "facets": read or {}}],
        "outputs": [{**lake, "name": target or f"of {job}", **(written or {})}],
    })  # fmt: skip


def rows(count: int | None) -> Any:
    return count if count is None else {"outputFacets": {"outputStatistics": {"rowCount": count}}}


@pytest.fixture(scope="module")
def estate() -> Iterator[SmallHeadwater]:
    """Three jobs read one table, and other jobs write tables of different sizes."""
    headwater = small_headwater()
    headwater.accept(*(event(reader, "read") for reader in READERS))
    loads = [event(f"load {name}", "raw", name, written=rows(n)) for name, n in ROWS.items()]
    headwater.accept(*loads)
    headwater.project()
    yield headwater
    headwater.close()


def listed(estate: SmallHeadwater, hidden: tuple[str, ...] = (), **asked: Any) -> DatasetListing:
    jobs = estate.catalogue.list_jobs(now=0, hidden=frozenset()).items
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


# --- unread columns

_COLUMNS = {"fields": [{"name": name} for name in ("id", "amount", "note")]}


def reader(job: str, source: str, fields: tuple[str, ...] | None) -> Any:
    """A job that copies these columns of a table; None: one that tells no columns."""
    place = {"namespace": "s3://lake", "name": source}
    lineage = {name: {"inputFields": [{**place, "field": name}]} for name in fields or ()}
    copied = None if fields is None else {"facets": {"columnLineage": {"fields": lineage}}}
    return event(job, source, read={"schema": _COLUMNS}, written=copied)


@pytest.fixture(scope="module")
def columns() -> Iterator[SmallHeadwater]:
    headwater = small_headwater()
    headwater.accept(
        reader("some", "partly", ("id",)),
        reader("more", "partly", ("amount",)),
        reader("all", "wholly", ("id", "amount", "note")),
        reader("tells", "doubtful", ("id",)),
        reader("silent", "doubtful", None),
    )
    headwater.project()
    yield headwater
    headwater.close()


def test_a_table_of_which_jobs_read_some_columns_is_listed_with_the_others(
    columns: SmallHeadwater,
) -> None:
    listing = listed(columns, unread_columns=True)
    found = {item.label: item.unread_columns for item in listing.page.items}
    assert found == {"partly": UnreadColumns(1, ("note",))}
    assert listing.unexplained == 1, "a reader of doubtful does not tell its columns"
    assert all(item.unread_columns is None for item in listed(columns).page.items)


def test_hidden_jobs_read_no_column(columns: SmallHeadwater) -> None:
    found = listed(columns, ("more", "silent"), unread_columns=True)
    assert {item.label: item.unread_columns for item in found.page.items} == {
        "doubtful": UnreadColumns(2, ("amount", "note")),
        "partly": UnreadColumns(2, ("amount", "note")),
    }
    assert found.unexplained == 0


def test_the_reply_says_that_only_the_first_tables_were_searched_for_unread_columns(
    columns: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_answers, "_COLUMNS_SEARCHED", 3)
    assert listed(columns, unread_columns=True).partial == Partial("nodes", 3)
