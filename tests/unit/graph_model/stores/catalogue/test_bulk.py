"""Rows copied in bulk are the rows that would have been recorded one batch after the other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graph_model.errors import FactConflict
from graph_model.facts import DatasetRow, Row
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from tests.contract.databases import EVERY, empty_database
from tests.projections import project
from tests.unit.graph_model.projection.projector.test_projector import TROUBLE

_NASTY = 'tab\t line\nreturn\r back\\slash \\N "quoted" nul\0 half \ud800 ümlaut 💧'


@pytest.fixture(params=EVERY)
def catalogue(request: pytest.FixtureRequest) -> Iterator[Catalogue]:
    with empty_database(request.param, request) as url:
        opened = Catalogue(open_database(url))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    headwater = project(TROUBLE, stepwise=False)
    result: list[Row] = list(headwater.catalogue.scan())
    headwater.close()
    return [*result, DatasetRow("ds_nasty", _NASTY, "", "", _NASTY)]


def test_rows_copied_are_the_rows_recorded(catalogue: Catalogue, rows: list[Row]) -> None:
    recorded = Catalogue(open_database("sqlite://"))
    recorded.record(rows)
    catalogue.copy(rows[::2])
    catalogue.copy(rows[1::2])
    assert catalogue.digest() == recorded.digest()
    assert catalogue.search("laptop", kinds=("dataset",), limit=5) == recorded.search(
        "laptop", kinds=("dataset",), limit=5
    )
    recorded.close()


def test_a_key_that_comes_twice_changes_nothing(catalogue: Catalogue, rows: list[Row]) -> None:
    catalogue.copy(rows[:3])
    before = catalogue.digest()
    with pytest.raises(FactConflict):
        catalogue.copy(rows[2:])
    assert catalogue.digest() == before
