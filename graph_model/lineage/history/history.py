"""The history that one question reads from a catalogue, each row once."""

from __future__ import annotations

from graph_model.lineage.history.columns import SchemaColumns
from graph_model.lineage.history.declared import DeclaredFlows
from graph_model.lineage.history.names import DatasetNames, SharedLocations
from graph_model.lineage.history.parts import ReportedParts
from graph_model.lineage.history.plans import PlanRows, PlansInForce
from graph_model.lineage.history.reads import ReadStates
from graph_model.lineage.history.visible_write_reader import VisibleWriteReader
from graph_model.lineage.history.writes import ReportedWrites
from graph_model.lineage.structure import Structure
from graph_model.stores.protocols import Catalogue


class History:
    """Readers that share the results of catalogue queries. Not to be shared between threads.

    ``structure`` keeps datasets and rows of logical plans for later questions.
    """

    def __init__(self, catalogue: Catalogue, structure: Structure | None = None) -> None:
        structure = structure or Structure()
        parts = ReportedParts(catalogue)
        self.names = DatasetNames(catalogue)
        self.locations = SharedLocations(catalogue, structure.datasets)
        self.plans = PlanRows(catalogue, structure.plans)
        self.columns = SchemaColumns(catalogue)
        self.writes = ReportedWrites(catalogue, self.names, self.plans, parts)
        self.reads = ReadStates(catalogue, self.names, parts)
        self.in_force = PlansInForce(catalogue, self.names, self.plans)
        self.declared = DeclaredFlows(catalogue, self.names)
        self.visible_writes = VisibleWriteReader(
            catalogue, self.names, self.locations, self.plans, parts, self.writes, self.declared
        )
