"""Flows that people declared, in force at a moment of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from graph_model.lineage.history.names import DatasetNames
from graph_model.lineage.history.read_rule import Moment
from graph_model.stores.protocols import Catalogue, DeclaredFlow


class DeclaredFlows:
    """Declared flows into datasets, from one catalogue."""

    def __init__(self, catalogue: Catalogue, names: DatasetNames) -> None:
        self._catalogue = catalogue
        self._names = names

    def flows(self, moments: Collection[Moment]) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment the declared flows into its dataset, under any name, in force at the time."""
        if not moments:
            return {}
        targets = self._names.targets_of({moment.dataset for moment in moments})
        asked = {target for found in targets.values() for target, _ in found}
        flows: dict[str, list[DeclaredFlow]] = {}
        for flow in self._catalogue.declared_flows(asked):
            flows.setdefault(flow.target, []).append(flow)
        return self._where_placed(
            {
                moment: [
                    (flow, place)
                    for target, place in targets[moment.dataset]
                    for flow in flows.get(target, ())
                    if holds(flow, moment)
                ]
                for moment in moments
            }
        )

    def _where_placed(
        self, found: Mapping[Moment, Collection[tuple[DeclaredFlow, str]]]
    ) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment those flows whose target, a catalog name that has moved, stood for the
        location just before the moment ends; a required location of "" always matches.
        """
        locations = self._names.locate(
            (flow.target, moment.until - 1)
            for moment, flows in found.items()
            for flow, place in flows
            if place
        )
        return {
            moment: tuple(
                flow
                for flow, place in flows
                if not place or locations[flow.target, moment.until - 1] == place
            )
            for moment, flows in found.items()
        }


def holds(flow: DeclaredFlow, moment: Moment) -> bool:
    return flow.since < moment.until and flow.ends >= moment.since
