"""Impact: everything downstream as a table, and a changed plan compared with the one in the graph.

In reading order:

``check``     ``/graph/impact``, ``/graph/impact/plan``: the questions, a comparison, its verdicts
``report``    the table: a row for each dataset, column and job downstream, with a shortest path
``tables``    the table as CSV and as Markdown (pure)
``outlines``  the reads, writes and columns of a plan, from a captured document or from the graph
``changes``   kinds of changes of a plan and their effects; the places of a captured plan (pure)
"""
