"""Spline's consumer API over the same lineage, as values for Spline's UI.

Lists come from ``stores.protocols.events``; ``plans`` and ``attributes`` read one plan's document
in memory; ``overview`` combines answers of ``lineage``. In reading order:

``consumer``     the entry of the package: one method for each route of the API
``identifiers``  ids in Spline's spelling, in both directions
``plans``        one plan: its operations, schemas, types, and one operation in detail
``expressions``  expressions as the trees that Spline puts into an operation's parameters
``event_plans``  a plan from OpenLineage's events, in the form of a Spline plan
``attributes``   the origin and the uses of one column inside one plan
``overview``     an execution's plan, its reads and writes, and lineage beyond them
``forward``      executions that read the output of an execution, and so on downstream
"""
