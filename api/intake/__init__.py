"""Requests with documents -> the journal.

In reading order:

``documents``      a request with documents -> the journal, durable before the answer, and counted;
                   the schemas of plans and events
``declarations``   declarations of people -> JobEvents, all of a request or none; their retraction
``commands``       statements of people, forget and prune requests -> command documents, and the
                   wait until they are in force
"""
