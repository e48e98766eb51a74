"""The events under one run id -> the runs that they are about.

The specification wants a new UUID for each run. Some clients count from 1, give two jobs one id, or
send the id of yesterday's run again:

    load START, copy START, load COMPLETE, copy COMPLETE      two runs
    load START, load COMPLETE, load START, load COMPLETE      two runs
    app.insert START, app.insert.table COMPLETE               one run, whose job was renamed

All rules are functions of the set of events, whatever the order of their arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graph_model import identity
from graph_model.producers.openlineage.events.documents import (
    START,
    TERMINAL,
    RunEvent,
    run_home,
)

_Member = TypeVar("_Member")
_EventOf = Callable[[_Member], RunEvent]


@dataclass(frozen=True, slots=True)
class Occurrence(Generic[_Member]):
    """The members of one run, by event time. ``mark`` tells it from the other runs of its id: ""
    for a run that has the id alone, or had it first.
    """

    members: tuple[_Member, ...]
    mark: str = ""


def separate_runs(
    members: Iterable[_Member], event_of: _EventOf[_Member]
) -> list[Occurrence[_Member]]:
    """The runs under one run id; ``event_of`` gives the event of a member."""
    homes: dict[str, list[_Member]] = {}
    for member in members:
        homes.setdefault(run_home(event_of(member)), []).append(member)
    return [
        occurrence
        for _, found in sorted(homes.items())
        for mark, job in _jobs(found, event_of)
        for occurrence in _occurrences(job, event_of, mark)
    ]


def _jobs(
    members: Sequence[_Member], event_of: _EventOf[_Member]
) -> Iterator[tuple[str, Sequence[_Member]]]:
    """The members of each job with its mark. Jobs that have one start and one end between them are
    one job that was renamed while it ran.
    """
    jobs: dict[tuple[str, str], list[_Member]] = {}
    starts, ends = set(), set()
    for member in members:
        event = event_of(member)
        job = (event.job.namespace, event.job.name)
        jobs.setdefault(job, []).append(member)
        if event.type == START:
            starts.add(job)
        elif event.type in TERMINAL:
            ends.add(job)
    if len(starts) <= 1 and len(ends) <= 1:
        yield "", members
        return
    for job in sorted(jobs):
        yield identity.digest(*job), jobs[job]


def _occurrences(
    members: Sequence[_Member], event_of: _EventOf[_Member], mark: str
) -> Iterator[Occurrence[_Member]]:
    """A run that started and ended is over: a later START under its id begins another one."""
    run: list[_Member] = []
    started = ended = False
    for member in sorted(members, key=lambda each: _order(event_of(each))):
        event = event_of(member)
        if event.type == START and started and ended:
            yield Occurrence(tuple(run), mark)
            run, started, ended = [], False, False
            mark = identity.digest(mark, event.time)
        run.append(member)
        started |= event.type == START
        ended |= event.type in TERMINAL
    yield Occurrence(tuple(run), mark)


def _order(event: RunEvent) -> tuple[int, bool, str]:
    """Of one time, an end comes last."""
    return event.time, event.type in TERMINAL, event.digest
