"""Routes of the graph.

In reading order:

``graph``       overview, lineage, columns across jobs, lists, details, search
``home``        recent failures, late jobs, last writes; the map; the runs of all jobs
``columns``     one column, and its definition in words
``runs``        runs from OpenLineage's events, and facets over time
``impact``      impact: everything downstream as a table, and the effects of a changed plan
``difference``  differences between times, executions or plans; versions; causes of a failed run
"""
