"""The shapes of requests and of answers (marshmallow); messages name the expected value.

What one module of routes alone needs stands there. In reading order:

``fields``      fields of JSON bodies and query strings, each with its own message
``producer``    an execution plan and an execution event (producer API 1.2 and 1.1)
``graph``       queries and replies of the graph's routes
"""
