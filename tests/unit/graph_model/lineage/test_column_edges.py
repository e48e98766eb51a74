"""The edges between columns of an answer: what the plans behind one edge have in common."""

from __future__ import annotations

import pytest

from graph_model import labels
from graph_model.facts import Edge
from graph_model.lineage.columns.findings import fold_column_edges


def derivation(plan: str, *, masking: bool) -> Edge:
    values = {
        "kind": labels.DIRECT, "how": labels.TRANSFORMATION, "expression": f"sha2({plan})",
        "logical_plan": plan, **({"masking": True} if masking else {}),
    }  # fmt: skip
    return Edge(f"edge {plan}", labels.DERIVES, "a", "b", tuple(sorted(values.items())))


@pytest.mark.parametrize(
    ("masking", "hidden", "expected"),
    [
        ({"p": True}, (), True),
        ({"p": False}, (), False),
        ({"p": True, "q": True}, (), True),
        ({"p": True, "q": False}, (), False),
        ({"p": True, "q": False}, ("q",), True),
    ],
)
def test_a_value_is_masked_where_every_plan_that_counts_masks_it(
    masking: dict[str, bool], hidden: tuple[str, ...], expected: bool
) -> None:
    edges = [derivation(plan, masking=masks) for plan, masks in masking.items()]
    (folded,) = fold_column_edges(edges, hidden)
    assert folded.masking is expected
