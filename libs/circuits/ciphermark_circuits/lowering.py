"""Lowering: expressions as operations on ciphertexts, with packing, levels, scales and masks.

A vector of n values is *packed* with a period: the smallest power of two that holds them, at most the slots of a row.
Its values are repeated over the row, so that a rotation of slots rotates the vector, and a sum over a period is in
every slot. Slots of a period beyond n are 0 where the vector is *clean*. A longer vector takes several ciphertexts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from ciphermark_circuits import chebyshev, monomials, products, sums
from ciphermark_circuits.arrangement import Arranged
from ciphermark_circuits.expressions import Expression, Numbers, ordered
from ciphermark_circuits.layout import power_of_two, powers
from ciphermark_contract.interfaces import (
    Evaluator,
    Exhausted,
    Handle,
    Unsupported,
    Vector,
    aligned,
    lowered,
    matched,
    next_lower,
)
from ciphermark_contract.operations import is_one_scale
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters

_NEGATION, _DIFFERENCE = ("negate",), "sub"


def width_of(parameters: Parameters, is_moving: bool) -> int:
    """The slots that vectors take of a ciphertext: one row where values change places, else all."""
    return parameters.ring_dimension // 2 if is_moving else parameters.slots


@dataclass(frozen=True, slots=True)
class Packing:
    """The places of a vector's values: value i is in slot i mod ``period`` of ciphertext i // ``period``."""

    length: int
    period: int
    parts: int

    @classmethod
    def of(cls, length: int, width: int) -> Packing:
        """The packing of a vector in rows of ``width`` slots."""
        period = min(power_of_two(length), width)
        return cls(length, period, -(-length // period))

    def vectors(self, values: Numbers, width: int, parameters: Parameters) -> list[Vector]:
        """The slots of each ciphertext or plaintext: zeros beyond the vector, all periods of a row alike."""
        full = np.zeros(self.parts * self.period, values.dtype)
        full[: self.length] = np.broadcast_to(values, self.length)
        rows = full.reshape(self.parts, self.period)
        return [slots_of(np.tile(row, width // self.period), parameters) for row in rows]

    def unpacked(self, vectors: Sequence[Vector]) -> Vector:
        """The inverse of :meth:`vectors`."""
        values: Vector = np.concatenate([vector[: self.period] for vector in vectors])[: self.length]
        return values

    @property
    def is_full(self) -> bool:
        """Whether no slot of a period is beyond the vector."""
        return self.length == self.parts * self.period


def slots_of(row: Numbers, parameters: Parameters) -> Vector:
    """A row of slots as a scheme takes it: residues modulo t in bfv and bgv, with zeros after the row."""
    if parameters.plain_modulus is None:
        return row.astype(np.float64)
    full = np.zeros(parameters.slots, np.int64)
    full[: len(row)] = row.astype(np.int64) % parameters.plain_modulus
    return full


@dataclass(frozen=True, slots=True)
class _Packed:
    """A packed vector. A single value fills all slots: it is never clean, and always usable."""

    packing: Packing
    parts: tuple[Handle, ...]
    is_clean: bool

    @property
    def is_usable(self) -> bool:
        """Whether no slot beyond the vector disturbs a sum."""
        return self.is_clean or self.packing.is_full

    def part(self, number: int) -> Handle:
        """A ciphertext; of a single value, the only one."""
        return self.parts[number if len(self.parts) > 1 else 0]


class _ScalesDifferError(Exception):
    """Two ciphertexts of one level have different scales and are to be added."""


def lower(
    evaluator: Evaluator,
    arrangement: Arranged,
    inputs: Mapping[str, Sequence[Handle]],
    width: int,
    baby_steps: int = 0,
) -> list[Handle]:
    """The ciphertexts of the results, root by root. ``inputs`` are the ciphertexts of each input.

    The sums of a matrix product share rotations by less than ``baby_steps``; 0: see :func:`usual_baby_steps`.
    Factors of different levels are multiplied as they are. Where this gives the terms of a sum different scales, all
    factors are brought to the scale of their level first, which takes more products with plaintexts.
    """
    try:
        return _Lowering(evaluator, inputs, width, baby_steps, is_strict=False).results(arrangement.roots)
    except _ScalesDifferError:
        return _Lowering(evaluator, inputs, width, baby_steps, is_strict=True).results(arrangement.roots)


def usual_baby_steps(diagonals: int) -> int:
    """The baby steps of a matrix product with so many diagonals: about as many as giant steps."""
    return power_of_two(int(np.sqrt(diagonals)))


def diagonals_of(arrangement: Arranged, width: int) -> int:
    """The diagonals of the largest matrix product in rows of ``width`` slots; 0 without one."""
    products_of = (node for node in ordered(arrangement.roots) if node.operation == "matvec")
    periods = (
        [Packing.of(length, width).period for length in (node.length, node.operands[0].length)]
        for node in products_of
    )
    return max((min(both) for both in periods), default=0)


class _Lowering:
    """``_scales`` are the scales of each level in ckks: of fresh ciphertexts, and of products of two of one level."""

    def __init__(
        self,
        evaluator: Evaluator,
        inputs: Mapping[str, Sequence[Handle]],
        width: int,
        baby_steps: int,
        *,
        is_strict: bool,
    ) -> None:
        self._evaluator = evaluator
        self._inputs = inputs
        self._width = width
        self._baby_steps = baby_steps
        self._is_strict = is_strict
        self._is_real = evaluator.parameters.spec.scheme == "ckks"
        self._scales = _scales_of(evaluator.parameters) if self._is_real else []
        self._values: dict[int, _Packed] = {}
        self._operations: Mapping[str, Callable[[Expression], _Packed]] = {
            "input": self._input,
            "plus": partial(self._sum_of_two, "add"),
            "minus": partial(self._sum_of_two, _DIFFERENCE),
            "neg": self._negated,
            "times": self._product,
            "turned": self._rotated,
            "sum": self._summed,
            "matvec": self._matrix_product,
            "polynomial": self._polynomial,
            "sign": self._sign,
        }

    def results(self, roots: Sequence[Expression]) -> list[Handle]:
        """The ciphertexts of the roots, in order."""
        for node in ordered(roots):
            if not node.is_constant:
                try:
                    self._values[id(node)] = self._operations[node.operation](node)
                except Unsupported as error:
                    raise Unsupported(f"{node.place}: {error}") from error
        return [part for root in roots for part in self._values[id(root)].parts]

    # --- Values in place ---------------------------------------------------------------------------------------------

    def _input(self, node: Expression) -> _Packed:
        packing = Packing.of(node.length, self._width)
        return self._packed(packing, self._inputs[node.argument], is_clean=True)

    def _packed(self, packing: Packing, parts: Sequence[Handle], is_clean: bool) -> _Packed:
        return _Packed(packing, tuple(parts), is_clean and packing.length > 1)

    def _sum_of_two(self, operation: str, node: Expression) -> _Packed:
        packing = Packing.of(node.length, self._width)
        first, second = node.operands
        a = self._values[id(first)]
        if second.is_constant:
            vectors = packing.vectors(second.argument, self._width, self._evaluator.parameters)
            parts = [self._plus(a.part(i), vector) for i, vector in enumerate(vectors)]
            return self._packed(packing, parts, a.is_clean)
        b = self._values[id(second)]
        if operation == _DIFFERENCE and a.parts == b.parts:
            raise UserError(f"{node.place}: this difference is 0 whatever the inputs are: leave it out")
        parts = [self._added(operation, a.part(i), b.part(i)) for i in range(packing.parts)]
        return self._packed(packing, parts, a.is_clean and b.is_clean)

    def _plus(self, a: Handle, vector: Vector) -> Handle:
        plaintext = self._evaluator.encode(vector, like=a, scale=self._evaluator.scale(a))
        return self._evaluator.apply("add_plain", a, plaintext)

    def _added(self, operation: str, a: Handle, b: Handle) -> Handle:
        """a ± b, at the lower of their levels and at its scale."""
        evaluator = self._evaluator
        if is_one_scale(evaluator.scale(a), evaluator.scale(b)):
            return evaluator.apply(operation, *aligned(evaluator, a, b))
        if evaluator.level(a) == evaluator.level(b):
            raise _ScalesDifferError
        if evaluator.level(a) > evaluator.level(b):
            return evaluator.apply(operation, matched(evaluator, a, b), b)
        return evaluator.apply(operation, a, matched(evaluator, b, a))

    def _negated(self, node: Expression) -> _Packed:
        a = self._values[id(node.operands[0])]
        if any(name in self._evaluator.operations for name in _NEGATION):
            return _Packed(
                a.packing, tuple(self._evaluator.apply("negate", part) for part in a.parts), a.is_clean
            )
        minus = slots_of(np.full(self._width, -1), self._evaluator.parameters)
        return _Packed(a.packing, tuple(self._weighted([(part, minus)]) for part in a.parts), a.is_clean)

    def _product(self, node: Expression) -> _Packed:
        packing = Packing.of(node.length, self._width)
        first, second = node.operands
        a = self._values[id(first)]
        if second.is_constant:
            vectors = packing.vectors(second.argument, self._width, self._evaluator.parameters)
            parts = [self._weighted([(a.part(i), vector)]) for i, vector in enumerate(vectors)]
            return self._packed(packing, parts, is_clean=True)
        b = self._values[id(second)]
        parts = [self._multiplied(a.part(i), b.part(i)) for i in range(packing.parts)]
        return self._packed(packing, parts, a.is_clean or b.is_clean)

    def _multiplied(self, a: Handle, b: Handle) -> Handle:
        if self._is_strict:
            level = min(self._evaluator.level(a), self._evaluator.level(b))
            a, b = (self._at(item, level) for item in (a, b))
        return products.product(self._evaluator, a, b)

    def _at(self, a: Handle, level: int) -> Handle:
        """A ciphertext of ckks at a level and its scale, by a product with 1."""
        evaluator = self._evaluator
        if evaluator.level(a) == level:
            return a
        raw_scale = self._scales[level] * evaluator.parameters.moduli[level + 1]
        return evaluator.apply("rescale", chebyshev.times(evaluator, a, 1.0, level + 1, raw_scale))

    # --- Products with numbers ---------------------------------------------------------------------------------------

    def _weighted(self, terms: Sequence[tuple[Handle, Vector]]) -> Handle:
        """Σ ciphertext·vector, a level below the lowest ciphertext."""
        return self._closed(self._open_sum(terms))

    def _open_sum(self, terms: Sequence[tuple[Handle, Vector]]) -> Handle:
        """Σ ciphertext·vector at the level of the lowest ciphertext, not rescaled."""
        evaluator = self._evaluator
        level = min(evaluator.level(a) for a, _ in terms)
        if self._is_real and level == 0:
            raise Exhausted("no level is left in the modulus chain for another multiplication")
        raw = self._scales[level - 1] * evaluator.parameters.moduli[level] if self._is_real else None
        return sums.total(evaluator, (self._weighed(lowered(evaluator, a, level), v, raw) for a, v in terms))

    def _weighed(self, a: Handle, vector: Vector, raw_scale: float | None) -> Handle:
        scale = raw_scale / (self._evaluator.scale(a) or 1.0) if raw_scale else None
        return self._evaluator.apply("mul_plain", a, self._evaluator.encode(vector, like=a, scale=scale))

    def _closed(self, raw: Handle) -> Handle:
        """A sum of products with plaintexts, rescaled in ckks, at the next modulus in bgv."""
        if self._is_real:
            return self._evaluator.apply("rescale", raw)
        is_bgv = self._evaluator.parameters.spec.scheme == "bgv"
        return next_lower(self._evaluator, raw) if is_bgv else raw

    def _polynomial(self, node: Expression) -> _Packed:
        a, coefficients = self._values[id(node.operands[0])], node.argument
        evaluator = self._evaluator
        if self._is_real:
            parts = [
                monomials.without_constant(evaluator, part, coefficients, self._scales) for part in a.parts
            ]
        else:
            whole = [0, *map(int, coefficients[1:])]
            parts = [self._closed(products.polynomial(evaluator, part, whole)) for part in a.parts]
        if coefficients[0]:
            vectors = a.packing.vectors(coefficients[:1], self._width, evaluator.parameters)
            parts = [self._plus(part, vector) for part, vector in zip(parts, vectors, strict=True)]
        return _Packed(a.packing, tuple(parts), a.is_clean)

    def _sign(self, node: Expression) -> _Packed:
        a = self._values[id(node.operands[0])]
        parts = list(a.parts)
        for polynomial in node.argument:
            levels = [self._evaluator.level(part) - polynomial.depth for part in parts]
            if min(levels) < 0:
                raise Exhausted("no level is left in the modulus chain for a sign")
            parts = [
                chebyshev.value(self._evaluator, part, polynomial, level, self._scales[level])
                for part, level in zip(parts, levels, strict=True)
            ]
        return _Packed(a.packing, tuple(parts), a.is_clean)

    # --- Values that change places -----------------------------------------------------------------------------------

    def _usable(self, a: _Packed) -> _Packed:
        """The vector with zeros in all slots beyond it."""
        if a.is_usable:
            return a
        ones = a.packing.vectors(np.ones(1, np.int64), self._width, self._evaluator.parameters)
        parts = [*a.parts[:-1], self._weighted([(a.parts[-1], ones[-1])])]
        return _Packed(a.packing, tuple(parts), True)

    def _turned(self, a: Handle, steps: int) -> Handle:
        return self._evaluator.apply("rotate", a, steps) if steps else a

    def _rotated(self, node: Expression) -> _Packed:
        a = self._usable(self._values[id(node.operands[0])])
        packing, steps = a.packing, node.argument
        if packing.is_full and packing.parts == 1:
            return _Packed(packing, (self._turned(a.parts[0], steps),), a.is_clean)
        turned = [self._gathered(a, part, steps) for part in range(packing.parts)]
        return _Packed(packing, tuple(part for part, _ in turned), all(is_clean for _, is_clean in turned))

    def _gathered(self, a: _Packed, part: int, steps: int) -> tuple[Handle, bool]:
        """A ciphertext of a rotated vector, and whether it is clean: slots of several ciphertexts or rotations are
        joined by masks.
        """
        packing, period = a.packing, a.packing.period
        places = np.arange(part * period, min((part + 1) * period, packing.length))
        sources = (places + steps) % packing.length
        turns = (sources - places) % period
        origins = sorted({*zip((sources // period).tolist(), turns.tolist(), strict=True)})
        if len(origins) == 1:
            ((source, turn),) = origins
            return self._turned(a.parts[source], turn), len(places) == period
        terms = []
        for source, turn in origins:
            mask = np.zeros(period, np.int64)
            mask[places[(sources // period == source) & (turns == turn)] % period] = 1
            row = slots_of(np.tile(mask, self._width // period), self._evaluator.parameters)
            terms.append((self._turned(a.parts[source], turn), row))
        return self._weighted(terms), True

    def _summed(self, node: Expression) -> _Packed:
        a = self._usable(self._values[id(node.operands[0])])
        together = reduce(partial(self._added, "add"), a.parts)
        total = sums.turned_sum(self._evaluator, together, powers(1, a.packing.period))
        return self._packed(Packing.of(1, self._width), [total], is_clean=False)

    def _matrix_product(self, node: Expression) -> _Packed:
        a, packing = self._values[id(node.operands[0])], Packing.of(node.length, self._width)
        parts = [self._rows(a, packing, part, node.argument) for part in range(packing.parts)]
        return self._packed(packing, parts, is_clean=True)

    def _rows(self, a: _Packed, packing: Packing, part: int, matrix: Numbers) -> Handle:
        """One ciphertext of a matrix product, by diagonals in baby and giant steps: see :mod:`.diagonals`.

        A matrix with fewer rows than columns has diagonals that pass all columns; sums of their parts follow.
        """
        columns, rows = a.packing.period, packing.period
        block = matrix[part * rows : (part + 1) * rows]
        giants: dict[int, list[tuple[Handle, Vector]]] = {}
        for number, handle in enumerate(a.parts):
            diagonals = _diagonals(block[:, number * columns : (number + 1) * columns], rows, columns)
            babies = min(self._baby_steps or usual_baby_steps(len(diagonals)), len(diagonals))
            used = sorted({step % babies for step, diagonal in enumerate(diagonals) if diagonal.any()})
            turned = dict(zip(used, sums.rotated_by_each(self._evaluator, handle, used), strict=True))
            for step, diagonal in enumerate(diagonals):
                if diagonal.any():
                    giant = step - step % babies
                    row = np.roll(np.tile(diagonal, self._width // len(diagonal)), giant)
                    vector = slots_of(row, self._evaluator.parameters)
                    giants.setdefault(giant, []).append((turned[step % babies], vector))
        if not giants:
            raise Unsupported("rows of the matrix are all 0, and no library multiplies by 0: leave them out")
        sums_of_giants = (self._turned(self._open_sum(terms), giant) for giant, terms in giants.items())
        product = self._closed(sums.total(self._evaluator, sums_of_giants))
        return sums.turned_sum(self._evaluator, product, powers(rows, max(rows, columns)))


def _diagonals(block: Numbers, rows: int, columns: int) -> list[Numbers]:
    """The diagonals of a matrix, filled up with zeros: number d has [i mod rows, (i + d) mod columns] at place i."""
    full = np.zeros((rows, columns), block.dtype)
    full[: block.shape[0], : block.shape[1]] = block
    places = np.arange(max(rows, columns))
    return [full[places % rows, (places + d) % columns] for d in range(min(rows, columns))]


def _scales_of(parameters: Parameters) -> list[float]:
    """The scale of each level: that of fresh ciphertexts, and below it of products of two ciphertexts of one level."""
    scales = [parameters.scale or 1.0]
    for prime in reversed(parameters.moduli[1:]):
        scales.append(scales[-1] ** 2 / prime)
    return scales[::-1]
