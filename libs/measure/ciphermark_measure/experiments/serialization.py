"""Experiment ``serialization``: exact sizes of all transmitted objects, and the time to write and read them.

The operation of a case is the compression mode.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ciphermark_contract import checking
from ciphermark_contract.declaration import SEEDED_CIPHERTEXT, Declaration
from ciphermark_contract.interfaces import Handle, KeyRequest, PythonBound, Unsupported, Vector
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Sample
from ciphermark_measure import operands
from ciphermark_measure.experiments.base import (
    CIPHERTEXT_S,
    TRIAL_S,
    CaseTimes,
    ExperimentKind,
    Findings,
    Sampled,
    Setting,
    sampled_s,
)
from ciphermark_measure.sampling import Phase, make_ready, target

_PLAIN = "none"  # the mode without compression
_VALUE_BYTES = 8  # one integer or real in the clear


class Serialization(Sampled):
    """Sizes of ciphertext, plaintext and keys in one compression mode. Times for the ciphertext, and where the library
    writes it with a seed: to encrypt and write it so, and to read it, which expands the seed.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._mode = self.case.operation
        self._samples: list[Sample] = []

    @classmethod
    def keys(cls, case: Case) -> KeyRequest:
        """Relinearization keys: their size is one of the results. A case's operation is a compression here."""
        return KeyRequest.of(relinearization=True)

    def open(self) -> None:
        if self._mode not in self.session.declaration.compressions:
            offered = ", ".join(self.session.declaration.compressions)
            raise Unsupported(f"no compression {self._mode!r} here; offered: {offered}")
        with self.spent("encryption_s"):
            slots = self.session.parameters.slots
            vector = operands.operand(self.case, self.setting.trial.seed, 0)[:slots]
            (ciphertext,) = self.session.to_evaluator([vector])
        dumped = self.session.evaluator.dump(ciphertext, self._mode)
        read = self.session.owner.decrypt(self.session.owner.load(dumped))
        tolerance = checking.tolerance(self.session.parameters)
        accuracy = checking.accuracy([read], [vector], tolerance)
        self.findings = Findings("ok", accuracy=accuracy)
        if not checking.is_right(accuracy):
            self.findings = replace(
                self.findings,
                status="incorrect",
                error="the ciphertext changes when it is serialized and loaded",
            )
            return
        with self.spent("sampling_s"):
            self._samples = self._sizes(ciphertext, dumped, len(vector))
        self._make_phases(ciphertext, dumped, vector)

    def close(self) -> Findings:
        self.sum_up()
        timed = [sample for phase in self.phases for sample in phase.samples]
        return replace(self.findings, samples=(*self._samples, *timed), facts=self.facts)

    def _make_phases(self, ciphertext: Handle, dumped: bytes, vector: Vector) -> None:
        evaluator, owner, setting = self.session.evaluator, self.session.owner, self.setting
        short = target(setting.trial.budget, setting.resolution_ns, is_client=True)
        bounds = {
            "dump": [PythonBound(evaluator.dump, [(ciphertext, self._mode)])],
            "load": [PythonBound(evaluator.load, [(dumped,)])],
        }
        if self.session.declaration.writes_seeded:
            about = SEEDED_CIPHERTEXT, vector, self._mode
            seeded = owner.dump_seeded(*about)
            bounds["dump_seeded"] = [PythonBound(owner.dump_seeded, [about])]
            bounds["load_seeded"] = [PythonBound(evaluator.load, [(seeded,)])]
        self.phases = [
            Phase(name, bound, short, setting.clock, gate=setting.gate) for name, bound in bounds.items()
        ]
        with self.spent("calibration_s"):
            for phase in self.phases:
                make_ready(phase, 0, setting.trial.budget.warmups)

    def _sizes(self, ciphertext: Handle, dumped: bytes, values: int) -> list[Sample]:
        sizes = {"ciphertext": len(dumped)} | self._key_sizes()
        plaintext = self.session.evaluator.encode(
            operands.operand(self.case, self.setting.trial.seed, 1)[: self.session.parameters.slots],
            like=ciphertext,
        )
        with suppress(Unsupported):  # a library without plaintext objects: no row
            sizes["plaintext"] = len(self.session.evaluator.dump_plaintext(plaintext, self._mode))
        sizes |= self._seeded_sizes()
        expansion = Sample("expansion", len(dumped) / (_VALUE_BYTES * values), "ciphertext")
        return [Sample("size", float(size), name) for name, size in sizes.items()] + [expansion]

    def _seeded_sizes(self) -> dict[str, int]:
        sizes, owner = {}, self.session.owner
        vector = operands.operand(self.case, self.setting.trial.seed, 0)[: self.session.parameters.slots]
        for item in self.session.declaration.seeded:
            with suppress(Unsupported):
                sizes[item] = len(owner.dump_seeded(item, vector, self._mode))
        return sizes

    def _key_sizes(self) -> dict[str, int]:
        sizes = {}
        for item in self.session.declaration.serializable:
            with suppress(Unsupported):  # a parameter set without such a key: no row
                sizes[item] = len(self.session.owner.dump_key(item, self._mode))
        return sizes


_WRITTEN = 3  # encryptions, in whose time all objects are written once


def _trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    once_s = _WRITTEN * times.encrypt_s
    return TRIAL_S + CIPHERTEXT_S * times.work + 2 * sampled_s(budget, once_s, budget.min_time_s)


def _reason(case: Case, declared: Declaration) -> str | None:
    mode = case.operation
    if mode in declared.compressions:
        return None
    what = "cannot serialize without compression" if mode == _PLAIN else f"offers no compression {mode}"
    return f"{declared.library} {what} here; offered: {', '.join(declared.compressions)}"


KINDS = (
    ExperimentKind(
        "serialization",
        Serialization,
        operations=(_PLAIN, "zlib", "zstd"),
        defaults=(_PLAIN, "zstd"),
        trial_s=_trial_s,
        reason=_reason,
        searched=("dump", "load"),
    ),
)
