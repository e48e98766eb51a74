"""The recipes of notebooks/lineage.ipynb, executed with graph-notebook at the read port."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model.facts import Edge, Facts, Vertex
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import open_graph
from tests import impact_lake
from tests.conftest import needs_java
from tests.parts import environment

_ROOT: Final = Path(__file__).parents[3]
NOTEBOOK_PYTHON: Final = environment("notebooks") / "bin" / "python"
_STORED: Final = (
    "health", "unmarked", "tables", "upstream", "downstream", "writers", "column_upstream",
    "expressions", "impact", "orphans", "hot", "last", "runs", "executions", "operations",
    "profile",
)  # fmt: skip

needs_notebooks: Final = pytest.mark.skipif(
    not NOTEBOOK_PYTHON.exists(), reason="graph-notebook is not installed (make test-parts)"
)
pytestmark = [pytest.mark.engine, pytest.mark.part("notebooks"), needs_notebooks]


@pytest.fixture(scope="module")
def read_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The read port of an engine with the four jobs of tests/impact_lake.py."""
    needs_java()
    headwater = impact_lake.lake()
    elements = list(headwater.graph.scan())
    headwater.close()
    server = EmbeddedServer(
        tmp_path_factory.mktemp("engine"), environment=os.environ, port=0, read_port=0, heap_mb=256
    )
    with server:
        graph = open_graph(server.url)
        graph.write(
            Facts(
                vertices=tuple(one for one in elements if isinstance(one, Vertex)),
                edges=tuple(one for one in elements if isinstance(one, Edge)),
            )
        )
        graph.close()
        assert server.read_port is not None
        yield server.read_port


@pytest.fixture(scope="module")
def executed(read_port: int) -> dict[str, Any]:
    told = {
        "port": read_port,
        "parameters": {"table": impact_lake.DAILY, "column": "total", "job": "daily"},
    }
    last = (
        "import json\n"
        f"print(json.dumps({{name: globals().get(name) for name in {_STORED!r}}}, default=str))"
    )
    done = subprocess.run(
        [
            NOTEBOOK_PYTHON,
            "tests/e2e/notebooks/notebook_worker.py",
            "notebooks/lineage.ipynb",
            json.dumps(told),
        ],
        cwd=_ROOT,
        input=last,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def stored(executed: dict[str, Any]) -> dict[str, Any]:
    """The results that each recipe stored."""
    (printed,) = executed["outputs"]["last"]
    found: dict[str, Any] = json.loads(printed["text"])
    return found


def test_every_recipe_runs(executed: dict[str, Any], stored: dict[str, Any]) -> None:
    text = json.dumps(executed["outputs"])
    assert "Error" not in text
    assert "Terminated" not in text
    for name in _STORED:
        assert isinstance(stored[name], list), (name, stored[name])


def test_the_recipes_find_the_work_of_the_jobs(stored: dict[str, Any]) -> None:
    (health,) = stored["health"]
    assert (health["dataset"], health["job"], health["logical_plan"]) == (5, 4, 4)
    assert (stored["unmarked"], stored["orphans"]) == ([], [])
    assert [row["job"] for row in stored["writers"]] == ["daily"]
    assert stored["impact"] == [{"1": [impact_lake.REPORT]}]
    assert {(row["from"], row["how"]) for row in stored["expressions"]} == {
        (impact_lake.ORDERS, "AGGREGATION"),
        (impact_lake.LANDING, "IDENTITY"),
    }
    assert {row["job"] for row in stored["hot"]} == {"load", "daily", "report", "audit"}


def test_times_are_readable(stored: dict[str, Any]) -> None:
    (last,) = stored["last"]
    assert last["finished"].startswith("2023-11-14 22:14:20")
    assert [row["finished"][:10] for row in stored["executions"]] == ["2023-11-14"]


def test_pictures_have_names_for_tables_columns_jobs_and_plans(executed: dict[str, Any]) -> None:
    labels = {label for picture in executed["pictures"] for label in picture}
    assert {"daily", "orders", "report", "total", "amount", "Write", "2023-11-14"} <= labels
    assert any(label.startswith("daily ") for label in labels), "the plan's name"
