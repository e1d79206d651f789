"""Section ``wrappers``: libraries that are called from Python, against a plain Python loop around their own calls; and
what it costs to start a worker whose library has an interpreter of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.baseline import ALLOCATOR, geometric_mean, paired
from bench.figures import Figure, Progress, Target
from bench.places import ROOT, measuring_cpu
from bench.processes import started
from ciphermark_adapters import registry
from ciphermark_core import host
from ciphermark_core.errors import UserError

VARIANTS = ("tenseal", "pyfhel", "openfhe")
_LEAST_S = 50e-6  # shorter operations have no target
_TARGET = Target(0.97, 1.03)
_STARTS = 5
_START_TARGET = Target(most=0.7)


def section(progress: Progress) -> Iterator[Figure]:
    """Measure what is installed."""
    found = []
    flags = frozenset(host.collect().cpu_flags)
    for variant in VARIANTS:
        known = registry.availability(variant, flags)
        if known.reason is not None:
            progress(f"{variant} is left out: {known.reason}; {known.remedy}")
            continue
        progress(f"{variant} against its library's own calls")
        for line in _lines(variant):
            found.append(figure(variant, line))
            yield found[-1]
        if known.declaration.environment is not None:
            yield _start(variant)
    yield from summary(found)


def figure(variant: str, line: dict[str, Any]) -> Figure:
    """The ratio adapter / plain loop of one operation."""
    ratio, plain_s = paired(line["platform"], line["plain"]), median(line["plain"])
    bounds = "" if ratio.low is None or ratio.high is None else f"[{ratio.low:.3f}, {ratio.high:.3f}]   "
    return Figure(
        section="wrappers",
        name=f"{variant} {line['place']} {line['operation']}",
        value=ratio.median,
        target=_TARGET if plain_s >= _LEAST_S else None,
        note=f"{bounds}{plain_s * 1e6:,.1f} µs",
        facts={"low": ratio.low, "high": ratio.high, "plain_s": plain_s},
    )


def summary(found: list[Figure]) -> Iterator[Figure]:
    """How the ratios with a target are, all together."""
    judged = [item for item in found if item.target is not None]
    if not judged:
        return
    mean = geometric_mean([item.value for item in judged])
    yield Figure("wrappers", "geometric mean of all ratios", mean, "", _TARGET)
    outside = [item for item in judged if not item.is_met]
    certain = [item for item in outside if item.facts["low"] is not None and not _reaches(item)]
    yield Figure(
        "wrappers",
        f"ratios outside 0.97–1.03, of {len(judged)}",
        len(outside),
        target=Target(most=0),
        note=f"{len(certain)} of them for certain: with the whole interval",
    )


def _reaches(item: Figure) -> bool:
    """Whether the interval and the target have something in common."""
    return bool(item.facts["low"] <= 1.03 and item.facts["high"] >= 0.97)


def _start(variant: str) -> Figure:
    start_s = median(started(variant).start_s for _ in range(_STARTS))
    return Figure("wrappers", f"{variant} worker start without keys", start_s, "s", _START_TARGET)


def _lines(variant: str) -> Iterator[dict[str, Any]]:
    """What the loop prints, as it comes; raises ``UserError`` with the end of its errors where it fails."""
    command = [registry.interpreter(variant), "-m", "bench.wrapper_loop", variant, str(measuring_cpu())]
    environment = os.environ | ALLOCATOR | {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
        if process.returncode != 0:
            errors.seek(0)
            raise UserError(f"the plain loop of {variant} failed:\n{errors.read()[-2000:]}")
