"""Hidden nodes of a question, and the layers and tags of a picture.

A question opens its node here (``find_node``, ``open_node``, ``open_plan``), which refuses a hidden
one. A hidden node that an admin requests by its id is opened: for that question it is not in
``Sources.hidden``. All that counts or names nodes takes the ids from there: lists and the search of
the catalogue, ``lineage`` for limits and neighbours, ``nodes`` for names, each question for what it
counts itself. A picture passes ``show_view``, which removes hidden nodes and tells how many.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from graph_model import identity, labels
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidReference, NotFound
from graph_model.facts import DatasetRow
from graph_model.governance.statements import Governance
from graph_model.governance.visible_nodes import hide_nodes, mark_nodes
from graph_model.picture.filtering import Filter
from graph_model.picture.layout import Flow, Flowing
from graph_model.picture.view import DatasetNode, GraphView, place, place_in_lanes
from graph_model.stores.catalogue import Catalogue
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
    """The dataset of a column; otherwise the node itself. Some columns exist only in the graph."""
    if identity.kind_of(node) != labels.COLUMN:
        return node
    if rows := sources.catalogue.columns((node,)):
        return rows[0].dataset
    vertices = sources.graph.vertices((node,))
    return next((str(vertex.value("dataset_id")) for vertex in vertices), node)


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
