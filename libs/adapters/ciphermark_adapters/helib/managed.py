"""Managed operations over HElib, which aligns moduli and scales itself.

HElib switches operands up to the larger modulus before it adds them, and brings ckks ciphertexts to one scale by
integer factors; before it multiplies, it switches to the modulus that the noise asks for. So operands go in as they
are. bgv leaves a product where it is: the next one switches it. A ckks result is rescaled while its scale stays near
the parameter set's or above.
"""

from __future__ import annotations

import math

from ciphermark_contract.interfaces import Handle, Managed


class HElibManaged(Managed):
    """The managed operations, without the alignment that other libraries need."""

    def _add(self, a: Handle, b: Handle) -> Handle:
        return self._rescaled(self._evaluator.apply("add", a, b))

    def _sub(self, a: Handle, b: Handle) -> Handle:
        return self._rescaled(self._evaluator.apply("sub", a, b))

    def _mul(self, a: Handle, b: Handle) -> Handle:
        for operand in (a, b):
            self._require_level(operand)
        return self._shrunk(self._evaluator.apply("mul", a, b))

    def _shrunk(self, product: Handle) -> Handle:
        if "relinearize" in self._evaluator.operations:
            product = self._evaluator.apply("relinearize", product)
        return self._rescaled(product)

    def _rescaled(self, result: Handle) -> Handle:
        while self._is_scaled_up(result):
            result = self._evaluator.apply("rescale", result)
        return result

    def _is_scaled_up(self, result: Handle) -> bool:
        """Whether the scale without the next prime is still nearer to the default one than to none at all."""
        evaluator = self._evaluator
        level, scale, default = evaluator.level(result), evaluator.scale(result), evaluator.parameters.scale
        if scale is None or default is None or level == 0:
            return False
        return scale / evaluator.parameters.moduli[level] > math.sqrt(default)
