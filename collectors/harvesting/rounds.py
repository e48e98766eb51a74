"""A round of a harvester: what a source has since the position -> documents -> an intake.

    position -> findings -> not taken yet -> events -> prepare -> intake.take -> position

A position moves after its documents are durable. A round that was cut off is repeated: an event is
a function of what it was made of, so the journal recognises what it has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from collectors.intake import Intake
from graph_model.documents.files import Prepared, Refusal, classify, prepare
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.durability import replace_durably
from graph_model.values import iso

_BATCH: Final = 200
_BATCH_BYTES: Final = 4_000_000
_LEAST_SAVED: Final = 1_000
_PROGRESS_EVERY: Final = 1_000

Say = Callable[[str], None]
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Harvested:
    """One thing at a source: a query, a table, a model.

    ``at`` is the time by which the source orders it (epoch ms). ``mark`` says which version of it
    this is: another mark under the same ``key`` is taken again. ``events`` makes its documents, and
    is called only where they are needed.
    """

    key: str
    at: int
    events: Callable[[], Sequence[Event]]
    mark: str = ""


class HarvestSource(Protocol):
    """One place that is harvested. Every method raises HeadwaterError.

    ``overlap`` (ms): how long before the position something may still appear; None where the source
    has no history but a state, of which every finding is remembered. ``kept`` (ms): how far back
    the source goes; None where nothing is dropped.
    """

    name: str
    overlap: int | None
    kept: int | None

    def settings(self) -> Mapping[str, str]:
        """What is harvested, for people; another one has a position of its own."""

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        """What there is since a time, in any order. Those that are ``known`` may be left out."""


# --- the position --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Position:
    """Everything from ``since`` to ``until`` (epoch ms) is taken. ``taken``: key => (at, mark), of
    a history those that the next round meets again.
    """

    since: int
    until: int
    taken: Mapping[str, tuple[int, str]] = field(default_factory=dict)


class PositionFile:
    """A position as a JSON file. Without the file a round begins anew, which repeats and loses
    nothing. ``path`` None: a file in ``folder``, named by what is harvested.
    """

    def __init__(self, path: Path | None, folder: Path, source: HarvestSource) -> None:
        settings = json.dumps(dict(source.settings()), sort_keys=True).encode()
        self._of = f"{source.name}-{hashlib.sha256(settings).hexdigest()[:12]}"
        self.path = path or folder / "harvests" / f"{self._of}.json"

    def load(self) -> Position | None:
        """None where nothing was harvested. Raises ConfigurationError for another content, and for
        the position of another harvest, from which this one would leave out its history.
        """
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            taken = {str(key): (int(at), str(mark)) for key, (at, mark) in stored["taken"].items()}
            position = Position(int(stored["since"]), int(stored["until"]), taken)
            of = stored["of"]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigurationError(f"{self.path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ConfigurationError(
                f"{self.path} is no position of a harvest: remove it to begin anew"
            ) from error
        if of != self._of:
            raise ConfigurationError(f"{self.path} is the position of another harvest, {of}")
        return position

    def save(self, position: Position) -> None:
        """The file is the old or the new one, whatever ends the process. Raises ConfigurationError
        where it cannot be written.
        """
        stored = {
            "of": self._of,
            "since": position.since,
            "until": position.until,
            "taken": position.taken,
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(self.path, stored)
        except OSError as error:
            raise ConfigurationError(f"{self.path}: {error.strerror}") from error


# --- a round -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Harvest:
    """The counts of a round: ``findings`` that were new, ``documents`` made durable of them."""

    findings: int = 0
    documents: int = 0
    refused: int = 0

    def __str__(self) -> str:
        return (
            f"{self.findings:,} found, {self.documents:,} documents taken, {self.refused:,} refused"
        )


def begin(source: HarvestSource, position: Position | None, asked: int | None, now: int) -> int:
    """When a round begins (epoch ms): ``asked``, else the beginning of what the source keeps. What
    an earlier round covered is not asked for again, except for the overlap.
    """
    oldest = now - source.kept if source.kept is not None else 0
    wanted = oldest if asked is None else asked
    if position is None or (asked is not None and asked < position.since):
        return wanted
    return max(position.until - (source.overlap or 0), position.since)


def harvest(
    source: HarvestSource,
    intake: Intake,
    positions: PositionFile,
    asked: int | None,
    now: int,
    say: Say,
    producers: Producers = PRODUCERS,
    stopped: Callable[[], bool] = lambda: False,
) -> Harvest:
    """One round. Raises Unavailable when source or intake is away: the same call goes on.

    Once ``stopped``, or when the source fails, what it has is made durable, and the next call goes
    on with the rest.
    """
    before = positions.load()
    _say_what_is_lost(source, before, now, say)
    since = begin(source, before, asked, now)
    # While a round is under way, what it covers is what was covered before it.
    start = before or Position(since, since)
    run = _Round(intake, positions, start, say, producers)
    run.taken.update(start.taken)
    try:
        for finding in _new(source, since, run.taken):
            if stopped():
                run.flush()
                run.save()
                return run.counts
            run.add(finding)
    except HeadwaterError:
        with suppress(HeadwaterError):  # the first error is the one to be told
            run.flush()
            run.save()
        raise
    run.flush()
    kept = now - source.overlap if source.overlap is not None else 0
    taken = {key: value for key, value in run.taken.items() if value[0] >= kept}
    positions.save(Position(min(since, start.since), max(now, start.until), taken))
    return run.counts


def _say_what_is_lost(source: HarvestSource, position: Position | None, now: int, say: Say) -> None:
    """After a pause longer than the source keeps its history."""
    if position is None or source.kept is None or position.until >= now - source.kept:
        return
    lost = f"from {iso(position.until)} to {iso(now - source.kept)}"
    say(f"  {source.name} keeps no history any longer of the time {lost}")


def preview(
    source: HarvestSource, position: Position | None, asked: int | None, now: int
) -> Iterator[str]:
    """What a round would take, a line for each document; nothing is stored."""
    since = begin(source, position, asked, now)
    for finding in _new(source, since, position.taken if position else {}):
        for event in finding.events():
            yield _line(event)


def _new(
    source: HarvestSource, since: int, taken: Mapping[str, tuple[int, str]]
) -> Iterator[Harvested]:
    known: Container[str] = taken if source.overlap is not None else ()
    for finding in source.findings(since, known):
        if finding.key not in taken or taken[finding.key][1] != finding.mark:
            yield finding


def _line(event: Event) -> str:
    if "job" not in event:
        return f"table {event['dataset']['name']}"
    reads, writes = (
        ", ".join(dataset["name"] for dataset in event.get(side, ())) or "-"
        for side in ("inputs", "outputs")
    )
    return f"{event.get('eventType', 'DECLARED')} {event['job']['name']}: {reads} -> {writes}"


class _Round:
    """Sends documents in batches, counts, and stores what was taken."""

    def __init__(
        self,
        intake: Intake,
        positions: PositionFile,
        position: Position,
        say: Say,
        producers: Producers,
    ) -> None:
        self._intake = intake
        self._positions = positions
        self._position = position
        self._say = say
        self._producers = producers
        self._batch: list[Prepared] = []
        self._waiting: dict[str, tuple[int, str]] = {}
        self._bytes = 0
        self._unsaved = 0
        self.taken: dict[str, tuple[int, str]] = {}
        self.counts = Harvest()

    def add(self, finding: Harvested) -> None:
        counted = len(self._batch)
        for event in finding.events():
            for piece in classify(event, finding.key, self._producers):
                try:
                    if isinstance(piece, Refusal):
                        self._refuse(piece)
                    else:
                        self._batch.append(prepare(piece, self._producers))
                except InvalidInput as error:
                    self._refuse(Refusal(finding.key, str(error)))
        self._waiting[finding.key] = (finding.at, finding.mark)
        self._bytes += sum(len(prepared.submission.body) for prepared in self._batch[counted:])
        if len(self._batch) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Make the batch durable; then its findings are taken, refused ones too."""
        refusals = self._intake.take(self._batch) if self._batch else ()
        before = self.counts.findings
        self.counts.documents += len(self._batch) - len(refusals)
        self.counts.findings += len(self._waiting)
        self.taken.update(self._waiting)
        self._unsaved += len(self._waiting)
        self._batch, self._bytes, self._waiting = [], 0, {}
        for refusal in refusals:
            self._refuse(refusal)
        if self.counts.findings // _PROGRESS_EVERY > before // _PROGRESS_EVERY:
            self._say(f"  {self.counts.findings:,} so far")
        # The whole file is written: by a share of itself, so that a long load costs linear time.
        if self._unsaved >= max(_LEAST_SAVED, len(self.taken) // 4):
            self.save()

    def save(self) -> None:
        """Store what was taken: the position itself moves at the end of the round."""
        self._positions.save(replace(self._position, taken=self.taken))
        self._unsaved = 0

    def _refuse(self, refusal: Refusal) -> None:
        self.counts.refused += 1
        self._say(f"{refusal.where}: refused: {refusal.reason}")
