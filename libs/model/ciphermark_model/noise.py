"""Execution of programs on values with noise: each operation's effect on the noise polynomial of a ciphertext.

Noise is in units in which decryption of bfv and bgv fails where a coefficient exceeds 1/2, that is relative to the
modulus of the level: t·c(s)/q without its integer part in bfv, c(s)/q in bgv, where the plaintext is part of it. In
ckks it is in units of the values in slots. Rounding a coefficient of a ciphertext adds t/q (bfv, bgv) or the inverse
scale (ckks): see :meth:`Execution.unit`.

Sources: Kim, Papadimitriou and Polyakov (ePrint 2020/1118) and Costache et al. (ePrint 2022/162) for ckks; Mono et al.
(ePrint 2022/706) for bgv; Biasioli et al. (ePrint 2023/600) for bfv. They give variances for independent errors. Here
the errors themselves are drawn, so that sums of dependent ones and powers of one secret key need no formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract import noise_bound
from ciphermark_contract.bound import Vector
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_contract.operations import OPERATIONS, Ring, Shape, padded, top_level
from ciphermark_contract.operations.coefficients import coefficients_of
from ciphermark_contract.operations.words import primes_at
from ciphermark_contract.program import Constant, Node, Program, require_constants
from ciphermark_core.encryption import SECRET_KEY
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import EXACT_SCHEMES, Parameters
from ciphermark_model.embeddings import UNIFORM, Embeddings, Noise, Reals

_LARGEST_LOG_Q = 1000.0  # units relative to a larger modulus do not fit doubles
_BEYOND = 2.0**64  # noise that no later operation brings below 1/2
# OpenFHE's stated error of a bootstrapping is 44 to 110 times the deviation of a slot, at N = 2048 to 65536.
_BOUND_OVER_DEVIATION = 58.0


@dataclass(slots=True)
class Mask:
    """The part of c(s)/q that the secret key multiplies, which bfv products depend on; drawn at the first one."""

    values: Noise | None = None


@dataclass(frozen=True, slots=True)
class Noisy:
    """A ciphertext: its slots in the clear (ckks, else ``None``), its noise, and its shape.

    ``factor`` is that of the plaintext in bgv, where a library tracks one. Ciphertexts share a
    ``mask`` if they differ by a plaintext only.
    """

    values: Reals | None
    noise: Noise
    shape: Shape
    factor: int = 1
    mask: Mask = field(default_factory=Mask)


@dataclass(frozen=True, slots=True)
class Plain:
    """An encoded plaintext: slots in the clear (ckks), values at roots (bfv, bgv), and the errors of encoding."""

    values: Reals | float | None
    at_roots: Noise | float
    error: Noise | float
    scale: float | None


# From a node's ciphertexts, plaintexts and arguments to its results.
Rule: TypeAlias = Callable[["Execution", Node, Sequence[Noisy], Sequence[Plain]], list[Noisy]]


class Execution:
    """Executes programs of one parameter set on ciphertexts under the same drawn keys.

    ``room_bits`` is the minimum, over all ckks values so far, of log2 of half the modulus over the scaled value.
    Raises ``Unsupported`` for a scheme or a modulus outside the model.
    """

    def __init__(
        self, parameters: Parameters, sources: NoiseSources, draws: int, numbers: np.random.Generator
    ) -> None:
        self.parameters = parameters
        self.sources = sources
        self.scheme = parameters.spec.scheme
        self.is_exact = self.scheme in EXACT_SCHEMES
        if self.scheme not in sources.schemes:
            raise Unsupported(f"the noise of this library's {self.scheme} is not modeled")
        if self.is_exact and parameters.log_q > _LARGEST_LOG_Q:
            raise Unsupported(f"noise relative to a modulus of {parameters.log_q:.0f} bits is not modeled")
        self.modulus = max(parameters.spec.plain_residues, default=parameters.plain_modulus or 1)
        self.top = top_level(parameters)
        self.at = Embeddings(parameters, draws, numbers, sources.secret_zeros)
        self.room_bits = math.inf
        self._ring = Ring.of(parameters)
        self._secret_powers = [np.ones_like(self.at.secret), self.at.secret]
        self._moduli: dict[int, int] = {}
        self._polynomials: dict[str, Noise] = {}
        self._key_errors: dict[tuple[Any, int], Noise] = {}

    def run(
        self,
        program: Program,
        constants: Mapping[str, Vector],
        inputs: Sequence[Vector | float | Noisy],
    ) -> list[Noisy]:
        """The outputs for inputs that are fresh encryptions of vectors, or of random vectors up to a magnitude, or
        results of another run. Missing inputs of bfv and bgv are fresh encryptions of any values.

        Raises ``Unsupported`` for an operation without a rule.
        """
        vectors = require_constants(program, constants)
        given = [*inputs, *[1.0] * (len(program.inputs) - len(inputs))]
        values: dict[int, Noisy] = {
            number: item if isinstance(item, Noisy) else self.encrypted(item, shape)
            for number, (item, shape) in enumerate(zip(given, program.inputs, strict=True))
        }
        outputs = {*program.outputs}
        for node, first, dying in zip(program.nodes, program.first_results, program.dying, strict=True):
            operands = [values[operand] for operand in node.operands]
            plains = [self.encoded(program.constants[index], vectors[index]) for index in node.constants]
            results = self._applied(node, operands, plains, is_managed=program.is_managed)
            values.update(zip(range(first, first + len(results)), results, strict=True))
            for value in dying:
                if value not in outputs:
                    del values[value]
        return [values[output] for output in program.outputs]

    def encrypted(self, given: Vector | float, shape: Shape) -> Noisy:
        """A fresh encryption."""
        values: Reals | None = None
        if not self.is_exact:
            values = (
                padded(np.asarray(given, dtype=np.float64), self._ring.slots)
                if isinstance(given, np.ndarray)
                else self.at.uniform(given)
            )
        noise = (self._fresh() + self.at.normal(UNIFORM)) * self.unit(shape)
        return self._noted(Noisy(values, noise, shape))

    def unit(self, shape: Shape | Constant) -> float:
        """The noise of a coefficient that is 1 (bgv: t) too large."""
        if shape.scale is not None:
            return 1 / shape.scale
        return self.modulus / self.modulus_at(shape.level)

    def modulus_at(self, level: int) -> int:
        """The ciphertext modulus q of a level."""
        if level not in self._moduli:
            self._moduli[level] = math.prod(primes_at(self.parameters, level))
        return self._moduli[level]

    def rounded(self, polynomials: int, mean: float = 0.0, deviation: float = UNIFORM) -> Noise:
        """The error of rounding all polynomials of a ciphertext."""
        total = self.at.normal(deviation)
        for power in range(1, polynomials):
            total += self.at.normal(deviation) * self.secret(power)
        if mean:
            total += mean * self.at.ones * sum(self.secret(power) for power in range(polynomials))
        return total

    def secret(self, power: int) -> Noise:
        """A power of the secret keys at the roots."""
        while len(self._secret_powers) <= power:
            self._secret_powers.append(self._secret_powers[-1] * self.at.secret)
        return self._secret_powers[power]

    def switched_key(self, key: Any, level: int) -> Noise:
        """The error of key switching: Σ d_i·e_i/P over the digits, and that of division by P.

        Digits are in [0, D), or [0, α·D) where D is a product of α primes and approximate conversion adds multiples of
        it. Their mean meets the same errors e_i in every use of a key; the deviations from it are drawn each time.
        """
        switching = self.parameters.key_switching
        if switching is None:
            raise Unsupported("the program switches keys, which these parameters do not allow")
        special = math.prod(self.parameters.special_moduli)
        primes = primes_at(self.parameters, level)
        size = math.ceil(len(self.parameters.moduli) / switching.decomposition_digits)
        digits = [primes[start : start + size] for start in range(0, len(primes), size)]
        sizes = [len(digit) * (math.prod(digit) / special) for digit in digits]
        if (key, level) not in self._key_errors:
            mean = 0.0 if self.sources.balances_digits else math.hypot(*sizes) / 2 * noise_bound.SIGMA
            self._key_errors[key, level] = self.at.ones * self.at.normal(mean)
        deviation = math.hypot(*sizes) * UNIFORM * noise_bound.SIGMA * math.sqrt(self.at.dimension)
        error = self._key_errors[key, level] + self.at.normal(deviation)
        if not self.parameters.special_moduli:
            return error
        count = len(self.parameters.special_moduli)
        mean = count / 2 if self.scheme in self.sources.truncates_keys else 0.0
        return error + self.rounded(2, mean, UNIFORM * math.sqrt(count))

    def lowered(self, value: Noisy) -> Noisy:
        """The ciphertext at the next modulus."""
        shape = replace(value.shape, level=value.shape.level - 1)
        if not self.is_exact:
            return self._noted(replace(value, shape=shape))
        mean = 0.5 if self.scheme in self.sources.truncates_switches else 0.0
        noise = value.noise + self.rounded(shape.polynomials, mean) * self.unit(shape)
        prime = primes_at(self.parameters, value.shape.level)[-1]
        factor = value.factor * pow(prime, -1, self.modulus) % self.modulus if self._has_factors else 1
        return Noisy(None, noise, shape, factor, value.mask)

    def rescaled(self, value: Noisy) -> Noisy:
        """The ckks ciphertext divided by the last prime of its modulus."""
        scale = (value.shape.scale or 1.0) / primes_at(self.parameters, value.shape.level)[-1]
        shape = replace(value.shape, level=value.shape.level - 1, scale=scale)
        result = replace(value, noise=value.noise + self.rounded(shape.polynomials) / scale, shape=shape)
        return self._noted(result)

    def relinearized(self, value: Noisy) -> Noisy:
        """The ciphertext with two polynomials."""
        noise = value.noise + self.switched_key("relinearization", value.shape.level) * self.unit(value.shape)
        return replace(value, noise=noise, shape=replace(value.shape, polynomials=2), mask=Mask())

    def multiplied(self, a: Noisy, b: Noisy) -> Noisy:
        """The product of two ciphertexts.

        In bfv, t·c(s)/q is an integer polynomial plus noise, whose coefficients are t times uniform ones in both
        polynomials of the ciphertext; that polynomial multiplies the other factor's noise.
        """
        shape = Shape(
            a.shape.level,
            None if a.shape.scale is None else a.shape.scale * (b.shape.scale or 1.0),
            a.shape.polynomials + b.shape.polynomials - 1,
        )
        if a.values is not None and b.values is not None:
            noise = a.values * b.noise + b.values * a.noise + a.noise * b.noise
            return self._noted(Noisy(a.values * b.values, noise, shape))
        factor = a.factor * b.factor % self.modulus
        if self.scheme == "bgv":
            noise = a.noise * b.noise * float(self.modulus_at(shape.level))
            return Noisy(None, _limited(noise), shape, factor)
        first = self._lifted(a)
        second = first if a is b else self._lifted(b)
        noise = _limited(self.modulus * (first * b.noise + second * a.noise) + a.noise * b.noise)
        if self._has_factors:
            factor = factor * pow(-self.modulus_at(shape.level), -1, self.modulus) % self.modulus
        # Division by q rounds each polynomial of the product.
        return Noisy(None, noise + self.rounded(shape.polynomials) * self.unit(shape), shape, factor)

    def encoded(self, constant: Constant, vector: Vector) -> Plain:
        """A plaintext. That of a vector of equal values is a constant polynomial, of which one number is rounded."""
        if len(vector) == self._ring.slots and (vector == vector[0]).all():
            return self.number(vector[0].item(), constant.scale)
        if constant.scale is None:
            return Plain(None, self._polynomial(constant.digest, vector), self.at.normal(UNIFORM), None)
        error = self.at.normal(UNIFORM / constant.scale)
        return Plain(
            padded(np.asarray(vector, dtype=np.float64), self._ring.slots), 0.0, error, constant.scale
        )

    def number(self, number: float, scale: float | None) -> Plain:
        """A number for all slots."""
        if scale is None:
            residue = round(number) % self.modulus
            centered = residue - self.modulus if residue > self.modulus // 2 else residue
            return Plain(None, float(centered), 0.0, None)
        return Plain(number, 0.0, round(number * scale) / scale - number, scale)

    def multiplied_plain(self, a: Noisy, plain: Plain) -> Noisy:
        """The product of a ciphertext and a plaintext."""
        if a.values is None or plain.values is None:
            return replace(a, noise=a.noise * plain.at_roots, mask=Mask())
        noise = plain.values * a.noise
        noise += (a.values + a.noise) * plain.error
        shape = replace(a.shape, scale=(a.shape.scale or 1.0) * (plain.scale or 1.0))
        return self._noted(Noisy(a.values * plain.values, noise, shape))

    def added_plain(self, a: Noisy, plain: Plain, sign: int) -> Noisy:
        """The sum of a ciphertext and a plaintext with a sign."""
        if a.values is None or plain.values is None:
            error = plain.error
            if self.sources.scales_plaintexts and a.factor != 1:
                error = error + plain.at_roots * (_centered(a.factor, self.modulus) / self.modulus)
            return replace(a, noise=a.noise + error * self.unit(a.shape))
        return self._noted(
            replace(a, values=a.values + sign * plain.values, noise=a.noise + sign * plain.error)
        )

    def total(self, several: Sequence[Noisy], signs: Sequence[int]) -> Noisy:
        """The sum of ciphertexts with signs."""
        first = several[0]
        polynomials = max(item.shape.polynomials for item in several)
        shape = replace(first.shape, polynomials=polynomials)
        values = None
        if first.values is not None:
            values = signs[0] * first.values
            for sign, item in zip(signs[1:], several[1:], strict=True):
                if item.values is not None:
                    values += sign * item.values
        noise, factor = signs[0] * first.noise, first.factor
        for sign, item in zip(signs[1:], several[1:], strict=True):
            mine, other, factor = self._balanced(factor, item.factor)
            if mine != 1:
                noise *= mine
            noise += item.noise if sign * other == 1 else sign * other * item.noise
        return self._noted(Noisy(values, noise, shape, factor))

    def turned(self, a: Noisy, element: int, values: Reals | None) -> Noisy:
        """An automorphism and its key switching."""
        noise = self.at.turned(a.noise, element)
        noise = noise + self.switched_key(element % (2 * self.at.dimension), a.shape.level) * self.unit(
            a.shape
        )
        return replace(a, values=values, noise=noise, mask=Mask())

    def decryption_noise(self, value: Noisy) -> Noise:
        """The noise with what decryption adds: as much in each coefficient, by the mean over all slots."""
        share = self.sources.decryption_noise
        if self.is_exact or not share:
            return value.noise
        estimated = np.sqrt(np.mean(value.noise.imag**2, axis=1, keepdims=True))
        least = self.sources.min_decryption_noise * self.at.dimension / (value.shape.scale or 1.0)
        added = self.at.normal(math.sqrt(2 / self.at.dimension))
        return np.asarray(value.noise + np.maximum(share * estimated, least) * added)

    def _lifted(self, a: Noisy) -> Noise:
        """c(s)/q at the roots, with coefficients of polynomials in [−1/2, 1/2]."""
        if a.mask.values is None:
            a.mask.values = self.rounded(a.shape.polynomials - 1) * self.at.secret
        return a.mask.values + self.at.normal(UNIFORM)

    def _polynomial(self, digest: str, vector: Vector) -> Noise:
        """The plaintext polynomial of a vector at the roots.

        Coefficients are as good as uniform modulo t, but most are 0 in two cases. Slots may repeat within rows, or both
        rows be equal: the polynomial lies in a subring. Or it is a monomial.
        """
        if not self._repeats(vector) and not self._is_monomial(vector):
            return self.at.normal(self.modulus * UNIFORM)
        if digest not in self._polynomials:
            ring = replace(self._ring, modulus=self.modulus)
            coefficients = coefficients_of(ring, vector % self.modulus)
            centered = coefficients - self.modulus * (coefficients > self.modulus // 2)
            self._polynomials[digest] = self.at.at_roots(centered[np.newaxis].astype(np.float64))
        return self._polynomials[digest]

    def _repeats(self, vector: Vector) -> bool:
        if len(vector) < self._ring.slots:
            return False
        rows = vector.reshape(2, 2, -1)
        return np.array_equal(rows[:, 0], rows[:, 1]) or np.array_equal(rows[0], rows[1])

    def _is_monomial(self, vector: Vector) -> bool:
        """Whether slots are those of X^k: slot e has the k-th power of ζ^e, and the next one the g-th power of that."""
        first = [int(value) for value in vector[:4]]
        powers = [pow(value, self._ring.generator, self.modulus) for value in first]
        return len(vector) == self._ring.slots and powers[:-1] == first[1:]

    @property
    def _has_factors(self) -> bool:
        return self.scheme in self.sources.tracks_factors

    def _fresh(self) -> Noise:
        """The error of a fresh encryption without that of encoding: e₀ + e₁·s + e·u, or e with the secret key."""
        sigma = noise_bound.SIGMA
        if self.parameters.encryption == SECRET_KEY:
            return self.at.normal(sigma)
        if self.sources.divides_fresh and self.parameters.special_moduli:
            mean = 0.5 if self.scheme in self.sources.truncates_switches else 0.0
            return self.rounded(2, mean)
        errors = self.at.normal(sigma) + self.at.normal(sigma) * self.at.secret
        return errors + self.at.normal(sigma) * self.at.ternary()

    def _applied(
        self, node: Node, operands: Sequence[Noisy], plains: Sequence[Plain], *, is_managed: bool
    ) -> list[Noisy]:
        rule = _RULES.get(node.operation)
        if rule is None:
            raise Unsupported(f"the noise of {node.operation} is not modeled")
        if not is_managed:
            return rule(self, node, operands, plains)
        level = min(operand.shape.level for operand in operands)
        results = rule(self, node, [self._at_level(operand, level) for operand in operands], plains)
        return [*map(self._completed, results)] if OPERATIONS[node.operation].is_multiplication else results

    def _at_level(self, value: Noisy, level: int) -> Noisy:
        while value.shape.level > level:
            value = self.lowered(value)
        return value

    def _completed(self, product: Noisy) -> Noisy:
        """A product as a managed operation returns it: relinearized, and rescaled (ckks) or switched (bgv)."""
        if product.shape.polynomials > 2:
            product = self.relinearized(product)
        if self.scheme == "bgv" and product.shape.level:
            return self.lowered(product)
        return self._reset(self.rescaled(product)) if product.values is not None else product

    def _reset(self, value: Noisy) -> Noisy:
        """The ciphertext with the initial scale in place of its own, by which its values change."""
        initial, scale = self.parameters.scale, value.shape.scale
        if not self.sources.resets_scale or value.values is None or not initial or not scale:
            return value
        share = scale / initial
        noise = value.noise * share + value.values * (share - 1)
        return replace(value, noise=noise, shape=replace(value.shape, scale=initial))

    def _noted(self, value: Noisy) -> Noisy:
        """The same, after its room was compared with the minimum."""
        if value.values is not None and value.shape.scale is not None:
            largest = float(np.abs(value.values).max()) * value.shape.scale
            room = math.log2(self.modulus_at(value.shape.level)) - 1 - math.log2(max(largest, 1.0))
            self.room_bits = min(self.room_bits, room)
        return value

    def _balanced(self, first: int, second: int) -> tuple[int, int, int]:
        """Numbers that multiply ciphertexts of two factors so that their sum has one, and that factor.

        Numbers a and b with a·first = b·second modulo t, of which the sum of magnitudes is the minimum among those of
        the Euclidean algorithm, as in SEAL.
        """
        if first == second:
            return 1, 1, first
        t = self.modulus
        ratio = second * pow(first, -1, t) % t
        best = (_centered(ratio, t), 1)
        previous, current = (t, 0), (ratio, 1)
        while current[0]:
            quotient = previous[0] // current[0]
            previous, current = (
                current,
                (previous[0] - quotient * current[0], previous[1] - quotient * current[1]),
            )
            if current[0] and math.gcd(current[0], t) == 1:
                pair = (_centered(current[0], t), _centered(current[1], t))
                best = min(best, pair, key=lambda item: abs(item[0]) + abs(item[1]))
        return best[0], best[1], best[0] * first % t


def _limited(noise: Noise) -> Noise:
    """The noise, scaled down where it is beyond repair: products of it would exceed doubles."""
    largest = float(np.abs(noise).max())
    return noise if largest < _BEYOND else noise / largest * _BEYOND


def _centered(number: int, modulus: int) -> int:
    residue = number % modulus
    return residue - modulus if residue > modulus // 2 else residue


def _meaning(execution: Execution, node: Node, a: Noisy, argument: int) -> Reals | None:
    """Slots of a result in the clear."""
    if a.values is None:
        return None
    values: Reals = OPERATIONS[node.operation].meaning(Ring.of(execution.parameters), a.values, argument)
    return values


def _sum(*signs: int) -> Rule:
    return lambda execution, node, operands, plains: [
        execution.total(operands, signs or (1,) * len(operands))
    ]


def _sum_with_plain(sign: int) -> Rule:
    return lambda execution, node, operands, plains: [execution.added_plain(operands[0], plains[0], sign)]


def _sum_with_number(
    execution: Execution, node: Node, operands: Sequence[Noisy], _: Sequence[Plain]
) -> list[Noisy]:
    number = execution.number(node.arguments[0], operands[0].shape.scale)
    return [execution.added_plain(operands[0], number, 1)]


def _product(execution: Execution, _: Node, operands: Sequence[Noisy], __: Sequence[Plain]) -> list[Noisy]:
    return [execution.multiplied(operands[0], operands[-1])]


def _full_product(
    execution: Execution, node: Node, operands: Sequence[Noisy], plains: Sequence[Plain]
) -> list[Noisy]:
    product = execution.relinearized(execution.multiplied(operands[0], operands[-1]))
    steps: Mapping[str, Callable[[Noisy], Noisy]] = {"ckks": execution.rescaled, "bgv": execution.lowered}
    step = steps.get(execution.scheme)
    return [step(product) if step else product]


def _products_with_plains(
    execution: Execution, _: Node, operands: Sequence[Noisy], plains: Sequence[Plain]
) -> list[Noisy]:
    terms = [*map(execution.multiplied_plain, operands, plains)]
    return [execution.total(terms, (1,) * len(terms))]


def _products_with_numbers(
    execution: Execution, node: Node, operands: Sequence[Noisy], _: Sequence[Plain]
) -> list[Noisy]:
    numbers = [execution.number(number, execution.parameters.scale) for number in node.arguments]
    return _products_with_plains(execution, node, operands, numbers)


def _product_with_word(
    execution: Execution, _: Node, operands: Sequence[Noisy], __: Sequence[Plain]
) -> list[Noisy]:
    """A word's coefficients are as uniform as those of a ciphertext."""
    word = Plain(None, execution.at.normal(execution.modulus * UNIFORM), 0.0, None)
    return [execution.multiplied_plain(operands[0], word)]


def _same(_: Execution, __: Node, operands: Sequence[Noisy], ___: Sequence[Plain]) -> list[Noisy]:
    return [operands[0]]


def _each(step: Callable[[Execution, Noisy], Noisy]) -> Rule:
    return lambda execution, node, operands, plains: [step(execution, operands[0])]


def _rotations(
    execution: Execution, node: Node, operands: Sequence[Noisy], _: Sequence[Plain]
) -> list[Noisy]:
    a, ring = operands[0], Ring.of(execution.parameters)
    rotated = OPERATIONS["rotate"].meaning
    return [
        execution.turned(
            a,
            pow(ring.generator, int(steps) % (ring.dimension // 2), 2 * ring.dimension),
            None if a.values is None else rotated(ring, a.values, int(steps)),
        )
        if steps
        else a
        for steps in node.arguments
    ]


def _automorphism(
    execution: Execution, node: Node, operands: Sequence[Noisy], _: Sequence[Plain]
) -> list[Noisy]:
    element = int(node.arguments[0]) if node.arguments else -1
    return [execution.turned(operands[0], element, _meaning(execution, node, operands[0], element))]


def _shift(execution: Execution, node: Node, operands: Sequence[Noisy], _: Sequence[Plain]) -> list[Noisy]:
    noise = operands[0].noise * execution.at.monomial(int(node.arguments[0]))
    return [replace(operands[0], noise=noise, mask=Mask())]


def _second_key(execution: Execution, a: Noisy) -> Noisy:
    noise = execution.switched_key("second", a.shape.level) * execution.unit(a.shape)
    return replace(a, noise=a.noise + noise, mask=Mask())


def _bootstrapped(execution: Execution, a: Noisy) -> Noisy:
    bootstrapping = execution.parameters.require_bootstrapping()
    deviation = bootstrapping.error / _BOUND_OVER_DEVIATION * math.sqrt(2 / execution.at.dimension)
    shape = replace(a.shape, level=execution.top - bootstrapping.depth)
    return replace(a, noise=a.noise + execution.at.normal(deviation), shape=shape)


_RULES: Mapping[str, Rule] = {
    "negate": _sum(-1),
    "add": _sum(1, 1),
    "sub": _sum(1, -1),
    "add_many": _sum(),
    "add_plain": _sum_with_plain(1),
    "add_plain_ntt": _sum_with_plain(1),
    "sub_plain": _sum_with_plain(-1),
    "add_scalar": _sum_with_number,
    "mul": _product,
    "square": _product,
    "mul_full": _full_product,
    "mul_plain": _products_with_plains,
    "mul_plain_ntt": _products_with_plains,
    "multiply_accumulate": _products_with_plains,
    "mul_scalar": _products_with_numbers,
    "weighted_sum": _products_with_numbers,
    "mul_word": _product_with_word,
    "mul_monomial": _shift,
    "relinearize": _each(Execution.relinearized),
    "rescale": _each(Execution.rescaled),
    "mod_switch": _each(Execution.lowered),
    "rotate": _rotations,
    "rotate_hoisted": _rotations,
    "rotate_columns": _automorphism,
    "conjugate": _automorphism,
    "substitute": _automorphism,
    "transform_ciphertext": _same,
    "transform_back": _same,
    "key_switch": _each(_second_key),
    "bootstrap": _each(_bootstrapped),
}
