"""A table that is given another name: its page, its last writer, and its sources."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from api.schemas.graph import reply_of
from graph_model.answers import dataset_writes
from graph_model.answers.dataset_writes import LastWriter
from graph_model.answers.sources import Sources
from graph_model.facts import RenameRow
from graph_model.stores.catalogue import Catalogue
from tests.e2e.answers.test_answers import DAY, START, job, labels_of, ran
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater, budget, lineage_event, small_headwater

HOUR = 3_600_000
_MADE_BY = {
    "_producer": "https://example.org/p",
    "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/LifecycleStateChangeDatasetFacet.json",
}


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, START + 9 * DAY)


def uri(table: str) -> str:
    return f"s3://lake/{table}"


def moving(former: str, current: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two plans of a rename that moves the data."""
    told = {"from": end(former, uri(former)), "to": end(current, uri(current))}
    write: dict[str, Any] = {"append": False, "extra": {"renamed": told}}
    moved = job("swap", uri(current), number, source=uri(former), **write)
    emptied = without_query(job("swap", uri(former), number + 1, **write))
    return moved, emptied


def without_query(body: dict[str, Any]) -> dict[str, Any]:
    body["operations"] |= {"reads": [], "other": []}
    body["operations"]["write"] |= {"childIds": [], "name": "AlterTableRenameCommand"}
    return body


def staying(former: str, current: str, place: str, number: int) -> dict[str, Any]:
    """The plan of a rename of a table with a LOCATION."""
    told = {"from": end(former, place), "to": end(current, place)}
    called = {"table": {"identifier": {"table": current, "database": "db"}}}
    return without_query(job("rename", place, number, extra={"renamed": told}, params=called))


def end(table: str, place: str) -> dict[str, str]:
    return {"source": place, "table": table, "database": "db"}


def move(headwater: SmallHeadwater, former: str, current: str, at: int, number: int) -> None:
    for body in moving(former, current, number):
        ran(headwater, copy.deepcopy(body), at)


def page(client: FlaskClient, table: str, at: int | None = None) -> Any:
    listed = client.get(f"/graph/datasets?q=lake/{table}").get_json()["items"]
    (found,) = (one for one in listed if one["uri"] == uri(table))
    query = {} if at is None else {"at": at}
    return client.get(f"/graph/datasets/{found['id']}", query_string=query).get_json()


def last_writer(client: FlaskClient, table: str, **query: Any) -> Any:
    path = f"/graph/datasets/{page(client, table)['id']}/last-writer"
    reply = client.get(path, query_string=query)
    assert reply.status_code == 200, reply.get_json()
    assert not reply_of(LastWriter)().validate(reply.get_json())
    return reply.get_json()


def ends_of(reply: Any) -> list[tuple[str, str]]:
    return [(one["former"]["uri"], one["current"]["uri"]) for one in reply["renames"]]


def test_both_names_of_a_table_that_moved_say_where_the_other_is(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", uri("green"), 1), START)
    move(headwater, "green", "blue", START + HOUR, 10)
    former, current = page(client, "green"), page(client, "blue")
    assert former["renamedTo"]["dataset"]["uri"] == uri("blue")
    assert former["renamedFrom"] is None
    assert current["renamedFrom"]["dataset"]["uri"] == uri("green")
    assert current["renamedFrom"]["at"] == former["renamedTo"]["at"]
    assert current["renamedTo"] is None
    before = page(client, "green", START)
    assert (before["renamedFrom"], before["renamedTo"]) == (None, None)


def test_the_job_that_wrote_a_table_under_its_former_names_wrote_it_last(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", uri("a"), 1), START)
    move(headwater, "a", "b", START + HOUR, 10)
    move(headwater, "b", "c", START + 2 * HOUR, 20)
    found = last_writer(client, "c")
    assert found["execution"]["job"]["name"] == "load"
    assert ends_of(found) == [(uri("b"), uri("c")), (uri("a"), uri("b"))]
    ran(headwater, job("later", uri("c"), 2), START + 3 * HOUR)
    found = last_writer(client, "c")
    assert (found["execution"]["job"]["name"], found["renames"]) == ("later", [])


class Snapshots:
    """Of a catalogue that answers in a snapshot alone; ``asked``: whose renames each asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.asked: list[list[str]] = []

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._catalogue.snapshot() as same:
            yield Snapshot(same, self.asked)


class Snapshot:
    def __init__(self, catalogue: Catalogue, asked: list[list[str]]) -> None:
        self._catalogue = catalogue
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalogue, name)

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        self._asked.append(sorted(datasets))
        return self._catalogue.renames_of(datasets, at)


def test_history_and_last_writer_ask_one_state_and_of_each_name_once(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", uri("a"), 1), START)
    move(headwater, "a", "b", START + HOUR, 10)
    move(headwater, "b", "c", START + 2 * HOUR, 20)
    ids = [page(client, table)["id"] for table in ("c", "b", "a")]
    catalogue = Snapshots(headwater.catalogue)
    sources = Sources(headwater.graph, cast(Catalogue, catalogue), headwater.journal)
    found = dataset_writes.history(sources, ids[0], limit=10, cursor=None, at=None)
    assert [view.job.name for view in found.items if view.job][-1] == "load"
    assert catalogue.asked == [[one] for one in ids]
    wrote = dataset_writes.last_writer(sources, ids[0], partition=None, at=None)
    assert len(wrote.renames) == 2


def test_the_last_writer_of_a_partition_is_found_under_the_former_name(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", uri("a/dt=d1"), 1), START)
    ran(headwater, job("second", uri("a/dt=d2"), 2), START + 1)
    move(headwater, "a", "b", START + HOUR, 10)
    assert last_writer(client, "b", partition="dt=d1")["execution"]["job"]["name"] == "first"
    assert last_writer(client, "b", partition="dt=d2")["execution"]["job"]["name"] == "second"


def history(client: FlaskClient, table: str, limit: int = 2) -> list[tuple[str, str | None]]:
    """(job, former name) of all entries, newest first, in pages."""
    path, found, cursor = f"/graph/datasets/{page(client, table)['id']}/history", [], None
    while True:
        query = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        reply = client.get(path, query_string=query).get_json()
        found += [(i["job"]["name"], (i["formerName"] or {}).get("uri")) for i in reply["items"]]
        if (cursor := reply["next"]) is None:
            assert reply["total"] == len(found)
            return found
        assert len(reply["items"]) == limit


def test_the_history_of_a_table_holds_the_writes_under_its_former_names(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("first", uri("a"), 1), START)
    ran(headwater, job("own", uri("c"), 3), START + 1)  # of another table of that name
    move(headwater, "a", "b", START + HOUR, 10)
    ran(headwater, job("second", uri("b"), 2), START + HOUR + 1)
    ran(headwater, job("another", uri("a"), 4), START + HOUR + 2)  # made again: another table
    move(headwater, "b", "c", START + 2 * HOUR, 20)
    expected = [("swap", None), ("second", uri("b")), ("swap", uri("b")), ("own", None),
                ("first", uri("a"))]  # fmt: skip
    assert history(client, "c") == expected
    assert history(client, "c", 1) == expected
    assert history(client, "c", 100) == expected
    assert history(client, "a") == [("another", None), ("swap", None), ("first", None)]


def test_the_history_leaves_out_writes_to_a_former_name_before_it_was_the_tables(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    """The nightly swap: the load of the night before went on to the old table."""
    for night in range(2):
        at = START + night * DAY
        ran(headwater, job(f"load{night}", uri("green"), 1 + night), at)
        if night:
            move(headwater, "blue", "old", at + HOUR, 30)
        move(headwater, "green", "blue", at + 2 * HOUR, 10)
    assert [one for one in history(client, "blue") if one[1]] == [("load1", uri("green"))]
    assert [one for one in history(client, "old") if one[1]] == [
        ("swap", uri("blue")), ("load0", uri("green")),
    ]  # fmt: skip


def test_a_write_that_failed_before_the_rename_is_told_with_the_last_writer(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    load = job("load", uri("a"), 1)
    ran(headwater, load, START)
    ran(headwater, load, START + 1, error="disk full")
    move(headwater, "a", "b", START + HOUR, 10)
    found = last_writer(client, "b")
    assert found["execution"]["job"]["name"] == "load"
    assert [one["error"] for one in found["failedSince"]] == ["disk full"]


def test_a_table_made_from_nothing_known_was_last_written_by_its_rename(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    move(headwater, "a", "b", START, 10)
    found = last_writer(client, "b")
    assert (found["execution"]["job"]["name"], found["renames"]) == ("swap", [])


def test_no_answer_names_a_hidden_former_dataset(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", uri("green"), 1), START)
    move(headwater, "green", "blue", START + HOUR, 10)
    order = {"command": "hide", "node": page(client, "green")["id"]}
    assert len(client.post("/commands", json=order).get_json()["positions"]) == 1
    headwater.project()
    assert page(client, "blue")["renamedFrom"] is None
    assert history(client, "blue") == [("swap", None)]
    found = last_writer(client, "blue")
    assert (found["execution"]["job"]["name"], found["renames"]) == ("swap", [])


def test_a_table_that_stayed_in_its_place_is_called_by_its_new_name_alone(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    place = uri("place")
    called = {"table": {"identifier": {"table": "old", "database": "db"}}}
    ran(headwater, job("load", place, 1, params=called), START)
    assert page(client, "place")["names"] == ["spark_catalog/db.old"]
    ran(headwater, staying("old", "new", place, 10), START + HOUR)
    found = page(client, "place")
    assert found["names"] == ["spark_catalog/db.new"]
    assert found["renamedFrom"]["dataset"]["uri"] == "spark_catalog/db.old"
    assert last_writer(client, "place")["execution"]["job"]["name"] == "load"
    assert page(client, "place", START)["names"] == ["spark_catalog/db.old"]


def test_files_that_are_registered_as_a_table_later_are_one_dataset(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    called = {"table": {"identifier": {"table": "registered", "database": "db"}}}
    ran(headwater, job("load", uri("place"), 1), START)
    made = without_query(job("register", "s3a://lake/place/", 2, append=False, params=called))
    made["operations"]["write"]["name"] = "CreateTable"
    ran(headwater, made, START + 1)
    ran(headwater, job("more", uri("place"), 3, append=True, params=called), START + 2)
    ran(headwater, job("report", uri("out"), 4, source=uri("place")), START + 3)
    assert page(client, "place")["names"] == ["spark_catalog/db.registered"]
    query = {"node": f"dataset:{uri('out')}", "direction": "upstream", "depth": 9}
    found = labels_of(client.get("/graph/lineage", query_string=query))
    assert {"load", "more", "report"} <= set(found), "the registration is no write: it hides none"
    assert "register" not in found


def test_a_rename_that_openlineage_tells_is_looked_through(
    headwater: SmallHeadwater, client: FlaskClient
) -> None:
    ran(headwater, job("load", uri("a"), 1), START)
    former = {"namespace": "s3://lake", "name": "a"}
    change = {"lifecycleStateChange": "RENAME", "previousIdentifier": former} | _MADE_BY
    facets = {"lifecycleStateChange": change}
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2023-11-15T00:00:00.000Z",
        "run": {"runId": "0b9a2f2e-6a5c-4a52-9e1a-0f5c0b1c2d3e"},
        "job": {"namespace": "etl", "name": "swap"},
        "inputs": [],
        "outputs": [{"namespace": "s3://lake", "name": "b", "facets": facets}],
        "producer": "https://example.org/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    headwater.accept(lineage_event(event))
    headwater.project()
    found = last_writer(client, "b")
    assert found["execution"]["job"]["name"] == "load"
    assert ends_of(found) == [(uri("a"), uri("b"))]
    assert page(client, "a")["renamedTo"]["dataset"]["uri"] == uri("b")
    assert sources_of(client, "a", "in") == frozenset(), "it was emptied"
    assert sources_of(client, "b", "in") == {"in.csv"}


@dataclass
class Lake:
    """The content of each table, by brute force: the sources of its rows, and its last writer."""

    holds: dict[str, frozenset[str]] = field(default_factory=dict)
    writer: dict[str, str] = field(default_factory=dict)

    def write(self, table: str, source: str, name: str, *, append: bool) -> None:
        before = self.holds.get(table, frozenset()) if append else frozenset()
        self.holds[table] = before | {source}
        self.writer[table] = name

    def rename(self, former: str, current: str) -> None:
        self.holds[current] = self.holds.pop(former)
        self.writer[current] = self.writer.pop(former)


def sources_of(client: FlaskClient, table: str, prefix: str = "raw") -> frozenset[str]:
    query = {"node": f"dataset:{uri(table)}", "direction": "upstream", "depth": 50}
    reply = client.get("/graph/lineage", query_string=query)
    assert reply.get_json()["folded"] is False
    return frozenset(label for label in labels_of(reply) if label.startswith(prefix))


@budget(8)
@given(st.integers(0, 2**32))
def test_a_nightly_swap_of_two_tables_leads_each_to_the_rows_that_it_holds(seed: int) -> None:
    random, lake, headwater = Random(seed), Lake(), small_headwater()
    client, at = client_of(headwater, START), START
    try:
        for night in range(random.randint(1, 4)):
            for number in range(random.randint(0, 2) or int("green" not in lake.holds)):
                name, append = f"load{night}{number}", random.random() < 0.5
                body = job(name, uri("green"), 100 + 10 * night + number, source=uri(f"raw{name}"))
                body["operations"]["write"]["append"] = append
                at += random.randint(1, HOUR)
                ran(headwater, body, at)
                lake.write("green", f"raw{name}", name, append=append)
            for number, (former, current) in enumerate((("blue", "old"), ("green", "blue"))):
                if former in lake.holds:
                    at += random.randint(1, HOUR)
                    move(headwater, former, current, at, 10 + 2 * number)
                    lake.rename(former, current)
        for table, held in lake.holds.items():
            assert sources_of(client, table) == held
            assert last_writer(client, table)["execution"]["job"]["name"] == lake.writer[table]
    finally:
        headwater.close()
