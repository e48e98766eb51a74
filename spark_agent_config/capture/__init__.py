"""A finished query of Spark -> plain values -> documents.

In reading order:

``captured``    one query as plain values; the job of a flow; writes that run inside another
``inspection``  a finished query execution -> those values, while Spark waits
``questions``   calls into the JVM: any may fail, and a failure is only a missing answer
``commands``    commands that write: their targets and modes
``relations``   the leaves of a plan as reads, in the stock agent's spelling
``tables``      the names of catalog tables, and the places of their data, if Spark has them
``table_versions``
                versions of Delta and Iceberg tables that a leaf reads or a command made
``streams``     streaming queries: one logical plan a query, one execution a batch, its versions
``plans``       Spark's plan JSON -> a Spline document
"""
