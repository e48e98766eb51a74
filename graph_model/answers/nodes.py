"""The nodes of an answer: hidden ones, the layers and tags of a picture, the rows and names that
several answers show.

A question opens its node here (``find_node``, ``open_node``, ``open_plan``), which refuses a hidden
one. A hidden node that an admin requests by its id is opened: for that question it is not in
``Sources.hidden``. All that counts or names nodes takes the ids from there: lists and the search of
the catalogue, ``lineage`` for limits and neighbours, the names here, each question for what it
counts itself. A picture passes ``show_view``, which removes hidden nodes and tells how many.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_model import identity, labels
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidReference, NotFound
from graph_model.facts import DatasetRow, ExecutionRow, JobRow, NameRow
from graph_model.governance.statements import Governance, hide_nodes, mark_nodes
from graph_model.lineage import HUB_LIMIT
from graph_model.lineage.history.history import History
from graph_model.lineage.history.rules import END, Reports
from graph_model.picture.filtering import Filter
from graph_model.picture.layout import Flow, Flowing
from graph_model.picture.view import (
    DatasetNode,
    DatasetReference,
    GraphView,
    JobReference,
    dataset_reference,
    job_reference,
    known_mode,
    place,
    place_in_lanes,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction
from graph_model.values import iso

# --- the requested node --------------------------------------------------------------------------


def find_node(sources: Sources, reference: str, at: int | None = None) -> tuple[Sources, str]:
    """The sources for a question about this node, and its id.

    Raises InvalidReference, AmbiguousReference or NotFound; a name or a URI never finds a hidden
    node.
    """
    node = sources.references.resolve(reference, at)
    return open_found(sources, node, reference), node


def find_dataset(sources: Sources, text: str, at: int | None = None) -> tuple[Sources, str]:
    """As ``find_node`` for a dataset's URI, ``<scope>@<uri>`` or id."""
    node = sources.references.dataset(text, at)
    return open_found(sources, node, text), node


def open_found(sources: Sources, node: str, asked: str) -> Sources:
    """The sources for a question about this node, the result of resolving ``asked``: only its id
    opens a hidden node. Raises NotFound.
    """
    by_id = asked == node
    opened = _opened(replace(sources, opens_hidden=sources.opens_hidden and by_id), node, asked)
    return replace(opened, opens_hidden=sources.opens_hidden)


def open_node(sources: Sources, kind: str, node: str) -> Sources:
    """The sources for a question about this id in a path; NotFound for an id of another kind."""
    if identity.kind_of(node) != kind:
        raise NotFound(kind, node)
    return _opened(sources, node, node)


def open_known(sources: Sources, kind: str, node: str) -> Sources:
    """As ``open_node``; NotFound for an unknown id."""
    opened = open_node(sources, kind, node)
    sources.references.resolve(node)
    return opened


def open_plan(sources: Sources, ends: Collection[str], asked: str, kind: str = "plan") -> Sources:
    """The sources for a question about a plan with this job and target; NotFound where one of them
    is hidden, unless ``sources`` opens hidden nodes.
    """
    if not sources.hidden.isdisjoint(ends) and not sources.opens_hidden:
        raise NotFound(kind, asked)
    return replace(sources, hidden=sources.hidden.difference(ends))


def find_job(sources: Sources, reference: str | None, at: int | None = None) -> str | None:
    """The id of the job that a filter names; None without a filter."""
    if reference is None:
        return None
    _, node = find_node(sources, reference, at)
    if identity.kind_of(node) != labels.JOB:
        raise InvalidReference(reference, "a job: its id or job:<namespace>/<name>")
    return node


def _opened(sources: Sources, node: str, asked: str) -> Sources:
    home = home_of(sources, node) if sources.hidden else node
    if home in sources.hidden and not sources.opens_hidden:
        raise NotFound(identity.kind_of(node) or "node", asked)
    return replace(sources, hidden=sources.hidden - {home})


def home_of(sources: Sources, node: str) -> str:
    """The dataset of a column; otherwise the node itself. Some columns exist only in the graph, and
    some only in answers.
    """
    if identity.kind_of(node) != labels.COLUMN:
        return node
    if rows := sources.catalogue.columns((node,)):
        return rows[0].dataset
    for vertex in sources.graph.vertices((node,)):
        return str(vertex.value("dataset_id"))
    joined = sources.joined_columns.find(node)
    return node if joined is None else joined[0]


# --- pictures ------------------------------------------------------------------------------------


def show_view(
    sources: Sources,
    view: GraphView,
    *,
    layout: bool = False,
    by_layer: bool = False,
    flow: Flowing = Flow.RIGHT,
) -> GraphView:
    """A picture without hidden nodes, with layers and tags; with ``layout`` it is placed, with
    ``by_layer`` too in lanes.
    """
    shown, hidden = hide_nodes(view, sources.hidden)
    governance = sources.governance
    if layout:
        shown = place(shown, Flow.RIGHT if by_layer else flow)
    if by_layer and layout:
        layers = governance.layers
        datasets = [node for node in shown.nodes if isinstance(node, DatasetNode)]
        layer_of = {node.id: layers.of(node.uri) for node in datasets}
        shown, lanes = place_in_lanes(shown, layer_of, [layer.name for layer in layers.items])
        shown = replace(shown, lanes=lanes)
    return mark_nodes(replace(shown, hidden=view.hidden + hidden), governance)


# --- filters by layer or tag ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter as requested; None and "" mean no filter."""

    namespace: str | None = None
    job: str | None = None
    layer: str | None = None
    classification: str | None = None


def filter_of(sources: Sources, selection: Selection, at: int | None) -> Filter:
    """Raises NotFound for an unknown job or layer, InvalidReference for a node that is no job."""
    job = find_job(sources, selection.job, at)
    keep = dataset_filter(sources, selection.layer, selection.classification)
    return Filter(selection.namespace, job, keep)


def dataset_filter(
    sources: Sources, layer: str | None, tag: str | None
) -> Callable[[DatasetRow], bool] | None:
    """Whether a dataset is in a layer, and it or one of its columns carries a tag; None: no filter.

    Raises NotFound for a layer that nobody declared. A tag is declared nowhere.
    """
    if layer is None and tag is None:
        return None
    governance, hidden = sources.governance, sources.hidden
    if layer is not None and governance.layers.find(layer) is None:
        raise NotFound("layer", layer)
    tagged = _tagged(tag, governance, sources.catalogue) if tag is not None else frozenset()
    return lambda row: (
        row.id not in hidden
        and (layer is None or governance.layers.of(row.uri) == layer)
        and (tag is None or row.id in tagged)
    )


def _tagged(tag: str, governance: Governance, catalogue: Catalogue) -> frozenset[str]:
    nodes = governance.nodes_of(tag)
    columns = [node for node in nodes if identity.kind_of(node) == labels.COLUMN]
    return nodes | {row.dataset for row in catalogue.columns(columns)}


# --- tags ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TagView:
    """A tag on a node, with its author and the reason given."""

    tag: str
    owner: str
    note: str
    author: str
    at: str | None


def tags_of(sources: Sources, node: str) -> tuple[TagView, ...]:
    """The node's own tags, in order."""
    return tuple(_tag_views(sources.governance, node))


def _tag_views(governance: Governance, node: str) -> Iterator[TagView]:
    for tag in governance.tags.get(node, ()):
        assignment = governance.assigned[tag, node]
        yield TagView(tag, assignment.owner, assignment.note, assignment.author, iso(assignment.at))


def job_row(sources: Sources, job: str) -> JobRow:
    rows = sources.catalogue.jobs((job,))
    if not rows:
        raise NotFound("job", job)
    return rows[0]


def dataset_row(sources: Sources, dataset: str) -> DatasetRow:
    rows = sources.catalogue.datasets((dataset,))
    if not rows:
        raise NotFound("dataset", dataset)
    return rows[0]


def job_references(sources: Sources, ids: Collection[str]) -> dict[str, JobReference]:
    """By id the names of these jobs; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    return {row.id: job_reference(row) for row in sources.catalogue.jobs(shown)} if shown else {}


def dataset_references(sources: Sources, ids: Collection[str]) -> dict[str, DatasetReference]:
    """By id the names of these datasets; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    rows = sources.catalogue.datasets(shown) if shown else ()
    return {row.id: dataset_reference(row) for row in rows}


def times_seen(
    sources: Sources, datasets: Collection[str], at: int | None
) -> dict[str, tuple[int, int]]:
    """Of datasets (ids) the first and the last time (epoch ms) at which a visible plan named them,
    among 5,000 plans a side; those without one are left out.
    """
    plans: dict[str, set[str]] = {key: set() for key in datasets}
    for direction in (Direction.DOWNSTREAM, Direction.UPSTREAM):
        beside = sources.graph.neighbours(
            datasets, direction, labels.FEEDS, HUB_LIMIT, labels.LOGICAL_PLAN
        )
        for key, ends in beside.found.items():
            plans[key].update(ends)
    known = {plan for ends in plans.values() for plan in ends}
    rows = sources.catalogue.logical_plans(known)
    shown = {row.id for row in rows if sources.hidden.isdisjoint((row.job, row.target))}
    return times_of_plans(sources, {key: ends & shown for key, ends in plans.items()}, at)


def times_of_plans(
    sources: Sources, plans: Mapping[str, Collection[str]], at: int | None
) -> dict[str, tuple[int, int]]:
    """Of nodes, each with its visible plans (ids), the first and the last time (epoch ms) at which
    one of them ran; nodes without one are left out.
    """
    spans: dict[str, list[int]] = {}
    known = {plan for ends in plans.values() for plan in ends}
    for span in sources.catalogue.plan_spans(known, at):
        spans.setdefault(span.logical_plan, []).extend((span.first, span.last))
    times = {key: [t for end in ends for t in spans.get(end, ())] for key, ends in plans.items()}
    return {key: (min(some), max(some)) for key, some in times.items() if some}


def catalog_names(
    sources: Sources, history: History, datasets: Collection[str], at: int | None
) -> dict[str, list[str]]:
    named = {dataset for dataset, names in history.names.names_of(datasets).items() if names}
    moment = END if at is None else at
    observed: Sequence[NameRow] = sources.catalogue.names_of(named, at)
    stood = history.names.locate((row.name, moment) for row in observed)
    seen = [row for row in observed if row.name != row.location == stood[row.name, moment]]
    called = dataset_references(sources, {row.name for row in seen})
    uris = {key: reference.uri for key, reference in called.items()}
    names: dict[str, list[str]] = {}
    for row in seen:
        if row.name in uris and uris[row.name] not in names.setdefault(row.location, []):
            names[row.location].append(uris[row.name])
    return {location: sorted(spellings) for location, spellings in names.items()}


def location_of(catalogue: Catalogue, dataset: str, at: int | None) -> str:
    """The location of a catalog name at the time; any other dataset itself."""
    return catalogue.location_of(dataset, at) or dataset


def located_column(sources: Sources, column: str, at: int | None) -> str:
    """The column at the location of its table at the time."""
    rows = sources.catalogue.columns((column,))
    return (
        identity.column_id(location_of(sources.catalogue, rows[0].dataset, at), rows[0].path)
        if rows
        else column
    )


# One execution as lists and pages show it.


@dataclass(frozen=True, slots=True)
class ExecutionGap:
    """Unknown information, as a code and as a sentence."""

    code: str
    detail: str


_SOME_PARTITIONS = ExecutionGap(
    labels.PARTITIONS_UNKNOWN,
    "the write may have replaced only some partitions; the client does not report which",
)


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as lists and pages show it.

    ``version`` is the id of the table version that it made, None where not reported; ``branch``
    None: the main branch. ``former_name`` is set in the history of a table that was renamed later,
    ``location`` in the history of another location that shares files with the one written.
    ``at`` is the execution's own time, ``counted_at`` the one from which answers count it where its
    own is doubtful (``producers.bounds``).
    """

    id: str
    at: str
    state: str
    duration_ms: float | None
    mode: str | None  # None: not reported
    command: str
    plan_id: str
    plan: str
    run: str
    job: JobReference | None  # None: it is hidden
    target: DatasetReference | None  # None: it writes nothing
    partitions: tuple[str, ...]
    metrics: Any
    error: str | None
    application_id: str
    producer: str
    gaps: tuple[ExecutionGap, ...] = ()
    version: str | None = None
    branch: str | None = None
    former_name: DatasetReference | None = None
    counted_at: str | None = None
    location: DatasetReference | None = None


def execution_views(
    sources: Sources, rows: Sequence[ExecutionRow], at: int | None = None
) -> tuple[ExecutionView, ...]:
    """The views of these executions, in this order; a hidden job or target is not named. ``at``:
    the time for which a run goes on, or is silent; None is now.
    """
    states = sources.catalogue.shown_states(rows, at, sources.now)
    jobs = job_references(sources, {row.job for row in rows})
    targets = dataset_references(sources, {row.target for row in rows})
    partitions: dict[str, list[str]] = {}
    for row in sources.catalogue.partitions([row.id for row in rows]) if rows else ():
        if row.role == "write":
            partitions.setdefault(row.execution, []).append(row.partition)
    return tuple(
        ExecutionView(
            id=row.id,
            at=iso(row.claimed_at),
            state=states[row.id],
            duration_ms=None if row.duration_ns is None else row.duration_ns / 1_000_000,
            mode=_mode_of(row),
            command=row.command,
            plan_id=row.plan_id,
            plan=row.logical_plan,
            run=row.run,
            job=jobs.get(row.job),
            target=targets.get(row.target),
            partitions=tuple(sorted(partitions.get(row.id, ()))),
            metrics=json.loads(row.metrics),
            error=row.error,
            application_id=row.application_id,
            producer=row.producer,
            gaps=() if row.id in partitions or not _replaces_some(row) else (_SOME_PARTITIONS,),
            version=row.version or None,
            branch=row.branch or None,
            counted_at=iso(row.at) if row.ahead else None,
        )
        for row in rows
    )


def _mode_of(row: ExecutionRow) -> str | None:
    return labels.DECLARED if row.kind == labels.DECLARATION_KIND else known_mode(row.mode)


def _replaces_some(row: ExecutionRow) -> bool:
    return row.dynamic and row.mode == labels.OVERWRITE_PARTITIONS


def repeated_executions(reports: Iterable[Reports], at: int | None) -> frozenset[str]:
    """Ids of executions at or before ``at`` that repeat the report of an earlier one."""
    return frozenset(row.id for _, *again in reports for row in again if not is_after(row.at, at))


def is_after(time: int, at: int | None) -> bool:
    return at is not None and time > at
