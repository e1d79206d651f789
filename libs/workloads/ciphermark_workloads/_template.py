"""The inner product of an encrypted vector with weights that the server knows: a workload to change into your own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats, power_of_two
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.workload import Arrays, Handles, Workload


class Options(msgspec.Struct, frozen=True):
    """What a suite may vary."""

    length: Annotated[int, msgspec.Meta(ge=2, le=1024, description="elements of the vector")] = 16


class InnerProduct(Workload[Floats, Floats]):
    """Weights · x, of an encrypted x."""

    name = "inner-product"
    title = "inner product with weights that the server knows"
    schemes: tuple[Scheme, ...] = ("ckks",)
    Options = Options
    tolerance = 1e-3  # the largest error that is right; `relative_tolerance`: of the largest expected value

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N, and the sizes of the primes: one for the result, one to rescale by, one for switching keys."""
        self.require_scheme(scheme)
        return ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40)

    def input(self, seed: int, data: Any) -> Floats:
        """What the client has: made of a seed."""
        x: Floats = np.random.default_rng(seed).uniform(-1, 1, self.options.length)
        return x

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        """What the client encrypts."""
        return [given]

    def public(self, stage: str, given: Floats, parameters: Parameters) -> Arrays:
        """What the server is told in the clear."""
        return {"weights": self._weights()}

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """What the server computes. Managed operations take care of levels, scales and relinearization."""
        weights = np.zeros(evaluator.parameters.slots)
        weights[: self.options.length] = public["weights"]
        products = evaluator.managed().apply("mul_plain", inputs[0], weights)
        return [sums.sum_in_blocks(evaluator, products, power_of_two(self.options.length))]

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        """What the client finds in the decrypted results: all slots of each."""
        return outputs[0][:1]

    def reference(self, given: Floats) -> Floats:
        """The same in the clear: what the output is compared with."""
        return np.array([self._weights() @ given])

    def _weights(self) -> Floats:
        return np.linspace(-1, 1, self.options.length)
