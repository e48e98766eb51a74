"""The rebuild of a whole journal as a PySpark job, and the loading of its result into the stores.

    journal -> documents by subject key -> the service's own translation -> facts, each once
            -> files for Neptune's bulk loader, and the catalogue's rows
    files   -> an embedded graph and an empty catalogue (a proof), or Neptune and PostgreSQL

It imports ``graph_model`` and never ``api``. Only ``sources``, ``writing``, ``runs`` and
``rebuild`` know PySpark; everything else here is plain Python, so that loading needs no Spark.
docs/pipeline.md teaches its use.

In reading order:

``command_line``  the command ``headwater-pipeline``: a function a sub-command, with its --help
``rebuild``       the Spark job: a journal -> files for the bulk loader, catalogue rows, a manifest
``journal``       a journal as Spark reads it: lines, documents, subjects
``translating``   one partition of documents, sorted by subject key -> records: plain Python
``runs``          the executions that the graph is to carry, chosen with Spark's means
``output``        the result of a rebuild, and its loading
``neptune``       Neptune's bulk loader and its CSV
``session``       a Spark session: that of spark-submit, Glue or EMR, else a local one
``__main__``      ``python -m pipeline`` and ``spark-submit pipeline/__main__.py``
"""
