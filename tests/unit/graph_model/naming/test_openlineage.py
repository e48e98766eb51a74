"""OpenLineage's naming page: every spelling of one place is one dataset, and no two places are."""

from __future__ import annotations

from itertools import combinations

import pytest

from graph_model.errors import InvalidDocument
from graph_model.naming import (
    normalise,
    openlineage_pair,
    openlineage_symlink,
    openlineage_uri,
    without_hosts,
)
from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.naming.rules_json import read_rules, write_rules

NAME3, NAME2 = "db.s.t", "db.t"
EU = "eu-west-1"
#: The names of one dataset: (namespace, name), or the URI of a document of Spline's.
ONE: dict[str, list[tuple[str, str] | str]] = {
    "athena": [
        (f"awsathena://athena.{EU}.amazonaws.com", NAME3),
        (f"awsathena://athena.{EU}.amazonaws.com:443", NAME3),
        (f"awsathena://ATHENA.{EU}.amazonaws.com:443/", NAME3),
        (f"awsathena://athena.{EU}.amazonaws.com", '"DB"."S"."T"'),
    ],
    "glue": [
        (f"arn:aws:glue:{EU}:123456789012", "table/db/t"),
        (f"arn:aws:glue:{EU}:123456789012", "table/DB/T"),
        (f"arn:aws:glue:{EU}:123456789012", "table/`db`/`t`"),
        (f"arn:aws:glue:{EU}:123456789012", 'table/"db"/"T"'),
        f"arn:aws:glue:{EU}:123456789012:table/db/t",
    ],
    "cosmos": [
        ("azurecosmos://a.documents.azure.com/dbs/d", "colls/t"),
        ("azurecosmos://A.documents.azure.com:443/dbs/d", "colls/t"),
    ],
    "data explorer": [
        ("azurekusto://c.westeurope.kusto.windows.net", "db/t"),
        ("azurekusto://C.westeurope.kusto.windows.net:443", "db/t"),
    ],
    "synapse": [("sqlserver://h:1433", "dbo.t"), ("sqlserver://H", "dbo.t"), "jdbc:sqlserver://h:dbo.t"],
    "sql server": [
        ("mssql://h:1433", "db.dbo.t"),
        ("mssql://H", "db.dbo.t"),
        ("mssql://h:1433", "[db].[dbo].[t]"),
        ("sqlserver://h", "db.dbo.t"),
        "jdbc:sqlserver://h:1433;databaseName=db:dbo.t",
    ],
    "bigquery": [
        ("bigquery", "p.d.t"),
        ("bigquery:", "p.d.t"),
        ("bigquery://p", "d.t"),
        ("bigquery", "`p`.`d`.`t`"),
        ("bigquery", "`p.d.t`"),
        ("bigquery", "p.d.t$20260105"),
        ("bigquery", "p.d.t@-3600000"),
        "bigquery://p:d.t",
        "bigquery://p:d.t$20260105",
    ],
    "cassandra": [
        ("cassandra://h:9042", "k.t"),
        ("cassandra://z,H", "k.t"),
        "cassandra://h:9042/k.t",
    ],
    "cassandra, no host": [("cassandra", "k.t"), "cassandra:k:t"],
    "milvus": [("milvus://h:19530", "d.c"), ("milvus://H", "d.c")],
    "fabric": [
        ("fabric-warehouse://x.datawarehouse.fabric.microsoft.com", NAME3),
        ("fabric-warehouse://X.datawarehouse.fabric.microsoft.com:1433", NAME3),
    ],
    "mysql": [("mysql://h:3306", NAME2), ("mysql://H", "DB.T"), ("mysql://H", "`db`.`t`"), "jdbc:mysql://h/Db:T"],
    "crate": [("crate://h:5432", NAME3), ("crate://h", NAME3), "jdbc:crate://h/db:s.t"],
    "db2": [("db2://h:50000", NAME3), ("db2://h", "DB.S.T"), "jdbc:db2://h:50000/db:currentSchema=s;:t"],
    "hive": [("hive://h:9083", NAME2), ("hive://H", "DB.T"), ("hive://H", '`db`."t"')],
    "hive server": [("hive2://h:10000", "DB.t"), "jdbc:hive2://h:10000/db:t"],
    "impala": [("impala://h:21050", NAME2), "jdbc:impala://h:21050/db:t"],
    "oceanbase": [("oceanbase://h:2881", NAME2), ("oceanbase://h", NAME2), "jdbc:oceanbase://h/db:t"],
    "oracle": [
        ("oracle://h:1521", "svc.s.t"),
        ("oracle://H", "SVC.s.t"),
        ("oracle://H", 'SVC."s"."t"'),
        ("oracle://H", "svc.S.T"),
        "jdbc:oracle:thin:@h:1521:svc:s.t",
    ],
    "postgres": [
        ("postgres://h:5432", NAME3),
        ("postgres://H", NAME3),
        ("postgresql://h", NAME3),
        ("postgresql://h", '"db"."s"."t"'),
        "jdbc:postgresql://h:5432/db:s.t",
    ],
    "teradata": [("teradata://h:1025", NAME2), ("teradata://h", NAME2), "jdbc:teradata://h/DATABASE=db:t"],
    "redshift": [
        (f"redshift://c.{EU}:5439", NAME3),
        (f"redshift://c.{EU}", '"DB"."s".T'),
        (f"redshift://c.c9akciq32.{EU}.redshift.amazonaws.com:5439", NAME3),
        (f"redshift://C.c9akciq32.{EU}.redshift.amazonaws.com", NAME3),
        f"jdbc:redshift://c.c9akciq32.{EU}.redshift.amazonaws.com:5439/db:s.t",
        f"jdbc:redshift:iam://c:{EU}/db:s.t",
    ],
    "redshift serverless": [
        ("redshift://wg.us-east-1:5439", NAME3),
        ("redshift://wg.123456789012.us-east-1.redshift-serverless.amazonaws.com:5439", NAME3),
        "jdbc:redshift://wg.123456789012.us-east-1.redshift-serverless.amazonaws.com/db:s.t",
    ],
    "redshift in China": [
        ("redshift://c.cn-north-1:5439", NAME3),
        ("redshift://c.x9.cn-north-1.redshift.amazonaws.com.cn:5439", NAME3),
    ],
    "snowflake, an organisation's account": [
        ("snowflake://org-acct", NAME3),
        ("snowflake://org-acct", "DB.S.T"),
        ("snowflake://org-acct", '"DB"."S"."T"'),
        ("snowflake://ORG-ACCT.snowflakecomputing.com:443", NAME3),
        ("snowflake://org-acct.privatelink.snowflakecomputing.com", NAME3),
        "jdbc:snowflake://org-acct.snowflakecomputing.com/?db=db&schema=s:t",
    ],
    "snowflake, underscores": [
        ("snowflake://org-my_own_acct", NAME3),
        "jdbc:snowflake://org-my-own-acct.snowflakecomputing.com/?db=db&schema=s:t",
    ],
    "snowflake, a locator": [
        ("snowflake://xy12345.us-east-1.aws", NAME3),
        ("snowflake://xy12345.us-east-1", NAME3),
        "jdbc:snowflake://xy12345.us-east-1.snowflakecomputing.com/?db=db&schema=s:t",
    ],
    "snowflake, a locator in the first region": [
        ("snowflake://xy12345", NAME3),
        ("snowflake://xy12345.us-west-1.aws", NAME3),
        ("snowflake://xy12345.us-west-2.aws", NAME3),
        "jdbc:snowflake://xy12345.snowflakecomputing.com/?db=db&schema=s:t",
    ],
    "snowflake on Azure": [("snowflake://xy12345.east-us-2.azure", NAME3)],
    "spanner": [("spanner://p:i", NAME3)],
    "trino": [("trino://h:8080", NAME3), ("trino://H", '"db"."s"."T"'), "jdbc:trino://h:8080/db/s:t"],
    "unity": [("unitycatalog://h", NAME3), ("unitycatalog://H:443", NAME3)],
    "databricks": [("databricks://h", NAME3), "jdbc:databricks://h:443/default;ConnCatalog=db:s.t"],
    "clickhouse": [("clickhouse://h:8123", NAME2), ("ch://h", NAME2), "jdbc:ch:http://h:8123/db:t"],
    "azure storage": [
        ("abfss://c@a.dfs.core.windows.net", "/x"),
        ("wasbs://c@A.blob.core.windows.net:443", "x"),
        "abfss://c@a.dfs.core.windows.net:443/x",
    ],
    "dbfs": [("dbfs://ws", "/x"), "dbfs://WS/x"],
    "gcs": [("gs://b", "x"), ("gcs://b", "/x")],
    "hdfs": [("hdfs://nn:8020", "/x"), ("hdfs://NN", "/x"), "hdfs://nn/x/"],
    "kafka": [
        ("kafka://a:9092", "t"),
        ("kafka://b:9092,A:9092", "t"),
        ("kafka://a,c:9093", "t"),
        "kafka://a:9092/t",
    ],
    "kafka, no broker": [("kafka", "t"), "kafka:t"],
    "kafka of Amazon": [
        (f"kafka://b-1.orders.a1b2c3.c4.kafka.{EU}.amazonaws.com:9092", "t"),
        (f"kafka://b-3.orders.a1b2c3.c4.kafka.{EU}.amazonaws.com:9098", "t"),
    ],
    "kafka of Strimzi": [
        ("kafka://orders-kafka-bootstrap.shop.svc:9093", "t"),
        ("kafka://orders-kafka-0.orders-kafka-brokers.shop.svc.cluster.local:9092", "t"),
    ],
    "local file": [("file", "/x"), ("file://", "x"), "file:/x"],
    "remote file": [("file://nas", "/x"), "file://NAS/x"],
    "box": [("box://api.box.com:443/12", "k"), ("box://API.box.com/12", "/k")],
    "rest catalog": [
        ("https://polaris.example/api/catalog", "db.t"),
        ("https://POLARIS.example:443/api/catalog/", '"db"."t"'),
    ],
    "filenet": [("filenet://h:9443/r", "k"), ("filenet://H:9443/r", "/k")],
    "sharepoint": [("mssharepoint://h:443/site", "k"), ("mssharepoint://H/site", "/k")],
    "s3": [("s3://b", "x"), ("s3a://b", "/x"), "s3n://b/x"],
    "pubsub": [("pubsub", "topic:p:t"), ("pubsub:", "topic:p:t")],
    "pubsub subscription": [("pubsub", "subscription:p:t")],
}  # fmt: skip
#: Beside those above: names that may mean another place, or of which nobody can tell.
APART: list[tuple[str, str] | str] = [
    (f"redshift://c.{EU}:5440", NAME3),
    ("redshift://c.eu-west-2:5439", NAME3),
    ("redshift://warehouse.example.org:5439", NAME3),
    (f"redshift://vpce-0a1b.{EU}.vpce.amazonaws.com:5439", NAME3),
    ("awsathena://athena.eu-west-2.amazonaws.com", NAME3),
    ("azurecosmos://a/dbs/d", "colls/t"),
    ("snowflake://zz99999.us-east-1", NAME3),
    ("snowflake://xy12345.us-east-1.gcp", NAME3),
    ("snowflake://xy12345.fhplus.us-gov-west-1.aws", NAME3),
    ("postgres://h:5433", NAME3),
    ("postgres://h", "db.s.T"),
    ("kafka://b:9092", "t"),
    ("kafka://a:9093", "t"),
    ("bigquery", "p.d.T"),
    ("https://nessie.example/iceberg", "db.t"),
    ("crate://h", 'db."s.t"'),
    ("s3://b", '"x"'),
    ("db2://h:6789", NAME3),
    ("trino://h:443", NAME3),
    ("hive://h:10000", NAME2),
    ("hdfs://nn:9000", "/x"),
    ("bigquery://q", "d.t"),
    ("milvus://h:9091", "d.c"),
    ("mssharepoint://h:8443/site", "k"),
    ("unitycatalog://h:8080", NAME3),
]


def uri_of(spelled: tuple[str, str] | str) -> str:
    written = spelled if isinstance(spelled, str) else openlineage_uri(*spelled)
    (result,) = normalise(written, "a scope")
    (again,) = normalise(result.uri, "a scope")
    assert again.uri == result.uri
    return result.uri


@pytest.mark.parametrize("place", ONE)
def test_every_spelling_of_one_place_is_one_dataset(place: str) -> None:
    assert len({uri_of(spelled) for spelled in ONE[place]}) == 1


def test_no_two_places_are_one_dataset() -> None:
    places = {place: uri_of(listed[0]) for place, listed in ONE.items()}
    places |= {str(spelled): uri_of(spelled) for spelled in APART}
    shared = [pair for pair in combinations(places, 2) if places[pair[0]] == places[pair[1]]]
    assert shared == []


def test_a_platform_team_can_join_hosts_of_its_own() -> None:
    document = write_rules(DEFAULT_RULES)
    pattern = r"(?P<name>[a-z]{1,20})\.db\.example\.org"
    document["jdbcHostPatterns"].append(["postgresql", pattern, r"\g<name>"])
    rules = read_rules(document)
    (long,) = normalise("jdbc:postgresql://orders.db.example.org/db:s.t", "", rules)
    (short,) = normalise("jdbc:postgresql://orders/db:s.t", "", rules)
    assert long.uri == short.uri


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (["postgresql", r"(a)\1", r"\g<x>"], r"jdbcHostPatterns\[0\]\[1\]"),
        (["postgresql", "(?P<a>b)", r"\g<x>"], r"jdbcHostPatterns\[0\]\[2\]"),
        (["postgresql", "(?P<a>b)", r"\1"], r"jdbcHostPatterns\[0\]\[2\]"),
        (["postgresql", "(?P<a>b)"], r"jdbcHostPatterns\[0\]"),
    ],
)
def test_a_host_pattern_that_cannot_be_used_is_refused(row: list[str], named: str) -> None:
    with pytest.raises(InvalidDocument, match=named):
        read_rules({"jdbcHostPatterns": [row]})


@pytest.mark.parametrize(
    ("namespace", "name", "label"),
    [
        ("postgres://h:5432", "sales", "public.sales"),
        ("postgres://h:5432", "raw/sales", 'public."raw/sales"'),
        ("postgres://h:5432", "shop.hr.raw?sales", 'hr."raw?sales"'),
        ("postgres", "sales", "sales"),
        ("sqlserver://h:1433", "shop.dbo.Order Details", 'dbo."Order Details"'),
        ("mysql://h:3306", "shop.a;b", '"a;b"'),
        ("trino://h:8080", "db.s.a:b", 's."a:b"'),
    ],
)
def test_a_table_of_a_database_has_its_own_readable_name(
    namespace: str, name: str, label: str
) -> None:
    (result,) = normalise(openlineage_uri(namespace, name), "")
    assert result.name == label
    assert normalise(result.uri, "") == (result,)


@pytest.mark.parametrize("names", [("sales/a", "sales/b"), ("sales a", "sales b", "sales")])
def test_tables_that_begin_alike_are_several(names: tuple[str, ...]) -> None:
    assert len({uri_of(("postgres://h:5432", name)) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("decorator", "partition"),
    [
        ("20260105", "date=2026-01-05"),
        ("2026010508", "hour=2026-01-05T08"),
        ("202601", "month=2026-01"),
        ("2026", "partition=2026"),
        ("__UNPARTITIONED__", "partition=__UNPARTITIONED__"),
    ],
)
def test_a_decorator_of_bigquery_is_a_partition_of_the_table(
    decorator: str, partition: str
) -> None:
    (result,) = normalise(openlineage_uri("bigquery", f"p.d.t${decorator}"), "")
    assert (result.uri, result.partition) == ("bigquery://p:d.t", partition)


@pytest.mark.parametrize(
    ("namespace", "uri"),
    [
        ("https://polaris.example/api/catalog", "https://polaris.example/api/catalog/db.t"),
        ("http://nessie:19120/iceberg", "http://nessie:19120/iceberg/db.t"),
        ("s3://warehouse", "spark_catalog/db.t"),
        ("", "spark_catalog/db.t"),
    ],
)
def test_a_table_of_a_rest_catalog_is_a_name_of_that_catalog(namespace: str, uri: str) -> None:
    (result,) = normalise(openlineage_symlink(namespace, "db.t", "TABLE"), "")
    assert (result.uri, result.kind, result.name) == (uri, "name", "db.t")


@pytest.mark.parametrize("name", ["index.html", "a.csv", "v1.2", "t", "db.t?x=1"])
def test_other_web_addresses_are_files(name: str) -> None:
    assert normalise(f"https://example.org/data/{name}", "")[0].kind == "file"


def test_a_bucket_without_a_name_is_the_bucket() -> None:
    assert uri_of(("s3://b", "")) == uri_of(("s3://b", "/")) == "s3://b"


@pytest.mark.parametrize(
    ("case", "spelled"),
    [("lower", "s.a%0Astraße"), ("upper", "S.A%0ASTRAßE"), ("", "s.a%0AStraße")],
)
def test_names_meet_in_the_case_of_their_engine(case: str, spelled: str) -> None:
    cases = [["crate", case]] if case else []
    rules = read_rules({"identifierCases": cases})
    (result,) = normalise("jdbc:crate://h/db:s.`a\nStraße`", "", rules)
    assert result.name.replace('"', "") == spelled
    assert normalise(result.uri, "", rules) == (result,)


def test_a_case_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"identifierCases\[0\]\[1\]"):
        read_rules({"identifierCases": [["crate", "Title"]]})


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        ("kafka://b1/t", ("kafka:t", "lake")),
        ("cassandra://h/k:t", ("cassandra:k:t", "lake")),
        ("kafka:t", None),
        ("kafka://b1:9093", None),
        ("pulsar://b1/t", None),
    ],
)
def test_a_client_may_leave_out_the_servers(uri: str, named: tuple[str, str] | None) -> None:
    (dataset,) = normalise(uri, "lake")
    result = without_hosts(dataset, "lake")
    assert (result and (result.uri, result.scope)) == named


@pytest.mark.parametrize(
    ("uri", "pair"),
    [
        ("s3://lake/orders", ("s3://lake", "orders")),
        ("file:/lake/t", ("file", "/lake/t")),
        ("hdfs://nn:9000/a/b", ("hdfs://nn:9000", "a/b")),
        ("kafka:orders", ("kafka", "orders")),
        ("jdbc:postgresql://h:5433/db:hr.t", ("postgres://h:5433", "db.hr.t")),
        ("jdbc:postgresql://h/db:hr.t", ("postgres://h:5432", "db.hr.t")),
        ("jdbc:snowflake://org-one/DB:HR.T", ("snowflake://org-one", "DB.HR.T")),
        ("kafka://b1/orders", ("kafka://b1:9092", "orders")),
        ("hdfs://nameservice1/a", ("hdfs://nameservice1", "a")),
        ("cassandra://h/ks:t", ("cassandra://h:9042", "ks.t")),
        ("jdbc:sqlite:/lake/hr.db:t", ("sqlite:/lake/hr.db", "t")),
        ("bigquery://p:d.t", ("bigquery", "p.d.t")),
        ("arn:aws:glue:eu-west-1:12/hr.t", ("arn:aws:glue:eu-west-1:12", "hr.t")),
        ("spark_catalog/hr.t", ("spark_catalog", "hr.t")),
        ("a%2Fb/c", ("a/b", "c")),
    ],
)
def test_the_pair_of_a_uri_is_a_spelling_of_it(uri: str, pair: tuple[str, str]) -> None:
    assert openlineage_pair(uri, DEFAULT_RULES) == pair
    (name,) = normalise(openlineage_uri(*pair), "")
    assert name.uri == uri


def test_the_pair_of_a_uri_follows_the_rules_of_the_installation() -> None:
    rules = Rules(openlineage_jdbc=(("warehouse", "postgresql"),))
    uri = "jdbc:postgresql://h/db:hr.t"
    pair = openlineage_pair(uri, rules)
    assert pair == ("warehouse://h:5432", "db.hr.t")
    assert normalise(openlineage_uri(*pair, rules), "", rules)[0].uri == uri


@pytest.mark.parametrize("spellings", ONE.values(), ids=ONE)
def test_the_pair_of_every_known_place_finds_it_again(
    spellings: list[tuple[str, str] | str],
) -> None:
    first = spellings[0]
    uri = first if isinstance(first, str) else openlineage_uri(*first)
    (known,) = normalise(uri, "")
    assert normalise(openlineage_uri(*openlineage_pair(known.uri, DEFAULT_RULES)), "") == (known,)
