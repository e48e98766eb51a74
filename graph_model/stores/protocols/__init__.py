"""The protocols of the catalogue, and its values.

In reading order:

``catalogue``    the catalogue as a whole, and the next one while it is built
``nodes``        jobs, datasets, columns and plans by their ids and names
``history``      executions over time, writes, reads, versions, schemas
``lists``        lists, counts and search
``events``       lists of executions, data sources and labels, in any order
``records``      rows of OpenLineage's events, for runs and facets over time
``statements``   people's statements, and facets of runs
``retention``    the rows for forget and prune
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
from graph_model.stores.protocols.lists import (
    CatalogueLists,
    Estate,
    FailedJob,
    JobSummary,
    Match,
    RecentExecution,
    RunSummary,
)
from graph_model.stores.protocols.nodes import (
    NodeLookup,
    Surroundings,
)
from graph_model.stores.protocols.statements import (
    RunFacet,
)

__all__ = [
    "CATALOGUE_KEY",
    "FILLING",
    "NEVER",
    "ROUND_KEY",
    "WHOLE",
    "Catalogue",
    "CatalogueLists",
    "DeclaredFlow",
    "Estate",
    "FailedJob",
    "Generations",
    "JobSummary",
    "Match",
    "NewestWrite",
    "NodeLookup",
    "NumberedTime",
    "OlderWrites",
    "Origin",
    "PlanSpan",
    "ReadableWrites",
    "RecentExecution",
    "RunFacet",
    "RunSummary",
    "Span",
    "SpanWrites",
    "SuccessfulWrite",
    "Surroundings",
    "VersionId",
    "VersionSpan",
    "VersionWrites",
    "Writer",
    "is_catalogue_whole",
]
