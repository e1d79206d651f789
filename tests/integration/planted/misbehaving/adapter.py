"""``cleartext`` with one deed planted."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

from ciphermark_adapters.cleartext.adapter import CleartextAdapter, CleartextEvaluator
from ciphermark_contract.interfaces import Bound, PythonBound
from ciphermark_core import wire
from ciphermark_core.model import Parameters
from misbehaving.deeds import DEEDS

COARSE_NS = 60_000_000_000  # no sample lasts a step, however busy the machine is
# "runs-dry" multiplies right with a modulus of at least so many bits, and tells no noise budget
MIN_BITS = 40


class AstrayBound(Bound):
    """Reports another time than the one that passed."""

    def __init__(self, bound, report):
        self._bound, self._report = bound, report

    def run(self, loops):
        return self._report(self._bound.run(loops))

    def results(self):
        return self._bound.results()


REPORTS = {
    "slow-clock": lambda elapsed_ns: elapsed_ns // 2,
    "coarse-clock": lambda elapsed_ns: elapsed_ns // COARSE_NS * COARSE_NS,
}


class MisbehavingEvaluator(CleartextEvaluator):
    def __init__(self, parameters, declared, deed):
        super().__init__(parameters, declared)
        self._deed = deed
        self._planted = dict(super().operations)
        if deed in DEEDS:
            self._planted["mul"] = DEEDS[deed](self._planted["mul"])
        if deed == "runs-dry" and parameters.log_q < MIN_BITS:
            self._planted["mul"] = DEEDS["wrong"](self._planted["mul"])

    @property
    def operations(self):
        return self._planted

    def bind(self, operation, rows):
        bound = PythonBound(self.function(operation), rows)
        if operation == "mul" and self._deed in REPORTS:
            return AstrayBound(bound, REPORTS[self._deed])
        return bound


class Misbehaving(CleartextAdapter):
    def __init__(self, declared):
        super().__init__(declared)
        self._deed = declared.variant.removeprefix("planted-")

    def info(self):
        return replace(super().info(), library="Planted", is_debug=self._deed == "debug")

    def key_owner(self, parameters, keys):
        if self._deed == "no-keys":
            raise RuntimeError("no entropy for keys")
        if self._deed == "dies-making-keys":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._deed == "segfaults-with-threads":  # a process with threads does not fork
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        return super().key_owner(parameters, keys)

    def evaluator(self, public_material):
        return MisbehavingEvaluator(
            wire.from_line(b"".join(public_material), Parameters), self._declared, self._deed
        )
