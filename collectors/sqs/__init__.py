"""Documents by way of Amazon SQS: the queue road.

    client -> outgoing -> queue -> messages, rewriting -> batches -> the journal
                                                             |
                                    the dead-letter queue, with the reason

In reading order:

``outgoing``   OpenLineage events -> messages of a FIFO queue, in order for each run
``queues``     a queue by the client library: sending, receiving, deleting; a message
``messages``   a message -> its documents; a body too large for a message is read from S3
``rewriting``  rules that rename datasets of OpenLineage events
``batches``    a batch of messages -> the journal; which of them are to be delivered again
``loop``       a consumer as a process of its own
"""
