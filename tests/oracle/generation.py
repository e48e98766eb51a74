"""Histories that nobody would think of.

Drawn evenly from a seed: a search that likes simple values writes the same plan three times, and
interesting histories need several plans that fit each other. ``smallest`` does the shrinking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from tests.oracle.comparison import datasets_of
from tests.oracle.histories import (
    CREATE_AS_SELECT,
    DAY,
    INSERT,
    LIFECYCLE,
    OPENLINEAGE,
    ROW_LEVEL,
    Asked,
    Column,
    Execution,
    History,
    Place,
    Plan,
    Version,
)

DATASETS: Final = ("a", "b", "c", "d", "e")
NAMES: Final = ("@hr.n", "@hr.m")
JOBS: Final = ("J", "K", "L")
DEPTHS: Final = (0, 1, 2, 3, 4, 50)
DIRECTIONS: Final = ("upstream", "downstream", "both")
SECOND: Final = 1_000
END_OF_TIME: Final = 253_402_300_799_000 - 1_700_000_000_000
"""The last second of the year 9999, in milliseconds after the start."""
_PARTITIONS: Final = (
    (("dt", "1"),),
    (("dt", "2"),),
    (("dt", "1"), ("hr", "1")),
    (("dt", "1"), ("hr", "2")),
)


# --- histories from nothing ----------------------------------------------------------------------


def new_history(random: Random, *, names: bool = True) -> History:
    """A few plans and their executions, at times so close that many are equal."""
    partitioned = random.sample(DATASETS, random.choice((0, 1, 2)))
    named = names and random.random() < 0.3
    plans: list[Plan] = []
    for number in range(random.randint(3, 6)):
        plans.append(_new_plan(random, f"p{number}", partitioned, named, plans))
    executions = {
        Execution(
            random.choice(plans).id,
            random.randint(0, 12) * SECOND,
            random.random() < 0.1,
            random.choice(("app-1", "app-2")),
        )
        for _ in range(random.randint(4, 11))
    }
    writing = [plan for plan in plans if plan.writes]
    if writing and random.random() < 0.15:
        twins, told_twice = _told_twice(random, writing)
        plans, executions = [*plans, *twins], executions | told_twice
    ordered = sorted(executions, key=lambda one: (one.at, one.plan, one.failed, one.application))
    return History({plan.id: plan for plan in plans}, tuple(ordered))


def long_history(random: Random) -> History:
    """One plan that ran more often than an exact walk follows, among others."""
    history = new_history(random, names=False)
    busy = random.choice(sorted(history.plans))
    runs = [Execution(busy, at * SECOND + 500) for at in range(random.randint(9, 12))]
    others = [execution for execution in history.executions if execution.plan != busy][:3]
    return replace(history, executions=(*others, *runs))


def with_clocks(random: Random, history: History) -> History:
    """Some of its documents claim a time after their receipt: within a day, or to the year 9999."""
    ahead = (SECOND, DAY - SECOND, DAY, DAY + 1, 30 * DAY, END_OF_TIME)
    return replace(
        history,
        executions=tuple(
            replace(execution, claimed=min(execution.at + random.choice(ahead), END_OF_TIME))
            if random.random() < 0.3
            else execution
            for execution in history.executions
        ),
    )


def with_versions(random: Random, history: History) -> History:
    """Some of its tables have versions, which some writes tell, and some reads are bound to one."""
    plans = history.plans.values()
    read = {place.dataset for plan in plans for place in plan.reads}
    both = sorted({plan.target for plan in plans} & read & {*DATASETS}) or DATASETS
    versioned = random.sample(both, random.randint(1, len(both)))
    history = _with_more_writes(random, history, versioned)
    made = [_with_written(random, history, name) for name in versioned]
    wrote = {item: version for entry in made for item, version in entry.items()}
    executions = [
        replace(
            execution,
            wrote=wrote.get(execution),
            bound=tuple(_bound(random, history, execution, wrote, versioned)),
        )
        for execution in history.executions
    ]
    return replace(history, executions=tuple(executions))


def with_rewritten_jobs(random: Random, history: History) -> History:
    """Some of its jobs write in an unknown mode, and compute their columns in more ways than one:
    later, and now and then at the same time.
    """
    plans = dict(history.plans)
    jobs = random.sample(JOBS, random.randint(1, len(JOBS)))
    own = [p for p in plans.values() if p.job in jobs and _may_be_told_by_run(p)]
    plans |= {plan.id: _told_by_run(random, plan) for plan in own}
    versions = [
        replace(_told_by_run(random, random.choice(own)), id=f"v{number}")
        for number in range(random.randint(1, 3) if own else 0)
    ]
    plans |= {plan.id: plan for plan in versions}
    more = {
        Execution(random.choice((*own, *versions)).id, random.randint(0, 12) * SECOND)
        for _ in range(random.randint(1, 4) if own else 0)
    }
    executions = sorted({*history.executions, *more}, key=lambda one: (one.at, one.plan))
    return History(plans, tuple(executions))


def _may_be_told_by_run(plan: Plan) -> bool:
    datasets = {plan.target, *(place.dataset for place in plan.reads)}
    return plan.command == INSERT and datasets <= {*DATASETS} and plan.id not in ("once", "again")


def _told_by_run(random: Random, plan: Plan) -> Plan:
    """The same in OpenLineage's words, with columns of its own choice or with none."""
    whole = tuple(dict.fromkeys(Place(place.dataset) for place in plan.reads))
    plain = Plan(plan.id, plan.job, whole, Place(plan.target), producer=OPENLINEAGE)
    plain = _with_columns(random, plain) if random.random() < 0.8 else plain
    if any(sources for _, sources in plain.columns or ()):
        return replace(plain, filter=())
    return replace(plain, columns=None, filter=())


def _with_more_writes(random: Random, history: History, versioned: Sequence[str]) -> History:
    """Versions tell most where several writes stand beside each other: appends, and runs again."""
    plans = {
        key: replace(plan, append=True)
        if plan.target in versioned and random.random() < 0.4
        else plan
        for key, plan in history.plans.items()
    }
    writing = sorted(key for key, plan in plans.items() if plan.target in versioned)
    more = [
        Execution(random.choice(writing), random.randint(0, 12) * SECOND, application=f"more-{n}")
        for n in range(random.randint(0, 4) if writing else 0)
    ]
    executions = sorted((*history.executions, *more), key=lambda one: (one.at, one.plan))
    return History(plans, tuple(executions))


def _with_written(random: Random, history: History, dataset: str) -> dict[Execution, Version]:
    """Which executions tell a version; now and then the clocks of two of them disagree."""
    writing = [
        execution
        for execution in history.executions
        if history.plans[execution.plan].target == dataset
        and not history.plans[execution.plan].by_run
        and execution.application != "twice"
        and random.random() < 0.75
    ]
    numbers = list(range(len(writing)))
    if len(writing) > 1 and random.random() < 0.25:
        place = random.randrange(len(writing) - 1)
        numbers[place], numbers[place + 1] = numbers[place + 1], numbers[place]
    gap, by_id = random.choice((1, 1, 2)), random.random() < 0.3
    return {
        item: Version(gap * number, random.choice(("", "", "", "audit")), by_id=by_id)
        for item, number in zip(writing, numbers, strict=True)
    }


def _bound(
    random: Random,
    history: History,
    reader: Execution,
    wrote: Mapping[Execution, Version],
    versioned: Sequence[str],
) -> Iterator[tuple[str, Version]]:
    """Versions that were there before: a reader of a later version would be its own ancestor."""
    plan, read_at = history.plans[reader.plan], _earliest(history, reader)
    for dataset in dict.fromkeys(place.dataset for place in plan.reads):
        if dataset not in versioned or random.random() < 0.4:
            continue
        own = {o: v for o, v in wrote.items() if history.plans[o.plan].target == dataset}
        later = min((v.number for o, v in own.items() if o.at >= read_at), default=99)
        known = [v for v in own.values() if v.number < later]
        if plan.by_run:  # OpenLineage says the id, and that alone
            if known:
                answer = random.choice(known)
                yield dataset, answer if answer.by_id else Version(answer.number)
        elif later > 0:
            most = max((v.number for v in known), default=0)
            number = random.randint(0, min(later - 1, most + 1))
            since = random.randint(0, number) if random.random() < 0.2 else None
            yield dataset, Version(number, random.choice(("", "", "audit")), since)


def _earliest(history: History, reader: Execution) -> int:
    """When its read counts at the earliest: of two producers' times the earlier one."""
    if reader.application != "twice":
        return reader.at
    return min(execution.at for execution in history.executions if execution.application == "twice")


def _new_plan(
    random: Random,
    identifier: str,
    partitioned: Sequence[str],
    named: bool,
    others: Sequence[Plan],
) -> Plan:
    """It often reads a table that another writes, and now and then writes the same one."""
    written = [plan.target for plan in others if plan.target in DATASETS]
    sources = random.sample(DATASETS, random.choice((0, 1, 1, 1, 1, 1, 2)))
    if sources and written and random.random() < 0.6:
        sources[0] = random.choice([name for name in written if name not in sources[1:]] or sources)
    reads = [_place(random, dataset, partitioned) for dataset in sources]
    if reads and reads[0].partition and random.random() < 0.3:  # two parts of one dataset
        second = random.choice(_PARTITIONS)
        reads.append(Place(sources[0], second, tuple(key for key, _ in second)))
    if named and random.random() < 0.4:
        reads.append(Place(random.choice(NAMES)))
    if len(others) > 1 and random.random() < 0.25:  # it only reads
        return Plan(identifier, random.choice(JOBS), tuple(dict.fromkeys(reads)), None)
    target = random.choice(written if written and random.random() < 0.4 else DATASETS[1:])
    writes = _place(random, target, partitioned)
    if named and random.random() < 0.2:
        writes = Place(random.choice(NAMES))
    command = INSERT
    if random.random() < 0.2:
        command = random.choice((*ROW_LEVEL, *ROW_LEVEL, *LIFECYCLE))
        writes = Place(writes.dataset)
    whole = writes.partition is None and writes.dataset in partitioned
    plan = Plan(
        id=identifier,
        job=random.choice(JOBS),
        reads=tuple(dict.fromkeys(reads)),
        writes=writes,
        append=random.random() < 0.25,
        dynamic=whole and random.random() < 0.4,
        listed=random.random() < 0.4,
        command=command,
    )
    plan = _with_columns(random, plan) if random.random() < 0.8 else plan
    return _with_name(random, plan) if named and random.random() < 0.6 else plan


def _place(random: Random, dataset: str, partitioned: Sequence[str]) -> Place:
    """The whole, a known partition, or one that nobody names (``dt=*``)."""
    if dataset not in partitioned or random.random() < 0.2:
        return Place(dataset)
    if random.random() < 0.15:
        return Place(dataset, None, ("dt",))
    partition = random.choice(_PARTITIONS)
    return Place(dataset, partition, tuple(key for key, _ in partition))


def _with_columns(random: Random, plan: Plan) -> Plan:
    datasets = sorted({place.dataset for place in plan.reads})
    if not datasets:
        return plan
    known = [Column(dataset, name) for dataset in datasets for name in ("k", "v")]
    columns = tuple(
        (name, tuple(random.sample(known, random.choice((0, 1, 1, 1, 2))))) for name in ("k", "v")
    )
    filtered = (random.choice(known),) if random.random() < 0.25 else ()
    return replace(plan, columns=columns, filter=filtered)


def _with_name(random: Random, plan: Plan) -> Plan:
    """The plan calls one of its locations by a catalog name too."""
    touched = (*(place.dataset for place in plan.reads), plan.target)
    places = sorted(dataset for dataset in touched if dataset not in NAMES)
    if not places:
        return plan
    return replace(plan, names=((random.choice(places), random.choice(NAMES)),))


def _told_twice(random: Random, plans: Sequence[Plan]) -> tuple[list[Plan], set[Execution]]:
    """One write that left two plans: a CTAS, or two producers side by side."""
    plain = replace(random.choice(plans), command=INSERT, names=())
    by_command = random.random() < 0.5
    first = replace(plain, id="once")
    other = replace(first, id="again", **(
        {"command": CREATE_AS_SELECT} if by_command else {"producer": "listener"}
    ))  # fmt: skip
    if random.random() < 0.3:
        other = replace(other, append=not other.append)
    at = random.randint(0, 12) * SECOND
    apart = random.choice((-10_001, -10_000, -2_000, 0, 1_000, 4_000, 10_000, 10_001))
    executions = {
        Execution("once", at, application="twice"),
        Execution("again", max(0, at + apart), application="twice"),
    }
    if random.random() < 0.3:  # a write of its own beside them
        beside = random.choice((-2_000, -500, 500, 2_000))
        executions.add(Execution("once", max(0, at + apart + beside), application="twice"))
    return [first, other], executions


# --- histories from others -----------------------------------------------------------------------


def varied_history(random: Random, known: History) -> History:
    """A history made by hand with some executions left out, moved, failed, and added."""
    kept: dict[Execution, None] = {}
    for execution in known.executions:
        fate = random.choice(("kept", "kept", "kept", "kept", "moved", "moved", "lost", "failed"))
        if fate == "moved" and execution.application == "app":
            execution = replace(execution, at=_half_second(random))
        if fate == "failed":
            execution = replace(execution, failed=not execution.failed)
        if fate != "lost":
            kept[execution] = None
    for number in range(random.randint(0, 3)):
        plan = random.choice(sorted(known.plans))
        kept[Execution(plan, _half_second(random), application=f"more-{number}")] = None
    return replace(known, executions=tuple(kept))


def _half_second(random: Random) -> int:
    return random.randint(0, 10) * SECOND // 2


# --- questions -----------------------------------------------------------------------------------


def nodes_of(history: History) -> list[str]:
    """Every node that one can ask about: nobody tells of a plan that only reads and never ran."""
    ran = {execution.plan for execution in history.executions}
    answer = {key: plan for key, plan in history.plans.items() if not plan.by_run or key in ran}
    history = replace(history, plans=answer)
    columns = {
        Column(end.dataset, end.name)
        for plan in history.plans.values()
        for name, sources in plan.columns or ()
        for end in (*sources, Column(plan.target, name))
        if plan.reads
    }
    return [
        *(f"dataset:{name}" for name in datasets_of(history)),
        *(f"job:{name}" for name in sorted({plan.job for plan in history.plans.values()})),
        *(f"column:{column.text}" for column in sorted(columns, key=lambda c: c.text)),
    ]


def times_of(history: History) -> list[int | None]:
    """Just before, at and after each event, and the end of time."""
    events = {execution.at for execution in history.executions}
    return [None, *sorted({at + shift for at in events for shift in (-1, 0, 1)})]


def some_question(random: Random, history: History) -> Asked:
    return Asked(
        node=random.choice(nodes_of(history)),
        direction=random.choice(DIRECTIONS),
        depth=random.choice(DEPTHS),
        at=random.choice((None, random.choice(times_of(history)))),
        indirect=random.random() < 0.25,
    )


# --- the smallest history that still shows it -----------------------------------------------------


def smallest(history: History, shows: Callable[[History], bool]) -> History:
    """Leave out whatever can be left out, one thing at a time, while ``shows`` holds."""
    shrinking = True
    while shrinking:
        shrinking = False
        for simpler in _simpler(history):
            if shows(simpler):
                history, shrinking = simpler, True
                break
    return history


def _simpler(history: History) -> Iterator[History]:
    ran = {execution.plan for execution in history.executions}
    for plan in history.plans:
        if plan not in ran:
            kept = {key: value for key, value in history.plans.items() if key != plan}
            yield replace(history, plans=kept)
    for index in range(len(history.executions)):
        left = history.executions[:index] + history.executions[index + 1 :]
        yield replace(history, executions=left)
    for index, first in enumerate(history.executions):
        for simpler in _with_fewer_versions(first):
            rest = (*history.executions[:index], simpler, *history.executions[index + 1 :])
            yield replace(history, executions=rest)
    for plan in history.plans.values():
        for plainer in _plainer(plan):
            yield replace(history, plans={**history.plans, plan.id: plainer})


def _with_fewer_versions(execution: Execution) -> Iterator[Execution]:
    if execution.wrote:
        yield replace(execution, wrote=None)
    if execution.bound:
        yield replace(execution, bound=execution.bound[1:])


def _plainer(plan: Plan) -> Iterator[Plan]:
    if plan.columns is not None:
        yield replace(plan, columns=None, filter=())
    if plan.filter:
        yield replace(plan, filter=())
    if plan.names:
        yield replace(plan, names=())
    if plan.columns is None:
        for index in range(len(plan.reads)):
            yield replace(plan, reads=plan.reads[:index] + plan.reads[index + 1 :])
    for flag in ("append", "dynamic", "listed"):
        if getattr(plan, flag):
            yield replace(plan, **{flag: False})
    if plan.command != INSERT:
        yield replace(plan, command=INSERT)
    for index, place in enumerate(plan.reads):
        if place.keys:
            whole = (*plan.reads[:index], Place(place.dataset), *plan.reads[index + 1 :])
            yield replace(plan, reads=whole)
    if plan.writes and plan.writes.keys:
        yield replace(plan, writes=Place(plan.target))
    for index, (name, sources) in enumerate(plan.columns or ()):
        if sources:
            fewer = (*plan.columns[:index], (name, sources[1:]), *plan.columns[index + 1 :])
            yield replace(plan, columns=fewer)
