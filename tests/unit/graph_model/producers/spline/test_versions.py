"""Versions of tables that events tell: read, bounded, and never an error."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.facts import CURRENT_VERSION, ExecutionRow, ReadVersionRow, Version
from graph_model.producers.elements import version_of_text
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.executions import translate_execution
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from graph_model.producers.spline.tables import read_version
from tests.builders import PlanBuilder

TABLE = "s3://lake/t"
FIRST = {"id": "0", "number": 0}


@pytest.mark.parametrize(
    ("told", "version"),
    [
        (FIRST, Version("0", 0)),
        ({"id": "7", "number": 2, "branch": "main"}, Version("7", 2)),
        ({"id": "7", "number": 2, "branch": "br", "since": 1}, Version("7", 2, "br", 1)),
        ({"id": "7", "number": -1}, None),
        ({"id": "7", "number": True}, None),
        ({"id": "7", "number": 2**63}, None),
        ({"id": "7", "number": "2"}, None),
        ({"id": 7, "number": 2}, None),
        ({"id": "", "number": 2}, None),
        ({"id": "7" * 201, "number": 2}, None),
        ({"id": "7", "number": 2, "branch": "*"}, None),
        ({"id": "7", "number": 2, "since": -1}, None),
        ([FIRST], None),
        (None, None),
    ],
)
def test_a_malformed_version_counts_as_not_told(told: Any, version: Version | None) -> None:
    assert read_version(told) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("7", Version("7", 7)),
        ("5441396548426740115", Version("5441396548426740115", -1)),
        ("v7", Version("v7", -1)),
        ("\u0667", Version("\u0667", -1)),
        ("", None),
        (7, None),
    ],
)
def test_a_short_number_orders_versions_and_another_text_names_one(
    text: Any, version: Version | None
) -> None:
    assert version_of_text(text) == version


def rows(
    extra: dict[str, Any], reads: int = 1, error: str | None = None, **options: Any
) -> list[Any]:
    builder = PlanBuilder()
    first, *others = (builder.read([TABLE], "k: int") for _ in range(reads))
    for other in others:
        first = builder.join(first, other)
    builder.write(first, "s3://lake/out")
    document = builder.document(id="0b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e")
    document["operations"]["reads"][0]["params"] = options
    _, head = translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"))
    event = {"planId": document["id"], "timestamp": 5, "error": error, "extra": extra}
    return list(translate_execution(head, read_event(event)).rows)


def versions_read(*given: Any, **named: Any) -> set[tuple[Any, ...]]:
    result = [row for row in rows(*given, **named) if isinstance(row, ReadVersionRow)]
    return {(row.version, row.number, row.branch, row.since) for row in result}


def written(extra: dict[str, Any], error: str | None = None) -> tuple[Any, ...]:
    (row,) = (row for row in rows(extra, error=error) if isinstance(row, ExecutionRow))
    return row.version, row.version_number, row.branch


def test_the_version_of_a_completed_write_is_on_its_row() -> None:
    answer = {"writtenVersion": {"id": "544", "number": 2, "branch": "audit"}}
    assert written(answer) == ("544", 2, "audit")
    assert written(answer, error="it failed") == ("", None, "")
    assert written({"writtenVersion": "544"}) == ("", None, "")


def test_a_read_of_a_version_is_a_row() -> None:
    assert versions_read({"readVersions": [{"source": "s3a://lake/t/", **FIRST}]}) == {
        ("0", 0, "", -1)
    }


def test_a_dataset_that_is_read_more_often_than_it_is_bound_is_read_as_it_was_too() -> None:
    once = {"readVersions": [{"source": TABLE, **FIRST}]}
    twice = {
        "readVersions": [{"source": TABLE, **FIRST}, {"source": TABLE, "id": "1", "number": 1}]
    }
    assert versions_read(once, reads=2) == {("0", 0, "", -1), tuple(CURRENT_VERSION)}
    assert versions_read(twice, reads=2) == {("0", 0, "", -1), ("1", 1, "", -1)}


@pytest.mark.parametrize(
    "told",
    [
        "0", {}, [None], [FIRST], [{"source": 7, **FIRST}], [{"source": TABLE}],
        [{"source": TABLE, **FIRST}] * 201,
    ],
)  # fmt: skip
def test_malformed_reads_of_versions_count_as_not_told(told: Any) -> None:
    assert versions_read({"readVersions": told}) == set()


@pytest.mark.parametrize(
    ("options", "versions"),
    [
        ({"versionAsOf": "3"}, {("3", 3, "", -1)}),
        ({"versionasof": 3}, {("3", 3, "", -1)}),
        ({"snapshot-id": "12"}, {("12", -1, "", -1)}),
        ({"versionAsOf": "5441396548426740115"}, {("5441396548426740115", -1, "", -1)}),
        ({"versionAsOf": True, "snapshot-id": None}, set()),
        ({"path": "s3://lake/t"}, set()),
    ],
)
def test_the_options_of_a_read_name_a_version(
    options: dict[str, Any], versions: set[tuple[Any, ...]]
) -> None:
    assert versions_read({}, **options) == versions


def test_versions_that_the_event_lists_count_before_the_options() -> None:
    answer = {"readVersions": [{"source": TABLE, "id": "7", "number": 7}]}
    assert versions_read(answer, versionAsOf="3") == {("7", 7, "", -1)}
    assert versions_read({}, reads=2, versionAsOf="3") == {("3", 3, "", -1), tuple(CURRENT_VERSION)}
