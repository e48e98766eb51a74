"""Requests with documents -> the journal.

In reading order:

``documents``      a request with documents -> the journal, durable before the answer
``declarations``   declarations of people -> JobEvents, all of a request or none; their retraction
``statements``     statements of people -> command documents, and the wait until they are in force
``orders``         forget and prune requests -> command documents
``dumps``          documents in log files and exports: recognised, each with its line
``wrapped_lines``  messages that a log broke over several lines, joined
``uploads``        documents that are too large for a request or a message, by way of a bucket
``pieces``         a document from a file or a queue -> a submission, with the routes' checks
"""
