"""A pattern and its files on their pages, in histories, in the overview and on the map."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from graph_model.answers.dataset_writes import LOCATIONS_LISTED
from tests.e2e.answers.test_reading_jobs import dataset, edges_of, get, run, table
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, lineage_event, small_headwater

NOW = 1_772_400_000_000
PATTERN, FILE = "in/o_*.csv", "in/o_1.csv"


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    """Each job but the last writes one table from another one."""
    headwater = small_headwater()
    told = [
        run("land", "09:00:00", table("raw/o"), outputs=[table(FILE)]),
        run("other", "09:00:00", table("raw/c"), outputs=[table("in/c_1.csv")]),
        run("orders", "10:00:00", table(PATTERN), outputs=[table("orders")]),
        run("folder", "10:00:00", table("raw/f"), outputs=[table("many")]),
        run("board", "11:00:00", table(PATTERN)),
    ]
    headwater.accept(*map(lineage_event, told))
    headwater.project()
    yield client_of(headwater, NOW)
    headwater.close()


def names(neighbours: list[dict[str, dict[str, str]]]) -> set[str]:
    return {one["job"]["name"] for one in neighbours}


@pytest.mark.parametrize("place", [PATTERN, FILE])
def test_pages_of_a_pattern_and_its_file_have_the_same_writers_and_readers(
    client: FlaskClient, place: str
) -> None:
    page = get(client, f"/graph/datasets/{dataset(place)}")
    assert names(page["writers"]) == {"land"}
    assert names(page["readers"]) == {"orders", "board"}
    assert page["lastWrite"] == "2026-03-01T09:00:00.000Z"
    below = get(client, "/graph/impact", node=dataset(place))["items"]
    assert {one["label"] for one in below if one["kind"] == "job"} == names(page["readers"])


def test_the_history_of_a_pattern_has_the_writes_of_its_files(client: FlaskClient) -> None:
    found = get(client, f"/graph/datasets/{dataset(PATTERN)}/history")
    assert [(one["job"]["name"], one["location"]["id"]) for one in found["items"]] == [
        ("land", dataset(FILE))
    ]
    assert (found["total"], found["partial"]) == (1, None)
    (own,) = get(client, f"/graph/datasets/{dataset(FILE)}/history")["items"]
    assert own["location"] is None


def test_a_history_says_that_locations_are_left_out(headwater: SmallHeadwater) -> None:
    files = [table(f"in/o_{number}.csv") for number in range(LOCATIONS_LISTED + 1)]
    told = [run(f"land{n}", f"09:00:{n:02}", outputs=[one]) for n, one in enumerate(files)]
    headwater.accept(*map(lineage_event, [*told, run("board", "11:00:00", table(PATTERN))]))
    headwater.project()
    found = get(client_of(headwater, NOW), f"/graph/datasets/{dataset(PATTERN)}/history", limit=3)
    assert [one["at"][17:19] for one in found["items"]] == ["20", "19", "18"]
    assert found["partial"] == {"reason": "locations", "limit": LOCATIONS_LISTED}
    assert found["total"] == LOCATIONS_LISTED


def test_the_overview_leads_from_a_file_through_its_pattern(client: FlaskClient) -> None:
    drawn = edges_of(get(client, "/graph/overview"))
    assert {("land", PATTERN), ("land", "o_1.csv"), ("o_1.csv", "orders")} <= drawn
    assert ("c_1.csv", "orders") not in drawn
    of_job = edges_of(get(client, "/graph/overview", q="o_1.csv"))
    assert {("o_1.csv", "orders"), ("o_1.csv", "board")} <= of_job


def test_the_map_leads_from_a_file_through_its_pattern(client: FlaskClient) -> None:
    found = get(client, "/graph/map", by="place", within="s3://lake\nin")
    labels = {one["id"]: one["label"] for one in found["areas"]}
    flows = {(labels[one["source"]], labels[one["target"]]) for one in found["flows"]}
    assert {("raw", PATTERN), ("raw", "o_1.csv")} <= flows, flows
