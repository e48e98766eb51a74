"""What a request must look like (marshmallow); messages say what was expected.

``query`` has the fields of query strings, ``plan`` and ``event`` the envelopes of documents,
``journal`` and ``health`` the answers of those routes, ``reply`` those of the graph.
"""
