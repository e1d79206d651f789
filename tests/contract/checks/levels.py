"""Levels, scales and polynomials follow the rules of the schemes."""

from __future__ import annotations

from math import isclose
from typing import Any

from ciphermark_contract.interfaces import Handle
from ciphermark_contract.operations import OPERATIONS, Kind, Shape

from .. import examples
from ..harness import Subject
from .refusals import exhausted
from .values import right

# HElib keeps scales by the logarithm of the primes: the last bits of a float are rounding.
ROUNDING = 2.0**-48


def state_of(subject: Subject, ciphertext: Handle) -> tuple[int, float | None, int]:
    """Level, scale and number of polynomials."""
    evaluator = subject.evaluator
    return evaluator.level(ciphertext), evaluator.scale(ciphertext), evaluator.polynomials(ciphertext)


def effect(subject: Subject, name: str) -> None:
    """Level, scale and polynomials of every result are those that the operation table tells."""
    item = examples.primitive(subject, name, 0)
    operation = OPERATIONS[name]
    if not operation.yields_ciphertexts:
        return  # a plaintext shows in what it is multiplied with
    wanted = operation.shape_after(subject.parameters, *_shapes(subject, name, item))
    result = subject.evaluator.apply(name, *item.row)
    for ciphertext in examples.revealed(subject, name, result):
        level, scale, polynomials = state_of(subject, ciphertext)
        if operation.is_sequence and not subject.declared.drives_levels(subject.scheme):
            assert polynomials == wanted.polynomials  # the library goes down when and as far as it likes
            continue
        is_scale = scale == wanted.scale or (
            scale is not None and isclose(scale, wanted.scale or 0.0, rel_tol=ROUNDING)
        )
        is_right = is_scale and (level, polynomials) == (wanted.level, wanted.polynomials)
        assert is_right, f"{name}: level, scale, polynomials are {(level, scale, polynomials)}, not {wanted}"


def _shapes(subject: Subject, name: str, item: examples.Example) -> list[Any]:
    """The operands with shapes in the place of handles."""
    called, ciphertexts = examples.call(name, 0), iter(item.ciphertexts)
    kinds = [kind for kind in called.operation.operands for _ in range(called.count)]
    top = len(subject.parameters.moduli) - 1
    shapes = [
        Shape(*state_of(subject, next(ciphertexts)[0]))
        if kind in (Kind.CIPHERTEXT, Kind.TRANSFORMED, Kind.WORDS)
        else Shape(top, subject.parameters.scale, 1)
        for kind in kinds
    ]
    return [*shapes, *called.operands]


def product_with_scaled_plaintext(subject: Subject, factor: float) -> None:
    """A plaintext at ``factor`` times the default scale: the scales are multiplied, exactly, and divided again."""
    evaluator, default = subject.evaluator, subject.parameters.scale
    assert default is not None
    a, b = subject.vector(0), subject.vector(1)
    x, scale = subject.encrypted(a), factor * default
    product = evaluator.apply("mul_plain", x, evaluator.encode(b, like=x, scale=scale))
    level, before, polynomials = state_of(subject, x)
    assert before is not None
    assert isclose(evaluator.scale(product) or 0.0, before * scale, rel_tol=ROUNDING)
    assert (evaluator.level(product), evaluator.polynomials(product)) == (level, polynomials)
    expected = examples.meaning(subject, "mul_plain", a, b)
    right(subject, product, expected, operations=4)
    rescaled = evaluator.apply("rescale", product)
    wanted = before * scale / subject.parameters.moduli[level]
    assert isclose(evaluator.scale(rescaled) or 0.0, wanted, rel_tol=ROUNDING)
    right(subject, rescaled, expected, operations=4)


def end_of_chain(subject: Subject, name: str) -> None:
    """After ``level`` switches the next raises ``Exhausted``; at the last level values are still right."""
    values = subject.vector(0)
    ciphertext = subject.encrypted(values)
    evaluator = subject.evaluator
    for left in range(evaluator.level(ciphertext), 0, -1):
        assert evaluator.level(ciphertext) == left
        ciphertext = evaluator.apply("mod_switch", ciphertext)
    assert evaluator.level(ciphertext) == 0
    right(subject, ciphertext, values, operations=4)
    exhausted(lambda: evaluator.apply(name, ciphertext))
    exhausted(lambda: evaluator.bind(name, [(ciphertext,)]).run(1))
