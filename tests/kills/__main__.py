"""Kills so many random processes of `make serve` under load; exit code 1 where anything was lost, doubled or slow."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from kills.soak import Soak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument(
        "--within", type=float, default=10.0, metavar="SECONDS", help="all services answer again"
    )
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    report = Soak(folder / "data", options.seed, lambda text: print(text, flush=True)).of_any_kind(
        options.kills
    )
    slow = report.slower_than(options.within)
    for line in (*report.lines(), *slow):
        print(line)
    if report.complaints:
        print(f"what the services said: {folder / 'data_directory' / 'logs'}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
