"""The flows between the tables of a whole estate, for a map that shows thousands of tables at once.

They are coarser than a walk, which binds each read to its writes. A plan counts, with all of its
inputs, when it wrote a table since the last full overwrite replaced the table's content. Partitions
and versions are not distinguished, nor are reads before a table moved. A write to another branch
than the main one does not count until the branch is published.

    a overwrites t, then b and c append to it  =>  a, b and c;  then d overwrites it  =>  d

What wrote a location counts for every location that shares files with it, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from graph_model import labels
from graph_model.lineage.bounds import Bounds
from graph_model.lineage.history.history import History
from graph_model.lineage.history.versions import END
from graph_model.lineage.history.visible_write_reader import moment_of
from graph_model.lineage.questions import PlanUse
from graph_model.lineage.structure import Structure
from graph_model.lineage.walk import read_sources
from graph_model.stores.protocols import Catalogue, GraphReader, Writer

_NOW: Final = END - 1


def flows_into(
    datasets: Collection[str],
    graph: GraphReader,
    catalogue: Catalogue,
    history: History,
    structure: Structure,
    bounds: Bounds,
) -> tuple[PlanUse, ...]:
    """The plans, declared ones too, that wrote the present data of these datasets, each with its
    inputs.
    """
    around = history.locations.around(datasets)
    bounds.note_locations(cut=history.locations.cut)
    locations = {*datasets, *(other for others in around.values() for other in others)}
    plans_into: defaultdict[str, set[str]] = defaultdict(set)
    for place, plan in (*_written(locations, catalogue, history), *_declared(locations, history)):
        plans_into[place].add(plan)
    written = {
        (dataset, plan)
        for dataset, others in around.items()
        for place in (dataset, *others)
        for plan in plans_into[place]
    }
    plans = {plan for _, plan in written}
    sources = read_sources(graph, structure, bounds, plans)
    rows = history.plans.rows(plans)
    called = {source for read in sources.values() for source in read}
    places = history.names.locate((source, _NOW) for source in called)
    return tuple(
        PlanUse(
            plan, rows[plan].job, rows[plan].mode,
            tuple(sorted({places[source, _NOW] for source in sources[plan]})), (dataset,),
        )
        for dataset, plan in sorted(written)
        if plan in sources and plan in rows
    )  # fmt: skip


def _written(
    datasets: Collection[str], catalogue: Catalogue, history: History
) -> Iterator[tuple[str, str]]:
    """(dataset, logical plan) of the writes that nothing has replaced."""
    targets = history.names.targets_of(datasets)
    moved = {(target, _NOW) for found in targets.values() for target, place in found if place}
    locations = history.names.locate(moved)
    asked = {target for found in targets.values() for target, _ in found}
    writers = _by_target(catalogue.writers(asked, None, main=True))
    for dataset, found in targets.items():
        own = [
            writer
            for target, place in found
            if not place or locations[target, _NOW] == place
            for writer in writers.get(target, ())
        ]
        for plan in _unreplaced(own):
            yield dataset, plan


def _by_target(writers: Iterable[Writer]) -> Mapping[str, list[Writer]]:
    found: defaultdict[str, list[Writer]] = defaultdict(list)
    for writer in writers:
        found[writer.target].append(writer)
    return found


def _unreplaced(writers: Collection[Writer]) -> set[str]:
    replaced = [one.latest for one in writers if one.mode == labels.OVERWRITE]
    floor = max(replaced, default=None)
    return {one.logical_plan for one in writers if floor is None or one.latest >= floor}


def _declared(datasets: Collection[str], history: History) -> Iterator[tuple[str, str]]:
    moments = [moment_of(dataset, None) for dataset in datasets]
    for moment, declared in history.declared.flows(moments).items():
        for flow in declared:
            yield moment.dataset, flow.logical_plan
