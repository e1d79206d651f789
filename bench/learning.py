"""Section ``learning``: encrypted learning on Boston Housing, both parties in this process, one thread.

Times are the server's: operands are encoded once (told in the note), and the time of a stage is the median of a
few executions. Each result is decrypted and compared before its time counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median

import numpy as np
from sklearn.linear_model import LogisticRegression

from bench.figures import Figure, Progress, Target
from ciphermark_adapters import registry
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.learning.classifier import Result, Task, split

SPLITS = 20
_LESS_ACCURATE = 0.005  # than converged logistic regression, at most
_TOLERANCE = 1e-3  # of a ckks score, relative to the largest


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the server in one stage."""

    encode_s: float
    evaluate_s: float


class Parties:
    """Client and server of a workload in one scheme and variant, with keys made once."""

    def __init__(self, name: str, variant: str, scheme: Scheme, task: Task) -> None:
        self.workload = WORKLOADS[name]
        self._both = InProcess(self.workload, registry.load(variant), self.workload.parameters(scheme), task)

    def executed(self, task: Task, loops: int = 1) -> tuple[dict[str, Spent], Result]:
        """All stages, each ``loops`` times; raises ``UserError`` where a row comes out wrong."""
        stages = self._both.executed(task, loops)
        result: Result = self._both.output(stages[self.workload.stages[-1].name].outputs, task)
        expected: Result = self.workload.expected(task, self._both.parameters)
        error = float(np.abs(result.scores - expected.scores).max() / np.abs(expected.scores).max())
        if error > _TOLERANCE or (result.labels != expected.labels).any():
            raise UserError(f"{self.workload.name}: scores are wrong by {error:.1e} of the largest")
        spent = {name: Spent(item.encode_s, median(item.evaluate_s)) for name, item in stages.items()}
        return spent, result


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    variant: str
    scheme: Scheme
    target_s: float | None
    loops: int = 5


_CASES = (
    _Case("lmc-plain", "seal", "ckks", 0.0005, 50),
    _Case("lmc-plain", "seal", "bfv", None, 50),
    _Case("lmc-plain", "seal", "bgv", None, 50),
    _Case("lmc-encrypted", "seal", "ckks", 0.060, 20),
    _Case("lmc-encrypted", "seal", "bfv", 0.150, 20),
    _Case("lmc-encrypted", "seal", "bgv", None, 20),
    _Case("lr-fixed-encrypted", "seal", "bfv", 0.5, 3),
    _Case("lr-fixed-encrypted", "seal", "bgv", None, 3),
    _Case("lr-k3-encrypted", "seal", "ckks", 1.0, 3),
    _Case("lr-k5-encrypted", "seal", "ckks", 10.0, 1),
)


def section(progress: Progress) -> Iterator[Figure]:
    """Each workload on one split; the published way beside ours; accuracy over many splits."""
    task = split(DATA_SETS["boston"](), 1)
    ours_s = 0.0
    for case in _CASES:
        progress(f"{case.name}, {case.scheme}, {case.variant}")
        parties = Parties(case.name, case.variant, case.scheme, task)
        spent, result = parties.executed(task, case.loops)
        yield from _figures(case, spent)
        yield _agreement(case, result, parties.workload.reference(task))
        if (case.name, case.scheme) == ("lmc-plain", "ckks"):
            ours_s = spent["infer"].evaluate_s
    yield from _published(task, ours_s, progress)
    yield from _accuracy(progress)


def _figures(case: _Case, spent: dict[str, Spent]) -> Iterator[Figure]:
    total_s = sum(item.evaluate_s for item in spent.values())
    encode_s = sum(item.encode_s for item in spent.values())
    parts = ", ".join(f"{stage} {1e3 * item.evaluate_s:.2f} ms" for stage, item in spent.items())
    yield Figure(
        "learning",
        f"{case.name} {case.scheme} {case.variant}",
        1e3 * total_s,
        "ms",
        None if case.target_s is None else Target(most=1e3 * case.target_s),
        f"{parts}; prepare {1e3 * encode_s:.2f} ms",
    )


def _agreement(case: _Case, result: Result, reference: Result) -> Figure:
    """Rows that get the class of the same algorithm in floating point."""
    least = 100.0 if case.scheme == "ckks" else 99.0
    share = 100 * float(np.mean(result.labels == reference.labels))
    name = f"{case.name} {case.scheme} {case.variant} agreement"
    return Figure("learning", name, share, "%", Target(least=least), f"of {len(result.labels)} rows")


def _published(task: Task, ours_s: float, progress: Progress) -> Iterator[Figure]:
    for variant in ("seal", "tenseal"):
        progress(f"the published way, {variant}")
        spent, _ = Parties("lmc-per-row-plain", variant, "ckks", task).executed(task)
        theirs_s = spent["infer"].evaluate_s
        target = Target(least=300) if variant == "seal" else None
        yield Figure(
            "learning",
            f"published way {variant} / lmc-plain",
            theirs_s / ours_s,
            "×",
            target,
            f"{theirs_s:.2f} s",
        )


def _accuracy(progress: Progress) -> Iterator[Figure]:
    """Encrypted training over many splits, with one set of keys."""
    parties = Parties("lr-k5-encrypted", "seal-hexl", "ckks", split(DATA_SETS["boston"](), 0))
    found, converged, times, errors = [], [], [], []
    for seed in range(SPLITS):
        progress(f"lr-k5-encrypted, seal-hexl, split {seed + 1} of {SPLITS}")
        task = split(DATA_SETS["boston"](), seed)
        spent, result = parties.executed(task)
        reference = parties.workload.reference(task)
        assert result.weights is not None
        assert reference.weights is not None
        errors.append(float(np.abs(result.weights - reference.weights).max()))
        times.append(spent["train"].evaluate_s)
        found.append(float(np.mean(result.labels == task.test.labels)))
        converged.append(_converged_accuracy(task))
    yield Figure("learning", "lr-k5-encrypted train seal-hexl", 1e3 * median(times), "ms", Target(most=1300))
    yield Figure(
        "learning",
        f"lr-k5-encrypted accuracy, {SPLITS} splits",
        mean(found),
        target=Target(least=mean(converged) - _LESS_ACCURATE),
        note=f"converged plaintext {mean(converged):.4f}; every row agrees; weights within {max(errors):.0e}",
    )


def _converged_accuracy(task: Task) -> float:
    """Of scikit-learn's logistic regression without a penalty, on the same split."""
    model = LogisticRegression(C=np.inf, max_iter=10_000)
    model.fit(task.train.features, task.train.labels)
    return float(model.score(task.test.features, task.test.labels))
