"""A crash at any step of a projection, whatever comes next: the graph of a fresh projection."""

from __future__ import annotations

import pickle
import random
import tempfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.orders import submit
from graph_model.commands import Command, Cutoff, Forget, Prune
from graph_model.errors import GraphUnavailable
from graph_model.facts import Facts, stages
from graph_model.gremlin.checkpoints import Checkpoints
from graph_model.memory import MemoryGraph
from graph_model.projector import Projector
from graph_model.store import Submission
from tests.projections import elements_of, lineage_event, small_headwater
from tests.unit import test_openlineage_projection as openlineage
from tests.unit import test_projector as spline

_MOST_STEPS: Final = 60
TROUBLE: Final = [*spline.TROUBLE, *map(lineage_event, openlineage.TROUBLE)]


def ordered() -> list[Submission]:
    """Documents of what is forgotten or pruned, and the commands that say so."""
    run = [
        lineage_event(openlineage.run_event("f", kind, minute, "forgotten", outputs=[one]))
        for kind, minute, one in (
            ("START", 30, openlineage.dataset("t", "x")),
            ("RUNNING", 31, openlineage.dataset("only here", "k")),
            ("COMPLETE", 32, openlineage.dataset("u", "k")),
        )
    ]
    daily = spline.a_plan(id="44444444-2222-5333-8444-555555555555", name="daily")
    first = spline.event(spline.an_event(1_600_000_000_000, planId=daily["id"]))
    other = spline.event(spline.an_event(1_700_000_000_000, planId=daily["id"]))
    cutoff = Cutoff("default", "daily", "", "file:/data/out", 1_650_000_000_000)
    orders = [
        Forget((run[1].plan_id,), (run[1].content_hash,)),
        Prune((cutoff,), drop_bodies=False),
    ]
    said = [submit(Command("ana", 1, "", "", order)) for order in orders]
    return [*run, spline.plan(daily), first, other, *said]


ORDERED: Final = ordered()


class Killed(BaseException):
    """What nobody can catch: the process is gone."""


class Fault:
    """Once armed: lets so many steps pass, then raises, once."""

    def __init__(self) -> None:
        self._left = 0
        self._error: BaseException = Killed()

    def arm(self, steps: int, error: BaseException) -> None:
        self._left, self._error = steps, error

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise self._error


class FragileGraph:
    """Writes and removes piece by piece, and may be interrupted between any two."""

    def __init__(self, inner: MemoryGraph, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    def write(self, facts: Facts) -> None:
        staged = stages(facts)
        for piece in _halves(staged.vertices, staged.execution_vertices):
            self._fault.step()
            self._inner.write(Facts(vertices=tuple(piece)))
        for piece in _halves(staged.edges, staged.markers, staged.execution_edges):
            self._fault.step()
            self._inner.write(Facts(edges=tuple(piece)))

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        for piece in _halves(sorted(edge_ids)):
            self._fault.step()
            self._inner.remove((), piece)
        for piece in _halves(sorted(vertex_ids)):
            self._fault.step()
            self._inner.remove(piece, ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _halves(*wholes: Sequence[Any]) -> list[Sequence[Any]]:
    cut = [(whole, len(whole) // 2) for whole in wholes]
    return [part for whole, half in cut for part in (whole[:half], whole[half:]) if part]


class FragileStore:
    """May be interrupted before each of the calls named, which are transactions."""

    def __init__(self, inner: Any, fault: Fault, *names: str) -> None:
        self._inner = inner
        self._fault = fault
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            self._fault.step()
        return getattr(self._inner, name)


class FragileGenerations:
    def __init__(self, inner: Any, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    @property
    def current(self) -> FragileStore:
        return FragileStore(self._inner.current, self._fault, "record", "withdraw")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class SavedMemoryGraph:
    """What a checkpoint asks of a graph."""

    def __init__(self, graph: MemoryGraph) -> None:
        self._graph = graph
        self.count, self.clear = graph.count, graph.clear

    def save(self, path: Path) -> None:
        path.write_bytes(pickle.dumps(list(self._graph.scan())))

    def load(self, path: Path) -> None:
        found = pickle.loads(path.read_bytes())
        self._graph.write(Facts(vertices=tuple(e for e in found if not hasattr(e, "in_id"))))
        self._graph.write(Facts(edges=tuple(e for e in found if hasattr(e, "in_id"))))


class Deployment:
    """A small Headwater whose process and engine may end at any step and start again."""

    def __init__(self, folder: Path) -> None:
        self.headwater = small_headwater()
        self.fault = Fault()
        self._saved = SavedMemoryGraph(self.headwater.graph)
        self._folder = folder
        self.start()

    def start(self) -> None:
        """A new process over the stores as they are."""
        stores = self.headwater
        self.projector = Projector(
            FragileStore(stores.journal, self.fault, "conclude", "settle", "set_meta"),  # type: ignore[arg-type]
            FragileGraph(stores.graph, self.fault),  # type: ignore[arg-type]
            FragileGenerations(stores.generations, self.fault),  # type: ignore[arg-type]
            checkpoints=Checkpoints(self._folder, self._saved, stores.journal, every=1),
        )
        self.projector.prepare()
        self.projector._prepared = True

    def meet(self, wrong: str, steps: int) -> None:
        """Project what has come while something goes wrong at this step."""
        if wrong == "nothing":
            self.work()
        elif wrong == "saved":
            self.projector.project_pending()
            self.projector._take_checkpoint()
        else:
            self._fail(wrong, steps)

    def _fail(self, wrong: str, steps: int) -> None:
        self.fault.arm(steps, Killed() if wrong in {"killed", "both"} else GraphUnavailable("away"))
        with suppress(Killed, GraphUnavailable):
            self.projector.project_pending()
        self.fault.arm(0, Killed())
        if wrong in {"engine", "both"}:
            self.headwater.graph.clear()
        if wrong in {"killed", "both"}:
            self.start()
        if wrong == "engine":
            self.projector.prepare()

    def work(self) -> None:
        while self.projector.project_pending() or self.projector.rebuild_step():
            pass


WRONG: Final = ("nothing", "saved", "away", "engine", "killed", "both")


def what_comes_of(documents: list[Submission], chance: random.Random) -> tuple[object, object]:
    """They come in groups, and with each of these something goes wrong, or nothing does."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr("graph_model.projector._PLANS_A_BATCH", 2)  # others wait while it works
        deployment = Deployment(Path(folder))
        while documents:
            size = chance.randint(1, 6)
            group, documents = documents[:size], documents[size:]
            deployment.headwater.accept(*group)
            deployment.meet(chance.choice(WRONG), chance.randint(1, _MOST_STEPS))
        deployment.start()
        deployment.work()
        found = deployment.headwater.elements()
        deployment.headwater.close()
    return found


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_a_crash_at_any_step_leaves_what_a_fresh_projection_gives(chance: random.Random) -> None:
    documents = chance.sample([*TROUBLE, *ORDERED], chance.randint(2, len(TROUBLE)))
    assert what_comes_of(documents, chance) == elements_of(documents, stepwise=False)


def test_a_checkpoint_taken_while_others_wait_does_not_bring_back_what_was_withdrawn() -> None:
    """It holds a run's later event beside an older document that waits; then the run changes."""

    def run(minute: int, source: str) -> Submission:
        lineage = openlineage.columns(source, "k", "x")
        output = openlineage.dataset("u", "k", columnLineage=lineage)
        return lineage_event(
            openlineage.run_event("r", "COMPLETE", minute, f"job {minute}", outputs=[output])
        )

    older, waiting = run(1, "a"), TROUBLE[0]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr("graph_model.projector._PLANS_A_BATCH", 1)
        deployment = Deployment(Path(folder))
        documents = [older, waiting, run(2, "b"), run(3, "c")]
        deployment.headwater.accept(*documents[:3])
        deployment.meet("saved", 0)
        deployment.headwater.accept(documents[3])
        deployment.meet("nothing", 0)
        deployment.meet("both", 0)
        deployment.work()
        found = deployment.headwater.elements()
        deployment.headwater.close()
    assert found == elements_of(documents, stepwise=False)
