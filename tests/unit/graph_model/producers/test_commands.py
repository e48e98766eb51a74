"""Forget and prune: the covered documents are gone and stay gone, and no others are touched."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity
from graph_model.errors import InvalidDocument
from graph_model.facts import CommandRow, ForgottenRow
from graph_model.producers.commands import (
    Command,
    Cutoff,
    Forget,
    Prune,
    collect_effects,
    read_command,
    submit,
    write_command,
)
from graph_model.retention.coverage import (
    Retention,
    resolve_forget,
    resolve_prune,
    subject_keys_of_dataset,
    subject_keys_of_job,
)
from graph_model.stores.documents import DocumentState, Submission
from tests.projections import SmallHeadwater, budget, project, small_headwater
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    TROUBLE,
    a_plan,
    a_run,
    an_event,
    event,
    plan,
)

DAY = 86_400_000
START = 1_700_000_000_000


def command(instruction: Forget | Prune) -> Submission:
    return submit(Command("ann", START, "", "job:default/demo", instruction))


def shown(headwater: SmallHeadwater) -> tuple[object, object]:
    """Everything but the commands themselves."""
    elements, rows = headwater.elements()
    return elements, [row for row in rows if not isinstance(row, CommandRow | ForgottenRow)]


def shown_of(submissions: Iterable[Submission]) -> tuple[object, object]:
    headwater = project(submissions, stepwise=False)
    try:
        return shown(headwater)
    finally:
        headwater.close()


def forget(headwater: SmallHeadwater, subject_keys: Iterable[str]) -> None:
    headwater.accept(
        *(command(item) for item in resolve_forget(set(subject_keys), headwater.journal))
    )
    headwater.project()


def job_id(headwater: SmallHeadwater, name: str) -> str:
    row = headwater.catalogue.job_by_name("default", name)
    assert row is not None
    return row.id


OTHER = a_plan(id="11111111-2222-5333-8444-555555555555", name="other")
OTHER["operations"] = {
    **OTHER["operations"],
    "write": {**OTHER["operations"]["write"], "outputSource": "file:/data/other"},
}
OTHERS = [plan(OTHER), event(an_event(planId=OTHER["id"]))]
MINE = [plan(a_plan()), event(an_event(START)), event(an_event(START + DAY))]


def test_a_forgotten_job_leaves_no_trace_and_others_stay() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    covered = subject_keys_of_job(job_id(headwater, "demo"), headwater.catalogue)
    forget(headwater, covered)
    assert covered == {PLAN_ID}
    assert shown(headwater) == shown_of(OTHERS)
    kept = headwater.journal.entries().items
    assert {item.subject_key for item in kept if item.kind != "command"} == {OTHER["id"]}
    assert headwater.journal.documents_of(PLAN_ID) == ()
    headwater.close()


def test_a_forgotten_dataset_takes_every_plan_that_touches_it() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    (dataset,) = headwater.catalogue.datasets_by_uri("file:/data/in.csv")
    covered = subject_keys_of_dataset(dataset.id, headwater.catalogue)
    forget(headwater, covered)
    assert covered == {PLAN_ID, OTHER["id"]}
    assert shown(headwater) == ((), [])
    headwater.close()


def test_forgotten_documents_stay_gone_when_they_are_sent_again() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    forget(headwater, {PLAN_ID})
    headwater.accept(*MINE)
    headwater.project()
    assert shown(headwater) == shown_of(OTHERS)
    (held,) = headwater.journal.documents_of(PLAN_ID)
    assert held.state == DocumentState.WAITING
    assert "forgotten" in (held.reason or "")
    headwater.close()


def test_a_later_run_of_a_forgotten_job_is_new_and_shows_only_itself() -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    forget(headwater, {PLAN_ID})
    later = event(an_event(START + 5 * DAY))
    for item in (MINE[0], later, MINE[1]):
        headwater.accept(item)
        headwater.project()
    assert shown(headwater) == shown_of([*OTHERS, MINE[0], later])
    headwater.close()


def test_one_document_can_be_forgotten() -> None:
    headwater = project(MINE, stepwise=False)
    second = headwater.journal.entries(kind=MINE[1].kind).items[0]
    headwater.accept(command(Forget((PLAN_ID,), (second.content_hash,))))
    headwater.project()
    assert shown(headwater) == shown_of(MINE[:2])
    headwater.close()


@pytest.mark.parametrize("how", ["rebuild", "refill"])
def test_forgotten_documents_stay_gone_after_everything_is_projected_anew(how: str) -> None:
    headwater = project([*MINE, *OTHERS], stepwise=False)
    forget(headwater, {PLAN_ID})
    headwater.accept(*MINE)
    headwater.project()
    if how == "refill":
        headwater.graph.clear()
        headwater.projector.prepare()
        headwater.project()
    else:
        headwater.projector.request_rebuild()
        while headwater.projector.rebuild_step():
            pass
    assert shown(headwater) == shown_of(OTHERS)
    headwater.close()


def covered_by_hand(
    instructions: list[Forget | Prune], documents: list[Submission]
) -> list[Submission]:
    """The documents that remain when the commands are taken at their word."""
    named = {
        d
        for instruction in instructions
        if isinstance(instruction, Forget)
        for d in instruction.documents
    }
    prunes = [instruction for instruction in instructions if isinstance(instruction, Prune)]
    before = max((c.before for prune in prunes for c in prune.cutoffs), default=0)
    left = [document for document in documents if document.content_hash not in named]
    return [item for item in left if item.kind != "event" or _time(item) >= before]


def _time(one: Submission) -> int:
    import json

    return int(json.loads(one.body)["timestamp"])


@given(st.randoms(use_true_random=False), st.booleans())
@budget(8)
def test_a_forget_command_counts_whenever_it_comes(rng: random.Random, stepwise: bool) -> None:
    """A plan comes with every run of it, as agents send it: the body of one that was forgotten
    alone is gone, and only the plan that comes with a later run can speak for that run.
    """
    instruction = Forget((PLAN_ID,), tuple(sorted({item.content_hash for item in MINE[:2]})))
    later = event(an_event(START + 5 * DAY))
    runs = [[MINE[0], item] for item in (MINE[1], MINE[2], later, MINE[1])]
    arrivals = [*runs, OTHERS[:], [command(instruction)]]
    rng.shuffle(arrivals)
    for together in arrivals:
        rng.shuffle(together)
    headwater = project([item for some in arrivals for item in some], stepwise=stepwise)
    assert shown(headwater) == shown_of([MINE[0], MINE[2], later, *OTHERS])
    headwater.close()


def test_a_plan_that_a_late_event_has_hidden_is_shown_with_the_next_one() -> None:
    instruction = Prune((Cutoff("default", "demo", "", "file:/data/out", START + DAY),), False)
    plan_alone, pruned, later = MINE
    headwater = project([plan_alone, command(instruction), pruned, later], stepwise=True)
    assert shown(headwater) == shown_of([plan_alone, later])
    assert headwater.journal.summary().failed == 0
    headwater.close()


@given(st.randoms(use_true_random=False), st.booleans())
@budget(8)
def test_a_prune_command_counts_whenever_it_comes(rng: random.Random, stepwise: bool) -> None:
    instruction = Prune((Cutoff("default", "demo", "", "file:/data/out", START + DAY),), False)
    documents = [*MINE, *OTHERS, command(instruction), *MINE[:2]]
    rng.shuffle(documents)
    headwater = project(documents, stepwise=stepwise)
    assert shown(headwater) == shown_of([MINE[0], MINE[2], *OTHERS])
    assert headwater.journal.summary().received == 6
    headwater.close()


def test_a_plan_whose_executions_are_all_pruned_goes_with_them() -> None:
    instruction = Prune((Cutoff("default", "demo", "", "file:/data/out", START + 9 * DAY),), True)
    headwater = project([*MINE, *OTHERS, command(instruction)], stepwise=True)
    assert shown(headwater) == shown_of(OTHERS)
    assert headwater.journal.documents_of(PLAN_ID) == ()
    headwater.accept(*MINE)
    headwater.project()
    assert shown(headwater) == shown_of(OTHERS)
    headwater.accept(event(an_event(START + 10 * DAY)), MINE[0])
    headwater.project()
    assert shown(headwater) == shown_of([*OTHERS, MINE[0], event(an_event(START + 10 * DAY))])
    headwater.close()


def test_a_plan_that_two_commands_have_hidden_does_not_come_back_in_the_same_round() -> None:
    gone = event(an_event(START + DAY))
    prune = Prune((Cutoff("default", "demo", "", "file:/data/out", START + DAY),), False)
    documents = [event(an_event(START)), command(prune), plan(a_plan())]
    headwater = project(
        [*documents, command(Forget((PLAN_ID,), (gone.content_hash,)))], stepwise=False
    )
    assert shown(headwater) == ((), [])
    headwater.close()


# --- the executions that a prune covers ----------------------------------------------------------


def daily(
    name: str, number: int, source: str, target: str, days: Iterable[int], **write: Any
) -> list[Submission]:
    body = a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=name)
    operations = body["operations"]
    operations["write"] = operations["write"] | {"outputSource": target, **write}
    operations["reads"] = [operations["reads"][0] | {"inputSources": [source]}]
    runs = [event(a_run(START + day * DAY + number, planId=body["id"])) for day in days]
    return [plan(body), *runs]


def cutoffs(submissions: list[Submission], retention: Retention) -> dict[str, int]:
    headwater = project(submissions, stepwise=False)
    prune = resolve_prune(retention, headwater.catalogue, drop_bodies=False)
    headwater.close()
    return {cutoff.name: (cutoff.before - START) // DAY for cutoff in prune.cutoffs}


def test_executions_older_than_the_date_go_but_the_last_full_overwrite_stays() -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    once = daily("once", 2, "file:/raw", "file:/reference", [0])
    result = cutoffs([*load, *once], Retention(before=START + 7 * DAY))
    assert result == {"load": 5}  # day 6 was visible on day 7; ten seconds before it belong to it


def test_a_write_that_an_append_read_long_ago_is_kept() -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    collect = daily("collect", 2, "file:/staged", "file:/facts", range(2, 10), append=True)
    # its first append read the content staged on day 2, and nobody read that of earlier days
    assert cutoffs([*load, *collect], Retention(before=START + 7 * DAY)) == {"load": 1}


def test_a_new_table_keeps_no_more_of_its_sources_than_it_read() -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    new = daily("new", 2, "file:/staged", "file:/new", [9])
    assert cutoffs([*load, *new], Retention(before=START + 7 * DAY)) == {"load": 5}


def test_the_newest_runs_of_each_job_stay() -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    seldom = daily("seldom", 2, "file:/staged", "file:/report", [1, 2])
    assert cutoffs(load, Retention(keep=3)) == {"load": 6}
    # both runs of the report are kept, and the first read the content staged on day 1
    assert cutoffs([*load, *seldom], Retention(keep=3)) == {"load": 0}


def test_a_prune_keeps_the_lineage_of_today_as_it_was() -> None:
    load = daily("load", 1, "file:/raw", "file:/staged", range(10))
    refine = daily("refine", 2, "file:/staged", "file:/fine", range(10))
    headwater = project([*load, *refine], stepwise=False)
    prune = resolve_prune(Retention(keep=2), headwater.catalogue, drop_bodies=True)
    writers = headwater.catalogue.writers(
        [row.id for row in headwater.catalogue.datasets_by_uri("file:/fine")], None
    )
    headwater.accept(command(prune))
    headwater.project()
    remaining = headwater.catalogue.writers(
        [row.id for row in headwater.catalogue.datasets_by_uri("file:/fine")], None
    )
    assert remaining == writers
    assert headwater.journal.summary().received < 22
    assert headwater.journal.documents_of(load[0].subject_key)[0].state == DocumentState.PROJECTED
    headwater.close()


# --- documents -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "instruction",
    [
        Forget(("p",), ("a" * 64,)),
        Prune((Cutoff("n", "j", "s", "file:/x", 5),), True),
    ],
)
def test_a_command_is_read_back_as_it_was_written(instruction: Forget | Prune) -> None:
    given_ = Command("ann", 7, "why", "job:n/j", instruction)
    assert read_command(write_command(given_)) == given_


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"command": "destroy"}, "command"),
        ({"author": None}, "author"),
        ({"time": "now"}, "time"),
        ({"documents": [1]}, "documents"),
        ({"documents": ["x"] * 5_001}, "documents"),
        ({"planIds": "p"}, "planIds"),
    ],
)
def test_a_broken_command_names_the_field(changes: dict[str, Any], path: str) -> None:
    document = write_command(Command("ann", 7, "", "", Forget((), ()))) | changes
    with pytest.raises(InvalidDocument) as refused:
        read_command(document)
    assert refused.value.path == path


def test_a_command_that_cannot_be_read_is_set_aside_and_blocks_nothing() -> None:
    broken = command(Forget((), ()))
    headwater = small_headwater()
    headwater.accept(
        Submission(
            broken.kind, "1", broken.subject_key, "", broken.subject, "f" * 64, b'{"command":1}'
        ),
        *TROUBLE,
    )
    headwater.project()
    (failed,) = headwater.journal.entries(state=DocumentState.FAILED).items
    assert failed.kind == "command"
    assert shown(headwater) == shown_of(TROUBLE)
    headwater.close()


def test_a_forgotten_body_goes_from_another_scope_too() -> None:
    same = a_plan()
    headwater = project([plan(same), event(an_event()), plan(same, scope="laptop")], stepwise=False)
    forget(headwater, {PLAN_ID})
    assert shown(headwater) == ((), [])
    headwater.close()


def test_cut_offs_that_move_for_years_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start reads the commands of all nights, and each name of a job or a dataset is a digest."""
    digests: list[str] = []
    made = identity.digest

    def counted(*parts: str) -> str:
        digests.extend(parts)
        return made(*parts)

    moves = [Cutoff("etl", "load", "", "s3://t", night) for night in range(1, 100)]
    nights = [Command("retention", move.before, "", "", Prune((move,), True)) for move in moves]
    monkeypatch.setattr(identity, "digest", counted)
    effects = collect_effects(nights)
    monkeypatch.undo()
    assert effects.pruned == effects.dropped == {moves[0].key: 99}
    assert len(digests) < 20
