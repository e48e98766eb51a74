"""Times from which answers count: a claimed one long after its receipt counts from the receipt."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from graph_model.facts import (
    CountedRow,
    ExecutionRow,
    Facts,
    NameRow,
    RunRow,
    agreed,
    as_documented,
    merge,
)
from graph_model.naming import DEFAULT_RULES
from graph_model.producers.bounds import (
    NO_RECEIPT,
    TOLERANCE_MS,
    count_times,
    read_tolerance,
)
from graph_model.producers.registry import PRODUCERS, Translation, projection_epoch
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.projection.projector.rules import EPOCH_KEY
from graph_model.stores.journal.archive import dump, load
from tests.projections import SmallHeadwater, lineage_event, project, small_headwater, submission
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event

DAY = 86_400_000
NOW = 1_772_352_000_000  # 2026-03-01T08:00Z
YEAR_9999 = 253_402_300_799_000


def counted(claimed: int, received: int, tolerance: int = DAY) -> NameRow:
    facts = Facts(rows=(NameRow("n", "l", "ex", claimed),))
    (row,) = count_times(facts, [(claimed, received)], tolerance).rows
    assert isinstance(row, NameRow)
    return row


@pytest.mark.parametrize(
    ("claimed", "received", "at"),
    [
        (NOW, NOW, NOW),
        (NOW + DAY, NOW, NOW + DAY),
        (NOW + DAY + 1, NOW, NOW),
        (YEAR_9999, NOW, NOW),
        (0, NOW, 0),
        (YEAR_9999, NO_RECEIPT, YEAR_9999),
    ],
)
def test_only_a_time_more_than_the_tolerance_after_a_receipt_counts_from_it(
    claimed: int, received: int, at: int
) -> None:
    row = counted(claimed, received)
    assert (row.at, row.at + row.ahead) == (at, claimed)


def test_facts_without_a_doubtful_time_are_the_very_same() -> None:
    facts = Facts(rows=(NameRow("n", "l", "ex", NOW),))
    assert count_times(facts, [(NOW, NOW)], DAY) is facts


def test_of_several_documents_with_one_time_the_first_receipt_counts() -> None:
    facts = Facts(rows=(NameRow("n", "l", "ex", YEAR_9999),))
    claims = [(YEAR_9999, NOW + 5), (YEAR_9999, NOW), (YEAR_9999, NOW + 9)]
    (row,) = count_times(facts, claims, DAY).rows
    assert row == NameRow("n", "l", "ex", NOW, YEAR_9999 - NOW)


def test_two_rows_agree_whatever_their_receipts_and_the_first_holds() -> None:
    first, second = counted(YEAR_9999, NOW), counted(YEAR_9999, NOW + 7)
    assert agreed(second, first) == agreed(first, second) == first
    assert merge([Facts(rows=(second,)), Facts(rows=(first,))]).rows == (first,)
    assert as_documented(first) == as_documented(second) == NameRow("n", "l", "ex", YEAR_9999)


@pytest.mark.parametrize("text", ["0", "8761", "1.5", "-1", "", "٣", "1" * 40])
def test_a_tolerance_is_a_whole_number_of_hours(text: str) -> None:
    with pytest.raises(ValueError, match="hours from 1 to 8760"):
        read_tolerance(text)
    assert read_tolerance("24") == TOLERANCE_MS


def test_another_tolerance_is_another_projection() -> None:
    other = PRODUCERS.tolerating(TOLERANCE_MS + 1)
    assert projection_epoch(DEFAULT_RULES, other) != projection_epoch(DEFAULT_RULES)
    assert Translation(DEFAULT_RULES, other).bases == PRODUCERS.bases


# --- through journal and projector ---------------------------------------------------------------


def run_event(number: int, kind: str, at: str, **changes: Any) -> dict[str, Any]:
    answer = {
        "namespace": "s3://lake",
        "name": "t",
        "facets": {"schema": {"fields": [{"name": "a"}]}},
    }
    return {
        "eventType": kind,
        "eventTime": at,
        "run": {"runId": f"run-{number}"},
        "job": {"namespace": "etl", "name": "load"},
        "inputs": [{"namespace": "s3://lake", "name": "raw"}],
        "outputs": [answer | {"facets": answer["facets"] | {"symlinks": SYMLINKS}}],
        **changes,
    }


SYMLINKS = {"identifiers": [{"namespace": "hive://m", "name": "db.t", "type": "TABLE"}]}
LATE = "9999-12-31T23:59:59Z"
DOCUMENTS = [
    (submission(PLAN_KIND, a_plan()), NOW),
    (submission(EVENT_KIND, an_event(NOW)), NOW),
    (submission(EVENT_KIND, an_event(YEAR_9999)), NOW + 1),
    # The same event in other bytes is another document with the same execution.
    (submission(EVENT_KIND, dict(reversed(an_event(YEAR_9999).items()))), NOW + 2),
    (lineage_event(run_event(1, "START", "2026-03-01T08:00:00Z")), NOW + 3),
    (lineage_event(run_event(1, "COMPLETE", LATE)), NOW + 4),
    (lineage_event(run_event(1, "COMPLETE", LATE.replace("Z", "+00:00"))), NOW + 5),
    (lineage_event(run_event(2, "START", LATE)), NOW + 6),
    (lineage_event(run_event(2, "RUNNING", "9999-12-31T22:00:00Z")), NOW + 7),
    (
        lineage_event(
            {
                "eventTime": LATE,
                "dataset": {
                    "namespace": "s3://lake",
                    "name": "t",
                    "facets": {"schema": {"fields": [{"name": "b"}]}},
                },
            }
        ),
        NOW + 8,
    ),
]


def taken(order: list[int], *, stepwise: bool) -> SmallHeadwater:
    headwater = small_headwater()
    for place in order:
        document, received_at = DOCUMENTS[place]
        headwater.accept(document, received_at=received_at)
        if stepwise:
            headwater.project()
    headwater.project()
    return headwater


def test_no_row_counts_from_a_time_to_come_and_every_vertex_keeps_its_own() -> None:
    headwater = taken(list(range(len(DOCUMENTS))), stepwise=False)
    elements, rows = headwater.elements()
    counted_rows = [row for row in rows if isinstance(row, CountedRow)]
    assert {type(row).__name__ for row in counted_rows} >= {"ExecutionRow", "NameRow", "FacetRow"}
    assert max(row.at for row in counted_rows) <= NOW + DAY
    assert max(row.last_at for row in rows if isinstance(row, RunRow)) <= NOW + DAY
    executions = [row for row in rows if isinstance(row, ExecutionRow)]
    claimed = {
        element.id: element.value("at") for element in elements if element.label == "execution"
    }
    assert {row.id: row.claimed_at for row in executions if row.id in claimed} == claimed
    assert YEAR_9999 in claimed.values()
    assert {row.at for row in executions if row.claimed_at == YEAR_9999} >= {NOW + 1, NOW + 4}
    headwater.close()


@pytest.mark.parametrize("seed", range(4))
def test_counted_times_do_not_depend_on_the_order_of_projection(seed: int) -> None:
    expected = taken(list(range(len(DOCUMENTS))), stepwise=False)
    order = list(range(len(DOCUMENTS)))
    Random(seed).shuffle(order)
    result = taken(order, stepwise=True)
    assert result.elements() == expected.elements()
    result.projector.request_rebuild()
    result.project()
    assert result.elements() == expected.elements()
    result.close()
    expected.close()


def test_other_receipts_leave_the_hash_of_the_catalogue_as_it_is() -> None:
    headwater = taken(list(range(len(DOCUMENTS))), stepwise=False)
    unreceived = project([item for item, _ in DOCUMENTS], stepwise=False)
    assert headwater.catalogue.newest_event(None) != unreceived.catalogue.newest_event(None)
    assert headwater.catalogue.digest() == unreceived.catalogue.digest()
    headwater.close()
    unreceived.close()


def test_a_backup_carries_the_receipts() -> None:
    headwater = taken(list(range(len(DOCUMENTS))), stepwise=False)
    lines = list(dump(headwater.journal._engine, 1, lambda *_: None))
    expected = headwater.elements()
    headwater.close()
    restored = small_headwater()
    engine = restored.journal._engine
    load(engine, lambda: lines, {EPOCH_KEY: ""}, replace=True, progress=lambda *_: None)
    restored.projector.prepare()
    restored.project()
    assert restored.elements() == expected
    restored.close()
