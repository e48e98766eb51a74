"""Search by what people remember: owners, tags, descriptions, comments, errors, ids, paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from graph_model.answers.search import KINDS
from tests.e2e.answers.test_reading_jobs import LAKE, Json, dataset, get, job, run, table
from tests.e2e.small_client import client_of, command
from tests.projections import SmallHeadwater, lineage_event, small_headwater

NOW = 1_772_400_000_000  # 2026-03-01T21:20:00Z


def described() -> Json:
    made = table("orders", "id")
    made["facets"]["schema"]["fields"].append(
        {"name": "amount", "type": "double", "description": "gross, in euros"}
    )
    made["facets"]["schema"]["fields"].append({"name": "repart", "type": "int"})
    made["facets"] |= {
        "ownership": {"owners": [{"name": "team:sales", "type": "OWNER"}]},
        "documentation": {"description": "One row for each sale in a shop or online."},
        "tags": {"tags": [{"key": "tier", "value": "gold", "source": "USER"}]},
    }
    return made


def runs() -> Iterator[Json]:
    error = {"message": "java.io.IOException: No space left on device", "programmingLanguage": "J"}
    failed = run("report", "12:00:00", table("orders"), kind="FAIL", outputs=[table("totals")])
    failed["run"]["facets"] = {"errorMessage": error}
    yield run(
        "load", "10:00:00", table("raw", "id"), outputs=[described()],
        job_facets={"documentation": {"description": "Copies the till's journal."}},
    )  # fmt: skip
    yield failed


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    headwater = small_headwater()
    yield filled(headwater)
    headwater.close()


def filled(headwater: SmallHeadwater) -> FlaskClient:
    headwater.accept(*map(lineage_event, runs()))
    headwater.project()
    made = client_of(headwater, NOW)
    node = {"node": f"dataset:{LAKE}/totals", "owner": "controlling", "note": "audited monthly"}
    assert made.put("/classifications/finance", json=node).status_code == 200
    headwater.project()
    return made


def found(client: FlaskClient, words: str, kind: str = "dataset,job,column,run") -> list[Any]:
    items = get(client, "/graph/search", q=words, kind=kind)["items"]
    return [(item["id"], (item["matched"] or {}).get("what")) for item in items]


@pytest.mark.parametrize(
    ("words", "node", "what"),
    [
        ("team:sales", dataset("orders"), "owner"),
        ("SALES orders", dataset("orders"), "owner"),
        ("gold", dataset("orders"), "tag"),
        ("sale shop", dataset("orders"), "description"),
        ("till's", job("load"), "description"),
        ("controlling", dataset("totals"), "owner"),
        ("audited", dataset("totals"), "note"),
        ("finance", dataset("totals"), "tag"),
        ("s3a://lake/orders/day=2026-03-01/part-00000.parquet", dataset("orders"), "path"),
        ("lake/orders/day=2026-03-01/part-00000.parquet", dataset("orders"), "path"),
    ],
)
def test_a_node_is_found_by_what_people_say_about_it(
    client: FlaskClient, words: str, node: str, what: str
) -> None:
    assert found(client, words)[0] == (node, what)


@pytest.mark.parametrize("words", ["orders.amount", "orders amount", "lake orders AMO"])
def test_a_column_is_found_by_its_table_and_its_name(client: FlaskClient, words: str) -> None:
    items = get(client, "/graph/search", q=words)["items"]
    assert [(item["kind"], item["label"], item["detail"]) for item in items] == [
        ("column", "amount", f"{LAKE}/orders".removeprefix("dataset:"))
    ]


def test_the_comment_of_a_column_finds_the_column_with_the_comment(client: FlaskClient) -> None:
    (item,) = get(client, "/graph/search", q="gross euros")["items"]
    assert (item["kind"], item["label"]) == ("column", "amount")
    assert item["matched"] == {"what": "comment", "text": "gross, in euros"}
    assert get(client, "/graph/search", q="gross", kind="dataset,job")["total"] == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [("no space left", "error"), ("report-12:00:00", "id"), ("space report", "error")],
)
def test_a_run_is_found_by_its_error_or_its_id(client: FlaskClient, words: str, what: str) -> None:
    items = get(client, "/graph/search", q=words, kind="run")["items"]
    assert [(item["label"], item["node"], item["matched"]["what"]) for item in items] == [
        ("report", job("report"), what)
    ]
    get(client, f"/graph/runs/{items[0]['id']}")


def test_a_job_of_that_name_is_no_list_of_its_runs(client: FlaskClient) -> None:
    assert found(client, "report", "run") == []
    assert found(client, "report") == [(job("report"), None)]


def test_words_that_nothing_holds_are_set_aside_and_those_of_a_text_are_not(
    client: FlaskClient,
) -> None:
    reply = get(client, "/graph/search", q="nowhere controlling")
    assert [item["label"] for item in reply["items"]] == ["totals"]
    assert reply["setAside"] == ["nowhere"]
    assert get(client, "/graph/search", q="team:sales totals")["setAside"] == []


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("orders", 1), ("report", 1), ("totals", 1), ("ammount", 1), ("orders amount", 1),
        ("raw.id", 1), (f"{LAKE}/orders/day=2026-03-01/part-0.parquet", 1), ("sales unheard", 1),
        ("No space", 1), ("nothing of this", 0),
    ],
)  # fmt: skip
def test_a_search_for_all_kinds_finds_what_one_for_each_does(
    client: FlaskClient, words: str, most: int
) -> None:
    """The page of results asks for each kind, the box for all: ``report`` is the name of a job, so
    that no column is looked for with a typing error.
    """
    whole = get(client, "/graph/search", q=words, kind="dataset,job,column,run")
    each = [get(client, "/graph/search", q=words, kind=kind) for kind in KINDS]
    assert sum(one["total"] for one in each) == whole["total"] >= most
    assert {item["id"] for one in each for item in one["items"]} == {
        item["id"] for item in whole["items"]
    }
    assert [one["setAside"] for one in each] == [whole["setAside"]] * len(each)


def test_hidden_nodes_are_found_by_none_of_it(headwater: SmallHeadwater) -> None:
    client = filled(headwater)
    code, _ = command(client, f"hide dataset:{LAKE}/orders")
    assert code == 0
    headwater.project()
    for words in ("team:sales", "gold", "gross", f"{LAKE}/orders/part-0.parquet"):
        assert get(client, "/graph/search", q=words)["items"] == []
    assert get(client, "/graph/search", q="team:sales totals")["setAside"] == ["team:sales"]
