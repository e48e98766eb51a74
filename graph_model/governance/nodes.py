"""The node of a statement by scope, URI and path: ids change with the naming rules.

    {"kind": "column", "scope": "", "uri": "s3://lake/people", "path": "email"}
    {"kind": "job", "namespace": "default", "name": "payroll"}

The URI is normalised with the rules in force whenever it is turned into an id, so statements about
a dataset follow it through a change of the rules and back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument
from graph_model.naming import Rules

_MOST_NAME: Final = 20_000
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    labels.DATASET: ("scope", "uri"),
    labels.COLUMN: ("scope", "uri", "path"),
    labels.JOB: ("namespace", "name"),
}


@dataclass(frozen=True, slots=True, order=True)
class NamedNode:
    """A dataset (scope, URI), a column (scope, URI, folded path) or a job (namespace, name)."""

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        """For a person: ``s3://lake/people#email``, ``default/payroll``."""
        if self.kind == labels.JOB:
            return "/".join(self.names)
        scope, uri, *path = self.names
        return "#".join([f"{scope}@{uri}" if scope else uri, *path])


def node_ids(node: NamedNode, rules: Rules) -> tuple[str, ...]:
    """The ids that a node has under these rules: one, or several where a rule divides it."""
    if node.kind == labels.JOB:
        return (identity.job_id(*node.names),)
    scope, uri, *path = node.names
    datasets = [
        identity.dataset_id(name.scope, name.uri) for name in naming.normalise(uri, scope, rules)
    ]
    if node.kind == labels.DATASET:
        return tuple(datasets)
    return tuple(identity.column_id(dataset, path[0]) for dataset in datasets)


def write_node(node: NamedNode) -> dict[str, str]:
    """The JSON form; ``read_node`` reads it back."""
    return {"kind": node.kind, **dict(zip(_FIELDS[node.kind], node.names, strict=True))}


def read_node(value: Any, path: str) -> NamedNode:
    """A node from its JSON form; raises InvalidDocument naming the field."""
    if not isinstance(value, Mapping):
        raise InvalidDocument(path, "a JSON object")
    fields = _FIELDS.get(str(value.get("kind")))
    if fields is None:
        raise InvalidDocument(f"{path}.kind", "dataset, column or job")
    for field in fields:
        if not isinstance(value.get(field), str) or len(value[field]) > _MOST_NAME:
            raise InvalidDocument(f"{path}.{field}", f"a text of up to {_MOST_NAME:,} characters")
    return NamedNode(value["kind"], tuple(value[field] for field in fields))


def write_key(*parts: object) -> str:
    """The key of a statement: one text for equal parts."""
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
