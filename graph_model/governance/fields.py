"""Fields that documents of statements share: a name, a note, the node that is spoken of.

A node is named by scope, URI and path, for ids change with the naming rules:

    {"kind": "column", "scope": "", "uri": "s3://lake/people", "path": "email"}
    {"kind": "job", "namespace": "default", "name": "payroll"}

The URI is normalised with the rules in force whenever it is turned into an id, so statements about
a dataset follow it through a change of the rules and back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument
from graph_model.naming import Rules
from spark_agent_config.masking import mask_text

_MOST_NOTE: Final = 500
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9])?")
_MOST_NAME: Final = 20_000
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    labels.DATASET: ("scope", "uri"),
    labels.COLUMN: ("scope", "uri", "path"),
    labels.JOB: ("namespace", "name"),
}


def check_name(name: str) -> None:
    """Raises InvalidDocument for a name that nothing may have."""
    if not _NAME.fullmatch(name):
        raise InvalidDocument(
            "name", "1 to 64 letters, digits, spaces, dots, underscores and hyphens"
        )


def check_fields(given: Iterable[str], known: Set[str]) -> None:
    """Raises InvalidDocument for the first field by name that is not known."""
    for unknown in sorted(set(given) - known):
        raise InvalidDocument(unknown, f"one of the fields {', '.join(sorted(known))}")


def read_note(value: Any) -> str:
    """A note without secrets; raises InvalidDocument for any other value than a short text."""
    if not isinstance(value, str) or len(value) > _MOST_NOTE:
        raise InvalidDocument("note", f"a text of up to {_MOST_NOTE} characters")
    return mask_text(value)


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
