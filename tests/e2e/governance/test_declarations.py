"""Lineage that people declare, over HTTP, on a small Headwater in memory."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from api.console.declarations import read_file
from api.http.access import Keys, NoKeys
from api.routes.declarations import (
    MOST_COLUMNS,
    MOST_DECLARATIONS,
    MOST_SOURCES,
    ColumnMappingRequest,
    DeclarationRequest,
)
from graph_model.errors import ConfigurationError, HeadwaterError
from graph_model.facts import CommandRow
from graph_model.stores.keys import Key
from graph_model.values import Role
from tests.e2e.small_client import client_of, running, told
from tests.projections import SmallHeadwater, lineage_event, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
START = 1_700_000_000_000
DAY = 86_400_000
PEOPLE, REPORT = "s3://lake/people", "s3://lake/report"
NEW = "s3://sheets/budget"


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    """``load`` has written people; nothing is known of anything else."""
    made = small_headwater()
    body = copy.deepcopy(a_plan(name="load"))
    body["operations"]["write"]["outputSource"] = PEOPLE
    body["operations"]["reads"][0]["inputSources"] = ["s3://landing/people"]
    made.accept(plan(body), event(an_event(START, planId=body["id"])))
    made.project()
    with running(made):
        yield made


class Clients:
    """One client for each of several people, and a clock that goes on."""

    def __init__(self, headwater: SmallHeadwater) -> None:
        self.headwater = headwater
        self.day = 0

    def of(self, name: str, *roles: Role, scope: str = "") -> FlaskClient:
        self.day += 1
        chosen = frozenset(roles or (Role.PRODUCER, Role.READER))
        key = Key("id", name, chosen, scope, 0, "", "abcd", 0)
        client = client_of(self.headwater, START + self.day * DAY, cast(Keys, OneKey(key)))
        client.environ_base["HTTP_X_API_KEY"] = "hw_" + name
        return client


class OneKey(NoKeys):
    def __init__(self, key: Key) -> None:
        self.key = key

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        return self.key if text == "hw_" + self.key.name else None


@pytest.fixture
def clients(headwater: SmallHeadwater) -> Clients:
    return Clients(headwater)


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START + DAY)


def declare(client: FlaskClient, *more: Any, dry: bool = False, **one: Any) -> Any:
    listed = list(more) or [{"target": REPORT, "sources": [PEOPLE], **one}]
    return client.post("/declarations", json={"declarations": listed, "dryRun": dry})


def listed(client: FlaskClient, **query: Any) -> Any:
    return client.get("/declarations", query_string=query).get_json()["items"]


def ends(reply: Any) -> set[tuple[str, str]]:
    """The edges between datasets, by URI."""
    body = reply.get_json()
    uris = {node["id"]: node.get("uri", node.get("name")) for node in body["nodes"]}
    return {(uris[edge["from"]], uris[edge["to"]]) for edge in body["edges"]}


def lineage(client: FlaskClient, uri: str = REPORT, **query: Any) -> Any:
    return client.get(
        "/graph/lineage",
        query_string={"node": f"dataset:{uri}", "depth": 5, "jobs": "false", **query},
    )


def test_a_key_with_a_scope_declares_nothing_about_a_dataset_of_another_one(
    headwater: SmallHeadwater, clients: Clients
) -> None:
    body = copy.deepcopy(a_plan(name="local", id="0f0e0d0c-0b0a-4908-8706-050403020100"))
    body["operations"]["write"]["outputSource"] = "file:/data/t"
    headwater.accept(
        plan(body, scope="glue"), event(an_event(START, planId=body["id"]), scope="glue")
    )
    headwater.project()
    wanted = {"target": "dataset:glue@file:/data/t", "sources": [PEOPLE]}
    refused = declare(clients.of("emr", scope="emr"), wanted)
    assert (refused.status_code, refused.get_json()["errors"]) == (403, {"captureScope": ["emr"]})
    glue = clients.of("glue", scope="glue")
    assert declare(glue, wanted).status_code == 201
    (made,) = listed(glue)
    root = clients.of("root", Role.ADMIN, scope="emr")
    refused = root.delete(f"/declarations/{made['id']}")
    assert (refused.status_code, refused.get_json()["errors"]) == (403, {"captureScope": ["emr"]})
    assert glue.delete(f"/declarations/{made['id']}").status_code == 200


def test_a_declaration_is_in_lineage_with_its_author_and_its_time(clients: Clients) -> None:
    ann = clients.of("ann")
    reply = declare(ann, note="the monthly sheet", job="finance/monthly close")
    assert reply.status_code == 201
    (one,) = listed(ann)
    assert (one["author"], one["note"]) == ("ann", "the monthly sheet")
    assert one["declaredAt"] == one["since"] == "2023-11-15T22:13:20.000Z"
    assert (one["job"]["namespace"], one["job"]["name"]) == ("finance", "monthly close")
    assert one["target"]["uri"] == REPORT
    assert [source["uri"] for source in one["sources"]] == [PEOPLE]
    assert ends(lineage(ann)) == {("s3://landing/people", PEOPLE), (PEOPLE, REPORT)}
    drawn = lineage(ann, jobs="true").get_json()["nodes"]
    assert "monthly close" in {node["label"] for node in drawn}


def test_a_declaration_is_not_seen_before_the_time_from_which_it_holds(client: FlaskClient) -> None:
    declare(client, since=START + DAY // 2)
    assert (PEOPLE, REPORT) in ends(lineage(client, at=START + DAY // 2))
    assert ends(lineage(client, PEOPLE, at=START + DAY // 2 - 1, direction="downstream")) == set()


def test_datasets_that_no_job_has_ever_touched_can_be_declared(client: FlaskClient) -> None:
    reply = declare(client, {"target": NEW, "sources": ["s3a://sheets/plan/"]})
    assert reply.status_code == 201
    assert ends(lineage(client, NEW)) == {("s3://sheets/plan", NEW)}


def test_the_same_said_twice_is_one_and_two_people_are_two(clients: Clients) -> None:
    ann, bob = clients.of("ann"), clients.of("bob")
    assert declare(ann).get_json()["new"] == 1
    again = declare(ann, note="another word")
    assert (again.status_code, again.get_json()["new"]) == (200, 0)
    assert declare(bob).status_code == 201
    assert sorted(one["author"] for one in listed(ann)) == ["ann", "bob"]
    assert len(ends(lineage(ann))) == 2


def test_the_same_dataset_under_two_spellings_is_declared_once(client: FlaskClient) -> None:
    declare(client, sources=[PEOPLE, "s3a://lake/people/", f"dataset:{PEOPLE}"])
    (one,) = listed(client)
    assert len(one["sources"]) == 1
    assert declare(client, sources=["s3a://lake/people"]).get_json()["new"] == 0


def test_a_retraction_by_one_author_leaves_the_declaration_of_the_other(clients: Clients) -> None:
    ann, bob = clients.of("ann"), clients.of("bob")
    declare(ann)
    declare(bob)
    mine = next(one["id"] for one in listed(ann) if one["author"] == "ann")
    assert ann.delete(f"/declarations/{mine}").status_code == 200
    assert [one["author"] for one in listed(bob)] == ["bob"]
    assert (PEOPLE, REPORT) in ends(lineage(bob))
    (other,) = listed(bob)
    assert bob.delete(f"/declarations/{other['id']}").status_code == 200
    assert lineage(bob).status_code == 404


def test_only_its_author_and_an_admin_may_take_a_declaration_back(clients: Clients) -> None:
    ann, bob = clients.of("ann"), clients.of("bob")
    declare(ann)
    (one,) = listed(bob)
    assert not one["removable"]
    refused = bob.delete(f"/declarations/{one['id']}")
    assert (refused.status_code, refused.get_json()["errors"]) == (403, {"role": ["admin"]})
    root = clients.of("root", Role.ADMIN)
    assert listed(root)[0]["removable"]
    assert root.delete(f"/declarations/{one['id']}").status_code == 200
    assert root.delete(f"/declarations/{one['id']}").status_code == 404


def test_a_reader_sees_declarations_and_makes_none(clients: Clients) -> None:
    reader = clients.of("eve", Role.READER)
    assert listed(reader) == []
    assert declare(reader).status_code == 403
    producer = clients.of("job", Role.PRODUCER)
    assert declare(producer).status_code == 201


def test_elements_that_runs_support_stay_when_a_declaration_goes(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    declare(client, {"target": PEOPLE, "sources": ["s3://landing/people"], "job": "default/load"})
    (one,) = listed(client)
    before = lineage(client, PEOPLE).get_json()["edges"]
    client.delete(f"/declarations/{one['id']}")
    after = lineage(client, PEOPLE).get_json()["edges"]
    assert [edge["to"] for edge in after] == [edge["to"] for edge in before]
    assert len(after[0]["plans"]) == len(before[0]["plans"]) - 1


def test_a_removal_leaves_no_trace_but_the_commands(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    before = headwater.elements()
    declare(client, columns=[{"from": "email", "to": "mail"}], sources=["s3://sheets/plan"])
    client.delete(f"/declarations/{listed(client)[0]['id']}")
    elements, rows = headwater.elements()
    assert (elements, tuple(row for row in rows if not isinstance(row, CommandRow))) == before
    states = client.get("/journal?kind=declaration").get_json()["items"]
    assert [(one["state"], one["reason"]) for one in states] == [("projected", "it was taken back")]


def test_edges_without_a_run_are_marked_as_declared(client: FlaskClient) -> None:
    declare(client)
    for jobs in ("true", "false"):
        edges = lineage(client, jobs=jobs).get_json()
        uris = {node["id"]: node.get("uri", "") for node in edges["nodes"]}
        report = {edge.get("origin") for edge in edges["edges"] if REPORT in uris[edge["to"]]}
        others = {edge.get("origin") for edge in edges["edges"] if uris[edge["to"]] == PEOPLE}
        assert (report, others) == ({"declared"}, {None})
    drawn = client.get("/graph/overview").get_json()["edges"]
    assert sum(edge.get("origin") == "declared" for edge in drawn) == 2


def test_the_history_of_a_dataset_calls_a_declaration_by_its_name(client: FlaskClient) -> None:
    declare(client)
    node = listed(client)[0]["target"]["id"]
    (one,) = client.get(f"/graph/datasets/{node}/history").get_json()["items"]
    assert one["mode"] == "declared"
    writer = client.get(f"/graph/datasets/{node}/last-writer").get_json()
    assert writer["execution"] is None


def test_a_retracted_declaration_can_be_declared_again(clients: Clients) -> None:
    ann = clients.of("ann")
    declare(ann)
    ann.delete(f"/declarations/{listed(ann)[0]['id']}")
    later = clients.of("ann")
    assert declare(later).get_json()["new"] == 1
    assert (PEOPLE, REPORT) in ends(lineage(later))


def test_a_rebuild_gives_the_same_declarations_and_removals(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    declare(client)
    declare(client, {"target": NEW, "sources": [PEOPLE]})
    gone = next(one for one in listed(client) if one["target"]["uri"] == NEW)
    client.delete(f"/declarations/{gone['id']}")
    before = headwater.elements()
    headwater.projector.stop()
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass
    assert headwater.elements() == before
    assert [one["target"]["uri"] for one in listed(client)] == [REPORT]


def test_removals_are_in_the_list_of_commands_with_author_and_note(client: FlaskClient) -> None:
    declare(client)
    (one,) = listed(client)
    client.delete(f"/declarations/{one['id']}?note=a+slip")
    (command,) = client.get("/commands?kind=retract").get_json()["items"]
    assert (command["author"], command["note"]) == ("anonymous", "a slip")
    assert REPORT in command["target"]


def test_columns_are_declared_and_marked_as_declared(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    declare(client, {"target": NEW, "sources": ["s3://sheets/plan"],
                     "columns": [{"from": "Cost", "to": "total"}]})  # fmt: skip
    found = client.get(
        "/graph/column-lineage", query_string={"dataset": NEW, "column": "total"}
    ).get_json()
    assert [(edge["kind"], edge["how"]) for edge in found["edges"]] == [
        ("DIRECT", "TRANSFORMATION")
    ]
    assert listed(client)[0]["columns"][0]["from"] == "cost"
    origins = {
        edge.value("origin") for edge in headwater.graph.scan()
        if getattr(edge, "out_id", None) and edge.value("origin")
    }  # fmt: skip
    assert origins == {"declared"}


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("target", {"target": "no uri"}),
        ("target", {"target": "ds_" + "0" * 32}),
        ("target", {"target": " "}),
        ("sources", {"sources": []}),
        ("sources[1]", {"sources": [PEOPLE, "nothing"]}),
        ("sources[0]", {"sources": [REPORT]}),
        ("job", {"job": "/x"}),
        ("since", {"since": "yesterday"}),
        ("note", {"note": 7}),
        ("who", {"who": "ann"}),
        ("columns[0].from", {"columns": [{"to": "a"}]}),
        ("columns[0].from", {"columns": [{"from": "no_such_column", "to": "a"}]}),
        ("columns[1].source", {"sources": [PEOPLE, NEW], "columns": [
            {"source": NEW, "from": "a", "to": "a"}, {"from": "a", "to": "a"}]}),
        ("columns[0].source", {"columns": [{"source": NEW, "from": "a", "to": "a"}]}),
    ],
)  # fmt: skip
def test_an_error_is_told_by_its_field_and_nothing_is_declared(
    client: FlaskClient, path: str, changes: dict[str, Any]
) -> None:
    good = {"target": NEW, "sources": [PEOPLE]}
    bad = {"target": REPORT, "sources": [PEOPLE], **changes}
    refused = declare(client, good, bad)
    assert refused.status_code == 400, refused.get_json()
    assert f"declarations[1].{path}" in refused.get_json()["errors"]
    assert listed(client) == []
    assert client.get("/journal?kind=declaration").get_json()["items"] == []


def test_a_request_that_would_look_up_too_much_is_refused(client: FlaskClient) -> None:
    columns = [{"from": f"c{n}", "to": f"c{n}"} for n in range(5_000)]
    one = {"target": NEW, "sources": ["s3://sheets/plan"], "columns": columns}
    refused = declare(client, *(one for _ in range(4)))
    assert (refused.status_code, set(refused.get_json()["errors"])) == (400, {"declarations"})


def test_a_dry_run_tells_the_effect_and_changes_nothing(client: FlaskClient) -> None:
    reply = declare(client, dry=True)
    body = reply.get_json()
    assert (reply.status_code, body["dryRun"], body["new"]) == (200, True, 1)
    assert body["items"][0]["target"]["uri"] == REPORT
    assert listed(client) == []


def test_declarations_are_found_by_each_of_their_nodes(client: FlaskClient) -> None:
    declare(client, job="finance/close")
    for node in (f"dataset:{REPORT}", f"dataset:{PEOPLE}", "job:finance/close"):
        assert len(listed(client, node=node)) == 1
    assert listed(client, node="dataset:s3://landing/people") == []
    assert client.get("/declarations?node=dataset:s3://no/where").status_code == 404


def test_the_list_has_pages(clients: Clients) -> None:
    for name in ("ann", "bob", "eve"):
        declare(clients.of(name))
    client = clients.of("reader", Role.READER)
    seen: list[str] = []
    cursor = None
    while cursor is not None or not seen:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = client.get("/declarations", query_string=query).get_json()
        seen += [one["author"] for one in page["items"]]
        cursor = page["next"]
    assert (seen, page["total"]) == (["eve", "bob", "ann"], 3)
    assert client.get("/declarations?cursor=nonsense").status_code == 400


@pytest.mark.parametrize("node", [f"dataset:{PEOPLE}", f"dataset:{REPORT}", "job:finance/close"])
def test_a_declaration_that_names_a_hidden_node_is_listed_for_admins_alone(
    clients: Clients, node: str
) -> None:
    ann, root = clients.of("ann"), clients.of("root", Role.ADMIN)
    declare(ann, job="finance/close")
    (one,) = listed(root)
    assert not one["hidden"]
    root.post("/commands", json={"command": "hide", "node": node})
    assert listed(ann) == []
    for query in ({}, {"node": one["target"]["id"]}, {"node": one["sources"][0]["id"]}):
        assert [found["hidden"] for found in listed(root, **query)] == [True]
    assert root.delete(f"/declarations/{one['id']}").status_code == 200


def test_a_column_is_no_node_of_a_declaration_whether_hidden_or_not(client: FlaskClient) -> None:
    declare(client)
    asked = f"/declarations?node=column:{PEOPLE}%23total"
    shown = client.get(asked)
    assert shown.status_code == 400
    assert "expected a dataset or a job" in shown.get_json()["message"]
    client.post("/commands", json={"command": "hide", "node": f"dataset:{PEOPLE}"})
    assert client.get(asked).get_json() == shown.get_json()


def test_forgetting_a_declared_dataset_forgets_the_declaration(client: FlaskClient) -> None:
    declare(client)
    declare(client, {"target": NEW, "sources": ["s3://sheets/plan"]})
    client.post("/commands", json={"command": "forget", "node": f"dataset:{REPORT}"})
    assert [one["target"]["uri"] for one in listed(client)] == [NEW]
    assert lineage(client).status_code == 404


def test_an_event_from_outside_speaks_in_nobodys_name(client: FlaskClient) -> None:
    facet = {"headwater_declaration": {"id": "x", "author": "ann", "declaredAt": "2026-01-01"}}
    forged = {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "a", "name": "b", "facets": facet},
        "outputs": [{"namespace": "s3://lake", "name": "report"}],
    }
    refused = client.post("/api/v1/lineage", json=forged)
    assert refused.status_code == 400
    assert "job.facets.headwater_declaration" in refused.get_json()["errors"]


def test_a_declaration_follows_its_datasets_through_other_naming_rules(
    client: FlaskClient,
) -> None:
    declare(client, {"target": "warehouse://a/b", "sources": ["depot://a/c"]})
    (before,) = listed(client)
    rules = client.get("/rules").get_json()["rules"]
    rules["schemeAliases"] = [*rules["schemeAliases"], ["depot", "warehouse"]]
    rules["fileSchemes"] = [*rules["fileSchemes"], "warehouse"]
    assert client.put("/rules", json={"rules": rules}).status_code == 200
    eventually(lambda: client.get("/rules").get_json()["state"] == "in force")
    (after,) = listed(client)
    assert after["id"] == before["id"]
    assert [source["uri"] for source in after["sources"]] == ["warehouse://a/c"]
    assert after["target"]["uri"] == "warehouse://a/b"


def test_a_job_event_of_a_client_is_no_persons_declaration(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    told = {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "etl", "name": "told"},
        "inputs": [{"namespace": "s3://lake", "name": "people"}],
        "outputs": [{"namespace": "s3://lake", "name": "report"}],
    }
    headwater.projector.wait(headwater.accept(lineage_event(told)), 5)
    assert listed(client) == []


def test_a_job_event_holds_until_the_next_one_of_its_job(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """Declared lineage replaces the earlier declarations of the same job (the specification)."""
    for day, source in ((1, "one"), (2, "two")):
        told = {
            "eventTime": f"2026-01-0{day}T00:00:00Z",
            "job": {"namespace": "etl", "name": "told"},
            "inputs": [{"namespace": "s3://lake", "name": source}],
            "outputs": [{"namespace": "s3://lake", "name": "report"}],
        }
        positions = headwater.accept(lineage_event(told))
        headwater.projector.notify()
        assert headwater.projector.wait(positions, 5)
    assert ends(lineage(client)) == {("s3://lake/two", REPORT)}
    assert ends(lineage(client, at="2026-01-01T12:00:00Z")) == {("s3://lake/one", REPORT)}


def test_a_declaration_stands_whatever_is_written_since(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """A nightly overwrite of the target does not undo it, and a new writer of the source counts."""
    declare(client, {"target": NEW, "sources": [PEOPLE]})
    for number, (name, source, target) in enumerate(
        [("nightly", "s3://landing/plan", NEW), ("fresh", "s3://landing/fresh", PEOPLE)]
    ):
        body = copy.deepcopy(a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=name))
        body["operations"]["write"]["outputSource"] = target
        body["operations"]["reads"][0]["inputSources"] = [source]
        at = START + (2 + number) * DAY
        told = headwater.accept(plan(body), event(an_event(at, planId=body["id"])))
        headwater.projector.notify()
        assert headwater.projector.wait(told, 5)
    found = {"s3://landing/plan": NEW, PEOPLE: NEW, "s3://landing/fresh": PEOPLE}
    assert ends(lineage(client, NEW, direction="upstream")) == set(found.items())
    down = lineage(client, "s3://landing/fresh", direction="downstream")
    assert ends(down) == {("s3://landing/fresh", PEOPLE), (PEOPLE, NEW)}


def test_pruning_takes_no_declaration(headwater: SmallHeadwater, client: FlaskClient) -> None:
    declare(client, {"target": PEOPLE, "sources": ["s3://landing/people"], "job": "default/load"})
    body = copy.deepcopy(a_plan(name="load"))
    body["operations"]["write"]["outputSource"] = PEOPLE
    told = headwater.accept(event(an_event(START + 5 * DAY, planId=body["id"])))
    headwater.projector.notify()
    assert headwater.projector.wait(told, 5)
    given = client.post("/commands", json={"command": "prune", "before": START + 9 * DAY})
    assert given.status_code == 202
    assert len(listed(client)) == 1
    edges = lineage(client, PEOPLE).get_json()["edges"]
    assert len(edges[0]["plans"]) == 2


def test_declarations_may_go_round_in_a_circle(client: FlaskClient) -> None:
    declare(client, {"target": NEW, "sources": ["s3://sheets/plan"]},
            {"target": "s3://sheets/plan", "sources": [NEW]})  # fmt: skip
    for direction in ("upstream", "downstream"):
        assert ends(lineage(client, NEW, direction=direction)) == {
            ("s3://sheets/plan", NEW), (NEW, "s3://sheets/plan"),
        }  # fmt: skip


# --- the command line ----------------------------------------------------------------------------


def test_declaring_listing_and_taking_back_on_the_command_line(client: FlaskClient) -> None:
    line = f"declare --from {PEOPLE} --to {REPORT} --column branch=unit --job finance/close"
    seen = told(client, f"{line} --dry-run")
    assert seen[-1] == "1 would be declared, 0 known before"
    assert told(client, "declare --list") == ["0 declarations"]
    done = told(client, line)
    assert done[0].endswith(f"{PEOPLE} -> {REPORT}  (columns: 1)")
    assert told(client, line)[-1] == "0 declared, 1 known before"
    key = done[0].split()[0]
    listed_lines = told(client, f"declare --list --node dataset:{PEOPLE}")
    assert listed_lines[0].startswith(key)
    assert "anonymous" in listed_lines[0]
    assert told(client, f"declare --remove {key} --note slip")[0].endswith("is taken back")
    assert told(client, "declare --list") == ["0 declarations"]


FILES = {
    "lineage.json": """{"declarations": [{"target": "s3://a/b", "sources": ["s3://c/d"],
      "columns": [{"from": "no", "to": "2026"}]}]}""",
    "lineage.yml": """
declarations:
  - target: s3://a/b
    sources: [s3://c/d]
    columns:
      - {from: no, to: 2026}
""",
    "lineage.csv": "target,source,from,to\r\ns3://a/b,s3://c/d,no,2026\r\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_kind_says_the_same(client: FlaskClient, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(FILES[name], encoding="utf-8")
    assert told(client, f"declare --file {file}")[-1] == "1 declared, 0 known before"
    (one,) = listed(client)
    assert (one["target"]["uri"], one["sources"][0]["uri"]) == ("s3://a/b", "s3://c/d")
    assert [(column["from"], column["to"]) for column in one["columns"]] == [("no", "2026")]


def test_lines_of_one_target_are_one_declaration(tmp_path: Path) -> None:
    file = tmp_path / "lineage.csv"
    file.write_text(
        "target,source,from,to,note\nt,a,x,y,n\nt,b,,,n\nt,a,z,w,n\nu,a,,,n\n", encoding="utf-8"
    )
    first, second = read_file(file)
    assert first.body["sources"] == ["a", "b"]
    assert [column["from"] for column in first.body["columns"]] == ["x", "z"]
    assert (first.place, second.place) == ("line 2", "line 5")


def test_a_file_with_one_wrong_line_declares_nothing_and_names_the_line(
    client: FlaskClient, tmp_path: Path
) -> None:
    file = tmp_path / "lineage.csv"
    file.write_text(f"target,source\n{NEW},{PEOPLE}\n{REPORT},nowhere\n", encoding="utf-8")
    with pytest.raises(HeadwaterError, match=r"line 3: sources\[0\]: expected a URI.*nothing was"):
        told(client, f"declare --file {file}")
    assert listed(client) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "target,sauce\n", "no such column: sauce"),
        ("a.csv", "target\n", "expected the columns source"),
        ("a.csv", "target,source,from\nt,s,x\n", "line 2: expected from and to"),
        ("a.csv", "target,source\nt\n", "line 2: expected as many fields"),
        ("a.json", "{", "Expecting"),
        ("a.json", "[1]", "expected a list of declarations"),
        ("a.yml", "a: [", "while parsing"),
        ("a.yml", "a: !!python/object:os.system x", "expected a list"),
        ("a.txt", "", "a name that ends in"),
    ],
)
def test_a_file_that_is_not_of_its_kind_is_refused(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=said):
        read_file(file)


def test_the_schema_in_the_docs_is_that_of_the_service() -> None:
    text = (ROOT / "docs" / "declarations.md").read_text(encoding="utf-8")
    schema = json.loads(text.split("```json")[1].split("```")[0])
    item = schema["properties"]["declarations"]["items"]
    column = item["properties"]["columns"]["items"]
    for described, own in ((item, DeclarationRequest()), (column, ColumnMappingRequest())):
        fields = {one.data_key or name: one for name, one in own.load_fields.items()}
        assert set(described["properties"]) == set(fields)
        assert set(described["required"]) == {n for n, one in fields.items() if one.required}
    assert schema["properties"]["declarations"]["maxItems"] == MOST_DECLARATIONS
    assert item["properties"]["sources"]["maxItems"] == MOST_SOURCES
    assert item["properties"]["columns"]["maxItems"] == MOST_COLUMNS
