"""What many runs read, wrote and sent, for lists of runs: one question for all of them.

A version that a run read is the newest write before its end, of what its plans read; where nobody
wrote before, the dataset itself. A run that failed, or has not ended, wrote none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from graph_model import labels
from graph_model.answers.jobs import sources_of_plans
from graph_model.answers.openlineage import SentFacets, sent_facets
from graph_model.answers.sources import Sources
from graph_model.facts import ExecutionRow
from graph_model.stores.catalogue_values import Span

_MOST_EXECUTIONS: Final = 1_000
"""Of the runs of a job: the newest."""


@dataclass(frozen=True, slots=True)
class RunDetails:
    """``read`` and ``written``: per dataset (an id) an execution that wrote it, without hidden
    ones; of a dataset that nobody wrote before its own id.
    """

    sent: SentFacets
    read: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)


def run_details(
    sources: Sources, runs: Mapping[str, Collection[str]], subjects: Mapping[str, str]
) -> dict[str, RunDetails]:
    """Of runs (ids by that of their job) with the subject of their own events, where known."""
    wanted = {run for some in runs.values() for run in some}
    rows = [
        row
        for some in sources.catalogue.executions_of_runs(runs, _MOST_EXECUTIONS).values()
        for row in some
        if row.job not in sources.hidden and row.run in wanted
    ]
    reporters = {**{row.run: row.subject for row in rows}, **subjects}
    sent = sent_facets(sources, {*reporters.values(), *(row.subject for row in rows)})
    details = {
        run: RunDetails(sent.get(subject, SentFacets())) for run, subject in reporters.items()
    }
    for run, dataset, version in _read(sources, rows):
        details[run].read[dataset] = version
    for row in rows:
        if row.state == labels.COMPLETED and row.target and row.target not in sources.hidden:
            details[row.run].written[row.target] = row.id
    return details


def _read(sources: Sources, rows: Iterable[ExecutionRow]) -> list[tuple[str, str, str]]:
    """(run, dataset, version) of all that the runs of these executions read."""
    ends: dict[tuple[str, str], int] = {}
    for row in rows:
        at = ends.get((row.run, row.logical_plan), row.at)
        ends[row.run, row.logical_plan] = max(at, row.at)
    reads = sources_of_plans(sources, {plan for _, plan in ends})
    spans = {
        (run, key): Span(key, 0, at)
        for (run, plan), at in ends.items()
        for key in reads.get(plan, ())
        if key not in sources.hidden
    }
    newest = sources.catalogue.newest_writes(set(spans.values()))
    return [
        (run, key, max(((n.write.at, n.write.id) for n in newest[span]), default=(0, key))[1])
        for (run, key), span in spans.items()
    ]
