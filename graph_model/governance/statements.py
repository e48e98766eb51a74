"""The statements in force: a pure function of the set of all statements.

Of several statements about one key the newest is in force, by its own time and then its id; one
without a value retracts. So the order of their arrival, or of their projection, does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from graph_model import labels
from graph_model.errors import InvalidDocument
from graph_model.facts import CommandRow
from graph_model.governance.classifications import Assignment, Block, read_assignment, read_block
from graph_model.governance.fields import NamedNode, node_ids, read_node
from graph_model.governance.layers import NO_LAYERS, Layers, read_layer
from graph_model.governance.quality_rules import QualityRule, read_quality_rule
from graph_model.naming import Rules
from graph_model.producers.commands import CommandKind

KINDS: Final = (
    CommandKind.LAYER,
    CommandKind.CLASSIFY,
    CommandKind.BLOCK,
    CommandKind.HIDE,
    CommandKind.QUALITY,
)

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Held:
    """A statement that holds; ``value`` is never None."""

    key: str
    value: Mapping[str, Any]
    author: str
    at: int
    note: str


@dataclass(frozen=True, slots=True)
class HiddenNode:
    node: NamedNode
    author: str
    at: int
    note: str


@dataclass(frozen=True, slots=True)
class Governance:
    """The statements about the nodes of one catalogue; ids are those of the rules in force.

    ``tags``: node id -> its tags, sorted. ``assigned``: (tag, node id) -> why. ``blocked``: (tag,
    id of the source, id of the target) -> why. ``hidden``: ids of datasets and jobs.
    ``quality_rules`` by name.
    """

    layers: Layers = NO_LAYERS
    assignments: tuple[Assignment, ...] = ()
    blocks: tuple[Block, ...] = ()
    hidden_nodes: tuple[HiddenNode, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    assigned: Mapping[tuple[str, str], Assignment] = field(default_factory=dict)
    blocked: Mapping[tuple[str, str, str], Block] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    quality_rules: tuple[QualityRule, ...] = ()

    def nodes_of(self, tag: str) -> frozenset[str]:
        """The ids of the nodes that carry a tag themselves."""
        return frozenset(node for known, node in self.assigned if known == tag)

    def shows(self, node: NamedNode, rules: Rules) -> bool:
        """Whether neither the node nor, of a column, its dataset is hidden."""
        if node.kind == labels.COLUMN:
            node = NamedNode(labels.DATASET, node.names[:2])
        return self.hidden.isdisjoint(node_ids(node, rules))


NOTHING: Final = Governance()


def newest_statements(rows: Iterable[CommandRow]) -> tuple[Held, ...]:
    """The statements in force, by key, without those that this version cannot read."""
    return tuple(
        Held(key, body["value"], row.author, row.at, str(body.get("note", "")))
        for key, row, body in _in_force(rows)
    )


def ids_in_force(rows: Iterable[CommandRow]) -> frozenset[str]:
    """The statements of one kind without those that were replaced or taken back, and without those
    that only take one back.
    """
    return frozenset(row.id for _, row, _ in _in_force(rows))


def _in_force(rows: Iterable[CommandRow]) -> Iterator[tuple[str, CommandRow, Mapping[str, Any]]]:
    """The newest statement of each key, by key, where it has a value."""
    newest: dict[str, tuple[CommandRow, Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row.at, row.id)):
        body = json.loads(row.body)
        newest[str(body.get("key"))] = (row, body)
    for key, (row, body) in sorted(newest.items()):
        if isinstance(body.get("value"), Mapping):
            yield key, row, body


def govern(rows: Mapping[CommandKind, Iterable[CommandRow]], rules: Rules) -> Governance:
    """The statements together, for ids under these rules."""
    held = {kind: newest_statements(rows.get(kind, ())) for kind in KINDS}
    layers = _read_all(
        held[CommandKind.LAYER], lambda statement: read_layer(statement.key, statement.value)
    )
    quality = _read_all(
        held[CommandKind.QUALITY],
        lambda statement: read_quality_rule(statement.key, statement.value),
    )
    return _indexed(
        Layers(tuple(layers)),
        tuple(_read_all(held[CommandKind.CLASSIFY], _assignment)),
        tuple(_read_all(held[CommandKind.BLOCK], _block)),
        tuple(_read_all(held[CommandKind.HIDE], _hidden)),
        tuple(sorted(quality)),
        rules,
    )


def _assignment(statement: Held) -> Assignment:
    return replace(read_assignment(statement.value), author=statement.author, at=statement.at)


def _block(statement: Held) -> Block:
    return replace(read_block(statement.value), author=statement.author, at=statement.at)


def _hidden(statement: Held) -> HiddenNode:
    return HiddenNode(
        read_node(statement.value.get("node"), "node"),
        statement.author,
        statement.at,
        statement.note,
    )


def _indexed(
    layers: Layers,
    assignments: tuple[Assignment, ...],
    blocks: tuple[Block, ...],
    hidden: tuple[HiddenNode, ...],
    quality_rules: tuple[QualityRule, ...],
    rules: Rules,
) -> Governance:
    assigned = {
        (assignment.tag, node): assignment
        for assignment in assignments
        for node in node_ids(assignment.node, rules)
    }
    tags: dict[str, set[str]] = {}
    for tag, node in assigned:
        tags.setdefault(node, set()).add(tag)
    return Governance(
        layers=layers,
        assignments=assignments,
        blocks=blocks,
        hidden_nodes=hidden,
        tags={node: tuple(sorted(names)) for node, names in tags.items()},
        assigned=assigned,
        blocked={
            (block.tag, source, target): block
            for block in blocks
            for source in node_ids(block.source, rules)
            for target in node_ids(block.target, rules)
        },
        hidden=frozenset(
            node for hidden_node in hidden for node in node_ids(hidden_node.node, rules)
        ),
        quality_rules=quality_rules,
    )


def _read_all(held: Iterable[Held], read: Callable[[Held], _Read]) -> Iterator[_Read]:
    """A statement of a later version that this one does not know is left out."""
    for statement in held:
        with suppress(InvalidDocument):
            yield read(statement)
