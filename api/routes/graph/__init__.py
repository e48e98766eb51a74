"""Routes of the graph.

In reading order:

``graph``       overview, lineage, columns across jobs, lists, details, search; the first page, the
                map, all runs; one column in words; runs from OpenLineage's events, facets over time
``impact``      impact: everything downstream as a table, and the effects of a changed plan
``difference``  differences between times, executions or plans; versions; causes of a failed run
"""
