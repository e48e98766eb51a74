"""Commands that write: their targets and modes.

In reading order:

``targets``            the target and the mode of a write: one method a kind of command
``nested``             writes that run inside another: Spark reports both, the inner one first
``generated_columns``  columns that Delta computes: ``twice GENERATED ALWAYS AS (id * 2)``
``table_copies``       copies of a whole table: Delta's CLONE, RESTORE and CONVERT, and LOAD DATA
``table_renames``      ALTER TABLE ... RENAME TO: history continues under the new name
``procedures``         Iceberg's procedures (``CALL ice.system.fast_forward(…)``) on Spark 3.5
``maintenance``        commands that rearrange or remove files and change no row: OPTIMIZE, VACUUM
``refused_statements``
                       statements that Spark or a table format refused before they ran
"""
