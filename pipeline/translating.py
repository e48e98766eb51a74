"""One partition of documents, sorted by subject -> records. Plain Python: runs in Spark's workers.

The last record of a partition has its counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from graph_model.errors import FactConflict, GraphRejected
from graph_model.facts import Edge, Facts, Vertex, is_of_run
from graph_model.producers.commands import COMMAND_KIND
from graph_model.producers.projections import Projection, settlements
from graph_model.producers.registry import PRODUCERS, Producers, Translation
from graph_model.stores.documents import DocumentState, StoredDocument
from pipeline.journal import BEGIN, DOCUMENT, END, REFUSED, Line, WorkerCommands, stored
from pipeline.records import COUNTS, SET_ASIDE, Record, records_of

_REPEATS_KEPT: Final = 100_000

RANK: Final = "rank"
"""1 for a document that only adds to the facts of its subject key, else 0."""
ORDER: Final = ("subject_key", "part", RANK, "content_hash", "scope", "received_at", "position")
"""How the lines of a partition are sorted, so that the first receipt of a document comes first; all
lines of a subject key are in one partition.
"""
BATCH_SIZE: Final = 5_000
"""Documents of a subject in one call, if they only add to others: the call holds the others and so
many of them with their facts, for any number of runs.
"""


class PartitionTranslation:
    """Translates one partition, once: without days, runs and executions as elements."""

    def __init__(
        self,
        commands: WorkerCommands,
        batch_size: int = BATCH_SIZE,
        producers: Producers = PRODUCERS,
    ) -> None:
        self._translation = Translation(commands.rules, producers)
        self._effects = commands.effects
        self._batch_size = batch_size
        self._counts: Counter[str] = Counter()
        self._states: Counter[str] = Counter()
        self._last_position = 0
        self._written: dict[tuple[str, str], int] = {}

    def records(self, lines: Iterable[Line]) -> Iterator[Record]:
        """All records of the partition: facts (few of them twice), set-aside documents, counts."""
        for (_, part), group in groupby(lines, lambda line: (line.subject_key, line.part)):
            if part == DOCUMENT:
                self._counts["plan_ids"] += 1
                yield from self._subject_key(group)
            else:
                yield from self._other(group)
        yield self._summary()

    def _other(self, lines: Iterable[Line]) -> Iterator[Record]:
        for line in lines:
            self._counts[line.part] += 1
            if line.part == END:
                self._counts["expected"] += line.position
            elif line.part == REFUSED:
                yield _set_aside("", [], "refused", line.kind)

    def _subject_key(self, lines: Iterable[Line]) -> Iterator[Record]:
        positions: dict[int, int] = {}  # ours -> the journal's
        subject_key = ""

        def documents() -> Iterator[StoredDocument]:
            nonlocal subject_key
            for number, line in enumerate(self._unique(lines), 1):
                subject_key = line.subject_key
                positions[number] = line.position
                yield stored(line, number)

        for projection in self._translation.project_pieces(
            documents(), self._effects, batch_size=self._batch_size
        ):
            yield from self._facts(projection, subject_key, positions)

    def _unique(self, lines: Iterable[Line]) -> Iterator[Line]:
        """A document is its content and its scope: overlapping exports repeat some."""
        last: tuple[str, str] | None = None
        for line in lines:
            self._counts["lines"] += 1
            if (key := (line.content_hash, line.scope)) == last:
                continue
            last = key
            self._counts["documents"] += 1
            self._counts["commands"] += line.kind == COMMAND_KIND
            self._last_position = max(self._last_position, line.position)
            yield line

    def _facts(
        self, projection: Projection, subject_key: str, positions: dict[int, int]
    ) -> Iterator[Record]:
        try:
            records = list(records_of(projection.facts))
        except (FactConflict, GraphRejected, ValueError, OverflowError) as error:
            reason = f"{type(error).__name__}: {error}"
            failed = [at for at, _, _ in projection.states]
            self._states[DocumentState.FAILED.value] += len(failed)
            yield _set_aside(subject_key, [positions[at] for at in failed], "failed", reason)
            return
        left_out = _elements_of_runs(projection.facts)
        for record in records:
            if record.id not in left_out and not self._is_repeat(record):
                yield record
        for settled, state, why in settlements([projection]):
            self._states[state.value] += len(settled)
            if state != DocumentState.PROJECTED:
                yield _set_aside(
                    subject_key, [positions[at] for at in settled], state.value, why or ""
                )

    def _is_repeat(self, record: Record) -> bool:
        """Whether this very record has been written here: plans share most of their structure."""
        key, content = (record.part, record.id), hash(record.content)
        if self._written.get(key) == content:
            return True
        if len(self._written) >= _REPEATS_KEPT:
            self._written.clear()
        self._written[key] = content
        return False

    def _summary(self) -> Record:
        body = {
            **self._counts,
            "last_position": self._last_position,
            "states": dict(self._states),
        }
        return Record(COUNTS, COUNTS, "", json.dumps(body), "")


def _elements_of_runs(facts: Facts) -> frozenset[str]:
    elements: tuple[Vertex | Edge, ...] = (*facts.vertices, *facts.edges)
    return frozenset(element.id for element in elements if is_of_run(element))


_MOST_POSITIONS: Final = 100


def _set_aside(subject_key: str, positions: list[int], state: str, reason: str) -> Record:
    body = {
        "planId": subject_key,
        "documents": len(positions),
        "positions": sorted(positions)[:_MOST_POSITIONS],
        "state": state,
        "reason": reason,
    }
    return Record(SET_ASIDE, state, "", json.dumps(body), "")


def sum_counts(bodies: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """All counts of all partitions, and the states; ``last_position`` is the greatest."""
    counts: Counter[str] = Counter()
    states: Counter[str] = Counter()
    last = 0
    for body in map(json.loads, bodies):
        states.update(body.pop("states"))
        last = max(last, body.pop("last_position"))
        counts.update(body)
    counts["last_position"] = last
    return counts, states


def problems_of(counts: Counter[str]) -> tuple[str, ...]:
    """Problems of the files as a whole."""
    problems: list[str] = []
    if counts[BEGIN] != counts[END]:
        problems.append(f"{counts[BEGIN]} backups begin and {counts[END]} end: one is cut off")
    if counts["lines"] < counts["expected"]:
        problems.append(
            f"the backups list {counts['expected']} documents, {counts['lines']} were read"
        )
    return tuple(problems)
