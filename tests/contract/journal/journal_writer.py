"""A process that fills a journal: prints the position of every document once it is acknowledged.

python -m tests.contract.journal.journal_writer <url> <name> <count>
"""

from __future__ import annotations

import sys

from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.contract.submissions import a_receipt, an_event


def main(url: str, name: str, count: int) -> None:
    """Documents of one ``name`` are the same in every process."""
    journal = Journal(open_database(url))
    for number in range(count):
        (position,) = journal.accept([an_event(f"{name} {number}")], a_receipt())
        print(position, flush=True)
    journal.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
