"""A finished query of Spark -> plain values -> documents.

In reading order:

``captured``    one query as plain values that outlive the JVM objects
``inspection``  a finished query execution -> those values, while Spark waits
``questions``   calls into the JVM: any may fail, and a failure is only a missing answer
``commands``    commands that write: their targets and modes
``tables``      tables of catalogs and table formats: names, versions, partitions, reads of them
``streams``     streaming queries: one logical plan a query, one execution a batch
``flows``       Declarative Pipelines: each flow is a job
``plans``       Spark's plan JSON -> a Spline document
"""
