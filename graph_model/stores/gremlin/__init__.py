"""The graph in a Gremlin database: Amazon Neptune, or the embedded Gremlin Server.

Only this package knows gremlin_python, and gremlin_python's exceptions end here. It never knows
HTTP, the journal or the catalogue. Nothing connects at import. In reading order:

``graph``       ``stores.graph.Graph``: bounded reads by id, batches of idempotent upserts;
                :func:`open_graph` is the entry
``dialect``     differences between Gremlin engines as data: one frozen object per engine
``traversals``  every request as bytecode; pure. Only steps that Neptune accepts
``connection``  WebSockets that reconnect: one request in flight each, retries, time limits
``graphbinary`` rows of a batch -> bytes of GraphBinary, the wire format; bytes -> plain values
``engine``      the embedded engine: its JVM, its archives, its graph
"""
