"""The wheel: built, installed into an empty environment, served without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from api.routes.pages import VENDOR, missing_parts
from api.settings import PAGE
from graph_model.stores.gremlin.engine import jars
from tests.conftest import needs_java
from tests.e2e.service import RunningHeadwater

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("api", "aws", "collectors", "graph_model", "pipeline", "spark_agent_config", "frontend")
DESCRIPTION = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE")
NOT_PYTHON = {
    "api/frontend/index.html",
    "api/frontend/css/palette.css",
    "api/frontend/js/views/lineage.js",
    "api/frontend/package-lock.json",
    *(f"api/frontend/{place}" for place in VENDOR.values()),
    "api/frontend/node_modules/vis-network/LICENSE-MIT",
    "api/pages/docs.html",
    "graph_model/stores/gremlin/engine/engine.groovy",
    "graph_model/stores/gremlin/engine/jars.lock",
    "spark_agent_config/examples/data/employees.csv",
    "spark_agent_config/spark-defaults.conf",
}

pytestmark = [pytest.mark.engine, pytest.mark.part("wheel"), pytest.mark.timeout(1200)]


def without_checkout() -> dict[str, str]:
    """This environment, without variables that lead to the checkout or set a Headwater."""
    keep = {"HEADWATER_CACHE", "HEADWATER_MAVEN_REPOSITORY"}
    return {
        name: value
        for name, value in os.environ.items()
        if name in keep or not name.startswith(("HEADWATER_", "PYTHON", "VIRTUAL_ENV"))
    }


def run(*command: str | Path, at: Path) -> str:
    done = subprocess.run(
        [*map(str, command)],
        cwd=at,
        env=without_checkout(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def left_out(folder: str, names: list[str]) -> set[str]:
    """Byte code, and the parts of the page's libraries that the page does not load."""
    tools = {"typescript", "declarations", "esnext", "peer"}
    fetched = "node_modules" in Path(folder).parts
    return {
        name
        for name in names
        if name == "__pycache__" or (fetched and (name in tools or name.startswith("@")))
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing of an earlier build is in it."""
    assert missing_parts(PAGE) == ()
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, symlinks=name == "api", ignore=left_out)
    for name in DESCRIPTION:
        shutil.copy(ROOT / name, source)
    target = tmp_path_factory.mktemp("dist")
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", target, ".")
    run(sys.executable, "-m", "pip", *build, at=source)
    [made] = target.glob("*.whl")
    return made


def test_the_wheel_holds_the_files_that_are_not_python(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names >= NOT_PYTHON
    pages = {name.removeprefix("api/") for name in names if name.startswith("api/frontend/js/")}
    assert pages == {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "frontend" / "js").rglob("*.js")
    }
    assert not [name for name in names if name.startswith(("tests/", "bench/"))]


def test_the_wheel_serves_without_a_checkout(wheel: Path, tmp_path: Path) -> None:
    needs_java()
    environment, place = tmp_path / "environment", tmp_path / "elsewhere"
    place.mkdir()
    run(sys.executable, "-m", "venv", environment, at=place)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, at=place)
    assert "No broken requirements" in run(python, "-m", "pip", "check", at=place)
    assert run(python, "-c", "import api; print(api.__file__)", at=place).startswith(
        str(environment)
    )
    assert "usage: headwater serve" in run(
        environment / "bin" / "headwater", "serve", "--help", at=place
    )
    fetched = run(environment / "bin" / "headwater", "fetch", at=place)
    assert f"{len(jars.locked())} archives in" in fetched
    assert "script compiled" in fetched
    headwater = RunningHeadwater(place / "data")
    headwater.start((environment / "bin" / "headwater",), without_checkout(), place)
    try:
        assert text_of(f"{headwater.url}/").startswith("<!doctype html>")
        for name in VENDOR:
            assert len(text_of(f"{headwater.url}/vendor/vis-network/{name}")) > 100_000
        assert headwater.get("/graph/overview")["totals"] == {"jobs": 0, "datasets": 0, "failed": 0}
    finally:
        assert headwater.stop() == 0
    assert (place / "data" / "headwater.db").is_file()


def text_of(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as reply:
        return str(reply.read().decode("utf-8"))
