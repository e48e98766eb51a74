"""The rules of DESIGN "What is true at a time" as pure functions on rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model import labels
from graph_model.lineage.history import group_executions, merge_writes, visible_writes
from graph_model.lineage.history.rules import Details, part_of
from graph_model.stores.catalogue_values import SuccessfulWrite

_ROW = SuccessfulWrite(
    id="", target="d", at=0, logical_plan="p", job="j", mode=labels.OVERWRITE, dynamic=False,
    command="InsertIntoHadoopFsRelationCommand", producer="spline", application_id="app",
    reads="r",
)  # fmt: skip
CTAS = "CreateDataSourceTableAsSelectCommand"


def row(id: str, at: int, **values: Any) -> SuccessfulWrite:
    return _ROW._replace(id=id, at=at, **values)


def told(*rows: SuccessfulWrite, **details: Any) -> list[tuple[str, ...]]:
    known = Details(**({"partitions": {}, "gaps": {}, "keys": {}} | details))
    return [write.executions for write in merge_writes(rows, known)]


# --- merging -------------------------------------------------------------------------------------


def test_a_create_table_as_select_is_one_write_at_the_earlier_time() -> None:
    (write,) = merge_writes([row("b", 5_200, command=CTAS), row("a", 5_000)])
    assert (write.id, write.at, write.executions) == ("a", 5_000, ("a", "b"))


def test_an_insert_overwrite_directory_is_one_write_and_two_of_them_are_two() -> None:
    outer = "InsertIntoDataSourceDirCommand"
    rows = (
        row("a", 1_000), row("b", 1_010, command=outer),
        row("c", 2_000), row("d", 2_010, command=outer),
    )  # fmt: skip
    assert told(*rows) == [("a", "b"), ("c", "d")]
    assert told(rows[1], rows[3]) == [("b",), ("d",)]


@pytest.mark.parametrize(
    "other",
    [
        {"at": 15_001}, {"application_id": "other"}, {"application_id": ""}, {"target": "e"},
        {"reads": "s"}, {"command": "SaveIntoDataSourceCommand"}, {"mode": labels.APPEND},
        {"at": 4_999}, {"producer": "listener", "mode": labels.APPEND},
    ],
)  # fmt: skip
def test_reports_that_do_not_agree_are_no_double_write(other: dict[str, Any]) -> None:
    rows = row("a", 5_000), row("b", 5_000, command=CTAS)._replace(**other)
    assert sorted(told(*rows)) == [("a",), ("b",)]


def test_each_execution_of_a_double_write_is_used_once() -> None:
    rows = (
        row("a", 1_000), row("b", 1_200, command=CTAS), row("c", 2_000),
        row("d", 2_200, command=CTAS), row("e", 2_300, command=CTAS),
    )  # fmt: skip
    assert told(*rows) == [("a", "b"), ("c", "d"), ("e",)]


def test_the_kth_write_of_one_producer_pairs_with_the_kth_of_the_other() -> None:
    rows = [row(f"a{k}", k * 60_000) for k in range(3)]
    rows += [row(f"b{k}", k * 60_000 + 300, producer="listener") for k in range(3)]
    assert told(*rows) == [("a0", "b0"), ("a1", "b1"), ("a2", "b2")]


def test_producers_too_far_apart_tell_of_two_writes() -> None:
    assert len(told(row("a", 0), row("b", 10_001, producer="listener"))) == 2


def test_an_append_and_an_overwrite_that_two_producers_tell_are_two_writes() -> None:
    rows = row("a", 0), row("b", 5, producer="listener", mode=labels.APPEND)
    assert told(*rows) == [("a",), ("b",)]
    parted = rows[1]._replace(mode=labels.OVERWRITE_PARTITIONS)
    assert told(rows[0], parted) == [("a", "b")]
    assert told(rows[0], rows[1]._replace(mode=labels.UNKNOWN_MODE)) == [("a", "b")]


def test_a_table_just_made_holds_nothing_else_whatever_its_insert_says() -> None:
    """Spark's own insert is dynamic by configuration; Hive's is always an append."""
    dynamic = row("a", 0, dynamic=True, mode=labels.OVERWRITE_PARTITIONS), row("b", 9, command=CTAS)
    hive = (
        row("a", 0, mode=labels.APPEND, command="InsertIntoHiveTable"),
        row("b", 9, command="CreateHiveTableAsSelectCommand"),
    )
    for rows in (dynamic, hive):
        (write,) = merge_writes(rows)
        assert write.closes == (part_of(""),)


@pytest.mark.parametrize("insert", [labels.UNKNOWN_MODE, labels.OVERWRITE])
@pytest.mark.parametrize(
    ("inner", "command"),
    [
        ("InsertIntoHiveTable", labels.HIVE_CTAS),
        ("InsertIntoHadoopFsRelationCommand", CTAS),
    ],
)
def test_a_command_that_names_no_input_is_one_write_with_its_insert(
    inner: str, command: str, insert: str
) -> None:
    """OpenLineage: .267 the insert with its input, .268 the command without inputs and mode."""
    rows = (
        row("a", 267, mode=insert, command=inner, reads="t1"),
        row("b", 268, mode=labels.UNKNOWN_MODE, command=command, reads=""),
    )
    (write,) = merge_writes(rows)
    assert (write.executions, write.logical_plan) == (("a", "b"), rows[0].logical_plan)
    assert write.closes == merge_writes(rows[:1])[0].closes
    other = rows[1]._replace(reads="t2")
    assert len(merge_writes((rows[0], other))) == 2


def test_a_mode_that_one_of_two_producers_tells_is_that_of_the_write() -> None:
    rows = row("a", 0), row("b", 5, producer="listener", mode=labels.UNKNOWN_MODE)
    assert merge_writes(rows)[0].closes == (part_of(""),)
    unknown = [item._replace(mode=labels.UNKNOWN_MODE) for item in rows]
    assert merge_writes(unknown)[0].closes == ()


def test_a_double_write_told_by_two_producers_is_one() -> None:
    rows = (
        row("a", 0), row("b", 200, command=CTAS),
        row("c", 300, command=CTAS, producer="listener"),
    )  # fmt: skip
    assert told(*rows) == [("a", "b", "c")]
    assert group_executions(rows) == [rows]


def test_columns_come_from_the_plan_with_fewer_gaps() -> None:
    rows = row("a", 0, logical_plan="blind"), row("b", 1, producer="x", logical_plan="sharp")
    (write,) = merge_writes(rows, Details({}, {"blind": 2, "sharp": 1}, {}))
    assert (write.logical_plan, write.at) == ("sharp", 0)


def test_of_two_without_gaps_the_plan_with_expressions_tells_the_columns() -> None:
    client = row("a", 5_000, producer="openlineage-spark 1.53.0", logical_plan="told")
    agent = row("b", 5_100, producer="headwater-listener 0.2.0", logical_plan="derived")
    (write,) = merge_writes([client, agent])
    assert (write.id, write.at, write.logical_plan) == ("a", 5_000, "derived")
    gaps = Details(partitions={}, gaps={"derived": 1}, keys={})
    (write,) = merge_writes([client, agent], gaps)
    assert write.logical_plan == "told"


FULL: dict[str, Any] = {"producer": "listener", "logical_plan": "full", "reads": "a b"}


def test_a_plan_that_says_its_reads_are_not_all_joins_the_one_that_tells_them() -> None:
    """The stock agent leaves out the reads of a subquery, and says so: a gap."""
    rows = row("s", 0, logical_plan="part", reads="a"), row("l", 900, **FULL)
    assert told(*rows) == [("s",), ("l",)], "reads that differ are two writes"
    details = Details({}, {"full": 3, "part": 1}, {}, frozenset({"part"}))
    (write,) = merge_writes(rows, details)
    assert (write.executions, write.at) == (("s", "l"), 0)
    assert write.logical_plan == "full", "no table that was read is hidden, whatever the gaps"
    assert group_executions(rows, details.incomplete) == [rows]


@pytest.mark.parametrize(
    "other",
    [
        {"at": 10_001}, {"reads": "b c"}, {"reads": "a"}, {"mode": labels.APPEND},
        {"producer": "spline"}, {"application_id": "other"}, {"target": "e"},
    ],
)  # fmt: skip
def test_a_report_without_all_inputs_of_the_other_is_another_write(other: dict[str, Any]) -> None:
    rows = row("s", 0, logical_plan="part", reads="a"), row("l", 900, **FULL)
    known = {"incomplete": frozenset({"part"})}
    if other.get("reads") == "a":  # nothing more: as before
        assert told(rows[0], rows[1]._replace(reads="a"), **known) == [("s", "l")]
    else:
        assert len(told(rows[0], rows[1]._replace(**other), **known)) == 2


def test_an_incomplete_one_takes_a_report_that_no_other_pair_needs() -> None:
    """Two statements in a second, of which the agent's second reads more than it knows."""
    rows = (
        row("s1", 0, reads="a"), row("s2", 500, logical_plan="part", reads="a"),
        row("l1", 100, producer="listener", reads="a"), row("l2", 600, **FULL),
        row("o1", 200, producer="x", reads="a"), row("o2", 700, **FULL | {"producer": "x"}),
    )  # fmt: skip
    assert told(*rows, incomplete=frozenset({"part"})) == [("s1", "l1", "o1"), ("s2", "l2", "o2")]


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), max_size=12), st.data())
def test_the_merge_does_not_depend_on_the_order_of_rows(
    times: list[int], data: st.DataObject
) -> None:
    rows = [
        row(
            f"e{n}", at * 1_000,
            command=data.draw(st.sampled_from([CTAS, _ROW.command])),
            producer=data.draw(st.sampled_from(["spline", "listener"])),
            reads=data.draw(st.sampled_from("rs")),
        )
        for n, at in enumerate(times)
    ]  # fmt: skip
    shuffled = data.draw(st.permutations(rows))
    assert merge_writes(shuffled) == merge_writes(rows)
    assert sorted(e for w in merge_writes(rows) for e in w.executions) == sorted(r.id for r in rows)


# --- visibility ----------------------------------------------------------------------------------


def seen(
    at: int, *rows: SuccessfulWrite, read: str = "", since: int | None = None, **details: Any
) -> list[str]:
    known = Details(**({"partitions": {}, "gaps": {}, "keys": {}} | details))
    apart = [item._replace(application_id=item.id) for item in rows]
    parts = (part_of(read),)
    return [
        w.id
        for w in visible_writes(
            merge_writes(apart, known), at if since is None else since, at, parts
        )
    ]


def test_the_latest_overwrite_strictly_before_and_appends_since() -> None:
    rows = (
        row("a", 1), row("b", 2), row("c", 3, mode=labels.APPEND), row("d", 4),
    )  # fmt: skip
    assert seen(4, *rows) == ["c", "b"]
    assert seen(5, *rows) == ["d"]
    assert seen(1, *rows) == []


def test_writes_at_one_time_are_ordered_by_id() -> None:
    assert seen(9, row("a", 1, mode=labels.APPEND), row("b", 1)) == ["b"]
    assert seen(9, row("b", 1, mode=labels.APPEND), row("a", 1)) == ["b", "a"]


def parted(id: str, at: int, **values: Any) -> SuccessfulWrite:
    return row(id, at, mode=labels.OVERWRITE_PARTITIONS, **values)


def test_an_overwrite_of_a_partition_closes_it_alone() -> None:
    rows = row("whole", 1), parted("one", 2), parted("two", 3), parted("again", 4)
    partitions = {"one": ["dt=1"], "two": ["dt=2"], "again": ["dt=1"]}
    assert seen(9, *rows, partitions=partitions) == ["again", "two", "whole"]
    assert seen(9, *rows, partitions=partitions, read="dt=1") == ["again"]
    assert seen(9, *rows, partitions=partitions, read="dt=3") == ["whole"]
    assert seen(9, *rows, row("full", 5), partitions=partitions) == ["full"]


def test_a_wider_partition_closes_the_narrower_and_not_the_other_way() -> None:
    rows = parted("hour", 1), parted("day", 2), parted("later", 3)
    partitions = {"hour": ["dt=1/h=2"], "day": ["dt=1"], "later": ["dt=1/h=3"]}
    assert seen(9, *rows, partitions=partitions) == ["later", "day"]
    assert seen(9, *rows, partitions=partitions, read="h=3") == ["later"]


def test_dynamic_mode_with_unknown_values_closes_nothing() -> None:
    rows = row("a", 1), parted("b", 2, dynamic=True)
    assert seen(9, *rows) == ["b", "a"]
    some = {"partitions": {"b": ["dt=1"]}, "keys": {"p": frozenset({"dt", "h"})}}
    assert seen(9, *rows, read="dt=1", **some) == ["b", "a"]
    all_known = {"partitions": {"b": ["dt=1"]}, "keys": {"p": frozenset({"dt"})}}
    assert seen(9, *rows, read="dt=1", **all_known) == ["b"]


_writes = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from([labels.OVERWRITE, labels.APPEND, labels.OVERWRITE_PARTITIONS]),
        st.sampled_from(["dt=1", "dt=2", "dt=1/h=1"]),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(_writes, st.integers(0, 7), st.integers(0, 7), st.sampled_from(["", "dt=1", "h=1"]))
def test_an_interval_sees_all_that_each_of_its_times_sees(
    writes: list[tuple[int, str, str]], one: int, other: int, read: str
) -> None:
    since, until = sorted((one, other))
    rows = [row(f"w{n}", at, mode=mode) for n, (at, mode, _) in enumerate(writes)]
    known = {
        f"w{n}": [text]
        for n, (_, mode, text) in enumerate(writes)
        if mode == labels.OVERWRITE_PARTITIONS
    }
    each = {
        w for at in range(since, until + 1) for w in seen(at, *rows, read=read, partitions=known)
    }
    assert each <= set(seen(until, *rows, read=read, since=since, partitions=known))
