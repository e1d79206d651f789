"""The circuits of section ``programs``, at the parameters of their workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ciphermark_adapters import registry
from ciphermark_circuits import linear_models, logistic_regression, matrix_product
from ciphermark_circuits.logistic_regression import Descent, Rows
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.operations import Shape
from ciphermark_contract.tracing import Traced, fresh_inputs, trace
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS

ROWS = 2  # ciphertexts of a table of rows, as in the hand-written program
_BLOCK = 16
# Called with rows and the results of the preceding case.
Circuit = Callable[[Evaluator, Sequence[Handle], Sequence[Handle]], list[Handle]]


@dataclass(frozen=True, slots=True)
class ProgramCase:
    """A circuit on ``inputs`` fresh ciphertexts and on the results of the case ``after``, which is executed first."""

    name: str
    spec: ParameterSpec
    inputs: int
    circuit: Circuit
    after: ProgramCase | None = None
    block: int = _BLOCK

    def parameters(self, variant: str) -> Parameters:
        """The primes that the variant takes."""
        return registry.load(variant).resolve(self.spec)

    def traced(self, parameters: Parameters) -> Traced:
        """The program."""
        before = self.after.traced(parameters).program if self.after is not None else None
        state: list[Shape] = [] if before is None else [before.shapes[output] for output in before.outputs]
        count = self.inputs

        def circuit(evaluator: Evaluator, handles: Sequence[Handle]) -> list[Handle]:
            return self.circuit(evaluator, handles[:count], handles[count:])

        return trace(circuit, parameters, [*fresh_inputs(parameters, count), *state])


_K3 = Descent(steps=3, rate=2.5, has_momentum=False)
_GRID = matrix_product.Grid(32, 4, 4)
_COPIES = 4


def _train_regression(evaluator: Evaluator, rows: Sequence[Handle], _: Sequence[Handle]) -> list[Handle]:
    table = Rows(rows[:ROWS], rows[ROWS:], _BLOCK)
    return [logistic_regression.train(evaluator, table, _K3)]


def _infer_regression(evaluator: Evaluator, rows: Sequence[Handle], state: Sequence[Handle]) -> list[Handle]:
    return logistic_regression.infer(evaluator, rows, state[0], _BLOCK)


def _train_means(evaluator: Evaluator, rows: Sequence[Handle], _: Sequence[Handle]) -> list[Handle]:
    """Train one model per ``ROWS`` ciphertexts."""
    tables = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    return [part for table in tables for part in linear_models.train(evaluator, table, _BLOCK)]


def _infer_means(evaluator: Evaluator, rows: Sequence[Handle], state: Sequence[Handle]) -> list[Handle]:
    return linear_models.infer(evaluator, rows, state, _BLOCK)


def _multiply(evaluator: Evaluator, matrices: Sequence[Handle], _: Sequence[Handle]) -> list[Handle]:
    left, right = matrices
    return [matrix_product.row_major(evaluator, left, right, _GRID)]


_REGRESSION = WORKLOADS["lr-k3-encrypted"].roomy_parameters("ckks")  # a prime for each product, as by hand
_MEANS = WORKLOADS["lmc-encrypted"].parameters("bfv")
_MATRICES = ParameterSpec("ckks", 8192, (60, 40, 40, 60), scale_bits=40)

REGRESSION_TRAINING = ProgramCase("lr-train", _REGRESSION, 2 * ROWS, _train_regression)
REGRESSION = ProgramCase("lr-infer", _REGRESSION, ROWS, _infer_regression, REGRESSION_TRAINING)
MEANS_TRAINING = ProgramCase("lmc-train", _MEANS, ROWS, _train_means)
MEANS = ProgramCase("lmc-infer", _MEANS, ROWS, _infer_means, MEANS_TRAINING)
MATRIX_PRODUCT = ProgramCase("matrix-product", _MATRICES, 2, _multiply, block=_GRID.blocks)
BATCH = ProgramCase(f"{_COPIES} × lmc-train", _MEANS, ROWS * _COPIES, _train_means)
CASES = (REGRESSION_TRAINING, REGRESSION, MEANS_TRAINING, MEANS, MATRIX_PRODUCT)
