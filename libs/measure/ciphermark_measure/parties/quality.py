"""How good the scores of a workload are: against the labels, and against the same algorithm in the clear. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits.workload import Floats, Result
from ciphermark_core.words import EXACT_SCHEMES, Accuracy, Sample, Scheme
from ciphermark_measure.checking import UNBOUNDED

# Share of rows that must agree with the plaintext run. bfv and bgv compute with features rounded to integers: a row
# close to the boundary may fall on the other side of it.
_LEAST_AGREEMENT = 1.0
_LEAST_AGREEMENT_EXACT = 0.99
_ROUNDING = 2.0**-48  # relative to the largest score
_MOST_BITS = 1074.0  # precision of scores without any error: the smallest float is 2^-1074


@dataclass(frozen=True, slots=True)
class Quality:
    """``complaint`` says why the scores are wrong; ``None`` where they are right."""

    accuracy: Accuracy
    samples: tuple[Sample, ...]
    complaint: str | None


def quality(found: Result, reference: Result, expected: Result, labels: Floats, scheme: Scheme) -> Quality:
    """Compare the scores of all rows with the reference's and with ``labels`` (rows,).

    In bfv and bgv the scores must be those of ``expected``, the same fixed-point arithmetic in the clear.

    ``accuracy`` and ``agreement`` are shares of rows whose class is the label, or the reference's class; ``mse`` is the
    mean squared difference between predicted class and label; ``noise_error`` the largest difference of scores,
    relative to the largest score of the reference. Scores that are not finite agree with nothing.

    In the accuracy, ``wrong_slots`` counts rows that do not agree, and ``tolerance`` is the smallest score of the
    reference: a smaller error changes the class of no row.
    """
    if found.scores.shape != reference.scores.shape:
        raise ValueError(f"{len(found.scores)} rows were scored, and {len(reference.scores)} were to be")
    is_sound = np.isfinite(found.scores)
    agrees = is_sound & (found.labels == reference.labels)
    is_hit = is_sound & (found.labels == labels)
    magnitude = np.abs(reference.scores)
    largest, smallest = float(magnitude.max()), float(magnitude.min())
    error = float(np.max(np.abs(found.scores - reference.scores))) if is_sound.all() else UNBOUNDED
    agreement = float(np.mean(agrees))
    accuracy = Accuracy(
        max_abs_error=error,
        wrong_slots=int(np.count_nonzero(~agrees)),
        tolerance=smallest,
        precision_bits=None if scheme in EXACT_SCHEMES else _precision_bits(error / max(1.0, largest)),
    )
    samples = (
        Sample("accuracy", "share", float(np.mean(is_hit)), "infer"),
        Sample("agreement", "share", agreement, "infer"),
        Sample("mse", "ratio", float(np.mean(~is_hit)), "infer"),
        Sample("noise_error", "ratio", min(error / (largest or 1.0), UNBOUNDED), "infer"),
    )
    complaint = _disagreement(agreement, len(agrees), scheme)
    if complaint is None and scheme in EXACT_SCHEMES:
        complaint = _inexactness(found.scores, expected.scores)
    return Quality(accuracy, samples, complaint)


def _inexactness(scores: Floats, expected: Floats) -> str | None:
    """Scores are whole numbers times a unit: what floats lose when they are scaled is far less than one."""
    astray = np.abs(scores - expected) > _ROUNDING * np.abs(expected).max()
    if not astray.any():
        return None
    return f"{np.count_nonzero(astray)} of {len(scores)} scores are not those of the same whole numbers in the clear"


def _disagreement(agreement: float, rows: int, scheme: Scheme) -> str | None:
    least = _LEAST_AGREEMENT_EXACT if scheme in EXACT_SCHEMES else _LEAST_AGREEMENT
    if agreement >= least:
        return None
    return (
        f"{round(agreement * rows)} of {rows} rows agree with the plaintext run of the same algorithm; "
        f"{scheme} must agree in at least {math.ceil(least * rows)}"
    )


def _precision_bits(relative_error: float) -> float:
    return -math.log2(relative_error) if relative_error else _MOST_BITS
