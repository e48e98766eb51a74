"""The cost of taking documents: first loads and repeated runs, against the least it could be.

    python -m bench.ingest                              2,000 plans, then 4,000 repeated pairs
    python -m bench.ingest --plans 500 --pairs 1000 --concurrency 16

A real service is started with its embedded engine in a folder that is thrown away. *First load*
posts distinct plans of distinct jobs, each with one event. *Repeated runs* post the same plans
again, byte for byte, each followed by a new event, as a nightly job does. Every answer counted
comes after the fsync of its document, and the clock stops when nothing is pending any more.

The *floor* of a first load is measured apart, over the same documents: parsing each body, one
fsync'd append for as many documents as arrive together, and writing the same elements to an
engine of the same kind in its best form, from one process that does nothing else.

CPU is that of the service and of the engine's JVM, from the operating system; the clients run in
processes of their own and are not counted.
"""
