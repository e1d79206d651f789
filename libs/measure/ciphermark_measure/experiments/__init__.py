"""The experiments, by kind. To add one: a file here with a class, and its line in :data:`KINDS`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_core.model import Trial
from ciphermark_measure.experiments.base import Experiment, Findings, Setting
from ciphermark_measure.experiments.depth_and_noise import Depth, Noise
from ciphermark_measure.experiments.latency import Latency
from ciphermark_measure.experiments.repetition import Repetition
from ciphermark_measure.experiments.serialization import Serialization

KINDS: dict[str, type[Experiment]] = {
    "arithmetic": Latency,
    "rotation": Latency,
    "depth": Depth,
    "noise": Noise,
    "serialization": Serialization,
    "repetition": Repetition,
}


def keys_of(trials: Iterable[Trial]) -> KeyRequest:
    """The evaluation keys of a worker that serves these trials; workloads tell theirs themselves."""
    asked = (
        KINDS[trial.case.experiment].keys(trial.case) for trial in trials if trial.case.experiment in KINDS
    )
    return reduce(or_, asked, NO_KEYS)


__all__ = ["KINDS", "Experiment", "Findings", "Repetition", "Setting", "keys_of"]
