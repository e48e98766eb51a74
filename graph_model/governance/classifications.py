"""Classifications: tags such as PII on datasets and columns, each with a responsible person.

A tag follows DIRECT column lineage only when a question asks, and not through an edge that is
blocked for it (``propagation``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph_model import labels
from graph_model.errors import InvalidDocument
from graph_model.governance.fields import NamedNode, read_node, write_key, write_node
from spark_agent_config.masking import mask_text

TAG: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,62}[A-Za-z0-9])?")
TAG_EXPECTED: Final = "1 to 64 letters, digits, dots, colons, underscores and hyphens"
MOST_OWNER: Final = 200
MOST_NOTE: Final = 500


@dataclass(frozen=True, slots=True, order=True)
class Assignment:
    """``owner`` answers for the tag; ``author`` put it there at ``at`` (epoch ms)."""

    tag: str
    node: NamedNode
    owner: str
    note: str
    author: str = ""
    at: int = 0

    @property
    def key(self) -> str:
        """The key under which the newest statement counts."""
        return write_key(self.tag, self.node.kind, *self.node.names)


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """A tag does not follow the edge from one column to another."""

    tag: str
    source: NamedNode
    target: NamedNode
    note: str
    author: str = ""
    at: int = 0

    @property
    def key(self) -> str:
        return write_key(self.tag, *self.source.names, *self.target.names)


def check_tag(tag: Any) -> str:
    """The tag, or InvalidDocument."""
    if not isinstance(tag, str) or not TAG.fullmatch(tag):
        raise InvalidDocument("tag", TAG_EXPECTED)
    return tag


def write_assignment(assignment: Assignment) -> dict[str, Any]:
    return {
        "tag": assignment.tag,
        "node": write_node(assignment.node),
        "owner": assignment.owner,
        "note": assignment.note,
    }


def read_assignment(value: Mapping[str, Any]) -> Assignment:
    """Raises InvalidDocument naming the field."""
    node = read_node(value.get("node"), "node")
    if node.kind == labels.JOB:
        raise InvalidDocument("node.kind", "dataset or column")
    return Assignment(
        check_tag(value.get("tag")),
        node,
        read_text(value, "owner", MOST_OWNER),
        mask_text(read_text(value, "note", MOST_NOTE)),
    )


def write_block(block: Block) -> dict[str, Any]:
    return {
        "tag": block.tag,
        "from": write_node(block.source),
        "to": write_node(block.target),
        "note": block.note,
    }


def read_block(value: Mapping[str, Any]) -> Block:
    """Raises InvalidDocument naming the field."""
    ends = [read_node(value.get(name), name) for name in ("from", "to")]
    for name, end in zip(("from", "to"), ends, strict=True):
        if end.kind != labels.COLUMN:
            raise InvalidDocument(f"{name}.kind", "column")
    return Block(
        check_tag(value.get("tag")),
        ends[0],
        ends[1],
        mask_text(read_text(value, "note", MOST_NOTE)),
    )


def read_text(value: Mapping[str, Any], name: str, most: int) -> str:
    """A text field, "" when it is not given."""
    text = value.get(name, "")
    if not isinstance(text, str) or len(text) > most:
        raise InvalidDocument(name, f"a text of up to {most} characters")
    return text
