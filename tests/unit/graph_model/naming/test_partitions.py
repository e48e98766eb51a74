"""Partitions, part files and globs: the parts taken off a path, and the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import DEFAULT_RULES, normalise, partition_pairs, partition_text

ID = "c618a9fa-f5eb-4af9-9746-ae1035b36bc7"
YMD = ("year", "month", "day")

# path below s3://lake/ -> (dataset, keys, partition)
CASES = [
    # key=value
    ("t/dt=2024-01-31", "t", ("dt",), "dt=2024-01-31"),
    ("t/DT=2024-01-31/", "t", ("dt",), "dt=2024-01-31"),
    ("t/dt=2024-01-31/hour=03", "t", ("dt", "hour"), "dt=2024-01-31/hour=03"),
    ("t/yyyy=2024/mm=01", "t", ("yyyy", "mm"), "yyyy=2024/mm=01"),
    ("t/ts=2024-01-31 00%3A00%3A00", "t", ("ts",), "ts=2024-01-31 00:00:00"),
    ("t/p=a%2Fb", "t", ("p",), "p=a%2Fb"),
    ("t/p=50%25", "t", ("p",), "p=50%25"),
    ("t/p=", "t", ("p",), "p="),
    ("t/p=__HIVE_DEFAULT_PARTITION__", "t", ("p",), "p=__HIVE_DEFAULT_PARTITION__"),
    ("dt=1", "", ("dt",), "dt=1"),
    ("a=1/t", "a=1/t", (), None),
    # dates
    ("t/2024-01-31", "t", ("date",), "date=2024-01-31"),
    ("t/20240131", "t", ("date",), "date=2024-01-31"),
    ("t/2024_01_31", "t", ("date",), "date=2024-01-31"),
    ("t/2024/01/31", "t", YMD, "year=2024/month=01/day=31"),
    ("t/2024/01/31/23", "t", (*YMD, "hour"), "year=2024/month=01/day=31/hour=23"),
    ("t/2024/01", "t", ("year", "month"), "year=2024/month=01"),
    ("t/2024-01", "t", ("month",), "month=2024-01"),
    ("t/2024-01-31T13", "t", ("hour",), "hour=2024-01-31T13"),
    ("t/2024-01-31T13:30:00", "t", ("time",), "time=2024-01-31T13:30:00"),
    ("t/region=eu/2024-01-31", "t", ("region", "date"), "region=eu/date=2024-01-31"),
    ("t/2024", "t/2024", (), None),
    ("t/2024-13-01", "t/2024-13-01", (), None),
    ("t/20241399", "t/20241399", (), None),
    ("t/12345678", "t/12345678", (), None),
    ("t/v20240131", "t/v20240131", (), None),
    ("t/2024-01-31.csv", "t/2024-01-31.csv", (), None),
    ("2024-01-31", "2024-01-31", (), None),
    ("2024/01/31", "2024/01/31", (), None),
    # part files
    (f"t/part-00000-{ID}-c000.snappy.parquet", "t", (), None),
    (f"t/part-00000-{ID}.c000.snappy.parquet", "t", (), None),
    (f"t/dt=1/part-00012-{ID}.c000.csv", "t", ("dt",), "dt=1"),
    ("t/part-00000", "t", (), None),
    ("t/part-r-00000.gz", "t", (), None),
    ("t/part-00000-tid-123-abc-c000.snappy.parquet", "t", (), None),
    ("t/run-1700000000000-part-r-00003", "t", (), None),
    ("t/000000_0", "t", (), None),
    ("t/part-*", "t", (), None),
    ("t/part-*.parquet", "t", (), None),
    ("t/part1.csv", "t/part1.csv", (), None),
    ("t/party", "t/party", (), None),
    ("t/department-1", "t/department-1", (), None),
    ("t/dt=1/data.csv", "t", ("dt",), "dt=1"),
    ("t/2024-01-31/data.csv", "t/2024-01-31/data.csv", (), None),
    # how table formats keep their tables
    ("t/_delta_log/00000000000000000000.json", "t", (), None),
    ("t/_SUCCESS", "t", (), None),
    ("t/_temporary/0/task/x", "t", (), None),
    (f"t/data/dt=1/00000-0-{ID}-00001.parquet", "t", ("dt",), "dt=1"),
    (f"t/data/00000-0-{ID}-00001.parquet", "t", (), None),
    (f"t/metadata/00001-{ID}.metadata.json", "t", (), None),
    ("t/data", "t/data", (), None),
    ("t/metadata", "t/metadata", (), None),
    # globs over partitions
    ("t/dt=*", "t", ("dt",), None),
    ("t/dt=2024-01-*", "t", ("dt",), None),
    ("t/dt={1,2}", "t", ("dt",), None),
    ("t/{dt=1,dt=2}", "t", ("dt",), None),
    ("t/dt=1/hour=*", "t", ("dt", "hour"), None),
    ("t/dt=1/*", "t", ("dt",), "dt=1"),
    ("t/dt=1/*.parquet", "t", ("dt",), "dt=1"),
    ("t/dt=*/*.parquet", "t", ("dt",), None),
    ("t/*=*", "t", (), None),
    ("t/2024-01-*", "t", ("date",), None),
    ("t/202401??", "t", ("date",), None),
    ("t/2024/*/*", "t", YMD, None),
    ("t/2024/01/*", "t", ("year", "month"), "year=2024/month=01"),
    ("t/2024-01-31/*", "t", ("date",), "date=2024-01-31"),
    ("t/2024/01/31/*.csv.gz", "t", YMD, "year=2024/month=01/day=31"),
    ("t/2024-01-31/*/*.json", "t", ("date",), "date=2024-01-31"),
    # below a date what names a part of the files is a dataset of its own, as one file is
    ("t/2024-01-31/orders_*.csv", "t/2024-01-31/orders_*.csv", (), None),
    ("t/2024/01/31/{a,b}.csv", "t/2024/01/31/{a,b}.csv", (), None),
    ("t/2024-01-31/*/x-?.csv", "t/2024-01-31/*/x-?.csv", (), None),
    ("t/dt=1/orders_*.csv", "t", ("dt",), "dt=1"),
    # globs over something else
    ("*/t/dt=1", "*/t", ("dt",), "dt=1"),
    ("t/*", "t/*", (), None),
    ("t/{a,b}", "t/{a,b}", (), None),
    ("t/{dt=1,hr=2}", "t/{dt=1,hr=2}", (), None),
]


@pytest.mark.parametrize(("path", "dataset", "keys", "partition"), CASES)
def test_partitions_are_taken_off_and_named(path, dataset, keys, partition):
    (result,) = normalise(f"s3a://lake/{path}", "")
    assert result.uri == f"s3://lake/{dataset}".rstrip("/")
    assert (result.partition_keys, result.partition) == (keys, partition)


def test_a_date_format_can_be_taken_out_of_the_rules():
    rules = replace(DEFAULT_RULES, date_formats=("yyyy",))
    assert normalise("s3://lake/t/2024", "", rules)[0].uri == "s3://lake/t"
    assert normalise("s3://lake/t/2024-01-31", "", rules)[0].uri == "s3://lake/t/2024-01-31"


KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
VALUES = st.none() | st.text(st.characters(codec="utf-8"), max_size=8).filter(
    lambda text: text != "__HIVE_DEFAULT_PARTITION__"
)


@settings(deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_the_partition_text_divides_into_its_pairs(values):
    text = partition_text(values.items())
    expected = list(values.values())
    assert [value for _, value in partition_pairs(text)] == expected
    assert partition_text(partition_pairs(text)) == text


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="*?[]{}"), max_size=12))
def test_a_value_reads_the_same_from_a_path_and_from_a_listing(value):
    """Spark escapes values in paths; the values that a producer lists are plain."""
    escaped = "".join(f"%{ord(c):02X}" if ord(c) < 128 and not c.isalnum() else c for c in value)
    (result,) = normalise(f"s3://lake/t/p={escaped}", "")
    assert result.partition == partition_text([("p", value)])
