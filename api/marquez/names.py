"""Node ids as Marquez's clients write them <-> our datasets and jobs.

    dataset:<namespace>:<name>  datasetField:<namespace>:<dataset>:<field>  job:<namespace>:<name>

A version stands behind a ``#``: that of a dataset is an execution, that of a job a plan. Nothing in
a node id is escaped, so its text alone does not say where the namespace ends: each place is looked
up, and the node whose own id is the same text wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from graph_model.answers.openlineage_names import Name, find_dataset, find_job, name_of
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound

DATASET: Final = "dataset"
FIELD: Final = "datasetField"
JOB: Final = "job"
_MOST_COLONS: Final = 24
"""A node id with more of them is known to nobody: each is a place to look at."""


@dataclass(frozen=True, slots=True)
class Node:
    """``id`` is ours, of a dataset or a job; ``field`` a column of it; ``at`` (epoch ms) the time
    of the version, None without one. ``sources`` are those for a question about it.
    """

    sources: Sources
    kind: str
    id: str
    field: str | None
    at: int | None


def find_node(sources: Sources, text: str) -> Node:
    """The node of an id. Raises NotFound."""
    bare, marked, version = text.rpartition("#")
    if marked:
        rows = sources.catalogue.executions_of((version,)) or (
            *sources.catalogue.last_of_plans((version,), None).values(),
        )
        if rows and sources.hidden.isdisjoint((rows[0].job, rows[0].target)):
            return _find(sources, bare, rows[0].at)
    return _find(sources, text, None)


def _find(sources: Sources, text: str, at: int | None) -> Node:
    kind, _, rest = text.partition(":")
    if kind not in (DATASET, FIELD, JOB) or rest.count(":") > _MOST_COLONS:
        raise NotFound("node", text)
    field = None
    if kind == FIELD:
        rest, _, field = rest.rpartition(":")
    find = find_job if kind == JOB else find_dataset
    first: Node | None = None
    for name in _splits(rest):
        try:
            opened, key = find(sources, name)
        except NotFound:
            continue
        node = Node(opened, kind, key, field, at)
        if kind == JOB or _pair(opened, key).node("") == f":{rest}":
            return node
        first = first or node
    if first is None:
        raise NotFound("node", text)
    return first


def _splits(text: str) -> Iterator[Name]:
    """``a:b:c`` => (a:b, c), (a, b:c)."""
    place = text.rfind(":")
    while place > 0:
        if place + 1 < len(text):
            yield Name(text[:place], text[place + 1 :])
        place = text.rfind(":", 0, place)


def _pair(sources: Sources, dataset: str) -> Name:
    (row,) = sources.catalogue.datasets((dataset,))
    return name_of(row.uri, row.scope)
