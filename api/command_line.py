"""The command ``headwater``: each sub-command is one function, and its --help teaches it.

Exit codes: 0 success, 1 failure, 2 a wrong call or setting. Errors are one line on standard error;
``--debug`` shows their traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from api.console import (
    collecting,
    configuration,
    declarations,
    forwarding,
    governance,
    journal,
    keys,
    lineage,
    serving,
    storage,
)
from api.console.call import PROGRAM, Call
from graph_model.errors import run_command

if TYPE_CHECKING:
    from graph_model.producers.registry import Producers

_DESCRIPTION: Final = """\
Headwater keeps the lineage of your Spark jobs: which job read and wrote which table, which column
came from which. Start it, point a job at it, look at the page.

  headwater serve               start it (make run does), then open http://127.0.0.1:8080
  headwater demo                a small PySpark pipeline that reports to it
  headwater config spark        settings with which your own jobs report to it

Settings come from the environment (HEADWATER_PORT, HEADWATER_DATA …: docs/settings.md) and from
options of the same name, which win. The data are in ./data of the folder where it is started, or
in HEADWATER_DATA; downloads are in ~/.cache/headwater, or in HEADWATER_CACHE.
"""


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:], os.environ, sys.stdout, sys.stderr))


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    out: TextIO,
    errors: TextIO,
    formats: Producers | None = None,
) -> int:
    """Run one command; its exit code. ``formats`` None: the producers of the service."""
    options = parser().parse_args(arguments)
    call = Call(options, environment, out, formats)
    return run_command(PROGRAM, options.command, call, errors)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog=PROGRAM,
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.set_defaults(url=None)
    root.add_argument("--debug", action="store_true", help="show where an error came from")
    commands = root.add_subparsers(metavar="COMMAND", required=True)
    serving.add_serve(commands)
    serving.add_demo(commands)
    serving.add_fetch(commands)
    configuration.add_config(commands)
    configuration.add_observe(commands)
    journal.add_journal(commands)
    collecting.add_consume(commands)
    collecting.add_harvest(commands)
    forwarding.add_forward(commands)
    keys.add_keys(commands)
    storage.add_backup(commands)
    journal.add_replay(commands)
    journal.add_rebuild(commands)
    storage.add_forget(commands)
    storage.add_prune(commands)
    declarations.add_declare(commands)
    governance.add_governance(commands)
    governance.add_quality(commands)
    lineage.add_impact(commands)
    lineage.add_sql(commands)
    storage.add_storage(commands)
    serving.add_doctor(commands)
    return root


if __name__ == "__main__":
    main()
