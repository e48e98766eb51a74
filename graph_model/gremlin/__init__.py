"""The graph in a Gremlin database: Amazon Neptune, or the embedded Gremlin Server.

This package alone knows gremlin_python, aiohttp and jgo; their exceptions end here and leave as
GraphUnavailable, GraphTimeout, GraphRejected, ConfigurationError or EngineError. Reading order:

    jars        the locked Java archives of the embedded engine, and how they come here
    server      the embedded engine: one JVM that lives and dies with its owner
    dialect     what differs between engines: upsert form, batch size, which errors to retry
    encoding    rows of a batch as bytes of the wire format
    decoding    answers from bytes of the wire format
    connection  WebSockets that heal: one request in flight each, retries, time limits
    signing     the headers of a handshake with Neptune
    traversals  every request that we send, as bytecode; pure
    writer      facts -> batches of idempotent upserts, in the order of the stages
    reader      ids -> vertices and edges, in bounded requests
    graph       both halves as one ``store.Graph``; ``open_graph`` is the way in
    checkpoints a graph that forgets is saved, verified and brought back
    supervisor  a dead engine is started again, not in a hot loop; how full it is

It never knows HTTP, the journal or the catalogue. Nothing connects at import.
"""
