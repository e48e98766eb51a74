"""Journalled documents -> other lineage backends, by a process of its own.

    journal -> events (Spline's plans too) -> rules -> backend.send -> the destination's position

In reading order:

``events``    the events of OpenLineage that a journalled document is or stands for
``backends``  where they go: another backend over HTTP, DataZone, Kafka, another Headwater
``rounds``    a destination's rounds: in order, again after a failure, refused ones set aside
"""
