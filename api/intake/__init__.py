"""Requests with documents -> the journal.

In reading order:

``documents``      a request with documents -> the journal, durable before the answer, and counted
``declarations``   declarations of people -> JobEvents, all of a request or none; their retraction
``statements``     statements of people -> command documents, and the wait until they are in force
``removals``       forget and prune requests -> command documents
"""
