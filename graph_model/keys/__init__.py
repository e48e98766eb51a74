"""API keys: who may talk to a Headwater, and as what.

A key is made of an id, which may be seen, and a secret of 256 random bits, which is shown once:
only its SHA-256 is kept (a random secret needs no salt and no slow hash). Keys are rows of the
relational database, so several processes see the same ones, and a revoked key ends at once. Read
``key.py`` (what a key is, how it is written and recognised), ``tables.py`` and ``keys.py``.
"""

from graph_model.keys.key import (
    ROLES,
    Key,
    KeyRequest,
    NewKey,
    Role,
    make_key,
    masked,
)
from graph_model.keys.keys import SqlKeys

__all__ = ["ROLES", "Key", "KeyRequest", "NewKey", "Role", "SqlKeys", "make_key", "masked"]
