"""Section ``learning``: encrypted learning on Boston Housing, both parties in this process, one thread.

Times are the server's: operands are encoded once (see the note), and the time of a stage is the median of a few
executions. Each result is decrypted and checked before its time counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean, median

import numpy as np
from sklearn.linear_model import LogisticRegression

from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import Executed, InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.learning.classifier import Result, Task, split

SPLITS = 20
_LESS_ACCURATE = 0.005  # maximum loss of accuracy against converged logistic regression
_TOLERANCE = 1e-3  # of a ckks score, relative to the largest
_PUBLISHED = Target(least=300)  # ratio of the published way's time to ours
# Workload, scheme, maximum milliseconds, executions of a stage.
_CASES: tuple[tuple[str, Scheme, float | None, int], ...] = (
    ("lmc-plain", "ckks", 0.5, 50),
    ("lmc-plain", "bfv", None, 50),
    ("lmc-plain", "bgv", None, 50),
    ("lmc-encrypted", "ckks", 60, 20),
    ("lmc-encrypted", "bfv", 150, 20),
    ("lmc-encrypted", "bgv", None, 20),
    ("lr-fixed-encrypted", "bfv", 500, 3),
    ("lr-fixed-encrypted", "bgv", None, 3),
    ("lr-k3-encrypted", "ckks", 1_000, 3),
    ("lr-k5-encrypted", "ckks", 10_000, 1),
)


class Learner(InProcess):
    """Client and server of a workload, with keys generated once."""

    def __init__(self, name: str, variant: str, scheme: Scheme, task: Task) -> None:
        workload = WORKLOADS[name]
        super().__init__(workload, registry.load(variant), workload.parameters(scheme), task)

    def learned(self, task: Task, loops: int = 1) -> tuple[dict[str, Executed], Result]:
        """Execute all stages, each ``loops`` times; raises ``UserError`` for an incorrect row."""
        stages = self.executed(task, loops)
        result: Result = self.output(stages[self.workload.stages[-1].name].outputs, task)
        expected: Result = self.workload.expected(task, self.parameters)
        error = float(np.abs(result.scores - expected.scores).max() / np.abs(expected.scores).max())
        if error > _TOLERANCE or (result.labels != expected.labels).any():
            raise UserError(f"{self.workload.name}: scores are wrong by {error:.1e} of the largest")
        return stages, result


def section(progress: Progress) -> Iterator[BenchResult]:
    """Each workload on one split; the published way against ours; accuracy over many splits."""
    task = split(DATA_SETS["boston"](), 1)
    typical_s: dict[tuple[str, Scheme], float] = {}
    for name, scheme, max_ms, loops in _CASES:
        progress(f"{name}, {scheme}")
        learner = Learner(name, "seal", scheme, task)
        stages, result = learner.learned(task, loops)
        typical_s[name, scheme] = median(stages["infer"].evaluate_s)
        target = None if max_ms is None else Target(most=max_ms)
        yield _spent(f"{name} {scheme} seal", stages, target)
        share = 100 * float(np.mean(result.labels == learner.workload.reference(task).labels))
        least = Target(least=100 if scheme == "ckks" else 99)
        rows = f"of {len(result.labels)} rows"
        yield BenchResult(f"{name} {scheme} seal agreement", share, "%", least, rows)
    for variant, published in {"seal": _PUBLISHED, "tenseal": None}.items():
        progress(f"the published way, {variant}")
        stages, _ = Learner("lmc-per-row-plain", variant, "ckks", task).learned(task)
        theirs_s = median(stages["infer"].evaluate_s)
        ratio = theirs_s / typical_s["lmc-plain", "ckks"]
        yield BenchResult(f"published way {variant} / lmc-plain", ratio, "×", published, f"{theirs_s:.2f} s")
    yield from _accuracy(progress)


def _spent(name: str, stages: Mapping[str, Executed], target: Target | None) -> BenchResult:
    each_ms = {stage: 1e3 * median(executed.evaluate_s) for stage, executed in stages.items()}
    encode_ms = 1e3 * sum(executed.encode_s for executed in stages.values())
    parts = ", ".join(f"{stage} {time_ms:.2f} ms" for stage, time_ms in each_ms.items())
    return BenchResult(name, sum(each_ms.values()), "ms", target, f"{parts}; prepare {encode_ms:.2f} ms")


def _accuracy(progress: Progress) -> Iterator[BenchResult]:
    """Accuracy of encrypted training over many splits, with one set of keys."""
    learner = Learner("lr-k5-encrypted", "seal-hexl", "ckks", split(DATA_SETS["boston"](), 0))
    accuracies, converged, times_s, errors = [], [], [], []
    for seed in range(SPLITS):
        progress(f"lr-k5-encrypted, seal-hexl, split {seed + 1} of {SPLITS}")
        task = split(DATA_SETS["boston"](), seed)
        stages, result = learner.learned(task)
        reference = learner.workload.reference(task)
        assert result.weights is not None
        assert reference.weights is not None
        errors.append(float(np.abs(result.weights - reference.weights).max()))
        times_s.append(median(stages["train"].evaluate_s))
        accuracies.append(float(np.mean(result.labels == task.test.labels)))
        converged.append(_converged_accuracy(task))
    yield BenchResult("lr-k5-encrypted train seal-hexl", 1e3 * median(times_s), "ms", Target(most=1300))
    least = Target(least=mean(converged) - _LESS_ACCURATE)
    note = f"converged plaintext {mean(converged):.4f}; every row agrees; weights within {max(errors):.0e}"
    yield BenchResult(f"lr-k5-encrypted accuracy, {SPLITS} splits", mean(accuracies), "", least, note)


def _converged_accuracy(task: Task) -> float:
    """Accuracy of scikit-learn's logistic regression without a penalty, on the same split."""
    model = LogisticRegression(C=np.inf, max_iter=10_000)
    model.fit(task.train.features, task.train.labels)
    return float(model.score(task.test.features, task.test.labels))
