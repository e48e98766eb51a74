"""Questions about lineage, answered level by level.

Every level costs two bounded requests, whatever the length of history: the catalogue says which
logical plans count at the time asked (``history``), the graph says what they touch. A visited set
ends cycles; caps on nodes, on edges per vertex and on time end the rest, and the answer says so.
Up and down are one function with a direction.

Depth counts table-to-table (or column-to-column) steps: 1 from a dataset is the jobs beside it
and their datasets, 1 from a job its own datasets, 0 the node alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from graph_model import identity, labels, naming
from graph_model.facts import Edge, LogicalPlanRow
from graph_model.history import visible_writers
from graph_model.store import Catalogue, Direction, GraphReader

#: How many edges of one label a single vertex may have before an answer is cut there.
HUB_LIMIT: Final = 5_000
#: Columns drawn in one answer, beside the tables that hold them.
COLUMN_LIMIT: Final = 20_000
_EVERY_DIRECTION: Final = (Direction.UPSTREAM, Direction.DOWNSTREAM)


@dataclass(frozen=True, slots=True)
class Question:
    """``node`` is an id; ``at`` epoch ms or None for the end of time; ``limit`` counts nodes."""

    node: str
    direction: Direction = Direction.BOTH
    depth: int = 1
    at: int | None = None
    columns: bool = False
    indirect: bool = False
    limit: int = 500


@dataclass(frozen=True, slots=True)
class Partial:
    """Why an answer is not whole: ``nodes``, ``edges``, ``time``, ``hub`` or ``rebuilding``."""

    reason: str
    limit: int


@dataclass(frozen=True, slots=True, order=True)
class PlanUse:
    """A logical plan in an answer, with the datasets of it that the answer draws."""

    logical_plan: str
    job: str
    mode: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class ColumnEdge:
    """One per (source, target, kind, how), whatever number of plans stands behind it."""

    source: str
    target: str
    kind: str
    how: str
    expression: str
    plans: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnNode:
    id: str
    dataset: str  # the dataset's id
    path: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question found; all tuples sorted. ``as_of`` is the newest event considered."""

    datasets: tuple[str, ...]
    jobs: tuple[str, ...]
    plans: tuple[PlanUse, ...]
    columns: tuple[ColumnNode, ...]
    column_edges: tuple[ColumnEdge, ...]
    as_of: int | None
    depth_asked: int
    depth_reached: int
    partial: Partial | None


@dataclass(slots=True)
class _Found:
    """What a walk has gathered so far."""

    limit: int
    datasets: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    plans: dict[str, LogicalPlanRow] = field(default_factory=dict)
    feeds: set[tuple[str, str]] = field(default_factory=set)  # (dataset, logical plan) read
    reached: int = 0
    partial: Partial | None = None

    def cut(self, reason: str, limit: int) -> None:
        self.partial = self.partial or Partial(reason, limit)

    def admit(self, datasets: Iterable[str], jobs: Iterable[str]) -> None:
        """Take in nodes, in the order of their ids, while the limit lasts."""
        for known, offered in ((self.jobs, jobs), (self.datasets, datasets)):
            for node in sorted(set(offered) - known):
                if len(self.datasets) + len(self.jobs) >= self.limit:
                    self.cut("nodes", self.limit)
                    return
                known.add(node)


class Lineage:
    """Answers questions from one graph and one catalogue.

    ``expired`` tells that the time for an answer is over: what is found until then is returned,
    marked partial. Raises GraphUnavailable when the graph does not answer.
    """

    def __init__(
        self,
        graph: GraphReader,
        catalogue: Catalogue,
        *,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._expired = expired
        self._time_limit_ms = time_limit_ms

    # --- tables and jobs

    def ask(self, question: Question) -> Answer:
        """Neighbourhood of a dataset, a job or a column; the node must be known already."""
        if identity.kind_of(question.node) == labels.COLUMN:
            return self.ask_columns((question.node,), question)
        found = _Found(question.limit)
        directions = (
            _EVERY_DIRECTION if question.direction == Direction.BOTH else (question.direction,)
        )
        for direction in directions:
            self._walk(question, direction, found)
        return self._answer(question, found)

    def overview(self, datasets: Collection[str], jobs: Collection[str], at: int | None) -> Answer:
        """These datasets and jobs with all visible plans between them."""
        found = _Found(len(datasets) + len(jobs), set(datasets), set(jobs))
        writers = visible_writers(self._catalogue.writers(datasets, at))
        self._take_plans({writer.logical_plan for writer in writers}, found)
        found.plans = {key: row for key, row in found.plans.items() if row.job in found.jobs}
        self._note_sources(found.plans.keys(), found)
        question = Question("", depth=0, at=at, limit=found.limit)
        return self._answer(question, found)

    def _walk(self, question: Question, direction: Direction, found: _Found) -> None:
        frontier = self._start(question, direction, found)
        first = 1 if identity.kind_of(question.node) == labels.JOB else 0
        visited = set(frontier) | {question.node}
        for level in range(first, question.depth):
            if not frontier or found.partial is not None:
                return
            if self._expired():
                found.cut("time", self._time_limit_ms)
                return
            plans = self._plans_beside(frontier, direction, question.at, found)
            before = len(found.datasets) + len(found.jobs)
            reached = self._far_side(plans, direction, found)
            found.admit(reached, {found.plans[plan].job for plan in plans})
            if len(found.datasets) + len(found.jobs) > before:
                found.reached = max(found.reached, level + 1)
            frontier = (reached & found.datasets) - visited
            visited |= frontier

    def _start(self, question: Question, direction: Direction, found: _Found) -> set[str]:
        """The node itself; from a job at once its own datasets (that is its first step)."""
        if identity.kind_of(question.node) == labels.DATASET:
            found.admit((question.node,), ())
            return {question.node}
        found.admit((), (question.node,))
        if question.depth == 0:
            return set()
        plans = self._plans_of_job(question.node, question.at, found)
        before = len(found.datasets)
        reached = self._far_side(plans, direction, found)
        found.admit(reached, ())
        if len(found.datasets) > before:
            found.reached = max(found.reached, 1)
        return reached & found.datasets

    def _plans_of_job(self, job: str, at: int | None, found: _Found) -> set[str]:
        """The job's plans whose writes are still visible: the relation of every other step."""
        page = self._graph.edges((job,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        own = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
        targets = {row.target for row in self._catalogue.logical_plans(own)}
        writers = visible_writers(self._catalogue.writers(targets, at))
        return self._take_plans({w.logical_plan for w in writers} & own, found)

    def _plans_beside(
        self, datasets: Collection[str], direction: Direction, at: int | None, found: _Found
    ) -> set[str]:
        """Visible plans that write (UPSTREAM) or read (DOWNSTREAM) one of these datasets."""
        if direction == Direction.UPSTREAM:
            writers = visible_writers(self._catalogue.writers(datasets, at))
            return self._take_plans({writer.logical_plan for writer in writers}, found)
        page = self._graph.edges(datasets, direction, (labels.FEEDS,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        feeds = {
            (e.out_id, e.in_id)
            for e in page.edges
            if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN
        }
        readers = {plan for _, plan in feeds}
        targets = {row.target for row in self._catalogue.logical_plans(readers)}
        visible = {w.logical_plan for w in visible_writers(self._catalogue.writers(targets, at))}
        plans = self._take_plans(readers & visible, found)
        found.feeds |= {(dataset, plan) for dataset, plan in feeds if plan in plans}
        return plans

    def _take_plans(self, plans: Collection[str], found: _Found) -> set[str]:
        """Those that are marked complete in the graph; remembered with their rows."""
        new = set(plans) - found.plans.keys()
        if new:
            page = self._graph.edges(new, Direction.UPSTREAM, (labels.HAS,), HUB_LIMIT)
            marked = {edge.in_id for edge in page.edges}
            for row in self._catalogue.logical_plans(new & marked):
                found.plans[row.id] = row
        return set(plans) & found.plans.keys()

    def _far_side(self, plans: Collection[str], direction: Direction, found: _Found) -> set[str]:
        if direction == Direction.DOWNSTREAM:
            return {found.plans[plan].target for plan in plans}
        return self._note_sources(plans, found)

    def _note_sources(self, plans: Collection[str], found: _Found) -> set[str]:
        if not plans:
            return set()
        page = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        found.feeds |= {(edge.out_id, edge.in_id) for edge in page.edges}
        return {edge.out_id for edge in page.edges}

    def _note_hub(self, cut: Collection[str], found: _Found) -> None:
        if cut:
            found.cut("hub", HUB_LIMIT)

    def _answer(self, question: Question, found: _Found) -> Answer:
        uses = tuple(sorted(self._uses(found)))
        columns: tuple[ColumnNode, ...] = ()
        edges: tuple[ColumnEdge, ...] = ()
        if question.columns:
            columns, edges = self._columns_of(found, question)
        return Answer(
            datasets=tuple(sorted(found.datasets)),
            jobs=tuple(sorted(found.jobs)),
            plans=uses,
            columns=columns,
            column_edges=edges,
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=found.reached,
            partial=found.partial,
        )

    def _uses(self, found: _Found) -> list[PlanUse]:
        sources: dict[str, set[str]] = {}
        for dataset, plan in found.feeds:
            sources.setdefault(plan, set()).add(dataset)
        uses = []
        for plan, row in found.plans.items():
            drawn = tuple(sorted(sources.get(plan, set()) & found.datasets))
            targets = (row.target,) if row.target in found.datasets else ()
            if row.job in found.jobs and (drawn or targets):
                uses.append(PlanUse(plan, row.job, row.mode, drawn, targets))
        return uses

    # --- columns inside the tables of an answer

    def _columns_of(
        self, found: _Found, question: Question
    ) -> tuple[tuple[ColumnNode, ...], tuple[ColumnEdge, ...]]:
        nodes = self._schema_columns(found.datasets, question.at)
        raw = self._derivations(nodes, Direction.DOWNSTREAM, question, found)
        raw = [edge for edge in raw if edge.value("logical_plan") in found.plans]
        linked = {end for edge in raw for end in (edge.out_id, edge.in_id)}
        nodes |= self._column_nodes(linked - nodes.keys())
        nodes = {key: node for key, node in nodes.items() if node.dataset in found.datasets}
        edges = [edge for edge in raw if edge.out_id in nodes and edge.in_id in nodes]
        column_edges = fold_column_edges(edges)
        if question.indirect:
            column_edges += self._influences(found.plans.values(), nodes, found)
        if len(nodes) > COLUMN_LIMIT:
            found.cut("nodes", COLUMN_LIMIT)
            nodes = dict(sorted(nodes.items())[:COLUMN_LIMIT])
            column_edges = [e for e in column_edges if e.source in nodes and e.target in nodes]
        return tuple(nodes[key] for key in sorted(nodes)), tuple(sorted(column_edges))

    def _schema_columns(self, datasets: Collection[str], at: int | None) -> dict[str, ColumnNode]:
        """Columns of the newest visible schemas, by id."""
        nodes: dict[str, ColumnNode] = {}
        for dataset, schema in self._catalogue.newest_schemas(datasets, at).items():
            for path in schema_paths(schema.columns):
                key = identity.column_id(dataset, path)
                nodes[key] = ColumnNode(key, dataset, path)
        return nodes

    def _derivations(
        self, columns: Collection[str], direction: Direction, question: Question, found: _Found
    ) -> list[Edge]:
        if not columns:
            return []
        page = self._graph.edges(columns, direction, (labels.DERIVES,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        wanted = {labels.DIRECT, labels.INDIRECT} if question.indirect else {labels.DIRECT}
        return [edge for edge in page.edges if edge.value("kind") in wanted]

    def _column_nodes(self, ids: Collection[str]) -> dict[str, ColumnNode]:
        nodes = {}
        for vertex in self._graph.vertices(ids) if ids else ():
            values = dict(vertex.properties)
            nodes[vertex.id] = ColumnNode(
                vertex.id, str(values.get("dataset_id", "")), str(values.get("path", ""))
            )
        return nodes

    def _influences(
        self,
        plans: Iterable[LogicalPlanRow],
        columns: dict[str, ColumnNode],
        found: _Found,
    ) -> list[ColumnEdge]:
        """FILTER, JOIN, GROUP_BY and SORT, stored once per plan, spread over its output columns."""
        rows = {row.id: row for row in plans}
        if not rows:
            return []
        page = self._graph.edges(rows.keys(), Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        missing = {edge.out_id for edge in page.edges} - columns.keys()
        columns |= {
            key: node
            for key, node in self._column_nodes(missing).items()
            if node.dataset in found.datasets
        }
        outputs: dict[str, list[str]] = {}
        for node in columns.values():
            outputs.setdefault(node.dataset, []).append(node.id)
        spread = []
        for edge in page.edges:
            if edge.out_id in columns:
                targets = outputs.get(rows[edge.in_id].target, [])
                spread += [_influence_on(edge, target) for target in targets]
        return fold_column_edges(spread)

    # --- columns across jobs

    def ask_columns(self, start: Collection[str], question: Question) -> Answer:
        """Where columns come from and where they go, derivation by derivation."""
        found = _Found(question.limit)
        nodes: dict[str, ColumnNode] = {}
        self._admit_columns(self._column_nodes(start), nodes, found)
        edges: dict[str, Edge] = {}
        directions = (
            _EVERY_DIRECTION if question.direction == Direction.BOTH else (question.direction,)
        )
        for direction in directions:
            self._walk_columns(question, direction, nodes, edges, found)
        return Answer(
            datasets=tuple(sorted(found.datasets)),
            jobs=(),
            plans=(),
            columns=tuple(nodes[key] for key in sorted(nodes)),
            column_edges=tuple(sorted(fold_column_edges(edges.values()))),
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=found.reached,
            partial=found.partial,
        )

    def _admit_columns(
        self, arrived: dict[str, ColumnNode], nodes: dict[str, ColumnNode], found: _Found
    ) -> None:
        """Take in columns, each with its table, in the order of ids while the limit lasts."""
        for key in sorted(arrived):
            table = {arrived[key].dataset}
            if len(nodes) + 1 + len(found.datasets | table) > max(found.limit, 2):
                found.cut("nodes", found.limit)
                return
            nodes[key] = arrived[key]
            found.datasets |= table

    def _walk_columns(
        self,
        question: Question,
        direction: Direction,
        nodes: dict[str, ColumnNode],
        edges: dict[str, Edge],
        found: _Found,
    ) -> None:
        frontier = dict(nodes)
        visited = set(frontier)
        for level in range(question.depth):
            if not frontier or found.partial is not None:
                return
            if self._expired():
                found.cut("time", self._time_limit_ms)
                return
            steps = self._column_steps(frontier, direction, question, found)
            ends = {e.out_id if direction == Direction.UPSTREAM else e.in_id for e in steps}
            self._admit_columns(self._column_nodes(ends - nodes.keys()), nodes, found)
            for edge in steps:
                if edge.out_id in nodes and edge.in_id in nodes:
                    edges[edge.id] = edge
            frontier = {key: nodes[key] for key in ends & nodes.keys() if key not in visited}
            if frontier:
                found.reached = max(found.reached, level + 1)
            visited |= frontier.keys()

    def _column_steps(
        self,
        frontier: dict[str, ColumnNode],
        direction: Direction,
        question: Question,
        found: _Found,
    ) -> list[Edge]:
        """The visible edges one step on.

        Who writes a struct writes its fields: an edge into ``customer`` is one into
        ``customer.address.city`` as well, whichever way it is walked.
        """
        if direction == Direction.UPSTREAM:
            holders = _holders(frontier.values())
            steps = self._raw_steps(holders.keys(), direction, question, found)
            return [
                _with_target(edge, field)
                for edge in steps
                for field in sorted(holders.get(edge.in_id, ()))
            ]
        steps = self._raw_steps(frontier.keys(), direction, question, found)
        fields = self._fields_below({edge.in_id for edge in steps}, found)
        return [
            _with_target(edge, field)
            for edge in steps
            for field in (edge.in_id, *sorted(fields.get(edge.in_id, ())))
        ]

    def _raw_steps(
        self, columns: Collection[str], direction: Direction, question: Question, found: _Found
    ) -> list[Edge]:
        steps = self._derivations(columns, direction, question, found)
        if question.indirect:
            steps += self._influence_steps(columns, direction, question, found)
        visible = self._visible_plans(steps, question.at)
        return [edge for edge in steps if edge.value("logical_plan") in visible]

    def _fields_below(self, columns: Collection[str], found: _Found) -> dict[str, set[str]]:
        """Per column the known nested columns inside it."""
        tops = self._column_nodes(columns)
        if not tops:
            return {}
        datasets = {node.dataset for node in tops.values()}
        page = self._graph.edges(datasets, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        self._note_hub(page.cut, found)
        below: dict[str, set[str]] = {}
        for node in self._column_nodes({edge.in_id for edge in page.edges}).values():
            for holder in _holder_ids(node)[1:]:
                if holder in tops:
                    below.setdefault(holder, set()).add(node.id)
        return below

    def _visible_plans(self, edges: Iterable[Edge], at: int | None) -> set[str]:
        plans = {str(edge.value("logical_plan")) for edge in edges}
        rows = self._catalogue.logical_plans(plans)
        writers = self._catalogue.writers({row.target for row in rows}, at)
        visible = {writer.logical_plan for writer in visible_writers(writers)} & plans
        if not visible:
            return set()
        page = self._graph.edges(visible, Direction.UPSTREAM, (labels.HAS,), HUB_LIMIT)
        return {edge.in_id for edge in page.edges}

    def _influence_steps(
        self, columns: Collection[str], direction: Direction, question: Question, found: _Found
    ) -> list[Edge]:
        """Per-plan influences as edges between columns."""
        nodes = self._column_nodes(columns)
        if direction == Direction.UPSTREAM:
            datasets = {node.dataset for node in nodes.values()}
            writers = visible_writers(self._catalogue.writers(datasets, question.at))
            plans = {writer.logical_plan for writer in writers}
            page = self._graph.edges(plans, direction, (labels.INFLUENCES,), HUB_LIMIT)
            outputs: dict[str, set[str]] = {}
            for node in nodes.values():
                outputs.setdefault(node.dataset, set()).add(node.id)
        else:
            page = self._graph.edges(columns, direction, (labels.INFLUENCES,), HUB_LIMIT)
            plans = {edge.in_id for edge in page.edges}
            outputs = {}
        self._note_hub(page.cut, found)
        rows = {row.id: row for row in self._catalogue.logical_plans(plans)}
        if direction == Direction.DOWNSTREAM:
            outputs = self._written_columns(rows.keys(), found)
        spread = []
        for edge in page.edges:
            row = rows.get(edge.in_id)
            if row is not None:
                spread += [_influence_on(edge, t) for t in sorted(outputs.get(row.target, ()))]
        return spread

    def _written_columns(self, plans: Collection[str], found: _Found) -> dict[str, set[str]]:
        """Per dataset the columns of the schemas that these plans write."""
        if not plans:
            return {}
        written = self._graph.edges(plans, Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
        schemas = {edge.in_id for edge in written.edges}
        page = self._graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        self._note_hub(written.cut | page.cut, found)
        outputs: dict[str, set[str]] = {}
        for node in self._column_nodes({edge.in_id for edge in page.edges}).values():
            outputs.setdefault(node.dataset, set()).add(node.id)
        return outputs


def _holder_ids(node: ColumnNode) -> list[str]:
    """A column and the structs that hold it, innermost first: ``a.b`` => ids of ``a.b``, ``a``."""
    segments = naming.split_path(node.path)
    return [
        identity.column_id(node.dataset, naming.column_path(segments[:length]))
        for length in range(len(segments), 0, -1)
    ]


def _holders(columns: Iterable[ColumnNode]) -> dict[str, set[str]]:
    """Per column or struct around it, which of these columns it stands for."""
    holders: dict[str, set[str]] = {}
    for node in columns:
        for holder in (node.id, *_holder_ids(node)[1:]):
            holders.setdefault(holder, set()).add(node.id)
    return holders


def _with_target(edge: Edge, target: str) -> Edge:
    """The same derivation, into another column."""
    return edge if edge.in_id == target else replace(edge, id=f"{edge.id}.{target}", in_id=target)


def _influence_on(influence: Edge, target: str) -> Edge:
    """``column -influences-> plan`` seen from one output column of that plan."""
    values = dict(influence.properties)
    how = str(values.get("how", ""))
    plan = influence.in_id
    return Edge(
        identity.edge_id(labels.INFLUENCES, influence.out_id, target, plan, how),
        labels.INFLUENCES,
        influence.out_id,
        target,
        (
            ("expression", str(values.get("expression", ""))),
            ("how", how),
            ("kind", labels.INDIRECT),
            ("logical_plan", plan),
        ),
    )


def fold_column_edges(edges: Iterable[Edge]) -> list[ColumnEdge]:
    """One edge per (from, to, kind, how); expressions joined in sorted order."""
    plans: dict[tuple[str, str, str, str], set[str]] = {}
    texts: dict[tuple[str, str, str, str], set[str]] = {}
    for edge in edges:
        values = dict(edge.properties)
        key = (edge.out_id, edge.in_id, str(values["kind"]), str(values["how"]))
        plans.setdefault(key, set()).add(str(values["logical_plan"]))
        texts.setdefault(key, set()).add(str(values.get("expression", "")))
    return [
        ColumnEdge(*key, " | ".join(sorted(filter(None, texts[key]))), tuple(sorted(plans[key])))
        for key in sorted(plans)
    ]


def schema_paths(columns: str) -> list[str]:
    """The paths in a schema's JSON, in order."""
    return [str(column["path"]) for column in json.loads(columns)]
