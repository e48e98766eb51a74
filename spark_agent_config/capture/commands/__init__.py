"""Commands that write: their targets and modes.

In reading order:

``targets``      the target and the mode of a write: a method a kind of command; refused statements
``effects``      what a command does not name: partitions of a write, columns that Delta computes
``table_moves``  whole tables: CLONE, RESTORE, CONVERT, LOAD DATA, ALTER TABLE ... RENAME TO
``procedures``   Iceberg's procedures on Spark 3.5; OPTIMIZE and others that change no row
"""
