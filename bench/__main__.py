"""``python -m bench [SECTION …] [--json FILE]``: Ciphermark measured by its own targets.

Figures are told as they are found, in lines "name, value, target, met or missed". The exit code says
nothing about them: machines are shared and noisy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic

from bench import (
    aa,
    api,
    baseline,
    dashboard,
    divisions,
    host_state,
    inference,
    learning,
    loop,
    memory,
    micro,
    overhead,
    programs,
    quick,
    retrieval,
    storage,
    transfer,
    wrappers,
)
from bench.figures import Figure, Section
from ciphermark_core import host
from ciphermark_core.errors import UserError

SECTIONS: dict[str, Section] = {
    "loop": loop.section,
    "storage": storage.section,
    "overhead": overhead.section,
    "aa": aa.section,
    "host_state": host_state.section,
    "memory": memory.section,
    "divisions": divisions.section,
    "quick": quick.section,
    "baseline": baseline.section,
    "programs": programs.section,
    "learning": learning.section,
    "micro": micro.section,
    "inference": inference.section,
    "retrieval": retrieval.section,
    "transfer": transfer.section,
    "wrappers": wrappers.section,
    "api": api.section,
    "dashboard": dashboard.section,
}


def main() -> None:
    """Measure what is asked for, all by default."""
    arguments = _parsed()
    facts = host.collect()
    print(
        f"{facts.cpu_model}, {facts.cores} cores, load {facts.load_1min:.2f}, noise {facts.clock_noise:.0%}"
    )
    found: list[Figure] = []
    try:
        for figure in _measured(arguments.sections or list(SECTIONS)):
            found.append(figure)
            print(figure.line(), flush=True)
    except UserError as error:
        sys.exit(str(error))
    finally:
        if arguments.json is not None:
            document = {
                "host": facts.fingerprint,
                "at": _now(),
                "figures": [item.as_dict() for item in found],
            }
            arguments.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    missed = sum(item.is_met is False for item in found)
    met = sum(item.is_met is True for item in found)
    print(f"{met} targets met, {missed} missed")


def _measured(sections: list[str]) -> Iterator[Figure]:
    start = monotonic()
    for name, section in SECTIONS.items():
        if name not in sections:
            continue

        def progress(text: str, name: str = name) -> None:
            print(
                f"[{monotonic() - start:4.0f} s, load {os.getloadavg()[0]:.1f}] {name}: {text}",
                file=sys.stderr,
            )

        yield from section(progress)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Ciphermark itself.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    for name in arguments.sections:
        if name not in SECTIONS:
            parser.error(f"unknown section {name!r}; sections: {', '.join(SECTIONS)}")
    return arguments


if __name__ == "__main__":
    main()
