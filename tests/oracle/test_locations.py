"""Folders, files and patterns: who is upstream of whom, by brute force over the names of files.

A location is the set of names that it stands for. Besides the names that a history spells there is
one of each kind that nobody spells, because nobody knows every file of a folder. A write puts
itself on each of its names, an overwrite alone; a read finds what is on each of its names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from random import Random

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from graph_model.lineage import Lineage, Question
from graph_model.stores.protocols import Direction
from tests.oracle.documents import START, dataset_id, job_id, submissions
from tests.oracle.histories import Execution, History, Place, Plan
from tests.projections import project

NAMES = tuple(
    f"{folder}/{file}"
    for folder in ("in", "in/a", "in/b", "in/q", "out", "q")
    for file in ("o_1.csv", "o_2.csv", "c_1.csv", "o_5.csv", "q_1.csv", "o_9.csv", "q")
)
"""Of each location that holds others some are spelled nowhere."""
FILES = ("in/o_1.csv", "in/o_2.csv", "in/c_1.csv", "in/a/o_1.csv", "in/b/o_1.csv", "out/o_1.csv")
FOLDERS = ("in", "in/a", "out")
PATTERNS = ("in/o_*.csv", "in/?_1.csv", "in/{a,b}", "in/*/o_[1-8].csv", "in/[^o]*", "*/o_?.csv")
TABLES = ("t/raw-1", "t/raw-2", "t/report-1", "t/report-2")


def names_of(location: str) -> frozenset[str]:
    if location in TABLES:
        return frozenset({location})
    found = {name for name in NAMES if any(_matches(one, name) for one in _expanded(location))}
    return frozenset(found | ({location} if location in FILES else set()))


def _expanded(location: str) -> list[str]:
    before, brace, rest = location.partition("{")
    inside, _, after = rest.partition("}")
    return [f"{before}{one}{after}" for one in inside.split(",")] if brace else [location]


def _matches(location: str, name: str) -> bool:
    """A location holds what lies below a path that it matches, segment by segment."""
    wanted, found = location.replace("[^", "[!").split("/"), name.split("/")
    return len(wanted) <= len(found) and all(map(fnmatchcase, found, wanted))


def meet(one: str, other: str) -> bool:
    """ "two patterns meet only in a location that both match"."""
    if one in PATTERNS and other in PATTERNS:
        return one == other
    return bool(names_of(one) & names_of(other))


@dataclass(frozen=True)
class Truth:
    """Per execution, by its place, the executions that it saw; ``held``: those on each name.

    ``known``: the locations that existed by then, as did those that only plans without a run name.
    """

    executions: tuple[tuple[Execution, Plan], ...]
    known: frozenset[str]
    saw: Mapping[int, frozenset[int]]
    held: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, history: History, at: int) -> Truth:
        ran = sorted((one for one in history.executions if one.at <= at), key=lambda one: one.at)
        done = tuple((one, history.plans[one.plan]) for one in ran)
        held = dict.fromkeys((*NAMES, *TABLES), frozenset[int]())
        saw = {}
        for place, (_, plan) in enumerate(done):
            read = (name for one in plan.reads for name in names_of(one.dataset))
            saw[place] = frozenset(before for name in read for before in held[name])
            for name in names_of(plan.target):
                held[name] = (held[name] if plan.append else frozenset()) | {place}
        dated = _named(history.plans[one.plan] for one in history.executions)
        undated = _named(history.plans.values()) - dated
        return cls(done, frozenset(_named(plan for _, plan in done) | undated), saw, held)

    def upstream(self, location: str) -> tuple[set[str], set[str]]:
        """The locations among those of the history that are upstream, and the jobs between."""
        waiting = {place for name in names_of(location) for place in self.held[name]}
        reached: set[int] = set()
        while waiting:
            reached |= waiting
            waiting = {before for place in waiting for before in self.saw[place]} - reached
        plans = [self.executions[place][1] for place in reached]
        read = {place.dataset for plan in plans for place in plan.reads}
        known = {one for one in self.known if any(meet(one, other) for other in read)}
        return known, {plan.job for plan in plans}


def _named(plans: Iterable[Plan]) -> set[str]:
    return {one for plan in plans for one in (plan.target, *(read.dataset for read in plan.reads))}


def new_history(random: Random) -> History:
    landed = (*FILES, *FOLDERS)
    plans = []
    for number in range(random.randint(3, 7)):
        reads = random.sample(
            (*landed, *PATTERNS, *PATTERNS, *TABLES[:2]), random.choice((1, 1, 2))
        )
        written = random.choice((*landed, *landed, *TABLES[2:]))
        places = tuple(Place(one) for one in dict.fromkeys(reads))
        append = random.random() < 0.4
        plans.append(Plan(f"p{number}", f"J{number}", places, Place(written), append=append))
    times = random.sample(range(20), random.randint(4, 10))
    executions = [Execution(random.choice(plans).id, 1_000 * at) for at in sorted(times)]
    return History({plan.id: plan for plan in plans}, tuple(executions))


def answered(
    lineage: Lineage, location: str, direction: Direction, at: int
) -> tuple[set[str], set[str]]:
    answer = lineage.ask(Question(dataset_id(location), direction, 50, START + at))
    assert answer.partial is None
    assert not answer.folded
    return _spelled(answer.datasets) - _spelled(answer.via), _spelled(answer.jobs)


def _spelled(ids: Iterable[str]) -> set[str]:
    return {_SPELLINGS[one] for one in ids}


_SPELLINGS = {dataset_id(one): one for one in (*FILES, *FOLDERS, *PATTERNS, *TABLES)} | {
    job_id(f"J{number}"): f"J{number}" for number in range(9)
}


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=8, phases=(Phase.explicit, Phase.generate))
@example(28)
def test_upstream_is_what_the_names_of_files_say_and_downstream_its_mirror(seed: int) -> None:
    random = Random(seed)
    history = new_history(random)
    headwater = project(submissions(history), stepwise=False)
    for at in (random.randrange(20_000), 20_000):
        truth = Truth.of(history, at)
        locations = sorted(truth.known)
        lineage = Lineage(headwater.graph, headwater.catalogue)
        up = {one: answered(lineage, one, Direction.UPSTREAM, at) for one in locations}
        down = {one: answered(lineage, one, Direction.DOWNSTREAM, at)[0] for one in locations}
        for one in locations:
            known, jobs = truth.upstream(one)
            assert up[one] == (known | {one}, jobs), (one, at)
        for one, other in product(locations, locations):
            if one != other:
                assert (one in down[other]) == (other in up[one][0]), (one, other, at)
    headwater.close()
