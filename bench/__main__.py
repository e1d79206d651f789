"""``python -m bench [SECTION …] [--json FILE]``: measure Ciphermark against its own targets.

Results are printed as they arrive, in lines "name, value, target, met or missed". The exit code does not depend on
them, since machines are shared and noisy. It is 1 if a section failed, which does not stop the others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic
from typing import Any

from bench.results import BenchResult
from ciphermark_core import host
from ciphermark_core.errors import UserError

# Each is the module of its name, whose ``section`` yields results.
SECTIONS = (
    *(
        "loop",
        "storage",
        "overhead",
        "aa",
        "gate",
        "host_state",
        "memory",
        "tuning",
        "quick",
        "commands",
        "baseline",
        "bootstrapping",
    ),
    *("programs", "learning", "retrieval", "precision"),
    *("transfer", "wrappers", "api", "dashboard"),
)


def main() -> None:
    """Measure the requested sections, by default all."""
    arguments = _parsed()
    facts = host.collect()
    print(
        f"{facts.cpu_model}, {facts.cores} cores, load {facts.load_1min:.2f}, noise {facts.clock_noise:.0%}"
    )
    results: list[dict[str, Any]] = []
    failures = []
    try:
        for name in arguments.sections or SECTIONS:
            try:
                for result in _measured(name):
                    print(f"{name}: {result.line()}", flush=True)
                    results.append({"section": name} | result.as_dict())
            except Exception as error:
                failures.append(name)
                print(f"{name}: FAILED", error if isinstance(error, UserError) else traceback.format_exc())
    finally:
        if arguments.json is not None:
            at = datetime.now(timezone.utc).isoformat(timespec="seconds")
            document = {"host": facts.fingerprint, "at": at, "results": results, "failures": failures}
            arguments.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    verdicts = [item["is_met"] for item in results]
    print(f"{verdicts.count(True)} targets met, {verdicts.count(False)} missed")
    if failures:
        sys.exit(f"sections that failed: {', '.join(failures)}")


def _measured(name: str) -> Iterator[BenchResult]:
    """The results of a section, and its duration."""
    start = monotonic()

    def progress(text: str) -> None:
        elapsed_s, load = monotonic() - start, os.getloadavg()[0]
        print(f"[{elapsed_s:4.0f} s, load {load:.1f}] {name}: {text}", file=sys.stderr)

    yield from importlib.import_module(f"bench.{name}").section(progress)
    yield BenchResult("the whole section", monotonic() - start, "s")


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Ciphermark itself.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results there")
    arguments = parser.parse_args()
    for name in arguments.sections:
        if name not in SECTIONS:
            parser.error(f"unknown section {name!r}; sections: {', '.join(SECTIONS)}")
    return arguments


if __name__ == "__main__":
    main()
