"""HTTP: everything that knows Flask, marshmallow and sockets, and the console command.

The package reads requests, passes values to ``graph_model`` and writes its answers as JSON; it
knows nothing of Gremlin or SQL. In reading order:

``application``   ``create_app``: the one place that wires
``routes``        one module a subject; its ``__init__`` lists them all
``intake``        requests with documents -> the journal, durable before the answer
``schemas``       the shapes of requests and of answers
``consumer``      Spline's consumer API, as its viewers call it
``marquez``       Marquez's reads
``unity``         Unity Catalog's lineage API: two routes
``datazone``      DataZone's PostLineageEvent, for the SDKs of AWS
``http``          rules for every request: keys, errors, limits, headers, metrics
``service``       the parts of a running Headwater, as one value; their state
``logs``          the log: lines for people or JSON for machines, without secrets
``settings``      the settings, from an environment that is passed in
``serving``       start and stop of everything in order, with waitress as the HTTP server
``console``       the sub-commands of ``headwater``; ``command_line`` puts them together

Nothing here connects, reads a file or looks at the environment on import.
"""
