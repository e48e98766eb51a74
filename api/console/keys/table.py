"""API keys in the database of a Headwater: make, list and revoke.

The command writes to the database itself, so the first key can be made before the first start, and
a running server sees every change with its next request.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from api.http.times import format_instant
from graph_model.stores.keys import Key, KeyRequest, SqlKeys, make_key
from graph_model.stores.keys.key import ID_BYTES, SECRET_BYTES


def create(keys: SqlKeys, request: KeyRequest, now: int) -> Iterator[str]:
    """Make a key; the lines to print, the key's text alone on one of them."""
    made = make_key(request, secrets.token_bytes(ID_BYTES + SECRET_BYTES), now)
    first = not keys.exist()
    keys.add(made.key)
    yield f"{made.key.name}: {describe(made.key)}"
    yield made.text
    yield "It is shown this once. Jobs send it as X-API-Key: HEADWATER_API_KEY for the listener,"
    yield "headwater config spark --api-key for the Spline agent."
    if first:
        yield (
            "It is the first key: from now on every request needs one (HEADWATER_ANONYMOUS= leaves "
            "a role to callers without)."
        )


def listing(keys: Sequence[Key]) -> Iterator[str]:
    """A line a key; secrets are not kept, so there is none to show."""
    for key in keys:
        ended = "" if key.revoked_at is None else f"  revoked {format_instant(key.revoked_at)}"
        yield (
            f"{key.id}  {format_instant(key.created_at)}  …{key.last_four}  {key.name}: "
            f"{describe(key)}{ended}"
        )
    yield f"{len(keys)} keys"


def describe(key: Key) -> str:
    """``producer; scope team-a; 600 requests a minute``."""
    parts = [", ".join(sorted(role.value for role in key.roles))]
    if key.scope:
        parts.append(f"scope {key.scope}")
    if key.rate_per_minute:
        parts.append(f"{key.rate_per_minute:,} requests a minute")
    return "; ".join(parts)
