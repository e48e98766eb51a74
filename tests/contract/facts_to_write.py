"""Facts for the graph's contract: a small plan, random sets, and exact comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.facts import (
    Edge,
    FactCollector,
    Facts,
    Scalar,
    Vertex,
    edge,
    is_marker,
    properties,
)
from graph_model.stores.graph import Graph


def vertex(label: str, *key: object, **values: Scalar) -> Vertex:
    return Vertex(identity.vertex_id(label, *key), label, properties(values))


def facts(*elements: Vertex | Edge) -> Facts:
    collector = FactCollector()
    collector.add(*elements)
    return collector.facts()


def plan(name: str, *, columns: int = 3, executions: int = 1) -> Facts:
    """A job with one plan that copies the columns of ``source`` to ``target``; sources shared."""
    job = vertex(labels.JOB, "spark", name, namespace="spark", name=name)
    logical = vertex(labels.LOGICAL_PLAN, job.id, "f", mode="overwrite")
    source = vertex(labels.DATASET, "", "file:/source", uri="file:/source")
    target = vertex(labels.DATASET, "", f"file:/{name}", uri=f"file:/{name}")
    elements: list[Vertex | Edge] = [job, logical, source, target]
    elements += [
        edge(labels.FEEDS, source.id, logical.id),
        edge(labels.FEEDS, logical.id, target.id, {"mode": "overwrite"}),
        edge(labels.HAS, job.id, logical.id),
    ]
    for number in range(columns):
        path = f"c{number}"
        ends = [vertex(labels.COLUMN, each.id, path, path=path) for each in (source, target)]
        elements += ends
        elements += [
            edge(labels.HAS, source.id, ends[0].id),
            edge(labels.HAS, target.id, ends[1].id),
            edge(labels.DERIVES, ends[0].id, ends[1].id, {"plan": logical.id, "how": "IDENTITY"}),
        ]
    day = vertex(labels.DAY, job.id, "2024-01-01", date="2024-01-01")
    for number in range(executions):
        run = vertex(labels.RUN, name, number)
        execution = vertex(labels.EXECUTION, name, number, at=1_700_000_000_000 + number)
        elements += [
            day,
            run,
            execution,
            edge(labels.HAS, job.id, day.id),
            edge(labels.HAS, day.id, run.id),
            edge(labels.PERFORMED, run.id, execution.id),
            edge(labels.FOLLOWED, day.id, logical.id),
        ]
    return facts(*elements)


def exact(elements: Iterable[Vertex | Edge]) -> list[str]:
    """Sorted and with types: in Python ``True == 1 == 1.0``, in a graph they are three values."""
    return sorted(repr(element) for element in elements)


def everything(graph: Graph) -> list[str]:
    return exact(graph.scan())


def whole(written: Facts) -> list[str]:
    return exact([*written.vertices, *written.edges])


def visible_plans(graph: Graph) -> list[Edge]:
    return [each for each in graph.scan() if isinstance(each, Edge) and is_marker(each)]


# --- random sets ---------------------------------------------------------------------------------

_TEXTS = st.text(max_size=30)
_SCALARS = st.one_of(
    _TEXTS,
    st.booleans(),
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.floats(allow_nan=False),
)
_KEYS = st.sampled_from(["at", "name", "mode", "label", "id", "uri", "größe", "a b"])
_VALUES = st.dictionaries(_KEYS, _SCALARS, max_size=4)


@st.composite
def fact_sets(draw: st.DrawFn, size: int = 12) -> Facts:
    """Any small set of vertices, and edges between them: loops, parallel ones, all labels."""
    vertices = [
        Vertex(identity.vertex_id(label, number), label, properties(draw(_VALUES)))
        for number, label in enumerate(
            draw(st.lists(st.sampled_from(labels.VERTEX_LABELS), min_size=1, max_size=size))
        )
    ]
    ends = st.sampled_from(vertices)
    edges: list[Edge] = [
        edge(label, out.id, into.id, draw(_VALUES), discriminator=(number,))
        for number, (label, out, into) in enumerate(
            draw(
                st.lists(
                    st.tuples(st.sampled_from(labels.EDGE_LABELS), ends, ends), max_size=2 * size
                )
            )
        )
    ]
    return facts(*vertices, *edges)


def part_of(draw: Any, whole_set: Facts) -> Facts:
    """Some of the facts, with the ends of every edge among them."""
    edges = draw(st.lists(st.sampled_from(whole_set.edges))) if whole_set.edges else []
    vertices = draw(st.lists(st.sampled_from(whole_set.vertices)))
    wanted = {each.id for each in vertices} | {e for x in edges for e in (x.out_id, x.in_id)}
    return facts(*(each for each in whole_set.vertices if each.id in wanted), *edges)
