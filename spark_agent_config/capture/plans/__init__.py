"""Spark's plan JSON -> a Spline document.

In reading order:

``plan_tree``      Spark's plan JSON -> trees. Pure, and iterative: a plan can be very deep
``plan_document``  a captured query -> a Spline 1.2 execution plan and its event. Pure, iterative
``row_level``      MERGE, UPDATE and DELETE as operators with possible values of each column. Pure
``expressions``    expression trees -> functions and constants of the document. Pure, iterative
``data_types``     Spark's type JSON -> the type table of the document. Pure
``loops``          recursive CTEs (Spark 4.1): the sources of a column after any number of rounds
``projections``    the projections of an Expand that the plan's JSON leaves out
"""
