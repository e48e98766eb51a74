"""Collectors: documents from files, logs and queues -> an intake, and from the journal on to
other backends. The console starts them.

In reading order:

``intake``        the intake of collected documents, and documents of files brought there
``sqs``           documents by way of Amazon SQS
``kafka``         records of the agent's Kafka dispatcher -> an intake, one document a record
``harvesting``    histories of queries and catalogues -> events of OpenLineage -> an intake
``forwarding``    journalled documents -> other lineage backends
``rewriting``     rules that rename datasets of events, or hold something back
"""
