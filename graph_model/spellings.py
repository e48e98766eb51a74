"""How a schema spells its columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple


class ColumnSpelling(NamedTuple):
    """A column as a schema lists it; ``position`` is its place there."""

    name: str
    type: str | None
    position: int


def read_spellings(columns: str) -> Mapping[str, ColumnSpelling]:
    """Of the columns of a ``SchemaRow`` (a JSON text), by their folded paths."""
    return {
        listed["path"]: ColumnSpelling(listed["name"], listed.get("type"), position)
        for position, listed in enumerate(json.loads(columns))
    }
