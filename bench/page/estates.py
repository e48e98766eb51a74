"""Pictures of many nodes as the server's replies: layered, placed by the server's own layout."""

from __future__ import annotations

from typing import Any, Final

from graph_model.picture.layout import Box, arrange

_LAYERS: Final = 10


def many_nodes(nodes: int, edges: int) -> dict[str, Any]:
    """Tables and jobs in layers, each linked to some of the next."""
    kinds = ("dataset", "job")
    width = nodes // _LAYERS
    named = [f"n{number:05d}" for number in range(nodes)]
    layer = [number // width for number in range(nodes)]
    links: dict[tuple[int, int], None] = {}
    step = 0
    while len(links) < edges:
        source = step * 7919 % (nodes - width)
        beyond = (layer[source] + 1) * width
        links[source, beyond + (source * 31 + step // nodes * 17) % width] = None
        step += 1
    boxes = [Box(item, 180, 46, item) for item in named]
    layout = arrange(boxes, [(named[a], named[b]) for a, b in links])
    drawn = [
        {
            "id": item, "kind": kinds[layer[number] % 2], "label": f"table_{item}",
            "name": item, "namespace": "bench", "uri": f"s3://lake/{item}", "scope": "",
            "x": layout.points[item].x, "y": layout.points[item].y,
            "width": layout.widths[item], "height": 46,
        }
        for number, item in enumerate(named)
    ]  # fmt: skip
    flows = [
        {
            "id": f"{named[a]}-{named[b]}", "from": named[a], "to": named[b], "kind": "feeds",
            "plans": [],
            "route": [[p.x, p.y] for p in layout.routes.get((named[a], named[b]), ())],
        }
        for a, b in links
    ]  # fmt: skip
    return _reply(drawn, flows)


def many_columns(tables: int, columns: int) -> dict[str, Any]:
    """Chains of tables, each column computed from that of the table before."""
    nodes: list[dict[str, Any]] = []
    edges = []
    height = 46 + 22 * columns + 8
    for table in range(tables):
        x, y = table % 10 * 300.0, table // 10 * (height + 30.0)
        own = {"id": f"t{table}", "kind": "dataset", "label": f"table_{table}", "scope": ""}
        nodes.append({
            **own, "uri": f"s3://lake/t{table}", "x": x, "y": y, "width": 220, "height": height,
            "columns": [f"t{table}c{number}" for number in range(columns)],
        })  # fmt: skip
        for item in range(columns):
            key = f"t{table}c{item}"
            nodes.append({
                "id": key, "kind": "column", "label": f"column_{item}", "name": f"column_{item}",
                "dataset": f"s3://lake/t{table}", "datasetId": f"t{table}", "type": "bigint",
                "x": x, "y": y - height / 2 + 46 + (item + 0.5) * 22, "width": 220, "height": 22,
            })  # fmt: skip
            if table % 10 > 0:
                edges.append({
                    "id": f"{key}-e", "from": f"t{table - 1}c{item}", "to": key, "kind": "DIRECT",
                    "how": "IDENTITY", "expression": "", "plans": [], "jobs": [],
                })  # fmt: skip
    return _reply(nodes, edges)


def large_plan(operations: int, columns: int) -> dict[str, Any]:
    """The reply of a plan: joins of two chains each, every operation with so many columns."""
    named = [f"op-{number}" for number in range(operations)]
    links = [(named[n], named[min(operations - 1, 2 * n + 2 - n % 2)]) for n in range(operations)]
    links = [(a, b) for a, b in links if a != b]
    layout = arrange([Box(item, 220, 46, item) for item in named], links)
    listed = [
        {"name": f"c{number}", "type": "bigint", "attribute": f"attr-{number}", "expression": None}
        for number in range(columns)
    ]
    drawn = [
        {
            "id": item, "kind": "transformation", "name": "Project", "label": f"Project {item}",
            "inputs": [a for a, b in links if b == item], "schema": listed, "datasets": [],
            "outputs": [b for a, b in links if a == item], "properties": [], "aliases": [],
            "folded": [], "x": layout.points[item].x, "y": layout.points[item].y,
            "width": layout.widths[item], "height": 46,
        }
        for item in named
    ]  # fmt: skip
    job = {"id": "job_1", "namespace": "bench", "name": "large"}
    return {
        "id": "xp_1", "planId": "large", "plan": "lp_1", "job": job, "name": "large",
        "system": "spark", "agent": "bench", "apiVersion": "1.2", "command": "Command",
        "mode": "overwrite", "labels": {}, "target": None, "sources": [], "operations": drawn,
        "edges": [{"from": a, "to": b} for a, b in links], "columns": [], "executions": [],
        "otherPlans": 0, "gaps": [], "partial": None,
    }  # fmt: skip


def beyond(reply: dict[str, Any], node: dict[str, Any], neighbours: int) -> dict[str, Any]:
    """The reply when a reader opens the downstream side of a node of a picture."""
    start = {**node, "more": None}
    added = [
        {
            **node, "id": f"{node['id']}-{number}", "label": f"more_{number}", "kind": "job",
            "x": node["x"] + 300, "y": node["y"] + 60.0 * number,
        }
        for number in range(neighbours)
    ]  # fmt: skip
    edges = [
        {"id": f"{node['id']}-{item['id']}", "from": node["id"], "to": item["id"],
         "kind": "feeds", "plans": []}
        for item in added
    ]  # fmt: skip
    return {**reply, "nodes": [start, *added], "edges": edges, "focus": node["id"]}


def _reply(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    jobs = sum(node["kind"] == "job" for node in nodes)
    datasets = sum(node["kind"] == "dataset" for node in nodes)
    return {
        "nodes": nodes, "edges": edges, "asOf": None, "depth": {"asked": 1, "reached": 1},
        "folded": False, "focus": None, "partial": None, "layers": [], "hidden": 0,
        "totals": {"jobs": jobs, "datasets": datasets, "failed": 0}, "failures": [],
    }  # fmt: skip
