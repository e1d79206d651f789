"""Experiment ``key_generation``: the time that an owner takes to make one key.

The operation of a case is the key. Generated keys are discarded. The contract suite checks such keys, and so do all
other experiments, which compute with keys of the same calls.
"""

from __future__ import annotations

from dataclasses import replace

from ciphermark_contract import checking
from ciphermark_contract.declaration import GENERATED, Declaration
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case
from ciphermark_measure import operands
from ciphermark_measure.experiments.base import (
    TRIAL_S,
    CaseTimes,
    ExperimentKind,
    Findings,
    Sampled,
    sampled_s,
)
from ciphermark_measure.sampling import ClockError, Phase, make_ready, target

# The keys, besides the secret key, that an owner needs before the library can make such keys.
_KEYS = {
    "relinearization_key": KeyRequest.of(relinearization=True),
    "rotation_key": KeyRequest.of(rotations=(1,)),
}


class KeyGeneration(Sampled):
    """Samples the generation of one key, after checking that the session's own keys decrypt correctly."""

    @classmethod
    def keys(cls, case: Case) -> KeyRequest:
        """One key of the kind, so that an impossible key is reported."""
        return _KEYS.get(case.operation, NO_KEYS)

    def open(self) -> None:
        if self.keys(self.case) and self.session.parameters.key_switching is None:
            raise Unsupported(
                f"a modulus chain of one prime leaves none for a {self.case.operation.replace('_', ' ')}"
            )
        vector = operands.operand(self.case, self.setting.trial.seed, 0)[: self.session.parameters.slots]
        (ciphertext,) = self.session.to_evaluator([vector])
        tolerance = checking.tolerance(self.session.parameters)
        accuracy = checking.accuracy(self.session.decrypted([ciphertext]), [vector], tolerance)
        self.findings = Findings("ok", accuracy=accuracy)
        if not checking.is_right(accuracy):
            self.findings = replace(
                self.findings, status="incorrect", error="a ciphertext decrypts incorrectly"
            )
            return
        budget = self.setting.trial.budget
        with self.spent("calibration_s"):
            bound = self.session.owner.bind_key_generation(self.case.operation)
            goal = target(budget, self.setting.resolution_ns)
            phase = Phase("evaluate", [bound], goal, self.setting.clock, gate=self.setting.gate)
            make_ready(phase, 0, budget.warmups)
        self.phases = [phase]

    def close(self) -> Findings:
        if not self.phases:
            return replace(self.findings, facts=self.facts)
        (phase,) = self.phases
        self.facts["sampling_s"] = phase.sampled_ns / 1e9
        try:
            if not any(bound.prepares_in_run for bound in phase.bounds):
                phase.require_sound_clock()
        except ClockError as error:
            self.findings = replace(self.findings, status="incorrect", error=str(error))
        return replace(self.findings, samples=tuple(phase.samples), facts=self.facts)


_ENCRYPTIONS = 4  # of which a key takes the time: both draw and transform polynomials


def _trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    return TRIAL_S + sampled_s(budget, _ENCRYPTIONS * times.encrypt_s, budget.min_time_s)


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
