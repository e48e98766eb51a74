"""Tables about a table: a dataset of their own, and the table that they are about."""

from __future__ import annotations

import pytest

from graph_model.naming import DEFAULT_RULES, metadata_table, normalise, tables_of

GLUE = "arn:aws:glue:eu-west-1:123456789012"


@pytest.mark.parametrize("word", DEFAULT_RULES.metadata_tables)
def test_a_metadata_table_at_the_place_of_its_table_is_another_dataset(word: str) -> None:
    (place,) = normalise("s3://wh/db/t", "")
    (name,) = normalise(f"ice/db.t.{word}", "")
    found = metadata_table(place, name)
    assert (found.uri, found.name) == (f"s3://wh/db/t.{word}", f"t.{word}")
    assert metadata_table(found, name) == found
    assert tables_of([found, found]) == (place,)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("s3://wh/db/t", "ice/db.t"),
        ("s3://wh/db/t", "ice/db.t.changes"),  # it has the rows of the table
        ("s3://wh/db/files", "ice/db.files"),
        ("s3://wh/a/b/files", "ice/a.b.files"),  # a table in a namespace of two levels
        ("s3://wh/x", "unitycatalog://h/main.hr.files"),
        ("jdbc:postgresql://h/db:hr.t", "ice/db.t.files"),
    ],
)
def test_another_name_reads_the_place_itself(place: str, name: str) -> None:
    (here,), (called,) = normalise(place, ""), normalise(name, "")
    assert metadata_table(here, called) == here


@pytest.mark.parametrize(
    ("uri", "table"),
    [
        ("spark_catalog/db.t.snapshots", "spark_catalog/db.t"),
        ("ice/a.b.t.refs", "ice/a.b.t"),
        (f"{GLUE}:table/db/t.history", f"{GLUE}/db.t"),
        (
            "https://polaris.example/api/catalog/db.t.files",
            "https://polaris.example/api/catalog/db.t",
        ),
        ("unitycatalog://h/main.hr.t.files", "unitycatalog://h/main.hr.t"),
        ("s3://wh/db/t.snapshots", "s3://wh/db/t"),
        ("jdbc:trino://h:8080/ice:db.t$snapshots", "jdbc:trino://h/ice:db.t"),
        ("jdbc:trino://h:8080/hive:db.t$properties", "jdbc:trino://h/hive:db.t"),
        ("spark_catalog/db.t$schemas", "spark_catalog/db.t"),
        (f"{GLUE}:table/db/t$partitions", f"{GLUE}/db.t"),
        ("hive://h:9083/db.T$Files", "hive://h/db.t"),
        ("s3://wh/db/t#files", "s3://wh/db/t"),
        ("hdfs://n/wh/t#all_data_files", "hdfs://n/wh/t"),
        ("jdbc:oracle:thin:@//h:1521/x:hr.t$history", None),
        ("spark_catalog/db.t$audit_log", None),
        ("spark_catalog/db.$files", None),
        ("s3://wh/db/t$options", "s3://wh/db/t"),
        ("s3://wh/db/t#properties", None),
        ("s3://wh/db/t$files", None),
        ("s3://wh/db/application.properties", None),
        ("s3://wh/db/#files", None),
        ("unitycatalog://h/main.hr.files", None),
        ("spark_catalog/db.files", None),
        ("s3://wh/db/snapshots", None),
        ("s3://wh/db/t.parquet", None),
        ("jdbc:postgresql://h/db:hr.t.files", None),
    ],
)
def test_the_table_behind_follows_from_the_uri(uri: str, table: str | None) -> None:
    found = tables_of(normalise(uri, "lake"))
    assert [one.uri for one in found] == ([] if table is None else [table])


@pytest.mark.parametrize("name", ["hive://h/db.t$snapshots", "ice/db.t$snapshots"])
def test_behind_a_dollar_it_is_the_same_table_about_the_place(name: str) -> None:
    (place,), (called,) = normalise("s3://wh/db/t", ""), normalise(name, "")
    assert metadata_table(place, called).uri == "s3://wh/db/t.snapshots"


@pytest.mark.parametrize("word", DEFAULT_RULES.dollar_tables)
@pytest.mark.parametrize("catalog", ["spark_catalog", "hive://h"])
def test_behind_a_dollar_a_table_that_no_dot_names_keeps_its_dollar(
    catalog: str, word: str
) -> None:
    (place,), (called,) = normalise("s3://wh/db/t", ""), normalise(f"{catalog}/db.t${word}", "")
    found = metadata_table(place, called)
    assert (found.uri, found.name) == (f"s3://wh/db/t${word}", f"t${word}")
    assert metadata_table(found, called) == found
    assert tables_of([found]) == (place,)
