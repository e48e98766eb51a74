"""The embedded engine: its JVM, its archives, its checkpoints.

In reading order:

``server``       one Gremlin Server in its own JVM, which this process starts and stops
``java``         the Java runtime: this machine's, else that of a Python package
``memory``       the heap that fits this machine, or this container
``jars``         the locked Java archives: their list, their download, their folder
``script``       the engine's script as classes, compiled once for all starts
``overflows``    how often the graph outgrew the heap, kept over restarts
``kills``        the last time that the engine was killed from outside
``supervisor``   restarts a dead engine with growing pauses, and reports how full it is
``checkpoints``  saves the in-memory graph, verifies the copy and loads it at a start
``removals``     the elements that left the graph after its checkpoint, in a file beside it
"""
