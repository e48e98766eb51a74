"""Partitions of documents, translated: the same facts as the service, however they are cut."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import GraphRejected
from graph_model.facts import ExecutionRow, Row, Vertex
from graph_model.producers.commands import Cutoff, Forget, Prune
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.run_window import NONE
from graph_model.stores.documents import DocumentState, Submission
from graph_model.stores.graph import element_hash
from graph_model.stores.journal.archive import dump
from graph_model.stores.journal.tables import bodies
from pipeline.journal import DOCUMENT, JOURNAL_QUERY, Line, read_commands_in_force, read_lines
from pipeline.journal import read_row as read_journal_row
from pipeline.records import (
    CONTENT_PARTS,
    COUNTS,
    ROWS,
    SET_ASIDE,
    Record,
    element_record,
    read_element,
    read_row,
    row_record,
)
from pipeline.translating import ORDER, RANK, PartitionTranslation, problems_of, sum_counts
from tests.projections import SmallHeadwater, budget, small_headwater
from tests.unit.graph_model.producers.test_commands import command
from tests.unit.graph_model.projection.projector.test_projector import (
    ALL_CAPTURED,
    TROUBLE,
    a_plan,
    an_event,
    event,
    plan,
)

OTHER = "77777777-2222-5333-8444-555555555555"
START = 1_700_000_000_000
YEAR_9999 = 253_402_300_799_000
DAY = 86_400_000


def runs(count: int) -> list[Submission]:
    return [event(an_event(START + n * DAY)) for n in range(count)]


def forget(*submissions: Submission) -> Submission:
    hashes = tuple(sorted(submission.content_hash for submission in submissions))
    return command(
        Forget(tuple(sorted({submission.subject_key for submission in submissions})), hashes)
    )


def prune(before: int, *, drop_bodies: bool = False) -> Submission:
    return command(Prune((Cutoff("default", "demo", "", "file:/data/out", before),), drop_bodies))


def poison() -> list[Submission]:
    """A plan that no translation can take, in one of the two scopes that report its id."""
    broken: dict[str, Any] = copy.deepcopy(a_plan(id="66666666-2222-5333-8444-555555555555"))
    whole = copy.deepcopy(broken)
    broken["operations"]["write"]["childIds"] = ["op-1", "nowhere"]
    broken["operations"]["write"].pop("outputSource")
    return [
        plan(broken, scope="a"),
        plan(whole, scope="b"),
        event(an_event(planId=whole["id"]), scope="b"),
        event(an_event(START + 1, planId=whole["id"]), scope="b"),
    ]


def journal_lines(submissions: Iterable[Submission]) -> tuple[SmallHeadwater, list[str]]:
    """A journal that holds these, nothing of them projected, and its backup."""
    headwater = small_headwater(NONE)
    for submission in submissions:
        headwater.accept(submission)
    lines = [line.decode() for line in dump(headwater.journal._engine, 1, lambda *_: None)]
    return headwater, lines


def ordered(lines: Iterable[Line]) -> list[Line]:
    def place(line: Line, name: str) -> object:
        return line.kind in PRODUCERS.additions if name == RANK else getattr(line, name)

    return sorted(lines, key=lambda line: [place(line, name) for name in ORDER])


def translated(lines: Sequence[str], batch_size: int = 5_000) -> list[Record]:
    read = list(read_lines(lines))
    in_force = read_commands_in_force(
        (item.content_hash, item.body) for item in read if item.kind == "command"
    )
    return list(PartitionTranslation(in_force, batch_size).records(ordered(read)))


def content(records: Iterable[Record]) -> tuple[list[Any], list[Row]]:
    """Elements and rows, each once, in the order of ``SmallHeadwater.elements``."""
    kept = {
        (record.part, record.name, record.id): record
        for record in records
        if record.part in CONTENT_PARTS
    }
    elements = [read_element(r.part, r.content) for r in kept.values() if r.part != ROWS]
    rows = [read_row(r.name, r.content) for r in kept.values() if r.part == ROWS]
    return sorted(elements, key=lambda e: e.id), sorted(rows, key=repr)


def check_equal(submissions: Sequence[Submission], batch_size: int = 5_000) -> list[Record]:
    """The pipeline makes the same facts of these documents as the service."""
    headwater, lines = journal_lines(submissions)
    headwater.project()
    headwater.projector.request_rebuild()  # the definition: nothing depends on the order of arrival
    while headwater.projector.rebuild_step():
        pass
    elements, rows = headwater.elements()
    headwater.close()
    records = translated(lines, batch_size)
    assert content(records) == (list(elements), list(rows))
    return records


def test_a_doubtful_time_counts_from_the_first_receipt_as_in_the_service() -> None:
    """Also where an overlapping export has the document with a later receipt."""
    headwater = small_headwater(NONE)
    for number, first in enumerate([plan(a_plan()), event(an_event(YEAR_9999)), *runs(2)]):
        headwater.accept(first, received_at=START + number)
    headwater.project()
    lines = [line.decode() for line in dump(headwater.journal._engine, 1, lambda *_: None)]
    elements, rows = headwater.elements()
    headwater.close()
    late = [
        line.replace(f'"receivedAt":{START + 1}', f'"receivedAt":{START + 9}') for line in lines
    ]
    assert late != lines
    assert content(translated([*late, *lines])) == (list(elements), list(rows))
    assert START + 1 in {row.at for row in rows if isinstance(row, ExecutionRow)}


def set_aside(records: Iterable[Record]) -> list[dict[str, Any]]:
    return [json.loads(record.content) for record in records if record.part == SET_ASIDE]


TROUBLES: dict[str, list[Submission]] = {
    "two bodies, versions, scopes and strays": TROUBLE,
    "a poisoned scope": [*TROUBLE, *poison()],
    "a forgotten plan": [*TROUBLE, forget(*TROUBLE[:6])],
    "some forgotten events": [plan(a_plan()), *runs(6), forget(*runs(3))],
    "all events forgotten, not the plan": [plan(a_plan()), *runs(3), forget(*runs(3))],
    "a later run of a forgotten plan": [plan(a_plan()), *runs(4), forget(plan(a_plan()), *runs(3))],
    "pruned": [plan(a_plan()), *runs(6), prune(START + 3 * DAY)],
    "pruned away": [plan(a_plan()), *runs(6), prune(START + 9 * DAY, drop_bodies=True)],
    "pruned and forgotten": [
        plan(a_plan()), *runs(6), prune(START + 5 * DAY), forget(plan(a_plan()), *runs(6)[4:])
    ],
    "contradicting discriminators": [
        plan(a_plan(discriminator="a")), *runs(3),
        *(event(an_event(START + n, discriminator="b")) for n in range(3)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("batch_size", [1, 2, 5_000])
@pytest.mark.parametrize("name", TROUBLES)
def test_however_the_events_are_cut_the_facts_are_those_of_the_service(
    name: str, batch_size: int
) -> None:
    check_equal(TROUBLES[name], batch_size)


def test_the_captured_traffic_comes_out_the_same_in_pieces() -> None:
    check_equal(ALL_CAPTURED, batch_size=1)


@given(st.data())
@budget(25)
def test_any_part_of_it_in_any_order_comes_out_the_same(data: st.DataObject) -> None:
    everything = [*TROUBLE, *poison(), *runs(4), prune(START + DAY), forget(*runs(2)[1:])]
    chosen = data.draw(st.permutations(everything))[: data.draw(st.integers(1, len(everything)))]
    check_equal(list(chosen), batch_size=data.draw(st.integers(1, 4)))


def test_a_poisoned_plan_is_listed_with_its_reason_and_takes_nobody_with_it() -> None:
    for batch_size in (1, 5_000):
        records = check_equal([*TROUBLE, *poison()], batch_size)
        failed = [value for value in set_aside(records) if value["state"] == "failed"]
        assert {entry["planId"] for entry in failed} == {poison()[0].subject_key}
        assert sum(item["documents"] for item in failed) == 1
        assert all("expected" in element["reason"] for element in failed)
        counts, states = sum_counts(record.content for record in records if record.part == COUNTS)
        assert states["failed"] == 1
        assert counts["documents"] == len(TROUBLE) + 4


def test_an_event_without_its_plan_is_listed_as_waiting() -> None:
    (waiting,) = set_aside(check_equal(TROUBLE))
    assert (waiting["state"], waiting["documents"]) == ("waiting", 1)


def test_a_command_that_cannot_be_read_is_listed_and_orders_nothing() -> None:
    broken = command(Forget((), ()))
    broken = Submission(
        broken.kind, "1", broken.subject_key, "", broken.subject, "f" * 64, b'{"command":1}'
    )
    headwater, _ = journal_lines(TROUBLE)
    headwater.close()
    line = json.dumps(
        {"position": 99, "kind": "command", "apiVersion": "1", "planId": broken.subject_key,
         "scope": "", "receivedAt": 1, "body": {"command": 1}}
    )  # fmt: skip
    records = translated([line])
    (failed,) = set_aside(records)
    assert failed["state"] == "failed"
    assert content(records) == ([], [])


def test_overlapping_exports_count_each_document_once() -> None:
    headwater, lines = journal_lines(TROUBLE)
    headwater.close()
    once, twice = translated(lines[1:-1]), translated([*lines[1:-1], *lines[1:-1]])
    assert content(once) == content(twice)
    counts, _ = sum_counts(item.content for item in twice if item.part == COUNTS)
    assert counts["documents"] == len(TROUBLE)
    assert counts["lines"] == 2 * len(TROUBLE)


def test_a_line_that_cannot_be_read_is_listed_and_spoils_nothing() -> None:
    headwater, lines = journal_lines(TROUBLE)
    headwater.close()
    broken = lines[3].replace("file:/data/", "file:/dota/")
    assert broken != lines[3]
    noise = ["not json\n", "[]\n", '{"position": 7}\n', '{"other": 1}\n', "\n", broken]
    records = translated([*lines, *noise])
    reasons = [item["reason"] for item in set_aside(records) if item["state"] == "refused"]
    assert len(reasons) == 5
    assert any("another hash" in reason for reason in reasons)
    assert content(records) == content(translated(lines))


@pytest.mark.parametrize("batch_size", [2, 5_000])
def test_damaged_documents_of_the_journal_are_set_aside_as_the_service_does(
    batch_size: int,
) -> None:
    """Out of a backup, which names it, and out of the tables."""
    documents = [
        *TROUBLE,
        plan(a_plan(id=OTHER)),
        *(event(an_event(n, planId=OTHER)) for n in range(9)),
    ]
    headwater, _ = journal_lines(documents)
    hurt = {documents[0].content_hash, documents[3].content_hash, documents[-2].content_hash}
    database = headwater.journal._engine
    with database.begin() as connection:
        connection.execute(
            bodies.update().where(bodies.c.content_hash.in_(hurt)).values(packed=b"rubbish")
        )
    backup = [line.decode() for line in dump(database, 1, lambda *_: None)]
    with database.connect() as connection:
        rows = connection.exec_driver_sql(JOURNAL_QUERY).all()
    headwater.project()
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass
    elements, kept = headwater.elements()
    failed = headwater.journal.entries(state=DocumentState.FAILED).items
    headwater.close()
    for lines in (list(read_lines(backup)), [read_journal_row(row) for row in rows]):
        translation = PartitionTranslation(read_commands_in_force(()), batch_size)
        records = list(translation.records(ordered(lines)))
        assert content(records) == (list(elements), list(kept))
        result = [element for element in set_aside(records) if element["state"] == "failed"]
        assert sorted(at for item in result for at in item["positions"]) == sorted(
            entry.position for entry in failed
        )
        reasons = {value["reason"] for value in result}
        assert all("body is damaged: it cannot be inflated" in reason for reason in reasons), (
            reasons
        )
        counts, _ = sum_counts(record.content for record in records if record.part == COUNTS)
        assert problems_of(counts) == ()


def test_a_backup_that_is_cut_off_is_a_problem() -> None:
    headwater, lines = journal_lines(TROUBLE)
    headwater.close()
    for cut, said in ((lines[:-1], "cut off"), ([lines[0], *lines[4:]], "list 12 documents")):
        counts, _ = sum_counts(item.content for item in translated(cut) if item.part == COUNTS)
        (problem,) = problems_of(counts)
        assert said in problem
    counts, _ = sum_counts(item.content for item in translated(lines) if item.part == COUNTS)
    assert problems_of(counts) == ()


def test_an_export_is_read_as_the_backup_of_the_same_journal() -> None:
    from api.console.journal import export_line

    headwater, lines = journal_lines([*TROUBLE, *ALL_CAPTURED, forget(*TROUBLE[:2])])
    result = [
        headwater.journal.document(at) for at in range(1, headwater.journal.summary().received + 1)
    ]
    export = [json.dumps(export_line(item), ensure_ascii=False) for item in result if item]
    headwater.close()
    backup = [line for line in read_lines(lines) if line.part == DOCUMENT]
    assert list(read_lines(export)) == backup


def test_the_content_of_a_record_is_the_text_that_the_digest_hashes() -> None:
    import hashlib

    headwater, lines = journal_lines(TROUBLE)
    headwater.close()
    for record in translated(lines):
        if record.part in CONTENT_PARTS and record.part != ROWS:
            hashed = int.from_bytes(hashlib.sha256(record.content.encode()).digest(), "big")
            assert hashed == element_hash(read_element(record.part, record.content))


@pytest.mark.parametrize("value", ["\ud800", "a\0b", 1 << 63, float("nan"), float("inf")])
def test_a_value_that_no_graph_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(GraphRejected):
        element_record(Vertex("v", "job", (("key", value),)))


def test_rows_have_the_key_under_which_a_database_keeps_them() -> None:
    from graph_model.facts import PartitionRow

    first, second = (row_record(PartitionRow("x", "d", "read", f"k={v}")) for v in ("\0", "\ufffd"))
    assert first == second
    assert read_row(first.name, first.content) == PartitionRow("x", "d", "read", "k=\ufffd")


def test_a_repeated_fact_is_written_once_by_a_partition() -> None:
    headwater, lines = journal_lines([plan(a_plan()), *runs(20)])
    headwater.close()
    records = translated(lines, batch_size=1)
    ids = [(record.part, record.id) for record in records if record.part in CONTENT_PARTS]
    assert len(ids) == len(set(ids))
