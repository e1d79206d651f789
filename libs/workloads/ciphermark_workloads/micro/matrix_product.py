"""Products of two encrypted square matrices of numbers in [−1, 1]."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from ciphermark_circuits import matrix_product
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.matrix_product import Grid
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector, lowered
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.micro.function import Levels, Micro, Published, judged, secure_ring
from ciphermark_workloads.options import to_case
from ciphermark_workloads.workload import Arrays, Choice, Handles, Judgement, Truth

# Relative to max(1, largest entry), which is about √(2.8·d). An error of a rotated slot is normal with a deviation of
# (N/π)·3.2·√(N/2)/2^40 = 5e-7 where the slot is the worst of them, and reaches an entry by one row and one column: of
# 60 rotations, should all of them meet there, 5e-7·√(60·32) = 2e-5; five times that, times the largest entry.
_TOLERANCE = 1e-4


class SideOptions(msgspec.Struct, frozen=True):
    """Options of products."""

    side: Annotated[
        int, msgspec.Meta(ge=2, le=64, description="rows and columns of both matrices, a power of two")
    ] = 32
    levels: Levels = 0


class _Product(Micro[Floats, Floats]):
    """Two matrices, stacked as one input of shape (2, d, d)."""

    Options: ClassVar[type[msgspec.Struct]] = SideOptions
    depth: ClassVar[int] = 2

    def own_parameters(self) -> ParameterSpec:
        """The levels of the circuit, in the smallest ring with enough slots for it."""
        chain = (60, *[40] * self.depth, 60)
        return ParameterSpec("ckks", secure_ring(chain, 2 * self.min_slots), chain, scale_bits=40)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "mul", "rotate")

    def input(self, seed: int, data: Any) -> Floats:
        """Uniform in [−1, 1]."""
        return np.random.default_rng(seed).uniform(-1, 1, (2, self.size, self.size))

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        """Each matrix row by row."""
        self.require_slots(parameters)
        return [matrix.ravel() for matrix in given]

    def require_slots(self, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for a ring in which the circuit has too few slots."""
        if self.min_slots > parameters.slots:
            raise Unsupported(
                f"{self.name} of side {self.size} takes {self.min_slots} slots, and N = "
                f"{parameters.ring_dimension} has {parameters.slots}"
            )

    @property
    @abstractmethod
    def min_slots(self) -> int:
        """The number of slots that the circuit uses."""

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """One ciphertext, of the product."""
        left, right = inputs
        return [self.product(evaluator, left, right)]

    @abstractmethod
    def product(self, evaluator: Evaluator, left: Handle, right: Handle) -> Handle:
        """The product under encryption."""

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        """The product, d × d."""
        return outputs[0][: self.size**2].reshape(self.size, self.size)

    def reference(self, given: Floats) -> Floats:
        product: Floats = given[0] @ given[1]
        return product

    def judge(self, found: Floats, truth: Truth[Floats, Floats]) -> Judgement:
        return judged(found, truth.reference, _TOLERANCE)

    @property
    def size(self) -> int:
        """d; raises ``Unsupported`` for one that is no power of two."""
        size: int = self.options.side
        if size & (size - 1):
            raise Unsupported(f"matrices of {size} rows: the circuits take a power of two")
        return size


class MatrixProduct(_Product):
    """Row by row in the first d² slots, the natural layout for a client. N = 8192 for 4 copies of 32 × 32."""

    name = "matrix-product"
    title = "product of two matrices, row by row"

    class Options(SideOptions, frozen=True):
        """Options of the workload."""

        blocks: Annotated[
            int, msgspec.Meta(ge=1, le=64, description="copies of a matrix in a ciphertext, a power of two")
        ] = 4

    @property
    def min_slots(self) -> int:
        """The slots of all copies."""
        return self._grid().slots

    def choices(self, scheme: Scheme) -> Sequence[Choice]:
        """Its own number of copies, then half and twice as many, which take a smaller or a larger ring."""
        usual: int = self.options.blocks
        several = [count for count in (usual, usual // 2, 2 * usual) if 1 <= count <= self.size]
        return [
            Choice(
                {"blocks": count},
                self.with_options({**to_case(self.options), "blocks": count}).parameters(scheme),
            )
            for count in several
        ]

    def product(self, evaluator: Evaluator, left: Handle, right: Handle) -> Handle:
        left, right = (lowered(evaluator, item, self.depth) for item in (left, right))
        return matrix_product.row_major(evaluator, left, right, self._grid())

    def _grid(self) -> Grid:
        blocks: int = min(self.options.blocks, self.size)
        if blocks & (blocks - 1):
            raise Unsupported(f"{blocks} copies of a matrix: the circuit takes a power of two")
        return Grid(self.size, blocks, near=min(4, blocks))


class PackedMatrixProduct(_Product):
    """Packed by the client for this one product: no mask, one level; N = 8192 for 32 × 32."""

    name = "matrix-product-packed"
    title = "product of two matrices that the client packed for it"
    depth = 1

    @property
    def min_slots(self) -> int:
        """Rows are doubled."""
        return 2 * self.size**2

    def vectors(self, stage: str, given: Floats, parameters: Parameters) -> list[Vector]:
        self.require_slots(parameters)
        left, right = given
        return [
            matrix_product.packed_left(left, parameters.slots),
            matrix_product.packed_right(right, parameters.slots),
        ]

    def plaintext_bytes(self, stage: str, given: Floats, parameters: Parameters) -> int:
        """The numbers of the matrices, without copies."""
        return 8 * given.size

    def product(self, evaluator: Evaluator, left: Handle, right: Handle) -> Handle:
        left, right = (lowered(evaluator, item, self.depth) for item in (left, right))
        return matrix_product.packed_by_client(evaluator, left, right, self.size)

    def output(self, outputs: Sequence[Vector], given: Floats, parameters: Parameters) -> Floats:
        """The product, d × d."""
        return matrix_product.unpacked(outputs[0], self.size)


class PublishedMatrixProduct(Published[Floats, Floats], _Product):
    """Row by row, by CryptOracle's circuit and in its modulus chain, by default of ten levels."""

    name = "matrix-product-published"
    title = "product of two matrices, row by row, by the published circuit"

    @property
    def min_slots(self) -> int:
        """Two copies."""
        return 2 * self.size**2

    def product(self, evaluator: Evaluator, left: Handle, right: Handle) -> Handle:
        return matrix_product.as_published(evaluator, left, right, self.size)


WORKLOADS = (MatrixProduct(), PackedMatrixProduct(), PublishedMatrixProduct())
