"""Levels, scales and polynomials follow the rules of the schemes."""

from __future__ import annotations

from math import isclose

from ciphermark_contract.interfaces import Handle

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


def growth(subject: Subject, name: str) -> None:
    """A product has the product of the scales, and three polynomials where both factors were ciphertexts."""
    item = examples.primitive(subject, name, 0)
    level, scale, polynomials = state_of(subject, item.row[0])
    result = state_of(subject, subject.evaluator.apply(name, *item.row))
    wanted_scale = None if scale is None else scale * scale
    wanted = (level, wanted_scale, polynomials + (1 if name in ("mul", "square") else 0))
    assert result == wanted, f"{name}: level, scale, polynomials are {result}, not {wanted}"


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


def constancy(subject: Subject, name: str) -> None:
    """Level, scale and polynomials stay as they are."""
    item = examples.primitive(subject, name, 0)
    before = state_of(subject, item.row[0])
    after = state_of(subject, subject.evaluator.apply(name, *item.row))
    assert after == before, f"{name}: level, scale, polynomials are {after}, not {before}"


def relinearization(subject: Subject) -> None:
    """Three polynomials become two; level and scale stay."""
    (product,) = examples.primitive(subject, "relinearize", 0).row
    level, scale, polynomials = state_of(subject, product)
    assert polynomials == 3, f"a product has {polynomials} polynomials, not 3"
    result = state_of(subject, subject.evaluator.apply("relinearize", product))
    assert result == (level, scale, 2), f"relinearize: level, scale, polynomials are {result}"


def switching(subject: Subject, name: str) -> None:
    """One level less; ``rescale`` divides the scale by exactly the prime that is dropped."""
    (operand,) = examples.primitive(subject, name, 0).row
    level, scale, polynomials = state_of(subject, operand)
    if name == "rescale":
        assert scale is not None
        scale /= subject.parameters.moduli[level]
    result = state_of(subject, subject.evaluator.apply(name, operand))
    wanted = (level - 1, scale, polynomials)
    if scale is not None and isclose(result[1] or 0.0, scale, rel_tol=ROUNDING):
        wanted = (level - 1, result[1], polynomials)
    assert result == wanted, f"{name}: level, scale, polynomials are {result}, not {wanted}"


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
