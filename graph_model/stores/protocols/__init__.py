"""The protocols of graph, catalogue and journal.

Two graphs implement theirs: ``gremlin``, and one in memory for the tests (tests/memory_graph.py).
One contract suite tests both (tests/contract). Every call is bounded by its arguments; there is no
query language. A question takes the narrow protocol that it needs; ``Catalogue`` and ``Journal``
are the sums of theirs.

In reading order:

``documents``    documents on their way into the journal, and as it stores them
``journal``      the journal, by its users: intake, projector, answers, operators
``graph``        the graph: reads by id, level by level; writes; checkpoints
``catalogue``    the catalogue as a whole, and the next one while it is built
``nodes``        of the catalogue: jobs, datasets, columns and plans by their ids and names
``history``      of the catalogue: executions over time, writes, reads, versions, schemas
``lists``        of the catalogue: lists, counts and search
``events``       of the catalogue: lists of executions, data sources and labels, in any order
``records``      of the catalogue: rows of OpenLineage's events, for runs and facets over time
``statements``   of the catalogue: people's statements, and facets of runs
``retention``    of the catalogue: the rows for forget and prune
``pages``        pages of a list, and the orders of lists
"""

from graph_model.stores.protocols.catalogue import (
    CATALOGUE_KEY,
    FILLING,
    ROUND_KEY,
    WHOLE,
    Catalogue,
    Generations,
    Origin,
    is_catalogue_whole,
)
from graph_model.stores.protocols.documents import (
    REOPENED,
    Body,
    DocumentKind,
    DocumentState,
    Receipt,
    StoredDocument,
    Submission,
)
from graph_model.stores.protocols.graph import (
    Checkpoints,
    Direction,
    EdgePage,
    Graph,
    GraphReader,
    Neighbours,
    NoCheckpoints,
)
from graph_model.stores.protocols.history import (
    NEVER,
    DeclaredFlow,
    NewestWrite,
    NumberedTime,
    OlderWrites,
    PlanSpan,
    ReadableWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
    VersionId,
    VersionSpan,
    VersionWrites,
    Writer,
)
from graph_model.stores.protocols.journal import (
    NEW_KEY,
    NO_SETTINGS,
    Backlog,
    DocumentsSize,
    Journal,
    JournalSize,
    JournalStatistics,
    JournalSummary,
)
from graph_model.stores.protocols.lists import (
    CatalogueLists,
    Estate,
    FailedJob,
    JobSummary,
    Match,
    RecentExecution,
    RunSummary,
)
from graph_model.stores.protocols.nodes import NodeLookup, Surroundings
from graph_model.stores.protocols.pages import (
    ColumnOrder,
    DatasetOrder,
    ExecutionOrder,
    JobOrder,
    ListOrder,
    Page,
    walk_pages,
    walk_rows,
)
from graph_model.stores.protocols.statements import RunFacet

__all__ = [
    "CATALOGUE_KEY",
    "FILLING",
    "NEVER",
    "NEW_KEY",
    "NO_SETTINGS",
    "REOPENED",
    "ROUND_KEY",
    "WHOLE",
    "Backlog",
    "Body",
    "Catalogue",
    "CatalogueLists",
    "Checkpoints",
    "ColumnOrder",
    "DatasetOrder",
    "DeclaredFlow",
    "Direction",
    "DocumentKind",
    "DocumentState",
    "DocumentsSize",
    "EdgePage",
    "Estate",
    "ExecutionOrder",
    "FailedJob",
    "Generations",
    "Graph",
    "GraphReader",
    "JobOrder",
    "JobSummary",
    "Journal",
    "JournalSize",
    "JournalStatistics",
    "JournalSummary",
    "ListOrder",
    "Match",
    "Neighbours",
    "NewestWrite",
    "NoCheckpoints",
    "NodeLookup",
    "NumberedTime",
    "OlderWrites",
    "Origin",
    "Page",
    "PlanSpan",
    "ReadableWrites",
    "Receipt",
    "RecentExecution",
    "RunFacet",
    "RunSummary",
    "Span",
    "SpanWrites",
    "StoredDocument",
    "Submission",
    "SuccessfulWrite",
    "Surroundings",
    "VersionId",
    "VersionSpan",
    "VersionWrites",
    "Writer",
    "is_catalogue_whole",
    "walk_pages",
    "walk_rows",
]
