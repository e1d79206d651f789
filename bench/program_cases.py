"""The circuits of section ``programs``, at the parameters of the workloads that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ciphermark_adapters import registry
from ciphermark_circuits import linear_means, logistic_regression, matrix_product
from ciphermark_circuits.logistic_regression import Descent, Rows
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.operations import Shape
from ciphermark_contract.tracing import Traced, fresh_inputs, trace
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS

# Called with the block, rows, and what the case before returned.
Circuit = Callable[[Evaluator, int, Sequence[Handle], Sequence[Handle]], list[Handle]]


@dataclass(frozen=True, slots=True)
class ProgramCase:
    """A circuit on ``inputs`` fresh ciphertexts and on what the case ``after`` returns, which is executed before.

    ``rows`` is the number of ciphertexts that a table of rows takes: what the program by hand is told.
    """

    name: str
    spec: ParameterSpec
    block: int
    inputs: int
    rows: int
    circuit: Circuit
    after: ProgramCase | None = None

    def parameters(self, variant: str) -> Parameters:
        """The primes that the variant takes."""
        return registry.load(variant).resolve(self.spec)

    def traced(self, parameters: Parameters) -> Traced:
        """The program."""
        before = self.after.traced(parameters).program if self.after is not None else None
        state: list[Shape] = [] if before is None else [before.shapes[output] for output in before.outputs]
        count = self.inputs

        def circuit(evaluator: Evaluator, handles: Sequence[Handle]) -> list[Handle]:
            return self.circuit(evaluator, self.block, handles[:count], handles[count:])

        return trace(circuit, parameters, [*fresh_inputs(parameters, count), *state])


_K3 = Descent(steps=3, rate=2.5, has_momentum=False)
_GRID = matrix_product.Grid(32, 4, 4)
_COPIES = 4


def _train_regression(
    evaluator: Evaluator, block: int, rows: Sequence[Handle], _: Sequence[Handle]
) -> list[Handle]:
    half = len(rows) // 2
    return [logistic_regression.train(evaluator, Rows(rows[:half], rows[half:], block), _K3)]


def _infer_regression(
    evaluator: Evaluator, block: int, rows: Sequence[Handle], state: Sequence[Handle]
) -> list[Handle]:
    return logistic_regression.infer(evaluator, rows, state[0], block)


def _train_means(
    evaluator: Evaluator, block: int, rows: Sequence[Handle], _: Sequence[Handle]
) -> list[Handle]:
    return linear_means.train(evaluator, rows, block)


def _infer_means(
    evaluator: Evaluator, block: int, rows: Sequence[Handle], state: Sequence[Handle]
) -> list[Handle]:
    return linear_means.infer(evaluator, rows, state, block)


def _multiply(evaluator: Evaluator, _: int, matrices: Sequence[Handle], __: Sequence[Handle]) -> list[Handle]:
    left, right = matrices
    return [matrix_product.row_major(evaluator, left, right, _GRID)]


def _batch(evaluator: Evaluator, block: int, rows: Sequence[Handle], _: Sequence[Handle]) -> list[Handle]:
    share = len(rows) // _COPIES
    parts = [rows[start : start + share] for start in range(0, len(rows), share)]
    return [model for part in parts for model in linear_means.train(evaluator, part, block)]


_REGRESSION = WORKLOADS["lr-k3-encrypted"].roomy_parameters("ckks")  # a prime for each product, as by hand
_MEANS = WORKLOADS["lmc-encrypted"].parameters("bfv")
_MATRICES = ParameterSpec("ckks", 8192, (60, 40, 40, 60), scale_bits=40)

REGRESSION_TRAINING = ProgramCase("lr-train", _REGRESSION, 16, 4, 2, _train_regression)
REGRESSION = ProgramCase("lr-infer", _REGRESSION, 16, 2, 2, _infer_regression, REGRESSION_TRAINING)
MEANS_TRAINING = ProgramCase("lmc-train", _MEANS, 16, 2, 2, _train_means)
MEANS = ProgramCase("lmc-infer", _MEANS, 16, 2, 2, _infer_means, MEANS_TRAINING)
MATRIX_PRODUCT = ProgramCase("matrix-product", _MATRICES, _GRID.blocks, 2, 2, _multiply)
BATCH = ProgramCase(f"{_COPIES} × lmc-train", _MEANS, 16, 2 * _COPIES, 2, _batch)
CASES = (REGRESSION_TRAINING, REGRESSION, MEANS_TRAINING, MEANS, MATRIX_PRODUCT)
