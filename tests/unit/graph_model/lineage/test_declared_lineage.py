"""The laws of lineage with declarations among the runs: a naive oracle, and the mirror."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity
from graph_model.lineage import Lineage, Question
from graph_model.naming import DEFAULT_RULES, JobName
from graph_model.producers.declared import Declaration, write_declaration
from graph_model.stores.graph import Direction
from tests.projections import SmallHeadwater, budget, lineage_event, project

NAMES = "abcde"
END = 40

Step = tuple[str, int, str, str]  # run or declaration, time, source, target
steps = st.lists(
    st.tuples(
        st.sampled_from(["run", "declared"]),
        st.integers(1, END - 1),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
    ).filter(lambda step: step[2] != step[3]),
    max_size=7,
    unique_by=lambda step: step[1],
)


def iso(at: int) -> str:
    return f"2026-01-01T00:{at:02d}:00.000Z"


def epoch(at: int) -> int:
    return 1_767_225_600_000 + at * 60_000


def uri(name: str) -> str:
    return f"s3://lake/{name}"


def dataset(name: str) -> str:
    return identity.dataset_id("", uri(name))


def event(step: Step) -> dict[str, Any]:
    kind, at, source, target = step
    if kind == "declared":
        job = JobName("people", f"{source}{target}", shared=False)
        first = Declaration(f"p{at}", iso(at), iso(at), "", "", job, uri(target), (uri(source),))
        return write_declaration(first, DEFAULT_RULES)
    overwritten = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}}
    return {
        "eventType": "COMPLETE", "eventTime": iso(at), "run": {"runId": f"r{at}"},
        "job": {"namespace": "etl", "name": f"{source}{target}"},
        "inputs": [{"namespace": "s3://lake", "name": source}],
        "outputs": [{"namespace": "s3://lake", "name": target, "facets": overwritten}],
    }  # fmt: skip


def answer(
    headwater: SmallHeadwater, name: str, way: Direction, depth: int, at: int
) -> frozenset[str]:
    lineage = Lineage(headwater.graph, headwater.catalogue)
    result = lineage.ask(Question(dataset(name), way, depth, epoch(at)))
    return frozenset(result.datasets) - frozenset(result.via) - {dataset(name)}


def upstream(listed: list[Step], name: str, at: int, depth: int) -> set[str]:
    """By the words of the rule: the last overwrite before, and all that is declared by then."""
    result: set[str] = set()
    states = {(name, at)}
    seen = set(states)
    for _ in range(depth):
        reached = set()
        for target, before in states:
            runs = [s for s in listed if s[0] == "run" and s[3] == target and s[1] < before]
            for _, when, source, _ in sorted(runs, key=lambda s: s[1])[-1:]:
                reached.add((source, when))
            for kind, when, source, into in listed:
                if kind == "declared" and into == target and when < before:
                    reached.add((source, before))
        result |= {source for source, _ in reached}
        states = reached - seen
        seen |= reached
    return {dataset(item) for item in result - {name}}


@given(steps)
@budget(25)
def test_upstream_follows_the_rule_and_downstream_is_its_mirror(listed: list[Step]) -> None:
    headwater = project(map(lineage_event, map(event, listed)), stepwise=False)
    known = {name for step in listed for name in step[2:]}
    try:
        for at in (END // 2, END):
            for depth in (1, 2, 6):
                up = {
                    name: answer(headwater, name, Direction.UPSTREAM, depth, at) for name in known
                }
                down = {
                    name: answer(headwater, name, Direction.DOWNSTREAM, depth, at) for name in known
                }
                for name in known:
                    assert up[name] == upstream(listed, name, at + 1, depth)
                    mirrored = {d for d in known if dataset(name) in up[d]}
                    assert {dataset(d) for d in mirrored} == down[name]
    finally:
        headwater.close()


@given(steps)
@budget(25)
def test_the_map_has_the_flows_one_step_up_now(listed: list[Step]) -> None:
    headwater = project(map(lineage_event, map(event, listed)), stepwise=False)
    known = {name for step in listed for name in step[2:]}
    try:
        lineage = Lineage(headwater.graph, headwater.catalogue)
        uses, _ = lineage.flows_into([dataset(name) for name in known])
        for name in known:
            into = {
                source for use in uses if dataset(name) in use.targets for source in use.sources
            }
            assert into == upstream(listed, name, END + 1, 1)
    finally:
        headwater.close()
