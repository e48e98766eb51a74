"""Spline's consumer API over the same lineage, as values for Spline's UI.

Lists come from ``stores.protocols.events``; ``plans`` and ``attributes`` read one plan's document
in memory; ``overview`` combines answers of ``lineage``. In reading order:

``lists``           the lists of the API: executions, data sources, plans, labels
``one_plan``        one plan: its operations, one operation, one attribute, its data sources
``executions``      the lineage and the impact of one execution's output
``plan_documents``  a plan in Spline's form, from its document or from events
``identifiers``     ids in Spline's spelling, in both directions
``plans``           one plan: its operations, schemas, types, and one operation in detail
``expressions``     expressions as the trees that Spline puts into an operation's parameters
``event_plans``     a plan from OpenLineage's events, in the form of a Spline plan
``attributes``      the origin and the uses of one column inside one plan
``overview``        an execution's plan, its reads and writes, and lineage beyond them
``forward``         executions that read the output of an execution, and so on downstream
"""
