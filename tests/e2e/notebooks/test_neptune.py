"""notebooks/neptune.ipynb, executed with graph-notebook: its cells ask the routes of Neptune.

A recording server stands in for the cluster, set as the notebook's proxy, so that the cluster keeps
its name and requests the signature of the role.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.e2e.notebooks.test_notebooks import NOTEBOOK_PYTHON, needs_notebooks
from tests.recording_server import Received, recording_server

_ROOT: Final = Path(__file__).parents[3]
_TABLE: Final = "s3://lake/orders"
_OVER: Final = {"status": "LOAD_COMPLETED", "totalTimeSpent": 1}
_LOADED: Final = {"status": "200 OK", "payload": {"overallStatus": _OVER}}
_CREDENTIALS: Final = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}

pytestmark = [pytest.mark.part("notebooks"), needs_notebooks]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Received]]:
    """The requests of the whole notebook."""
    folder = tmp_path_factory.mktemp("notebook")
    with recording_server() as cluster:
        cluster.answer = lambda _: (200, {"Content-Type": "application/json"})
        cluster.said = json.dumps({"status": "200 OK", "payload": {"loadId": "one"}}).encode()
        cluster.pages = {"/loader?loadId=one": _LOADED}
        notebook = folder / "neptune.ipynb"
        notebook.write_text(json.dumps(_behind(cluster.url)), "utf-8")
        _execute(notebook, {"port": 8182, "parameters": {"table": _TABLE}})
        yield cluster.received


def _behind(url: str) -> dict[str, Any]:
    """The notebook with this proxy."""
    book: dict[str, Any] = json.loads((_ROOT / "notebooks" / "neptune.ipynb").read_text("utf-8"))
    (cell,) = (one for one in book["cells"] if one["id"] == "configuration")
    text = "".join(cell["source"])
    assert '"ssl": true' in text
    proxy = f'"proxy_host": "127.0.0.1", "proxy_port": {urlsplit(url).port}'
    cell["source"] = text.replace('"ssl": true', f'"ssl": false, {proxy}')
    return book


def _execute(notebook: Path, values: dict[str, Any]) -> None:
    done = subprocess.run(
        [NOTEBOOK_PYTHON, "tests/e2e/notebooks/notebook_worker.py", notebook, json.dumps(values)],
        cwd=_ROOT,
        env={**os.environ, **_CREDENTIALS, "HOME": str(notebook.parent)},
        input="",
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_cell_asks_its_route(asked: list[Received]) -> None:
    assert [f"{one.method} {one.path}" for one in asked] == [
        "GET /status",
        "GET /propertygraph/statistics/summary?mode=basic",
        "POST /gremlin/explain",
        "POST /gremlin/profile",
        "POST /gremlin/profile",
        "POST /loader",
        "GET /loader?loadId=one",
        "POST /loader",
        "GET /loader?loadId=one",
        "GET /loader",
    ]


def test_every_request_is_signed_for_the_cluster(asked: list[Received]) -> None:
    for one in asked:
        assert one.headers["Host"] == "lineage.cluster-ro-example.eu-west-1.neptune.amazonaws.com"
        assert "/eu-west-1/neptune-db/aws4_request" in one.headers["Authorization"]


def test_questions_have_the_table_and_no_results_are_sent_back(asked: list[Received]) -> None:
    explain, profile, upstream = (one.document for one in asked if "/gremlin/" in one.path)
    assert explain["explain.mode"] == "dynamic"
    assert (profile["profile.results"], profile["profile.indexOps"]) == (False, True)
    assert upstream["profile.results"] is False
    for question in (explain, profile, upstream):
        assert f"'{_TABLE}'" in question["gremlin"]


def test_vertices_are_loaded_before_edges_with_empty_scopes(asked: list[Received]) -> None:
    vertices, edges = (one.document for one in asked if one.body and one.path == "/loader")
    assert vertices["source"].endswith("/vertices/")
    assert edges["source"].endswith("/edges/")
    for load in (vertices, edges):
        assert (load["mode"], load["failOnError"], load["queueRequest"]) == ("NEW", "TRUE", "TRUE")
        assert load["parserConfiguration"] == {"allowEmptyStrings": True}
