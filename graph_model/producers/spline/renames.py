"""ALTER TABLE ... RENAME TO: earlier writes under another name.

    "renamed": {"from": {"source": "file:/lake/a", "table": "a", "database": "db"},
                "to": {"source": "file:/lake/b", "table": "b", "database": "db"}}

The write of a plan says so in its ``extra``. Where the data moved with the name, two places are
named: the plan reads the former and overwrites the current one, and a second plan empties the
former. Where it stayed, two catalog names are, and the former stands for nothing from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graph_model import identity, naming
from graph_model.naming import DatasetName, Rules
from graph_model.producers.elements.datasets import Rename
from graph_model.producers.spline.documents import Operation

_RENAMED: Final = "renamed"


def is_in_place(write: Operation) -> bool:
    """Whether a write only renames its data."""
    ends = _ends(write)
    return ends is not None and ends[0]["source"] == ends[1]["source"]


def read_rename(write: Operation, scope: str, rules: Rules) -> Rename | None:
    """None for a write that renames nothing, or whose rename is malformed and so ignored."""
    ends = _ends(write)
    if ends is None:
        return None
    in_place = is_in_place(write)
    former, current = (_named(end, scope, rules, by_name=in_place) for end in ends)
    if former is None or current is None or _place(former) == _place(current):
        return None
    return Rename(former, current, in_place)


def _ends(write: Operation) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    reported = write.extra.get(_RENAMED)
    ends = reported if isinstance(reported, Mapping) else {}
    former, current = ends.get("from"), ends.get("to")
    if not isinstance(former, Mapping) or not isinstance(current, Mapping):
        return None
    texts = (end.get("source") for end in (former, current))
    return (former, current) if all(isinstance(text, str) and text for text in texts) else None


def _named(
    end: Mapping[str, Any], scope: str, rules: Rules, *, by_name: bool
) -> DatasetName | None:
    if not by_name:
        return naming.normalise(end["source"], scope, rules)[0]
    table, database = end.get("table"), end.get("database")
    if not isinstance(table, str) or not table:
        return None
    uri = naming.catalog_table(database if isinstance(database, str) else None, table)
    return naming.normalise(uri, scope, rules)[0]


def _place(name: DatasetName) -> str:
    return identity.dataset_id(name.scope, name.uri)
