"""The cost of taking OpenLineage's events: first loads, repeated runs, and a steady rate.

    python -m bench.openlineage                       500 jobs, START and COMPLETE, two repetitions
    python -m bench.openlineage --jobs 1000 --runs 3 --concurrency 16

A real service is started with its embedded engine in a folder that is thrown away. Jobs stand in
layers: each reads two datasets of ten columns and writes one whose columns come from both. A run is
a START without datasets and a COMPLETE of some 8 kB with schemas and column lineage. *First load*
is the first run of every job, *repeated* are the following. Every answer counted comes after the
fsync of its event, and the clock stops when nothing is pending any more. Then the events of one
more run are sent evenly, at the rate that is asked for, for the time of an answer.

CPU is that of the service and of the engine's JVM, from the operating system; the clients run in
processes of their own and are not counted. The disk is the growth of the databases (journal and
catalogue) after the last repetition; their logs, of some megabytes whatever is sent, stand apart.
"""
