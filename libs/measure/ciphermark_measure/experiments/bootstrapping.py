"""Experiment ``bootstrapping``: time, levels, precision, keys and memory of one bootstrapping.

Executions take seconds to minutes, so there are few. Each sample has the next of several operand sets, and the results
of all sets are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ciphermark_contract import checking
from ciphermark_contract.bound import Bound, Vector
from ciphermark_contract.operations import read
from ciphermark_core.budget import Budget
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Case, Sample
from ciphermark_measure import operands
from ciphermark_measure.experiments.base import (
    TRIAL_S,
    CaseTimes,
    ExperimentKind,
    Findings,
    Sampled,
    Setting,
    without_primitive,
)
from ciphermark_measure.operands import OperandSet
from ciphermark_measure.probes.peak_memory import PeakMemory
from ciphermark_measure.sampling import Phase, make_ready, target

MEAN_PRECISION = register(
    Metric(
        "mean_precision",
        "bits",
        "higher",
        1.0,
        "mean precision",
        "−log2 of the mean error of the slots, which libraries state for bootstrapping.",
        "difference",
    )
)
LEVELS = register(
    Metric(
        "levels",
        "count",
        "higher",
        1.0,
        "levels",
        "Level of a ciphertext: the number of times that it can still be rescaled.",
        adds_up=False,
    )
)
FAILURE_BITS = register(
    Metric(
        "failure_bits",
        "bits",
        "higher",
        1.0,
        "failure bits",
        "−log2 of the probability that a bootstrapping fails, as the library documents it.",
        "difference",
        adds_up=False,
    )
)
_SETS = 2


class Bootstrapping(Sampled):
    """Bootstraps full ciphertexts of the lowest level that the library takes."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._sets: list[OperandSet] = []
        self._bounds: list[Bound] = []
        self._samples: list[Sample] = []

    def open(self) -> None:
        """See :meth:`Experiment.open`. An incorrect result ends the trial before anything is timed."""
        evaluator, seed = self.session.evaluator, self.setting.trial.seed
        with self.spent("encryption_s"):
            self._sets = [operands.build(self.session, self.case, seed, index) for index in range(_SETS)]
        self._bounds = [evaluator.bind(self.case.operation, item.rows) for item in self._sets]
        (operand,) = self._sets[0].rows[0]
        before = _mean_precision(self.session.decrypted([operand]), self._sets[0].vectors[:1])
        executed_ns = []
        for bound, item in zip(self._bounds, self._sets, strict=True):
            executed_ns.append(bound.run(1))
            self._check(bound, item)
            if self.findings.status != "ok":
                return
        result = self._bounds[0].results()[0]
        after = _mean_precision(self.session.decrypted([result]), self._sets[0].expected[:1])
        self._samples = [
            Sample(MEAN_PRECISION.name, before, "encrypt"),
            Sample(MEAN_PRECISION.name, after, "evaluate"),
            Sample(LEVELS.name, float(evaluator.level(operand)), "encrypt"),
            Sample(LEVELS.name, float(evaluator.level(result)), "evaluate"),
        ]
        aim = target(self.setting.trial.budget, self.setting.resolution_ns)
        phase = Phase("evaluate", self._bounds, aim, self.setting.clock, gate=self.setting.gate)
        self.phases = [phase]
        with self.spent("calibration_s"):
            make_ready(phase, min(executed_ns), self.setting.trial.budget.warmups)

    def close(self) -> Findings:
        """See :meth:`Experiment.close`. The results of the last samples are checked again."""
        self.sum_up()
        for bound, item in zip(self._bounds, self._sets, strict=True):
            if self.findings.status == "ok":
                self._check(bound, item)
        timed = [sample for phase in self.phases for sample in phase.samples]
        samples = (*self._samples, *self._of_session(), *self.quality(lambda: None), *timed)
        return replace(self.findings, samples=samples, facts=self.facts)

    def _check(self, bound: Bound, item: OperandSet) -> None:
        row, parameters = read(self.case.operation).operation, self.session.parameters
        accuracy = checking.accuracy(
            self.session.decrypted(bound.results()), item.expected, checking.tolerance(parameters, 1, row)
        )
        error = None
        if not checking.is_right(accuracy):
            error = (
                f"{accuracy.incorrect_slots} slots differ from cleartext; largest error "
                f"{accuracy.max_abs_error:.3g}, tolerance {accuracy.tolerance:.3g}"
            )
        self.findings = Findings("incorrect" if error else "ok", accuracy=accuracy, error=error)

    def _of_session(self) -> list[Sample]:
        """Keys, their generation and loading, the memory of both parties, and what the library documents."""
        samples = [
            Sample("time", self.session.keys_s, "keygen"),
            *(Sample(metric, value, "evaluate") for metric, value in PeakMemory().stop().items()),
        ]
        own = self.session.parameters.require_bootstrapping()
        if own.key_bytes is not None:
            samples.append(Sample("size", float(own.key_bytes), "evaluation_keys"))
        if own.failure_bits is not None:
            samples.append(Sample(FAILURE_BITS.name, own.failure_bits, "evaluate"))
        return samples


def _mean_precision(actual: Sequence[Vector], expected: Sequence[Vector]) -> float:
    errors = [np.abs(a[: len(e)] - e).mean() for a, e in zip(actual, expected, strict=True)]
    return float(-np.log2(max(float(np.mean(errors)), np.finfo(np.float64).tiny)))


# Of an execution, and of keys: those at N = 65536, for each unit of work.
_EXECUTION_S, _KEYS_S = 0.095, 0.47


def _trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    executed = budget.min_samples + budget.warmups + _SETS
    return TRIAL_S + (_EXECUTION_S * executed + _KEYS_S) * times.work


KINDS = (
    ExperimentKind(
        "bootstrapping",
        Bootstrapping,
        operations=("bootstrap",),
        defaults=("bootstrap",),
        trial_s=_trial_s,
        reason=without_primitive,
    ),
)
