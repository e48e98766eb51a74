"""Spark's plan JSON -> a Spline document.

In reading order:

``plan_tree``      Spark's plan JSON -> trees, loops of recursive CTEs included. Pure, iterative
``plan_document``  a captured query -> a Spline 1.2 execution plan and its event. Pure, iterative
``row_level``      MERGE, UPDATE and DELETE as operators with possible values of each column. Pure
``expressions``    expression trees -> functions, constants, types of the document. Pure
"""
