"""The embedded engine: its JVM, its archives, its graph.

In reading order:

``server``       one Gremlin Server in its own JVM, which this process starts and stops
``memory``       the heap that fits this machine or container; noted overflows and kills
``jars``         the Java runtime; the locked Java archives; the engine's scripts, compiled once
``forgetful``    its graph, whose elements are kept beside the catalogue's rows
``supervisor``   restarts a dead engine with growing pauses, and reports how full it is
"""
