"""Writes and withdraws facts in graph and catalogue, in the order that readers and a crash need.

    a server that keeps its elements    elements, then rows: readers enter through the rows
    an engine that forgets them         rows with the elements in one transaction, then the engine:
                                        it gets after a start what was committed, and nothing else

In between a process may end, or the engine. The documents of a round are pending until both have
it, so the round is repeated, which changes nothing that is there; and an engine that ended gets
its elements from the catalogue. From such an end until it has them, answers are partial
(``api.service.parts``); in an ordinary round rows are there moments before the engine has them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from graph_model import identity, labels
from graph_model.facts import (
    ApplicationRow,
    ArrivalRow,
    ColumnRow,
    DatasetRow,
    DeclarationRow,
    Edge,
    ExecutionRow,
    FacetBodyRow,
    FacetRow,
    Facts,
    HostlessNameRow,
    JobRow,
    NameRow,
    Part,
    RenameRow,
    Row,
    RunRow,
    SchemaRow,
    SchemaUseRow,
    SharedFacts,
    SupportRow,
    merge,
    row_key,
    stages,
    whole,
)
from graph_model.producers.elements import day_id
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.rows import Origin
from graph_model.stores.graph import Direction, Graph
from graph_model.values import batched

_NOTHING: Final = Facts()


def write_facts(
    graph: Graph, catalogue: Catalogue, facts: Facts, origin: Origin | None = None
) -> None:
    """Commit elements and rows. Raises GraphRejected, FactConflict or Unavailable; with the first
    two, an engine that forgets and its catalogue have nothing of these facts.
    """
    if graph.forgets:
        graph.check(facts)
        record_facts(graph, catalogue, facts, origin)
        graph.write(facts)
    else:
        graph.write(facts)
        record_facts(graph, catalogue, facts, origin)


def record_facts(
    graph: Graph, catalogue: Catalogue, facts: Facts, origin: Origin | None = None
) -> None:
    """Commit the rows, with the elements where the graph forgets them."""
    catalogue.record(facts.rows, origin, facts if graph.forgets else _NOTHING)


_A_PIECE: Final = 4_000
"""Elements or rows that are written at once: a tenth of a second of an idle machine."""
_EXIST_ALONE: Final = DatasetRow | ColumnRow | SchemaRow | SchemaUseRow
"""Rows that say nothing of a run."""


def pieces_of(parts: Iterable[Part]) -> Iterator[Facts]:
    """What can be written before the commit of a projection, in the order of its writing; nothing
    where the commit is short by itself.
    """
    facts = merge(map(whole, parts))
    if facts.size + len(facts.rows) <= _A_PIECE:
        return
    staged = stages(facts)
    for vertices in batched(staged.vertices, _A_PIECE):
        yield Facts(vertices=tuple(vertices))
    for edges in batched(staged.edges, _A_PIECE):
        yield Facts(edges=tuple(edges))
    for rows in batched([row for row in facts.rows if isinstance(row, _EXIST_ALONE)], _A_PIECE):
        yield Facts(rows=tuple(rows))


def beyond_pieces(facts: Facts) -> Facts:
    """What ``pieces_of`` these facts leaves to the commit."""
    staged = stages(facts)
    rows = tuple(row for row in facts.rows if not isinstance(row, _EXIST_ALONE))
    return Facts(staged.execution_vertices, staged.markers + staged.execution_edges, rows)


# --------------------------------------------------------------------------------------------------
#
# The removal of facts that no document supports any more.
#
# When a later document changes a subject, its former facts stay only where another subject
# supports them. An element that belongs to one execution or one logical plan is removed with it; a
# shared one (a day, run, dataset, column, schema or job) with the last element that touches it.
# The result equals a projection of the remaining documents from nothing; a property test holds it
# to that. The new facts are written before this runs, so nothing shared disappears in between.

_ANY_LIMIT = 1
_DAY_MS: Final = 86_400_000
#: Rows that a subject alone reports, so that no shared facts have them.
OWN_ROWS: Final = RunRow | FacetRow | DeclarationRow | ArrivalRow
#: Shared vertices and the edges that keep each alive: (direction, labels). Checked in this order,
#: so that elements supported by a removed vertex are checked after it.
_SHARED: tuple[tuple[str, tuple[tuple[Direction, tuple[str, ...]], ...]], ...] = (
    (labels.RUN, ((Direction.DOWNSTREAM, (labels.PERFORMED,)),)),
    (labels.DAY, ((Direction.DOWNSTREAM, (labels.HAS,)),)),
    (labels.SCHEMA, ((Direction.UPSTREAM, (labels.READS, labels.WRITES)),)),
    (
        labels.COLUMN,
        (
            (Direction.UPSTREAM, (labels.DERIVES, labels.FEEDS)),
            (Direction.DOWNSTREAM, (labels.DERIVES, labels.INFLUENCES)),
        ),
    ),
    (
        labels.DATASET,
        (
            (Direction.UPSTREAM, (labels.FEEDS, labels.NAMES)),
            (Direction.DOWNSTREAM, (labels.FEEDS, labels.NAMES)),
        ),
    ),
    (labels.JOB, ((Direction.DOWNSTREAM, (labels.HAS, labels.FEEDS)),)),
)
#: A SupportRow may record support for vertices of these kinds that no edge shows.
_SUPPORTED = frozenset({labels.SCHEMA, labels.COLUMN, labels.DATASET, labels.JOB})
_SHARED_ROWS = (DatasetRow, ColumnRow, SchemaRow, JobRow)


def difference(former: Facts, current: Collection[Part]) -> Facts:
    """Facts in ``former`` and in none of ``current``. Shared facts are made only where some of
    the former may be among them.
    """
    left = _without(former, [part for part in current if isinstance(part, Facts)])
    if not left.size and all(isinstance(row, OWN_ROWS) for row in left.rows):
        return left
    return _without(left, [part.make() for part in current if isinstance(part, SharedFacts)])


def _without(former: Facts, parts: Collection[Facts]) -> Facts:
    kinds = {type(row) for row in former.rows}
    kept = {vertex.id for part in parts for vertex in part.vertices}
    kept.update(edge.id for part in parts for edge in part.edges)
    current_rows = {row_key(row) for part in parts for row in part.rows if type(row) in kinds}
    return Facts(
        tuple(vertex for vertex in former.vertices if vertex.id not in kept),
        tuple(edge for edge in former.edges if edge.id not in kept),
        tuple(row for row in former.rows if row_key(row) not in current_rows),
    )


def withdraw_runs(gone: Facts, graph: Graph, catalogue: Catalogue) -> None:
    """The first half of a removal: rows of this subject alone, and its executions."""
    _withdraw_own(gone.rows, catalogue)
    _withdraw_executions(gone, graph, catalogue)


def withdraw_structure(gone: Facts, graph: Graph, catalogue: Catalogue) -> None:
    """The second half, once the removed runs have left the graph: the structure that no other
    subject supports.
    """
    gone_plans = _withdraw_plans(gone, graph, catalogue)
    _withdraw_trees(gone.edges, graph, catalogue)
    _withdraw_applications(gone.rows, catalogue)
    removed = _withdraw_shared(gone, graph, catalogue, gone_plans)
    shared = [row for row in gone.rows if isinstance(row, _SHARED_ROWS) and row.id in removed]
    catalogue.withdraw(shared)


def _withdraw_own(rows: Iterable[Row], catalogue: Catalogue) -> None:
    """The rows that only the documents of this subject report; then the bodies that no facet
    refers to.
    """
    own = [row for row in rows if isinstance(row, OWN_ROWS)]
    bodies = [row for row in rows if isinstance(row, FacetBodyRow)]
    catalogue.withdraw(own)
    if bodies:
        used = catalogue.facets_in_use([row.id for row in bodies])
        catalogue.withdraw([row for row in bodies if row.id not in used])


def _withdraw_trees(edges: Iterable[Edge], graph: Graph, catalogue: Catalogue) -> None:
    """``job -has-> job`` that no other run supports."""
    trees = [
        edge.id
        for edge in edges
        if edge.label == labels.HAS
        and identity.kind_of(edge.out_id) == identity.kind_of(edge.in_id) == labels.JOB
        and not catalogue.supporters(edge.id, 1)
    ]
    graph.remove((), trees)


def _withdraw_applications(rows: Iterable[Row], catalogue: Catalogue) -> None:
    """Names of an application's run that no other run supports."""
    applications = [row for row in rows if isinstance(row, ApplicationRow)]
    catalogue.withdraw([row for row in applications if not catalogue.supporters(row.id, 1)])


def _withdraw_executions(gone: Facts, graph: Graph, catalogue: Catalogue) -> None:
    """Executions with their rows; then days' edges that no remaining execution supports."""
    executions = {row.id: row for row in gone.rows if isinstance(row, ExecutionRow)}
    own = [
        row
        for row in gone.rows
        # A declaration has names too, without an execution.
        if isinstance(row, NameRow | HostlessNameRow | RenameRow)
        or getattr(row, "execution", getattr(row, "id", None)) in executions
    ]
    catalogue.withdraw(own)
    graph.remove([vertex.id for vertex in gone.vertices if vertex.label == labels.EXECUTION], ())
    days = {day_id(row.job, row.claimed_at): row for row in executions.values()}
    stale = [
        edge.id
        for edge in gone.edges
        if _is_stale_day_edge(edge, days, catalogue) or _is_stale_name(edge, catalogue)
    ]
    graph.remove((), stale)


def _is_stale_day_edge(edge: Edge, days: Mapping[str, ExecutionRow], catalogue: Catalogue) -> bool:
    """Whether ``job -> day``, ``day -> run`` or ``day -> logical plan`` has no execution left.

    ``days`` are those of the executions that go, each with one of its rows.
    """
    if edge.in_id in days:
        return not _any_on_day(catalogue, days[edge.in_id])
    if edge.out_id not in days:
        return False
    row, kind = days[edge.out_id], identity.kind_of(edge.in_id)
    if kind == labels.RUN:
        return not _any_on_day(catalogue, row, run=edge.in_id)
    return not _any_on_day(catalogue, row, logical_plan=edge.in_id)


def _is_stale_name(edge: Edge, catalogue: Catalogue) -> bool:
    """Whether ``name -names-> location`` has no observation left."""
    if edge.label != labels.NAMES:
        return False
    observed = catalogue.names_of((edge.in_id,), None)
    return all(row.name != edge.out_id for row in observed)


def _any_on_day(
    catalogue: Catalogue,
    row: ExecutionRow,
    *,
    run: str | None = None,
    logical_plan: str | None = None,
) -> bool:
    """Whether the row's job has an execution left on its day (UTC)."""
    since = row.claimed_at - row.claimed_at % _DAY_MS
    return catalogue.has_execution(
        row.job, since, since + _DAY_MS, run=run, logical_plan=logical_plan
    )


def _withdraw_plans(gone: Facts, graph: Graph, catalogue: Catalogue) -> frozenset[str]:
    """Withdraw the support first, then the logical plans that have none left: the marker before the
    structure.
    """
    by_type: dict[str, list[Row]] = {}
    for row in gone.rows:
        by_type.setdefault(type(row).__name__, []).append(row)
    support = [row for row in by_type.get("SupportRow", []) if not _is_of_schema(row)]
    catalogue.withdraw(support + by_type.get("ExecutionPlanRow", []))
    graph.remove({v.id for v in gone.vertices if v.label == labels.EXECUTION_PLAN}, ())
    plans = frozenset(
        vertex.id
        for vertex in gone.vertices
        if vertex.label == labels.LOGICAL_PLAN and not catalogue.supporters(vertex.id, 1)
    )
    catalogue.withdraw(
        [row for row in by_type.get("LogicalPlanRow", []) if getattr(row, "id", "") in plans]
        + [
            row
            for row in by_type.get("SchemaUseRow", [])
            if getattr(row, "logical_plan", "") in plans
        ]
    )
    owned_edges = {edge.id for edge in gone.edges if _plan_of(edge) in plans}
    operations = {
        vertex.id
        for vertex in gone.vertices
        if vertex.label == labels.OPERATION and vertex.value("logical_plan") in plans
    }
    graph.remove((), owned_edges)
    graph.remove(plans | operations, ())
    return plans


def _plan_of(edge: Edge) -> str | None:
    """The logical plan that an edge belongs to: one of its ends, or its property."""
    for end in (edge.out_id, edge.in_id):
        if identity.kind_of(end) == labels.LOGICAL_PLAN:
            return end
    value = edge.value("logical_plan")
    return value if isinstance(value, str) else None


def _is_of_schema(row: Row) -> bool:
    """A schema supports its nested columns until it is withdrawn itself."""
    return isinstance(row, SupportRow) and identity.kind_of(row.subject) == labels.SCHEMA


def _withdraw_shared(
    gone: Facts, graph: Graph, catalogue: Catalogue, gone_plans: frozenset[str]
) -> frozenset[str]:
    """Remove the shared vertices that nothing touches any more. Returns their ids."""
    removed: set[str] = set(gone_plans)
    for kind, supports in _SHARED:
        candidates = {vertex.id for vertex in gone.vertices if vertex.label == kind}
        if kind == labels.COLUMN:
            _withdraw_nested(gone.rows, removed, catalogue)
            candidates -= _in_schemas(graph, candidates)
        for direction, edge_labels in supports:
            if candidates:
                candidates -= _touched(graph, candidates, direction, edge_labels)
        if kind in _SUPPORTED:
            candidates = {
                candidate for candidate in candidates if not catalogue.supporters(candidate, 1)
            }
        graph.remove(candidates, ())
        removed |= candidates
    return frozenset(removed)


def _withdraw_nested(rows: Iterable[Row], removed: Collection[str], catalogue: Catalogue) -> None:
    """Withdraw the support that removed schemas gave to nested columns."""
    catalogue.withdraw(
        [
            row
            for row in rows
            if isinstance(row, SupportRow) and _is_of_schema(row) and row.subject in removed
        ]
    )


def _touched(
    graph: Graph, ids: Collection[str], direction: Direction, edge_labels: tuple[str, ...]
) -> set[str]:
    page = graph.edges(ids, direction, edge_labels, _ANY_LIMIT)
    return {edge.in_id if direction == Direction.UPSTREAM else edge.out_id for edge in page.edges}


def _in_schemas(graph: Graph, columns: Collection[str]) -> set[str]:
    """Columns that a schema still has (``dataset -has-> column`` is no support of its own)."""
    page = graph.edges(columns, Direction.UPSTREAM, (labels.HAS,), 1_000)
    held = {e.in_id for e in page.edges if identity.kind_of(e.out_id) == labels.SCHEMA}
    return held | page.cut
