"""The embedded engine: its JVM, its archives, its graph.

In reading order:

``server``       one Gremlin Server in its own JVM, which this process starts and stops
``java``         the Java runtime: this machine's, else that of a Python package
``memory``       the heap that fits this machine or container; noted overflows and kills
``jars``         the locked Java archives and their folder; the engine's scripts, compiled once
``forgetful``    its graph, whose elements are kept beside the catalogue's rows
``supervisor``   restarts a dead engine with growing pauses, and reports how full it is
"""
