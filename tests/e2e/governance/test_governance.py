"""Layers, classifications, hiding and naming rules over HTTP, on a small Headwater in memory."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.http.access import Keys, NoKeys
from graph_model.stores.keys import Key
from graph_model.values import Role
from tests.e2e.small_client import client_of, running, told
from tests.projections import SmallHeadwater, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan
from tests.waiting import eventually

START = 1_700_000_000_000
DAY = 86_400_000
TEAL = "#0b6a84"


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    for number, (name, source, target) in enumerate(
        [
            ("load", "s3://landing/people", "s3://lake/people"),
            ("report", "s3://lake/people", "s3://lake/report"),
            ("export", "s3://lake/report", "file:/data/out"),
        ]
    ):
        body = a_job(name, source, target, number)
        made.accept(plan(body), event(an_event(START + number * DAY, planId=body["id"])))
    made.project()
    with running(made):
        yield made


def a_job(name: str, source: str, target: str, number: int) -> dict[str, Any]:
    body = copy.deepcopy(a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=name))
    body["operations"]["write"]["outputSource"] = target
    body["operations"]["reads"][0]["inputSources"] = [source]
    return body


def serve(headwater: SmallHeadwater, keys: Keys | None = None) -> FlaskClient:
    return client_of(headwater, START + 9 * DAY, keys)


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return serve(headwater)


def put(client: FlaskClient, path: str, **body: Any) -> Any:
    return client.put(path, json=body)


def layer(client: FlaskClient, name: str, path: str = "", **changes: Any) -> Any:
    body = {"match": "prefix", "pattern": "s3://lake/", "order": 10, "colour": TEAL, **changes}
    return put(client, f"/layers/{name}{path}", **body)


def nodes(reply: Any, kind: str) -> dict[str, Any]:
    return {node["label"]: node for node in reply.get_json()["nodes"] if node["kind"] == kind}


def id_of(client: FlaskClient, name: str) -> str:
    items = client.get("/graph/datasets").get_json()["items"]
    return str(
        next(item["id"] for item in items if item["label"] == name and "lake" in item["uri"])
    )


# --- layers --------------------------------------------------------------------------------------


def test_a_layer_is_seen_on_every_dataset_that_it_fits_and_on_no_other(client: FlaskClient) -> None:
    assert layer(client, "lake").get_json()["name"] == "lake"
    drawn = nodes(client.get("/graph/overview"), "dataset")
    assert {node["uri"]: node["layer"] for node in drawn.values()} == {
        "s3://lake/people": "lake", "s3://lake/report": "lake", "file:/data/out": None,
    } | {node["uri"]: None for node in drawn.values() if "landing" in node["uri"]}  # fmt: skip
    listed = client.get("/graph/datasets?layer=lake").get_json()
    assert {item["layer"] for item in listed["items"]} == {"lake"}
    assert listed["total"] == 2
    overview = client.get("/graph/overview?layer=lake")
    assert set(nodes(overview, "dataset")) == {"people", "report"}
    assert set(nodes(overview, "job")) == {"load", "report", "export"}


def test_the_first_layer_that_fits_wins_by_order(client: FlaskClient) -> None:
    layer(client, "wide", order=20)
    layer(client, "narrow", order=10, match="glob", pattern="s3://*/people")
    assert [one["name"] for one in client.get("/layers").get_json()["items"]] == ["narrow", "wide"]
    drawn = nodes(client.get("/graph/overview?q=lake"), "dataset")
    assert drawn["report"]["layer"] == "wide"
    found = client.get("/graph/datasets?layer=narrow").get_json()["items"]
    assert {item["uri"] for item in found} == {"s3://lake/people", "s3://landing/people"}


def test_the_datasets_of_each_layer_are_counted(client: FlaskClient) -> None:
    layer(client, "lake")
    give(client, "hide", "dataset:s3://lake/report")
    counted = client.get("/layers?counts=true").get_json()
    assert [(one["name"], one["datasets"]) for one in counted["items"]] == [("lake", 1)]
    assert counted["without"] == 2


def test_a_preview_tells_the_changes_and_makes_none(client: FlaskClient) -> None:
    seen = layer(client, "lake", "?preview=true").get_json()
    assert (seen["preview"], seen["total"], seen["datasets"]) == (True, 2, 4)
    assert {one["uri"] for one in seen["items"]} == {"s3://lake/people", "s3://lake/report"}
    assert client.get("/layers").get_json()["total"] == 0
    layer(client, "lake")
    gone = client.delete("/layers/lake?preview=true").get_json()
    assert {(one["before"], one["after"]) for one in gone["items"]} == {("lake", None)}
    assert client.get("/layers").get_json()["total"] == 1
    assert client.delete("/layers/lake").status_code == 200
    assert client.get("/layers").get_json()["total"] == 0


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("pattern", {"match": "regex", "pattern": "("}),
        ("pattern", {"match": "regex", "pattern": "(?=a)a"}),
        ("pattern", {"match": "regex", "pattern": "((a{1000}){1000}){1000}"}),
        ("pattern", {"pattern": ""}),
        ("colour", {"colour": "red"}),
        ("order", {"order": -1}),
        ("order", {"order": True}),
        ("match", {"match": "like"}),
        ("more", {"more": 1}),
    ],
)
def test_a_layer_that_cannot_be_is_refused_by_its_field(
    client: FlaskClient, field: str, changes: dict[str, Any]
) -> None:
    answer = layer(client, "lake", **changes)
    assert answer.status_code == 400
    assert list(answer.get_json()["errors"]) == [field]


def test_a_pattern_that_would_explode_elsewhere_costs_nothing_here(client: FlaskClient) -> None:
    assert layer(client, "evil", match="regex", pattern="^(([a-z/:0-9])+.)+$X").status_code == 200
    assert client.get("/graph/overview").status_code == 200


def test_saying_it_twice_is_one_document(client: FlaskClient) -> None:
    layer(client, "lake")
    layer(client, "lake")
    assert client.get("/commands?kind=layer").get_json()["total"] == 1


# --- classifications -----------------------------------------------------------------------------


def columns_of(client: FlaskClient, name: str) -> dict[str, str]:
    page = client.get(f"/graph/datasets/{id_of(client, name)}").get_json()
    return {column["name"]: column["id"] for column in page["schema"]["columns"]}


def classify(client: FlaskClient, node: str, **more: Any) -> Any:
    return put(client, "/classifications/PII", node=node, owner="privacy", **more)


def test_a_tag_is_seen_with_its_owner_and_taken_off_again(client: FlaskClient) -> None:
    name, column = "branch", columns_of(client, "people")["branch"]
    said = classify(client, column, note="the law").get_json()
    assert (said["uri"], said["path"], said["author"]) == ("s3://lake/people", name, "anonymous")
    assert client.get("/classifications").get_json()["items"] == [
        {"tag": "PII", "datasets": 0, "columns": 1, "blocks": 0}
    ]
    page = client.get(f"/graph/datasets/{id_of(client, 'people')}").get_json()
    tagged = [c for c in page["schema"]["columns"] if c["classifications"]]
    assert [(c["id"], c["classifications"][0]["owner"]) for c in tagged] == [(column, "privacy")]
    drawn = client.get(f"/graph/lineage?node={column}").get_json()["nodes"]
    assert {n["id"] for n in drawn if n.get("classifications") == ["PII"]} == {column}
    assert client.get("/graph/datasets?classification=PII").get_json()["total"] == 1
    assert client.delete(f"/classifications/PII?node={column}").status_code == 200
    assert client.get("/classifications").get_json()["total"] == 0
    assert client.delete(f"/classifications/PII?node={column}").status_code == 404


def test_a_tag_follows_direct_lineage_on_request_with_the_path_as_its_reason(
    client: FlaskClient,
) -> None:
    name, column = "branch", columns_of(client, "people")["branch"]
    classify(client, column)
    alone = client.get("/classifications/PII/columns").get_json()
    assert [(one["id"], one["direct"]) for one in alone["items"]] == [(column, True)]
    found = client.get("/classifications/PII/columns?propagate=true").get_json()
    reached = {one["dataset"]: one for one in found["items"]}
    assert set(reached) == {"s3://lake/people", "s3://lake/report", "file:/data/out"}
    last = reached["file:/data/out"]
    assert [step["from"]["dataset"] for step in last["path"]] == [
        "s3://lake/people", "s3://lake/report",
    ]  # fmt: skip
    assert last["reason"]["origin"]["name"] == name
    assert [job["name"] for step in last["path"] for job in step["jobs"]] == [
        "default/report", "default/export",
    ]  # fmt: skip
    assert found["partial"] is None


def test_columns_of_a_class_come_tagged_ones_first_then_step_by_step_by_name(
    client: FlaskClient,
) -> None:
    columns = columns_of(client, "people")
    assert len(columns) > 1
    for column in columns.values():
        classify(client, column)
    items = client.get("/classifications/PII/columns?propagate=true").get_json()["items"]
    places = [(len(one["path"]), one["dataset"], one["name"]) for one in items]
    assert {steps for steps, *_ in places} == {0, 1, 2}
    assert places == sorted(places)


def test_a_blocked_edge_ends_the_tag_there_and_is_shown(client: FlaskClient) -> None:
    name, column = "branch", columns_of(client, "people")["branch"]
    classify(client, column)
    ends = {"from": column, "to": f"column:s3://lake/report#{name}"}
    block = {**ends, "note": "hashed"}
    assert put(client, "/classifications/PII/blocks", **block).status_code == 200
    found = client.get("/classifications/PII/columns?propagate=true").get_json()
    assert [one["id"] for one in found["items"]] == [column]
    assert [edge["to"]["dataset"] for edge in found["blocked"]] == ["s3://lake/report"]
    assert client.get("/classifications/PII").get_json()["blocks"][0]["note"] == "hashed"
    client.delete("/classifications/PII/blocks", query_string=ends)
    found = client.get("/classifications/PII/columns?propagate=true").get_json()
    assert len(found["items"]) == 3


def test_a_preview_says_which_columns_would_carry_the_tag(client: FlaskClient) -> None:
    column = columns_of(client, "people")["branch"]
    body = {"node": column}
    seen = client.put("/classifications/PII?preview=true", json=body).get_json()
    assert (seen["preview"], seen["total"]) == (True, 3)
    assert client.get("/classifications").get_json()["total"] == 0


def test_a_plan_with_gaps_that_reads_the_class_is_named(
    client: FlaskClient, headwater: SmallHeadwater
) -> None:
    body = a_job("copy", "s3://lake/people", "s3://lake/copy", 9)
    opaque = {"id": "op-1", "name": "LogicalRDD", "childIds": ["op-2"], "output": ["t"]}
    body["operations"]["other"] = [opaque]
    body["attributes"] = [{"id": "a", "name": "amount"}, {"id": "b", "name": "branch"},
                          {"id": "t", "name": "total"}]  # fmt: skip
    positions = headwater.accept(plan(body), event(an_event(START + 5 * DAY, planId=body["id"])))
    headwater.projector.notify()
    assert headwater.projector.wait(positions, 30.0)
    classify(client, columns_of(client, "people")["branch"])
    for propagate in ("true", "false"):
        found = client.get(f"/classifications/PII/columns?propagate={propagate}").get_json()
        assert "s3://lake/copy" not in {one["dataset"] for one in found["items"]}
        (gap,) = found["gaps"]
        assert gap["job"]["name"] == "default/copy"
        assert [one["uri"] for one in gap["writes"]] == ["s3://lake/copy"]
        assert gap["gaps"]


def test_a_tag_on_a_node_that_is_gone_from_the_graph_is_taken_off_by_its_id(
    client: FlaskClient,
) -> None:
    people = id_of(client, "people")
    classify(client, people)
    give(client, "hide", people)
    for job in ("load", "report"):
        give(client, "forget", f"job:default/{job}")
    assert client.get(f"/graph/datasets/{people}").status_code == 404
    assert client.delete(f"/classifications/PII?node={people}").status_code == 200
    assert client.get("/classifications").get_json()["total"] == 0
    assert len(give(client, "show", people).get_json()["positions"]) == 1


def test_a_node_that_cannot_carry_a_tag_is_refused(client: FlaskClient) -> None:
    assert classify(client, "job:default/load").status_code == 400
    assert classify(client, "dataset:s3://lake/none").status_code == 404
    assert put(client, "/classifications/-", node="dataset:s3://lake/people").status_code == 400


# --- hiding --------------------------------------------------------------------------------------


def give(client: FlaskClient, command: str, node: str) -> Any:
    return client.post("/commands", json={"command": command, "node": node})


def test_hidden_nodes_are_in_no_list_no_search_and_no_picture(client: FlaskClient) -> None:
    report = id_of(client, "report")
    assert len(give(client, "hide", "dataset:s3://lake/report").get_json()["positions"]) == 1
    assert give(client, "hide", report).get_json()["positions"] == []
    assert "report" not in nodes(client.get("/graph/overview"), "dataset")
    assert client.get("/graph/overview").get_json()["hidden"] == 1
    drawn = client.get("/graph/lineage?node=dataset:s3://lake/people&depth=3&columns=true")
    assert set(nodes(drawn, "dataset")) == {"people", "out"}
    kept = {node["id"] for node in drawn.get_json()["nodes"]}
    assert all({edge["from"], edge["to"]} <= kept for edge in drawn.get_json()["edges"])
    assert client.get("/graph/datasets").get_json()["total"] == 3
    assert client.get("/graph/search?q=lake/report").get_json()["items"] == []
    assert client.get("/graph/lineage?node=dataset:s3://lake/report").status_code == 404
    assert "report" in nodes(client.get(f"/graph/lineage?node={report}"), "dataset")
    give(client, "show", report)
    assert "report" in nodes(client.get("/graph/overview"), "dataset")
    give(client, "hide", report)
    listed = client.get("/commands?kind=hide").get_json()["items"]
    assert [item["inForce"] for item in listed] == [True, False, False]


def test_a_column_of_a_hidden_table_is_hidden_too(client: FlaskClient) -> None:
    column = columns_of(client, "report")["branch"]
    give(client, "hide", "dataset:s3://lake/report")
    by_name = "/graph/lineage?node=column:s3://lake/report%23branch"
    assert client.get(by_name).status_code == 404
    drawn = client.get(f"/graph/lineage?node={column}&columns=true")
    assert "report" in nodes(drawn, "dataset")
    by_name = "/graph/column-lineage?dataset=s3://lake/report"
    assert client.get(by_name).status_code == 404
    around = client.get("/graph/column-lineage?dataset=s3://lake/people&depth=3").get_json()
    assert all("report" not in node.get("dataset", "") for node in around["nodes"])
    assert client.get("/graph/search?q=branch").get_json()["total"] == 3


def test_a_hidden_job_is_gone_from_lists_and_pictures(client: FlaskClient) -> None:
    give(client, "hide", "job:default/report")
    assert {one["name"] for one in client.get("/graph/jobs").get_json()["items"]} == {
        "load", "export",
    }  # fmt: skip
    assert set(nodes(client.get("/graph/overview"), "job")) == {"load", "export"}


def test_history_and_last_writer_do_not_name_a_hidden_job(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    dataset = id_of(client, "report")
    give(client, "hide", "job:default/report")
    (item,) = client.get(f"/graph/datasets/{dataset}/history").get_json()["items"]
    assert item["job"] is None
    found = client.get(f"/graph/datasets/{dataset}/last-writer").get_json()
    assert (found["execution"]["id"], found["execution"]["job"]) == (item["id"], None)
    reader = serve(headwater, TwoKeys())
    refused = reader.get(f"/graph/plans/{item['planId']}", headers={"X-API-Key": "hw_reader"})
    assert refused.status_code == 404


def test_a_plan_page_does_not_name_a_hidden_source(client: FlaskClient) -> None:
    (item,) = client.get(f"/graph/datasets/{id_of(client, 'report')}/history").get_json()["items"]
    address = f"/graph/plans/{item['planId']}?document=true"
    assert "s3://lake/people" in client.get(address).get_data(as_text=True)
    give(client, "hide", "dataset:s3://lake/people")
    page = client.get(address)
    assert (page.status_code, "document" in page.get_json()) == (200, False)
    assert "s3://lake/people" not in page.get_data(as_text=True)


def test_a_plan_and_a_run_do_not_name_a_hidden_target(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    (item,) = client.get(f"/graph/datasets/{id_of(client, 'report')}/history").get_json()["items"]
    give(client, "hide", "dataset:s3://lake/report")
    reader = serve(headwater, TwoKeys())
    refused = reader.get(f"/graph/plans/{item['planId']}", headers={"X-API-Key": "hw_reader"})
    assert refused.status_code == 404
    run = client.get(f"/graph/jobs/{item['job']['id']}/runs/{item['run']}")
    assert run.get_json()["items"] == []


class TwoKeys(NoKeys):
    """``hw_reader`` and ``hw_admin``."""

    def exist(self) -> bool:
        return True

    def find(self, text: str) -> Key | None:
        role = Role(text.removeprefix("hw_"))
        return Key("1", text, frozenset({role}), "", 0, "", "abcd", 0)


def test_a_reader_may_look_and_only_an_admin_may_change(headwater: SmallHeadwater) -> None:
    client = serve(headwater, TwoKeys())
    reader, admin = ({"X-API-Key": f"hw_{role}"} for role in ("reader", "admin"))
    body = {"match": "prefix", "pattern": "s3://lake/", "order": 10, "colour": TEAL}
    refused = client.put("/layers/lake", json=body, headers=reader)
    assert (refused.status_code, refused.get_json()["errors"]["role"]) == (403, ["admin"])
    assert client.put("/layers/lake", json=body, headers=admin).status_code == 200
    assert client.get("/commands", headers=reader).get_json()["items"][0]["author"] == "hw_admin"
    items = client.get("/graph/datasets", headers=reader).get_json()["items"]
    hidden = items[0]["id"]
    client.post("/commands", json={"command": "hide", "node": hidden}, headers=admin)
    for path in (f"/graph/datasets/{hidden}", f"/graph/lineage?node={hidden}"):
        assert client.get(path, headers=reader).status_code == 404
        assert client.get(path, headers=admin).status_code == 200


# --- naming rules --------------------------------------------------------------------------------


def test_rules_are_read_previewed_put_in_force_and_taken_back(
    client: FlaskClient, headwater: SmallHeadwater
) -> None:
    layer(client, "lake")
    classify(client, "dataset:s3://lake/people")
    before = headwater.elements()
    rules = client.get("/rules").get_json()
    assert (rules["state"], rules["changed"], rules["versions"]) == ("in force", [], [])
    document = {"schemeAliases": [*rules["rules"]["schemeAliases"], ["s3", "object"]]}
    document["schemeAliases"] = [["s3a", "object"], ["s3n", "object"], ["s3", "object"]]
    document["fileSchemes"] = [*rules["rules"]["fileSchemes"], "object"]
    seen = client.put("/rules?preview=true", json={"rules": document}).get_json()
    assert (seen["plans"], seen["datasets"]["total"], seen["datasets"]["merged"]) == (3, 3, 0)
    assert seen["datasets"]["items"][0]["after"] == "object://lake/people"
    assert headwater.elements() == before
    given = client.put("/rules", json={"rules": document, "note": "one store"}).get_json()
    assert set(given["changed"]) == {"schemeAliases", "fileSchemes"}
    eventually(lambda: client.get("/rules").get_json()["state"] == "in force")
    uris = {item["uri"] for item in client.get("/graph/datasets").get_json()["items"]}
    assert "object://lake/people" in uris
    assert "s3://lake/people" not in uris
    assert client.get("/graph/lineage?node=dataset:s3a://lake/people").status_code == 200
    assert client.get("/graph/datasets?classification=PII").get_json()["total"] == 1
    client.delete("/rules")
    eventually(lambda: client.get("/rules").get_json()["state"] == "in force")
    eventually(lambda: headwater.projector._commits.rebuild is None)
    assert [one["note"] for one in client.get("/rules").get_json()["versions"]] == ["", "one store"]
    assert without_commands(headwater.elements()) == without_commands(before)


def test_a_preview_says_which_files_of_a_read_become_one(
    client: FlaskClient, headwater: SmallHeadwater
) -> None:
    body = a_job("many", "", "s3://lake/many", 9)
    listed = [f"s3://landing/in/{number}.csv" for number in range(30)]
    body["operations"]["reads"][0]["inputSources"] = listed
    headwater.accept(plan(body), event(an_event(START, planId=body["id"])))
    eventually(lambda: client.get("/graph/datasets?q=in/*.csv").get_json()["total"] == 1)
    change = {
        "spelling": "s3://landing/in/0.csv and 29 more",
        "before": "s3://landing/in/*.csv",
        "after": "30 datasets",
    }
    seen = client.put("/rules?preview=true", json={"rules": {"mostFilesOfAFolder": 30}}).get_json()
    assert seen["datasets"]["items"] == [change]
    seen = client.put("/rules?preview=true", json={"rules": {}}).get_json()
    assert (seen["datasets"]["items"], seen["datasets"]["total"]) == ([], 0)


def without_commands(elements: Any) -> Any:
    vertices, rows = elements
    return vertices, [row for row in rows if type(row).__name__ != "CommandRow"]


@pytest.mark.parametrize(
    ("named", "document"),
    [
        ("unknown", {"unknown": []}),
        ("schemeAliases[0]", {"schemeAliases": [["s3a"]]}),
        ("jobPatterns[0].pattern", {"jobPatterns": [{"pattern": r"(a)\1", "name": "x"}]}),
        ("jobPatterns[0].pattern", {"jobPatterns": [{"pattern": "(?=a)a", "name": "x"}]}),
        ("secretWords", {"secretWords": []}),
    ],
)
def test_rules_that_cannot_be_are_refused_by_name(
    client: FlaskClient, named: str, document: dict[str, Any]
) -> None:
    answer = client.put("/rules", json={"rules": document})
    assert answer.status_code == 400
    assert named in answer.get_json()["errors"]


# --- on the command line -------------------------------------------------------------------------


def test_layers_and_tags_on_the_command_line(client: FlaskClient) -> None:
    placed = "layers set lake --prefix s3://lake/ --order 10"
    assert told(client, f"{placed} --preview")[-1] == "2 of 4 datasets would change their layer"
    assert told(client, placed) == ["lake is in place"]
    assert told(client, "layers")[-1] == "1 layers; the first that fits a dataset is its own"
    column = "column:s3://lake/people#branch"
    assert told(client, f"classify PII {column} --owner privacy") == [
        "s3://lake/people#branch carries PII"
    ]
    assert told(client, "classify")[0].split() == ["PII", "0", "datasets", "1", "columns"]
    spread = told(client, "classify PII --propagate")
    assert "  file:/data/out#branch  2 steps from s3://lake/people#branch" in spread
    assert spread[-1] == "3 columns of class PII"
    assert told(client, f"classify PII {column} --remove") == [f"{column} carries PII no longer"]
    assert told(client, "layers remove lake") == ["lake is gone"]


def test_hiding_and_rules_on_the_command_line(client: FlaskClient, tmp_path: Path) -> None:
    assert told(client, "hide job:default/load") == ["job:default/load is hidden"]
    assert told(client, "hide job:default/load") == ["job:default/load was hidden before"]
    assert told(client, "show job:default/load") == ["job:default/load is shown again"]
    file = tmp_path / "rules.json"
    rules = json.loads("\n".join(told(client, "rules show")))
    file.write_text(json.dumps({**rules, "unnamedJob": "nobody"}), encoding="utf-8")
    assert told(client, f"rules preview {file}")[-1] == (
        "3 of 3 plans were looked at; nothing was done"
    )
    told(client, f"rules set {file} --note why")
    assert told(client, "rules show --versions")[0].endswith("why")
    assert "unnamedJob" in json.dumps(client.get("/rules").get_json()["changed"])
    assert "none" in told(client, "rules reset")[0]
