"""The last write of a table whose catalog name has moved to another location."""

from __future__ import annotations

import pytest

from graph_model.facts import ExecutionRow, NameRow, Row
from graph_model.lineage.history.history import History
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.contract.rows import an_execution

HOUR = 3_600_000


def a_write(hour: int, target: str) -> ExecutionRow:
    """One execution of an application and a plan of its own."""
    key = f"{target}-{hour}"
    return an_execution(
        key, target=target, at=hour * HOUR, application_id=key, logical_plan=f"plan of {target}"
    )


def last_writes(rows: list[Row], at: int | None) -> dict[str, int]:
    """In hours, of the former and the present location of ``ds-name``."""
    moved = [
        NameRow("ds-name", "ds-old", "ds-name-10", 10 * HOUR),
        NameRow("ds-name", "ds-new", "ds-name-20", 20 * HOUR),
    ]
    catalogue = Catalogue(open_database("sqlite://"))
    catalogue.record([*rows, *moved])
    time = None if at is None else at * HOUR
    result = History(catalogue).writes.last(["ds-old", "ds-new"], time)
    catalogue.close()
    return {dataset: last // HOUR for dataset, last in result.items()}


@pytest.mark.parametrize("at", [None, 25])
def test_a_former_location_keeps_its_last_write_when_its_name_moves(at: int | None) -> None:
    rows: list[Row] = [a_write(10, "ds-name"), a_write(20, "ds-name")]
    assert last_writes(rows, at) == {"ds-old": 10, "ds-new": 20}


@pytest.mark.parametrize("at", [None, 25])
def test_a_write_under_a_moved_name_counts_beside_an_earlier_one_of_the_location(
    at: int | None,
) -> None:
    rows: list[Row] = [a_write(1, "ds-old"), a_write(10, "ds-name"), a_write(20, "ds-name")]
    assert last_writes(rows, at) == {"ds-old": 10, "ds-new": 20}
    assert last_writes(rows, 15) == {"ds-old": 10}
