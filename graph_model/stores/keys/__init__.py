"""API keys: the clients and people of a Headwater, and their roles.

A key is made of an id, which may be seen, and a secret of 256 random bits, which is shown once:
only its SHA-256 is kept (a random secret needs no salt and no slow hash). Keys are rows of the
relational database, so several processes see the same ones, and a revoked key ends at once.

In reading order:

``key``      a key, the making and the parsing of its text. Pure: randomness comes as an argument
``tables``   the table of keys. Rows are never deleted: a principal in the journal keeps its
             meaning
``keys``     SqlKeys: the keys in the relational database
``archive``  keys as lines of a backup: their rows, which hold no secret
"""

from graph_model.stores.keys.key import Key, KeyRequest, NewKey, make_key, masked
from graph_model.stores.keys.keys import SqlKeys

__all__ = ["Key", "KeyRequest", "NewKey", "SqlKeys", "make_key", "masked"]
