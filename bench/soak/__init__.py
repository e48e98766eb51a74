"""Kills under load: nothing that was acknowledged is lost, nothing is there twice.

    make soak                                        50 kills
    python -m bench.soak --kills 10 --seed 7
    python -m bench.soak --within 20                 as many kills as come in 20 minutes
    python -m bench.soak --kills 0 --minutes 60      load alone: does memory stay flat?
    python -m bench.soak --rate inf                  as many runs a second as are answered

Clients post plans and events and remember the documents answered with 201. Every run takes several
elements of the graph, so the engine's memory bounds their number: hence a rate. At random
moments the service, the engine's JVM, or both are killed with SIGKILL; a killed service is started
again. In the end the load stops, and when nothing is pending any more

- every acknowledged document is in the journal, each once;
- nothing failed, and nothing waits but for its plan;
- a rebuild finds the graph and the catalogue as they are: the hash before it is the hash after it.

The seed decides which process is killed, the machine decides when, so two runs are never the same.
"""
