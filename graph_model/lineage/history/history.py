"""The history that one question reads from a catalogue, each row once."""

from __future__ import annotations

from graph_model.facts import LogicalPlanRow
from graph_model.lineage.history.columns import SchemaColumns
from graph_model.lineage.history.declared import DeclaredFlows
from graph_model.lineage.history.names import DatasetNames, SharedLocations
from graph_model.lineage.history.parts import ReportedParts
from graph_model.lineage.history.plans import PlanRows, PlansInForce
from graph_model.lineage.history.reads import ReadStates
from graph_model.lineage.history.visible_write_reader import VisibleWriteReader
from graph_model.lineage.history.writes import ReportedWrites
from graph_model.lineage.structure import StructureCache
from graph_model.stores.protocols import Catalogue


class History:
    """Readers that share the results of catalogue queries. Not to be shared between threads.

    ``known`` keeps rows of logical plans for later questions.
    """

    def __init__(
        self, catalogue: Catalogue, known: StructureCache[str, LogicalPlanRow] | None = None
    ) -> None:
        parts = ReportedParts(catalogue)
        self.names = DatasetNames(catalogue)
        self.locations = SharedLocations(catalogue)
        self.plans = PlanRows(catalogue, known)
        self.columns = SchemaColumns(catalogue)
        self.writes = ReportedWrites(catalogue, self.names, self.plans, parts)
        self.reads = ReadStates(catalogue, self.names, parts)
        self.in_force = PlansInForce(catalogue, self.names)
        self.declared = DeclaredFlows(catalogue, self.names)
        self.visible_writes = VisibleWriteReader(
            catalogue, self.names, self.locations, self.plans, parts, self.writes, self.declared
        )
