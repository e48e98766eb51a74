"""The queue road in a simulation: moto's SQS in a process of its own, the functions in this one.

    python -m bench.queue_road                        10,000 messages
    python -m bench.queue_road --messages 1000000     as many as there is time for (--minutes)
    python -m bench.queue_road --cold 5               cold starts of each function alone

Needs the extra ``test``. A part of the batches is delivered twice, as after a crash between the
journal and the deletion; some messages are poison. The end compares the journal with what was sent.

In reading order:

``road``      events -> queue -> journal, with faults
``cold``      how long a new container takes to its first answer
``__main__``  the command
"""
