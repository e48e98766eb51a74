"""HTTP: everything that knows Flask, marshmallow and sockets, and the console command.

The package takes requests apart, hands values to ``graph_model`` and puts its answers on the
wire; it knows nothing of Gremlin or SQL. In reading order:

``settings``      what can be set, from an environment that is passed in
``principals``    who a request speaks for
``access``        its key -> who that is and whether they may; ``rates`` how often
``logs``          lines or JSON, masked, with the request's id; ``exchange`` one request
``metrics``       what Prometheus is told
``service``       the parts a running Headwater is made of, as one value
``times``         epoch milliseconds and ISO 8601
``errors``        every exception -> one JSON body
``blueprint``     routes with checked queries (flask-smorest, typed)
``bodies``        bytes on the wire -> a parsed document, within bounds
``schemas``       what a request must look like; ``query`` has the fields of query strings
``intake``        a checked document -> the journal's submission, durable before the answer
``routes``        one module a subject; its ``__init__`` lists them all
``application``   ``create_app``: the one place that wires
``refusals``      what the log tells of refused documents
``keys``          make, list and revoke API keys
``server``        start and stop everything in order, with waitress as the HTTP server
``machine``       what this computer must have (standard library only: ``make`` runs it first)
``command_line``  the command ``headwater``; ``console`` its sub-commands

Nothing here connects, reads a file or looks at the environment on import.
"""
