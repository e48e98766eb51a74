"""Parts of a picture: filters of the overview and of lineage, and lanes by layer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from tests.e2e.answers.test_answers import START, job, labels_of, ran
from tests.e2e.small_client import client_of, running
from tests.projections import small_headwater

STAGED = "dataset:s3://lake/staged"


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    """raw -> load -> staged -> report -> report; staged -> copy -> copy; report is a layer."""
    headwater = small_headwater()
    ran(headwater, job("load", "s3://lake/staged", 1), START)
    for number, name in ((2, "report"), (3, "copy")):
        body = job(name, f"s3://lake/{name}", number, source="s3://lake/staged")
        ran(headwater, body, START + number)
    with running(headwater):
        made = client_of(headwater, START)
        layer = {"match": "glob", "pattern": "s3://lake/report", "order": 1, "colour": "#112233"}
        assert made.put("/layers/reports", json=layer).status_code == 200
        assert made.put("/classifications/PII", json={"node": STAGED}).status_code == 200
        yield made


@pytest.mark.parametrize("path", ["/graph/overview", "/graph/lineage"])
@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ({"job": "job:default/report"}, {"staged", "report"}),
        ({"namespace": "default"}, {"in.csv", "load", "staged", "report", "copy"}),
        ({"namespace": "elsewhere"}, set()),
        ({"layer": "reports"}, {"report"}),
        ({"layer": "reports", "job": "job:default/copy"}, set()),
        ({"classification": "PII"}, {"staged", "load", "report", "copy"}),
    ],
)
def test_filters_leave_out_nodes_that_nobody_asked_to_see(
    client: FlaskClient, path: str, asked: dict[str, str], labels: set[str]
) -> None:
    node = {"node": STAGED, "depth": 3} if path.endswith("lineage") else {}
    reply = client.get(path, query_string={**asked, **node})
    assert reply.status_code == 200, reply.text
    assert labels_of(reply) - {"staged"} == labels - {"staged"}
    assert "staged" in labels_of(reply) or not node


def test_a_filter_by_a_node_that_is_no_job_is_refused(client: FlaskClient) -> None:
    for path in ("/graph/overview?", f"/graph/lineage?node={STAGED}&"):
        assert client.get(f"{path}job={STAGED}").status_code == 400
        assert client.get(f"{path}job=job:default/none").status_code == 404


def test_a_filtered_overview_looks_beyond_the_first_names(client: FlaskClient) -> None:
    for asked in ({"q": "report"}, {"job": "job:default/report"}, {"layer": "reports"}):
        reply = client.get("/graph/overview", query_string={**asked, "limit": 3})
        assert "report" in labels_of(reply)
        assert reply.get_json()["partial"] is None


def test_a_picture_in_lanes_has_one_for_each_layer_and_no_overlap(client: FlaskClient) -> None:
    asked = {"node": STAGED, "layout": "true", "group": "layer"}
    reply = client.get("/graph/lineage", query_string=asked).get_json()
    assert [lane["layer"] for lane in reply["lanes"]] == ["reports", None]
    lanes = {lane["layer"]: lane for lane in reply["lanes"]}
    assert lanes["reports"]["bottom"] < lanes[None]["top"]
    for node in reply["nodes"]:
        in_reports = node["label"] == "report"  # the table, and the job that writes it
        lane = lanes["reports" if in_reports else None]
        assert lane["top"] < node["y"] - node["height"] / 2
        assert node["y"] + node["height"] / 2 < lane["bottom"]
    boxes = [(n["x"], n["y"], n["width"], n["height"]) for n in reply["nodes"]]
    for number, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[:number]:
            beside = abs(x - x2) * 2 >= width + width2
            assert beside or abs(y - y2) * 2 >= height + height2
    plain = client.get("/graph/lineage", query_string=asked | {"layout": "false"}).get_json()
    assert "lanes" not in plain
    assert client.get("/graph/overview?group=colour").status_code == 400


def test_a_picture_can_run_down(client: FlaskClient) -> None:
    for path in ("/graph/overview?", f"/graph/lineage?depth=3&node={STAGED}&"):
        drawn = client.get(f"{path}layout=true&flow=down").get_json()
        places = {node["id"]: node for node in drawn["nodes"]}
        assert len(drawn["edges"]) >= 4
        for edge in drawn["edges"]:
            assert places[edge["from"]]["y"] < places[edge["to"]]["y"], edge
        assert client.get(f"{path}layout=true").get_json()["nodes"] != drawn["nodes"]


def test_a_picture_flows_as_it_is_read_best_in_a_window(client: FlaskClient) -> None:
    path = f"/graph/lineage?depth=3&node={STAGED}&layout=true"
    for flow, window in (("right", "2000x300"), ("down", "300x2000")):
        fitted = client.get(f"{path}&flow={window}").get_json()
        assert fitted["flow"] == flow
        chosen = client.get(f"{path}&flow={flow}").get_json()
        assert {node["id"] for node in fitted["nodes"]} == {node["id"] for node in chosen["nodes"]}
        places = {node["id"]: node for node in fitted["nodes"]}
        axis = "y" if flow == "down" else "x"
        for edge in fitted["edges"]:
            assert places[edge["from"]][axis] < places[edge["to"]][axis], edge
    beside = client.get(f"{path}&columns=true&flow=300x2000").get_json()
    assert beside["flow"] == "right", "columns have edges from side to side"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/graph/overview?flow=down", "flow"),
        ("/graph/overview?flow=0x500&layout=true", "flow"),
        ("/graph/overview?flow=up&layout=true", "flow"),
        ("/graph/overview?flow=down&layout=true&group=layer", "flow"),
        (f"/graph/lineage?node={STAGED}&flow=down&layout=true&columns=true", "flow"),
    ],
)
def test_a_picture_that_cannot_run_down_is_refused(
    client: FlaskClient, path: str, field: str
) -> None:
    reply = client.get(path)
    assert reply.status_code == 400, reply.text
    assert list(reply.get_json()["errors"]) == [field]


def test_a_picture_around_a_column_cannot_run_down(client: FlaskClient) -> None:
    drawn = client.get(f"/graph/lineage?node={STAGED}&columns=true").get_json()
    column = next(node["id"] for node in drawn["nodes"] if node["kind"] == "column")
    reply = client.get(f"/graph/lineage?node={column}&flow=down&layout=true")
    assert reply.status_code == 400, reply.text
    assert "flow" in str(reply.get_json()["errors"]["node"])


def test_a_drawn_job_has_the_producer_of_its_newest_run(client: FlaskClient) -> None:
    nodes = client.get("/graph/overview").get_json()["nodes"]
    producers = {node["name"]: node["producer"] for node in nodes if node["kind"] == "job"}
    pages = {
        n["name"]: client.get(f"/graph/jobs/{n['id']}").get_json()["producer"]
        for n in nodes
        if n["kind"] == "job"
    }
    assert producers == pages
    assert all(producers.values())
