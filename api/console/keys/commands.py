"""``headwater keys``: API keys."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from api.console.call import Call, add_command, add_settings
from api.http.times import now
from graph_model.errors import ConfigurationError
from graph_model.stores.roles import MAY, ROLES, Role


def keys_create(call: Call) -> int:
    """Make an API key and print it, once."""
    from api.console.keys.table import create
    from graph_model.stores.keys import KeyRequest

    options = call.options
    roles = frozenset(map(Role, options.role))
    with _open_keys(call, make=True) as keys:
        for line in create(
            keys, KeyRequest(options.name, roles, options.scope, options.rate), now()
        ):
            call.say(line)
    return 0


def keys_list(call: Call) -> int:
    """List API keys, oldest first."""
    from api.console.keys.table import listing

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
    for action in (_add_keys_create(actions), listed, revoked):
        add_settings(action, "data", "database")


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
        help="capture scope of its documents without the label captureScope",
    )
    created.add_argument(
        "--rate", type=int, default=0, metavar="N", help="requests a minute (default: no limit)"
    )
    return created
