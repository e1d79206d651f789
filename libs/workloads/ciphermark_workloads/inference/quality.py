"""How good logits are: against the network in the clear, and against the image's class. Pure."""

from __future__ import annotations

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract import checking
from ciphermark_core.metrics import Metric, register
from ciphermark_workloads.workload import Judgement

MARGIN = register(
    Metric(
        "margin",
        "absolute",
        None,
        1.0,
        "margin",
        "By how much the largest logit of the network in the clear is above the next: errors below half of it change "
        "no class.",
    )
)
LOGIT_ERROR = register(
    Metric(
        "logit_error",
        "absolute",
        "lower",
        4.0,
        "largest error of a logit",
        "Largest difference of a logit from that of the network in the clear.",
    )
)


def judged(found: Floats, right: Floats, label: int | None, tolerance: float) -> Judgement:
    """Logits (classes,) beside those of the network in the clear, of an image whose class is ``label``, if it is known.

    They are right where the class is the network's and no logit is further away than ``tolerance``, relative to
    max(1, largest): what means nothing has the network's class by chance, too. ``accuracy`` and ``agreement`` are 1
    or 0, and there is no accuracy without a label.
    """
    accuracy = checking.accuracy([found], [right], tolerance)
    chosen, clear = int(np.argmax(found)), int(np.argmax(right))
    second, first = np.sort(right)[-2:]
    complaint = None
    if chosen != clear:
        complaint = f"the class is {chosen}, and the network in the clear says {clear}"
    elif accuracy.wrong_slots:
        complaint = (
            f"{accuracy.wrong_slots} of {right.size} logits are wrong, by up to {accuracy.max_abs_error:.3g}"
        )
    figures = {
        "agreement": float(chosen == clear),
        MARGIN.name: float(first - second),
        LOGIT_ERROR.name: accuracy.max_abs_error,
    }
    if label is not None:
        figures["accuracy"] = float(chosen == label)
    return Judgement(accuracy, complaint, figures)
