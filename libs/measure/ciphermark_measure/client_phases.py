"""Encryption and decryption as phases of a trial: timed once for a vector, whatever operations are executed on it.

What an encryption takes depends on the vector alone, and what a decryption takes on the vector and on the form of the
ciphertext: how many polynomials it has, and of how many primes. The first trial of a worker that has such a vector, or
such a result, tells the time; the trials after it have the operation alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from ciphermark_contract.interfaces import Handle, Vector
from ciphermark_core.model import Case
from ciphermark_measure.experiments.base import Setting
from ciphermark_measure.sampling import Phase, target
from ciphermark_measure.session import Session


@dataclass(slots=True)
class ClientPhases:
    """The client's phases of one trial; ``scale`` is the whole vector by what is encrypted or decrypted of it."""

    setting: Setting
    scale: float
    _told: dict[str, Hashable] = field(default_factory=dict)

    def encrypt(self, vectors: Sequence[Sequence[Vector]]) -> list[Phase]:
        """Encryption of these sets of vectors, or nothing where it has been told."""
        about = ("encrypt", *_vector(self.setting.trial.case))
        rows = [[(vector,) for vector in several] for several in vectors]
        return self._phase("encrypt", about, rows)

    def decrypt(self, results: Sequence[Sequence[Handle]], form: Hashable) -> list[Phase]:
        """Decryption of these sets of results, which have one form, or nothing where it has been told."""
        about = ("decrypt", *_vector(self.setting.trial.case), form)
        return self._phase("decrypt", about, [[(result,) for result in several] for several in results])

    def tell(self) -> None:
        """The times of the trial's phases stand: no other trial needs to take them."""
        self.setting.session.timed.update(self._told.values())

    def _phase(self, name: str, about: Hashable, rows: Sequence[Sequence[tuple[object]]]) -> list[Phase]:
        setting = self.setting
        if about in setting.session.timed:
            return []
        self._told[name] = about
        aim = target(setting.trial.budget, setting.resolution_ns, is_client=True)
        bounds = [setting.session.owner.bind(name, several) for several in rows]
        return [Phase(name, bounds, aim, setting.clock, gate=setting.gate, scale=self.scale)]


def form(session: Session, result: Handle) -> Hashable:
    """What decides how long the decryption of a ciphertext takes, beside its values."""
    return session.evaluator.polynomials(result), session.evaluator.level(result)


def _vector(case: Case) -> tuple[int, str]:
    return case.size, case.data_pattern
