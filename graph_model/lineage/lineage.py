"""The door of the package: a question in, an answer out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from graph_model import identity, labels
from graph_model.facts import Edge
from graph_model.history.past import Past, moment_of
from graph_model.lineage.bounds import COLUMN_LIMIT, HUB_LIMIT, Bounds
from graph_model.lineage.columns import (
    Columns,
    FoundColumns,
    Name,
    as_column_edge,
    between,
    column_id,
    fold_column_edges,
    node_of,
)
from graph_model.lineage.questions import Answer, ColumnEdge, ColumnNode, Question
from graph_model.lineage.structure import Structure
from graph_model.lineage.tables import Found, Tables
from graph_model.lineage.traces import Trace
from graph_model.lineage.walk import Walk
from graph_model.store import Catalogue, Direction, GraphReader

_Called = dict[tuple[str, str], set[str]]
"""(logical plan, what it calls a dataset) -> where that was."""


@dataclass(frozen=True, slots=True, order=True)
class Derivation:
    """How one logical plan computes a column from one other; ``source`` is a (dataset, path)."""

    logical_plan: str
    job: str
    source: Name
    kind: str
    how: str
    expression: str


class Lineage:
    """Answers questions from one graph and one catalogue.

    ``expired`` tells that the time for an answer is over: what is found until then is returned,
    marked partial. ``past`` keeps what was learnt of the past; one object serves one request.
    ``structure`` is what questions to this catalogue have learnt before.
    Raises GraphUnavailable when the graph does not answer.
    """

    def __init__(
        self,
        graph: GraphReader,
        catalogue: Catalogue,
        *,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
        structure: Structure | None = None,
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self._structure = structure or Structure()
        self.past = Past(catalogue, self._structure.plans)

    # --- tables and jobs

    def ask(self, question: Question) -> Answer:
        """Neighbourhood of a dataset, a job or a column; the node must be known already."""
        if identity.kind_of(question.node) == labels.COLUMN:
            return self.ask_columns((question.node,), question)
        past, bounds = self._begin()
        question = _located(question, past)
        found = Found(question.limit, bounds)
        if identity.kind_of(question.node) == labels.JOB:
            found.admit((), (question.node,))
        else:
            found.admit((question.node,), ())
            found.answers.add(question.node)
        tables = Tables(self._graph, past, bounds, self._structure)
        if Direction.UPSTREAM in question.directions:
            tables.upstream(question, found)
        if Direction.DOWNSTREAM in question.directions:
            tables.downstream((question.node,), question, found)
        answer = self._answer(question, found, past)
        return _with_chains(answer, question, found.trace, (question.node,))

    def ask_downstream(self, start: Collection[str], question: Question) -> Answer:
        """What came of any of these datasets (ids), in one walk; ``question.node`` is not read."""
        past, bounds = self._begin()
        until = moment_of("", question.at).until - 1
        places = set(past.locate((dataset, until) for dataset in start).values())
        found = Found(question.limit, bounds)
        found.admit(places, ())
        found.answers |= found.datasets
        Tables(self._graph, past, bounds, self._structure).downstream(places, question, found)
        return _with_chains(self._answer(question, found, past), question, found.trace, places)

    def overview(self, datasets: Collection[str], jobs: Collection[str], at: int | None) -> Answer:
        """These datasets and jobs with all visible plans between them."""
        past, bounds = self._begin()
        found = Found(len(datasets) + len(jobs), bounds, set(datasets), set(datasets), set(jobs))
        moments = {moment_of(dataset, at) for dataset in datasets}
        walk = Walk(self._graph, past, bounds, moment_of("", at).until, structure=self._structure)
        for moment, steps in walk.expand(moments).items():
            for step in steps:
                found.uses.add((step.logical_plan, step.job, "", "", moment.dataset, step.target))
                for called, read in step.inputs:
                    found.uses.add((step.logical_plan, step.job, read.dataset, called, "", ""))
        return self._answer(Question("", depth=0, at=at, limit=found.limit), found, past)

    def around(
        self, datasets: Collection[str], jobs: Collection[str], at: int | None
    ) -> tuple[set[str], set[str], bool]:
        """These datasets and jobs with what stands beside them, whenever that was; and whether a
        hub had more than is told.
        """
        past, down = self.past, Direction.DOWNSTREAM
        of_jobs = self._graph.edges(jobs, down, (labels.HAS,), HUB_LIMIT)
        reading = self._graph.edges(datasets, down, (labels.FEEDS,), HUB_LIMIT)
        found = {edge.in_id for page in (of_jobs, reading) for edge in page.edges}
        plans = {plan for plan in found if identity.kind_of(plan) == labels.LOGICAL_PLAN}
        plans |= {writer.logical_plan for writer in self._catalogue.writers(datasets, at)}
        rows = past.plans(plans).values()
        fed = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        beside = {row.target for row in rows} | {edge.out_id for edge in fed.edges}
        places = past.locations_of(beside)
        located = {place for dataset in beside for place in places[dataset]}
        cut = any(page.cut for page in (of_jobs, reading, fed))
        return {*datasets, *located} - {""}, {*jobs, *(row.job for row in rows)}, cut

    def _columns(self, past: Past, bounds: Bounds, *, indirect: bool) -> Columns:
        return Columns(self._graph, past, bounds, self._structure, indirect=indirect)

    def _begin(self) -> tuple[Past, Bounds]:
        return self.past, Bounds(self._expired, self._time_limit_ms)

    def _answer(self, question: Question, found: Found, past: Past) -> Answer:
        columns: tuple[ColumnNode, ...] = ()
        edges: tuple[ColumnEdge, ...] = ()
        if question.columns:
            columns, edges = self._columns_of(found, question, past)
        plans = past.plans({use[0] for use in found.uses})
        return Answer(
            datasets=tuple(sorted(found.datasets)),
            jobs=tuple(sorted(found.jobs)),
            plans=found.plan_uses({plan: row.mode for plan, row in plans.items()}),
            columns=columns,
            column_edges=edges,
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=found.reached,
            partial=found.bounds.partial,
            folded=found.folded,
            via=tuple(sorted(found.datasets - found.answers)),
            left_out=found.left_out(),
        )

    # --- columns inside the tables of an answer

    def _columns_of(
        self, found: Found, question: Question, past: Past
    ) -> tuple[tuple[ColumnNode, ...], tuple[ColumnEdge, ...]]:
        sources, targets = _called(found)
        columns = self._columns(past, found.bounds, indirect=question.indirect)
        names = self._schema_columns(found.datasets, question.at)
        raw = self._derivations(names, sources, question, found)
        ends = columns.learn_names({end for edge in raw for end in (edge.out_id, edge.in_id)})
        edges = [
            between(edge, (source, ends[edge.out_id][1]), (target, ends[edge.in_id][1]))
            for edge in raw
            if {edge.out_id, edge.in_id} <= ends.keys()
            for source in sources.get(_use_of(edge, ends[edge.out_id]), ())
            for target in targets.get(_use_of(edge, ends[edge.in_id]), ())
        ]
        for edge in raw:
            if {edge.out_id, edge.in_id} <= ends.keys():
                path = ends[edge.out_id][1]
                names |= {(d, path) for d in sources.get(_use_of(edge, ends[edge.out_id]), ())}
                path = ends[edge.in_id][1]
                names |= {(d, path) for d in targets.get(_use_of(edge, ends[edge.in_id]), ())}
        if question.indirect:
            edges += self._influences(columns, names, sources, targets, found)
        nodes = {column_id(name): node_of(name) for name in names}
        if len(nodes) > COLUMN_LIMIT:
            found.bounds.cut("nodes", COLUMN_LIMIT)
            nodes = dict(sorted(nodes.items())[:COLUMN_LIMIT])
        drawn = fold_column_edges(e for e in edges if {e.out_id, e.in_id} <= nodes.keys())
        return tuple(nodes[key] for key in sorted(nodes)), tuple(drawn)

    def _schema_columns(self, datasets: Collection[str], at: int | None) -> set[Name]:
        """Columns of the newest visible schemas."""
        return {
            (dataset, path)
            for dataset, schema in self._catalogue.newest_schemas(datasets, at).items()
            for path in schema_paths(schema.columns)
        }

    def _derivations(
        self, names: Collection[Name], sources: _Called, question: Question, found: Found
    ) -> list[Edge]:
        """What flows out of these columns, whatever the plans of the answer call their tables."""
        called: defaultdict[str, set[str]] = defaultdict(set)
        for (_, alias), places in sources.items():
            for place in places:
                called[place].add(alias)
        asked = {column_id((a, path)) for d, path in names for a in called[d]}
        if not asked:
            return []
        page = self._graph.edges(asked, Direction.DOWNSTREAM, (labels.DERIVES,), HUB_LIMIT)
        found.bounds.note_hub(page.cut)
        wanted = {labels.DIRECT, labels.INDIRECT} if question.indirect else {labels.DIRECT}
        return [edge for edge in page.edges if edge.value("kind") in wanted]

    def _influences(
        self,
        columns: Columns,
        names: set[Name],
        sources: _Called,
        targets: _Called,
        found: Found,
    ) -> list[Edge]:
        """FILTER, JOIN, GROUP_BY and SORT, stored once per plan, spread over its output columns."""
        plans = {plan for plan, _ in targets}
        if not plans:
            return []
        page = self._graph.edges(plans, Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        found.bounds.note_hub(page.cut)
        ends = columns.learn_names({edge.out_id for edge in page.edges})
        outputs: defaultdict[str, set[Name]] = defaultdict(set)
        for dataset, path in names:
            outputs[dataset].add((dataset, path))
        written: defaultdict[str, set[str]] = defaultdict(set)
        for (plan, _), places in targets.items():
            written[plan] |= places
        spread = []
        for edge in page.edges:
            called, path = ends.get(edge.out_id, ("", ""))
            for source in sources.get((edge.in_id, called), ()):
                names.add((source, path))
                spread += [
                    between(as_column_edge(edge), (source, path), output)
                    for target in sorted(written[edge.in_id])
                    for output in sorted(outputs[target])
                ]
        return spread

    def derivations(self, column: str, at: int | None) -> tuple[Derivation, ...]:
        """How the writes to be seen at the time compute a column (an id): one step, plan by plan.

        What decides over the rows (FILTER, JOIN, GROUP_BY, SORT) is among them.
        """
        past, bounds = self._begin()
        columns = self._columns(past, bounds, indirect=True)
        return tuple(
            sorted(
                Derivation(
                    str(hop.edge.value("logical_plan")),
                    hop.job,
                    hop.source.name,
                    str(hop.edge.value("kind")),
                    str(hop.edge.value("how")),
                    str(hop.edge.value("expression") or ""),
                )
                for hop in columns.into(column, at)
            )
        )

    # --- columns across jobs

    def ask_columns(self, start: Collection[str], question: Question) -> Answer:
        """Where columns (ids) come from and where they go, derivation by derivation."""
        past, bounds = self._begin()
        found = FoundColumns(question.limit, bounds)
        columns = self._columns(past, bounds, indirect=question.indirect)
        until = moment_of("", question.at).until - 1
        known = columns.learn_names(start).values()
        places = past.locate((dataset, until) for dataset, _ in known)
        names = {(places[dataset, until], path) for dataset, path in known}
        found.admit(names)
        found.answers |= found.nodes.keys()
        for direction in question.directions:
            (columns.upstream if direction == Direction.UPSTREAM else columns.downstream)(
                names, question, found
            )
        edges = tuple(sorted(found.drawn()))
        answer = Answer(
            datasets=tuple(sorted(found.datasets)),
            jobs=(),
            plans=(),
            columns=tuple(found.nodes[key] for key in sorted(found.nodes)),
            column_edges=edges,
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=found.reached,
            partial=bounds.partial,
            folded=found.folded,
            via=tuple(sorted(found.nodes.keys() - found.answers)),
            left_out=found.left_out(),
        )
        return _with_chains(answer, question, found.trace, set(map(column_id, names)))


def _located(question: Question, past: Past) -> Question:
    """A catalog name is asked about at the place that it stood for."""
    if identity.kind_of(question.node) != labels.DATASET:
        return question
    moment = (question.node, moment_of("", question.at).until - 1)
    place = past.locate((moment,))[moment]
    return replace(question, node=place)


def _with_chains(
    answer: Answer, question: Question, trace: Trace[Any] | None, start: Collection[str]
) -> Answer:
    """The answer with the chains of its walk downstream to what it draws, the start aside.

    No job is drawn among columns: there each job counts that stands on a chain.
    """
    if trace is None or not question.chains:
        return answer
    drawn = {*answer.datasets, *answer.jobs, *(column.id for column in answer.columns)}
    chains = tuple(
        chain
        for chain in trace.chains()
        if chain.end not in start
        and (chain.end in drawn or (answer.columns and identity.kind_of(chain.end) == labels.JOB))
    )
    return replace(answer, chains=chains)


def _called(found: Found) -> tuple[_Called, _Called]:
    """What the drawn plans call the drawn datasets that they read, and that they write."""
    sources: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    targets: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for plan, job, source, source_called, target, target_called in found.uses:
        if job in found.jobs:
            if source in found.datasets:
                sources[plan, source_called].add(source)
            if target in found.datasets:
                targets[plan, target_called].add(target)
    return dict(sources), dict(targets)


def _use_of(edge: Edge, name: Name) -> tuple[str, str]:
    return str(edge.value("logical_plan")), name[0]


def schema_paths(columns: str) -> list[str]:
    """The paths in a schema's JSON, in order."""
    return [str(column["path"]) for column in json.loads(columns)]
