"""The experiments, by kind. To add one: a file here with a class, and its rows in the file's ``KINDS``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from pathlib import Path

from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_core import experiments
from ciphermark_core.model import Trial
from ciphermark_measure.experiments.base import Experiment, ExperimentKind, Findings, Setting


def _rows() -> Iterator[ExperimentKind]:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        yield from getattr(importlib.import_module(f"{__name__}.{module.name}"), "KINDS", ())


KINDS: dict[str, ExperimentKind] = {row.name: row for row in _rows()}
for _row in KINDS.values():
    experiments.register(_row.recorded)


def keys_of(trials: Iterable[Trial]) -> KeyRequest:
    """The evaluation keys of a worker that serves these trials; workloads declare their own."""
    cases = (trial.case for trial in trials if trial.case.experiment in KINDS)
    return reduce(or_, (KINDS[case.experiment].experiment.keys(case) for case in cases), NO_KEYS)


__all__ = ["KINDS", "Experiment", "ExperimentKind", "Findings", "Setting", "keys_of"]
