"""What does the listener cost? The TPC-H queries with it and without it, turn and turn about.

    python -m bench.overhead [--rounds 5] [--only NAME …] [--small] [--busy] [--json FILE]

One Spark session writes the result of each query to files, over tables so small that planning and
scheduling are most of a query: the listener's share is never larger than here. A round has three
passes over all queries: without the listener (``off``), with it (``on``), and without it once more
(``again``), which tells how far two equal passes differ on this machine. The passes change places
from round to round, and a round that nobody counts warms the JVM up.

Documents go to a recording server in a process of its own, whose work is not counted.

- *wall* is the time that the job waits: from the call of the query to its return.
- *CPU* is that of the driver, JVM and Python together, until all is reported.
- *own* is the listener's own part of it: the Python process, and the JVM's thread that
  calls listeners, each with the listener less without it.

With ``--small`` 60 small writes are measured instead: files, appends, partitions, tables.
``python -m bench.overhead.session`` runs them thousands of times and tells threads and memory.

With ``--busy`` the next query does not wait until the last one is reported, as in a job: then the
listener and the queries compete, and only the sums over all queries mean something.
"""
