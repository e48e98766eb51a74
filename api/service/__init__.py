"""The parts of a running Headwater, as every request uses them.

In reading order:

``parts``    the parts of a running Headwater, as the routes see them; the statements kept; the
             sources of a question: stores, a deadline, the state of projection; the state of the
             parts, for /status and /health
``storage``  disk space: its use by part and by job, its growth, the date when the disk is full
``refusals`` refused documents: their lines in the log, and those of the last day
"""

from __future__ import annotations

from api.service.parts import Service, attach, current_service, service_of

__all__ = ["Service", "attach", "current_service", "service_of"]
