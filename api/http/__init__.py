"""Rules for every request: access, errors, limits, headers, metrics.

In reading order:

``exchange``       one request and its answer: id, access line, measurements, compression
``rights``         the principal of a request, and the role that its route needs
``access``         the key of a request, its rate -> a principal -> allowed or refused
``signatures``     signatures of AWS on requests (pure)
``errors``         every exception becomes one JSON body
``security``       headers on every answer, and requests from pages of other origins
``bodies``         the body of a request and its headers, every step within bounds
``blueprint``      routes with declared queries and answers: flask-smorest, typed and made strict
``encoded_paths``  paths with names in them, as they were sent
``metrics``        metrics for Prometheus, in a registry of each application's own
``client``         one request to a running server, from the console
"""
