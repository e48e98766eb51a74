"""The protocols of graph, catalogue and journal, and the stores behind them.

In reading order:

``protocols``    the promises of a graph, a catalogue and a journal
``journal``      the journal: documents as they came, durable before the client is answered
``catalogue``    the catalogue: times, names, counts. It has no edges
``gremlin``      the graph in a Gremlin database: Amazon Neptune, or the embedded Gremlin Server
``database``     the relational database under the journal and the catalogue
``opening``      the journal and the catalogues on a database: the choice of their classes
``keys``         API keys: the clients and people of a Headwater, and their roles
``roles``        the roles of API keys
``submissions``  a document on its way into the journal: the spelling of its body, its hash
``cursors``      cursors: the beginning of a list's next page, as an opaque text
``digests``      one hash over all elements of a graph, in any order
``durability``   writes to disk that are complete before they are reported
``bodies``       large bodies outside of the database: in a bucket of Amazon S3
``uploads``      documents too large for a request or a message, by way of a bucket
``temporary``    the working data of one long task: databases gone when closed
``credentials``  how a connection to the database signs in on AWS
"""
