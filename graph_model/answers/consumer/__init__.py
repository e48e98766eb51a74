"""What only Spline's consumer API asks; its form is that of ``api.consumer``.

Lists come from ``stores.catalogue.events``; a plan is opened as for its page. In reading order:

``executions``      lists of executions, sources, plans, labels; an execution's lineage and impact
``plan_documents``  one plan, from its document or from events; a column's origins inside it
"""
