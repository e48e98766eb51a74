"""The cost of questions, each against the least that the same answer could cost.

    python -m bench.reads                               5,000 jobs in 5 layers, then re-runs
    python -m bench.reads --jobs 5000 --layers 10       deeper
    python -m bench.reads --jobs 1000 --reruns 0 --plans 0 --readers 0       how cost grows

A layered lake: each job reads two datasets of the layer before and writes one of ten columns, each
from two; layer 0 reads raw tables. The facts are those of OpenLineage's events, translated as the
service does and written straight into an embedded engine and a SQLite catalogue. Then the app is
asked, in this process, one question after the other, each from other nodes; times are until the
JSON is there.

The *floor* of a graph question is a raw walk, breadth first, over the same edges by the same driver
until it has seen the nodes of the answer, with one look-up by index a level. CPU is that of this
process and of the engine's JVM together. ``--days`` makes an estate that has lived: every job runs
once more on each. ``--reruns`` then adds 1,000 executions to each of 100 jobs and asks again;
``--plans`` stores so many plans and asks for their pages.
"""
