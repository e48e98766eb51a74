"""The journal: what was said, as it was said, durable before anyone is answered.

It knows documents as bytes with a kind, a scope and a state; it never looks into them. Read
``content.py`` (what a body's hash covers, how it is stored), ``tables.py`` and ``journal.py``.
"""

from graph_model.journal.content import content_hash, make_submission
from graph_model.journal.journal import SqlJournal

__all__ = ["SqlJournal", "content_hash", "make_submission"]
