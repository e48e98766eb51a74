"""Is the column lineage true? Change one source column at a time and see which columns move.

    python -m bench.truth [--floor 0.9] [--json FILE] [--only NAME …] [--seeds 2]

A job runs once over files with the listener on; ``derive`` of
``graph_model.producers.spline.column_derivation`` gives the edges of its plan. Then it runs again
over the same rows with one source column changed, in several ways (``perturbation``), and the
outcome is compared with the first one (``comparison``). The verdict on each edge, and each movement
that no edge explains, comes from ``verdicts``; ``report`` prints it.

A statement that changes a table of Delta or Iceberg (``formats``) is held to the same: its table
is made anew for each run from rows of which a column was changed, like the tables that it reads.
Delta for Spark 3.5 refuses to replace tables: with the packages of another Spark in front
(``PYTHONPATH=.:build/spark41/lib/python3.11/site-packages``) all run there.

The verdicts:

- An edge is *confirmed* when changing its source moved its target; *refuted* when the data
  contradict it: an IDENTITY whose output holds a value that none of its sources held, or an
  INDIRECT whose source's very value arrived in the output; else *untested*.
- A movement is a pair of a source column and an output column (or the rows as a whole). It is
  *explained* by an edge of that pair or by an influence of that source on the whole output. A
  fresh value that arrives as it is needs a DIRECT edge: nothing else explains it.
- precision = confirmed / (confirmed + refuted); recall = explained / all movements; coverage =
  confirmed / all edges, so that untested edges cannot hide.

``statements`` holds texts of SQL to the same, in SQLite or DuckDB.

Only the engines' results decide: which edges were derived has no say in which columns are
changed.
"""
