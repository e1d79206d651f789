"""How long the shipped suites take here, without planning each of them again.

Planning all of them traces every program of every workload: seconds. What comes of it is two numbers a suite, kept in
the home under a key of all that a plan follows from: the suite's text, every file of Ciphermark's packages and of
added adapters and builds, what is installed, the environment, and the host's CPU and memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ciphermark_adapters import added
from ciphermark_benchmark.home import Home
from ciphermark_benchmark.runner import durations
from ciphermark_benchmark.suite import shipped
from ciphermark_core.run import Host

_FILE = "suite-outlooks.json"


class Outlook(NamedTuple):
    """What a plan comes to: trials with those that are not executed, and seconds on the host that guesses are for."""

    trials: int
    reference_s: float


def shipped_seconds(home: Home, facts: Host) -> dict[str, float]:
    """Seconds that each shipped suite takes on this host: as its last run in the home did, or a guess."""
    texts = {name: shipped.path(name).read_text(encoding="utf-8") for name in shipped.names()}
    place = _place(facts)
    keys = {name: hashlib.sha256(f"{place}\n{text}".encode()).hexdigest() for name, text in texts.items()}
    kept = _read(home.folder / _FILE)
    outlooks = {name: kept.get(keys[name]) or _planned(name, facts) for name in texts}
    fresh = {keys[name]: outlook for name, outlook in outlooks.items()}
    if fresh != kept:
        _keep(home.folder / _FILE, fresh)
    return {name: _seconds(home, text, outlooks[name], facts) for name, text in texts.items()}


def _seconds(home: Home, text: str, outlook: Outlook, facts: Host) -> float:
    return durations.of_trials(home, text, facts, outlook.trials, outlook.reference_s).seconds


def _planned(name: str, facts: Host) -> Outlook:
    # Large, and not needed where all is kept.
    from ciphermark_benchmark.runner import runs
    from ciphermark_benchmark.suite import estimate, files, plan

    suite, _ = files.load(shipped.path(name))
    planned = plan.cases(suite, runs.available(suite, facts))
    budget = suite.budget.budget
    return Outlook(durations.trials_of(planned, budget), estimate.run_s(planned, budget))


def _place(facts: Host) -> str:
    """A digest of all that plans follow from but for their suites: files by path, size and time, as Python's own caches
    of modules know them.
    """
    settings = sorted(item for item in os.environ.items() if item[0].startswith("CIPHERMARK_"))
    about = [sys.version, sys.prefix, settings, sorted(facts.cpu_flags), facts.cores, facts.memory_bytes]
    seen = [(str(path), status.st_size, status.st_mtime_ns) for path, status in sorted(_files())]
    return hashlib.sha256(repr((about, seen)).encode()).hexdigest()


def _files() -> Iterator[tuple[Path, os.stat_result]]:
    """What is imported or asked for: our packages, adapters and builds file by file, of other folders the folder."""
    extra = [
        Path(entry) for entry in os.environ.get("CIPHERMARK_ADAPTER_PATH", "").split(os.pathsep) if entry
    ]
    importable = [Path(entry or ".") for entry in sys.path]
    environments = Path(os.environ.get("CIPHERMARK_ENVIRONMENTS") or Path(sys.prefix).resolve().parent)
    others = [
        *environments.glob(".venv-*/bin/python"),
        *environments.glob(".venv-*/lib/python3.*/site-packages"),
    ]
    packages = [
        package for folder in importable for package in folder.glob("ciphermark_*") if package.is_dir()
    ]
    roots = [*packages, *extra, added.home()]
    walked = (
        Path(folder, name)
        for root in roots
        for folder, _, names in os.walk(root)
        if "__pycache__" not in folder
        for name in names
    )
    for path in (*importable, *others, *walked):
        with suppress(OSError):
            yield path, path.stat()


def _read(path: Path) -> dict[str, Outlook]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {key: Outlook(int(trials), float(reference_s)) for key, (trials, reference_s) in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # none yet, or not as it was written
        return {}


def _keep(path: Path, outlooks: dict[str, Outlook]) -> None:
    """A folder that cannot be written is no reason to fail."""
    partial = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(outlooks), encoding="utf-8")
        partial.replace(path)
