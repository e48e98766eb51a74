"""The columns that a job writes, each with the columns derived from it.

job -> table (of the job's own answer)      job -> column of that table -> columns of it
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from graph_model import identity, labels
from graph_model.facts import Edge
from graph_model.lineage import HUB_LIMIT, Answer, Chain, Lineage, Link, Partial, Question
from graph_model.stores.graph import Direction, GraphReader
from graph_model.stores.protocols import NodeLookup

_HUB: Final = Partial("hub", HUB_LIMIT)


class WrittenColumns:
    """Finds the columns in one graph and one catalogue; ``lineage`` follows them downstream."""

    def __init__(self, graph: GraphReader, catalogue: NodeLookup, lineage: Lineage) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._lineage = lineage
        self._cut = False

    def below(self, job: str, tables: Answer, question: Question) -> Answer:
        """The columns of the tables in ``tables``, the job's own answer, that the job wrote in one
        step, or that derive from those. ``question`` is the one that ``tables`` answers.
        """
        plans = {use.logical_plan for use in tables.plans if use.job == job}
        written = self._of_plans(plans) if question.depth > 0 else frozenset()
        asked = replace(question, node="", depth=max(0, question.depth - 1))
        answer = self._lineage.ask_columns(written, asked)
        starts = self._lineage.ask_columns(written, replace(asked, depth=0)).columns
        homes = {column.id: column.dataset for column in (*starts, *answer.columns)}
        near = {chain.end for chain in tables.chains if chain.depth == 1}
        direct = {column.id for column in starts if column.dataset in near}
        flows = {chain.end: chain.flow for chain in tables.chains}
        chains = [Chain(job, (Link(job, one),), flows[homes[one]]) for one in direct]
        chains += [
            Chain(job, (Link(job, chain.start), *chain.links), chain.flow)
            for chain in answer.chains
            if chain.start in direct and chain.end != job
        ]
        ends = {chain.end for chain in tables.chains}
        kept = [one for one in chains if homes.get(one.end, one.end) in ends]
        return replace(
            answer,
            chains=tuple(sorted(kept, key=lambda chain: (chain.depth, chain))),
            depth_asked=question.depth,
            depth_reached=max((chain.depth for chain in kept), default=0),
            partial=answer.partial or (_HUB if self._cut else None),
        )

    def _of_plans(self, plans: Collection[str]) -> frozenset[str]:
        """Ids of the columns that these plans write: those of their schemas, and those that they
        derive, which is all that a declaration reports.
        """
        schemas = self._ends(plans, labels.WRITES)
        listed = self._ends(schemas, labels.HAS)
        targets = {row.target for row in self._catalogue.logical_plans(plans)} - {""}
        held = self._ends(targets, labels.HAS) - listed
        derived = self._edges(held, Direction.UPSTREAM, labels.DERIVES)
        own = {edge.in_id for edge in derived if edge.value("logical_plan") in plans}
        return frozenset(end for end in listed | own if identity.kind_of(end) == labels.COLUMN)

    def _ends(self, ids: Collection[str], label: str) -> set[str]:
        return {edge.in_id for edge in self._edges(ids, Direction.DOWNSTREAM, label)}

    def _edges(self, ids: Collection[str], direction: Direction, label: str) -> tuple[Edge, ...]:
        page = self._graph.edges(ids, direction, (label,), HUB_LIMIT)
        self._cut = self._cut or bool(page.cut)
        return tuple(page.edges)
