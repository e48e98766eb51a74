"""Work of a service beside requests: retention at night, measurements, free disk pages.

At night the service prunes by HEADWATER_KEEP; once an hour it measures disk space (``room``); it
gives the pages of deleted rows back to the disk a few MB at a time.

    once a night, by one of several services:
    executions outside today's lineage -> steps of 1,000 -> prune commands, each projected before
    the next is given

The commands are like a person's (``headwater prune``): their author is ``retention``, their note
names the setting and the removed executions. A night that a service did not finish, since it ended
or was killed, is continued by the next look of any service (``retention.nights``).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from api.intake.orders import Covered, cover_prune, give
from api.service import Service
from api.service.room import Room
from graph_model.errors import HeadwaterError
from graph_model.producers.commands.documents import Prune
from graph_model.retention.coverage import Retention
from graph_model.retention.keeping import Keep
from graph_model.retention.nights import Night, read_night
from graph_model.retention.steps import MOST_EXECUTIONS, RetentionStep, next_step, worth_moving

log = logging.getLogger("headwater.upkeep")

AUTHOR: Final = "retention"
NIGHT_KEY: Final = "retention_night"
"""Where the journal notes the night that was begun last, by whichever service."""
_ROUTE: Final = "retention"
_LOOK_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.2
"""The pause between two steps, in which waiting documents are projected."""
_TIDY_STEPS: Final = 100
_STEP_SECONDS: Final = 600.0
"""How long a step may take before the rest is left to the next night."""


class Upkeep:
    """Looks once a minute, on a thread of its own, whether there is something to do.

    ``sleep`` waits for some seconds; False when the service ends meanwhile.
    """

    def __init__(
        self,
        service: Service,
        keep: Keep | None,
        *,
        most: int = MOST_EXECUTIONS,
        sleep: Callable[[float], bool] | None = None,
    ) -> None:
        self._service = service
        self._keep = keep
        self._most = most
        self._stopping = threading.Event()
        self._sleep = sleep or (lambda seconds: not self._stopping.wait(seconds))
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """A step that was given is carried out by the projector, now or after the next start."""
        self._stopping.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while self._sleep(_LOOK_SECONDS):
            try:
                self.look()
            except HeadwaterError as error:
                log.warning("upkeep is postponed: %s", error)
            except Exception:
                log.exception("upkeep failed unexpectedly; it tries again at the next interval")

    def look(self) -> int:
        """Do the work that is due; the number of removed executions."""
        if self._service.room is not None:
            self._service.room.keep_measure()
            self._tidy(self._service.room)
        if self._keep is None or self._service.projector.state != "ready":
            return 0
        night = self._taken_night(self._keep)
        return 0 if night is None else self._prune(self._keep, night)

    def _tidy(self, room: Room) -> None:
        """Some steps a minute, with writers in between."""
        for _ in range(_TIDY_STEPS):
            if not (room.tidy() and self._sleep(_PAUSE_SECONDS)):
                return

    def _taken_night(self, keep: Keep) -> int | None:
        """The number of this night, if there is work for it and this service has taken it.

        The first look of a journal only notes the night: nothing goes before ``hour`` has come.
        """
        journal, now = self._service.journal, self._service.clock()
        night = Night(keep.night(now), sign=now)
        if not _has_work(read_night(journal.get_meta(NIGHT_KEY)), night):
            return None
        with journal.projecting():
            noted = read_night(journal.get_meta(NIGHT_KEY))
            taken = _has_work(noted, night)
            if taken:
                self._note(night if noted else Night(night.number))
        return night.number if taken and noted is not None else None

    def _note(self, night: Night) -> None:
        self._service.journal.set_meta(NIGHT_KEY, str(night))

    def _prune(self, keep: Keep, night: int) -> int:
        wish = Retention(keep.before(self._service.clock()), keep.runs)
        covered = cover_prune(wish, self._service, drop_bodies=not keep.keeps_bodies)
        rest = worth_moving(covered.cutoffs, self._service.catalogue)
        gone = 0
        while rest:
            self._note(Night(night, sign=self._service.clock()))
            step = next_step(rest, self._service.catalogue, self._most)
            if step.cutoffs and not self._carry_out(step, keep):
                log.warning(
                    "a step of retention takes too long: the rest is left to the next night"
                )
                break
            gone, rest = gone + step.executions, step.rest
            if not self._sleep(_PAUSE_SECONDS):
                self._note(Night(night, sign=0))
                return gone
        self._note(Night(night))
        if gone:
            log.info("HEADWATER_KEEP=%s: %s executions were removed", keep, f"{gone:,}")
        return gone

    def _carry_out(self, step: RetentionStep, keep: Keep) -> bool:
        """Whether the projector has done it in time."""
        jobs = len({cutoff.key[0] for cutoff in step.cutoffs})
        note = f"HEADWATER_KEEP={keep}: {step.executions:,} executions of {jobs:,} jobs"
        order = Covered((Prune(step.cutoffs, drop_bodies=not keep.keeps_bodies),), "")
        positions = give(order, AUTHOR, note, _ROUTE, self._service)
        return self._service.projector.wait(positions, _STEP_SECONDS)


def _has_work(noted: Night | None, night: Night) -> bool:
    """Another night has begun, or nobody goes on with this one; ``night.sign`` is now."""
    if noted is None or noted.number != night.number:
        return True
    return noted.is_left(night.sign or 0)
