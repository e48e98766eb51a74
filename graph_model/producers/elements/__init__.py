"""Facts that every format makes, whichever reported them.

In reading order:

``datasets``        a dataset as facts: its vertex and row, its schemas and their columns
``executions``      a job and its executions as facts
``plans``           a logical plan as facts: the datasets that it uses, the columns that it derives
``renames``         a table that got another name, as facts
``versions``        the version of a table, as a text that a format gives
``spark_commands``  Spark's commands, by the names that every format reports
"""
