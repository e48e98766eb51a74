"""No answer names a hidden node: every route that reads is asked about everything there is.

One dataset (``quietly``, with a column ``murmur`` that no other dataset has) and one job
(``whisper``) are hidden. A route that is added without a line here fails a test.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from api.consumer.plans import event_id
from api.http.access import NoKeys
from graph_model import identity
from graph_model.facts import ColumnRow, DatasetRow, ExecutionRow, JobRow, LogicalPlanRow, RunRow
from graph_model.stores.keys import Key
from graph_model.values import Role
from tests.e2e.small_client import client_of, running
from tests.projections import SmallHeadwater, lineage_event, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

START: Final = 1_772_350_000_000
NOW: Final = START + 86_400_000
LAKE: Final = "s3://lake"
LAKE_TABLES: Final = ("landing", "report", "out", "end", "loudly", "quietly")
MARQUEZ_TABLES: Final = tuple(f"dataset:{LAKE}:{name}" for name in LAKE_TABLES)
JOB_NAMES: Final = ("load", "report", "export", "filler", "speak", "reader", "whisper")
MARQUEZ_JOBS: Final = tuple(
    f"job:{space}:{name}" for space in ("default", "bi") for name in JOB_NAMES
)
JOB_PATHS: Final = tuple(
    f"{space}/jobs/{name}" for space in ("default", "bi") for name in JOB_NAMES
)
UNITY: Final = "unitycatalog://h.example.org"
DOMAIN: Final = "/v2/domains/dzd_a/lineage"
NAMES: Final = ("quietly", "murmur", "whisper")
Json = dict[str, Any]

#: Routes that say nothing of datasets and jobs, or that govern hidden nodes.
ASIDE: Final = {
    "commands.commands": "lists hidden nodes, with their authors",
    "journal.document": "shows an admin what was received, whatever is hidden",
    "journal.refused": "shows admins documents that are in no graph",
    "health.live": "", "health.ready": "", "health.metrics": "",
    "journal.rebuild_progress": "", "journal.storage": "", "rules.rules": "", "rules.defaults": "",
    "producer.status": "", "producer_at_root.status": "", "about.version": "",
    "about.liveness": "", "about.readiness": "", "api-docs.openapi_json": "",
    "pages.page": "", "pages.asset": "", "pages.icon": "", "pages.vendor": "", "pages.docs": "",
    "pages.docs_asset": "", "pages.kept_file": "",
}  # fmt: skip


#: Routes that name hidden nodes to admins, who take such statements back.
#: Words of hidden nodes, alone and with one that others have: a search sets none of them aside.
_WORDS: Final = ("quiet", "whisp", "murk", "ghost", "shadow", "gloom", "failed", "shadow report")
ADMINS_READ: Final = {"declarations.declarations"}


@dataclass
class Known:
    """The subjects of questions, as ids."""

    datasets: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    runs: list[tuple[str, str]] = field(default_factory=list)
    told_runs: list[str] = field(default_factory=list)
    executions: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    @property
    def nodes(self) -> list[str]:
        return [*self.datasets, *self.jobs, *self.columns]


def _each(path: str, values: Iterable[str], *more: str) -> list[str]:
    return [path.format(quote(one, safe="")) + end for one in values for end in more or ("",)]


def _pairs(path: str, values: list[str]) -> list[str]:
    """Each value beside the next one, the last beside the first, both ways round: every one is
    compared from either side, and not with all others.
    """
    following = [*values[1:], *values[:1]]
    neighbours = list(zip(values, following, strict=True))
    return [
        path.format(*pair) for one, other in neighbours for pair in ((one, other), (other, one))
    ]


def _lineage_nodes(known: Known) -> list[str]:
    return [*known.datasets, *known.jobs, *known.told_runs, f"{LAKE}/report", "bi.speak"]


_PICTURES: Final = (
    "&depth=5&columns=true&indirect=true",
    "&depth=5&jobs=false&layout=true&group=layer",
    "&beyond=true",
    "&depth=5&limit=3",
)
_TIMES: Final = f"&from={START - 1}&to={NOW}&unchanged=true"
_FORMATS: Final = (
    "&depth=9&columns=true",
    "&depth=9&limit=2",
    "&depth=9&format=csv",
    "&depth=9&format=markdown",
)

#: By endpoint the addresses to ask.
ASKED: Final[dict[str, Callable[[Known], list[str]]]] = {
    "graph.overview": lambda _: [
        "/graph/overview?layout=true&group=layer",
        "/graph/overview?q=report",
        "/graph/overview?q=quiet",
        "/graph/overview?classification=PII",
        "/graph/overview?layer=lake",
        "/graph/overview?limit=4",
        "/graph/overview?lone=counted",
        "/graph/overview?lone=counted&limit=4",
    ],
    "home.home": lambda _: ["/graph/home"],
    "home.incidents": lambda _: ["/graph/incidents"],
    "home.all_runs": lambda known: [
        *_each("/graph/runs?{}", ("", "state=failed", "doubtful=true", "sort=durationMs&limit=3")),
        *_each("/graph/runs?q={}", _WORDS),
        *_each("/graph/runs?job={}", known.jobs),
    ],
    "home.area_map": lambda _: [
        "/graph/map",
        "/graph/map?by=layer",
        *_each("/graph/map?within={}", (f"{LAKE.split(':')[0]}:", LAKE, f"{LAKE}/")),
    ],
    "graph.lineage": lambda known: [
        *_each("/graph/lineage?node={}", known.columns, _PICTURES[0]),
        *_each("/graph/lineage?node={}", [*known.datasets, *known.jobs], *_PICTURES),
    ],
    "graph.column_lineage": lambda known: _each(
        "/graph/column-lineage?dataset={}",
        known.datasets,
        *("&depth=9", "&depth=9&ends=true", "&limit=3"),
    ),
    "graph.jobs": lambda _: [
        "/graph/jobs",
        "/graph/jobs?q=whisp",
        "/graph/jobs?late=true",
        "/graph/jobs?owner=privacy",
        *_each("/graph/jobs?q={}", _WORDS, "", "&sort=-runs"),
        *_each("/graph/jobs?state={}", ("failed", "completed", "running")),
        "/graph/jobs?namespace=ops&sort=-lastRun&limit=2",
    ],
    "graph.job": lambda known: _each("/graph/jobs/{}", known.jobs),
    "graph.runs": lambda known: _each("/graph/jobs/{}/runs", known.jobs),
    "graph.run": lambda known: [f"/graph/jobs/{job}/runs/{run}" for job, run in known.runs],
    "graph.datasets": lambda _: [
        "/graph/datasets",
        "/graph/datasets?q=quiet",
        "/graph/datasets?layer=lake",
        "/graph/datasets?classification=PII",
        *_each("/graph/datasets?{}=true", ("unread", "unreadColumns")),
        *_each("/graph/datasets?{}", ("minRows=1", "maxRows=9")),
        *_each("/graph/datasets?owner={}", ("privacy", "team")),
        *_each("/graph/datasets?q={}", _WORDS, "", "&sort=-lastWrite", "&sort=type&limit=2"),
    ],
    "graph.dataset": lambda known: _each("/graph/datasets/{}", known.datasets),
    "graph.history": lambda known: _each(
        "/graph/datasets/{}/history", known.datasets, "", "?limit=1"
    ),
    "graph.last_writer": lambda known: _each(
        "/graph/datasets/{}/last-writer", known.datasets, "", "?partition=day%3D2026-03-01"
    ),
    "graph.plan": lambda known: _each(
        "/graph/plans/{}", known.plans, "?document=true&layout=true"
    ),
    "graph.search": lambda _: _each(
        "/graph/search?q={}",
        ("e", "r", "qui", "murm", "PII", "run-", f"{LAKE}/quietly/part-0.parquet", *_WORDS),
        *("", "&limit=2", "&kind=dataset,job,column,run", "&kind=run", "&kind=column&limit=1"),
    ),
    "columns.columns": lambda _: ["/graph/columns", "/graph/columns?sort=-table&q=murm"],
    "columns.column": lambda known: _each("/graph/columns/{}", known.columns),
    "runs.run_tree": lambda known: _each(
        "/graph/runs/{}", [*known.told_runs, *(run for _, run in known.runs)]
    ),
    "runs.dataset_facets": lambda known: _each(
        "/graph/datasets/{}/facets", known.datasets, "", "?kind=dataset&limit=1"
    ),
    "runs.job_facets": lambda known: _each("/graph/jobs/{}/facets", known.jobs),
    "difference.diff": lambda known: [
        *_each("/graph/diff?node={}", known.nodes, f"&depth=5&columns=true&layout=true{_TIMES}"),
        *_pairs("/graph/diff?fromPlan={}&toPlan={}&unchanged=true", known.plans),
        *_pairs("/graph/diff?fromExecution={}&toExecution={}", known.executions),
    ],
    "difference.dataset_versions": lambda known: _each(
        "/graph/datasets/{}/versions", known.datasets
    ),
    "difference.job_versions": lambda known: _each("/graph/jobs/{}/versions", known.jobs),
    "difference.dataset_changes": lambda known: _each(
        "/graph/datasets/{}/changes", known.datasets, "", f"?since={START}"
    ),
    "difference.job_changes": lambda known: _each(
        "/graph/jobs/{}/changes", known.jobs, "", f"?since={START}"
    ),
    "impact.impact": lambda known: [
        *_each("/graph/impact?node={}", [*known.datasets, *known.jobs], *_FORMATS),
        *_each("/graph/impact?node={}", known.columns, _FORMATS[0], "&depth=9&change=dropped"),
        *_each("/graph/impact?node=prefix:{}/", (LAKE,), *_FORMATS),
    ],
    "journal.journal": lambda _: ["/journal", "/journal?summary=true"],
    "declarations.declarations": lambda known: [
        "/declarations",
        *_each("/declarations?node={}", [*known.datasets, *known.jobs]),
    ],
    "governance.layers": lambda _: ["/layers?counts=true"],
    "governance.classifications": lambda _: ["/classifications"],
    "governance.classification": lambda _: ["/classifications/PII"],
    "governance.columns": lambda _: [
        "/classifications/PII/columns",
        "/classifications/PII/columns?propagate=true",
    ],
    "quality.quality_rules": lambda _: ["/quality-rules"],
    "consumer.execution_events": lambda known: [
        "/consumer/execution-events?pageSize=100&facet.timestamp=true",
        "/consumer/execution-events?searchTerm=quiet",
        "/consumer/execution-events?sortField=dataSourceUri",
    ],
    "consumer.data_sources": lambda _: [
        "/consumer/data-sources?pageSize=100",
        "/consumer/data-sources?searchTerm=quiet",
    ],
    "consumer.lineage_overview": lambda known: _each(
        "/consumer/lineage-overview?eventId={}", known.events, "&maxDepth=9"
    ),
    "consumer.impact_overview": lambda known: _each(
        "/consumer/impact-overview?eventId={}", known.events, "&maxDepth=9"
    ),
    "consumer.lineage_detailed": lambda known: _each(
        "/consumer/lineage-detailed?execId={}", known.plans
    ),
    "consumer.execution_plans": lambda _: ["/consumer/execution-plans?pageSize=100"],
    "consumer.execution_plan": lambda known: _each("/consumer/execution-plans/{}", known.plans),
    "consumer.write_operation": lambda known: _each(
        "/consumer/execution-plans/{}/write-op", known.plans
    ),
    "consumer.plan_sources": lambda known: _each(
        "/consumer/execution-plans/{}/data-sources", known.plans, "", "?access=read"
    ),
    "consumer.operation": lambda known: [
        f"/consumer/operations/{one}:op-{number}" for one in known.plans for number in range(3)
    ],
    "consumer.attribute_lineage_and_impact": lambda known: [
        f"/consumer/attribute-lineage-and-impact?attributeId={one}:{key}"
        for one in known.plans
        for key in "abt"
    ],
    "marquez.lineage": lambda _: [
        f"/api/v1/lineage?nodeId={node}&depth=9" for node in (*MARQUEZ_TABLES, *MARQUEZ_JOBS)
    ],
    "marquez.column_lineage": lambda _: [
        f"/api/v1/column-lineage?nodeId={node}&depth=9&withDownstream=true"
        for node in (*MARQUEZ_TABLES, *MARQUEZ_JOBS)
    ],
    "marquez.namespaces": lambda _: ["/api/v1/namespaces"],
    "marquez.namespace_named": lambda _: ["/api/v1/namespaces/default", "/api/v1/namespaces/bi"],
    "marquez.all_sources": lambda _: ["/api/v1/sources"],
    "marquez.source_named": lambda _: [f"/api/v1/sources/{quote(LAKE, safe='')}"],
    "marquez.tags": lambda _: ["/api/v1/tags", "/api/v1/tags?limit=1"],
    "marquez.datasets": lambda _: [f"/api/v1/namespaces/{quote(LAKE, safe='')}/datasets"],
    "marquez.dataset": lambda _: [
        f"/api/v1/namespaces/{quote(LAKE, safe='')}/datasets/{name}" for name in LAKE_TABLES
    ],
    "marquez.versions": lambda _: [
        f"/api/v1/namespaces/{quote(LAKE, safe='')}/datasets/{name}/versions"
        for name in LAKE_TABLES
    ],
    "marquez.version": lambda known: _each(
        f"/api/v1/namespaces/{quote(LAKE, safe='')}/datasets/report/versions/{{}}", known.executions
    ),
    "marquez.job_versions": lambda _: [f"/api/v1/namespaces/{path}/versions" for path in JOB_PATHS],
    "marquez.job_version": lambda known: [
        f"/api/v1/namespaces/{path}/versions/{plan}" for path in JOB_PATHS for plan in known.plans
    ],
    "marquez.lineage_events": lambda _: ["/api/v1/events/lineage"],
    "marquez.events": lambda _: ["/api/v1/events/bi"],
    "marquez.every_event": lambda _: ["/api/v1/events"],
    "marquez.every_job": lambda _: [
        "/api/v1/jobs",
        *_each("/api/v1/jobs?lastRunStates={}", ("FAILED", "ABORTED", "COMPLETED", "RUNNING")),
    ],
    "marquez.jobs": lambda _: ["/api/v1/namespaces/default/jobs", "/api/v1/namespaces/bi/jobs"],
    "marquez.job": lambda _: [f"/api/v1/namespaces/{path}" for path in JOB_PATHS],
    "marquez.runs": lambda _: [f"/api/v1/namespaces/{path}/runs" for path in JOB_PATHS],
    "marquez.run": lambda known: _each("/api/v1/jobs/runs/{}", known.told_runs),
    "marquez.run_facets": lambda known: _each(
        "/api/v1/jobs/runs/{}/facets", known.told_runs, "?type=run", "?type=job"
    ),
    "marquez.counts": lambda _: [
        f"/api/v1/stats/{counted}?period={period}"
        for counted in ("lineage-events", "jobs", "datasets", "sources")
        for period in ("DAY", "WEEK")
    ],
    "marquez.search": lambda _: [
        "/api/v1/search?q=e",
        *_each("/api/v1/search?q={}", _WORDS, "", "&sort=UPDATE_AT", "&namespace=ops"),
    ],
    "marquez_search.search_whole": lambda _: [
        f"/api/v2beta/search/{kind}?q={word}" for kind in ("jobs", "datasets") for word in _WORDS
    ],
    "datazone.list_events": lambda _: [f"{DOMAIN}/events", f"{DOMAIN}/events?maxResults=3"],
    "datazone.get_event": lambda _: [f"{DOMAIN}/events/{one:014x}" for one in range(1, 100)],
    "datazone.get_node": lambda known: _each(f"{DOMAIN}/nodes/{{}}", _lineage_nodes(known)),
    "datazone.node_history": lambda known: _each(
        f"{DOMAIN}/nodes/{{}}/history", _lineage_nodes(known), "", "?direction=DOWNSTREAM"
    ),
    "datazone.get_asset": lambda known: _each(
        f"{DOMAIN.removesuffix('/lineage')}/assets/{{}}", _lineage_nodes(known)
    ),
    "datazone.asset_revisions": lambda known: _each(
        f"{DOMAIN.removesuffix('/lineage')}/assets/{{}}/revisions", _lineage_nodes(known)
    ),
    "unity.table_lineage": lambda _: [
        "/api/2.0/lineage-tracking/table-lineage?table_name=main.hr.t",
        "/api/2.0/lineage-tracking/table-lineage?table_name=main.hr.t&include_entity_lineage=true",
    ],
    "unity.column_lineage": lambda _: [
        "/api/2.0/lineage-tracking/column-lineage?table_name=main.hr.t&column_name=loud"
    ],
    "consumer.label_names": lambda _: ["/consumer/labels/names"],
    "consumer.label_values": lambda _: ["/consumer/labels/names/team/values"],
}  # fmt: skip


class TwoKeys(NoKeys):
    """``hw_reader`` and ``hw_admin``."""

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        return Key("1", text, frozenset({Role(text.removeprefix("hw_"))}), "", 0, "", "abcd", 0)


@dataclass
class Asked:
    client: FlaskClient
    everything: Known
    shown: Known

    def ask(self, path: str, role: str) -> tuple[int, str]:
        reply = self.client.get(path, headers={"X-API-Key": f"hw_{role}"})
        return reply.status_code, f"{reply.get_data(as_text=True)}\n{dict(reply.headers)}"


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    made = small_headwater()
    accept(made, plans(), events())
    made.project()
    assert made.journal.summary().failed == 0
    with running(made):
        yield _hide(made)


def accept(
    made: SmallHeadwater, plans: Iterable[Json], events: Iterable[Json], start: int = START
) -> None:
    """Plans, each with two runs from ``start`` on, and OpenLineage's events."""
    for number, body in enumerate(plans):
        made.accept(plan(body))
        for again in range(2):
            told = an_event(start + (number + 10 * again) * 1_000, planId=body["id"])
            made.accept(event(told | {"extra": {"appId": f"app-{start}-{number}-{again}"}}))
    made.accept(*map(lineage_event, events))


def _hide(made: SmallHeadwater) -> Asked:
    client = client_of(made, NOW, TwoKeys())
    declared = {"target": f"{LAKE}/sheet", "sources": [f"{LAKE}/quietly"], "job": "ops/typing"}
    state(client, [declared], ["quietly#branch", "quietly#murmur", "report#branch"])
    everything = known(made, lambda _: True)
    state(client, hidden=[f"dataset:{LAKE}/quietly", "job:default/whisper"])
    return Asked(client, everything, known(made, lambda row: not _of_hidden(row)))


def state(
    client: FlaskClient,
    declared: Iterable[Json] = (),
    tagged: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> None:
    """An admin puts the lake into a layer, declares lineage, tags columns and hides nodes."""
    admin = {"X-API-Key": "hw_admin"}
    layer = {"match": "prefix", "pattern": f"{LAKE}/", "order": 1, "colour": "#112233"}
    assert client.put("/layers/lake", json=layer, headers=admin).status_code == 200
    for one in declared:
        reply = client.post("/declarations", json={"declarations": [one]}, headers=admin)
        assert reply.status_code == 201, reply.text
    for column in tagged:
        named = {"node": f"column:{LAKE}/{column}"}
        reply = client.put("/classifications/PII", json=named, headers=admin)
        assert reply.status_code == 200, reply.text
    for node in hidden:
        body = {"command": "hide", "node": node}
        reply = client.post("/commands", json=body, headers=admin)
        assert reply.status_code == 202, reply.text


QUIETLY: Final = identity.dataset_id("", f"{LAKE}/quietly")
WHISPER: Final = identity.job_id("default", "whisper")
IDS: Final = (
    QUIETLY, WHISPER, *(identity.column_id(QUIETLY, column) for column in ("branch", "murmur"))
)  # fmt: skip


def _of_hidden(row: Any) -> bool:
    named = (getattr(row, name, "") for name in ("id", "dataset", "job", "target"))
    return not {QUIETLY, WHISPER}.isdisjoint(named)


def known(made: SmallHeadwater, wanted: Callable[[Any], bool]) -> Known:
    rows = [row for row in made.catalogue.scan() if wanted(row)]

    def of(kind: type) -> list[Any]:
        return [row for row in rows if isinstance(row, kind)]

    executions: list[ExecutionRow] = of(ExecutionRow)
    return Known(
        datasets=[row.id for row in of(DatasetRow)],
        jobs=[row.id for row in of(JobRow)],
        columns=[row.id for row in of(ColumnRow)],
        plans=sorted({
            *(row.id for row in of(LogicalPlanRow)),
            *(row.plan_id for row in executions),
            *(row.execution_plan for row in executions if row.execution_plan),
        }),
        runs=[(row.job, row.run) for row in executions],
        told_runs=[row.run_id for row in of(RunRow)],
        executions=[row.id for row in executions],
        events=[event_id(row.plan_id, row.at) for row in executions],
    )  # fmt: skip


def plans() -> Iterator[Json]:
    flows = [("load", "landing", "quietly"), ("report", "quietly", "report"),
             ("whisper", "report", "out"), ("export", "out", "end")]  # fmt: skip
    for number, flow in enumerate(flows):
        yield a_flow(number, *flow)


def a_flow(number: int, name: str, source: str, target: str) -> Json:
    """A plan of Spline: a job that writes one table of the lake from another."""
    body = copy.deepcopy(a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=name))
    body["operations"]["write"]["outputSource"] = f"{LAKE}/{target}"
    body["operations"]["reads"][0]["inputSources"] = [f"{LAKE}/{source}"]
    return body


def table(name: str, *columns: str, **facets: Any) -> Json:
    schema = {"schema": {"fields": [{"name": one, "type": "string"} for one in columns]}}
    return {"namespace": LAKE, "name": name, "facets": {**schema, **facets}}


def a_run(
    job: str, minute: int, inputs: list[Json], outputs: list[Json], space: str = "bi"
) -> Json:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-03-01T12:{minute:02}:00Z",
        "producer": "any client",
        "run": {"runId": f"run-{minute}"},
        "job": {"namespace": space, "name": job, "facets": {}},
        "inputs": inputs,
        "outputs": outputs,
    }


def events() -> list[Json]:
    """OpenLineage's half: hidden nodes are read, written, checked, and a job's own output."""
    derived = {
        "fields": {
            "loud": {
                "inputFields": [
                    {"namespace": LAKE, "name": "quietly", "field": "murmur",
                     "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]}
                ]
            }
        }
    }  # fmt: skip
    checks = {"assertions": [{"assertion": "not_null", "success": False, "column": "loud"}]}
    checked = {**table("loudly", "loud"), "inputFacets": {"dataQualityAssertions": checks}}
    return [
        a_run("filler", 1, [table("landing", "a")],
              [table("quietly", "murmur", "branch")]),
        a_run("speak", 2, [table("quietly", "murmur")],
             [table("loudly", "loud", columnLineage=derived)]),
        a_run("speak", 3, [table("quietly", "murmur"), table("end")],
             [table("loudly", "loud", "louder", columnLineage=derived)]),
        a_run("whisper", 4, [checked], [table("loudly", "loud")], space="default"),
        a_run("reader", 5, [table("quietly", "murmur"), table("loudly", "loud")], []),
        a_run("unite", 20, [table("quietly", "murmur"), table("loudly", "loud")],
             [table("main.hr.t", "loud", columnLineage=derived) | {"namespace": UNITY}]),
    ]  # fmt: skip


def test_every_route_that_reads_is_asked(asked: Asked) -> None:
    rules = asked.client.application.url_map.iter_rules()
    endpoints = {rule.endpoint for rule in rules if "GET" in (rule.methods or ())}
    assert endpoints == {*ASKED, *ASIDE}


@pytest.mark.parametrize("endpoint", sorted(ASKED))
def test_no_answer_names_a_hidden_node(asked: Asked, endpoint: str) -> None:
    answered = 0
    about = {"reader": asked.everything, "admin": asked.shown}
    for role in ("reader",) if endpoint in ADMINS_READ else ("reader", "admin"):
        for path in dict.fromkeys(ASKED[endpoint](about[role])):
            status, text = asked.ask(path, role)
            assert status < 500, (path, text)
            found = [name for name in NAMES if name in text and name[:4] not in path]
            found += [node for node in IDS if node in text and node not in path]
            assert not found, (role, path, found, json.dumps(text)[:3000])
            answered += status == 200
    # Each event names something hidden, so there is none to read.
    assert answered or endpoint in {"consumer.write_operation", "datazone.get_event"}


@pytest.mark.parametrize("path", ["/graph/datasets", "/graph/jobs", "/graph/columns"])
def test_no_cursor_names_a_hidden_node(asked: Asked, path: str) -> None:
    reader = {"X-API-Key": "hw_reader"}
    page = asked.client.get(f"{path}?limit=1", headers=reader).get_json()
    listed = len(page["items"])
    while cursor := page["next"]:
        key = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        assert not [name for name in NAMES if name in key], key
        page = asked.client.get(f"{path}?limit=1&cursor={cursor}", headers=reader).get_json()
        listed += len(page["items"])
    assert listed == page["total"] > 1


@pytest.mark.parametrize(
    "node", [f"dataset:{LAKE}/quietly", f"column:{LAKE}/quietly%23murmur", "job:default/whisper"]
)
def test_nobody_finds_a_hidden_node_by_its_name(asked: Asked, node: str) -> None:
    for path in ("lineage?", "impact?depth=1&", f"diff?from={START}&to={NOW}&"):
        assert asked.ask(f"/graph/{path}node={node}", "admin")[0] == 404
