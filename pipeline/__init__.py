"""The rebuild of a whole journal as a PySpark job, and the loading of its result into the stores.

    journal -> documents by subject key -> the service's own translation -> facts, each once
            -> files for Neptune's bulk loader, and the catalogue's rows
    files   -> an embedded graph and an empty catalogue (a proof), or Neptune and PostgreSQL

It imports ``graph_model`` and never ``api``. Only ``sources`` and ``rebuild``
know PySpark; everything else here is plain Python, so that loading needs no Spark.
docs/pipeline.md teaches its use.

In reading order:

``command_line``  the command ``headwater-pipeline``: a function a sub-command, with its --help
``rebuild``       the Spark job: a journal -> files for the bulk loader, catalogue rows, a manifest
``sources``       a Spark session, and a journal as its data frame: files of lines, or a database
``journal``       lines of a journal -> documents, and the commands among them
``translating``   one partition of documents, sorted by subject key -> records: plain Python
``records``       facts as records that Spark can carry: all ASCII, one spelling for equal content
``result``        a reader of a rebuild's result and of its manifest. Needs no Spark
``loading``       the result -> a graph and a catalogue, or the database of a service
``bulk_loader``   Neptune's bulk loader: vertices, then edges, watched until both have ended
``bulk_files``    the loader's CSV (Gremlin format): a writer, and a reader as strict as Neptune's
``__main__``      ``python -m pipeline`` and ``spark-submit pipeline/__main__.py``
"""
