"""The rebuild of a whole journal as a PySpark job, and the loading of its result into the stores.

    journal -> documents by subject key -> the service's own translation -> facts, each once
            -> files for Neptune's bulk loader, and the catalogue's rows
    files   -> an embedded graph and an empty catalogue (a proof), or Neptune and PostgreSQL

It imports ``graph_model`` and never ``api``. Only ``journal`` and ``rebuild``
know PySpark; everything else here is plain Python, so that loading needs no Spark.
docs/pipeline.md teaches its use.

In reading order:

``command_line``  the command ``headwater-pipeline``, which ``__main__`` starts too: a function a
                  sub-command, with its --help
``rebuild``       the Spark job: a journal -> files for the bulk loader, catalogue rows, a manifest
``journal``       a journal -> documents and the commands among them, in a Spark data frame
``translating``   one partition of documents, sorted by subject key -> records: plain Python
``records``       facts as text: the CSV of Neptune's bulk loader, and records that Spark can carry
``result``        a reader of a rebuild's result and of its manifest. Needs no Spark
``loading``       the result -> a graph and a catalogue, the database of a service, or Neptune
"""
