"""The graph in a Gremlin database: Amazon Neptune, or the embedded Gremlin Server.

Only this package knows gremlin_python, and gremlin_python's exceptions end here. It never knows
HTTP, the journal or the catalogue. Nothing connects at import. In reading order:

``graph``       ``stores.graph.Graph`` from reader and writer; :func:`open_graph` is the entry
``dialect``     differences between Gremlin engines as data: one frozen object per engine
``traversals``  every request as bytecode; pure. Only steps that Neptune accepts
``writer``      facts -> batches of idempotent upserts, in the order of ``facts.stages``
``reader``      ids -> vertices and edges, in bounded requests; the edges of each id cut to a limit
``connection``  WebSockets that reconnect: one request in flight each, retries, time limits
``encoding``    rows of a batch -> bytes of GraphBinary, the wire format
``decoding``    GraphBinary bytes -> plain values
``signing``     handshakes signed for Amazon Neptune (AWS Signature Version 4)
``engine``      the embedded engine: its JVM, its archives, its graph
"""
