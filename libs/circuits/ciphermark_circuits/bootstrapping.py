"""Packed bootstrapping (ckks) as a circuit: CoeffsToSlots, EvalMod, SlotsToCoeffs (Bossuat, Mouchet, Troncoso-Pastoriza
and Hubaux, EUROCRYPT 2021). Libraries bootstrap by calls of their own; this circuit is for models, by its trace.

The slots of a polynomial are its discrete Fourier transform, whose layers are matrices of three diagonals. A stage is
a product of some layers. Both transforms leave out the bit reversal, because EvalMod treats all coefficients alike.
Diagonals are complex.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import accumulate
from itertools import product as pairs
from math import factorial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_circuits import chebyshev, sums
from ciphermark_circuits.layout import powers
from ciphermark_circuits.products import product, weighted
from ciphermark_contract.interfaces import Evaluator, Handle, matched
from ciphermark_contract.operations import OPERATIONS
from ciphermark_contract.program import Constant, Node, Program

Diagonals: TypeAlias = Mapping[int, npt.NDArray[np.complex128]]
"""Σ_d diagonals[d]·(x rotated by d)."""

RANGE = 16  # largest multiple of q that EvalMod removes
_DOUBLINGS = 3
_DEGREE = 30
EVALUATION_DEPTH = 5 + _DOUBLINGS
_BABIES = 4
_SQUARES = 6  # of the exponential, for one element


@dataclass(frozen=True, slots=True)
class Transforms:
    """The stages of CoeffsToSlots and of SlotsToCoeffs, in order of their application."""

    to_slots: Sequence[Diagonals]
    to_coefficients: Sequence[Diagonals]

    @property
    def depth(self) -> int:
        """Levels of a bootstrapping."""
        return len(self.to_slots) + EVALUATION_DEPTH + len(self.to_coefficients)


@cache
def transforms(slots: int, layers: int) -> Transforms:
    """The stages for all slots of a ring, of ``layers`` layers each, with the factors that EvalMod needs.

    CoeffsToSlots also divides by 2·``RANGE``, since the real part is half of a sum, SlotsToCoeffs by 2π.
    """
    lengths = [2 << i for i in range(slots.bit_length() - 1)]
    groups = [lengths[max(0, end - layers) : end] for end in range(len(lengths), 0, -layers)]
    to_slots = [_joined(_inverse_layer(slots, length) for length in reversed(group)) for group in groups]
    to_coefficients = [_joined(_layer(slots, length) for length in group) for group in reversed(groups)]
    return Transforms(_divided(to_slots, 2 * slots * RANGE), _divided(to_coefficients, 2 * np.pi))


def bootstrapped(evaluator: Evaluator, raised: Handle, stages: Transforms) -> Handle:
    """The slots of the polynomial m for those of m + I, where I has whole numbers up to ``RANGE``, and m is small."""
    scale = float(
        evaluator.parameters.moduli[evaluator.level(raised)]
    )  # that of EvalMod, whose primes are large
    turned = reduce(lambda a, stage: transformed(evaluator, a, stage, scale), stages.to_slots, raised)
    conjugate = evaluator.apply("conjugate", turned)
    real = evaluator.apply("add", turned, conjugate)
    imaginary = _times_unit(evaluator, evaluator.apply("sub", turned, conjugate), -1j)
    real, imaginary = (_reduced(evaluator, part) for part in (real, imaginary))
    joined = evaluator.apply("add", real, _times_unit(evaluator, imaginary, 1j))
    usual = evaluator.parameters.scale or 1.0
    return reduce(lambda a, stage: transformed(evaluator, a, stage, usual), stages.to_coefficients, joined)


def bootstrapped_alone(evaluator: Evaluator, raised: Handle) -> Handle:
    """The constant coefficient m of a polynomial in every slot, from m + I with a small whole number I ("unpacked").

    A trace drops all other coefficients. A polynomial of degree 7 and six squares give the exponential, whose
    imaginary part is the sine.
    """
    slots = evaluator.parameters.slots
    total = sums.turned_sum(evaluator, raised, powers(1, slots))
    real = evaluator.apply("add", total, evaluator.apply("conjugate", total))
    angle = 2j * np.pi / (1 << _SQUARES) / (2 * slots)
    power = _exponential(evaluator, weighted(evaluator, real, np.full(slots, angle)))
    for _ in range(_SQUARES):
        power = product(evaluator, power, power)
    sine = evaluator.apply("sub", power, evaluator.apply("conjugate", power))
    return weighted(evaluator, sine, np.full(slots, -1j / (4 * np.pi)))


def _exponential(evaluator: Evaluator, u: Handle) -> Handle:
    """Σ u^k/k! up to k = 7, three levels deep."""
    square = product(evaluator, u, u)
    fourth = product(evaluator, square, square)
    low, high = (
        _plus(evaluator, product(evaluator, square, _line(evaluator, u, first + 2)), u, first)
        for first in (0, 4)
    )
    top = product(evaluator, fourth, high)
    return evaluator.apply("add", top, matched(evaluator, low, top))


def _line(evaluator: Evaluator, u: Handle, first: int) -> Handle:
    """1/first! + u/(first + 1)!."""
    slots = evaluator.parameters.slots
    line = weighted(evaluator, u, np.full(slots, 1 / factorial(first + 1)))
    number = evaluator.encode(np.full(slots, 1 / factorial(first)), like=line, scale=evaluator.scale(line))
    return evaluator.apply("add_plain", line, number)


def _plus(evaluator: Evaluator, a: Handle, u: Handle, first: int) -> Handle:
    """a + 1/first! + u/(first + 1)!."""
    slots = evaluator.parameters.slots
    total = evaluator.apply("add", a, matched(evaluator, u, a, 1 / factorial(first + 1)))
    number = evaluator.encode(np.full(slots, 1 / factorial(first)), like=total, scale=evaluator.scale(total))
    return evaluator.apply("add_plain", total, number)


def transformed(evaluator: Evaluator, a: Handle, diagonals: Diagonals, scale: float) -> Handle:
    """A product with a matrix in baby and giant steps, one level deep, at a scale."""
    stride, level = min(abs(step) for step in diagonals if step), evaluator.level(a)
    places = sorted({divmod(step // stride, _BABIES) for step in diagonals})
    babies = sorted({baby for _, baby in places})
    turned = dict(
        zip(babies, sums.rotated_by_each(evaluator, a, [stride * baby for baby in babies]), strict=True)
    )
    own = scale * evaluator.parameters.moduli[level] / (evaluator.scale(a) or 1.0)
    parts = []
    for giant in sorted({giant for giant, _ in places}):
        turn = giant * _BABIES * stride
        products = [
            evaluator.apply(
                "mul_plain",
                turned[baby],
                evaluator.encode(np.roll(diagonals[turn + baby * stride], turn), like=a, scale=own),
            )
            for each, baby in places
            if each == giant
        ]
        total = sums.total(evaluator, products)
        parts.append(evaluator.apply("rotate", total, turn) if turn else total)
    return evaluator.apply("rescale", sums.total(evaluator, parts))


def expanded(program: Program, body: Program) -> Program:
    """A program with ``body``, the trace of :func:`bootstrapped` at the same parameters, for each of its bootstraps.

    A node ``bootstrap`` remains before each copy. It stands for raising the modulus alone: its result is at the top.
    """
    if program.parameters != body.parameters:
        raise ValueError("a bootstrapping of other parameters does not fit the program")
    constants = {item: index for index, item in enumerate(dict.fromkeys(program.constants + body.constants))}
    copy = _Copy(constants, len(program.inputs))
    values = list(range(len(program.inputs)))
    for node in program.nodes:
        if OPERATIONS[node.operation].keys().bootstrapping is None:
            copy.add(program, node, values)
        else:
            (raised,) = copy.add(program, replace(node, results=body.inputs), values[:])
            inner = [raised]
            for each in body.nodes:
                copy.add(body, each, inner)
            values.append(inner[body.outputs[0]])
    return replace(
        program,
        constants=tuple(constants),
        nodes=tuple(copy.nodes),
        outputs=tuple(values[output] for output in program.outputs),
    )


@dataclass(slots=True)
class _Copy:
    """Nodes with the constants and the value numbers of a new program, whose values are ``count`` so far."""

    constants: Mapping[Constant, int]
    count: int
    nodes: list[Node] = field(default_factory=list)

    def add(self, source: Program, node: Node, values: list[int]) -> range:
        """Add a node of a program whose value i is number ``values[i]`` here; extends ``values``."""
        moved = replace(
            node,
            operands=tuple(values[operand] for operand in node.operands),
            constants=tuple(self.constants[source.constants[index]] for index in node.constants),
        )
        results = range(self.count, self.count + len(node.results))
        self.nodes.append(moved)
        self.count = results.stop
        values.extend(results)
        return results


def _reduced(evaluator: Evaluator, a: Handle) -> Handle:
    """sin(2π·RANGE·y) of slots y in [−1, 1]: a cosine of an eighth of the angle, and three doublings of it."""
    quarter = np.full(evaluator.parameters.slots, 0.25 / RANGE)
    shifted = evaluator.apply("sub_plain", a, evaluator.encode(quarter, like=a, scale=evaluator.scale(a)))
    cosine = chebyshev.series(evaluator, shifted, _cosine(), scale=evaluator.scale(a))
    for _ in range(_DOUBLINGS):
        cosine = chebyshev.Basis(evaluator, cosine)[2]
    return cosine


@cache
def _cosine() -> tuple[float, ...]:
    """Chebyshev coefficients of cos(2π·RANGE·y/8) on [−1, 1], an even function."""
    angle = 2 * np.pi * RANGE / (1 << _DOUBLINGS)
    nodes = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
    coefficients = np.polynomial.chebyshev.chebfit(nodes, np.cos(angle * nodes), _DEGREE)
    coefficients[1::2] = 0
    return tuple(map(float, coefficients))


def _divided(stages: Sequence[Diagonals], divisor: float) -> list[Diagonals]:
    """The stages divided by equal factors, which together are the divisor."""
    factor = divisor ** (-1 / len(stages))
    return [{step: factor * values for step, values in stage.items()} for stage in stages]


def _times_unit(evaluator: Evaluator, a: Handle, unit: complex) -> Handle:
    """The product with ±i: a monomial, encoded exactly at scale 1."""
    units = np.full(evaluator.parameters.slots, unit)
    return evaluator.apply("mul_plain", a, evaluator.encode(units, like=a, scale=1.0))


def _layer(slots: int, length: int) -> Diagonals:
    """A layer of the transform from coefficients to slots: (u, v) becomes (u + ζv, u − ζv)."""
    first, twist = _pairs(slots, length)
    half = length // 2
    return {
        0: np.where(first, 1, -twist),
        half: np.where(first, twist, 0),
        -half: np.where(first, 0, 1),
    }


def _inverse_layer(slots: int, length: int) -> Diagonals:
    """Twice the inverse of a layer: (a, b) becomes (a + b, (a − b)/ζ)."""
    first, twist = _pairs(slots, length)
    half, inverse = length // 2, np.conj(twist)
    return {
        0: np.where(first, 1, -inverse),
        half: np.where(first, 1, 0),
        -half: np.where(first, 0, inverse),
    }


def _pairs(slots: int, length: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.complex128]]:
    """Which slots are the first of a pair at a distance of half the length, and ζ at the second ones."""
    places = np.arange(slots) % length
    half, order = length // 2, 4 * length
    turns = np.array(list(accumulate(range(half - 1), lambda turn, _: turn * 5 % order, initial=1)))
    return places < half, np.exp(2j * np.pi * turns[places % half] / order)


def _joined(layers: Iterable[Diagonals]) -> Diagonals:
    """The product of matrices, the first applied first, with diagonals in ascending order of their steps."""
    joined = reduce(lambda first, second: _matrix_product(second, first), layers)
    return {step: joined[step] for step in sorted(joined)}


def _matrix_product(a: Diagonals, b: Diagonals) -> Diagonals:
    """The matrix product a·b. Steps are around 0, unless they fill the whole circle."""
    slots = len(next(iter(a.values())))
    sums_of_steps: dict[int, npt.NDArray[np.complex128]] = {}
    for (i, outer), (j, inner) in pairs(a.items(), b.items()):
        step = (i + j) % slots
        sums_of_steps[step] = sums_of_steps.get(step, 0) + outer * np.roll(inner, -i)
    stride = min(step for step in sums_of_steps if step)
    if len(sums_of_steps) * stride == slots:
        return sums_of_steps
    return {step - slots * (2 * step > slots): values for step, values in sums_of_steps.items()}
