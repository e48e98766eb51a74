"""A PostgreSQL table with its schema and without is one dataset: real Spark, a real server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from flask.testing import FlaskClient

from graph_model.stores.gremlin.engine.jars import fetch, locked
from tests.contract.postgresql import missing, postgresql
from tests.e2e.small_client import client_of
from tests.e2e.spark.database_names_worker import READS
from tests.e2e.spark.test_listener import in_parts, python_of, run_worker
from tests.projections import accept_lines, small_headwater

LOCK = Path(__file__).with_name("pipeline_jars.lock")
NOW = 4_000_000_000_000

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]


@dataclass
class Told:
    database: str
    root: str
    client: FlaskClient


@pytest.fixture(scope="module", params=in_parts("3.5", "4.1"))
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    python = python_of(request.param)
    root = tmp_path_factory.mktemp("names")
    (driver,) = fetch(os.environ, jars=locked(LOCK.read_text("utf-8")))
    with postgresql(fsync="off") as server:
        with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("CREATE SCHEMA other")
        database = f"jdbc:postgresql://localhost:{server.port}/postgres"
        arguments = (f"{database}?user=headwater", str(driver))
        run_worker(python, "tests.e2e.spark.database_names_worker", root, *arguments)
    headwater = small_headwater()
    lines = (root / "told.ndjson").read_text("utf-8").splitlines()
    accept_lines(headwater, map(json.loads, lines))
    headwater.project()
    yield Told(database, str(root), client_of(headwater, NOW))
    headwater.close()


def test_the_table_is_one_and_the_one_of_another_schema_is_another(told: Told) -> None:
    listed = told.client.get("/graph/datasets?q=postgresql").get_json()["items"]
    assert {one["uri"] for one in listed} == {
        f"{told.database}:public.t1",
        f"{told.database}:other.t1",
    }


@pytest.mark.parametrize("name", READS)
def test_writes_under_the_short_name_are_upstream_of_every_spelling(told: Told, name: str) -> None:
    query = {"node": f"dataset:file:{told.root}/out/{name}", "direction": "upstream", "depth": 5}
    nodes = told.client.get("/graph/lineage", query_string=query).get_json()["nodes"]
    uris = {node["uri"] for node in nodes if node["kind"] == "dataset"}
    assert uris == {
        f"file:{told.root}/out/{name}",
        f"{told.database}:public.t1",
        f"file:{told.root}/source",
    }
