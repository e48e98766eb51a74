"""Impact: everything downstream as a table, and a changed plan compared with the one in the graph.

In reading order:

``questions``   ``/graph/impact`` and ``/graph/impact/plan``
``report``      the table: a row for each dataset, column and job downstream, with a shortest path
``tables``      the table as CSV and as Markdown (pure)
``check``       one changed column, or the captured plans of a changed job, against the graph
``captured``    captured documents that were never sent -> their plans; nothing is stored
``relocation``  a plan captured on another computer, with the places of the real job (pure)
``outline``     the reads, writes and columns of one plan, from its facts or from the graph
``changes``     kinds of changes of a plan, and their effects
``comparison``  two outlines -> their differences (pure)
``verdicts``    differences + everything downstream -> effects, each with its reason (pure)
``written``     the columns that a job writes, each with the columns derived from it
``steps``       steps of a chain that no run performed, or that read a table's metadata alone
"""
