"""Orders of the catalogue's lists, on every database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import InvalidReference
from graph_model.facts import ColumnRow, ExecutionRow, NameRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.pages import (
    ColumnOrder,
    DatasetOrder,
    ExecutionOrder,
    JobOrder,
    ListOrder,
    Page,
    walk_pages,
)
from tests.contract.databases import recorded_plans
from tests.contract.rows import EXECUTIONS, TIMES, a_dataset, a_job, an_execution, property_test

JOBS = [a_job(f"job-{n}", f"ns {n % 2}", f"job {n}") for n in range(4)]
DATASETS = [a_dataset(f"ds-{n}", f"s3://{9 - n}/t{n % 2}") for n in range(4)]
UNKNOWN = object()


def in_order(items: list[Any], order: ListOrder, *keys: Callable[[Any], Any]) -> list[Any]:
    """The items by these keys, all in one direction, but those without a first key last."""

    def key(item: Any) -> tuple[Any, ...]:
        return tuple(key(item) for key in keys)

    known = [item for item in items if keys[0](item) is not UNKNOWN]
    unknown = [item for item in items if keys[0](item) is UNKNOWN]
    rest = sorted(unknown, key=lambda item: key(item)[1:], reverse=order.falls)
    return sorted(known, key=key, reverse=order.falls) + rest


@property_test
@given(
    rows=EXECUTIONS,
    order=st.sampled_from(JobOrder),
    state=st.none() | st.sampled_from(["completed", "failed", "aborted"]),
    at=st.none() | TIMES,
    limit=st.integers(1, 3),
)
def test_jobs_come_in_every_order_page_by_page(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    order: JobOrder,
    state: str | None,
    at: int | None,
    limit: int,
) -> None:
    catalogue.clear()
    catalogue.record([*JOBS, *rows])
    everything = catalogue.list_jobs(now=0, at=at).items
    chosen = [item for item in everything if state is None or item.last_state == state]
    pages = list(
        walk_pages(
            lambda cursor: catalogue.list_jobs(
                now=0,
                limit=limit,
                cursor=cursor,
                at=at,
                states=() if state is None else (state,),
                order=order,
            )
        )
    )
    place = (lambda item: item.job.namespace, lambda item: item.job.name)

    def last_at(item: Any) -> Any:
        return UNKNOWN if item.last_at is None else item.last_at

    def badness(item: Any) -> Any:
        states = ("completed", "aborted", "failed")
        return UNKNOWN if item.last_state is None else states.index(item.last_state)

    def tied_at(item: Any) -> int:
        return item.last_at or 0

    keys: dict[str, tuple[Callable[[Any], Any], ...]] = {
        "namespace": place,
        "name": place[::-1],
        "lastRun": (last_at, *place),
        "state": (badness, tied_at, *place),
        "runs": (lambda item: item.runs, *place),
    }
    found = [item for page in pages for item in page.items]
    assert found == in_order(chosen, order, *keys[order.field])
    assert {page.total for page in pages} == {len(chosen)}


@property_test
@given(
    rows=EXECUTIONS,
    order=st.sampled_from(DatasetOrder),
    at=st.none() | TIMES,
    limit=st.integers(1, 3),
)
def test_datasets_come_in_every_order_page_by_page(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    order: DatasetOrder,
    at: int | None,
    limit: int,
) -> None:
    catalogue.clear()
    catalogue.record([*DATASETS, *rows])
    everything = list(catalogue.list_datasets(at=at).items)
    writes = catalogue.last_writes([row.id for row in everything], at)
    names_first = (lambda row: row.name, lambda row: row.uri)
    keys: dict[str, tuple[Callable[[Any], Any], ...]] = {
        "name": names_first,
        "uri": (lambda row: row.uri,),
        "type": (lambda row: row.kind, *names_first),
        "lastWrite": (lambda row: writes.get(row.id, UNKNOWN), *names_first),
    }
    pages = walk_pages(
        lambda cursor: catalogue.list_datasets(limit=limit, cursor=cursor, at=at, order=order)
    )
    found = [row for page in pages for row in page.items]
    assert found == in_order(everything, order, *keys[order.field])


def test_a_write_under_one_name_of_a_dataset_sorts_all_of_its_names(
    catalogue: Catalogue,
) -> None:
    catalogue.record(
        [
            a_dataset("ds-name", "hive/shop.orders"),
            a_dataset("ds-place", "s3://lake/orders"),
            a_dataset("ds-other", "s3://lake/other"),
            a_dataset("ds-never", "s3://lake/never"),
            NameRow("ds-name", "ds-place", "ex-1", 10),
            an_execution("ex-1", target="ds-place", at=10),
            an_execution("ex-2", target="ds-other", at=20),
            an_execution("ex-3", target="ds-name", at=30),
        ]
    )
    rising = catalogue.list_datasets(order=DatasetOrder.LAST_WRITE).items
    assert [row.id for row in rising] == ["ds-other", "ds-place", "ds-name", "ds-never"]


@property_test
@given(rows=EXECUTIONS, order=st.sampled_from(ExecutionOrder), limit=st.integers(1, 3))
def test_executions_come_in_every_order_page_by_page(
    catalogue: Catalogue, rows: list[ExecutionRow], order: ExecutionOrder, limit: int
) -> None:
    catalogue.clear()
    catalogue.record([*JOBS, *rows])
    shown = [row for row in rows if row.kind in ("write", "read")]

    def duration(row: ExecutionRow) -> Any:
        return UNKNOWN if row.duration_ns is None else row.duration_ns

    keys: dict[str, tuple[Callable[[Any], Any], ...]] = {
        "at": (lambda row: row.at, lambda row: row.id),
        "durationMs": (duration, lambda row: row.at, lambda row: row.id),
    }
    pages = walk_pages(
        lambda cursor: catalogue.recent_executions(
            (), now=0, limit=limit, cursor=cursor, order=order
        )
    )
    found = [one.id for page in pages for one in page.items]
    assert found == [row.id for row in in_order(shown, order, *keys[order.field])]


@pytest.mark.parametrize("order", ColumnOrder)
def test_columns_come_by_their_name_or_that_of_their_table(
    catalogue: Catalogue, order: ColumnOrder
) -> None:
    uris = {row.id: (row.name, row.uri) for row in DATASETS}
    rows = [
        ColumnRow(f"col-{n}", f"ds-{n % 4}", path)
        for n, path in enumerate(["b", "a", "b", "a.x", "Ä", "c", "a", "a"])
    ]
    catalogue.record([*DATASETS, *rows, ColumnRow("col-of-none", "ds-none", "a")])
    keys: dict[str, tuple[Callable[[Any], Any], ...]] = {
        "name": (lambda row: row.path, lambda row: uris[row.dataset][1], lambda row: row.id),
        "table": (lambda row: uris[row.dataset], lambda row: row.path, lambda row: row.id),
    }
    pages = list(
        walk_pages(lambda cursor: catalogue.list_columns(limit=3, cursor=cursor, order=order))
    )
    found = [row for page in pages for row in page.items]
    assert found == in_order(rows, order, *keys[order.field])
    assert {page.total for page in pages} == {8}
    assert [row.path for row in catalogue.list_columns(query="ä").items] == ["Ä"]


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_pages_totals_and_cursors_leave_out_hidden_nodes(catalogue: Catalogue, limit: int) -> None:
    rows = [ColumnRow(f"col-{n}", f"ds-{n}", "a") for n in range(4)]
    catalogue.record([*DATASETS, *JOBS, *rows])
    hidden = {"ds-0", "ds-2", "job-0", "job-2"}
    listed: tuple[Callable[[str | None], Page[Any]], ...] = (
        lambda cursor: catalogue.list_datasets(hidden=hidden, limit=limit, cursor=cursor),
        lambda cursor: catalogue.list_jobs(now=0, hidden=hidden, limit=limit, cursor=cursor),
        lambda cursor: catalogue.list_columns(hidden=hidden, limit=limit, cursor=cursor),
    )
    for ask in listed:
        pages = list(walk_pages(ask))
        found = {getattr(item, "job", item).id[-1] for page in pages for item in page.items}
        assert found == {"1", "3"}
        assert {page.total for page in pages} == {2}
        assert [len(page.items) for page in pages] == [limit] * (2 // limit) + [2] * (limit > 2)


def test_the_cursor_of_another_order_is_refused(catalogue: Catalogue) -> None:
    catalogue.record(DATASETS)
    cursor = catalogue.list_datasets(limit=1).next
    for order in DatasetOrder:
        if order != DatasetOrder.NAME:
            with pytest.raises(InvalidReference):
                catalogue.list_datasets(cursor=cursor, order=order)


@pytest.mark.parametrize("order", [DatasetOrder.NAME, DatasetOrder.NAME_FALLING])
def test_by_name_a_page_follows_the_index(order: DatasetOrder) -> None:
    engine = open_database("sqlite://")
    catalogue = Catalogue(engine)
    catalogue.record(DATASETS)
    cursor = catalogue.list_datasets(limit=1, order=order).next
    with recorded_plans(engine) as lines:
        catalogue.list_datasets(limit=1, cursor=cursor, order=order)
    assert any("SEARCH" in line and "catalogue_datasets_by_name" in line for line in lines)
    assert "USE TEMP B-TREE FOR ORDER BY" not in lines, "sorted instead of read in order"
    engine.dispose()
