"""A table that is given another name, as its documents report it."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.facts import ExecutionRow, NameRow, RenameRow
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.executions import translate_execution
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from tests.builders import PlanBuilder

OLD, NEW = "s3://lake/a", "s3://lake/b"


def rows(former: str, current: str, error: str | None = None, **named: Any) -> list[Any]:
    builder = PlanBuilder()
    builder.write(builder.read([OLD], "k: int"), current)
    document = builder.document(id="0b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e")
    document["operations"]["write"]["extra"] = {
        "renamed": {
            "from": {"source": former, "table": "a", "database": "db"},
            "to": {"source": current, "table": "b", "database": "db"},
            **named,
        }
    }
    _, head = translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"))
    event = {"planId": document["id"], "timestamp": 5, "error": error, "extra": {}}
    return list(translate_execution(head, read_event(event)).rows)


def of(kind: type[Any], found: list[Any]) -> list[Any]:
    return [row for row in found if isinstance(row, kind)]


def test_a_rename_that_moves_the_data_names_two_places() -> None:
    result = rows(OLD, NEW)
    (row,) = of(RenameRow, result)
    assert (row.former, row.current) == tuple(identity.dataset_id("", uri) for uri in (OLD, NEW))
    assert [row.mode for row in of(ExecutionRow, result)] == [labels.OVERWRITE]
    assert not of(NameRow, result)


def test_a_rename_in_place_is_no_write_and_ends_the_former_name() -> None:
    result = rows(OLD, OLD)
    (row,) = of(RenameRow, result)
    assert [row.kind for row in of(ExecutionRow, result)] == [labels.LIFECYCLE_KIND]
    assert [(item.name, item.location) for item in of(NameRow, result)] == [
        (row.former, row.former)
    ]


def test_a_rename_that_failed_renames_nothing() -> None:
    assert not of(RenameRow, rows(OLD, NEW, error="no such table"))


@pytest.mark.parametrize("end", [None, 7, {}, {"source": ""}, {"source": 7}])
def test_a_malformed_rename_counts_as_not_told(end: Any) -> None:
    assert not of(RenameRow, rows(OLD, NEW, to=end))
