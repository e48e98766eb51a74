"""Catalog names and OpenLineage names: many spellings, one vertex."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import catalog_table, normalise, openlineage_symlink, openlineage_uri


@pytest.mark.parametrize(
    ("database", "table", "uri"),
    [
        ("hr", "attendance_daily", "spark_catalog/hr.attendance_daily"),
        ("HR", "Attendance_Daily", "spark_catalog/hr.attendance_daily"),
        ("`hr`", "`t`", "spark_catalog/hr.t"),
        (None, "hr.t", "spark_catalog/hr.t"),
        (None, "`hr`.`t`", "spark_catalog/hr.t"),
        (None, "spark_catalog.hr.t", "spark_catalog/hr.t"),
        (None, "my_iceberg.hr.t", "my_iceberg/hr.t"),
        (None, "t", "spark_catalog/default.t"),
        ("", "t", "spark_catalog/default.t"),
        ("hr", "a.b", "spark_catalog/hr.`a.b`"),
        ("delta", "/lake/t", "/lake/t"),
        (None, "delta.`s3a://lake/t`", "s3a://lake/t"),
        (None, "spark_catalog.delta.`/lake/t`", "/lake/t"),
    ],
)
def test_a_table_of_a_catalog_has_one_uri(database, table, uri):
    assert catalog_table(database, table) == uri


def test_a_catalog_of_its_own_is_the_authority():
    assert catalog_table(None, "Lakehouse.hr.t") == "lakehouse/hr.t"


@pytest.mark.parametrize(
    ("written", "canonical", "scope"),
    [
        ("spark_catalog/hr.t", "spark_catalog/hr.t", "here"),
        ("Spark_Catalog/HR.`T`", "spark_catalog/hr.t", "here"),
        ("spark_catalog.hr.t", "spark_catalog/hr.t", "here"),
        ("my_iceberg/hr.t", "my_iceberg/hr.t", "here"),
        ("my_iceberg/a.b.t", "my_iceberg/a.b.t", "here"),
        ("hive://Meta:9083/HR.t", "hive://meta/hr.t", ""),
        ("hive://localhost/hr.t", "hive://localhost/hr.t", "here"),
        ("unitycatalog://h/main.hr.t", "unitycatalog://h/main.hr.t", ""),
        ("arn:aws:glue:eu-west-1:12:table/hr/t", "arn:aws:glue:eu-west-1:12/hr.t", ""),
        ("arn:aws:glue:eu-west-1:12/table/hr/t", "arn:aws:glue:eu-west-1:12/hr.t", ""),
        ("arn:aws-cn:glue:cn-north-1:12/hr.t", "arn:aws-cn:glue:cn-north-1:12/hr.t", ""),
    ],
)
def test_catalog_names_are_recognised_in_every_spelling(written, canonical, scope):
    (result,) = normalise(written, "here")
    assert (result.uri, result.scope, result.kind) == (canonical, scope, "name")
    assert result.name == canonical.rpartition("/")[2]


@pytest.mark.parametrize("text", ["data/x.csv", "a/b/c.d", "t", "arn:aws:s3:::b", "hive://h"])
def test_other_texts_are_no_catalog_names(text):
    assert normalise(text, "")[0].kind != "name"


def test_a_path_in_the_place_of_a_table_is_that_path():
    assert normalise("delta.`/lake/t/`", "here")[0].uri == "file:/lake/t"
    assert normalise("spark_catalog.delta.`s3a://lake/t`", "")[0].uri == "s3://lake/t"


@settings(deadline=None)
@given(st.none() | st.text(st.characters(), max_size=10), st.text(st.characters(), max_size=12))
def test_any_table_gets_a_uri_that_names_it(database, table):
    uri = catalog_table(database, table)
    assert normalise(uri, "") == normalise(normalise(uri, "")[0].uri, "")


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/`", exclude_categories=("Cc",)), min_size=1
).filter(lambda text: "=" not in text and "@" not in text and not text.endswith(".csv"))


@settings(deadline=None)
@given(NAMES, NAMES)
def test_the_uri_of_a_table_is_canonical(database, table):
    uri = catalog_table(f"`{database}`", f"`{table}`")
    (result,) = normalise(uri, "")
    assert result.kind == "name" or table.lower().endswith((".json", ".txt", ".xml", ".gz"))
    assert result.uri == uri


# --- OpenLineage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("namespace", "name", "spline"),
    [
        ("file", "/lake/data/agg/absent", "file:/lake/data/agg/absent"),
        ("file://nas", "/share/x", "file://nas/share/x"),
        ("s3://lake", "/curated/employees", "s3a://lake/curated/employees"),
        ("s3://lake", "curated/employees/dt=2024-01-01", "s3a://lake/curated/employees"),
        ("hdfs://nn:8020", "/lake/x", "hdfs://nn/lake/x"),
        ("gs://lake", "x", "gs://lake/x"),
        ("abfss://c@a.dfs.core.windows.net", "x", "abfss://c@a.dfs.core.windows.net/x"),
        ("dbfs://", "/mnt/x", "dbfs:/mnt/x"),
        ("sqlite:/lake/data/jdbc.db", "emp", "jdbc:sqlite:/lake/data/jdbc.db:emp"),
        ("duckdb:///lake/shop.duckdb", "shop.main.t", "jdbc:duckdb:/lake/shop.duckdb:shop.main.t"),
        ("duckdb://shop.duckdb", "shop.main.t", "jdbc:duckdb:shop.duckdb:shop.main.t"),
        ("postgres://H:5432", "db.hr.emp", "jdbc:postgresql://h:5432/db?user=u:hr.emp"),
        ("mysql://h:3306", "hr.emp", "jdbc:mysql://h/hr?useSSL=false:emp"),
        ("mssql://h:1433", "hr.dbo.emp", "jdbc:sqlserver://h;databaseName=hr:dbo.emp"),
        ("sqlserver://h:1433", "hr.dbo.emp", "jdbc:sqlserver://h;databaseName=hr:dbo.emp"),
        ("oracle://h:1521", "orcl.HR.EMP", "jdbc:oracle:thin:@h:1521:ORCL:HR.EMP"),
        (
            "snowflake://org-acct",
            "HR.PUBLIC.EMP",
            "jdbc:snowflake://org-acct.snowflakecomputing.com/?db=HR:PUBLIC.EMP",
        ),
        ("bigquery", "proj.ds.t", "bigquery://proj:ds.t"),
        ("mongodb://h:27017", "hr.staff", "mongodb://h/hr.staff"),
        ("arn:aws:glue:eu-west-1:12", "table/hr/t", "arn:aws:glue:eu-west-1:12/hr.t"),
        ("hive://meta:9083", "hr.t", "hive://meta/hr.t"),
        # the OpenLineage dispatcher of Spline's agent
        ("mysql://h:3306", "/shop:orders", "jdbc:mysql://h/shop:orders"),
        ("redshift://c:5439", "/dev:hr.emp", "jdbc:redshift://c/dev:hr.emp"),
        ("derby", "/lake/hr:STAFF", "jdbc:derby:/lake/hr:STAFF"),
        ("sqlite", "/lake/hr.db:staff", "jdbc:sqlite:/lake/hr.db:staff"),
        ("file", "/lake/a:b", "file:/lake/a:b"),
    ],
)
def test_openlineage_and_spline_name_one_location_alike(namespace, name, spline):
    ours = normalise(openlineage_uri(namespace, name), "here")
    assert [(n.uri, n.scope) for n in ours] == [(n.uri, n.scope) for n in normalise(spline, "here")]


@pytest.mark.parametrize(
    ("namespace", "name", "kind", "uri"),
    [
        (
            "file:/lake/warehouse",
            "hr.attendance_daily",
            "TABLE",
            "spark_catalog/hr.attendance_daily",
        ),
        ("s3a://lake/warehouse", "hr.t", "TABLE", "spark_catalog/hr.t"),
        ("", "hr.t", "TABLE", "spark_catalog/hr.t"),
        ("hive://meta:9083", "hr.t", "TABLE", "hive://meta/hr.t"),
        ("arn:aws:glue:eu-west-1:12", "table/hr/t", "TABLE", "arn:aws:glue:eu-west-1:12/hr.t"),
        ("s3a://lake", "/warehouse/t", "LOCATION", "s3://lake/warehouse/t"),
    ],
)
def test_a_symlink_names_a_table_or_a_location(namespace, name, kind, uri):
    assert normalise(openlineage_symlink(namespace, name, kind), "")[0].uri == uri


@settings(deadline=None)
@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_any_pair_has_a_uri(namespace, name):
    assert normalise(openlineage_uri(namespace, name), "")
    assert normalise(openlineage_symlink(namespace, name, "TABLE"), "")
