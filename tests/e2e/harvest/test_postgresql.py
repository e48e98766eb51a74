"""``headwater harvest postgresql`` from a real database into the journal of a data folder."""

from __future__ import annotations

import io
import json
from pathlib import Path

import psycopg
import pytest

from api.command_line import run
from tests.contract.postgresql import missing, postgresql

STATEMENTS = """
CREATE TABLE orders (id integer, amount numeric);
CREATE TABLE totals (total numeric);
CREATE VIEW large AS SELECT * FROM orders WHERE amount > 100;
CREATE PROCEDURE refresh() LANGUAGE plpgsql AS $$
BEGIN INSERT INTO totals SELECT sum(amount) FROM orders; END $$;
COMMENT ON COLUMN orders.amount IS 'in euro';
"""


def called(*arguments: str) -> tuple[int, list[str]]:
    out, errors = io.StringIO(), io.StringIO()
    code = run(arguments, {}, out, errors)
    assert errors.getvalue() == ""
    return code, out.getvalue().splitlines()


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_catalogue_is_journalled_and_again_when_it_changed(tmp_path: Path) -> None:
    with postgresql() as server:
        address = server.url.replace("+psycopg", "")
        harvest = ("harvest", "postgresql", address, "--direct", "--data", str(tmp_path), "--yes")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(STATEMENTS.encode())
            code, lines = called(*harvest)
            assert code == 0
            assert lines[-1] == "postgresql: 4 found, 5 documents taken, 0 refused"
            assert called(*harvest)[1][-1] == "postgresql: 0 found, 0 documents taken, 0 refused"
            connection.execute("ALTER TABLE totals ADD day date")
            assert called(*harvest)[1][-1] == "postgresql: 1 found, 1 documents taken, 0 refused"
    _, exported = called("journal", "export", "-", "--data", str(tmp_path))
    jobs = {
        body["job"]["name"]: [one["name"] for one in body["inputs"]]
        for line in exported
        if "job" in (body := json.loads(line)["body"])
    }
    read = ["postgres.public.orders"]
    assert jobs == {"view.public.large": read, "procedure.public.refresh()": read}
