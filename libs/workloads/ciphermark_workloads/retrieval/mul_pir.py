"""MulPIR: two encrypted places, of a row and of a column, and a product of ciphertexts that selects by both."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_circuits import grid
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval.grids import GridRetrieval

# Symbols of two whole bytes, and slots in every ring up to N = 32768.
_PLAIN_MODULUS = 65537


class MulPir(GridRetrieval):
    """MulPIR: see :mod:`ciphermark_circuits.grid`, and :mod:`ciphermark_circuits.expansion` for its query."""

    name = "mul-pir"
    title = "private retrieval of an element of a database by its index (MulPIR)"
    pass_s = 1.0

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and three primes of 50 bits, the size up to which HEXL has its fastest arithmetic: secure enough for
        192 bits, and with room for the noise of every database that options allow: see :func:`.grids.noise_ratio`.
        """
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (50, 50, 50), plain_modulus=_PLAIN_MODULUS)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (56, 56, 60), plain_modulus=_PLAIN_MODULUS)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of the expansion's rotations, and of the product."""
        return super().keys(parameters) | KeyRequest.of(relinearization=True)

    def selected(
        self, evaluator: Evaluator, rows: Sequence[Handle], columns: Sequence[Handle]
    ) -> tuple[list[Handle], list[Handle]]:
        """A ciphertext for each chunk."""
        layout, factors = self.layout(evaluator.parameters), Factors.of(evaluator, rows)
        found = [
            grid.answer(evaluator, factors, columns, self.store(layout, chunk))
            for chunk in range(layout.chunks)
        ]
        return [entry for entries, _ in found for entry in entries], [answer for _, answer in found]


WORKLOADS = (MulPir(),)
