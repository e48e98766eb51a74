"""Work of a service beside requests: retention at night, measurements, free disk pages.

At night the service prunes by HEADWATER_KEEP; once an hour it measures disk space (``storage``); it
gives the pages of deleted rows back to the disk a few MB at a time. While the disk has only its
reserve left, it looks more often, so that documents are taken soon after a removal.

    once a night, by one of several services:
    executions outside today's lineage -> steps of 1,000 -> prune commands, each projected before
    the next is given

The commands are like a person's (``headwater prune``): their author is ``retention``, their note
names the setting and the covered executions. Of those a run stays that wrote something else that
stays. A night that a service did not finish, since it ended, was killed or a rebuild was asked for,
is continued by the next look of any service (``retention.policy``). A command that fails, or
takes too long, ends its night.

At intervals it writes one log line for all documents that arrived since the last, if any did:

INFO headwater.summary: 15 documents arrived (8 event, 7 plan), 1 request with documents refused
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from api.http.bodies import MOST_FORGOTTEN, PROCESS_MARK
from api.http.metrics import Arrivals
from api.intake.commands import Covered, choose_cutoffs, give
from api.service import Service
from graph_model.errors import HeadwaterError, count_of
from graph_model.producers.commands import Cutoff, Prune, recorded_cutoffs
from graph_model.retention.coverage import (
    MOST_EXECUTIONS,
    Move,
    Retention,
    RetentionStep,
    count_covered,
    next_step,
    worth_moving,
)
from graph_model.retention.policy import NightlyRun, RetentionPolicy, read_nightly_run
from graph_model.stores.documents import DocumentState

log = logging.getLogger("headwater.upkeep")

AUTHOR: Final = "retention"
NIGHT_KEY: Final = "retention_night"
"""Where the journal notes the night that was begun last, by whichever service."""
_ROUTE: Final = "retention"
_LOOK_SECONDS: Final = 60.0
_SHORT_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.2
"""The pause between two steps, in which waiting documents are projected."""
_TIDY_STEPS: Final = 100
_STEP_SECONDS: Final = 600.0
"""How long a step may take before the rest is left to the next night."""
_ALERT_SECONDS: Final = 0.5
"""How soon a wait for a step ends when the service stops."""

_REFUSED: Final = "the disk has only its reserve left: new documents are refused"
_TAKEN_AGAIN: Final = "the disk has room again: new documents are taken"
PERIOD_SECONDS: Final = 10.0


class _StepFailed(Exception):
    """A step of retention was not carried out; with the reason. Never leaves this module."""


class _Stopped(Exception):
    """The service stops before a step is carried out. Never leaves this module."""


class Upkeep:
    """Looks once a minute, on a thread of its own, whether there is something to do.

    ``sleep`` waits for some seconds; False when the service ends meanwhile.
    """

    def __init__(
        self,
        service: Service,
        keep: RetentionPolicy | None,
        *,
        most: int = MOST_EXECUTIONS,
        sleep: Callable[[float], bool] | None = None,
    ) -> None:
        self._service = service
        self._keep = keep
        self._most = most
        self._was_short = False
        self._hashes_forgotten = False
        self._stopping = threading.Event()
        self._sleep = sleep or (lambda seconds: not self._stopping.wait(seconds))
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """End the thread, without waiting for a step that was given: the projector breaks it off
        when it stops, and carries it out after the next start.
        """
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        waited = 0.0
        while self._sleep(_SHORT_SECONDS):
            waited += _SHORT_SECONDS
            if not self._is_short() and waited < _LOOK_SECONDS:
                continue
            waited = 0.0
            try:
                self.look()
            except HeadwaterError as error:
                log.warning("the upkeep thread tries again later: %s", error)
            except Exception:
                log.exception("the upkeep thread failed unexpectedly; it tries again later")

    def _is_short(self) -> bool:
        """Whether documents are refused for want of room; the log reports its begin and its end."""
        storage = self._service.storage
        short = storage is not None and storage.is_short
        if short != self._was_short:
            self._was_short = short
            log.warning(_REFUSED if short else _TAKEN_AGAIN)
        return short

    def look(self) -> int:
        """Do the work that is due; the number of removed executions."""
        if self._service.storage is not None:
            self._service.storage.keep_measure()
            self._take_steps(self._service.storage.tidy)
        self._take_steps(self._forget_hashes)
        projector = self._service.projector
        if self._keep is None or projector.state != "ready" or projector.rebuild_waits:
            return 0
        night = self._taken_night(self._keep)
        return 0 if night is None else self._prune(self._keep, night)

    def _take_steps(self, step: Callable[[], bool]) -> None:
        """Some steps a minute, with writers in between; ``step`` returns whether one is left."""
        for _ in range(_TIDY_STEPS):
            if not (step() and self._sleep(_PAUSE_SECONDS)):
                return

    def _forget_hashes(self) -> bool:
        """Once: the hashes of bytes that earlier processes left, whose keys are gone, and those
        without a key of earlier versions.
        """
        if not self._hashes_forgotten:
            forgotten = self._service.journal.forget_bytes(PROCESS_MARK, MOST_FORGOTTEN)
            self._hashes_forgotten = forgotten < MOST_FORGOTTEN
        return not self._hashes_forgotten

    def _taken_night(self, keep: RetentionPolicy) -> int | None:
        """The number of this night, if there is work for it and this service has taken it.

        The first look of a journal only notes the night: nothing goes before ``hour`` has come.
        """
        journal, now = self._service.journal, self._service.clock()
        night = NightlyRun(keep.night(now), sign=now)
        if not _has_work(read_nightly_run(journal.get_meta(NIGHT_KEY)), night):
            return None
        with journal.projecting():
            noted = read_nightly_run(journal.get_meta(NIGHT_KEY))
            taken = _has_work(noted, night)
            if taken:
                self._note(night if noted else NightlyRun(night.number))
        return night.number if taken and noted is not None else None

    def _note(self, night: NightlyRun) -> None:
        self._service.journal.set_meta(NIGHT_KEY, str(night))

    def _prune(self, keep: RetentionPolicy, night: int) -> int:
        """Remove the executions that are too old, in steps; how many are gone."""
        rest, projector = self._moves(keep), self._service.projector
        done, gone, most, goes_on = 0, 0, self._most, True
        try:
            while rest and goes_on and not projector.rebuild_waits:
                self._note(NightlyRun(night, sign=self._service.clock()))
                step = next_step(rest, self._service.catalogue, most)
                removed = self._carry_out(step, keep)
                # Where runs stay a command looks at them all again: few commands, then.
                most = self._most if removed else 2 * most
                gone, done, rest = gone + removed, done + step.executions, step.rest
                goes_on = self._sleep(_PAUSE_SECONDS)
        except _Stopped:
            pass  # the next service goes on with the rest
        except _StepFailed as failure:
            log.warning("the upkeep thread removes no more executions tonight: %s", failure)
            rest = ()
        self._note(NightlyRun(night, sign=0 if rest else None))
        if done:
            counts = f"{gone:,} of {done:,} executions before the new cut-offs were removed"
            log.info("HEADWATER_KEEP=%s: %s", keep, counts)
        return gone

    def _moves(self, keep: RetentionPolicy) -> Sequence[Move]:
        """The cut-offs that are to move on, from those in force."""
        wish = Retention(keep.before(self._service.clock()), keep.runs)
        prune, catalogue = choose_cutoffs(wish, self._service, drop_bodies=not keep.keeps_bodies)
        return worth_moving(prune.cutoffs, recorded_cutoffs(catalogue), catalogue)

    def _carry_out(self, step: RetentionStep, keep: RetentionPolicy) -> int:
        """How many executions the projector has removed. Raises _StepFailed or _Stopped."""
        if not step.cutoffs:
            return 0
        jobs = len({cutoff.key[0] for cutoff in step.cutoffs})
        note = f"HEADWATER_KEEP={keep}: covers {step.executions:,} more executions of {jobs:,} jobs"
        covered = Covered((Prune(step.cutoffs, drop_bodies=not keep.keeps_bodies),), "")
        before = self._count(step.cutoffs)
        (position,) = give(covered, AUTHOR, note, _ROUTE, self._service)
        self._await(position)
        if self._service.journal.states([position])[position] == DocumentState.FAILED:
            raise _StepFailed(f"the command in document {position} failed, which has the reason")
        return max(0, before - self._count(step.cutoffs))

    def _await(self, position: int) -> None:
        """Wait until this command is carried out, or set aside. Raises _StepFailed or _Stopped."""
        deadline = time.monotonic() + _STEP_SECONDS
        while not self._service.projector.wait([position], _ALERT_SECONDS):
            if self._stopping.is_set():
                raise _Stopped
            if time.monotonic() >= deadline:
                raise _StepFailed(f"the command in document {position} takes too long")

    def _count(self, cutoffs: Iterable[Cutoff]) -> int:
        catalogue = self._service.catalogue
        return sum(count_covered(catalogue, *cutoff.key, cutoff.before) for cutoff in cutoffs)


def _has_work(noted: NightlyRun | None, night: NightlyRun) -> bool:
    """Another night has begun, or nobody goes on with this one; ``night.sign`` is now."""
    if noted is None or noted.number != night.number:
        return True
    return noted.is_left(night.sign or 0)


summary_log = logging.getLogger("headwater.summary")


def summarise(before: Arrivals, now: Arrivals) -> str:
    """The line; "" where nothing arrived."""
    kinds = {kind: number - before.received.get(kind, 0) for kind, number in now.received.items()}
    new = {kind: number for kind, number in sorted(kinds.items()) if number > 0}
    refused = now.refused - before.refused
    parts = []
    if total := sum(new.values()):
        listed = ", ".join(f"{number:,} {kind}" for kind, number in new.items())
        parts.append(f"{count_of(total, 'document')} arrived ({listed})")
    if refused > 0:
        parts.append(f"{count_of(refused, 'request')} with documents refused")
    return ", ".join(parts)


class Summary:
    """Writes the line at intervals, on a thread of its own, and for the rest when it stops."""

    def __init__(self, arrivals: Callable[[], Arrivals], period: float = PERIOD_SECONDS) -> None:
        self._arrivals = arrivals
        self._period = period
        self._summarised = arrivals()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="summary", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Write the line for the rest."""
        self._stopping.set()
        self._thread.join(self._period)
        self.tell()

    def tell(self) -> None:
        """A line, where anything has arrived since the last one."""
        now = self._arrivals()
        if line := summarise(self._summarised, now):
            summary_log.info(line)
        self._summarised = now

    def _run(self) -> None:
        while not self._stopping.wait(self._period):
            self.tell()
