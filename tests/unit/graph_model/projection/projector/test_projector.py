"""Any order, any repetition: the same graph and catalogue, element by element."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.errors import GraphRejected, GraphUnavailable
from graph_model.facts import ArrivalRow, ExecutionRow, Facts, merge
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.producers.spline.gathering import gather, read_event_document, read_plan_document
from graph_model.projection.projector.readiness import Waiters
from graph_model.projection.run_window import RunWindow
from graph_model.stores.documents import DocumentState, Receipt, Submission
from tests.captures import load, names
from tests.projections import (
    SmallHeadwater,
    budget,
    elements_of,
    project,
    small_headwater,
    submission,
)
from tests.spline_facts import facts_of_plan
from tests.waiting import eventually

PLAN_ID = "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10"


def a_plan(**changes: Any) -> dict[str, Any]:
    """Reads a CSV, sums a column, writes parquet."""
    plan: dict[str, Any] = {
        "id": PLAN_ID,
        "name": "demo",
        "operations": {
            "write": {
                "id": "op-0", "name": "InsertIntoHadoopFsRelationCommand",
                "outputSource": "file:/data/out", "append": False, "childIds": ["op-1"],
            },
            "reads": [
                {"id": "op-2", "name": "LogicalRelation", "inputSources": ["file:/data/in.csv"],
                 "output": ["a", "b"]}
            ],
            "other": [
                {"id": "op-1", "name": "Aggregate", "childIds": ["op-2"], "output": ["b", "t"]}
            ],
        },
        "attributes": [
            {"id": "a", "name": "amount"},
            {"id": "b", "name": "branch"},
            {"id": "t", "name": "total", "childRefs": [{"__exprId": "e0"}]},
        ],
        "expressions": {
            "functions": [
                {"id": "e0", "name": "total", "childRefs": [{"__exprId": "e1"}],
                 "extra": {"_typeHint": "expr.Alias", "simpleClassName": "Alias"}},
                {"id": "e1", "name": "sum", "childRefs": [{"__attrId": "a"}],
                 "extra": {"_typeHint": "expr.Generic", "simpleClassName": "aggregate.Sum"}},
            ]
        },
        "systemInfo": {"name": "spark", "version": "3.5.1"},
        "agentInfo": {"name": "spline", "version": "2.2.0"},
        "extraInfo": {"appName": "demo"},
    }  # fmt: skip
    return plan | changes


def an_event(at: int = 1_700_000_000_000, **changes: Any) -> dict[str, Any]:
    return {
        "planId": PLAN_ID, "timestamp": at, "durationNs": 5_000_000,
        "extra": {"appId": "app-1", "readMetrics": {}, "writeMetrics": {"numOutputRows": 3}},
    } | changes  # fmt: skip


def a_run(at: int, **changes: Any) -> dict[str, Any]:
    """An event of an application that executed one plan once."""
    alone = an_event(at, **changes)
    return alone | {"extra": alone["extra"] | {"appId": f"app-{at}"}}


def plan(body: dict[str, Any], **options: Any) -> Submission:
    return submission(PLAN_KIND, body, **options)


def event(body: dict[str, Any], **options: Any) -> Submission:
    return submission(EVENT_KIND, body, **options)


def writing_to(uri: str) -> dict[str, Any]:
    body = copy.deepcopy(a_plan())
    body["operations"]["write"]["outputSource"] = uri
    return body


def every_kind_of_trouble() -> list[Submission]:
    """Runs, a failure, another plan, two bodies and versions of one plan id, scopes, strays."""
    other = copy.deepcopy(a_plan(id="11111111-2222-5333-8444-555555555555", name="other"))
    other["operations"]["write"]["append"] = True
    stray = an_event(planId="99999999-2222-5333-8444-555555555555")
    scoped = copy.deepcopy(a_plan(id="22222222-2222-5333-8444-555555555555"))
    return [
        plan(a_plan()),
        plan(writing_to("file:/data/elsewhere")),
        plan(writing_to("file:/data/older"), api_version="1.1"),
        event(an_event()),
        event(an_event(1_700_000_000_001)),
        event(an_event(1_700_086_400_000, error="boom", durationNs=None)),
        plan(other),
        event(an_event(planId=other["id"])),
        event(an_event(1_700_000_500_000, planId=other["id"])),
        event(stray),
        plan(scoped, scope="laptop"),
        event(an_event(planId=scoped["id"])),
    ]


TROUBLE = every_kind_of_trouble()


@pytest.fixture(scope="module")
def expected() -> tuple[object, object]:
    return elements_of(TROUBLE, stepwise=False)


@given(st.randoms(use_true_random=False), st.booleans(), st.data())
@budget(25)
def test_any_order_and_repetition_gives_the_same_projection(
    expected: tuple[object, object], rng: random.Random, stepwise: bool, data: st.DataObject
) -> None:
    repeated = data.draw(st.lists(st.sampled_from(range(len(TROUBLE))), max_size=6))
    documents = TROUBLE + [TROUBLE[i] for i in repeated]
    rng.shuffle(documents)
    assert elements_of(documents, stepwise=stepwise) == expected


@given(st.data())
@budget(25)
def test_a_withdrawal_leaves_the_result_of_a_projection_from_nothing(data: st.DataObject) -> None:
    """Whatever arrived step by step: the same as if it had all been there at once."""
    documents = data.draw(st.permutations(TROUBLE))[: data.draw(st.integers(1, len(TROUBLE)))]
    assert elements_of(list(documents), stepwise=True) == elements_of(
        sorted(documents, key=lambda s: s.content_hash), stepwise=False
    )


def captured(name: str) -> list[Submission]:
    """The documents of a capture, of every API version."""
    result: list[Submission] = []
    for exchange in load(name):
        version = {"v1.1": "1.1", "v1.2": "1.2"}.get(exchange.content_type[-9:-5], "1")
        if exchange.kind == "plan":
            result.append(plan(exchange.document, api_version=version))
        elif exchange.kind == "event":
            result += [event(item, api_version=version) for item in exchange.document]
    return result


ALL_CAPTURED = [document for name in names() for document in captured(name)]


def test_the_captured_traffic_is_projected_whole() -> None:
    headwater = project(ALL_CAPTURED, stepwise=False)
    summary = headwater.journal.summary()
    assert summary.failed == 0, headwater.journal.entries(state=DocumentState.FAILED).items[:3]
    assert summary.pending == 0
    assert summary.projected >= 200
    headwater.close()


def test_the_captured_traffic_in_any_order_gives_the_same_projection() -> None:
    backwards = elements_of(list(reversed(ALL_CAPTURED)), stepwise=False)
    shuffled = list(ALL_CAPTURED)
    random.Random(7).shuffle(shuffled)
    assert elements_of(shuffled, stepwise=False) == backwards


def test_no_two_facts_share_an_id_and_differ() -> None:
    """merge raises FactConflict; the union over all subjects must not."""
    headwater = project(ALL_CAPTURED, stepwise=False, runs=RunWindow(1_000))
    parts: list[Facts] = []
    for document in headwater.journal.entries(kind=PLAN_KIND, limit=1000).items:
        gathered = gather(headwater.journal.documents_of(document.subject_key))
        parts += [
            facts_of_plan(read_plan_document(stored), tuple(map(read_event_document, events)))
            for stored, events in gathered.chosen.values()
        ]
    facts = merge(parts)
    vertices, rows = headwater.elements()
    written = {v.id for v in facts.vertices} | {e.id for e in facts.edges}
    assert {v.id for v in vertices} == written
    said = [row for row in rows if not isinstance(row, ArrivalRow)]  # of no document's content
    assert len(said) == len(facts.rows)
    headwater.close()


def rows_of(headwater: SmallHeadwater, kind: type) -> list[Any]:
    return [row for row in headwater.catalogue.scan() if isinstance(row, kind)]


def test_an_event_before_its_plan_waits_and_is_projected_when_it_comes() -> None:
    headwater = small_headwater()
    (position,) = headwater.accept(event(an_event()))
    headwater.project()
    assert headwater.journal.states([position]) == {position: DocumentState.WAITING}
    headwater.accept(plan(a_plan()))
    headwater.project()
    assert headwater.journal.states([position]) == {position: DocumentState.PROJECTED}
    assert len(rows_of(headwater, ExecutionRow)) == 1
    headwater.close()


def test_a_label_scope_takes_the_event_that_came_without_one() -> None:
    headwater = project([event(an_event()), plan(a_plan(), scope="laptop")], stepwise=True)
    (row,) = rows_of(headwater, ExecutionRow)
    assert row.scope == "laptop"
    headwater.close()


def test_an_event_with_the_scope_of_its_key_goes_where_a_label_put_its_plan() -> None:
    labelled = plan(a_plan(labels={"captureScope": ["team-a"]}), scope="team-a")
    headwater = project([event(an_event(), scope="emr-prod"), labelled], stepwise=True)
    (row,) = rows_of(headwater, ExecutionRow)
    assert row.scope == "team-a"
    headwater.close()


def test_an_event_that_names_a_scope_itself_waits_for_the_plan_of_that_scope() -> None:
    named = event(an_event(labels={"captureScope": ["team-b"]}), scope="team-b")
    headwater = project([plan(a_plan(), scope="team-a"), named], stepwise=True)
    assert rows_of(headwater, ExecutionRow) == []
    assert headwater.journal.summary().waiting == 1
    headwater.close()


def test_an_event_moves_to_the_plan_of_its_key_when_that_comes() -> None:
    ours = [plan(a_plan(), scope="ours"), event(an_event(), scope="ours")]
    theirs = plan(a_plan(), scope="theirs")
    headwater = project([theirs, *reversed(ours)], stepwise=True)
    assert [row.scope for row in rows_of(headwater, ExecutionRow)] == ["ours"]
    headwater.close()


def test_an_event_that_two_scopes_could_claim_waits() -> None:
    headwater = project(
        [plan(a_plan(), scope="one"), plan(a_plan(), scope="two"), event(an_event())],
        stepwise=False,
    )
    assert rows_of(headwater, ExecutionRow) == []
    (waiting,) = headwater.journal.entries(state=DocumentState.WAITING).items
    assert "'one', 'two'" in (waiting.reason or "")
    headwater.close()


def test_the_highest_api_version_speaks_for_a_plan_id() -> None:
    headwater = project(
        [plan(writing_to("file:/data/old"), api_version="1.1"), plan(a_plan()), event(an_event())],
        stepwise=True,
    )
    targets = {row.uri for row in headwater.catalogue.datasets_by_uri("file:/data/out")}
    assert targets == {"file:/data/out"}
    assert headwater.catalogue.datasets_by_uri("file:/data/old") == ()
    headwater.close()


def test_the_hash_does_not_tell_when_documents_came() -> None:
    result = []
    for at in (0, 1_000):
        headwater = small_headwater()
        for item in (plan(a_plan()), event(an_event())):
            headwater.journal.accept((item,), Receipt(at, "", "test", "raw"))
        headwater.project()
        result.append((headwater.elements()[1], headwater.catalogue.digest()))
        headwater.close()
    (rows, digest), (later, same) = result
    assert rows != later
    assert digest == same


def test_rerunning_a_plan_adds_only_its_execution() -> None:
    headwater = project([plan(a_plan()), event(an_event())], stepwise=True)
    vertices_before, rows_before = headwater.elements()
    headwater.accept(event(an_event(1_700_000_003_000)))
    headwater.project()
    vertices, rows = headwater.elements()
    assert len(vertices) - len(vertices_before) == 2  # the execution, and run -performed-> it
    # The execution, the row that lists show for its event, and the time of its arrival.
    assert len(rows) - len(rows_before) == 3
    headwater.close()


def test_a_document_that_cannot_be_translated_is_set_aside_with_its_reason_and_blocks_nothing() -> (
    None
):
    headwater = small_headwater()
    broken = a_plan(id="33333333-2222-5333-8444-555555555555")
    del broken["operations"]["write"]
    headwater.accept(plan(broken), plan(a_plan()), event(an_event()))
    headwater.project()
    (failed,) = headwater.journal.entries(state=DocumentState.FAILED).items
    assert "operations.write" in (failed.reason or "")
    assert headwater.journal.summary().projected == 2
    headwater.close()


@given(st.permutations(range(3)), st.booleans())
@budget(12)
def test_a_plan_that_cannot_be_read_leaves_the_word_to_the_next_of_its_id(
    order: list[int], stepwise: bool
) -> None:
    readable = [plan(a_plan(), api_version="1.1"), event(an_event())]
    documents = [*readable, plan(a_plan(operations={"write": 7}))]
    headwater = project([documents[place] for place in order], stepwise=stepwise)
    assert headwater.elements() == elements_of(readable, stepwise=False)
    summary = headwater.journal.summary()
    assert (summary.projected, summary.failed) == (2, 1)
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass
    assert headwater.elements() == elements_of(readable, stepwise=False)
    headwater.close()


class FailingGraph:
    """Fails the n-th write, then works, like a lost connection."""

    def __init__(self, inner: Any, failures: int) -> None:
        self._inner = inner
        self._failures = failures

    def write(self, facts: Facts) -> None:
        if self._failures > 0:
            self._failures -= 1
            raise GraphUnavailable("away")
        self._inner.write(facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_graph_that_is_away_loses_nothing() -> None:
    headwater = small_headwater()
    headwater.project_through(FailingGraph(headwater.graph, 2))
    headwater.accept(plan(a_plan()), event(an_event()))
    for _ in range(2):
        with pytest.raises(GraphUnavailable):
            headwater.projector.project_pending()
    assert headwater.journal.summary().pending == 2
    headwater.project()
    assert headwater.journal.summary().projected == 2
    assert headwater.elements() == elements_of([plan(a_plan()), event(an_event())], stepwise=False)
    headwater.close()


class PickyGraph:
    """Refuses to write one job, in a way that nobody foresaw."""

    def __init__(self, inner: Any, refused: str) -> None:
        self._inner = inner
        self._refused = refused

    def write(self, facts: Facts) -> None:
        if any(vertex.value("name") == self._refused for vertex in facts.vertices):
            raise GraphRejected("a value that this engine cannot hold")
        self._inner.write(facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_plan_that_the_graph_refuses_is_set_aside_and_blocks_nothing() -> None:
    headwater = small_headwater()
    headwater.project_through(PickyGraph(headwater.graph, "poison"))
    poison = a_plan(id="33333333-2222-5333-8444-555555555555", name="poison")
    headwater.accept(plan(poison), plan(a_plan()), event(an_event()))
    headwater.project()
    (failed,) = headwater.journal.entries(state=DocumentState.FAILED).items
    assert failed.subject_key == poison["id"]
    assert "cannot hold" in (failed.reason or "")
    assert headwater.journal.summary().projected == 2
    headwater.close()


class HalfwayGraph:
    """Writes all but one vertex and the edges, then refuses in a way that nobody foresaw."""

    def __init__(self, inner: Any, refused: str) -> None:
        self._inner = inner
        self._refused = refused

    def write(self, facts: Facts) -> None:
        taken = [vertex for vertex in facts.vertices if vertex.value("name") != self._refused]
        if len(taken) == len(facts.vertices):
            self._inner.write(facts)
            return
        self._inner.write(Facts(vertices=tuple(taken)))
        raise GraphRejected("a value that this engine cannot hold")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_plan_set_aside_half_written_leaves_nothing() -> None:
    headwater = small_headwater()
    headwater.project_through(HalfwayGraph(headwater.graph, "poison"))
    poison = a_plan(id="33333333-2222-5333-8444-555555555555", name="poison")
    poison["operations"]["write"]["outputSource"] = "file:/data/of the poison alone"
    run = event(an_event(planId=poison["id"]))
    headwater.accept(plan(poison), run, plan(a_plan()), event(an_event()))
    headwater.project()
    assert headwater.journal.summary().failed == 2
    assert headwater.elements() == elements_of([plan(a_plan()), event(an_event())], stepwise=False)
    headwater.close()


class StrictGraph:
    """Removes nothing, once, in a way that nobody foresaw."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._refusals = 1

    def remove(self, vertices: Any, edges: Any) -> None:
        if (vertices or edges) and self._refusals:
            self._refusals -= 1
            raise GraphRejected("not now")
        self._inner.remove(vertices, edges)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_the_facts_before_a_document_that_is_set_aside_are_restored() -> None:
    """The other body of a plan is written, and the former one cannot be taken back."""
    headwater = small_headwater()
    headwater.project_through(StrictGraph(headwater.graph))
    first = [plan(a_plan()), event(an_event())]
    headwater.accept(*first)
    headwater.project()
    headwater.accept(plan(writing_to("file:/data/elsewhere"), api_version="1.1"))
    headwater.accept(plan(writing_to("file:/data/newest"), api_version="1.3"))
    headwater.project()
    assert headwater.journal.summary().failed == 2
    assert headwater.elements() == elements_of(first, stepwise=False)
    headwater.close()


def test_an_empty_graph_is_filled_again_from_the_journal() -> None:
    headwater = project(TROUBLE, stepwise=False)
    before = headwater.elements()
    headwater.graph.clear()
    headwater.projector.prepare()
    headwater.project()
    assert headwater.elements() == before
    headwater.close()


def test_a_graph_that_was_emptied_behind_our_back_is_filled_again_while_idle() -> None:
    headwater = project([plan(a_plan()), event(an_event())], stepwise=False)
    before = headwater.elements()
    headwater.graph.clear()
    headwater.projector.start()
    try:
        eventually(lambda: headwater.graph.count()[0] and headwater.projector.state == "ready")
    finally:
        headwater.projector.stop()
    assert headwater.elements() == before
    headwater.close()


class BusyGraph:
    """While it writes, the next event of each plan comes in: there is never nothing to do."""

    def __init__(self, headwater: SmallHeadwater, plans: int) -> None:
        self._headwater = headwater
        self._inner = headwater.graph
        self._plans = plans
        self._at = 1_700_000_000_000

    def write(self, facts: Facts) -> None:
        self._inner.write(facts)
        self._at += 1
        events = (an_event(self._at, planId=numbered_id(at)) for at in range(self._plans))
        self._headwater.accept(*map(event, events))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.mark.parametrize("plans", [1, 120])  # fewer and more than a round takes up
def test_a_service_under_steady_load_is_ready_once_it_has_caught_up_with_the_documents_at_its_start(
    plans: int,
) -> None:
    headwater = small_headwater()
    headwater.project_through(BusyGraph(headwater, plans))
    headwater.accept(*map(numbered, range(plans)))
    headwater.projector.start()
    try:
        eventually(lambda: headwater.projector.state == "ready")
        assert headwater.journal.summary().pending > 0
    finally:
        headwater.projector.stop()
        headwater.close()


def test_no_vertex_collects_an_edge_per_run() -> None:
    runs = [event(an_event(1_700_000_000_000 + i, extra={"appId": f"app-{i}"})) for i in range(50)]
    headwater = project([plan(a_plan()), *runs], stepwise=False)
    degree: dict[str, int] = {}
    for element in headwater.graph.scan():
        for end in ("out_id", "in_id"):
            key = getattr(element, end, None)
            if key is not None and identity.kind_of(key) != labels.DAY:
                degree[key] = degree.get(key, 0) + 1
    assert max(degree.values()) < 20
    headwater.close()


def numbered_id(number: int) -> str:
    return f"00000000-0000-5000-8000-{number:012d}"


def numbered(number: int) -> Submission:
    return plan(a_plan(id=numbered_id(number)))


def test_the_projector_gathers_for_longer_while_many_documents_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Waiters, "pause", lambda _, seconds: pauses.append(seconds))
    headwater = small_headwater()
    for first, number in ((0, 1), (10, 20), (40, 1)):
        headwater.accept(*map(numbered, range(first, first + number)))
        headwater.projector._work()
    assert pauses == [0.2, 1.0, 0.2]
    headwater.close()
