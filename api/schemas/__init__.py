"""The shapes of requests and of answers (marshmallow); messages name the expected value.

What one module of routes or of intake alone needs stands there. In reading order:

``fields``  fields of JSON bodies and query strings, each with its own message
``graph``   replies of the graph's routes, and the bounds that several of them have
"""
