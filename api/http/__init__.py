"""Rules for every request: access, errors, limits, headers, metrics.

In reading order:

``exchange``       one request and its answer: its id, the access line, its measurements
``rights``         the role that a request to a route needs
``access``         the key of a request -> a principal -> allowed or refused
``principals``     the principal of a request, once it is allowed
``rates``          a rate for each key: one token bucket, kept by this process
``errors``         every exception becomes one JSON body
``security``       headers on every answer, and requests from pages of other origins
``bodies``         the body of a request and its headers, every step within bounds
``blueprint``      routes with declared queries and answers: flask-smorest, typed and made strict
``times``          times: epoch milliseconds or ISO 8601 in, ISO 8601 in UTC with milliseconds out
``metrics``        metrics for Prometheus, in a registry of each application's own
``client``         one request to a running server, from the console
"""
