"""Neighbours that are not drawn are counted; attempts of failed runs are drawn and not followed."""

from __future__ import annotations

from graph_model.lineage import Answer, LeftOut, PlanUse
from graph_model.picture.filtering import count_beyond, with_attempts
from graph_model.stores.graph import Direction


def use(job: str, sources: str, targets: str, *, attempted: bool = False) -> PlanUse:
    return PlanUse(
        f"plan of {job}", job, "overwrite", tuple(sources), tuple(targets), attempted=attempted
    )


def answer(datasets: str, jobs: tuple[str, ...], *plans: PlanUse) -> Answer:
    return Answer(
        datasets=tuple(datasets), jobs=jobs, plans=plans, columns=(), column_edges=(),
        as_of=None, depth_asked=1, depth_reached=1, partial=None,
    )  # fmt: skip


ONE = use("job-1", "a", "b")


def test_of_a_table_jobs_are_counted_and_of_a_job_tables() -> None:
    around = [ONE, use("job-2", "b", "c"), use("job-3", "b", "d"), use("job-1", "e", "b")]
    assert count_beyond(answer("ab", ("job-1",), ONE), around) == (
        LeftOut("b", 0, 2), LeftOut("job-1", 1, 0),
    )  # fmt: skip


def test_hidden_neighbours_are_not_counted() -> None:
    around = [ONE, use("job-2", "b", "c"), use("job-3", "b", "d"), use("job-1", "e", "b")]
    assert count_beyond(answer("ab", ("job-1",), ONE), around, {"job-3", "e"}) == (
        LeftOut("b", 0, 1),
    )


def test_where_everything_is_drawn_nothing_is_counted() -> None:
    assert count_beyond(answer("ab", ("job-1",), ONE), [ONE]) == ()


def test_a_failed_reader_is_drawn_with_its_intended_output_but_not_with_its_other_inputs() -> None:
    failed = use("job-9", "bx", "y", attempted=True)
    result = with_attempts(answer("ab", ("job-1",), ONE), [ONE, failed], Direction.BOTH, node="b")
    assert result.datasets == ("a", "b", "y")
    assert result.jobs == ("job-1", "job-9")
    [tried] = [plan for plan in result.plans if plan.attempted]
    assert (tried.sources, tried.targets) == (("b",), ("y",))


def test_a_failed_reader_is_not_upstream() -> None:
    failed = use("job-9", "b", "y", attempted=True)
    before = answer("ab", ("job-1",), ONE)
    assert with_attempts(before, [failed], Direction.UPSTREAM, node="b").jobs == ("job-1",)
    writer = use("job-9", "z", "b", attempted=True)
    assert with_attempts(before, [writer], Direction.UPSTREAM, node="b").datasets == ("a", "b", "z")
    assert with_attempts(before, [writer], Direction.DOWNSTREAM, node="b").datasets == ("a", "b")


def test_a_failed_reader_of_another_drawn_table_is_no_part_of_the_lineage() -> None:
    failed = use("job-9", "a", "y", attempted=True)
    drawn = answer("ab", ("job-1",), ONE)
    assert with_attempts(drawn, [ONE, failed], Direction.BOTH, node="b") == drawn
    assert with_attempts(drawn, [ONE, failed], Direction.BOTH, node="job-1") == drawn


def test_of_a_failed_job_that_was_asked_about_everything_is_drawn_that_it_tried() -> None:
    failed = use("job-9", "xy", "z", attempted=True)
    alone = answer("", ("job-9",))
    both = with_attempts(alone, [ONE, failed], Direction.BOTH, node="job-9")
    assert (both.datasets, both.plans) == (("x", "y", "z"), (failed,))
    up = with_attempts(alone, [failed], Direction.UPSTREAM, node="job-9")
    assert up.datasets == ("x", "y")
