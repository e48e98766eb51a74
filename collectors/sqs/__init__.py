"""Documents by way of Amazon SQS: the queue road.

    client -> queue -> messages -> the journal
                           |
               the dead-letter queue, with the reason

In reading order:

``queues``     OpenLineage events -> messages; a queue: sending, receiving, deleting
``messages``   a message -> its documents; a batch of messages -> the journal; a consumer as a
               process of its own
"""
