"""Graph, catalogue and journal.

The graph has a protocol (``graph``), for two implement it: ``gremlin``, and one in memory for the
tests (tests/memory_graph.py). One contract suite tests both (tests/contract). Journal and catalogue
are classes on a relational database. Every call of a store is bounded by its arguments; there is no
query language.

In reading order:

``graph``             the promises of a graph: reads by id, level by level; writes; its hash
``documents``         documents on their way into the journal, and as it has them; their hash
``journal``           the journal: documents as they came, durable before the client is answered
``pages``             pages of a list, their cursors and orders
``catalogue``         the catalogue: times, names, counts. It has no edges
``catalogue_values``  what the catalogue is asked for and answers with, beside rows
``gremlin``           the graph in a Gremlin database: Amazon Neptune, or the embedded server
``database``          the relational database under the journal and the catalogue
``keys``              API keys: the clients and people of a Headwater, and their roles
``forwarding``        where documents are sent on to, and how far that has come
``durability``        writes to disk that are complete before they are reported
``aws``               large bodies in a bucket of Amazon S3; sign-ins to database and Neptune
``uploads``           documents too large for a request or a message, by way of a bucket
"""
