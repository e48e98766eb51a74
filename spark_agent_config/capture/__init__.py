"""A finished query of Spark -> plain values -> documents.

In reading order:

``captured``    one query as plain values; the job of a flow; writes that run inside another
``inspection``  a finished query execution -> those values, while Spark waits
``questions``   calls into the JVM: any may fail, and a failure is only a missing answer
``relations``   the leaves of a plan as reads, in the stock agent's spelling
``tables``      the names of catalog tables, and the places of their data, if Spark has them
``table_versions``
                versions of Delta and Iceberg tables that a leaf reads or a command made
``streams``     streaming queries: one logical plan a query, one execution a batch, its versions

Commands that write:

``command_targets``
                the target and the mode of a write: a method a kind of command; refused statements
``command_effects``
                what a command does not name: partitions of a write, columns that Delta computes
``table_moves`` whole tables: CLONE, RESTORE, CONVERT, LOAD DATA, ALTER TABLE ... RENAME TO
``procedures``  Iceberg's procedures on Spark 3.5; OPTIMIZE and others that change no row

Spark's plan JSON -> a Spline document:

``plan_tree``   Spark's plan JSON -> trees, loops of recursive CTEs included. Pure, iterative
``plan_document``
                a captured query -> a Spline 1.2 execution plan and its event. Pure, iterative
``row_level``   MERGE, UPDATE and DELETE as operators with possible values of each column. Pure
``plan_expressions``
                expression trees -> functions, constants, types of the document. Pure
"""
