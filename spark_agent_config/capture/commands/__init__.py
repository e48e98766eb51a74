"""Commands that write: their targets and modes.

In reading order:

``targets``            the target and the mode of a write: one method a kind of command
``nested``             writes that run inside another: Spark reports both, the inner one first
``generated_columns``  columns that Delta computes: ``twice GENERATED ALWAYS AS (id * 2)``
``table_moves``        whole tables: CLONE, RESTORE, CONVERT, LOAD DATA, ALTER TABLE ... RENAME TO
``procedures``         Iceberg's procedures on Spark 3.5; OPTIMIZE and others that change no row
``refused_statements``
                       statements that Spark or a table format refused before they ran
"""
