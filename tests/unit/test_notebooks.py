"""The notebooks as files: whole, without outputs, with bounded recipes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str = "code") -> list[dict[str, Any]]:
    result = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in result if cell["cell_type"] == kind]


def test_there_are_notebooks_for_both_engines() -> None:
    assert [path.name for path in NOTEBOOKS] == ["lineage.ipynb", "neptune.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_committed(path: Path) -> None:
    for cell in cells(path):
        assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]
    assert "widgets" not in json.loads(path.read_text("utf-8"))["metadata"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_repeat_has_a_depth_and_every_picture_a_cap_and_labels(path: Path) -> None:
    for cell in cells(path):
        text = "".join(cell["source"])
        if "repeat(" in text:
            assert ".times(" in text, cell["id"]
            assert ".dedup()" in text, cell["id"]
        if text.startswith("%%gremlin -p"):
            assert ".limit(" in text, cell["id"]
            assert "by(elementMap())" in text, cell["id"]
            assert '"logical_plan":"name"' in text, cell["id"]
