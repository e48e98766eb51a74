"""Queries that the listener took out of real Spark, read back: ``load_query("c_union")``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from spark_agent_config.capture.captured import Application, CapturedQuery, Relation, Table, Target

_FOLDER: Final = Path(__file__).parent / "fixtures" / "listener"

APPLICATION: Final = Application(
    id="local-1", name="tests", user="someone", spark_version="3.5.9", labels={"job": ("nightly",)}
)


def recorded_queries() -> list[str]:
    """Names of the recordings."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def load_query(name: str) -> CapturedQuery:
    fields = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    relations = {int(number): _relation(item) for number, item in fields["relations"].items()}
    target = _target(fields["target"])
    plan = json.dumps(fields["plan"])
    return CapturedQuery(**{**fields, "plan": plan, "relations": relations, "target": target})


def _relation(fields: dict[str, Any]) -> Relation:
    sources = tuple(fields["sources"])
    return Relation(**{**fields, "sources": sources, "table": _table(fields["table"])})


def _target(fields: dict[str, Any]) -> Target:
    columns = fields["partition_columns"]
    columns = None if columns is None else tuple(columns)
    return Target(**{**fields, "partition_columns": columns, "table": _table(fields["table"])})


def _table(fields: dict[str, Any] | None) -> Table | None:
    return None if fields is None else Table(**fields)
