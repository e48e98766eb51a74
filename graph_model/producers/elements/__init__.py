"""Facts that every format makes, whichever reported them.

In reading order:

``datasets``        a dataset as facts: its vertex and row, schemas and columns, versions, renames
``plans``           a logical plan as facts: the datasets that it uses, the columns that it derives;
                    a job and its executions as facts
``spark_commands``  Spark's commands, by the names that every format reports
"""
