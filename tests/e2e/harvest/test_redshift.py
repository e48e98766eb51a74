"""A history of Redshift in a real PostgreSQL, behind a Data API whose requests botocore checks."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import boto3
import psycopg
import pytest

from api.command_line import run
from collectors.harvesting.redshift import STL_VIEWS, DataApi, RedshiftHistory
from graph_model.errors import HeadwaterError, Unavailable
from tests.contract.postgresql import missing, postgresql

NOON: Final = 1_772_366_400_000
TABLES: Final = """
CREATE TABLE sys_query_history (user_id int, query_id bigint, transaction_id bigint, session_id int,
 database_name char(128), query_type char(32), status char(10), start_time timestamp,
 end_time timestamp, error_message char(512), returned_rows bigint);
CREATE TABLE sys_query_text (user_id int, query_id bigint, sequence int, text char(200));
CREATE TABLE stl_query (userid int, query int, xid bigint, pid int, database char(32),
 starttime timestamp, endtime timestamp, aborted int);
CREATE TABLE svl_statementtext (userid int, xid bigint, pid int, starttime timestamp,
 endtime timestamp, sequence int, type varchar(10), text char(200));
CREATE TABLE svv_columns (table_catalog text, table_schema text, table_name text,
 column_name text, ordinal_position int, data_type text);
INSERT INTO svv_columns VALUES ('dev', 'public', 'totals', 'total', 1, 'numeric')
"""


class DataServer:
    """Answers the calls of a client from the connection, two rows a page."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._results: dict[str, list[tuple[Any, ...]]] = {}
        self._errors: dict[str, str] = {}
        self.throttled = False
        self.client = boto3.client(
            "redshift-data", region_name="eu-west-1",
            aws_access_key_id="testing", aws_secret_access_key="testing",
        )  # fmt: skip
        self.client.meta.events.register("before-parameter-build.redshift-data", self._note)
        self.client.meta.events.register("before-call.redshift-data", self._answer)
        self._asked: Mapping[str, Any] = {}

    def _note(self, params: Mapping[str, Any], **_: Any) -> None:
        self._asked = dict(params)

    def _answer(self, model: Any, **_: Any) -> tuple[Any, dict[str, Any]]:
        if self.throttled:
            error = {"Code": "ThrottlingException", "Message": "Rate exceeded"}
            return SimpleNamespace(status_code=400), {"Error": error}
        return SimpleNamespace(status_code=200), getattr(self, model.name)(**self._asked)

    def ExecuteStatement(self, Sql: str, **_: Any) -> dict[str, Any]:
        key = str(len(self._results))
        self._results[key] = []
        try:
            self._results[key] = self._connection.execute(Sql.encode()).fetchall()
        except psycopg.Error as error:
            self._errors[key] = str(error)
        return {"Id": key}

    def DescribeStatement(self, Id: str) -> dict[str, Any]:
        if Id in self._errors:
            return {"Id": Id, "Status": "FAILED", "Error": self._errors[Id]}
        return {"Id": Id, "Status": "FINISHED"}

    def GetStatementResult(self, Id: str, NextToken: str = "0") -> dict[str, Any]:
        start = int(NextToken)
        rows = self._results[Id]
        records = [[_cell(value) for value in row] for row in rows[start : start + 2]]
        more = {"NextToken": str(start + 2)} if start + 2 < len(rows) else {}
        return {"Records": records, **more}


def _cell(value: object) -> dict[str, Any]:
    if value is None:
        return {"isNull": True}
    return {"longValue": value} if isinstance(value, int) else {"stringValue": str(value)}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if missing():
        pytest.skip(missing())
    with postgresql() as server:
        yield server.url.replace("+psycopg", "")


@pytest.fixture(scope="module")
def connection(address: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(address, autocommit=True) as opened:
        opened.execute(TABLES.encode())
        yield opened


def current_user(connection: psycopg.Connection[Any]) -> Any:
    query = "SELECT usesysid FROM pg_user WHERE usename = current_user"
    (user,) = connection.execute(query).fetchone() or (0,)
    return user


def ran_before_sys_views(
    connection: psycopg.Connection[Any], number: int, kind: str, text: str
) -> None:
    """A statement of one session: DDL and utilities are in no STL_QUERY."""
    user, at = current_user(connection), f"2026-03-01 12:00:{number:02}.5"
    if kind == "QUERY":
        row = (user, number, number, 7, "dev", at, at, 0)
        connection.execute("INSERT INTO stl_query VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", row)
    for place, start in enumerate(range(0, len(text), 200)):
        part = (user, number, 7, at, at, place, kind, text[start : start + 200])
        connection.execute(
            "INSERT INTO svl_statementtext VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", part
        )


def ran(connection: psycopg.Connection[Any], key: int, hour: int, text: str) -> None:
    user = current_user(connection)
    at = f"2026-03-01 {hour}:00:{key:02}"
    row = (user, key, key, 7, "dev", "", "success", at, at, None, 1)
    connection.execute(
        "INSERT INTO sys_query_history VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", row
    )
    for number, start in enumerate(range(0, len(text), 200)):
        part = (user, key, number, text[start : start + 200])
        connection.execute("INSERT INTO sys_query_text VALUES (%s, %s, %s, %s)", part)


def test_a_session_over_two_hours_of_the_history_is_folded(
    connection: psycopg.Connection[Any],
) -> None:
    ran(connection, 1, 12, "CREATE TEMP TABLE a AS SELECT" + " " * 300 + "amount FROM orders")
    ran(connection, 2, 14, "INSERT INTO totals SELECT sum(amount) FROM a")
    api = DataApi(
        DataServer(connection).client, {"WorkgroupName": "etl", "Database": "dev"}, lambda _: None
    )
    source = RedshiftHistory(api.rows, "redshift://etl.eu-west-1:5439", lambda _: None)
    temporary, found = source.findings(NOON, ())
    assert temporary.events() == ()
    _, ended = found.events()
    assert [one["name"] for one in ended["inputs"]] == ["dev.public.orders"]
    assert [one["name"] for one in ended["outputs"]] == ["dev.public.totals"]
    assert ended["eventTime"] == "2026-03-01T14:00:02.000Z"


def test_a_cluster_without_sys_views_has_its_history_in_others(
    connection: psycopg.Connection[Any],
) -> None:
    ran_before_sys_views(connection, 1, "DDL", "CREATE TEMP TABLE a (amount numeric)")
    text = "INSERT INTO a SELECT" + " " * 300 + "amount FROM orders"
    ran_before_sys_views(connection, 2, "QUERY", text)
    ran_before_sys_views(connection, 3, "QUERY", "INSERT INTO totals SELECT sum(amount) FROM a")
    ran_before_sys_views(connection, 4, "DDL", "ALTER TABLE totals RENAME TO sums")
    api = DataApi(
        DataServer(connection).client, {"WorkgroupName": "etl", "Database": "dev"}, lambda _: None
    )
    source = RedshiftHistory(api.rows, "redshift://etl:5439", lambda _: None, views=STL_VIEWS)
    events = [found.events() for found in source.findings(NOON, ())]
    totals, renamed = (one[1] for one in events if one)
    assert [one["name"] for one in totals["inputs"]] == ["dev.public.orders"]
    assert [one["name"] for one in totals["outputs"]] == ["dev.public.totals"]
    assert [one["name"] for one in renamed["outputs"]] == ["postgres.public.sums"]


def test_a_statement_that_fails_ends_the_round_and_a_bottleneck_is_met_later(
    connection: psycopg.Connection[Any],
) -> None:
    server = DataServer(connection)
    api = DataApi(server.client, {"WorkgroupName": "etl", "Database": "dev"}, lambda _: None)
    with pytest.raises(HeadwaterError, match="no_such_table") as raised:
        list(api.rows("SELECT 1 FROM no_such_table"))
    assert not isinstance(raised.value, Unavailable)
    server.throttled = True
    with pytest.raises(Unavailable):
        list(api.rows("SELECT 1"))


def called(*arguments: str) -> tuple[int, list[str]]:
    out, errors = io.StringIO(), io.StringIO()
    code = run(arguments, {}, out, errors)
    return code, (out.getvalue() + errors.getvalue()).splitlines()


def test_a_connection_serves_in_place_of_the_data_api(
    connection: psycopg.Connection[Any], address: str, tmp_path: Path
) -> None:
    ran(connection, 20, 16, "INSERT INTO totals SELECT max(amount) FROM orders")
    place = ("--datasets", "redshift://etl.eu-west-1:5439", "--direct", "--data", str(tmp_path))
    harvest = ("harvest", "redshift", "--address", address, *place, "--yes")
    code, lines = called(*harvest, "--since", "2026-03-01", "--databases", "other")
    assert (code, lines[-1]) == (0, "redshift: 0 found, 0 documents taken, 0 refused")
    assert any(line.startswith("  nothing is kept there from before ") for line in lines)
    assert "  databases: other" in lines
    _, lines = called(*harvest, "--dry-run", "--since", "2026-03-01")
    assert any(line.endswith("dev.public.orders -> dev.public.totals") for line in lines)
    _, documents = called("journal", "export", "-", "--data", str(tmp_path))
    assert [json.loads(line) for line in documents] == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--address", "postgresql://u@h:5439/d", "--db-user", "x"), "--db-user: --address says"),
        (("--address", "postgresql://u@h:5439/d", "--region", "x"), "--region: --address says"),
        (("--workgroup", "etl"), "--database-name: expected the database"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    more: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    code, lines = called("harvest", "redshift", *more, "--data", str(tmp_path), "--yes")
    assert code == 2
    assert expected in lines[-1]
