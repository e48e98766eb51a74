"""Answers of the graph with what people state of it: layers, classifications, what is hidden."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from api.principals import current_principal
from api.replies import graph_reply, page_reply, to_json
from api.service import Service
from api.times import format_instant
from graph_model import identity, labels
from graph_model.answers.search import SearchItem
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow
from graph_model.governance.marking import hide_nodes
from graph_model.governance.previews import walk_datasets
from graph_model.governance.standing import Governance
from graph_model.keys import Role
from graph_model.lanes import Lane, place_in_lanes
from graph_model.store import Catalogue, Page
from graph_model.view import DatasetNode, GraphView


def marked_graph(
    view: GraphView,
    governance: Governance,
    *,
    rebuilding: bool,
    layout: bool,
    group: str | None = None,
) -> dict[str, Any]:
    """A graph reply, its nodes marked, without what is hidden: ``hidden`` counts that.

    With ``group`` (``layer``) and ``layout`` in lanes.
    """
    shown, hidden = hide_nodes(view, governance.hidden, layout=layout)
    lanes = {}
    if group is not None and layout:
        shown, drawn_lanes = _in_lanes(shown, governance)
        lanes = {"lanes": to_json(drawn_lanes)}
    reply = graph_reply(shown, rebuilding)
    for node in reply["nodes"]:
        mark(node, governance)
        for check in node["quality"]["failed"] if "quality" in node else ():
            if _is_hidden_job(check["job"], governance.hidden):
                check["job"] = None
    drawn = {node.get("layer") for node in reply["nodes"]}
    layers = [
        {"name": layer.name, "colour": layer.colour}
        for layer in governance.layers.items
        if layer.name in drawn
    ]
    return {**reply, "layers": layers, "hidden": hidden, **lanes}


def _in_lanes(view: GraphView, governance: Governance) -> tuple[GraphView, tuple[Lane, ...]]:
    layers = governance.layers
    datasets = [node for node in view.nodes if isinstance(node, DatasetNode)]
    layer_of = {node.id: layers.of(node.uri) for node in datasets}
    return place_in_lanes(view, layer_of, [layer.name for layer in layers.items])


def mark_declared(edges: Iterable[dict[str, Any]], declared: Collection[str]) -> None:
    """``origin: declared`` on the edges that no run stands behind, only what somebody declares:
    the plans in ``declared``.
    """
    for edge in edges if declared else ():
        if edge["plans"] and all(plan in declared for plan in edge["plans"]):
            edge["origin"] = labels.DECLARED


def mark(node: dict[str, Any], governance: Governance) -> dict[str, Any]:
    """A dataset gets ``layer``; a dataset and a column ``classifications``, tags in order."""
    kind = identity.kind_of(node["id"])
    if kind == labels.DATASET and "uri" in node:
        node["layer"] = governance.layers.of(node["uri"])
    if kind in {labels.DATASET, labels.COLUMN}:
        node["classifications"] = list(governance.tags.get(node["id"], ()))
    return node


def marked_page(page: Page[Any], governance: Governance) -> dict[str, Any]:
    """A list without what is hidden. A page may hold fewer than were asked for; ``total`` counts
    what is hidden on other pages.
    """
    items = tuple(item for item in page.items if item.id not in governance.hidden)
    less = len(page.items) - len(items)
    reply = page_reply(replace(page, items=items, total=page.total - less))
    for item in reply["items"]:
        mark(item, governance)
    return reply


def without_hidden_columns(page: Page[SearchItem], service: Service) -> Page[SearchItem]:
    """What a search found, without the columns of hidden datasets."""
    if not service.governance.hidden:
        return page
    columns = [item.id for item in page.items if item.kind == labels.COLUMN]
    rows = service.catalogue.columns(columns)
    gone = {row.id for row in rows if row.dataset in service.governance.hidden}
    items = tuple(item for item in page.items if item.id not in gone)
    return replace(page, items=items, total=page.total - len(page.items) + len(items))


def marked_dataset(page: dict[str, Any], governance: Governance) -> dict[str, Any]:
    """One dataset with its layer, and who put which tag on it and on its columns."""
    page["layer"] = governance.layers.of(page["uri"])
    page["classifications"] = _assignments(page["id"], governance)
    for column in (page["schema"] or {}).get("columns", ()):
        column["classifications"] = _assignments(column["id"], governance)
    for side in ("writers", "readers"):
        page[side] = [one for one in page[side] if one["job"]["id"] not in governance.hidden]
    return page


def _assignments(node: str, governance: Governance) -> list[dict[str, str | None]]:
    found = [(tag, governance.assigned[tag, node]) for tag in governance.tags.get(node, ())]
    return [
        {
            "tag": tag, "owner": one.owner, "note": one.note, "author": one.author,
            "at": format_instant(one.at),
        }
        for tag, one in found
    ]  # fmt: skip


def refuse_hidden(node: str, service: Service) -> str:
    """The node; NotFound where it, or the dataset of a column, is hidden from the caller."""
    if _is_hidden(node, service) and not current_principal().may({Role.ADMIN}):
        raise NotFound(identity.kind_of(node) or "node", node)
    return node


def refuse_named_hidden(node: str, asked: str, service: Service) -> str:
    """As ``refuse_hidden``; by a name or a URI nobody finds what is hidden."""
    if asked != node and _is_hidden(node, service):
        raise NotFound(identity.kind_of(node) or "node", asked)
    return refuse_hidden(node, service)


def _is_hidden(node: str, service: Service) -> bool:
    hidden = service.governance.hidden
    if not hidden or identity.kind_of(node) != labels.COLUMN:
        return node in hidden
    return any(row.dataset in hidden for row in service.catalogue.columns((node,)))


# --- filters -------------------------------------------------------------------------------------


def dataset_filter(
    layer: str | None, tag: str | None, governance: Governance, catalogue: Catalogue
) -> Callable[[DatasetRow], bool] | None:
    """Whether a dataset is in a layer, and it or one of its columns carries a tag; None for any."""
    if layer is None and tag is None:
        return None
    tagged = _tagged_datasets(tag, governance, catalogue) if tag is not None else frozenset()
    return lambda row: (
        row.id not in governance.hidden
        and (layer is None or governance.layers.of(row.uri) == layer)
        and (tag is None or row.id in tagged)
    )


def _tagged_datasets(tag: str, governance: Governance, catalogue: Catalogue) -> frozenset[str]:
    nodes = governance.nodes_of(tag)
    columns = [node for node in nodes if identity.kind_of(node) == labels.COLUMN]
    return nodes | {row.dataset for row in catalogue.columns(columns)}


def filter_datasets(
    keep: Callable[[DatasetRow], bool],
    query: str,
    start: int,
    limit: int,
    catalogue: Catalogue,
    at: int | None,
) -> tuple[list[DatasetRow], int]:
    """Rows ``start`` to ``start + limit`` of those kept that were there at the time, and how many
    there are in all.
    """
    found: list[DatasetRow] = []
    total = 0
    for row in _kept(keep, walk_datasets(catalogue, query, at)):
        if start <= total < start + limit:
            found.append(row)
        total += 1
    return found, total


def _kept(keep: Callable[[DatasetRow], bool], rows: Iterable[DatasetRow]) -> Iterable[DatasetRow]:
    return (row for row in rows if keep(row))


def without_hidden_references(page: Mapping[str, Any], governance: Governance) -> dict[str, Any]:
    """A job's page without the hidden datasets that its plans read; a plan that writes one goes."""
    plans = [
        {**plan, "sources": [s for s in plan["sources"] if s["id"] not in governance.hidden]}
        for plan in page["plans"]
        if plan["target"] is None or plan["target"]["id"] not in governance.hidden
    ]
    return {**page, "plans": plans}


def without_hidden_jobs(reply: dict[str, Any], service: Service) -> dict[str, Any]:
    """A reply of any depth: ``job`` is null where the job is hidden, runs of it are left out."""
    hidden = service.governance.hidden
    shown: dict[str, Any] = _without_jobs(reply, hidden) if hidden else reply
    return shown


def _without_jobs(value: Any, hidden: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_without_jobs(one, hidden) for one in value if not _is_run_of(one, hidden)]
    if not isinstance(value, dict):
        return value
    return {
        key: None if key == "job" and _is_hidden_job(one, hidden) else _without_jobs(one, hidden)
        for key, one in value.items()
    }


def _is_run_of(value: Any, hidden: Collection[str]) -> bool:
    return isinstance(value, dict) and "rolledUp" in value and _is_hidden_job(value["job"], hidden)


def _is_hidden_job(value: Any, hidden: Collection[str]) -> bool:
    return isinstance(value, dict) and value.get("id") in hidden
