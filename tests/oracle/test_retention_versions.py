"""A prune keeps the versions that reads are bound to, and writes that only a branch overwrote."""

from __future__ import annotations

import pytest

from graph_model.retention.coverage import Retention
from tests.oracle.comparison import ComparedHistory, projected
from tests.oracle.documents import START
from tests.oracle.histories import Asked, Execution, History, Place, Plan, Version
from tests.oracle.test_retention import prune

MINUTE = 60_000

LOAD = Plan("load", "L", (Place("a"),), Place("b"))
FINE = Plan("fine", "F", (Place("b"),), Place("c"))
PLANS = {"load": LOAD, "fine": FINE}


def load(minute: int, version: Version) -> Execution:
    return Execution("load", minute * MINUTE, application=f"load-{minute}", wrote=version)


def fine(minute: int, *bound: Version) -> Execution:
    reads = tuple(("b", version) for version in bound)
    return Execution("fine", minute * MINUTE, application=f"fine-{minute}", bound=reads)


HISTORIES = {
    "an overwrite of a branch replaces nothing on the main one": (
        load(0, Version(0)), load(10, Version(1, "audit")), fine(20),
    ),
    "a read of an old version stands on the write that made it": (
        load(0, Version(0)), load(10, Version(1)), load(12, Version(2)), fine(20, Version(0)),
    ),
    "a read names its version by the format's own id": (
        load(0, Version(0, by_id=True)), load(10, Version(1, by_id=True)),
        fine(20, Version(0, by_id=True)),
    ),
    "a change feed reads every version since its first": (
        load(0, Version(0)), load(5, Version(1)), load(10, Version(2)),
        fine(20, Version(2, since=1)),
    ),
    "a branch holds the content of the main one before it": (
        load(0, Version(0)), load(5, Version(1, "audit")), load(10, Version(2)),
        fine(20, Version(1, "audit")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_writes_that_a_kept_read_saw_are_kept(name: str) -> None:
    history = History(PLANS, HISTORIES[name])
    headwater = projected(history)
    try:
        compared = ComparedHistory(history, headwater.graph, headwater.catalogue)
        asked = [Asked(f"dataset:{entry}", at=at) for entry in "bc" for at in (20 * MINUTE, None)]
        before = [compared.said(compared.ask(element), element) for element in asked]
        rows = headwater.catalogue.executions(limit=1).total
        prune(headwater, Retention(before=START + 15 * MINUTE))
        assert [compared.said(compared.ask(item), item) for item in asked] == before
        assert headwater.catalogue.executions(limit=1).total <= rows
    finally:
        headwater.close()
