"""Names of datasets, jobs and columns survive the way in and out, whatever they are made of."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.facts import Vertex
from graph_model.values import storable
from tests.e2e.producer_service import PLAN_ID, a_plan, an_event
from tests.fuzz.budget import examples
from tests.fuzz.mutations import AWKWARD_TEXTS
from tests.fuzz.service import EVENTS, PLANS, FuzzedHeadwater, Ledger, fuzzed_headwater

pytestmark = pytest.mark.fuzz

EVERYTHING = Ledger()
LONGEST_REFERENCE = 20_000  # characters of a node reference; longer names are addressed by id
LONGEST_SEARCH = 200

_pieces = st.one_of(
    st.sampled_from(AWKWARD_TEXTS),
    st.text(st.characters(codec=None), min_size=1, max_size=6),
    st.sampled_from(list("aA1/.#@:%`'\"?&~ ")),
)
texts = st.lists(_pieces, min_size=1, max_size=4).map("".join)
uris = st.builds(
    "{}{}".format,
    st.sampled_from(
        ["", "file:/", "s3://b/", "jdbc:postgresql://h/d:", "kafka:", "x:", "dbfs:/", "http://h/"]
    ),
    texts,
)


@examples(smoke=5)
@given(source=uris, target=uris, job=texts, column=texts, spelling=texts)
@example("s3://b/a#b", "file:/x", "a/b", "a.b", "a#b")
@example("file:/a@b", "file:/@b", "/", "`", "``")
@example("x:" + "é" * 100_000, "file:/" + "y" * 100_000, "j" * 100_000, "c" * 100_000, "d.e`")
@example("file:/a%23b", "file:/a%2523", "100%", "50%25", "%2E")
@example("file:/a\x00b", "kafka:\ud800", "j\x00", "c\x00", "\udfff")
def test_every_name_is_found_again(
    source: str, target: str, job: str, column: str, spelling: str
) -> None:
    with fuzzed_headwater() as headwater:
        plan = named_plan(source, target, job, (column, spelling))
        if headwater.post(PLANS, plan).status_code != 201:
            assert not source.strip() or not target.strip()
            return
        assert headwater.post(EVENTS, [an_event()]).status_code == 201
        EVERYTHING.check(headwater)
        for dataset in headwater.vertices(labels.DATASET):
            check_dataset(headwater, dataset)
        for vertex in headwater.vertices(labels.JOB):
            check_job(headwater, vertex)
        for vertex in headwater.vertices(labels.COLUMN):
            check_column(headwater, vertex)
        check_plan(headwater, (column, spelling))


def named_plan(source: str, target: str, job: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """Copies columns of these names from one dataset to another."""
    plan = a_plan(name=job)
    plan["operations"]["write"]["outputSource"] = target
    plan["operations"]["reads"][0].update(
        inputSources=[source], output=[f"attr-{i}" for i in range(len(columns))]
    )
    plan["attributes"] = [{"id": f"attr-{i}", "name": name} for i, name in enumerate(columns)]
    return plan


def check_dataset(headwater: FuzzedHeadwater, vertex: Vertex) -> None:
    values = dict(vertex.properties)
    uri = str(values["uri"])
    page = headwater.get(f"/graph/datasets/{vertex.id}")
    assert page["uri"] == uri
    check_reference(headwater, vertex.id, [f"dataset:{uri}", f"dataset:{quote(uri, safe='')}"])
    check_search(headwater, vertex.id, uri)


def check_job(headwater: FuzzedHeadwater, vertex: Vertex) -> None:
    values = dict(vertex.properties)
    namespace, name = storable(str(values["namespace"])), storable(str(values["name"]))
    page = headwater.get(f"/graph/jobs/{vertex.id}")
    assert (page["namespace"], page["name"]) == (namespace, name)
    encoded = f"job:{quote(namespace, safe='')}/{quote(name, safe='')}"
    check_reference(headwater, vertex.id, [f"job:{namespace}/{name}", encoded])
    check_search(headwater, vertex.id, name)


def check_column(headwater: FuzzedHeadwater, vertex: Vertex) -> None:
    values = dict(vertex.properties)
    uri, path = str(values["dataset"]), str(values["path"])
    encoded = f"column:{quote(uri, safe='')}#{quote(path, safe='')}"
    check_reference(headwater, vertex.id, [encoded])
    if len(path) <= LONGEST_REFERENCE and path.strip():
        reply = headwater.get("/graph/column-lineage", dataset=values["dataset_id"], column=path)
        assert reply["focus"] == vertex.id
    check_search(headwater, vertex.id, path)


def check_reference(headwater: FuzzedHeadwater, identifier: str, references: list[str]) -> None:
    assert headwater.get("/graph/lineage", node=identifier)["focus"] == identifier
    for reference in references:
        if len(reference) <= LONGEST_REFERENCE:
            assert headwater.get("/graph/lineage", node=reference)["focus"] == identifier, reference


def check_search(headwater: FuzzedHeadwater, identifier: str, name: str) -> None:
    """By its name, or by the beginning of a long one."""
    text = name[:LONGEST_SEARCH]
    if text.strip():
        result = headwater.get("/graph/search", q=text, limit=100)
        assert identifier in [item["id"] for item in result["items"]], (name[:80], result)


def check_plan(headwater: FuzzedHeadwater, columns: tuple[str, ...]) -> None:
    """The plan's page spells the columns as they were sent."""
    page = headwater.get(f"/graph/plans/{PLAN_ID}", document="true", layout="true")
    sent = [attribute["name"] for attribute in page["document"]["attributes"]]
    assert len(sent) == len(columns)
    assert page["document"]["operations"]["reads"][0]["output"] == ["attr-0", "attr-1"]
