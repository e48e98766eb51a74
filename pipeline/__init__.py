"""The rebuild of a whole journal as a PySpark job, and what puts its result into the stores.

    journal -> documents by plan id -> the service's own translation -> facts, each once
            -> files for Neptune's bulk loader, and the catalogue's rows
    files   -> an embedded graph and an empty catalogue (a proof), or Neptune and PostgreSQL

It imports ``graph_model`` and never ``api``. Only ``sources``, ``writing`` and ``rebuild`` know
PySpark; everything else here is plain Python, so that loading needs no Spark. Start with
``command_line``; docs/pipeline.md teaches its use.
"""
