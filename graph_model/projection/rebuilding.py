"""A projection of everything beside the one in force: after an upgrade, a new rule, or on request.

    1. all documents that are not PENDING are translated again, subject by subject, one with many
       events in pieces; their facts are merged into the graph, their rows recorded in a fresh
       catalogue, the ids of all facts noted
    2. the fresh catalogue takes the place of the old one: from here on answers come from it
    3. the runs that the graph is to carry are written, and noted (``projection.graph_runs``)
    4. elements of the graph that were not noted are removed, page by page

Readers enter the graph through the plans that their catalogue names, so until step 2 they see the
old answers, and after it the new ones. There is no second graph: that would double the memory of
an embedded engine, and Neptune has none to give.

Rounds project the documents that arrive meanwhile, and those that wait, as usual, into both
catalogues (``add``); they also carry out the commands among them. Where a document causes a
withdrawal (``note_withdrawal``), the pass starts over: that is rare, and a half-finished pass does
not know all supports of a fact. A rebuild under other rules than those in force gets no facts
from the rounds: it visits the subjects of new documents again (``revisit``) and withdraws its own
former facts of them. A crash leaves the old catalogue in force and superfluous elements in the
graph; the next pass starts anew and removes them.
"""

from __future__ import annotations

import logging
import pickle
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Final

from graph_model import labels
from graph_model.errors import Unavailable
from graph_model.facts import Edge, ExecutionRow, Facts, Part, Row, Vertex, merge, whole
from graph_model.identity import digest
from graph_model.producers.commands import KEY_PREFIX
from graph_model.producers.projections import Projection, settlements
from graph_model.producers.registry import Producers
from graph_model.projection.attempts import (
    BYTES_A_STEP,
    EVENTS_A_STEP,
    Read,
    RepresentativeEvents,
    is_long,
    pieces,
    project_apart,
    without_states,
)
from graph_model.projection.fullness import is_held
from graph_model.projection.graph_runs import GraphRuns
from graph_model.projection.run_window import structure
from graph_model.projection.writing import (
    OWN_ROWS,
    beyond_pieces,
    difference,
    pieces_of,
    record_facts,
    write_facts,
)
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import KeptContents, NotedIds
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument
from graph_model.stores.graph import ElementSum, Graph
from graph_model.stores.journal import Journal
from graph_model.stores.journal.stored_documents import DocumentsSize

# The visit of a rebuild to a subject with more events than a step takes: one piece of them a step.
#
# The facts of events add up, so a later visit takes only the events that came since. Where the
# plans have changed, or events have gone, the pass starts over instead (``resume``).

# The facts that each subject has contributed to a rebuild, in a temporary database.
#
# When the rebuild visits a subject again, facts of the former visit may be gone from its documents;
# the rebuild then withdraws them.


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one subject: ids of elements, and the rows that it alone
    supports.
    """

    ids: frozenset[str] = frozenset()
    rows: frozenset[Row] = frozenset()

    def without(self, other: Contribution) -> Contribution:
        """The part that the other lacks."""
        return Contribution(self.ids - other.ids, self.rows - other.rows)


class Contributions:
    """The contributions of each subject in a pass."""

    def __init__(self) -> None:
        self._kept = KeptContents()

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def find(self, subject_key: str) -> Contribution:
        """The kept contribution of a subject; none if the pass has not come to it."""
        content = self._kept.find(subject_key)
        return Contribution(*pickle.loads(content)) if content else Contribution()  # noqa: S301 - written below

    def keep(self, subject_key: str, added: Contribution) -> None:
        """Keep this in place of the former one."""
        self._kept.keep(subject_key, pickle.dumps((added.ids, added.rows)))

    def close(self) -> None:
        """Drop all of it; safe to call twice."""
        self._kept.close()


def contribution_of(parts: Iterable[Part]) -> Contribution:
    wholes = [whole(part) for part in parts]
    ids = frozenset(element_id for facts in wholes for element_id in ids_of(facts))
    rows = (row for facts in wholes for row in facts.rows)
    return Contribution(ids, frozenset(row for row in rows if isinstance(row, OWN_ROWS)))


def ids_of(facts: Facts) -> Iterator[str]:
    """The ids of all vertices and edges."""
    for vertex in facts.vertices:
        yield vertex.id
    for edge in facts.edges:
        yield edge.id


# --------------------------------------------------------------------------------------------------


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
        self._taken.extend(event.position for event in events)
        self._next = bisect_right(self._events, piece[-1].position)
        self._lost = self._lost.without(contribution_of([added]))
        return without_states(projection, {*self.plans, *self._representatives.positions})

    def end(self, added: Facts) -> Contribution:
        """End the visit. Returns the part of the earlier contribution that it has not found
        again.
        """
        gone, self._lost = self._lost.without(contribution_of([added])), Contribution()
        return gone


# --------------------------------------------------------------------------------------------------

log = logging.getLogger(__name__)

_SUBJECTS_A_STEP: Final = 20
_DOCUMENTS_A_STEP: Final = 1_000
_NOTHING: Final = DocumentsSize(0, 0)
_ELEMENTS_A_STEP: Final = 2_000
_COMPUTED: Final = (labels.DATASET, labels.EXECUTION_PLAN)
"""Vertices whose values follow from their id by a translator's rules, which may change: the name
and the kind of a dataset, the system and the agent of a plan document. The ids of all others, and
of edges, cover their values, or the fingerprint of their logical plan does. Executions are renewed
by ``kept_runs``.
"""


class Phase(StrEnum):
    """The old catalogue is in force until KEEPING."""

    WANTED = "waiting for the projector"
    SHORT = "waiting for room on the disk"
    HASHING_BEFORE = "hashing the current graph and catalogue"
    TRANSLATING = "translating"
    KEEPING = "writing runs"
    SWEEPING = "sweeping"
    HASHING_AFTER = "hashing the result"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rebuild is. ``before`` and ``after`` are hashes over all elements and rows, None
    until they are known (``before`` also of rows too damaged to be hashed); documents that arrive
    in between make the two differ.
    """

    phase: Phase
    plans_done: int
    plans: int
    removed: int
    before: str | None
    after: str | None


@dataclass(slots=True)
class _WriteAhead:
    """A visit whose facts are written in ``pieces``, one a step. ``void``: it is over, or a round
    has changed something meanwhile, so that its subjects are translated again.
    """

    subject_keys: Sequence[str]
    projections: Sequence[Projection]
    facts: Facts
    pieces: deque[Facts] = field(default_factory=deque)
    void: bool = False


class Rebuild:
    """One re-projection of everything, in steps that a projector takes between its rounds.

    ``project_all`` translates all documents of a subject as if they had just come. Everything runs
    on the projector's thread. With ``compare`` the hash over all elements and rows is taken before
    and after. ``settled``: the rebuild is under the rules in force, so that it visits nothing
    again. ``producers`` are those of ``project_all``.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        generations: Generations,
        project_all: Callable[[Sequence[StoredDocument]], Projection],
        runs: GraphRuns,
        producers: Producers,
        *,
        compare: bool = False,
        settled: bool = False,
    ) -> None:
        self._journal = journal
        self._graph = graph
        self._generations = generations
        self._translate_all = project_all
        self._runs = runs
        self._producers = producers
        self._sweeps = True
        self._compare = compare
        self._settled = settled
        self._noted = NotedIds()
        self._contributions = Contributions()
        self._scan: Iterator[Vertex | Edge] = iter(())
        self._sum = ElementSum()
        self._before: str | None = None
        self._after: str | None = None
        self._removed = 0
        self._revisited: set[str] = set()
        self._begin()
        if compare:
            self._start_scan(Phase.HASHING_BEFORE)

    def _begin(self) -> None:
        """Start the pass from the beginning."""
        self._phase = Phase.TRANSLATING
        self._catalogue = self._generations.begin()
        self._noted.clear()
        self._contributions.clear()
        self._overtaken = False
        self._ahead: _WriteAhead | None = None
        self._long: LongPlan | None = None  # under way
        self._long_plans: dict[str, LongPlan] = {}
        self._last = ""
        self._plans_done = 0
        self._plans = self._journal.count_subject_keys()

    @property
    def progress(self) -> Progress:
        """The progress; for any thread."""
        return Progress(
            self._phase,
            self._plans_done,
            self._plans,
            self._removed,
            self._before,
            self._after,
        )

    # the projector's notices

    def add(self, facts: Facts) -> None:
        """Add the facts of documents that a round projected during this rebuild. Those of runs are
        written after the switch; then the graph may have some of them from before, which the
        catalogue in force does not keep yet.
        """
        before = self._is_before_switch()
        record_facts(self._graph, self._catalogue, structure(facts) if before else facts)
        self._noted.add(ids_of(facts))

    def note_withdrawal(self, gone: Facts) -> None:
        """Void the notes about facts that a round has withdrawn: start over.

        Where only rows of a run were withdrawn (an unfinished run has ended), they are withdrawn
        here as well: a rebuild that started over with every run would never end.
        """
        self._void_ahead()
        executions = any(isinstance(row, ExecutionRow) for row in gone.rows)
        if not gone.vertices and not gone.edges and not executions:
            if self._is_before_switch():
                rows = [row for row in gone.rows if isinstance(row, OWN_ROWS)]
                self._catalogue.withdraw(rows)
            return
        log.info("a document changed facts that the rebuild had written; the rebuild restarts")
        if self._is_before_switch():
            self._begin()
        elif self._phase is Phase.KEEPING:
            self._sweeps = False  # the next rebuild removes the rest
        else:
            self._phase = Phase.DONE

    def revisit(self, subject_keys: Iterable[str]) -> None:
        """Translate these subjects (again) before the switch: they have new documents, or a command
        covers some of theirs, and the rounds project them under other rules than this rebuild.
        """
        self._void_ahead()
        self._revisited.update(subject_keys)

    def _void_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.void = True

    @property
    def switched(self) -> bool:
        """Whether its catalogue is in force."""
        return not self._is_before_switch()

    def _is_before_switch(self) -> bool:
        return self._phase in {Phase.HASHING_BEFORE, Phase.TRANSLATING}

    # its own steps

    def step(self) -> bool:
        """One bounded piece of work; False when all is done. Raises Unavailable; the caller may try
        again.
        """
        match self._phase:
            case Phase.TRANSLATING:
                self._translate()
            case Phase.KEEPING:
                self._keep_runs()
            case Phase.SWEEPING:
                self._sweep()
            case Phase.HASHING_BEFORE | Phase.HASHING_AFTER:
                self._hash()
        return self._phase is not Phase.DONE

    def close(self) -> None:
        """Give back the temporary databases, and the catalogue that it has not put in force; safe
        to call twice.
        """
        self._generations.abandon()
        self._noted.close()
        self._contributions.close()

    def _start_scan(self, phase: Phase) -> None:
        self._phase = phase
        self._sum = ElementSum()
        self._scan = self._graph.scan()

    def _hash(self) -> None:
        page = list(islice(self._scan, _ELEMENTS_A_STEP))
        for element in page:
            self._sum.add(element)
        if page:
            return
        if self._phase is Phase.HASHING_BEFORE:
            self._before, self._phase = self._whole_before(), Phase.TRANSLATING
        else:
            self._after, self._phase = self._whole(), Phase.DONE

    def _whole(self) -> str:
        return digest(self._sum.digest(), self._generations.current.digest())

    def _whole_before(self) -> str | None:
        """None for rows that cannot be hashed, such as a name that a damaged file holds as bytes:
        the rebuild replaces them, so they must not stop it.
        """
        try:
            return self._whole()
        except Unavailable:
            raise
        except Exception:
            log.exception("the catalogue in force is damaged; the rebuild goes on without its hash")
            return None

    def _translate(self) -> None:
        if self._overtaken:
            log.info("a document changed facts that the rebuild had written; the rebuild restarts")
            self._begin()
        elif self._ahead is not None:
            write = partial(self._write_on, self._ahead)
            project_apart(self._ahead.subject_keys, write, self._set_aside)
            if self._ahead.void:
                self._ahead = None
        elif self._long is not None:
            project_apart([self._long.subject_key], self._translate_next_piece, self._set_aside)
        elif subject_keys := self._journal.subject_keys(self._last, _SUBJECTS_A_STEP):
            visited = self._visit(subject_keys)
            self._last = visited[-1]
            self._plans_done += len(visited)
        elif self._revisited:
            self._revisited.difference_update(
                self._visit(sorted(self._revisited)[:_SUBJECTS_A_STEP])
            )
        else:
            self._generations.switch()
            self._runs.begin_writing()
            self._phase = Phase.KEEPING

    def _visit(self, subject_keys: Sequence[str]) -> Sequence[str]:
        """Translate a step's amount of these subjects from the first on, or begin with a long one.
        Returns the subjects visited.
        """
        first, *others = subject_keys
        sizes = self._journal.sizes(subject_keys)
        if self._is_long(first, sizes.get(first)):
            self._begin_long(first)
            return [first]
        visited, documents, size = [first], *astuple(sizes.get(first, _NOTHING))
        for subject_key in others:
            documents += sizes.get(subject_key, _NOTHING).documents
            size += sizes.get(subject_key, _NOTHING).bytes
            if (
                documents > _DOCUMENTS_A_STEP
                or size > BYTES_A_STEP
                or subject_key in self._long_plans
            ):
                break
            visited.append(subject_key)
        project_apart(visited, partial(self._project, visited), self._set_aside)
        return visited

    def _keep_runs(self) -> None:
        written = self._runs.write()
        if written is not None:
            self._noted.add(ids_of(written))
        elif self._sweeps:
            self._start_scan(Phase.SWEEPING)
        else:
            self._phase = Phase.DONE

    def _project(self, visited: Sequence[str], subject_keys: Sequence[str]) -> None:
        """Write what these subjects say: in pieces where it is much and they are all of the visit;
        the others wait for a subject that cannot be written with the rest.
        """
        projections = [self._translate_all(documents) for documents in self._taken_up(subject_keys)]
        facts = structure(merge(part for projection in projections for part in projection.parts))
        pieces = deque(pieces_of([facts])) if subject_keys == visited else None
        if pieces:
            self._ahead = _WriteAhead(subject_keys, projections, beyond_pieces(facts), pieces)
        else:
            self._end_visit(subject_keys, projections, facts)

    def _write_on(self, ahead: _WriteAhead, subject_keys: Sequence[str]) -> None:
        """Write the next piece of a visit, or end it. One that is void, or cannot be written, is
        repeated in one write.
        """
        if ahead.void:
            self._project((), subject_keys)
            return
        ahead.void = True  # unless this succeeds
        if ahead.pieces:
            self._record(ahead.pieces[0])
            ahead.pieces.popleft()
            ahead.void = False
        else:
            self._end_visit(subject_keys, ahead.projections, ahead.facts)

    def _end_visit(
        self, subject_keys: Sequence[str], projections: Sequence[Projection], facts: Facts
    ) -> None:
        self._record(facts)
        if not self._settled:
            for subject_key, projection in zip(subject_keys, projections, strict=True):
                self._replace(subject_key, contribution_of(projection.parts))
        self._conclude(projections)

    def _conclude(self, projections: Sequence[Projection]) -> None:
        dropped = [position for projection in projections for position in projection.dropped]
        self._journal.conclude(settlements(projections), dropped)

    def _replace(self, subject_key: str, added: Contribution) -> None:
        """Withdraw facts of a subject's former visit in this pass that it no longer has.

        As with ``note_withdrawal``, these are as a rule rows alone; otherwise the pass starts over.
        """
        self._withdraw(self._contributions.find(subject_key).without(added))
        self._contributions.keep(subject_key, added)

    def _withdraw(self, gone: Contribution) -> None:
        self._overtaken = self._overtaken or bool(gone.ids)
        self._catalogue.withdraw(list(gone.rows))

    def _set_aside(self, subject_key: str, reason: str) -> None:
        self._long_plans.pop(subject_key, None)
        self._long = None
        settled = self._settled_positions(subject_key)
        for piece in pieces(self._journal.documents, settled):
            positions = [document.position for document in filter(_is_taken_up, piece)]
            self._journal.settle(positions, DocumentState.FAILED, reason)

    # a subject with many events

    def _is_long(self, subject_key: str, whole: DocumentsSize | None) -> bool:
        """Its events alone decide; they are asked for where all its documents are more than a step
        holds.
        """
        if subject_key in self._long_plans or not is_long(whole):
            return subject_key in self._long_plans
        sizes = self._journal.sizes([subject_key], self._producers.additions)
        return is_long(sizes.get(subject_key))

    def _begin_long(self, subject_key: str) -> None:
        plans = self._settled_positions(subject_key, self._producers.bases)
        events = self._settled_positions(subject_key, self._producers.additions)
        visit = self._long_plans.get(subject_key)
        if visit is None:
            visit = LongPlan(subject_key, plans, self._contributions.find(subject_key))
        if visit.resume(plans, events):
            self._long = self._long_plans[subject_key] = visit
        else:
            self._overtaken = True

    def _translate_next_piece(self, _: Sequence[str]) -> None:
        """Translate the long subject's next piece; after the last one, decide about its plans."""
        visit = self._long
        if visit is None:
            return
        if self._settled_positions(visit.subject_key, self._producers.bases) != visit.plans:
            self._overtaken = True
            return
        plans = list(filter(_is_taken_up, self._journal.documents(visit.plans)))
        if visit.plan_facts is None:
            visit.plan_facts = self._translate_all(plans).facts
            # Written now because runs need them. The end of the visit decides which are noted; the
            # sweep removes all others.
            self._graph.write(structure(visit.plan_facts))
        piece = visit.piece(self._journal.documents)
        if not piece:
            self._end_long(visit, plans)
            return
        events = list(filter(_is_taken_up, piece))
        projection = self._translate_all([*plans, *events])
        added = difference(projection.facts, (visit.plan_facts,))
        self._record(added)
        self._conclude([visit.take(projection, added, piece, events)])

    def _end_long(self, visit: LongPlan, plans: Sequence[StoredDocument]) -> None:
        projection = self._translate_all([*plans, *visit.deciding])
        self._record(projection.facts)
        self._conclude([projection])
        self._withdraw(visit.end(projection.facts))
        self._long = None

    def _settled_positions(
        self, subject_key: str, kinds: Collection[DocumentKind] | None = None
    ) -> tuple[int, ...]:
        """The positions of its documents that are not PENDING; with ``kinds`` only of these."""
        chosen = self._producers.kinds if kinds is None else kinds
        return self._journal.settled_positions(subject_key, chosen)

    def _taken_up(self, subject_keys: Sequence[str]) -> list[list[StoredDocument]]:
        by_key = self._journal.documents_by_key(subject_keys)
        return [
            list(filter(_is_taken_up, by_key.get(subject_key, ()))) for subject_key in subject_keys
        ]

    def _record(self, translated: Facts) -> None:
        facts = structure(translated)
        self._runs.wrote(facts.size)
        self._correct(facts)
        write_facts(self._graph, self._catalogue, facts)
        self._noted.add(ids_of(facts))

    def _correct(self, facts: Facts) -> None:
        """Give vertices of which the graph says something else their values: a write leaves them as
        they are. Each is looked at once in a pass.
        """
        computed = {each.id: each for each in facts.vertices if each.label in _COMPUTED}
        if new := self._noted.missing(computed):
            there = self._graph.vertices(new)
            if stale := [computed[each.id] for each in there if each != computed[each.id]]:
                self._graph.correct(stale)

    def _sweep(self) -> None:
        page = list(islice(self._scan, _ELEMENTS_A_STEP))
        unknown = self._noted.missing([element.id for element in page])
        if unknown:
            vertices = {e.id for e in page if isinstance(e, Vertex)} & unknown
            self._graph.remove(vertices, unknown - vertices)
            self._removed += len(unknown)
        if not page:
            self._generations.drop_former()
            if self._compare:
                self._start_scan(Phase.HASHING_AFTER)
            else:
                self._phase = Phase.DONE


def _is_taken_up(document: StoredDocument) -> bool:
    """Whether a rebuild translates this document: not one that waits for a round, or for room, and
    no command that was set aside. The documents of such a command are shown until it is replayed
    and carried out.
    """
    is_command = document.subject_key.startswith(KEY_PREFIX)
    left = {DocumentState.PENDING, *([DocumentState.FAILED] if is_command else [])}
    return document.state not in left and not is_held(document)
