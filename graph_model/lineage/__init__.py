"""Questions about lineage, answered level by level and true in time (DESIGN "What is true at a
time").

Every level costs a bounded number of requests, whatever the length of history: the catalogue says
which writes stood in a dataset at a time (``history``), the graph says what their plans read. A
visited set ends cycles; caps on nodes, edges, text and time end the rest, and the answer says so.

Depth counts table-to-table (or column-to-column) steps: 1 from a dataset is the jobs beside it
and their datasets, 1 from a job its own datasets, 0 the node alone.
"""

from graph_model.lineage.bounds import COLUMN_LIMIT, HUB_LIMIT
from graph_model.lineage.columns import fold_column_edges
from graph_model.lineage.ends import keep_ends
from graph_model.lineage.inventory import holders
from graph_model.lineage.lineage import Derivation, Lineage
from graph_model.lineage.questions import (
    Answer,
    ColumnEdge,
    ColumnNode,
    InfluenceCount,
    Influences,
    LeftOut,
    Partial,
    PlanUse,
    Question,
)
from graph_model.lineage.structure import Structure
from graph_model.lineage.traces import Chain, Link

__all__ = [
    "COLUMN_LIMIT",
    "HUB_LIMIT",
    "Answer",
    "Chain",
    "ColumnEdge",
    "ColumnNode",
    "Derivation",
    "InfluenceCount",
    "Influences",
    "LeftOut",
    "Lineage",
    "Link",
    "Partial",
    "PlanUse",
    "Question",
    "Structure",
    "fold_column_edges",
    "holders",
    "keep_ends",
]
