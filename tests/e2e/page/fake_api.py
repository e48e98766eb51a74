"""A small server that answers as the real one does (docs/http.md), from fixtures.

It serves the page under the paths and the Content-Security-Policy of the real server, keeps the
requests, and plays one scenario at a time: the page when all is well, when nothing was
received, when names are hostile, when the graph is being rebuilt.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = Path(__file__).resolve().parents[3]
FRONTEND = ROOT / "frontend"
FIXTURES = ROOT / "tests" / "frontend" / "fixtures"
VENDOR = FRONTEND / "node_modules" / "vis-network"
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
FILES = {
    "/": FRONTEND / "index.html",
    "/vendor/vis-network/vis-network.min.js": VENDOR / "standalone/esm/vis-network.min.js",
}

Query = dict[str, str]
LONE = {"id": "job_lone", "namespace": "batch", "name": "cleanup"}


@dataclass(frozen=True)
class Reply:
    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def failure(status: int, message: str, errors: Any = None, **headers: str) -> Reply:
    body = {
        "code": status,
        "status": HTTPStatus(status).phrase,
        "message": message,
        "errors": errors or {},
    }
    return Reply(status, body, tuple((k.replace("_", "-"), v) for k, v in headers.items()))


@dataclass
class Scenario:
    """``name`` decides the answers; ``asked`` are the paths with their queries, in order.

    ``needed`` is the only key that is let in, where one is needed; ``keys`` are those that came.
    """

    name: str = "usual"
    asked: list[tuple[str, Query]] = field(default_factory=list)
    posted: list[tuple[str, Any]] = field(default_factory=list)
    refusals: int = 0
    needed: str = ""
    keys: list[str] = field(default_factory=list)

    def turn_away(self, key: str) -> Reply | None:
        self.keys.append(key)
        if not self.needed or key == self.needed:
            return None
        said = "this API key is not known here, or was revoked" if key else "an API key is needed"
        return failure(401, said, WWW_Authenticate='Bearer realm="headwater"')

    def answer(self, path: str, query: Query) -> Reply:
        self.asked.append((path, query))
        if self.name == "forbidden":
            said = "jobs may not do this: it needs the role reader or admin"
            return failure(403, said, {"role": ["reader", "admin"]})
        if self.name == "broken" and path.startswith("/graph"):
            return failure(500, "a bug of ours; the log has it under request 7f3a")
        if self.refusals > 0 and path.startswith("/graph"):
            self.refusals -= 1
            if self.name == "busy":
                return failure(429, "me may make 60 requests a minute", Retry_After="1")
            return failure(503, "the graph is being rebuilt", Retry_After="1")
        shape = _shape(path)
        if shape not in _ROUTES:
            return failure(404, f"no such route: {path}")
        unknown = set(query) - _KNOWN[shape]
        if unknown:
            return failure(400, f"unknown parameters: {sorted(unknown)}")
        if shape == "/graph/jobs/*":  # the one answer that depends on the path
            return _job(self, path.rsplit("/", 1)[-1])
        return _flowing(_ROUTES[shape](self, query), query)


def _flowing(reply: Reply, query: Query) -> Reply:
    """A picture says which way it flows; here a window of any size shows it to the right."""
    if "layout" not in query or "edges" not in reply.body:
        return reply
    flow = "down" if query.get("flow") == "down" else "right"
    return replace(reply, body=reply.body | {"flow": flow})


def _shape(path: str) -> str:
    """`/graph/jobs/job_1/runs => /graph/jobs/*/runs`."""
    parts = path.strip("/").split("/")
    if len(parts) > 2 and parts[1] in ("columns", "jobs", "datasets", "plans"):
        parts[2] = "*"
    if len(parts) > 2 and parts[0] == "classifications":
        parts[1] = "*"
    if len(parts) > 4:
        parts[4] = "*"
    if parts[0] == "journal" and parts[-1].isdigit():
        parts[-1] = "*"
    return "/" + "/".join(parts)


def _overview(scenario: Scenario, query: Query) -> Reply:
    if scenario.name in ("empty", "pending") or query.get("q") == "nosuch":
        return Reply(200, with_totals(fixture("empty")))
    if scenario.name == "hostile":
        return Reply(200, with_totals(fixture("hostile")))
    body = fixture("overview")
    if scenario.name == "partial":
        body["partial"] = {"reason": "nodes", "limit": int(query.get("limit", 500))}
    if scenario.name == "lone":
        body["lone"] = {"jobs": 197, "items": [LONE]}
    if scenario.name == "unplaced":
        body = without_places(body)
    if scenario.name == "large":
        body = enlarge(body, 60)
    if scenario.name in ("governed", "only-readers"):
        govern(body)
    if scenario.name == "declared":
        body["edges"][0]["origin"] = "declared"
    if scenario.name == "attempted":
        body["edges"][0]["attempted"] = True
    if query.get("group") == "layer":
        tops = [node["y"] - node["height"] / 2 for node in body["nodes"]]
        bottoms = [node["y"] + node["height"] / 2 for node in body["nodes"]]
        body["lanes"] = [{"layer": "curated", "top": min(tops) - 30, "bottom": max(bottoms) + 24}]
    body = with_totals(body)
    return Reply(200, cut_away(body) if scenario.name == "cut" else body)


def with_totals(body: Any) -> Any:
    """With ``totals`` and ``failures`` as of a picture that shows everything."""
    jobs = [node for node in body["nodes"] if node["kind"] == "job"]
    failed = [job for job in jobs if (job["lastRun"] or {}).get("state") == "failed"]
    failed.sort(key=lambda job: str(job["lastRun"]["at"]), reverse=True)
    datasets = [node for node in body["nodes"] if node["kind"] == "dataset"]
    named = [
        {"job": {key: job[key] for key in ("id", "namespace", "name")}, "at": job["lastRun"]["at"]}
        for job in failed
    ]
    totals = {"jobs": len(jobs), "datasets": len(datasets), "failed": len(failed)}
    return {**body, "totals": totals, "failures": named}


def cut_away(body: Any) -> Any:
    """As if most of it was not drawn, and the newest failure neither."""
    newest = {"id": "job_" + "9" * 32, "namespace": "finance", "name": "nightly-close"}
    failures = [{"job": newest, "at": "2026-03-02T23:00:00.000Z"}, *body["failures"]]
    totals = {"jobs": 289, "datasets": 410, "failed": 24}
    partial = {"reason": "nodes", "limit": 500}
    return {**body, "totals": totals, "failures": failures, "partial": partial}


LAYERS = [
    {"name": "curated", "match": "glob", "pattern": "s3://*/curated/**", "order": 10,
     "colour": "#8a5a00", "note": ""},
    {"name": "landing", "match": "prefix", "pattern": "s3://landing/", "order": 20,
     "colour": "#0b6a84", "note": ""},
]  # fmt: skip


def govern(body: Any) -> None:
    """The tables below /curated/ are a layer; the first of them carries a tag."""
    curated = [node for node in body["nodes"] if "/curated/" in node.get("uri", "")]
    for node in curated:
        node["layer"] = "curated"
    curated[0]["classifications"] = ["PII"]
    body["layers"] = [{"name": "curated", "colour": "#8a5a00"}]


def _layers(scenario: Scenario, query: Query) -> Reply:
    return Reply(200, {"items": LAYERS, "total": len(LAYERS)})


def _column(scenario: Scenario, query: Query) -> Reply:
    body = fixture("column")
    if scenario.name == "empty":
        body |= {"sentence": None, "definitions": []}
    return Reply(200, body)


def _classes(scenario: Scenario, query: Query) -> Reply:
    items = [] if scenario.name == "empty" else [_CLASS]
    return Reply(200, {"items": items, "total": len(items)})


def _rules(scenario: Scenario, query: Query) -> Reply:
    versions = [{"id": "cmd_1", "at": "2026-03-01T08:15:00.000Z", "author": "ann",
                 "note": "our buckets", "default": False, "digest": "abc"}]  # fmt: skip
    tables = {"schemeAliases": [["s3a", "s3"]], "partFiles": ["part-*"]}
    body = {"rules": tables, "changed": ["schemeAliases"], "digest": "abc", "state": "in force"}
    return Reply(200, {**body, "versions": [] if scenario.name == "empty" else versions})


_CLASS = {"tag": "PII", "datasets": 1, "columns": 2, "blocks": 1}


def _class_columns(scenario: Scenario, query: Query) -> Reply:
    body = fixture("class-columns")
    if scenario.name == "partial":
        body["partial"] = {"reason": "nodes", "limit": 500}
    if scenario.name == "empty":
        body |= {"items": [], "blocked": [], "gaps": [], "total": 0}
    return Reply(200, body)


DECLARED = {
    "id": "decl_" + "1" * 32, "author": "ann", "declaredAt": "2026-03-01T08:15:00.000Z",
    "since": "2026-03-01T08:15:00.000Z", "note": "monthly upload", "removable": True,
    "hidden": False,
    "job": {"id": "job_" + "1" * 32, "namespace": "(declared)", "name": "s3://sheets/staff"},
    "target": {"id": "ds_" + "1" * 32, "uri": "s3://sheets/staff", "scope": ""},
    "sources": [{"id": "ds_" + "2" * 32, "uri": "s3://lake/people", "scope": ""}],
    "columns": [{"source": "ds_" + "2" * 32, "from": "email", "to": "mail"}],
}  # fmt: skip


def _quality_rules(scenario: Scenario, query: Query) -> Reply:
    return Reply(200, {"items": [], "total": 0})


def _declarations(scenario: Scenario, query: Query) -> Reply:
    declared = scenario.name == "declared"
    items = [DECLARED, {**DECLARED, "author": "bob", "removable": False}] if declared else []
    return Reply(200, {"items": items, "total": len(items), "next": None})


def _posted(scenario: Scenario, path: str, body: Any) -> Reply:
    """The answer to a POST."""
    if path != "/declarations":
        return Reply(202, {"reopened": 3})
    if scenario.name == "only-readers":
        said = "jobs may not do this: it needs the role producer or admin"
        return failure(403, said, {"role": ["producer", "admin"]})
    if "wrong" in json.dumps(body):
        where = "declarations[0].columns[0].from"
        return failure(400, f"{where}: expected a column", {where: ["a column of s3://lake"]})
    return Reply(201, {"dryRun": False, "new": 1, "items": [DECLARED], "total": 1})


def _changed(scenario: Scenario, path: str, body: Any) -> Reply:
    """The answer to a PUT or DELETE."""
    if scenario.name == "only-readers":
        said = "jobs may not do this: it needs the role admin"
        return failure(403, said, {"role": ["admin"]})
    if "preview=true" in path:
        change = {"id": "ds_1", "uri": "s3://lake/raw/a", "before": None, "after": "raw"}
        return Reply(200, {"preview": True, "items": [change], "total": 1, "datasets": 9})
    return Reply(200, body or {})


def without_places(body: Any) -> Any:
    for node in body["nodes"]:
        for name in ("x", "y", "width", "height"):
            node.pop(name, None)
    return body


def enlarge(body: Any, times: int) -> Any:
    """The same picture many times below itself: for a page that must stay quick."""
    nodes, edges = [], []
    for number in range(times):
        for node in copy.deepcopy(body["nodes"]):
            nodes.append({**node, "id": f"{node['id']}-{number}", "y": node["y"] + number * 420})
        for edge in body["edges"]:
            ends = {name: f"{edge[name]}-{number}" for name in ("id", "from", "to")}
            edges.append({**edge, **ends})
    return {**body, "nodes": nodes, "edges": edges}


def _lineage(scenario: Scenario, query: Query) -> Reply:
    node = query.get("node", "")
    if "nosuch" in node:
        return failure(404, f"unknown node: {node}")
    if "twice" in node:
        found = ["ds_" + "1" * 32, "ds_" + "2" * 32]
        return failure(400, "node: two datasets have this URI", {"node": found})
    if scenario.name == "hostile":
        return Reply(200, fixture("hostile"))
    body = fixture(_lineage_fixture(query))
    if query.get("depth") == "0":
        alone = fixture("lineage-columns")["nodes"]
        body = {**body, "nodes": [n for n in alone if n["id"] == node], "edges": []}
    if scenario.name == "unplaced":
        body = without_places(body)
    if scenario.name == "folded":
        body["folded"] = True
    if scenario.name == "hub":
        hub = next(node for node in body["nodes"] if node["kind"] == "dataset")
        hub["more"] = {"upstream": 0, "downstream": 4501}
    return Reply(200, body)


def _lineage_fixture(query: Query) -> str:
    node = unquote(query["node"])
    if node == "job:default/attendance" or node == _ids()["attendance"]:
        return "job-lineage"
    if query.get("columns") == "true":
        return "lineage-indirect" if query.get("indirect") == "true" else "lineage-columns"
    return "lineage-deep" if int(query.get("depth", 1)) > 1 else "lineage"


def _ids() -> dict[str, str]:
    return {node["label"]: node["id"] for node in fixture("overview")["nodes"]}


def _impact(scenario: Scenario, query: Query) -> Reply:
    """A table; of a column another one, and judged where a change is asked about."""
    node = query.get("node", "")
    if "nosuch" in node:
        return failure(404, f"unknown node: {node}")
    asked = "impact-dropped" if "change" in query else "impact-column"
    body = fixture(asked if node.startswith("col") else "impact")
    if scenario.name == "empty":
        body |= {"items": [], "total": 0}
    if scenario.name == "partial":
        body["partial"] = {"reason": "nodes", "limit": int(query.get("limit", 1000))}
    if scenario.name == "declared":
        body["items"][0]["declared"] = True
    if scenario.name == "hostile":
        for item in body["items"]:
            item["label"] = item["uri"] = "<img src=x onerror=alert(1)>\u202e"
    return Reply(200, body)


def _journal(scenario: Scenario, query: Query) -> Reply:
    empty = {"received": 0, "waiting": 0, "pending": 0, "projected": 0, "failed": 0}
    if query.get("summary") == "true":
        if scenario.name == "empty":
            return Reply(200, empty)
        if scenario.name == "pending":
            return Reply(200, {**empty, "received": 7, "pending": 7})
        return Reply(200, fixture("journal-summary"))
    if query.get("state") in ("failed", None):
        return Reply(200, fixture("journal-failed"))
    return Reply(200, {"items": [], "total": 0, "next": None})


def _storage(scenario: Scenario, _query: Query) -> Reply:
    """The fixture grows; the scenarios change the known facts."""
    body = fixture("storage")
    if scenario.name == "empty":
        body["documents"] = 0
    if scenario.name == "unforecast":
        body["measuredSince"] = body["measuredAt"][:14] + "33:00.000Z"
        body["growth"] = {"documents": None, "bytes": None, "elements": None}
        body["tooEarly"] = "measured for less than a day"
        body["full"]["disk"] |= {"days": None, "soon": False}
        body["full"]["heap"] |= {"days": None, "soon": False}
        body["warning"] = None
    if scenario.name == "elsewhere":
        body["stored"] |= {"elements": None, "heap": None, "log": None}
        body["growth"]["elements"] = body["runs"]["bytes"] = None
        for one in body["runs"]["saved"].values():
            one["bytes"] = None
        body["full"] = {
            room: {"room": None, "days": None, "soon": False} for room in ("disk", "heap")
        }
        body["warning"] = None
    if scenario.name == "hostile":
        for shares in body["by"].values():
            for one in shares:
                one["name"] = "<img src=x onerror=alert(1)>%zz/\u202e" + one["name"] * 40
    if scenario.name == "storage-broken":
        return failure(500, "a bug of ours; the log has it under request 7f3a")
    return Reply(200, body)


def _plan(scenario: Scenario, _query: Query) -> Reply:
    return failure(404, "unknown plan") if scenario.name == "empty" else Reply(200, fixture("plan"))


def _diff(scenario: Scenario, query: Query) -> Reply:
    """Two plans where they are asked for; one time twice has nothing to show."""
    if "fromPlan" in query:
        return Reply(200, fixture("diff-plans"))
    if query.get("from") == query.get("to"):
        return Reply(200, fixture("diff-same"))
    body = fixture("diff")
    if scenario.name == "partial":
        body["partial"] = {"reason": "nodes", "limit": int(query.get("limit", 500))}
    return Reply(200, body)


def _fixed(name: str) -> Callable[[Scenario, Query], Reply]:
    return lambda _scenario, _query: Reply(200, fixture(name))


def _job(scenario: Scenario, asked: str) -> Reply:
    """Pages ask several at once: which one is in the path of each request alone."""
    node = next((node for node in fixture("overview")["nodes"] if node["id"] == asked), None)
    body = fixture("job")
    if node is None:
        return Reply(200, body) if scenario.name == "hostile" else failure(404, "unknown job")
    return Reply(200, {**body, **{name: node[name] for name in ("id", "name", "lastRun")}})


def _search(_scenario: Scenario, query: Query) -> Reply:
    if "q" not in query:
        return failure(400, "q: required", {"q": ["required"]})
    if query["q"] == "nosuch":
        return Reply(200, {"items": [], "total": 0, "next": None})
    return Reply(200, fixture("search"))


_ROUTES: dict[str, Callable[[Scenario, Query], Reply]] = {
    "/graph/overview": _overview,
    "/graph/lineage": _lineage,
    "/graph/column-lineage": _fixed("column-lineage"),
    "/graph/impact": _impact,
    "/graph/search": _search,
    "/graph/jobs/*": _fixed("job"),
    "/graph/jobs/*/runs": _fixed("job-runs"),
    "/graph/jobs/*/runs/*": _fixed("run"),
    "/graph/datasets/*": _fixed("dataset"),
    "/graph/datasets/*/history": _fixed("dataset-history"),
    "/graph/datasets/*/last-writer": _fixed("dataset-last-writer"),
    "/graph/plans/*": _plan,
    "/graph/diff": _diff,
    "/graph/jobs/*/versions": _fixed("job-versions"),
    "/graph/jobs/*/changes": _fixed("job-changes"),
    "/graph/datasets/*/versions": _fixed("dataset-versions"),
    "/graph/datasets/*/changes": _fixed("dataset-changes"),
    "/graph/columns/*": _column,
    "/layers": _layers,
    "/rules": _rules,
    "/classifications": _classes,
    "/classifications/*/columns": _class_columns,
    "/declarations": _declarations,
    "/quality-rules": _quality_rules,
    "/health/ready": lambda _scenario, _query: Reply(200, {"status": "ready"}),
    "/journal": _journal,
    "/journal/*": lambda _scenario, _query: Reply(
        200, {"size": 22, "text": '{\n  "name": "curate"\n}', "partial": None}
    ),
    "/journal/refused": lambda _scenario, _query: Reply(
        200,
        {
            "items": [
                {
                    "at": "2026-01-05T06:00:00.000Z",
                    "last": "2026-01-05T06:00:30.000Z",
                    "count": 3,
                    "kind": "lineage",
                    "reason": "invalid",
                    "message": "eventType: expected one of START, COMPLETE",
                    "principal": "etl",
                    "beginning": '{"eventType": "DONE"}',
                }
            ],
            "total": 1,
            "next": None,
        },
    ),
    "/storage": _storage,
}


_WALK = {"direction", "depth", "at", "indirect", "limit", "layout"}
_FLOW = _WALK | {"reach"}
#: The parameters of each route; any other is refused, as the real server does.
_KNOWN: dict[str, set[str]] = {
    "/graph/overview": {
        "flow",
        "namespace",
        "job",
        "q",
        "layer",
        "classification",
        "limit",
        "at",
        "layout",
        "lone",
        "group",
    },
    "/graph/lineage": {"node", "columns", "jobs", "group", "flow", "beyond"} | _FLOW,
    "/graph/column-lineage": {"dataset", "column", "ends"} | _FLOW,
    "/graph/impact": {
        "node",
        "change",
        "depth",
        "at",
        "columns",
        "jobs",
        "indirect",
        "limit",
        "format",
    },
    "/graph/search": {"q", "kind", "limit"},
    "/graph/jobs/*": {"at"},
    "/graph/jobs/*/runs": {"limit", "cursor", "at"},
    "/graph/jobs/*/runs/*": set(),
    "/graph/datasets/*": {"at"},
    "/graph/datasets/*/history": {"limit", "cursor", "at"},
    "/graph/datasets/*/last-writer": {"partition", "at"},
    "/graph/plans/*": {"at", "document", "layout", "flow", "fold"},
    "/graph/diff": {"node", "from", "to", "fromPlan", "toPlan", "columns", "jobs", "unchanged"}
    | (_WALK - {"at"}),
    "/graph/jobs/*/versions": {"at", "limit", "cursor"},
    "/graph/jobs/*/changes": {"at", "since", "depth", "limit"},
    "/graph/datasets/*/versions": {"at", "limit", "cursor"},
    "/graph/datasets/*/changes": {"at", "since", "depth", "limit"},
    "/journal": {"state", "kind", "besides", "limit", "cursor", "summary"},
    "/journal/refused": {"limit"},
    "/journal/*": set(),
    "/graph/columns/*": {"at"},
    "/layers": {"counts"},
    "/rules": {"version"},
    "/classifications": set(),
    "/classifications/*/columns": {"propagate", "at", "limit"},
    "/declarations": {"node", "limit", "cursor"},
    "/quality-rules": set(),
    "/storage": set(),
    "/health/ready": set(),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scenario: Scenario

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        file = FILES.get(parts.path) or self._own_file(parts.path)
        if file is not None:
            kept = () if file.suffix == ".html" else (("Cache-Control", "max-age=3600"),)
            self._send(200, TYPES[file.suffix], file.read_bytes(), kept)
            return
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        refused = self.scenario.turn_away(self.headers.get("X-API-Key", ""))
        self._send_reply(refused or self.scenario.answer(parts.path, query))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.scenario.posted.append((self.path, body))
        self._send_reply(_posted(self.scenario, self.path, body))

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.scenario.posted.append((f"PUT {self.path}", body))
        self._send_reply(_changed(self.scenario, self.path, body))

    def do_DELETE(self) -> None:
        self.scenario.posted.append((f"DELETE {self.path}", None))
        self._send_reply(_changed(self.scenario, self.path, None))

    def _own_file(self, path: str) -> Path | None:
        if not path.startswith(("/js/", "/css/")):
            return None
        file = (FRONTEND / path.lstrip("/")).resolve()
        return file if file.is_file() and FRONTEND in file.parents else None

    def _send_reply(self, reply: Reply) -> None:
        body = json.dumps(reply.body).encode()
        self._send(reply.status, "application/json", body, reply.headers)

    def _send(
        self, status: int, kind: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            *headers,
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # of five, the system lets a seventh connection wait a second

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of an answer is no news."""


@dataclass
class FakeApi:
    """The server on a free port of the loopback; ``scenario`` may be changed while it runs."""

    server: _Server
    scenario: Scenario

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def play(self, name: str, refusals: int = 0, needed: str = "") -> None:
        self.scenario.name = name
        self.scenario.refusals = refusals
        self.scenario.needed = needed
        self.scenario.keys.clear()
        self.scenario.asked.clear()
        self.scenario.posted.clear()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def start(port: int = 0) -> FakeApi:
    scenario = Scenario()
    handler = type("Handler", (_Handler,), {"scenario": scenario})
    server = _Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return FakeApi(server, scenario)
