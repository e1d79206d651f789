"""The experiments, by kind. To add one: a file here with a class, and its line in :data:`KINDS`."""

from __future__ import annotations

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

__all__ = ["KINDS", "Experiment", "Findings", "Repetition", "Setting"]
