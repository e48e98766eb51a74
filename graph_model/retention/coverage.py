"""The documents that a forget or prune command names, computed when it is given.

The command's document names them explicitly (content hashes, times), so that a later rebuild, also
elsewhere, has the same result without computing them again.

They are computed from the catalogue's rows and not from the graph, which may be down: a graph that
has outgrown its memory needs these commands most, because they make it smaller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from graph_model import identity, labels
from graph_model.batches import batched
from graph_model.errors import Rebuilding
from graph_model.facts import ExecutionRow, JobRow
from graph_model.lineage.history import MERGE_WINDOW_MS
from graph_model.lineage.history.writes import DatasetNames
from graph_model.naming import Rules
from graph_model.producers.commands import (
    COMMAND_KIND,
    MOST_DOCUMENTS,
    Command,
    Cutoff,
    Forget,
    Prune,
    Retract,
    Statement,
)
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.translation import Translation
from graph_model.retention.needed_writes import NeededWrites
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.origin import is_catalogue_whole
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal
from graph_model.stores.pages import Page, walk_pages, walk_rows

MOST_LOOKED_AT: Final = 1_000
"""Plans and runs that are translated to see whether a forget command covers them."""
_ALL_SUBJECTS: Final = 1_000_000
"""No cut: a forget command must find every report of the thing that it forgets."""
_ALWAYS: Final = -(1 << 62)
EXECUTIONS_A_RUN: Final = 1_000
"""The newest N runs of a job keep at most 1,000 N executions, the newest: a stream is one run for
months, and so is the application of a cluster that is never stopped."""


def affected_subject_keys(command: Command, catalogue: Catalogue) -> set[str]:
    """The subject keys whose facts change under this command."""
    if isinstance(command.instruction, Forget | Retract):
        return set(command.instruction.subject_keys)
    if isinstance(command.instruction, Statement):
        return set()  # statements of people change no facts
    subject_keys: set[str] = set()
    for cutoff in command.instruction.cutoffs:
        job, target = cutoff.key
        subject_keys |= {
            row.plan_id for row in list_executions(catalogue, job, target, before=cutoff.before)
        }
    return subject_keys


def list_executions(
    catalogue: Catalogue, job: str, target: str, *, before: int
) -> Iterator[ExecutionRow]:
    """All executions of a job that wrote a dataset before a time (epoch ms), newest first."""

    def ask(cursor: str | None) -> Page[ExecutionRow]:
        return catalogue.executions(
            job=job, target=target, at=before - 1, limit=1000, cursor=cursor
        )

    return (row for page in walk_pages(ask) for row in page.items)


# --- forget --------------------------------------------------------------------------------------


def subject_keys_of_job(job: str, catalogue: Catalogue) -> frozenset[str]:
    """The subject keys of every logical plan of a job."""
    return catalogue.plan_ids({row.id for row in catalogue.logical_plans_of([job])})


def subject_keys_of_dataset(dataset: str, catalogue: Catalogue) -> frozenset[str]:
    """The subject keys of every plan that reads, writes or names a dataset."""
    names = DatasetNames(catalogue)
    same = {dataset, *names.names_of([dataset])[dataset], *names.locations_of([dataset])[dataset]}
    uses = catalogue.uses(datasets=same)
    return catalogue.plan_ids({use.logical_plan for use in uses})


def subjects_without_plan(node: str, catalogue: Catalogue) -> frozenset[str]:
    """Subjects of OpenLineage that report a job or a dataset without a plan: unfinished runs,
    helpers of Spark, a dataset's declarations.
    """
    if identity.kind_of(node) == labels.JOB:
        return catalogue.run_subjects(node)
    return frozenset(catalogue.supporters(node, _ALL_SUBJECTS))


def waiting_subject_keys(
    nodes: Collection[str], journal: Journal, rules: Rules, producers: Producers = PRODUCERS
) -> frozenset[str]:
    """The subject keys of documents that report one of these nodes and that no catalogue knows yet,
    because they were never projected (or are to fill an empty one).

    Raises Rebuilding if there are more than the search covers.
    """
    translation = Translation(rules, producers)
    return frozenset(
        key
        for key in _unknown_subject_keys(journal)
        if any(
            v.id in nodes for v in translation.project_all(journal.documents_of(key)).facts.vertices
        )
    )


def _unknown_subject_keys(journal: Journal) -> frozenset[str]:
    is_whole = is_catalogue_whole(journal)
    found: set[str] = set()
    for page in walk_pages(
        lambda cursor: journal.entries(state=DocumentState.PENDING, limit=1000, cursor=cursor)
    ):
        found |= {
            one.subject_key
            for one in page.items
            if one.kind != COMMAND_KIND and (one.is_fresh or not is_whole)
        }
        if len(found) > MOST_LOOKED_AT:
            raise Rebuilding(
                f"more than {MOST_LOOKED_AT:,} plans and runs wait for projection, so the "
                "command's effect is unknown. One document can be forgotten by its position"
            )
    return frozenset(found)


def ensure_known(journal: Journal) -> None:
    """Raises Rebuilding while an emptied catalogue is filled: missing executions may depend on
    present ones.
    """
    if not is_catalogue_whole(journal):
        raise Rebuilding("the catalogue is being rebuilt: the command's effect is not known yet")


def resolve_forget(subject_keys: Collection[str], journal: Journal) -> tuple[Forget, ...]:
    """Commands that name every document of these subject keys, a bounded number each."""
    forgets: list[Forget] = []
    named: dict[str, list[str]] = {}
    count = 0
    for subject_key in sorted(subject_keys):
        hashes = dict.fromkeys(journal.content_hashes(subject_key))
        for piece in batched(hashes, MOST_DOCUMENTS):
            if count + len(piece) > MOST_DOCUMENTS:
                forgets.append(_forget(named))
                named, count = {}, 0
            named.setdefault(subject_key, []).extend(piece)
            count += len(piece)
    return (*forgets, _forget(named)) if named else tuple(forgets)


def _forget(named: Mapping[str, list[str]]) -> Forget:
    hashes = sorted({one for piece in named.values() for one in piece})
    return Forget(tuple(sorted(named)), tuple(hashes))


# --- prune ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention that a person asks for: executions since ``before`` (epoch ms) stay, or the
    newest ``keep`` runs of each job; with both, the union. At least one is given.
    """

    before: int | None = None
    keep: int | None = None


def resolve_prune(retention: Retention, catalogue: Catalogue, *, drop_bodies: bool) -> Prune:
    """The cut-offs for this retention that leave today's lineage untouched.

    More executions stay than it asks for: the writes of every dataset that are visible at its time,
    the writes that a kept execution read, and so on upstream (``needed``).
    """
    wished = _wished_times(retention, catalogue)
    times = {job: before for job, (_, before) in wished.items()}
    needed = NeededWrites(catalogue.logical_plans_of(wished), times, catalogue)
    needed.follow()
    cutoffs = {
        # the two writes of a CREATE TABLE AS SELECT are one: both stay
        (job, target): min(times[job], needed.times[target] - MERGE_WINDOW_MS)
        for job, target in needed.written
    }
    names = {row.id: row for row in catalogue.datasets({target for _, target in cutoffs})}
    found = [
        Cutoff(
            wished[job][0].namespace, wished[job][0].name, names[target].scope, names[target].uri,
            before,
        )
        for (job, target), before in cutoffs.items()
        if target in names and count_covered(catalogue, job, target, before)
    ]  # fmt: skip
    return Prune(tuple(sorted(found)), drop_bodies)


def count_covered(catalogue: Catalogue, job: str, target: str, before: int) -> int:
    """How many executions of a job wrote a dataset before this time."""
    if before <= 0:
        return 0
    return catalogue.executions(job=job, target=target, at=before - 1, limit=1).total


def _wished_times(retention: Retention, catalogue: Catalogue) -> dict[str, tuple[JobRow, int]]:
    """Per job id the job and the time before which its executions may go."""
    times: dict[str, tuple[JobRow, int]] = {}
    for job in walk_rows(lambda after: catalogue.walk_jobs(after=after)):
        kept = [] if retention.before is None else [retention.before]
        if retention.keep is not None:
            most = retention.keep * EXECUTIONS_A_RUN
            since = catalogue.newest_runs_since(job.id, retention.keep, most)
            kept.append(_ALWAYS if since is None else since)
        times[job.id] = job, min(kept)
    return times
