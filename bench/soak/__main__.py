"""See the package."""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from pathlib import Path

from bench.soak.soak import Soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=0.0, help="of load after the last kill")
    parser.add_argument("--within", type=float, default=math.inf, help="minutes for all kills")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rate", type=float, default=25.0, help="runs a second at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), options.clients, chance, print, options.rate)
        began = time.monotonic()
        problems = soak.run(options.kills, options.minutes * 60, options.within * 60)
        print(f"{time.monotonic() - began:.0f} s")
    for problem in problems:
        print(f"WRONG: {problem}")
    print("nothing lost, nothing twice" if not problems else f"{len(problems)} things are wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
