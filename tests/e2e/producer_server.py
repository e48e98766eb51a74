"""The HTTP side as a process of its own, without a graph: ``python -m tests.e2e.producer_server``.

Prints its port and serves until it is interrupted.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from api.logs import set_up_logging
from api.serving.connections import listening
from api.serving.server import interruptible, reserve
from tests.e2e.producer_service import Headwater

LIMIT = 200_000


def main() -> None:
    set_up_logging("warning")
    made = Headwater(max_body_bytes=LIMIT, max_compressed_bytes=LIMIT // 2)
    with suppress(KeyboardInterrupt), interruptible(), reserve("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with listening(made.app, replace(made.settings, port=port), listener) as server:
            print(port, flush=True)
            server.run()
    made.close()


if __name__ == "__main__":
    main()
