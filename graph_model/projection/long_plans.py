"""The visit of a rebuild to a subject with more events than a step takes: one piece of them a step.

The facts of events add up, so a later visit takes only the events that came since. Where the plans
have changed, or events have gone, the pass starts over instead (``resume``).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Sequence

from graph_model.facts import Facts
from graph_model.producers.projections import Projection
from graph_model.projection.contributions import Contribution, contribution_of
from graph_model.projection.revision import (
    EVENTS_A_STEP,
    Read,
    RepresentativeEvents,
    pieces,
    without_states,
)
from graph_model.stores.documents import StoredDocument


class LongPlan:
    """``plans`` are the positions of its plan documents, ``plan_facts`` the facts of these alone.
    ``former`` is its contribution from a visit when it had few events.
    """

    def __init__(self, subject_key: str, plans: Collection[int], former: Contribution) -> None:
        self.subject_key = subject_key
        self.plans = tuple(plans)
        self.plan_facts: Facts | None = None
        self._lost = former
        self._representatives = RepresentativeEvents()
        self._taken = array("q")  # the events of all visits; of a million a set is too large
        self._events: Sequence[int] = ()
        self._next = 0

    def resume(self, plans: Collection[int], events: Collection[int]) -> bool:
        """Begin a visit with the events that are not taken yet. False where the former visit is
        void because the plans have changed or its events have gone.
        """
        taken = set(self._taken)
        if tuple(plans) != self.plans or not taken.issubset(events):
            return False
        self._events, self._next = sorted(set(events) - taken), 0
        return True

    def piece(self, read: Read) -> list[StoredDocument]:
        """The next events; empty once there are none left."""
        while self._next < len(self._events):
            some = self._events[self._next : self._next + EVENTS_A_STEP]
            for piece in pieces(read, some):
                return piece
            self._next += len(some)  # they have gone meanwhile
        return []

    @property
    def deciding(self) -> tuple[StoredDocument, ...]:
        """The events that decide about the plans; their own states are decided with those."""
        return self._representatives.documents

    def take(
        self,
        projection: Projection,
        added: Facts,
        piece: Sequence[StoredDocument],
        events: Sequence[StoredDocument],
    ) -> Projection:
        """Note that a piece is written: ``events`` of it were translated, and added the facts
        ``added``. Returns the part of the projection that is decided now.
        """
        self._representatives.see(projection, events)
        self._taken.extend(one.position for one in events)
        self._next = bisect_right(self._events, piece[-1].position)
        self._lost = self._lost.without(contribution_of([added]))
        return without_states(projection, {*self.plans, *self._representatives.positions})

    def end(self, added: Facts) -> Contribution:
        """End the visit. Returns the part of the earlier contribution that it has not found
        again.
        """
        gone, self._lost = self._lost.without(contribution_of([added])), Contribution()
        return gone
