"""JDBC: one table has one URI, whatever driver options, logins and queries stand around it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import DEFAULT_RULES, normalise, openlineage_uri
from graph_model.naming.jdbc import tables_read
from graph_model.naming.rules_json import read_rules

SCOPE = "laptop"

# as written -> canonical; (a database server is an authority)
SERVERS = [
    ("jdbc:postgresql://HOST:5432/db?user=u&password=p:hr.emp", "jdbc:postgresql://host/db:hr.emp"),
    ("jdbc:postgresql://host/db:hr.emp", "jdbc:postgresql://host/db:hr.emp"),
    ("jdbc:postgresql://u:p@host:5433/db:hr.emp", "jdbc:postgresql://host:5433/db:hr.emp"),
    ("jdbc:postgresql://host/db?password=a:b:hr.emp", "jdbc:postgresql://host/db:hr.emp"),
    ("jdbc:postgresql://host/db?password=*****:hr.emp", "jdbc:postgresql://host/db:hr.emp"),
    ('jdbc:postgresql://host/db:"hr"."emp"', "jdbc:postgresql://host/db:hr.emp"),
    ('jdbc:postgresql://host/db:"a:b"."C D"', 'jdbc:postgresql://host/db:"a:b"."C D"'),
    ("jdbc:postgresql://host/db?currentSchema=hr:emp", "jdbc:postgresql://host/db:hr.emp"),
    ("jdbc:postgresql://host/db?currentSchema=hr,public:emp", "jdbc:postgresql://host/db:hr.emp"),
    (
        "jdbc:postgresql://host/db?options=-c%20search_path=hr,public:emp",
        "jdbc:postgresql://host/db:hr.emp",
    ),
    ('jdbc:postgresql://host/db?currentSchema="$user":emp', "jdbc:postgresql://host/db:public.emp"),
    ('jdbc:postgresql://host/db:"emp"', "jdbc:postgresql://host/db:public.emp"),
    ("jdbc:redshift://host/db:emp", "jdbc:redshift://host/db:public.emp"),
    ("jdbc:sqlserver://h;database=hr:emp", "jdbc:sqlserver://h/hr:dbo.emp"),
    ("jdbc:oracle:thin:@//h/orcl:EMP", "jdbc:oracle:thin:@//h/orcl:EMP"),
    ("jdbc:db2://h/SAMPLE:EMP", "jdbc:db2://h/SAMPLE:EMP"),
    ("jdbc:db2://h/sample:emp", "jdbc:db2://h/SAMPLE:EMP"),
    ("jdbc:oracle:thin:@//h/ORCL:hr.emp", "jdbc:oracle:thin:@//h/orcl:HR.EMP"),
    ("jdbc:oracle:thin:@prod_tns:hr.emp", "jdbc:oracle:thin:@prod_tns:HR.EMP"),
    ("jdbc:postgresql://host/db:db2.hr.emp", "jdbc:postgresql://host/db2:hr.emp"),
    ("jdbc:postgresql://host/db:HR.Emp", "jdbc:postgresql://host/db:HR.Emp"),
    ("jdbc:postgresql://b,a:5432/db:t", "jdbc:postgresql://a,b/db:public.t"),
    ("jdbc:postgresql://[2001:DB8::1]:5432/db:t", "jdbc:postgresql://[2001:db8::1]/db:public.t"),
    ("jdbc:postgresql://host/db", "jdbc:postgresql://host/db"),
    ("jdbc:postgresql://host:5432", "jdbc:postgresql://host/"),
    ("JDBC:PostgreSQL://host/db:t", "jdbc:postgresql://host/db:public.t"),
    ("jdbc:aws-wrapper:postgresql://host/db:t", "jdbc:postgresql://host/db:public.t"),
    ("jdbc-secretsmanager:postgresql://host/db:t", "jdbc:postgresql://host/db:public.t"),
    ("jdbc:mysql://h:3306/hr?useSSL=false&serverTimezone=UTC:emp", "jdbc:mysql://h/hr:emp"),
    ("jdbc:mysql://h/other:`hr`.`emp`", "jdbc:mysql://h/hr:emp"),
    ("jdbc:mysql://h:hr.emp", "jdbc:mysql://h/hr:emp"),
    ("jdbc:mysql://address=(host=H)(user=u)(password=p)/db:t", "jdbc:mysql://h/db:t"),
    ("jdbc:mysql://(host=h,port=1,user=u,password=p)/db:t", "jdbc:mysql://h:1/db:t"),
    (
        "jdbc:mysql://address=(host=h)(port=3306)(password=a:b),address=(port=1)(host=g)/db:t",
        "jdbc:mysql://g:1,h/db:t",
    ),
    ("jdbc:mysql://u:p@[h1:3306,(host=h2,port=2,password=p)]/db:t", "jdbc:mysql://h1,h2:2/db:t"),
    ("jdbc:mysql:loadbalance://b:3306,a/hr:emp", "jdbc:mysql://a,b/hr:emp"),
    (
        "jdbc:sqlserver://H:1433;databaseName=hr;user=sa;password={a;b}:dbo.emp",
        "jdbc:sqlserver://h/hr:dbo.emp",
    ),
    ("jdbc:sqlserver://h;encrypt=true;database=hr:[dbo].[emp]", "jdbc:sqlserver://h/hr:dbo.emp"),
    ("jdbc:sqlserver://h;databaseName=x:hr.dbo.emp", "jdbc:sqlserver://h/hr:dbo.emp"),
    ("jdbc:sqlserver://h;databaseName=x:hr..emp", "jdbc:sqlserver://h/hr:dbo.emp"),
    ("jdbc:sqlserver://h\\Dev;databaseName=hr:dbo.emp", "jdbc:sqlserver://h\\dev/hr:dbo.emp"),
    ("jdbc:jtds:sqlserver://h:1433/hr:dbo.emp", "jdbc:sqlserver://h/hr:dbo.emp"),
    ("jdbc:oracle:thin:@H:1521:ORCL:HR.EMP", "jdbc:oracle:thin:@//h/orcl:HR.EMP"),
    ("jdbc:oracle:thin:@//h:1521/orcl:HR.EMP", "jdbc:oracle:thin:@//h/orcl:HR.EMP"),
    ("jdbc:oracle:thin:scott/tiger@h:1521/orcl:HR.EMP", "jdbc:oracle:thin:@//h/orcl:HR.EMP"),
    ("jdbc:oracle:thin:scott/ti@ger@//h:1521/orcl:HR.EMP", "jdbc:oracle:thin:@//h/orcl:HR.EMP"),
    ("jdbc:postgresql://h/db?user=a&password=x y:t", "jdbc:postgresql://h/db:public.t"),
    ("jdbc:sqlserver://h;password={a;b}}c};databaseName=d:t", "jdbc:sqlserver://h/d:dbo.t"),
    ("jdbc:oracle:oci:@h:1522:ORCL:HR.EMP", "jdbc:oracle:thin:@//h:1522/orcl:HR.EMP"),
    (
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))"
        "(CONNECT_DATA=(SERVICE_NAME=orcl))):HR.EMP",
        "jdbc:oracle:thin:@//h/orcl:HR.EMP",
    ),
    ("jdbc:oracle:thin:@prod_tns:HR.EMP", "jdbc:oracle:thin:@prod_tns:HR.EMP"),
    (
        "jdbc:snowflake://org-acct.snowflakecomputing.com/?db=HR&schema=PUBLIC&warehouse=w:EMP",
        "jdbc:snowflake://org-acct/HR:PUBLIC.EMP",
    ),
    (
        "jdbc:db2://h:50000/SAMPLE:currentSchema=HR;user=u;password=p;:EMP",
        "jdbc:db2://h/SAMPLE:HR.EMP",
    ),
    ("jdbc:teradata://h/DATABASE=hr,DBS_PORT=1025,TMODE=ANSI:emp", "jdbc:teradata://h/hr:emp"),
    ("jdbc:trino://h:8080/hive/hr:emp", "jdbc:trino://h/hive:hr.emp"),
    ("jdbc:hive2://h:10000/hr;ssl=true:emp", "jdbc:hive2://h/hr:emp"),
    (
        "jdbc:databricks://h:443/default;httpPath=/sql/1;PWD=dapi;ConnCatalog=main:hr.emp",
        "jdbc:databricks://h/main:hr.emp",
    ),
    ("jdbc:redshift:iam://c.eu:5439/dev?ssl=true:hr.emp", "jdbc:redshift://c.eu/dev:hr.emp"),
    ("jdbc:derby://h:1527/db;create=true:T", "jdbc:derby://h/db:T"),
    ("jdbc:h2:tcp://h:9092/~/test;MODE=DB2:T", "jdbc:h2:tcp://h/~/test:T"),
    ("jdbc:foo://u:p@h:1/x;password=abc;a=b:t", "jdbc:foo://h:1/x;a=b:t"),
]

EMBEDDED = [
    ("jdbc:sqlite:/lake/jdbc.db:emp", "jdbc:sqlite:/lake/jdbc.db:emp"),
    ("jdbc:sqlite://///lake/jdbc.db:emp", "jdbc:sqlite:/lake/jdbc.db:emp"),
    ("jdbc:sqlite:file:/lake/jdbc.db?mode=ro:emp", "jdbc:sqlite:/lake/jdbc.db:emp"),
    ("jdbc:sqlite:C:\\lake\\jdbc.db:emp", "jdbc:sqlite:C:/lake/jdbc.db:emp"),
    ("jdbc:sqlite::memory::emp", "jdbc:sqlite::memory::emp"),
    ("jdbc:sqlite::memory:", "jdbc:sqlite::memory:"),
    ("jdbc:h2:mem:test;DB_CLOSE_DELAY=-1:emp", "jdbc:h2:mem:test:emp"),
    ("jdbc:h2:mem:test", "jdbc:h2:mem:test"),
    ("jdbc:h2:file:/lake/h2:emp", "jdbc:h2:/lake/h2:emp"),
    ("jdbc:derby:/lake/db;create=true;user=u;password=p:APP.T", "jdbc:derby:/lake/db:APP.T"),
    ("jdbc:duckdb:/lake/x.duckdb:main.emp", "jdbc:duckdb:/lake/x.duckdb:main.emp"),
    ("jdbc:postgresql://localhost:5432/db:t", "jdbc:postgresql://localhost/db:public.t"),
    ("jdbc:postgresql://127.0.0.1/db:t", "jdbc:postgresql://localhost/db:public.t"),
    ("jdbc:postgresql:db", "jdbc:postgresql://localhost/db"),
]


@pytest.mark.parametrize(("written", "canonical"), SERVERS)
def test_a_table_on_a_server_is_one_dataset_for_everybody(written, canonical):
    (result,) = normalise(written, SCOPE)
    assert (result.uri, result.scope, result.kind) == (canonical, "", "jdbc")
    assert normalise(canonical, SCOPE) == (result,)


@pytest.mark.parametrize(("written", "canonical"), EMBEDDED)
def test_an_embedded_or_local_database_belongs_to_its_scope(written, canonical):
    (result,) = normalise(written, SCOPE)
    assert (result.uri, result.scope, result.kind) == (canonical, SCOPE, "jdbc")
    assert normalise(canonical, SCOPE) == (result,)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("jdbc:postgresql://h/db:hr.emp", "hr.emp"),
        ("jdbc:postgresql://h/db", "db"),
        ("jdbc:sqlserver://h;databaseName=my db", "my db"),
        ("jdbc:sqlite:/lake/jdbc.db:emp", "emp"),
        ("jdbc:sqlite:/lake/jdbc.db", "jdbc.db"),
        ("jdbc:sqlite::memory:", "memory"),
    ],
)
def test_the_friendly_name_is_the_table(written, name):
    assert normalise(written, "")[0].name == name


PG = "jdbc:postgresql://h/db:"
MS = "jdbc:sqlserver://h/hr:"
QUERIES = [
    ("(select dept, salary*2 as dbl from emp) SPARK_GEN_SUBQ_0", ["public.emp"]),
    ("(select emp_id, dept as dp from emp) t", ["public.emp"]),
    ("(\n  SELECT a::int, '12:00' FROM hr.emp e JOIN hr.dept d ON true) t", ["hr.dept", "hr.emp"]),
    ("select * from hr.emp", ["hr.emp"]),
    ("with t as (select * from t) select * from t join u on true", ["public.t", "public.u"]),
    (
        "(select * from a where id in (select id from b) union all select * from c) q",
        ["public.a", "public.b", "public.c"],
    ),
    ("(select * from a -- not b\n where x = ':(select') q", ["public.a"]),
    ("hr.emp e", ["hr.emp"]),
    ("emp e join dept d on e.d = d.id", ["public.dept", "public.emp"]),
    ("(select * from generate_series(1, 9) g, emp) q", ["public.emp"]),
    ('(select * from "Order Lines") q', ['public."Order Lines"']),
    ("(with x as (select a from b), y as (select a from c) select a from x) q", ["public.b"]),
    ("(select * from emp union select * from emp) q", ["public.emp"]),
]


@pytest.mark.parametrize(("query", "tables"), QUERIES)
def test_a_query_stands_for_the_tables_that_it_reads(query, tables):
    result = normalise(PG + query, "")
    assert [name.uri for name in result] == [PG + table for table in tables]
    assert not any(name.unresolved for name in result)


@pytest.mark.parametrize(
    "query",
    ["(select bogus from from) t", "(select 1) t", "(values (1, 2)) t", "(select" + " (" * 90],
)
def test_a_query_that_names_no_table_stays_one_dataset_of_its_text(query):
    (result,) = normalise(PG + query, "")
    assert result.unresolved
    assert result.kind == "jdbc"
    assert result.uri == PG + query.strip()


def test_the_number_of_a_generated_alias_makes_no_other_dataset():
    first, second = (
        normalise(f"{PG}(select 1\n from from) SPARK_GEN_SUBQ_{n}", "")[0] for n in (0, 17)
    )
    assert first.uri == second.uri == PG + "(select 1 from from)"


@pytest.mark.parametrize(
    ("url", "query", "tables"),
    [
        (PG, "(select * from emp, pg_class c, pg_catalog.pg_namespace n) q", ["public.emp"]),
        (PG, "(select * from hr.emp, shop.information_schema.tables) q", ["hr.emp"]),
        (PG, "(select * from hr.pg_class, pg_temp.work) q", ["hr.pg_class"]),
        (PG, "(with e as (select * from emp) select * from (select * from e) q) x", ["public.emp"]),
        (MS, "(select * from #t join dbo.emp e on 1 = 1 join ##g on 1 = 1) q", ["dbo.emp"]),
        (MS, "(with #t as (select * from dbo.emp) select * from #t) SPARK_GEN_SUBQ_0", ["dbo.emp"]),
        (MS, "(select * from tempdb..#t, sys.tables, emp) q", ["dbo.emp"]),
        (
            PG.replace("postgresql", "redshift"),
            "(select i.b from emp, emp.items i) q",
            ["public.emp"],
        ),
    ],
)
def test_catalogs_and_temporary_tables_are_none_of_a_querys_tables(url, query, tables):
    assert [name.uri for name in normalise(url + query, "")] == [url + table for table in tables]


def test_a_query_is_read_in_the_dialect_of_its_database():
    result = normalise("jdbc:sqlserver://h;databaseName=hr:(select top 5 * from [dbo].[emp]) t", "")
    assert [name.uri for name in result] == ["jdbc:sqlserver://h/hr:dbo.emp"]


def test_the_depth_of_the_caller_s_stack_does_not_change_the_result_of_reading_a_query():
    """The parser recurses; a web request and a batch job must agree."""
    query = "select " + "(" * 40 + "1" + ")" * 40 + " from emp"

    def deep(level: int) -> tuple[tuple[str, ...], ...]:
        return deep(level - 1) if level else tables_read(f"{query} where {n} = {n}", "", rules)

    rules = DEFAULT_RULES
    n = 1
    shallow = tables_read(f"{query} where 2 = 2", "", rules)
    assert deep(700) == shallow


NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
WORD = st.from_regex(r"[A-Za-z0-9!$*+.:-]{1,12}", fullmatch=True)


@settings(deadline=None)
@given(NAME, NAME, NAME, WORD, WORD, st.booleans(), st.booleans())
def test_logins_and_options_never_reach_the_identity(host, schema, table, user, word, port, quoted):
    secret = f"S3CR3T{word}"
    name = f'"{schema}"."{table}"' if quoted else f"{schema}.{table}"
    server = f"{host.upper()}{':5432' if port else ''}"
    written = (
        f"jdbc:postgresql://{user.replace(':', '')}:{secret}@{server}"
        f"/db?user={user}&password={secret}&connectTimeout=5:{name}"
    )
    (result,) = normalise(written, "")
    assert result.uri == f"jdbc:postgresql://{host.lower()}/db:{schema}.{table}"


def test_a_default_schema_is_a_rule_and_older_sets_of_rules_have_it():
    assert read_rules({"jdbcAliases": []}).jdbc_default_schemas
    without = read_rules({"jdbcDefaultSchemas": []})
    other = read_rules({"jdbcDefaultSchemas": [["postgresql", "sales"]]})
    assert normalise(PG + "t", "", without)[0].uri == PG + "t"
    assert normalise(PG + "t", "", other)[0].uri == PG + "sales.t"


def test_openlineage_and_a_url_without_a_schema_name_one_table():
    answer = openlineage_uri("postgres://h:5432", "db.public.t")
    assert (
        normalise(answer, "")
        == normalise(PG + "t", "")
        == normalise(PG + "(select * from t) q", "")
    )
