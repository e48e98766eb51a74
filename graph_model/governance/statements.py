"""The statements in force: a pure function of the set of all statements.

Of several statements about one key the newest is in force, by its own time and then its id; one
without a value retracts. So the order of their arrival, or of their projection, does not matter.

What they hide is left out of lists and pictures, and what they name shows its layer and tags. A
hidden node is not drawn, nor are its edges, nor do its columns count among those that decide over a
drawn column; nodes behind it within the requested depth are drawn all the same. The answer counts
the omitted nodes.

Classifications are tags such as PII on datasets and columns, each with a responsible person. A tag
follows DIRECT column lineage only when a question asks, and not through an edge that is blocked for
it (``propagation``).

Storage layers are rules on a dataset's URI, the first that matches wins:

    landing   prefix  s3://landing/            order 10
    curated   glob    s3://*/curated/**        order 20
    exports   regex   ^s3://exports-[a-z]+/    order 30

A glob and a regular expression are run by RE2, whose time is linear in the text whatever the
pattern: rules come from outside and are tried on every dataset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, TypeVar

from graph_model import labels
from graph_model.errors import InvalidDocument
from graph_model.facts import CommandRow, DatasetRow
from graph_model.governance.fields import (
    NamedNode,
    check_fields,
    check_name,
    node_ids,
    read_node,
    read_note,
    write_key,
    write_node,
)
from graph_model.governance.quality_rules import QualityRule, read_quality_rule
from graph_model.naming import Rules
from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    DrawnLayer,
    GraphView,
    JobNode,
    Node,
)
from graph_model.producers.commands import CommandKind
from graph_model.regular_expressions import check_expression, escape_text, expression_test
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.pages import walk_rows
from spark_agent_config.masking import mask_text

MOST_LAYERS: Final = 200
_MOST_PATTERN: Final = 1_000
_MOST_ORDER: Final = 1_000_000
_MOST_KNOWN: Final = 20_000  # URIs whose layer is remembered: 200 patterns take a millisecond
_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
COLOUR: Final = "#rrggbb, such as #0b6a84"
"""The expected colour, for error messages."""
_LAYER_FIELDS: Final = frozenset({"match", "pattern", "order", "colour", "note"})


class MatchKind(StrEnum):
    """``GLOB`` fits the whole URI (``*`` stays within a segment, ``**`` does not, ``?`` is one
    character); ``REGEX`` is searched for anywhere in it.
    """

    PREFIX = "prefix"
    GLOB = "glob"
    REGEX = "regex"


@dataclass(frozen=True, slots=True, order=True)
class Layer:
    """``colour`` is ``#rrggbb`` in lower case; layers are tried by (order, name)."""

    order: int
    name: str
    match: MatchKind
    pattern: str
    colour: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers in the order in which they are tried."""

    items: tuple[Layer, ...] = ()
    _name_of: Callable[[str], str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(sorted(self.items)))
        tests = [(layer.name, _uri_test(layer.match, layer.pattern)) for layer in self.items]

        @lru_cache(maxsize=_MOST_KNOWN)
        def name_of(uri: str) -> str | None:
            return next((name for name, fits in tests if fits(uri)), None)

        object.__setattr__(self, "_name_of", name_of)

    def of(self, uri: str) -> str | None:
        """The name of the first layer that the canonical URI of a dataset fits."""
        return self._name_of(uri)

    def with_one(self, layer: Layer) -> Layers:
        """The same with this layer in the place of the one of its name."""
        return Layers((*self.without(layer.name).items, layer))

    def without(self, name: str) -> Layers:
        return Layers(tuple(layer for layer in self.items if layer.name != name))

    def find(self, name: str) -> Layer | None:
        return next((layer for layer in self.items if layer.name == name), None)


NO_LAYERS: Final = Layers()


def read_layer(name: str, value: Mapping[str, Any]) -> Layer:
    """A layer from its document; raises InvalidDocument naming the field."""
    check_name(name)
    check_fields(value, _LAYER_FIELDS)
    match = _read_match(value.get("match"))
    layer = Layer(
        order=_read_order(value.get("order")),
        name=name,
        match=match,
        pattern=_read_pattern(match, value.get("pattern")),
        colour=_read_colour(value.get("colour")),
        note=read_note(value.get("note", "")),
    )
    _uri_test(layer.match, layer.pattern)
    return layer


def write_layer(layer: Layer) -> dict[str, Any]:
    """The document of a layer, without its name; ``read_layer`` reads it back."""
    return {
        "match": layer.match.value,
        "pattern": layer.pattern,
        "order": layer.order,
        "colour": layer.colour,
        "note": layer.note,
    }


def _read_match(value: Any) -> MatchKind:
    try:
        return MatchKind(value)
    except ValueError:
        raise InvalidDocument("match", "prefix, glob or regex") from None


def _read_pattern(match: MatchKind, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MOST_PATTERN:
        raise InvalidDocument("pattern", f"a text of 1 to {_MOST_PATTERN:,} characters")
    if match is not MatchKind.PREFIX:
        check_expression(value if match is MatchKind.REGEX else _translate_glob(value), "pattern")
    return value


def _read_order(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_ORDER:
        raise InvalidDocument("order", f"a whole number from 0 to {_MOST_ORDER:,}")
    return value


def _read_colour(value: Any) -> str:
    if not isinstance(value, str) or not _COLOUR.fullmatch(value.lower()):
        raise InvalidDocument("colour", COLOUR)
    return value.lower()


def _uri_test(match: MatchKind, pattern: str) -> Callable[[str], bool]:
    if match is MatchKind.PREFIX:
        return lambda uri: uri.startswith(pattern)
    if match is MatchKind.GLOB:
        return expression_test(_translate_glob(pattern), whole=True)
    return expression_test(pattern, whole=False)


def _translate_glob(glob: str) -> str:
    """``s3://*/raw/**`` => ``s3://[^/]*/raw/.*``."""
    parts: Iterable[str] = re.split(r"(\*\*|\*|\?)", glob)
    wild = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(wild.get(part) or escape_text(part) for part in parts)


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


def walk_datasets(
    catalogue: Catalogue, query: str = "", at: int | None = None, hidden: Collection[str] = ()
) -> Iterator[DatasetRow]:
    """Every dataset whose name holds the query, but the hidden ones (ids), by name, URI and id, a
    page at a time.
    """
    rows = walk_rows(lambda after: catalogue.walk_datasets(query=query, after=after, at=at))
    return (row for row in rows if row.id not in hidden)


def hide_nodes(view: GraphView, hidden: Collection[str]) -> tuple[GraphView, int]:
    """The view without hidden datasets (and their columns) and jobs, and how many those were."""
    if not hidden:
        return view, 0
    gone = {node.id for node in view.nodes if _home(node) in hidden}
    nodes = tuple(_without_influences(n, hidden) for n in view.nodes if n.id not in gone)
    edges = tuple(e for e in view.edges if e.source not in gone and e.target not in gone)
    count = sum(node.id in gone and node.id == _home(node) for node in view.nodes)
    return replace(view, nodes=nodes, edges=edges), count


def _without_influences(node: Node, hidden: Collection[str]) -> Node:
    """A column without the number of hidden columns that decide over it."""
    if not isinstance(node, ColumnNodeView) or node.influences is None:
        return node
    shown = tuple(influence for influence in node.influences if influence.dataset not in hidden)
    return node._replace(influences=shown)


def _home(node: Node) -> str:
    """The dataset of a column; the node itself else."""
    return node.dataset_id if isinstance(node, ColumnNodeView) else node.id


def mark_nodes(view: GraphView, governance: Governance) -> GraphView:
    """The view with the layers and tags of its datasets and columns, and the layers drawn."""
    nodes = tuple(_marked(node, governance) for node in view.nodes)
    drawn = {node.layer for node in nodes if isinstance(node, DatasetNode)}
    layers = tuple(
        DrawnLayer(layer.name, layer.colour)
        for layer in governance.layers.items
        if layer.name in drawn
    )
    return replace(view, nodes=nodes, layers=layers)


def _marked(node: Node, governance: Governance) -> Node:
    tags = governance.tags.get(node.id, ())
    match node:
        case DatasetNode():
            return node._replace(layer=governance.layers.of(node.uri), classifications=tags)
        case ColumnNodeView():
            return node._replace(classifications=tags)
        case JobNode():
            return node
