"""Folders, files and patterns: who is upstream of whom, by brute force over the names of files.

A location is the set of names that it stands for. Besides the names that a history spells there is
one of each kind that nobody spells, because nobody knows every file of a folder. A write puts
itself on each of its names, an overwrite alone; a read finds what is on each of its names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from random import Random

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from graph_model import identity
from graph_model.answers.impact.report import Impact, Scope
from graph_model.answers.lineage import draw_around
from graph_model.answers.sources import Sources
from graph_model.lineage import Lineage, Question, Reach
from graph_model.stores.graph import Direction
from tests.oracle.documents import START, column_id, dataset_id, job_id, submissions
from tests.oracle.histories import Column, Execution, History, Place, Plan
from tests.projections import project

NAMES = tuple(
    f"{folder}/{file}"
    for folder in ("in", "in/a", "in/b", "in/q", "out", "q")
    for file in ("o_1.csv", "o_2.csv", "c_1.csv", "o_5.csv", "q_1.csv", "o_9.csv", "o_x0.csv", "q")
)
"""Of each location that holds others some are spelled nowhere."""
FILES = ("in/o_1.csv", "in/o_2.csv", "in/c_1.csv", "in/a/o_1.csv", "in/b/o_1.csv", "out/o_1.csv")
FOLDERS = ("in", "in/a", "out")
PATTERNS = ("in/o_*.csv", "in/?_1.csv", "in/{a,b}", "in/*/o_[1-8].csv", "in/[^o]*", "*/o_?.csv")
PATHS = ("k", "v")
LISTED = tuple(f"in/o_x{number}.csv" for number in range(20))
"""Besides these a list has some of the files that a history spells."""
TABLES = ("t/raw-1", "t/raw-2", "t/report-1", "t/report-2")


def names_of(location: str) -> frozenset[str]:
    if location in TABLES:
        return frozenset({location})
    result = {name for name in NAMES if any(_matches(item, name) for item in _expanded(location))}
    return frozenset(result | ({location} if location in FILES else set()))


def read_at(place: Place) -> frozenset[str]:
    """Only the listed files of a list count as read."""
    result = names_of(place.dataset)
    return result & frozenset(place.files) if place.files else result


def _expanded(location: str) -> list[str]:
    before, brace, rest = location.partition("{")
    inside, _, after = rest.partition("}")
    return [f"{before}{word}{after}" for word in inside.split(",")] if brace else [location]


def _matches(location: str, name: str) -> bool:
    """A location holds what lies below a path that it matches, segment by segment."""
    wanted, result = location.replace("[^", "[!").split("/"), name.split("/")
    return len(wanted) <= len(result) and all(map(fnmatchcase, result, wanted))


def meet(one: str, other: str) -> bool:
    """ "two patterns meet only in a location that both match"."""
    if one in PATTERNS and other in PATTERNS:
        return one == other
    return bool(names_of(one) & names_of(other))


def read_as(location: str, place: Place) -> bool:
    """Whether a read of a place is one of a location: they share a file that was read."""
    shared = location == place.dataset or bool(names_of(location) & read_at(place))
    return meet(location, place.dataset) and shared


@dataclass(frozen=True)
class Truth:
    """Per execution, by its place, and location that it read the executions that it saw; ``held``:
    those on each name.

    ``known``: the locations that existed by then, as did those that only plans without a run name.
    ``columns``: those that a document names.
    """

    executions: tuple[tuple[Execution, Plan], ...]
    known: frozenset[str]
    saw: Mapping[tuple[int, str], frozenset[int]]
    held: Mapping[str, frozenset[int]]
    columns: frozenset[Column]

    @classmethod
    def of(cls, history: History, at: int) -> Truth:
        ran = sorted(
            (execution for execution in history.executions if execution.at <= at),
            key=lambda one: one.at,
        )
        done = tuple((item, history.plans[item.plan]) for item in ran)
        held = dict.fromkeys((*NAMES, *TABLES), frozenset[int]())
        saw = {}
        for place, (_, plan) in enumerate(done):
            for one in plan.reads:
                on = (held[name] for name in read_at(one))
                saw[place, one.dataset] = frozenset[int]().union(*on)
            for name in names_of(plan.target) if plan.writes else ():
                held[name] = (held[name] if plan.append else frozenset()) | {place}
        dated = _named(history.plans[execution.plan] for execution in history.executions)
        undated = _named(history.plans.values()) - dated
        known = frozenset(_named(plan for _, plan in done) | undated)
        columns = frozenset(item for plan in history.plans.values() for item in _columns_of(plan))
        return cls(done, known, saw, held, columns)

    def upstream(self, location: str) -> tuple[set[str], set[str]]:
        """The locations among those of the history that are upstream, and the jobs between."""
        waiting = {place for name in names_of(location) for place in self.held[name]}
        reached: set[int] = set()
        while waiting:
            reached |= waiting
            waiting = {before for place in waiting for before in self._before(place)} - reached
        plans = [self.executions[place][1] for place in reached]
        read = [place for plan in plans for place in plan.reads]
        known = {item for item in self.known if any(read_as(item, place) for place in read)}
        return known, {plan.job for plan in plans}

    def upstream_in_force(self, location: str) -> tuple[set[str], set[str]]:
        """As ``upstream``, by the plans that ran (each is the only one of its job), whatever was
        written when; a next run may find other files than a list had.
        """
        plans = {plan.id: plan for _, plan in self.executions}
        waiting = {item for item, plan in plans.items() if self._writes(plan, location)}
        reached: set[str] = set()
        while waiting:
            reached |= waiting
            read = {place.dataset for item in waiting for place in plans[item].reads}
            waiting = {
                entry
                for entry, plan in plans.items()
                if entry not in reached and any(self._writes(plan, source) for source in read)
            }
        read = {place.dataset for item in reached for place in plans[item].reads}
        known = {item for item in self.known if any(meet(item, other) for other in read)}
        return known, {plans[item].job for item in reached}

    def _writes(self, plan: Plan, location: str) -> bool:
        return bool(plan.writes) and meet(plan.target, location)

    def _before(self, place: int) -> set[int]:
        reads = self.executions[place][1].reads
        return {before for read in reads for before in self.saw[place, read.dataset]}

    # --- columns

    def upstream_columns(self, column: Column) -> set[Column]:
        """The columns upstream, under the name of every location that was read there."""
        writes = {place for name in names_of(column.dataset) for place in self.held[name]}
        derived = self._derived({(place, column.name) for place in writes})
        read = {source for place, name in derived for source in self._sources(place, name)}
        return {item for item in self.columns if any(self._read_as(item, *pair) for pair in read)}

    def jobs_below(self, column: Column) -> set[str]:
        """The jobs between a column and what is visible, and the readers that name no columns."""
        writes = {place for location in self.known for place in self._visible(location)}
        ends = {(place, name) for place in writes for name in self._written(place)}
        ends |= {(place, "") for place in writes if self.executions[place][1].columns is None}
        ends |= {(place, "") for place, (_, plan) in enumerate(self.executions) if not plan.writes}
        below: set[tuple[int, str]] = set()
        for place, name in sorted(self._derived(ends)):  # by time: what was read comes first
            before = self._derived_before(place, name)
            read = self._sources(place, name)
            if before & below or any(self._read_as(column, *pair) for pair in read):
                below.add((place, name))
        return {self.executions[place][1].job for place, _ in below}

    def _visible(self, location: str) -> set[int]:
        return {place for name in names_of(location) for place in self.held[name]}

    def _written(self, place: int) -> set[str]:
        return {name for name, _ in self.executions[place][1].columns or ()}

    def _derived(self, ends: set[tuple[int, str]]) -> set[tuple[int, str]]:
        """These columns of executions ("": of one that names none), and those behind them."""
        reached: set[tuple[int, str]] = set()
        waiting = ends
        while waiting:
            reached |= waiting
            waiting = {item for end in waiting for item in self._derived_before(*end)} - reached
        return reached

    def _derived_before(self, place: int, name: str) -> set[tuple[int, str]]:
        return {
            (before, source)
            for read, source in self._sources(place, name)
            for before in self.saw[place, read.dataset]
            if source in self._written(before)
        }

    def _sources(self, place: int, name: str) -> set[tuple[Place, str]]:
        """The places that were read, each with the name of a column there."""
        plan = self.executions[place][1]
        if not name and plan.columns is None:
            return {(read, item) for read in plan.reads for item in PATHS}
        computed = (source for own, some in plan.columns or () if own == name for source in some)
        places = {read.dataset: read for read in plan.reads}
        return {(places[source.dataset], source.name) for source in computed}

    def _read_as(self, column: Column, read: Place, name: str) -> bool:
        met = column.dataset in self.known and read_as(column.dataset, read)
        return met and column.name == name


def _columns_of(plan: Plan) -> set[Column]:
    """The columns that its document names: it reads all that there are."""
    if plan.columns is None:
        return set()
    read = {Column(place.dataset, path) for place in plan.reads for path in PATHS}
    return read | {Column(plan.target, name) for name, _ in plan.columns}


def _named(plans: Iterable[Plan]) -> set[str]:
    named = {
        item for plan in plans for item in (plan.target, *(read.dataset for read in plan.reads))
    }
    return named - {""}


def new_history(random: Random, *, columns: bool = False) -> History:
    landed = (*FILES, *FOLDERS)
    plans = []
    listing = random.random() < 0.4
    for number in range(random.randint(3, 7)):
        reads = random.sample(
            (*landed, *PATTERNS, *PATTERNS, *TABLES[:2]), random.choice((1, 1, 2))
        )
        written = random.choice((*landed, *landed, *TABLES[2:]))
        reads = ["in/o_*.csv", *reads[1:]] if listing and number % 2 else reads
        places = tuple(_read_of(random, fromkey) for fromkey in dict.fromkeys(reads))
        append = random.random() < 0.4
        plan = Plan(f"p{number}", f"J{number}", places, Place(written), append=append)
        plans.append(_with_columns(random, plan) if columns else plan)
    times = random.sample(range(20), random.randint(4, 10))
    executions = [Execution(random.choice(plans).id, 1_000 * at) for at in sorted(times)]
    return History({plan.id: plan for plan in plans}, tuple(executions))


def _read_of(random: Random, location: str) -> Place:
    """Now and then the document has a list of files where the pattern stands for one."""
    if location != "in/o_*.csv" or random.random() < 0.4:
        return Place(location)
    spelled = random.sample(("in/o_1.csv", "in/o_2.csv"), random.choice((1, 1, 2)))
    return Place(location, files=(*LISTED, *spelled))


def _with_columns(random: Random, plan: Plan) -> Plan:
    """It writes one column or both; or it names none; or it only reads."""
    kind = random.random()
    if kind < 0.15:
        return replace(plan, writes=None)
    if kind < 0.3:
        return plan
    read = [Column(place.dataset, path) for place in plan.reads for path in PATHS]
    names = random.choice((("k",), ("v",), PATHS))
    computed = ((name, tuple(random.sample(read, random.choice((1, 1, 2))))) for name in names)
    return replace(plan, columns=tuple(computed))


def answered(
    lineage: Lineage, location: str, direction: Direction, at: int, reach: Reach = Reach.SEEN
) -> tuple[set[str], set[str]]:
    answer = lineage.ask(Question(dataset_id(location), direction, 50, START + at, reach=reach))
    assert answer.partial is None
    assert not answer.folded
    return _spelled(answer.datasets) - _spelled(answer.via), _spelled(answer.jobs)


def _spelled(ids: Iterable[str]) -> set[str]:
    return {_SPELLINGS[identifier] for identifier in ids}


_SPELLINGS = {dataset_id(item): item for item in (*FILES, *FOLDERS, *PATTERNS, *TABLES)} | {
    job_id(f"J{number}"): f"J{number}" for number in range(9)
}


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=8, phases=(Phase.explicit, Phase.generate))
@example(28)
@example(47)
def test_upstream_is_what_the_names_of_files_say_and_downstream_its_mirror(seed: int) -> None:
    random = Random(seed)
    history = new_history(random)
    headwater = project(submissions(history), stepwise=False)
    for at in (random.randrange(20_000), 20_000):
        truth = Truth.of(history, at)
        locations = sorted(truth.known)
        lineage = Lineage(headwater.graph, headwater.catalogue)
        up = {
            location: answered(lineage, location, Direction.UPSTREAM, at) for location in locations
        }
        down = {item: answered(lineage, item, Direction.DOWNSTREAM, at)[0] for item in locations}
        for entry in locations:
            known, jobs = truth.upstream(entry)
            assert up[entry] == (known | {entry}, jobs), (entry, at)
        for entry, other in product(locations, locations):
            if entry != other:
                assert (entry in down[other]) == (other in up[entry][0]), (entry, other, at)
    headwater.close()


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=5, phases=(Phase.explicit, Phase.generate))
def test_possible_flow_leads_through_locations_and_all_numbers_agree(seed: int) -> None:
    """What lineage draws, what it counts as not seen, and the rows of impact."""
    random = Random(seed)
    headwater = project(submissions(history := new_history(random)), stepwise=False)
    at = random.choice((random.randrange(20_000), 20_000))
    truth = Truth.of(history, at)
    locations = sorted(truth.known)
    up, down = Direction.UPSTREAM, Direction.DOWNSTREAM
    lineage = Lineage(headwater.graph, headwater.catalogue)
    above = {
        location: answered(lineage, location, up, at, Reach.POSSIBLE) for location in locations
    }
    below = {
        location: answered(lineage, location, down, at, Reach.POSSIBLE) for location in locations
    }
    for item in locations:
        seen, in_force = truth.upstream(item), truth.upstream_in_force(item)
        assert above[item] == (seen[0] | in_force[0] | {item}, seen[1] | in_force[1]), (item, at)
        for other in locations:
            if item != other:
                assert (item in below[other][0]) == (other in above[item][0]), (item, other, at)
        question = Question(dataset_id(item), down, 50, START + at, not_seen=True)
        counted = lineage.ask(question)
        possible = lineage.ask(replace(question, reach=Reach.POSSIBLE, not_seen=False))
        assert counted.not_seen == (
            len(possible.datasets) - len(counted.datasets),
            len(possible.jobs) - len(counted.jobs),
            False,
        )
        rows = Impact(headwater.sources).of_node(question.node, Scope(50, START + at)).items
        assert _spelled(row.id for row in rows if row.kind == "job") == below[item][1]
        assert _spelled(row.id for row in rows if row.kind == "dataset") == below[item][0] - {item}
        assert len({row.id for row in rows}) == len(rows)
    for item in random.sample(locations, 2):
        near = Question(dataset_id(item), depth=1, at=START + at, reach=Reach.POSSIBLE)
        assert_handles_open_what_they_count(headwater.sources, near)
    headwater.close()


def assert_handles_open_what_they_count(sources: Sources, near: Question) -> None:
    view = draw_around(sources, near, jobs=True, beyond=True)
    drawn = {node.id for node in view.nodes}
    for node in view.nodes:
        if identity.kind_of(node.id) != "dataset":
            continue
        counted = (node.more.upstream, node.more.downstream) if node.more else (0, 0)
        ways = (Direction.UPSTREAM, Direction.DOWNSTREAM)
        opened = (sources.lineage.ask(replace(near, node=node.id, direction=way)) for way in ways)
        assert counted == tuple(len(set(answer.jobs) - drawn) for answer in opened), node


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=5, phases=(Phase.explicit, Phase.generate))
def test_columns_meet_by_name_where_their_locations_share_files(seed: int) -> None:
    random = Random(seed)
    history = new_history(random, columns=True)
    headwater = project(submissions(history), stepwise=False)
    for at in (random.randrange(20_000), 20_000):
        truth = Truth.of(history, at)
        lineage = Lineage(headwater.graph, headwater.catalogue)
        asked = sorted(
            (column for column in truth.columns if column.dataset in truth.known), key=str
        )
        up = {item: columns_of(lineage, item, Direction.UPSTREAM, at)[0] for item in asked}
        down = {entry: columns_of(lineage, entry, Direction.DOWNSTREAM, at) for entry in asked}
        for element in asked:
            assert up[element] == truth.upstream_columns(element) | {element}, (element, at)
            assert down[element][1] == truth.jobs_below(element), (element, at)
        for element, other in product(asked, asked):
            if element != other:
                assert (element in down[other][0]) == (other in up[element]), (element, other, at)
        for location in sorted(truth.known)[:2]:
            question = Question(dataset_id(location), depth=50, at=START + at, columns=True)
            drawn = {Column(_SPELLINGS[n.dataset], n.path) for n in lineage.ask(question).columns}
            assert drawn <= truth.columns, (location, at)
    headwater.close()


def columns_of(
    lineage: Lineage, column: Column, direction: Direction, at: int
) -> tuple[set[Column], set[str]]:
    """The columns of an answer, and the jobs at the ends of its chains."""
    question = Question(
        column_id(column), direction, 50, START + at, limit=5_000, chains=True, readers=True
    )
    answer = lineage.ask(question)
    assert answer.partial is None
    assert not answer.folded
    via = set(answer.via) - {question.node}
    nodes = [node for node in answer.columns if node.id not in via]
    ends = {chain.end for chain in answer.chains if identity.kind_of(chain.end) == "job"}
    return {Column(_SPELLINGS[node.dataset], node.path) for node in nodes}, _spelled(ends)
