"""Several questions of one state of the catalogue."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from graph_model.errors import InvalidReference
from graph_model.stores.catalogue import Catalogue
from tests.contract.databases import EVERY
from tests.contract.rows import an_execution


@pytest.mark.parametrize("engine", EVERY, indirect=True)
def test_a_snapshot_does_not_see_rows_that_come_or_go_meanwhile(engine: sa.Engine) -> None:
    catalogue, other = Catalogue(engine), Catalogue(engine)
    first, second = (an_execution(f"ex-{n}", at=n) for n in (1, 2))
    catalogue.record([first])
    with catalogue.snapshot() as held:
        assert held.newest_event(None) == 1
        other.withdraw([first])
        other.record([second])
        assert held.executions_of({"ex-1", "ex-2"}) == (first,)
        with held.snapshot() as same:
            assert same.newest_event(None) == 1
        assert catalogue.executions_of({"ex-1", "ex-2"}) == (second,)
    assert catalogue.newest_event(None) == 2


def test_a_snapshot_gives_its_connection_back_after_an_error(catalogue: Catalogue) -> None:
    for _ in range(60):  # more than a pool has
        with pytest.raises(InvalidReference), catalogue.snapshot() as held:
            held.executions(cursor="none of ours")
    assert catalogue.newest_event(None) is None
