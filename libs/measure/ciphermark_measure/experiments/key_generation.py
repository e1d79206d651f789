"""Experiment ``key_generation``: the time that an owner takes to make one key.

The operation of a case is the key. Made keys are forgotten: that such keys are right is for the contract suite to show,
and for all other experiments, which compute with keys of the same calls.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from ciphermark_contract import checking
from ciphermark_contract.declaration import GENERATED, Declaration
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case
from ciphermark_measure import operands
from ciphermark_measure.experiments.base import TRIAL_S, Experiment, ExperimentKind, Findings, Setting
from ciphermark_measure.sampling import ClockError, Phase, make_ready, target

# Beside the secret key, what an owner needs for the library to make such keys.
_KEYS = {
    "relinearization_key": KeyRequest.of(relinearization=True),
    "rotation_key": KeyRequest.of(rotations=(1,)),
}


class KeyGeneration(Experiment):
    """Samples the making of one key, after the session's own keys have decrypted right."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._phase: Phase | None = None
        self._facts: dict[str, float] = {}
        self._findings = Findings("ok")

    @classmethod
    def keys(cls, case: Case) -> KeyRequest:
        """One of the kind, so that what cannot exist here is told."""
        return _KEYS.get(case.operation, NO_KEYS)

    def open(self) -> None:
        if self.keys(self.case) and self.session.parameters.key_switching is None:
            raise Unsupported(
                f"a chain of one prime leaves none for a {self.case.operation.replace('_', ' ')}"
            )
        vector = operands.operand(self.case, self.setting.trial.seed, 0)[: self.session.parameters.slots]
        (ciphertext,) = self.session.to_evaluator([vector])
        tolerance = checking.tolerance(self.session.parameters)
        found = checking.accuracy(self.session.decrypted([ciphertext]), [vector], tolerance)
        self._findings = Findings("ok", accuracy=found)
        if not checking.is_right(found):
            self._findings = replace(self._findings, status="wrong", error="a ciphertext decrypts wrong")
            return
        start, budget = perf_counter(), self.setting.trial.budget
        bound = self.session.owner.bind_key_generation(self.case.operation)
        goal = target(budget, self.setting.resolution_ns)
        self._phase = Phase("operation", [bound], goal, self.setting.clock, gate=self.setting.gate)
        make_ready(self._phase, 0, budget.warmups)
        self._facts["calibration_s"] = perf_counter() - start

    def turn(self) -> bool:
        if self._phase is None:
            return True
        if not self._phase.is_done:
            self._phase.take()
        return self._phase.is_done

    def close(self) -> Findings:
        if self._phase is None:
            return replace(self._findings, facts=self._facts)
        self._facts["sampling_s"] = self._phase.sampled_ns / 1e9
        try:
            if not any(bound.prepares_in_run for bound in self._phase.bounds):
                self._phase.require_sound_clock()
        except ClockError as error:
            self._findings = replace(self._findings, status="wrong", error=str(error))
        return replace(self._findings, samples=tuple(self._phase.samples), facts=self._facts)


def _trial_s(case: Case, budget: Budget, growth: float) -> float:
    return budget.min_time_s + TRIAL_S * growth


def _reason(case: Case, declared: Declaration) -> str | None:
    is_able = case.operation in declared.generates
    return None if is_able else declared.reason_against_generating(case.operation)


KINDS = (
    ExperimentKind(
        "key_generation",
        KeyGeneration,
        operations=GENERATED,
        defaults=GENERATED,
        trial_s=_trial_s,
        reason=_reason,
    ),
)
