"""Large subjects, translated and written one at a time beside the rounds of the small ones.

    round 1  small, LARGE, small  => commits the small ones; a thread translates LARGE
    round 2  small                => commits it; the thread is not done
    round 3  LARGE, small         => writes a piece of LARGE, commits the small one
    round 4  LARGE                => commits LARGE: it writes the rest, and what makes it visible

Translation is pure, so nothing is noted before the first piece, and documents stay PENDING until
the commit. What a thread has made counts only while that which it began with is unchanged: the
states of the documents, the effects that commands in force have on them, and the rules.

A piece has vertices, edges or rows that nobody sees yet: the marker of the plan and the rows of the
run come with the commit. The commit writes what is not known to be there, so that it is right
whatever became of the pieces. Where there is none (a kill, a changed basis), the journal's note of
the attempt makes the projector complete it with the same documents first.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from graph_model.facts import Facts
from graph_model.producers.projections import Projection
from graph_model.projection.attempts import Attempt
from graph_model.projection.writing import pieces_of
from graph_model.stores.documents import StoredDocument

log = logging.getLogger(__name__)

#: The name of the thread that translates.
LARGE_SUBJECT_THREAD: Final = "large-subject"
_LOOK_SECONDS: Final = 0.2


@dataclass(slots=True, eq=False)
class LargeSubject:
    """``attempt`` is of this subject alone, and ``documents`` are those that it translates.
    ``basis`` is compared before the ``projection`` is used, which is None where that failed.
    """

    key: str
    attempt: Attempt
    documents: Sequence[StoredDocument]
    basis: object
    translate: Callable[[], Projection]
    projection: Projection | None = None
    pieces: deque[Facts] = field(default_factory=deque)
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Translate. Facts that the producer makes on demand are made as well."""
        try:
            projection = self.translate()
            self.pieces.extend(pieces_of(projection.parts))
            self.projection = projection
        except BaseException:
            log.warning("%s is translated again, in a round", self.key, exc_info=True)
        finally:
            self.done.set()


class LargeSubjects:
    """Only the projector's thread calls this. ``notify`` is called when a translation is done.

    ``beside``: translate on another thread. Otherwise that happens when the result is asked for,
    so large subjects still let the small ones of their round pass.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._waiting: dict[str, None] = {}
        self._taken: LargeSubject | None = None
        self.beside = False

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, subject_key: object) -> bool:
        return subject_key in self._waiting

    @property
    def begun(self) -> bool:
        """Whether a subject is being translated, or its turn has come."""
        return self._taken is not None

    def add(self, subject_key: str, make: Callable[[], LargeSubject]) -> None:
        """Note that a subject waits; ``make`` is called where it is its turn."""
        taken = None if self._taken else make()
        self._waiting.setdefault(subject_key)
        if taken is None:
            return
        self._taken = taken
        if self.beside:
            threading.Thread(
                target=self._run, args=(taken,), name=LARGE_SUBJECT_THREAD, daemon=True
            ).start()

    def _run(self, taken: LargeSubject) -> None:
        taken.run()
        self._notify()

    def ready(self, pending: Collection[str]) -> LargeSubject | None:
        """The translated subject, until it ``ends``; None while there is none.

        Subjects that are not ``pending`` any more are forgotten: another process projected them.
        """
        for subject_key in self._waiting.keys() - set(pending):
            if self._taken is None or subject_key != self._taken.key:
                del self._waiting[subject_key]
        taken = self._taken
        if taken is None:
            return None
        if not self.beside and not taken.done.is_set():
            taken.run()
        return taken if taken.done.is_set() else None

    def end(self, subject: LargeSubject) -> None:
        """Note that a subject waits no longer; the next has its turn."""
        self._taken = None
        self._waiting.pop(subject.key, None)

    def without(self, subject_keys: Sequence[str]) -> Sequence[str]:
        """The subjects of a round: those that wait for the thread come later, but for the next."""
        later = list(self._waiting)[self._taken is None :]
        return [key for key in subject_keys if key not in later] if later else subject_keys

    def wait(self, break_off: Callable[[], None]) -> None:
        """Wait until a translation that has begun is done. ``break_off`` is called again and again
        meanwhile; what it raises ends the wait.
        """
        taken = self._taken if self.beside else None
        while taken is not None and not taken.done.wait(_LOOK_SECONDS):
            break_off()
