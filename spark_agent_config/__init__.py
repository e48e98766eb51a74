"""How a Spark job reports its lineage: settings for the stock agent, and a listener of our own.

This package talks to the rest of Headwater over HTTP only; it imports neither ``api`` nor
``graph_model``, and nothing beyond the standard library and PySpark, so that the folder can be
copied to a cluster as it is. In reading order:

``listener``       ``observe(spark)``: the one line of a job
``executions``     the finished queries of all sessions of an application, for each one's listener
``bootstrap``      ``observe`` for a job that is not changed, from PYTHONPATH
``capture``        a finished query of Spark -> plain values -> documents
``delivery``       documents -> a server: a queue, a file, a folder for a later attempt
``masking``        secrets, masked before a document leaves the driver (pure); the server uses it
``configuration``  settings of the stock agent and of OpenLineage's clients, as text to paste
``demo``           runs the example pipeline against a server
``examples``       the jobs of that pipeline

No module imports PySpark at its top: modules that call a JVM take its objects as arguments;
``listener`` and the examples import PySpark inside functions.
"""
