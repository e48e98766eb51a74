"""The consumer API of Spline under ``/consumer``, as its UI calls it.

In reading order:

``routes``  its routes and queries, its lists and graphs of executions, its errors
``plans``   one plan as JSON: operations, schemas, types, expressions; ids in Spline's spelling
"""
