"""How good logits are: against the network in the clear, and against the images' classes. Pure."""

from __future__ import annotations

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract import checking
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Accuracy
from ciphermark_workloads.inference.networks.own import Labels
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
IMAGES = register(
    Metric(
        "images",
        "count",
        None,
        1.0,
        "images",
        "Images of one input: one, or as many as lie side by side in its ciphertexts.",
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


def judged(found: Floats, right: Floats, clear: Floats, labels: Labels | None, tolerance: float) -> Judgement:
    """Logits (count, classes) beside those that the circuit computes where nothing goes wrong (``right``) and those of
    the network in the clear, of images whose classes are ``labels`` (count,), if they are known.

    They are right where every class is, and no logit is further away than ``tolerance``, relative to max(1, largest):
    what means nothing has the right class by chance, too. ``agreement``, with the network in the clear, and
    ``accuracy`` are shares of the images, and there is no accuracy without labels.
    """
    accuracy = checking.accuracy([*found], [*right], tolerance)
    chosen, expected = np.argmax(found, axis=1), np.argmax(right, axis=1)
    second, first = np.sort(right, axis=1)[:, -2:].T
    figures = {
        IMAGES.name: float(len(right)),
        "agreement": float(np.mean(chosen == np.argmax(clear, axis=1))),
        MARGIN.name: float(np.min(first - second)),
        LOGIT_ERROR.name: accuracy.max_abs_error,
    }
    if labels is not None:
        figures["accuracy"] = float(np.mean(chosen == labels))
    return Judgement(accuracy, _complaint(chosen, expected, accuracy, right.size), figures)


def _complaint(chosen: Labels, expected: Labels, accuracy: Accuracy, logits: int) -> str | None:
    others = np.flatnonzero(chosen != expected)
    if len(others) and len(expected) == 1:
        return f"the class is {chosen[0]}, and the network in the clear says {expected[0]}"
    if len(others):
        return (
            f"{len(others)} of {len(expected)} images have another class than the network in the clear says"
        )
    if accuracy.wrong_slots:
        return f"{accuracy.wrong_slots} of {logits} logits are wrong, by up to {accuracy.max_abs_error:.3g}"
    return None
