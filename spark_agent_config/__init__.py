"""How a Spark job reports its lineage: settings for the stock agent, and a listener of our own.

This package talks to the rest of Headwater over HTTP only; it imports neither ``api`` nor
``graph_model``, and nothing beyond the standard library and PySpark, so that the folder can be
copied to a cluster as it is. In reading order:

- ``properties``     the settings of the stock Spline agent, per way of running Spark (pure)
- ``captured``       what the listener takes away from a query: plain values, no JVM objects
- ``redaction``      how secrets are masked before anything leaves the driver (pure)
- ``questions``      how the JVM is asked, and why a failed question is only a missing answer
- ``tables``, ``relations``, ``targets``  what is asked of catalogs, of leaves, of commands
- ``inspection``     a finished query => a captured one; all of it while Spark waits
- ``projections``    what the plan's JSON leaves out of an Expand, asked of the operator itself
- ``generated_columns``  those that Delta computes from the columns that a write gives
- ``nested``         writes inside a write: told once (pure)
- ``streams``        streaming queries: one plan, an execution a batch
- ``plan_tree``      Spark's plan JSON => trees of operators and expressions (pure)
- ``row_level``      MERGE, UPDATE and DELETE as an operator with values per column (pure)
- ``loops``          what the columns of a recursive CTE are made of (pure)
- ``data_types``     Spark's type JSON => the type table of a Spline document (pure)
- ``expressions``    expression trees => functions and constants of a Spline document (pure)
- ``plan_document``  trees + answers => a Spline 1.2 plan and its execution event (pure)
- ``delivery``       one document over HTTP: taken, refused, or the server is away
- ``document_file``  documents as lines of a file: what ``headwater journal export`` writes too
- ``spill``          a folder of what no server took, for a later run to deliver
- ``outbox``         a bounded queue and one thread that deliver documents, and give up quietly
- ``listener``       ``observe(spark)``: the one line of a job
- ``demo`` and ``examples/``  a small pipeline that shows all of it

Nothing imports PySpark at its top: the modules that talk to a JVM get its objects handed in, and
``listener`` and the examples import what they need inside functions.
"""
