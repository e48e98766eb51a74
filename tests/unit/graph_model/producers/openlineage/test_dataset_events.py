"""Events about a dataset alone: its schema, its rename."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph_model import labels
from graph_model.answers.nodes import catalog_names
from graph_model.facts import DatasetRow
from graph_model.lineage.history.history import History
from graph_model.lineage.questions import Question
from graph_model.stores.graph import Direction
from tests.projections import SmallHeadwater, lineage_event, small_headwater


def about(name: str, day: int, **facets: Any) -> Any:
    dataset = {"namespace": "s3://lake", "name": name, "facets": facets}
    return lineage_event({"eventTime": f"2026-01-{day:02}T08:00:00Z", "dataset": dataset})


def write(job: str, day: int, source: str, target: str, *columns: str) -> Any:
    facets = {"schema": {"fields": [{"name": name} for name in columns]}}
    return lineage_event(
        {
            "eventTime": f"2026-01-{day:02}T08:00:00Z",
            "eventType": "COMPLETE",
            "run": {"runId": f"{job} {day}"},
            "job": {"namespace": "etl", "name": job},
            "inputs": [{"namespace": "s3://lake", "name": source}],
            "outputs": [{"namespace": "s3://lake", "name": target, "facets": facets}],
        }
    )


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    found = small_headwater()
    yield found
    found.close()


def ids(headwater: SmallHeadwater) -> dict[str, str]:
    rows = headwater.elements()[1]
    return {row.uri: row.id for row in rows if isinstance(row, DatasetRow)}


def columns_of(headwater: SmallHeadwater, day: int | None = None) -> list[str]:
    at = None if day is None else 1767225600000 + (day - 1) * 86_400_000 + 43_200_000
    table = ids(headwater)["s3://lake/t"]
    return sorted(node.path for node in headwater.sources.lineage.columns_of((table,), at))


def test_the_newest_schema_counts_whichever_event_gave_it(headwater: SmallHeadwater) -> None:
    fields = {"schema": {"fields": [{"name": "a"}, {"name": "b"}]}}
    headwater.accept(about("t", 2, **fields))
    headwater.project()
    assert columns_of(headwater) == ["a", "b"]
    headwater.accept(write("load", 4, "s", "t", "c"), about("t", 6, schema={"_deleted": True}))
    headwater.accept(about("t", 7, schema={"fields": []}))
    headwater.project()
    assert [columns_of(headwater, day) for day in (2, 5, 8)] == [["a", "b"], ["c"], []]


def test_a_rename_of_a_dataset_event_is_followed(headwater: SmallHeadwater) -> None:
    former = {"namespace": "s3://lake", "name": "old"}
    rename = {"lifecycleStateChange": "RENAME", "previousIdentifier": former}
    headwater.accept(write("load", 1, "s", "old", "a"))
    headwater.accept(about("new", 2, lifecycleStateChange=rename))
    headwater.project()
    named = ids(headwater)
    answer = headwater.sources.lineage.ask(Question(named["s3://lake/new"], depth=9))
    assert {named["s3://lake/old"], named["s3://lake/s"]} <= set(answer.datasets)
    modes = {
        row.mode for row in headwater.catalogue.executions(target=named["s3://lake/new"]).items
    }
    assert modes == {labels.OVERWRITE}


def test_deleted_symlinks_take_the_names_away_until_they_are_given_again(
    headwater: SmallHeadwater,
) -> None:
    link = {"identifiers": [{"namespace": "hive://m", "name": "hr.t", "type": "TABLE"}]}
    headwater.accept(write("load", 1, "s", "t", "a"), about("t", 2, symlinks=link))
    headwater.accept(about("t", 4, symlinks={"_deleted": True}), about("t", 6, symlinks=link))
    headwater.project()
    named = ids(headwater)
    (name,) = (uri for uri in named if uri.startswith("hive:"))
    table, called = named["s3://lake/t"], named[name]
    catalogue, sources = headwater.catalogue, headwater.sources
    days = {day: 1767225600000 + (day - 1) * 86_400_000 + 43_200_000 for day in (3, 5, 7)}
    stood = {day: catalogue.location_of(called, at) for day, at in days.items()}
    assert stood == {3: table, 5: called, 7: table}
    history = History(catalogue)
    located = history.names.locate((called, at) for at in days.values())
    assert located == {(called, at): stood[day] for day, at in days.items()}
    shown = {day: catalog_names(sources, history, {table}, at) for day, at in days.items()}
    assert shown == {3: {table: [name]}, 5: {}, 7: {table: [name]}}
    for day, at in days.items():
        found = sources.lineage.ask(Question(called, Direction.UPSTREAM, 2, at))
        assert (named["s3://lake/s"] in found.datasets) is (day != 5)
        alone = sources.lineage.ask(Question(table, Direction.UPSTREAM, 2, at))
        assert named["s3://lake/s"] in alone.datasets
