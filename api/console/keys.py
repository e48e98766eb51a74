"""``headwater keys``: API keys: make, list, change and revoke.

The command writes to the database itself, so the first key can be made before the first start, and
a running server sees every change with its next request.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from api.console.call import Call, add_command, add_settings
from graph_model.errors import ConfigurationError
from graph_model.values import MAY, ROLES, Role, iso, now

if TYPE_CHECKING:
    from graph_model.stores.keys import Key, KeyRequest, SqlKeys


def keys_create(call: Call) -> int:
    """Make an API key and print it, once."""
    from graph_model.stores.keys import KeyRequest

    options = call.options
    roles = frozenset(map(Role, options.role))
    asked = KeyRequest(
        options.name, roles, options.scope, options.rate, options.any_scope, options.aws
    )
    with _open_keys(call, make=True) as keys:
        installation = _installation(call) if options.aws else None
        for line in create(keys, asked, now(), installation):
            call.say(line)
    return 0


def _installation(call: Call) -> bytes:
    from graph_model.stores.keys import SECRET_BYTES, make_installation

    return make_installation(call.settings().signing_key_file, secrets.token_bytes(SECRET_BYTES))


def keys_list(call: Call) -> int:
    """List API keys, oldest first."""
    with _open_keys(call) as keys:
        for line in listing(keys.list()):
            call.say(line)
    return 0


def keys_revoke(call: Call) -> int:
    """End an API key; a running server refuses it at once."""
    with _open_keys(call) as keys:
        key = keys.revoke(call.options.key, now())
    call.say(f"{key.name} (…{key.last_four}) is revoked")
    return 0


def keys_scope(call: Call) -> int:
    """Let an API key name any capture scope, or its own alone; holds from its next request on."""
    with _open_keys(call) as keys:
        key = keys.allow(call.options.key, any_scope=call.options.any_scope)
    call.say(f"{key.name}: {describe(key)}")
    return 0


@contextmanager
def _open_keys(call: Call, *, make: bool = False) -> Iterator[Any]:
    """The keys of the database, which is made where the first key comes before all else."""
    from api.serving.storage import DATABASE_FILE, opened_storage
    from graph_model.stores.keys import SqlKeys

    settings = call.settings()
    if not (make or settings.database or (settings.data / DATABASE_FILE).is_file()):
        raise ConfigurationError(f"there is no key in {settings.data}: name its folder with --data")
    with opened_storage(settings, make=True) as database:
        yield SqlKeys(database)


def create(
    keys: SqlKeys, request: KeyRequest, at: int, installation: bytes | None = None
) -> Iterator[str]:
    """Make a key; the lines to print, the key's text alone on one of them. With the key of the
    ``installation`` also what clients of AWS sign with.
    """
    from graph_model.stores.keys import ID_BYTES, SECRET_BYTES, make_key, signing_secret

    made = make_key(request, secrets.token_bytes(ID_BYTES + SECRET_BYTES), at)
    first = not keys.exist()
    keys.add(made.key)
    yield f"{made.key.name}: {describe(made.key)}"
    yield made.text
    yield "It is shown this once. Jobs send it as X-API-Key: HEADWATER_API_KEY for the listener,"
    yield "headwater config spark --api-key for the Spline agent."
    if installation is not None:
        yield "Clients of AWS sign with"
        yield f"AWS_ACCESS_KEY_ID={made.key.id}"
        yield f"AWS_SECRET_ACCESS_KEY={signing_secret(installation, made.key.id)}"
    if first:
        yield (
            "It is the first key: from now on every request needs one (HEADWATER_ANONYMOUS= leaves "
            "a role to callers without)."
        )


def listing(keys: Sequence[Key]) -> Iterator[str]:
    """A line a key; secrets are not kept, so there is none to show."""
    for key in keys:
        ended = "" if key.revoked_at is None else f"  revoked {iso(key.revoked_at)}"
        yield (
            f"{key.id}  {iso(key.created_at)}  …{key.last_four}  {key.name}: {describe(key)}{ended}"
        )
    yield "1 key" if len(keys) == 1 else f"{len(keys)} keys"


def describe(key: Key) -> str:
    """``producer; scope team-a; 600 requests a minute``."""
    parts = [", ".join(sorted(role.value for role in key.roles))]
    if key.scope:
        parts.append(f"scope {key.scope}{' and any other' if key.any_scope else ''}")
    if key.rate_per_minute:
        parts.append(f"{key.rate_per_minute:,} requests a minute")
    if key.signs:
        parts.append("signs as clients of AWS do")
    return "; ".join(parts)


def add_keys(commands: Any) -> None:
    added = add_command(
        commands,
        "keys",
        None,
        "make, list and revoke API keys",
        """\
Until the first key is made, every client that reaches Headwater may do everything, so it listens
on this computer only. From the first key on every request needs one. Works on the data folder,
whether or not the server is running, also before its first start.

  headwater keys create nightly-jobs --role producer --scope emr-prod
  headwater keys create analysts --role reader --rate 600
  headwater keys list
  headwater keys revoke nightly-jobs""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    revoked = add_command(
        actions,
        "revoke",
        keys_revoke,
        "end a key",
        "  headwater keys revoke nightly-jobs",
    )
    revoked.add_argument("key", metavar="NAME", help="its name or its id")
    listed = add_command(
        actions, "list", keys_list, "list keys, without their secrets", "  headwater keys list"
    )
    scoped = add_command(
        actions,
        "scope",
        keys_scope,
        "let a key name other capture scopes, or its own alone",
        "  headwater keys scope nightly-jobs --any-scope\n"
        "  headwater keys scope nightly-jobs --no-any-scope",
    )
    scoped.add_argument("key", metavar="NAME", help="its name or its id")
    scoped.add_argument("--any-scope", action=argparse.BooleanOptionalAction, required=True)
    made = _add_keys_create(actions)
    for action in (made, listed, revoked, scoped):
        add_settings(action, "data", "database")
    add_settings(made, "signing_key")


def _add_keys_create(actions: Any) -> argparse.ArgumentParser:
    created = add_command(
        actions,
        "create",
        keys_create,
        "make a key and print it, once",
        f"""\
The role {", ".join(f"{role} may {MAY[role]}" for role in Role)}. A name is never used twice,
because each receipt in the journal keeps the name of its key.

  headwater keys create nightly-jobs --role producer --scope emr-prod
  headwater keys create importer --role producer --role reader
  headwater keys create me --role admin""",
    )
    created.add_argument("name", metavar="NAME", help="letters, digits, dots, dashes, underscores")
    created.add_argument(
        "--role",
        action="append",
        required=True,
        choices=ROLES,
        help="may be given several times",
    )
    created.add_argument(
        "--scope",
        default="",
        help="capture scope of its documents; those that name another are refused",
    )
    created.add_argument(
        "--any-scope",
        action="store_true",
        help="its documents may name other scopes, by the label captureScope",
    )
    created.add_argument(
        "--aws",
        action="store_true",
        help="also print a secret with which clients of DataZone's API sign requests",
    )
    created.add_argument(
        "--rate", type=int, default=0, metavar="N", help="requests a minute (default: no limit)"
    )
    return created
