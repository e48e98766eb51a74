"""Steps of a plan that only give a name are folded into the step whose rows they pass on."""

from __future__ import annotations

from graph_model.picture.operations import ChainStep, StepRole, fold_chains


def naming(key: str, child: str, name: str) -> ChainStep:
    return ChainStep(key, (child,), StepRole.NAMING, name)


def test_a_view_and_its_alias_are_folded_into_the_table_that_they_name() -> None:
    steps = [
        ChainStep("read", ()), naming("view", "read", ""), naming("alias", "view", "e"),
        ChainStep("filter", ("alias",)),
    ]  # fmt: skip
    read, kept = fold_chains(steps)
    assert (read.id, read.aliases, read.folded) == ("read", ("e",), ("view", "alias"))
    assert kept.children == ("read",)


def test_references_to_a_common_table_expression_lead_to_its_definition() -> None:
    steps = [
        ChainStep("group", ()),
        ChainStep("define", ("group",), StepRole.DEFINING, definition="2"),
        ChainStep("one", (), StepRole.REFERRING, definition="2"), naming("x", "one", "x"),
        ChainStep("two", (), StepRole.REFERRING, definition="2"), naming("y", "two", "y"),
        ChainStep("join", ("x", "y")),
        ChainStep("with", ("define", "join"), StepRole.GATHERING),
        ChainStep("write", ("with",)),
    ]  # fmt: skip
    folded = {step.id: step for step in fold_chains(steps)}
    assert list(folded) == ["group", "join", "write"]
    assert folded["join"].children == ("group",)
    assert folded["group"].aliases == ("x", "y")
    assert folded["write"].children == ("join",)


def test_a_reference_without_its_definition_stays_a_leaf() -> None:
    [alone] = fold_chains([ChainStep("one", (), StepRole.REFERRING, definition="7")])
    assert (alone.id, alone.children) == ("one", ())


def test_a_damaged_plan_that_leads_in_a_circle_keeps_its_steps() -> None:
    circle = [naming("a", "b", "a"), naming("b", "a", "b")]
    assert sorted(step.id for step in fold_chains(circle)) == ["a", "b"]


def test_an_alias_with_a_child_that_is_not_shown_stays() -> None:
    assert [step.id for step in fold_chains([naming("a", "gone", "a")])] == ["a"]
