"""Headwater on AWS Lambda: handlers over the same application, journal and projector.

    API Gateway, ALB -> accept -> journal -> queue -> project -> graph and catalogue
    API Gateway -> enqueue -> queue (FIFO) -> take -> journal -> queue -> project
    bucket for uploads -> queue -> take

A container of Lambda handles one event at a time and lives on between events: each handler makes
its parts at the first one and keeps them. Nothing connects at import. docs/queues.md describes the
queues, and the rights of each function.

In reading order:

``invocations``  the settings and the time of an invocation; events of gateways, and answers to them
``accept``       HTTP requests -> the WSGI application
``waking``       a projector elsewhere, woken by messages
``project``      messages or a schedule -> the projector, within the time of an invocation
``enqueue``      OpenLineage events -> a FIFO queue, without a database
``take``         messages -> the journal
"""
