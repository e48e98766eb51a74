"""Spline's documents between the client and the journal.

In reading order:

``recognition``  the plans and events in a JSON object of a file, recognised by their fields
``submissions``  plans and events -> submissions to the journal, checked and masked
"""
