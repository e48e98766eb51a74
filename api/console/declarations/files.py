"""Files of declarations: JSON, YAML or CSV -> the bodies of POST /declarations.

This module reads the structure; the service checks names of datasets and columns.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from graph_model.errors import ConfigurationError

CSV_COLUMNS: Final = ("target", "source", "from", "to", "job", "note", "since")
_NEEDED: Final = ("target", "source")
_MOST_BYTES: Final = 20_000_000


@dataclass(slots=True)
class Listed:
    """A declaration of a file with its place there."""

    place: str
    body: dict[str, Any]


def read_file(file: Path) -> list[Listed]:
    """Raises ConfigurationError for a file that is not of its kind."""
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise ConfigurationError(f"{file}: expected a name that ends in {', '.join(_READERS)}")
    if file.stat().st_size > _MOST_BYTES:
        raise ConfigurationError(f"{file}: expected at most {_MOST_BYTES // 1_000_000} MB")
    try:
        return reader(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        raise ConfigurationError(f"{file}: {problem}") from error


def _read_json(text: str) -> list[Listed]:
    return _numbered(json.loads(text))


def _read_yaml(text: str) -> list[Listed]:
    """Every scalar is text: a column ``no`` is no falsehood, a date stays as it is written."""
    return _numbered(yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506 - it makes texts alone


def _numbered(document: Any) -> list[Listed]:
    listed = document.get("declarations") if isinstance(document, Mapping) else document
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise ValueError("expected a list of declarations, or one under `declarations`")
    return [Listed(f"declaration {place}", dict(one)) for place, one in enumerate(listed, 1)]


def _read_csv(text: str) -> list[Listed]:
    """A line for each source or column; lines of one target, job, note and time are one."""
    rows = csv.DictReader(io.StringIO(text, newline=""), restkey="more", strict=True)
    _check_header(rows.fieldnames or ())
    found: dict[tuple[str, ...], Listed] = {}
    for row in rows:
        if None in row.values() or "more" in row:
            raise ValueError(f"line {rows.line_num}: expected as many fields as the header has")
        cells = {name: (row.get(name) or "").strip() for name in CSV_COLUMNS}
        key = tuple(cells[name] for name in ("target", "job", "note", "since"))
        listed = found.setdefault(key, Listed(f"line {rows.line_num}", _begun(cells)))
        _add(listed.body, cells, rows.line_num)
    return list(found.values())


def _check_header(names: Iterable[str]) -> None:
    given = set(names)
    if unknown := sorted(given - set(CSV_COLUMNS)):
        raise ValueError(f"line 1: no such column: {', '.join(unknown)}")
    if missing := [name for name in _NEEDED if name not in given]:
        raise ValueError(f"line 1: expected the columns {', '.join(missing)}")


def _begun(cells: Mapping[str, str]) -> dict[str, Any]:
    given = {name: cells[name] for name in ("job", "since") if cells[name]}
    return {"target": cells["target"], "sources": [], "columns": [], "note": cells["note"], **given}


def _add(body: dict[str, Any], cells: Mapping[str, str], line: int) -> None:
    if bool(cells["from"]) != bool(cells["to"]):
        raise ValueError(f"line {line}: expected from and to, or neither")
    if cells["source"] not in body["sources"]:
        body["sources"].append(cells["source"])
    if cells["from"]:
        column = {"source": cells["source"], "from": cells["from"], "to": cells["to"]}
        body["columns"].append(column)


_READERS: Final[dict[str, Callable[[str], list[Listed]]]] = {
    ".json": _read_json,
    ".yml": _read_yaml,
    ".yaml": _read_yaml,
    ".csv": _read_csv,
}
