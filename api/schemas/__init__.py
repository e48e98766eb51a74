"""The shapes of requests and of answers (marshmallow); messages name the expected value.

In reading order:

``fields``      fields of JSON bodies; every message completes the sentence "<path>: expected …"
``query``       fields of query strings: strict, each with its own message
``plan``        the envelope of an execution plan (producer API 1.2 and 1.1)
``event``       one execution event (producer API 1.2 and 1.1)
``uploads``     body and answer of the route for large documents
``graph``       queries and replies of the graph's routes
``governance``  bodies and answers for statements of people
``commands``    bodies and answers of the routes that take commands
``journal``     queries and answers of the journal's routes
``sql``         body and answer of the route that translates SQL
``health``      answers of the health routes
``security``    API keys in the OpenAPI document (``api.http.access`` checks them)
"""
