"""``/classifications``: the tags in use; ``/classifications/<tag>``: the nodes with one tag."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.answers.sources import Sources
from graph_model.governance.classifications import Assignment, Block


@dataclass(frozen=True, slots=True)
class TagUse:
    """How many visible datasets and columns carry a tag, and how many edges it does not follow."""

    tag: str
    datasets: int
    columns: int
    blocks: int


@dataclass(frozen=True, slots=True)
class TaggedNodes:
    """The visible nodes with one tag, by id, and the edges that the tag does not follow."""

    assigned: tuple[tuple[str, Assignment], ...]
    blocks: tuple[Block, ...]


def tags(sources: Sources) -> tuple[TagUse, ...]:
    """The tags of visible nodes, by name."""
    governance, rules = sources.governance, sources.rules
    nodes = Counter(
        (tag, identity.kind_of(node))
        for (tag, node), one in governance.assigned.items()
        if governance.shows(one.node, rules)
    )
    blocks = Counter(
        tag
        for (tag, _, _), one in governance.blocked.items()
        if governance.shows(one.source, rules) and governance.shows(one.target, rules)
    )
    return tuple(
        TagUse(tag, nodes[tag, labels.DATASET], nodes[tag, labels.COLUMN], blocks[tag])
        for tag in sorted({tag for tag, _ in nodes})
    )


def tagged_nodes(sources: Sources, tag: str) -> TaggedNodes:
    """The nodes with a tag."""
    governance, rules = sources.governance, sources.rules
    return TaggedNodes(
        tuple(
            (node, one)
            for (known, node), one in sorted(governance.assigned.items())
            if known == tag and governance.shows(one.node, rules)
        ),
        tuple(
            one
            for one in governance.blocks
            if one.tag == tag and governance.shows(one.source, rules)
            if governance.shows(one.target, rules)
        ),
    )
