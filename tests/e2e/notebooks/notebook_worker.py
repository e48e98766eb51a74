"""Executes a notebook where graph-notebook is installed (build/notebooks); not a test itself.

    python notebook_worker.py NOTEBOOK '{"port": 8183, "parameters": {"table": "…"}}' < code

The cell tagged ``configuration`` gets the port, the one tagged ``parameters`` the values; the code
of standard input runs at the end. Prints JSON: the outputs of each cell by its id, and the labels
of each picture's nodes.
"""

from __future__ import annotations

import json
import re
import sys
import time
from queue import Empty
from typing import Any

import nbformat
from nbclient import NotebookClient

_CELL_SECONDS = 300
_STEP_SECONDS = 0.2


def main(path: str, told: dict[str, Any], last: str) -> dict[str, Any]:
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        tags = cell.metadata.get("tags", ())
        if "configuration" in tags:
            cell.source, found = re.subn(r'"port": \d+', f'"port": {told["port"]}', cell.source)
            assert found == 1
        if "parameters" in tags:
            cell.source = "\n".join(
                f"{key} = {value!r}" for key, value in told["parameters"].items()
            )
    book.cells.append(nbformat.v4.new_code_cell(last, id="last"))
    client = NotebookClient(book, timeout=_CELL_SECONDS, kernel_name="python3")
    client.on_notebook_start = lambda **_: _ask_often(client.kc.shell_channel)
    client.execute()
    return {
        "outputs": {cell.id: cell.outputs for cell in book.cells if cell.cell_type == "code"},
        "pictures": list(_pictures(book)),
    }


def _ask_often(channel: Any) -> None:
    """Wait in short steps: a widget sends on the socket on which the client waits, and the answer
    that comes meanwhile is seen when the wait ends, after minutes.
    """
    receive = channel.get_msg

    async def get_msg(timeout: float | None = None) -> Any:
        end = time.monotonic() + (timeout or _CELL_SECONDS)
        while True:
            try:
                return await receive(timeout=_STEP_SECONDS)
            except Empty:
                if time.monotonic() > end:
                    raise

    channel.get_msg = get_msg


def _pictures(book: Any) -> Any:
    """``[[label of a node, …], …]`` of the widgets that draw a network."""
    widgets = book.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    for widget in widgets.get("state", {}).values():
        network = widget["state"].get("network")
        if isinstance(network, dict) and "graph" in network:
            yield sorted(str(node.get("label")) for node in network["graph"]["nodes"])


if __name__ == "__main__":
    json.dump(main(sys.argv[1], json.loads(sys.argv[2]), sys.stdin.read()), sys.stdout)
