"""Which partitions a write touched, from the times of a table's folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from spark_agent_config.capture.command_effects import (
    Bounded,
    Entry,
    TooMuchToList,
    read_status,
    written_partitions,
)

START = 50_000
BEFORE, SINCE = START - 10_000, START + 300


def listing_of(tree: Mapping[str, Sequence[tuple[str, bool, int]]]):
    def listing(place: str) -> list[Entry]:
        return [Entry(f"{place}/{name}", is_folder, at) for name, is_folder, at in tree[place]]

    return listing


def folders(**times: int) -> list[tuple[str, bool, int]]:
    return [(f"dt={name}", True, at) for name, at in times.items()]


def touched(tree, keys=("dt",), count=1, static: Mapping[str, str] | None = None):
    return written_partitions(listing_of(tree), "/t", keys, static or {}, count, START)


def test_the_partitions_written_since_the_query_began_are_told() -> None:
    tree = {"/t": [*folders(d1=BEFORE, d2=SINCE, d3=SINCE + 5), ("_SUCCESS", False, SINCE)]}

    assert touched(tree, count=2) == ("dt=d2", "dt=d3")


@pytest.mark.parametrize("count", [1, 3])
def test_nothing_is_told_where_times_and_sparks_count_disagree(count: int) -> None:
    tree = {"/t": folders(d1=BEFORE, d2=SINCE, d3=SINCE)} | {
        f"/t/dt=d{n}": [("part-0", False, BEFORE if n == 1 else SINCE)] for n in (1, 2, 3)
    }

    assert touched(tree, count=count) == ()


def test_a_file_system_that_keeps_whole_seconds_is_understood() -> None:
    started = 50_700
    tree = {"/t": folders(d1=49_000, d2=50_000)}

    assert written_partitions(listing_of(tree), "/t", ("dt",), {}, 1, started) == ("dt=d2",)


def test_where_folders_have_no_times_their_files_have() -> None:
    tree = {
        "/t": folders(d1=0, d2=0),
        "/t/dt=d1": [("part-0", False, BEFORE)],
        "/t/dt=d2": [("part-0", False, BEFORE), ("part-1", False, SINCE)],
    }

    assert touched(tree) == ("dt=d2",)


def test_nested_partitions_below_a_static_one_are_told_whole() -> None:
    tree = {
        "/t": [("dt=a%3Ab", True, SINCE), ("dt=c", True, BEFORE), ("_temporary", True, SINCE)],
        "/t/dt=a%3Ab": [("h=1", True, BEFORE), ("h=2", True, SINCE)],
    }

    assert touched(tree, ("DT", "h"), static={"dt": "a:b"}) == ("dt=a%3Ab/h=2",)


def test_a_partition_that_lies_elsewhere_makes_the_answer_unknown() -> None:
    assert touched({"/t": folders(d1=SINCE)}, count=2) == ()


def test_a_listing_gives_up_beyond_its_bounds() -> None:
    many = {"/t": [(f"dt={n}", True, BEFORE) for n in range(100)]}
    tree = many | {f"/t/dt={n}": [("h=1", True, BEFORE)] for n in range(100)}
    bounded = Bounded(listing_of(tree))

    with pytest.raises(TooMuchToList):
        written_partitions(bounded, "/t", ("dt", "h"), {}, 1, START)


def test_a_listing_gives_up_when_its_time_is_over() -> None:
    ticks = iter([0.0, 1.0, 100.0])
    bounded = Bounded(listing_of({"/t": []}), clock=lambda: next(ticks))

    assert bounded("/t") == []
    with pytest.raises(TooMuchToList):
        bounded("/t")


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (
            "DeprecatedRawLocalFileStatus{path=file:/t/dt=a b; isDirectory=true; "
            "modification_time=1763870674905; access_time=0; owner=; group=; permission=x}",
            Entry("file:/t/dt=a b", True, 1763870674905),
        ),
        (
            "HdfsLocatedFileStatus{path=hdfs://n/t/part-0; isDirectory=false; length=9; "
            "replication=3; blocksize=1; modification_time=7; access_time=8; owner=o}",
            Entry("hdfs://n/t/part-0", False, 7),
        ),
    ],
)
def test_hadoops_words_for_a_file_are_read(text: str, entry: Entry) -> None:
    assert read_status(text) == entry
