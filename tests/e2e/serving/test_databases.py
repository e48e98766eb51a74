"""``headwater serve`` on PostgreSQL, beside another one, and on a disk that is full."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from graph_model.stores.database import claim_database, open_database
from graph_model.stores.gremlin.graph import GremlinGraph
from tests.e2e.producer_service import a_plan, an_event
from tests.e2e.serving.test_server import Serving, serving
from tests.ports import reserved_port
from tests.waiting import eventually

V12 = "application/vnd.absa.spline.producer.v1.2+json"


def pair(number: int, padding: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """A plan and its event, like no other; ``padding`` makes the plan large."""
    plan_id = str(UUID(int=number + 1))
    plan = a_plan(id=plan_id, name=f"job {number}", extraInfo={"padding": padding})
    return plan, an_event(planId=plan_id, timestamp=1_700_000_000_000 + number)


def post(server: Serving, path: str, document: Any) -> tuple[int, Any]:
    """The status and the JSON of a POST to the producer routes, whatever the status."""
    request = urllib.request.Request(
        f"{server.url}/producer/{path}",
        data=json.dumps(document).encode(),
        headers={"Content-Type": V12},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def post_pair(server: Serving, number: int) -> None:
    plan, event = pair(number)
    assert post(server, "execution-plans", plan)[0] == 201
    assert post(server, "execution-events", [event])[0] == 201


def has_projected(server: Serving, documents: int) -> bool:
    return summary(server)["projected"] == documents


def summary(server: Serving) -> Mapping[str, int]:
    counts: Mapping[str, int] = server.get("/journal?summary=true")
    return counts


# --- two services --------------------------------------------------------------------------------


@contextmanager
def two_services(
    folder: Path, database_url: str, gremlin_url: str
) -> Iterator[tuple[Serving, Serving]]:
    """Both ready, on one database and one graph, each with a folder of its own."""
    shared = {"HEADWATER_DATABASE": database_url, "HEADWATER_GREMLIN_URL": gremlin_url}
    folders = [folder / "one", folder / "two"]
    for own in folders:
        own.mkdir()
    with serving(folders[0], **shared) as one, serving(folders[1], **shared) as two:
        one.ready()
        two.ready()
        yield one, two


@pytest.mark.part("recovery")
@pytest.mark.engine
def test_two_services_on_one_journal_keep_one_graph(
    tmp_path: Path, database_url: str, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    with two_services(tmp_path, database_url, gremlin_url) as (one, two):
        with ThreadPoolExecutor(8) as pool:  # every document to both, at the same time
            asked = [pool.submit(post_pair, s, n) for n in range(12) for s in (one, two)]
            for future in asked:
                future.result()
        for server in (one, two):
            eventually(partial(has_projected, server, 24))
            assert summary(server)["received"] == 24
        eventually(lambda: one.get("/graph/overview") == two.get("/graph/overview"))
        drawn = one.get("/graph/overview")
        assert len([node for node in drawn["nodes"] if node["kind"] == "job"]) == 12

        post_pair(one, 98)
        one.process.kill()  # its acknowledged documents are the other one's now
        one.process.wait()
        eventually(lambda: summary(two)["projected"] == 26)
        post_pair(two, 99)
        eventually(lambda: summary(two)["projected"] == 28)
        assert two.stop() == 0


def test_the_server_looks_whether_a_client_is_still_there(database_url: str) -> None:
    """Else the locks of a computer that vanished are held for two hours."""
    database = open_database(database_url)
    asked = sa.text("SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp%' ORDER BY name")
    with database.connect() as connection:
        connection.rollback()
        found = {name: int(value) for name, value in connection.execute(asked)}
    database.dispose()
    assert found == {
        "tcp_keepalives_count": 3,
        "tcp_keepalives_idle": 10,
        "tcp_keepalives_interval": 5,
        "tcp_user_timeout": 25_000,
    }


def test_the_server_compiles_no_expressions_of_statements_that_are_many_seeks(
    database_url: str,
) -> None:
    database = open_database(database_url)
    with database.connect() as connection:
        connection.rollback()
        assert connection.execute(sa.text("SHOW jit")).scalar() == "off"
    database.dispose()


def test_a_second_service_with_a_graph_of_its_own_is_refused(
    tmp_path: Path, database_url: str
) -> None:
    database = open_database(database_url)
    with claim_database(database, shared=True):
        said = refused_at_the_end(tmp_path, HEADWATER_DATABASE=database_url)
    database.dispose()
    assert "another Headwater works on this database" in said
    assert "HEADWATER_GREMLIN_URL" in said


def test_a_database_that_is_away_is_told_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://me:hunter2@127.0.0.1:{reserved_port()}/db"
    said = refused_at_the_end(tmp_path, code=1, HEADWATER_DATABASE=url)
    assert "does not answer" in said
    assert "hunter2" not in said


def refused_at_the_end(folder: Path, code: int = 2, **environment: str) -> str:
    """All that a start says which ends with this exit code."""
    made = Serving(folder, **environment, HEADWATER_DATA=str(folder / "data"))
    try:
        assert made.process.wait(60) == code, made.said()
    finally:
        made.process.kill()
        made.process.wait()
    return made.said()


# --- a full disk ---------------------------------------------------------------------------------


def limit_files(server: Serving, size: int) -> None:
    """No file of the process grows beyond this: writing fails as it does on a full disk."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.part("recovery")
@pytest.mark.engine
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
def test_on_a_full_disk_documents_are_refused_and_it_goes_on_when_there_is_room(
    tmp_path: Path, gremlin_url: str, gremlin_graph: GremlinGraph
) -> None:
    settings = {"HEADWATER_GREMLIN_URL": gremlin_url, "HEADWATER_PROJECTION_WAIT": "0"}
    with serving(tmp_path, **settings) as server:
        server.ready()
        post_pair(server, 0)
        eventually(lambda: summary(server)["projected"] == 2)
        files = [file.stat().st_size for file in (tmp_path / "data").glob("headwater.db*")]
        limit_files(server, max(files) + 300_000)
        accepted, answer = until_refused(server)
        assert answer["code"] == 503
        assert "space" in answer["message"]
        assert summary(server)["received"] == 2 + accepted
        assert status_of(server, "/status") == status_of(server, "/health/ready") == 503
        assert status_of(server, "/status") == 503, "not until a document passes"

        limit_files(server, resource.RLIM_INFINITY)
        post_pair(server, 10_000)
        assert status_of(server, "/status") == 200
        eventually(lambda: server.get("/health/ready")["status"] == "ready")
        after = eventually(lambda: (now := summary(server))["pending"] == 0 and now)
        assert (after["received"], after["projected"]) == (4 + accepted, 4 + accepted)
        assert server.stop() == 0
    checked = run_check(tmp_path / "data")
    assert checked.endswith("all is well\n"), checked


def status_of(server: Serving, path: str) -> int:
    try:
        with urllib.request.urlopen(f"{server.url}{path}", timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)


def until_refused(server: Serving) -> tuple[int, Any]:
    """Sends large plans until one is refused: how many were taken, and the answer."""
    for number in range(100):
        plan, _ = pair(number + 1, padding=os.urandom(40_000).hex())
        status, answer = post(server, "execution-plans", plan)
        if status != 201:
            return number, answer
    raise AssertionError("nothing was refused")


def run_check(data: Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "api.command_line", "journal", "check", "--data", str(data)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
