"""The queue road in a simulation: moto's SQS in a process, the functions in another.

    python -m bench.queue_road                        10,000 messages
    python -m bench.queue_road --messages 1000000 --roads 3 --minutes 90
                                                      as many as there is time for, on three roads
    python -m bench.queue_road --cold 5               cold starts of each function alone

Needs the extra ``test``. A part of the batches is delivered twice, as after a crash between the
journal and the deletion; some messages are poison. The end compares the journal with the sent
messages; an interrupt (SIGINT, SIGTERM) ends it early, with the comparison.

In reading order:

``road``      events -> queue -> journal, with faults
``roads``     several beside each other
``cold``      how long a new container takes to its first answer
``__main__``  the command
"""
