"""Questions about lineage, answered level by level and true in time.

A level costs a bounded number of requests, whatever the length of history: the catalogue names
the writes in force at a time (``history``), the graph names the reads of their plans. A walk visits
no state twice, so it ends in cycles too. Bounds on nodes, edges, text and time end any other walk;
the answer then reports which bound it met.

Depth counts steps from table to table (or column to column). From a dataset, depth 1 gives the jobs
beside it and their datasets; from a job, its own datasets; depth 0 gives the node alone.

In reading order:

``questions``   a question about lineage, its bounds and its answer; what a limit left out
``lineage``     the entry of the package: a question in, an answer out; the flows of an estate
``history``     the writes that executions report, and the writes that a read saw
``walk``        one level up: the writes of a dataset at a time, and their reads; the same by plans
                in force, whatever the order of their last runs
``tables``      tables and jobs up and down
``column_walks``
                columns up and down: derivations of the executions that the table walk relates
``column_reader``
                the columns of tables at a time, those of the newest schema and of lineage; a column
                at a moment and a derivation between two, each read from the graph once
``open_columns``
                columns that the text of a query leaves open, joined with the catalogue's schemas
``chains``      chains of states that are short enough, and the shortest of a walk; chains between
                columns as one edge from end to end (pure)
``structure``   parts of the graph that never change, kept from one question to the next
"""

from graph_model.lineage.chains import keep_ends
from graph_model.lineage.column_reader import holders
from graph_model.lineage.lineage import ColumnDerivation, Lineage
from graph_model.lineage.questions import (
    HUB_LIMIT,
    Answer,
    Chain,
    ChainFlow,
    ColumnEdge,
    ColumnNode,
    Influences,
    LeftOut,
    Link,
    NotSeen,
    Partial,
    PlanUse,
    Question,
    Reach,
    Route,
    WalkEvidence,
)
from graph_model.lineage.structure import Structure
from graph_model.lineage.walk import readers_of

__all__ = [
    "HUB_LIMIT",
    "Answer",
    "Chain",
    "ChainFlow",
    "ColumnDerivation",
    "ColumnEdge",
    "ColumnNode",
    "Influences",
    "LeftOut",
    "Lineage",
    "Link",
    "NotSeen",
    "Partial",
    "PlanUse",
    "Question",
    "Reach",
    "Route",
    "Structure",
    "WalkEvidence",
    "holders",
    "keep_ends",
    "readers_of",
]
