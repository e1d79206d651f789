"""How good values are that were computed under encryption: their largest error, by which they are right or wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ciphermark_contract import checking
from ciphermark_core.metrics import Metric, register
from ciphermark_workloads.workload import Judgement

# Noise is random: its largest value of thousands moves by a factor from run to run.
MAX_ERROR = register(
    Metric(
        "max_error",
        "absolute",
        "lower",
        2.0,
        "largest error",
        "Largest difference of a value from what it is in the clear, approximation and noise together.",
    )
)


def judged(found: npt.NDArray[np.float64], right: npt.NDArray[np.float64], tolerance: float) -> Judgement:
    """Values are right within ``tolerance``, relative to max(1, largest right value)."""
    accuracy = checking.accuracy([found.ravel()], [right.ravel()], tolerance)
    wrong = accuracy.wrong_slots
    complaint = (
        f"{wrong} of {right.size} values are wrong, by up to {accuracy.max_abs_error:.3g}" if wrong else None
    )
    return Judgement(accuracy, complaint, {MAX_ERROR.name: accuracy.max_abs_error})
