"""The user that signs in with tokens: made once, with the rights that the service needs.

As on RDS, the owner of the database is no superuser. Only RDS has the role ``rds_iam``:
it is made here, and signs nobody in.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from api.console.keys import create
from graph_model.stores.database import open_database
from graph_model.stores.keys import KeyRequest, SqlKeys
from graph_model.values import Role
from tests.contract.postgresql import missing, postgresql
from tests.unit.terraform.scripts import load_script

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
SCRIPT = "modules/setup/create_database_user.py"
OF_RDS = (
    "CREATE ROLE rds_iam",
    "CREATE ROLE owner LOGIN CREATEROLE",
    "GRANT rds_iam TO owner WITH ADMIN OPTION",
    "CREATE DATABASE state OWNER owner",
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with postgresql(fsync="off") as server:
        url = f"host=127.0.0.1 port={server.port} user=headwater dbname=postgres"
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in OF_RDS:
                connection.execute(statement)
        yield server.port


@pytest.fixture
def environment(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(port),
        "PGDATABASE": "state",
        "PGUSER": "owner",
        "DATABASE_USER": "service",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("environment")
def test_the_user_can_make_the_tables_of_the_service(
    port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script(SCRIPT)
    script.main()
    script.main()
    assert capsys.readouterr().out == "user service: made\nuser service: was there\n"
    database = open_database(f"postgresql+psycopg://service@127.0.0.1:{port}/state")
    try:
        lines = list(create(SqlKeys(database), KeyRequest("a", frozenset({Role.READER}), "", 0), 0))
    finally:
        database.dispose()
    assert [line for line in lines if line.startswith("hw_")]


@pytest.mark.usefixtures("environment")
def test_the_user_signs_in_with_tokens_and_gets_nothing_else() -> None:
    load_script(SCRIPT).main()
    with psycopg.connect() as connection:
        row = connection.execute(
            "SELECT pg_has_role('service', 'rds_iam', 'MEMBER'), pg_has_role('owner', 'service',"
            " 'USAGE'), rolsuper, rolcreaterole, rolcreatedb FROM pg_roles"
            " WHERE rolname = 'service'"
        ).fetchone()
    assert row == (True, False, False, False, False)
