"""Histories with answers worked out by hand: the meaning of the rules, one at a time.

The files are tests/fixtures/histories/*.json: a history, questions, and the expected answers. The
oracle is held to them, so that it can be believed; the service is held to them too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.comparison import ComparedHistory, projected
from tests.oracle.histories import Asked, Known, KnownHistory, read_known_histories
from tests.oracle.truth import Oracle, Truth

KNOWN = read_known_histories()
everything = pytest.mark.parametrize("known", KNOWN, ids=[known.name for known in KNOWN])


def in_words(truth: Truth, asked: Asked) -> dict[str, frozenset[str]]:
    """The oracle's answer as the files spell one."""
    via = {c.text for c in truth.column_via} if asked.node.startswith("column:") else truth.via
    return {
        "datasets": frozenset(truth.datasets),
        "jobs": frozenset(truth.jobs),
        "via": frozenset(via),
        "feeds": frozenset(f"{item} > {other}" for item, other in truth.feeds),
        "columns": frozenset(column.text for column in truth.columns),
        "columnEdges": frozenset(f"{f.source.text} > {f.target.text}" for f in truth.column_edges),
    }


def of_service(compared: ComparedHistory, asked: Asked) -> tuple[dict[str, frozenset[str]], bool]:
    """The service's answer in the same words; a logical plan by the first plan that says it."""
    answer = compared.ask(asked)
    said = compared.said(answer, asked)
    plans = {compared.logical_plan(plan): plan for plan in reversed(compared.history.plans)}
    feeds = frozenset(
        " > ".join(plans.get(end, end) for end in feed.split(" > ")) for feed in said["feeds"]
    )
    edges = frozenset(" ".join(edge.split()[:3]) for edge in said["columnEdges"])
    return said | {"feeds": feeds, "columnEdges": edges}, bool(getattr(answer, "folded", False))


def wrong(found: dict[str, frozenset[str]], expected: Known, *, folded: bool) -> Iterator[str]:
    for kind, right in expected.expected.items():
        fits = right <= found[kind] if folded else right == found[kind]
        if not fits:
            yield f"{expected.asked}: {kind} {sorted(found[kind])}, expected {sorted(right)}"


@everything
def test_the_oracle_agrees_with_the_answers_worked_out_by_hand(known: KnownHistory) -> None:
    oracle = Oracle(known.history)
    for question in known.questions:
        result = in_words(oracle.answer(question.asked), question.asked)
        assert not list(wrong(result, question, folded=False))


@everything
def test_the_service_gives_the_answers_worked_out_by_hand(known: KnownHistory) -> None:
    headwater = projected(known.history)
    try:
        compared = ComparedHistory(known.history, headwater.graph, headwater.catalogue)
        result: list[str] = []
        for question in known.questions:
            said, folded = of_service(compared, question.asked)
            if folded and not question.folded:
                result.append(f"{question.asked}: folded without need")
            result += wrong(said, question, folded=folded)
        assert not result, "\n".join([known.rule, *result])
    finally:
        headwater.close()
