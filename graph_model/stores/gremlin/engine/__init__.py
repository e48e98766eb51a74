"""The embedded engine: its JVM, its archives, its graph.

In reading order:

``server``       one Gremlin Server in its own JVM, which this process starts and stops
``java``         the Java runtime: this machine's, else that of a Python package
``memory``       the heap that fits this machine, or this container
``jars``         the locked Java archives: their list, their download, their folder
``script``       the engine's scripts as classes, compiled once for all starts
``forgetful``    its graph, whose elements are kept beside the catalogue's rows
``overflows``    how often the graph outgrew the heap, kept over restarts
``kills``        the last time that the engine was killed from outside
``supervisor``   restarts a dead engine with growing pauses, and reports how full it is
"""
