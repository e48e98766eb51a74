"""Spline's consumer API over the same lineage, as values for Spline's UI.

Lists come from ``stores.catalogue.events``; ``plan_documents`` and ``plans`` read one plan's
document in memory; ``executions`` combines answers of ``lineage``. In reading order:

``executions``      lists of executions, sources, plans, labels; an execution's lineage and impact
``plan_documents``  questions about one plan, from its document or from events; a column's origins
``plans``           one plan: its operations, schemas, types, expressions; ids in Spline's spelling
"""
