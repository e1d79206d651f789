"""Chi-square tests of genetic markers against a phenotype, without a division (ckks): CryptOracle's workload.

A ciphertext has a slot for each marker and holds the alleles of a person there, 0, 1 or 2; another one holds the
person's phenotype, 0 or 1, in every slot. With n people and d = 2n alleles, n11 = Σ phenotype·alleles counts alleles of
cases, c1 = Σ alleles, r1 = 2·Σ phenotype, and

- chi² = d·(d·n11 − c1·r1)² / (c1·(d − c1) · r1·(d − r1)),
- odds ratio = n11·(n11 − r1 − c1 + d) / ((c1 − n11)·(r1 − n11)).

Circuits return the numerator of chi² without its factor d, its denominator, and both of the odds ratio, times a known
factor. No product is relinearized: results have up to five polynomials, and the server needs no evaluation key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle, matched

_SHARE = 0.4
# The operation that adds many ciphertexts.
_FUSED = ("add_many",)


def input_factor(people: int) -> float:
    """The factor of alleles and phenotypes for :func:`statistics`, whose results are at most people²/25 in magnitude.

    It is the same for both, since the noise of either is multiplied by the other.
    """
    return math.sqrt(_SHARE / (2 * people))


def published_factor(people: int) -> float:
    """The factor of the results of :func:`as_published`, squared for those of chi²."""
    return _SHARE / (2 * people) ** 2


def statistics(
    evaluator: Evaluator, phenotypes: Sequence[Handle], blocks: Sequence[Sequence[Handle]]
) -> list[Handle]:
    """Four ciphertexts for each block of markers: n + 6 products and 4 rescalings each, two levels.

    ``blocks`` holds the alleles of each person. Inputs have :func:`input_factor`, results its fourth power. A product
    with d is a sum, since it is whole.
    """
    people = len(phenotypes)
    alleles, factor = 2 * people, input_factor(people)
    half = _total(evaluator, phenotypes)
    r1 = evaluator.apply("add", half, half)
    rows = _rescaled(evaluator, "mul", r1, _less(evaluator, r1, alleles * factor))
    low_r1 = _scaled(evaluator, r1, factor)
    results = []
    for genotypes in blocks:
        raw, c1 = _products(evaluator, phenotypes, genotypes), _total(evaluator, genotypes)
        expected = evaluator.apply("mul", c1, r1)
        excess = _rescaled(evaluator, "sub", _multiple(evaluator, raw, alleles), expected)
        columns = _rescaled(evaluator, "mul", c1, _less(evaluator, c1, alleles * factor))
        n11, low_c1 = evaluator.apply("rescale", raw), _scaled(evaluator, c1, factor)
        results += [
            evaluator.apply("square", excess),
            evaluator.apply("mul", columns, rows),
            evaluator.apply("mul", n11, _rest(evaluator, n11, low_r1, low_c1, alleles * factor**2)),
            evaluator.apply("mul", evaluator.apply("sub", low_c1, n11), evaluator.apply("sub", low_r1, n11)),
        ]
    return results


def as_published(
    evaluator: Evaluator, phenotypes: Sequence[Handle], genotypes: Sequence[Handle]
) -> list[Handle]:
    """Four ciphertexts: n + 7 products, 3n − 2 sums, 7 differences, 7 rescalings, three levels.

    An operand is brought to a lower level by a product with 1, which also gives it the scale there: 6 of these stand
    for drops of a prime, after which the library of the original disregards scales. Results have
    :func:`published_factor`.
    """
    people = len(phenotypes)
    alleles, factor = 2.0 * people, published_factor(people)
    n11 = evaluator.apply("rescale", _products(evaluator, phenotypes, genotypes))
    c1, half = sums.total(evaluator, genotypes), sums.total(evaluator, phenotypes)
    r1 = evaluator.apply("add", half, half)
    scaled_c1, scaled_r1 = _scaled(evaluator, c1, factor), _scaled(evaluator, r1, factor)
    c1, r1 = matched(evaluator, c1, n11), matched(evaluator, r1, n11)
    columns = _rescaled(evaluator, "mul", scaled_c1, _less(evaluator, c1, alleles))
    rows = _rescaled(evaluator, "mul", scaled_r1, _less(evaluator, r1, alleles))
    observed = _multiplied(evaluator, n11, alleles * factor)
    excess = _rescaled(evaluator, "sub", observed, evaluator.apply("mul", c1, scaled_r1))
    scaled_n11 = evaluator.apply("rescale", _multiplied(evaluator, n11, factor))
    rest = matched(evaluator, _rest(evaluator, n11, r1, c1, alleles), scaled_n11)
    low_c1, low_n11, low_r1 = (matched(evaluator, item, scaled_n11) for item in (c1, n11, scaled_r1))
    return [
        evaluator.apply("square", excess),
        evaluator.apply("mul", columns, rows),
        evaluator.apply("mul", scaled_n11, rest),
        evaluator.apply(
            "mul", evaluator.apply("sub", low_c1, low_n11), evaluator.apply("sub", low_r1, scaled_n11)
        ),
    ]


def _products(evaluator: Evaluator, phenotypes: Sequence[Handle], genotypes: Sequence[Handle]) -> Handle:
    """Σ phenotype·alleles, of three polynomials."""
    products = (evaluator.apply("mul", *pair) for pair in zip(phenotypes, genotypes, strict=True))
    return sums.total(evaluator, products)


def _total(evaluator: Evaluator, ciphertexts: Sequence[Handle]) -> Handle:
    fused = next((name for name in _FUSED if name in evaluator.operations), None)
    return sums.total(evaluator, ciphertexts) if fused is None else evaluator.apply(fused, *ciphertexts)


def _rest(evaluator: Evaluator, n11: Handle, r1: Handle, c1: Handle, alleles: float) -> Handle:
    """n11 − r1 − c1 + d."""
    rest = evaluator.apply("sub", evaluator.apply("sub", n11, r1), c1)
    return evaluator.apply("add_plain", rest, _constant(evaluator, rest, alleles, evaluator.scale(rest)))


def _less(evaluator: Evaluator, a: Handle, number: float) -> Handle:
    return evaluator.apply("sub_plain", a, _constant(evaluator, a, number, evaluator.scale(a)))


def _multiple(evaluator: Evaluator, a: Handle, number: int) -> Handle:
    """a·number by doublings and additions."""
    total = a
    for bit in f"{number:b}"[1:]:
        total = evaluator.apply("add", total, total)
        if bit == "1":
            total = evaluator.apply("add", total, a)
    return total


def _scaled(evaluator: Evaluator, a: Handle, number: float) -> Handle:
    """a·number, one level lower."""
    return evaluator.apply("rescale", _multiplied(evaluator, a, number))


def _multiplied(evaluator: Evaluator, a: Handle, number: float) -> Handle:
    """a·number at the square of the scale of ``a``."""
    return evaluator.apply("mul_plain", a, _constant(evaluator, a, number, evaluator.scale(a)))


def _rescaled(evaluator: Evaluator, operation: str, a: Handle, b: Handle) -> Handle:
    return evaluator.apply("rescale", evaluator.apply(operation, a, b))


def _constant(evaluator: Evaluator, like: Handle, number: float, scale: float | None) -> Handle:
    return evaluator.encode(np.full(evaluator.parameters.slots, float(number)), like=like, scale=scale)
