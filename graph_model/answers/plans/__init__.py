"""Questions about one plan.

In reading order:

``pages``         the fine view: operations, schemas, expressions
``column_steps``  the column edges of one plan
"""
