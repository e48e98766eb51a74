"""The Gremlin driver is known in one package alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[5]
DRIVERS = {"gremlin_python", "aiohttp", "jgo"}
FOLDERS = ("api", "collectors", "graph_model", "pipeline", "spark_agent_config")


def imported(source: str) -> Iterator[str]:
    """The top packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def modules() -> list[Path]:
    inside = ROOT / "graph_model" / "stores" / "gremlin"
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return [path for path in found if inside not in path.parents]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_elsewhere_knows_no_driver(path: Path) -> None:
    assert not DRIVERS & set(imported(path.read_text("utf-8")))


def test_an_import_anywhere_in_a_module_would_be_seen() -> None:
    assert "aiohttp" in set(imported("def f():\n    import aiohttp.web"))
    assert "jgo" in set(imported("from jgo.maven import MavenContext"))
