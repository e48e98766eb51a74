"""What breaks when something changes: everything downstream as a table, and the plan of a changed
job held against the one in the graph.

    report      the table: one row for each dataset, column and job downstream
    outline     what one plan reads, writes and computes, from its facts or from the graph
    comparison  two outlines -> what changed (pure)
    verdicts    what changed + what lies downstream -> what breaks (pure)
    check       the two together, over the stores
    written     the columns that a job writes, and what derives from them
    declared    which steps are declared and run by nobody
    tables      the table as CSV and as Markdown (pure)
"""
