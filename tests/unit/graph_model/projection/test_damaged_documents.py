"""A flipped bit in a stored body: that document is set aside, and everything else goes on."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any, Final

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from graph_model.errors import DamagedDocument
from graph_model.facts import ExecutionRow
from graph_model.producers.commands import Command, Forget, submit
from graph_model.projection.attempts import EVENTS_A_STEP
from graph_model.stores.documents import DocumentState, StoredDocument, Submission
from graph_model.stores.journal.stored_bodies import unpack
from graph_model.stores.journal.tables import bodies, documents
from tests.projections import (
    SmallHeadwater,
    budget,
    elements_of,
    lineage_event,
    project,
    small_headwater,
)
from tests.unit.graph_model.producers.openlineage import test_projection as openlineage
from tests.unit.graph_model.projection.projector import test_projector as spline
from tests.unit.graph_model.projection.projector.test_projector import (
    PLAN_ID,
    a_plan,
    an_event,
    event,
    plan,
    writing_to,
)

CORPUS: Final[list[Submission]] = [*spline.TROUBLE, *map(lineage_event, openlineage.TROUBLE)]


def flip(headwater: SmallHeadwater, content: str, rng: random.Random) -> None:
    """One bit of the stored body with this content hash, anywhere in it."""
    with headwater.journal._engine.begin() as connection:
        chosen = bodies.c.content_hash == content
        packed = connection.execute(sa.select(bodies.c.packed).where(chosen)).scalar_one()
        changed = _flipped(packed, rng)
        connection.execute(bodies.update().where(chosen).values(packed=changed))


def _flipped(packed: bytes, rng: random.Random) -> bytes:
    """A bit that pads the last byte of a stream means nothing: then another one."""
    changed = bytearray(packed)
    changed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    try:
        means_nothing = unpack(bytes(changed)) == unpack(packed)
    except ValueError:
        means_nothing = False
    return _flipped(packed, rng) if means_nothing else bytes(changed)


def rebuild(headwater: SmallHeadwater) -> None:
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        headwater.project()


def project_again(headwater: SmallHeadwater) -> None:
    """As a start with an empty graph and catalogue does."""
    headwater.graph.clear()
    headwater.catalogue.clear()
    headwater.journal.reopen(states=list(DocumentState))
    headwater.projector.prepare()
    headwater.project()


def failed(headwater: SmallHeadwater) -> dict[str, str]:
    """The content hash and the reason of each document that was set aside as damaged."""
    page = headwater.journal.entries(state=DocumentState.FAILED, limit=1_000)
    result = {item.content_hash: item.reason or "" for item in page.items}
    return {content: reason for content, reason in result.items() if "is damaged" in reason}


def without(damaged: Collection[str]) -> list[Submission]:
    return [item for item in CORPUS if item.content_hash not in damaged]


@pytest.mark.parametrize("anew", [rebuild, project_again])
@given(seed=st.integers(0, 2**32), count=st.integers(1, 4))
@budget(40)
def test_whatever_bit_is_flipped_the_rest_is_projected_as_if_that_document_had_never_come(
    anew: Any, seed: int, count: int
) -> None:
    rng = random.Random(seed)
    headwater = project(CORPUS, stepwise=False)
    damaged = {item.content_hash for item in rng.sample(CORPUS, count)}
    for content in sorted(damaged):
        flip(headwater, content, rng)
    anew(headwater)
    assert set(failed(headwater)) == damaged
    assert headwater.journal.summary().pending == 0
    assert headwater.elements() == elements_of(without(damaged), stepwise=False)
    said = [line for line in headwater.journal.verify() if line.startswith("body ")]
    assert {line.split()[1] for line in said} == damaged
    assert all(" of document " in line for line in said)
    headwater.close()


def damage(headwater: SmallHeadwater, *submissions: Submission) -> None:
    for submission in submissions:
        flip(headwater, submission.content_hash, random.Random(7))


def states(headwater: SmallHeadwater) -> dict[str, str]:
    page = headwater.journal.entries(limit=1_000)
    return {item.content_hash: item.state.value for item in page.items}


def runs_shown(headwater: SmallHeadwater) -> int:
    return sum(isinstance(row, ExecutionRow) for row in headwater.catalogue.scan())


def test_a_pending_document_that_is_damaged_is_set_aside_and_its_neighbours_are_projected() -> None:
    headwater = small_headwater()
    hurt, whole = event(an_event(1)), event(an_event(2))
    headwater.accept(plan(a_plan()), hurt, whole)
    damage(headwater, hurt)
    headwater.project()
    result = states(headwater)
    assert (result[hurt.content_hash], result[whole.content_hash]) == ("failed", "projected")
    assert runs_shown(headwater) == 1
    assert "cannot be inflated" in failed(headwater)[hurt.content_hash]
    headwater.close()


def test_a_new_plan_document_is_projected_beside_a_run_that_is_damaged_meanwhile() -> None:
    headwater = small_headwater()
    hurt, whole = event(an_event(1)), event(an_event(2))
    headwater.accept(plan(a_plan(), api_version="1.1"), hurt, whole)
    headwater.project()
    damage(headwater, hurt)
    headwater.accept(plan(writing_to("file:/data/new"), api_version="1.2"))
    headwater.project()
    assert states(headwater)[hurt.content_hash] == "failed"
    assert headwater.journal.summary().pending == 0
    assert {row.target for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)}
    headwater.close()


def test_the_runs_of_a_damaged_plan_wait_until_it_comes_again() -> None:
    headwater = small_headwater()
    hurt, run = plan(a_plan()), event(an_event())
    headwater.accept(hurt, run)
    damage(headwater, hurt)
    headwater.project()
    assert states(headwater) == {hurt.content_hash: "failed", run.content_hash: "waiting"}
    headwater.accept(plan(a_plan(), api_version="1.1"))
    headwater.project()
    assert runs_shown(headwater) == 1
    headwater.close()


def test_one_damaged_event_of_a_run_of_openlineage_leaves_the_others_in_force() -> None:
    answer = [
        lineage_event(openlineage.run_event("r", kind, minute, "job", outputs=[item]))
        for kind, minute, item in (
            ("START", 1, openlineage.dataset("t", "x")),
            ("RUNNING", 2, openlineage.dataset("only here", "k")),
            ("COMPLETE", 3, openlineage.dataset("u", "k")),
        )
    ]
    headwater = small_headwater()
    headwater.accept(*answer)
    damage(headwater, answer[1])
    headwater.project()
    assert list(failed(headwater)) == [answer[1].content_hash]
    assert headwater.elements() == elements_of([answer[0], answer[2]], stepwise=False)
    headwater.close()


def test_a_damaged_command_is_set_aside_and_says_nothing() -> None:
    headwater = small_headwater()
    run = event(an_event())
    headwater.accept(plan(a_plan()), run)
    headwater.project()
    removal = submit(Command("ana", 1, "", "", Forget((PLAN_ID,), (run.content_hash,))))
    headwater.accept(removal)
    damage(headwater, removal)
    headwater.project()
    assert "is damaged" in failed(headwater)[removal.content_hash]
    assert runs_shown(headwater) == 1
    rebuild(headwater)
    assert "is damaged" in failed(headwater)[removal.content_hash]
    headwater.close()


def test_a_damaged_document_can_be_forgotten() -> None:
    headwater = small_headwater()
    hurt = event(an_event(1))
    headwater.accept(plan(a_plan()), hurt, event(an_event(2)))
    damage(headwater, hurt)
    headwater.project()
    headwater.accept(submit(Command("ana", 1, "", "", Forget((PLAN_ID,), (hurt.content_hash,)))))
    headwater.project()
    assert hurt.content_hash not in states(headwater)
    assert runs_shown(headwater) == 1
    headwater.close()


def test_a_long_history_is_revised_past_damaged_events() -> None:
    """A command that touches a plan with more events than one step takes."""
    headwater = small_headwater()
    runs = [event(an_event(number)) for number in range(1, EVENTS_A_STEP + 50)]
    headwater.accept(plan(a_plan()), *runs)
    headwater.project()
    damage(headwater, runs[10], runs[-1])
    named = tuple(run.content_hash for run in runs[:20] if run is not runs[10])
    headwater.accept(submit(Command("ana", 1, "", "", Forget((PLAN_ID,), named))))
    headwater.project()
    assert headwater.journal.summary().pending == 0
    rebuild(headwater)
    assert runs_shown(headwater) == len(runs) - 21
    headwater.close()


def test_a_body_that_is_gone_or_another_ones_is_damage_too() -> None:
    headwater = small_headwater()
    gone, other, whole = (event(an_event(number)) for number in (1, 2, 3))
    headwater.accept(plan(a_plan()), gone, other, whole)
    with headwater.journal._engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.execute(bodies.delete().where(bodies.c.content_hash == gone.content_hash))
        kept = sa.select(bodies.c.packed).where(bodies.c.content_hash == whole.content_hash)
        packed = connection.execute(kept).scalar_one()
        connection.execute(
            bodies.update().where(bodies.c.content_hash == other.content_hash).values(packed=packed)
        )
        connection.commit()
    headwater.project()
    result = failed(headwater)
    assert "is missing" in result[gone.content_hash]
    assert "another content hash" in result[other.content_hash]
    assert runs_shown(headwater) == 1
    headwater.close()


@pytest.mark.parametrize(
    "changed", [{"kind": "evenu"}, {"state": "qending"}, {"state": "projecteh"}]
)
def test_a_row_with_an_impossible_value_stops_nothing(changed: dict[str, str]) -> None:
    headwater = small_headwater()
    hurt, whole = event(an_event(1)), event(an_event(2))
    (position,) = headwater.accept(plan(a_plan()), hurt)[1:]
    with headwater.journal._engine.begin() as connection:
        connection.execute(
            documents.update().where(documents.c.position == position).values(**changed)
        )
    headwater.accept(whole)
    headwater.project()
    assert states(headwater)[whole.content_hash] == "projected"
    summary = headwater.journal.summary()
    assert summary.received == 3 == summary.projected + summary.failed
    assert sum(headwater.journal.statistics().documents.values()) == 3
    rebuild(headwater)
    assert headwater.journal.summary().pending == 0
    headwater.close()


def test_a_damaged_document_that_is_asked_for_is_an_error_and_lists_go_on() -> None:
    headwater = small_headwater()
    hurt = plan(a_plan())
    (position,) = headwater.accept(hurt)
    damage(headwater, hurt)
    for ask in (
        lambda: headwater.journal.document(position),
        lambda: headwater.journal.document_of(PLAN_ID, hurt.content_hash),
    ):
        with pytest.raises(DamagedDocument, match=f"document {position} is damaged"):
            ask()
    listed: Sequence[StoredDocument] = headwater.journal.documents_of(PLAN_ID)
    assert [bool(item.damage) for item in listed] == [True]
    assert headwater.journal.entries().total == 1
    headwater.close()
