"""Rules for every request: access, errors, limits, headers, metrics.

In reading order:

``exchange``       one request and its answer: id, access line, measurements, compression, headers
                   for safety, requests from pages of other origins
``access``         the key or the signature of a request, its rate -> a principal -> allowed or not
``errors``         every exception becomes one JSON body
``bodies``         the body of a request and its headers, every step within bounds
``blueprint``      routes with declared rights, queries and answers: flask-smorest, typed and made
                   strict; paths with names in them, as they were sent
``metrics``        metrics for Prometheus, in a registry of each application's own
``client``         one request to a running server, from the console
"""
