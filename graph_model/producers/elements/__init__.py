"""Facts that every format makes, whichever reported them.

In reading order:

``datasets``        a dataset as facts: its vertex and row, schemas and columns, versions, renames
``plans``           a job, its logical plans with their datasets and columns, its executions
"""
