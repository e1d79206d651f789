"""Chi-square tests and odds ratios of genetic markers against a phenotype: see :mod:`ciphermark_circuits.chi_square`.

The client encrypts alleles and phenotypes, divides the decrypted results, and looks p-values up.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from ciphermark_circuits import chi_square
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_core.model import Accuracy, Parameters, ParameterSpec, Scheme
from ciphermark_workloads.micro.function import Levels, Micro, secure_ring
from ciphermark_workloads.workload import Arrays, Handles, Judgement, Truth

# Relative, of a chi² above _NOTABLE; smaller ones may err by as much as that one. The error is largest relative to
# small ones: its deviation is 4e-6 at 0.1, for 200 people, by the noise of encryption at a scale of 2^43.
_TOLERANCE, _NOTABLE = 1e-3, 0.1
_RANKED = 100
_SAME = 1e-4  # markers whose chi² differ by less, relatively, may change places
_RESULTS = 4  # ciphertexts for each block of markers
_COMMON = (0.05, 0.5)  # frequencies of the counted allele


class Options(msgspec.Struct, frozen=True):
    """The size of a study. The published one has 200 people and 16,384 markers."""

    people: Annotated[int, msgspec.Meta(ge=2, le=300, description="people, cases and controls together")] = 50
    markers: Annotated[int, msgspec.Meta(ge=1, le=1 << 16, description="markers of each person")] = 4096
    levels: Levels = 0


@dataclass(frozen=True, slots=True)
class Study:
    """``genotypes`` (people, markers), 0, 1 or 2; ``phenotypes`` (people,), 1.0 for a case."""

    genotypes: Floats
    phenotypes: Floats


@dataclass(frozen=True, slots=True)
class Associations:
    """For each marker chi², 0 where it is not defined, and the odds ratio, infinite by a zero denominator."""

    chi2: Floats
    odds: Floats

    @property
    def p(self) -> Floats:
        """The probability of a larger chi² of one degree of freedom without an association."""
        return np.array([math.erfc(math.sqrt(max(value, 0.0) / 2)) for value in self.chi2])


class _ChiSquare(Micro[Study, Associations]):
    """Numerators and denominators of all markers."""

    Options: ClassVar[type[msgspec.Struct]] = Options
    chain: ClassVar[tuple[int, ...]]
    scale_bits: ClassVar[int]

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square")

    def own_parameters(self) -> ParameterSpec:
        """Its modulus chain in the smallest ring that is 128-bit secure, and has the slots that it needs."""
        ring = secure_ring(self.chain, 2 * self.min_slots)
        return ParameterSpec("ckks", ring, self.chain, scale_bits=self.scale_bits)

    @abstractmethod
    def factors(self) -> tuple[float, float]:
        """The factors of chi²'s results and of those of odds ratios."""

    def input_factor(self) -> float:
        """The factor of alleles and phenotypes."""
        return 1.0

    def blocks(self, parameters: Parameters) -> int:
        """Ciphertexts of a person's alleles. Raises ``Unsupported`` for a ring with too few slots."""
        if parameters.slots < self.min_slots:
            raise Unsupported(
                f"{self.name} of {self.options.markers} markers takes {self.min_slots} slots, and N = "
                f"{parameters.ring_dimension} has {parameters.slots}"
            )
        blocks: int = -(-self.options.markers // parameters.slots)
        return blocks

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        count: int = self.options.people * (1 + self.blocks(parameters))
        return count

    def input(self, seed: int, data: Any) -> Study:
        """Alleles by each marker's frequency, and phenotypes by tossing a coin."""
        random, options = np.random.default_rng(seed), self.options
        frequencies = random.uniform(*_COMMON, options.markers)
        genotypes = random.binomial(2, frequencies, (options.people, options.markers))
        return Study(genotypes.astype(np.float64), random.integers(0, 2, options.people).astype(np.float64))

    def vectors(self, stage: str, given: Study, parameters: Parameters) -> list[Vector]:
        """Phenotypes in all slots, then the alleles of all people, block by block."""
        starts = [parameters.slots * number for number in range(self.blocks(parameters))]
        factor = self.input_factor()
        phenotypes = [np.full(parameters.slots, factor * value) for value in given.phenotypes]
        return phenotypes + [
            factor * row[start : start + parameters.slots] for start in starts for row in given.genotypes
        ]

    def plaintext_bytes(self, stage: str, given: Study, parameters: Parameters) -> int:
        return 8 * (given.genotypes.size + given.phenotypes.size)

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """Four ciphertexts of each block of markers."""
        people = self.options.people
        rows = [inputs[start : start + people] for start in range(0, len(inputs), people)]
        return self.evaluated(evaluator, rows[0], rows[1:])

    @abstractmethod
    def evaluated(self, evaluator: Evaluator, phenotypes: Handles, blocks: Sequence[Handles]) -> list[Handle]:
        """The circuit."""

    def output(self, outputs: Sequence[Vector], given: Study, parameters: Parameters) -> Associations:
        """Quotients where the denominator, divided by its factor, is no zero with noise: of others the smallest is
        2(d − 1)(d − 2) for chi² and 1 for odds ratios, and half of that is the limit.
        """
        top, bottom, odds_top, odds_bottom = (
            np.concatenate(outputs[number::_RESULTS])[: self.options.markers] for number in range(_RESULTS)
        )
        alleles, (factor, odds_factor) = 2 * self.options.people, self.factors()
        return Associations(
            alleles * _quotient(top, bottom, factor * (alleles - 1) * (alleles - 2), 0.0),
            _quotient(odds_top, odds_bottom, odds_factor / 2, np.inf),
        )

    def reference(self, given: Study) -> Associations:
        """By Pearson's sum over the table of alleles of cases and controls."""
        cases, controls = (2 * np.count_nonzero(given.phenotypes == value) for value in (1, 0))
        counted = np.array([given.genotypes[given.phenotypes == value].sum(axis=0) for value in (1, 0)])
        table = np.stack([counted, np.array([[cases], [controls]]) - counted])
        margins = table.sum(axis=0, keepdims=True) * table.sum(axis=1, keepdims=True)
        expected = margins / (cases + controls)
        terms = np.divide((table - expected) ** 2, expected, out=np.zeros_like(table), where=expected > 0)
        (case, control), (other_case, other_control) = table
        odds = _quotient(case * other_control, control * other_case, 0.5, np.inf)
        return Associations(np.where((margins > 0).all(axis=(0, 1)), terms.sum(axis=(0, 1)), 0.0), odds)

    def judge(self, found: Associations, truth: Truth[Study, Associations]) -> Judgement:
        """Each chi² is compared with the right one, and the ranking of the largest."""
        right = truth.reference.chi2
        errors = np.nan_to_num(np.abs(found.chi2 - right), nan=np.inf)
        largest = float(min(errors.max(), np.finfo(np.float64).max))
        wrong = int(np.count_nonzero(errors > _TOLERANCE * np.maximum(right, _NOTABLE)))
        relative = largest / max(1.0, float(right.max()))
        accuracy = Accuracy(largest, wrong, _TOLERANCE * _NOTABLE, -math.log2(relative or 2.0**-1074))
        complaint = (
            f"{wrong} of {right.size} values of chi² are incorrect, by up to {largest:.3g}" if wrong else None
        )
        return Judgement(accuracy, complaint or _misranked(found.chi2, right))


def _quotient(top: Floats, bottom: Floats, least: float, without: float) -> Floats:
    """The quotient where the denominator exceeds ``least``."""
    return np.divide(top, bottom, out=np.full_like(top, without), where=np.abs(bottom) > least)


def _misranked(found: Floats, right: Floats) -> str | None:
    """The fault of the order of the largest values, or ``None``."""
    ranked, wanted = right[np.argsort(-found)[:_RANKED]], np.sort(right)[::-1][:_RANKED]
    apart = np.flatnonzero(np.abs(ranked - wanted) > _SAME * wanted)
    return f"another marker is on place {apart[0] + 1} of the largest chi²" if len(apart) else None


class ChiSquare(_ChiSquare):
    """As many ciphertexts of a person's alleles as fill; a person's phenotype serves all of them."""

    name = "chi-square"
    title = "chi-square tests of genetic markers against a phenotype"
    # The first prime exceeds the others by the bits of the largest result, people²/25.
    chain = (56, 43, 43, 60)
    scale_bits = 43

    def factors(self) -> tuple[float, float]:
        factor = self.input_factor() ** 4
        return factor, factor

    def input_factor(self) -> float:
        return chi_square.input_factor(self.options.people)

    def evaluated(self, evaluator: Evaluator, phenotypes: Handles, blocks: Sequence[Handles]) -> list[Handle]:
        return chi_square.statistics(evaluator, phenotypes, blocks)


class PublishedChiSquare(_ChiSquare):
    """By CryptOracle's operations and in its modulus chain: one ciphertext of a person's alleles."""

    name = "chi-square-published"
    title = "chi-square tests of genetic markers against a phenotype, by the published circuit"
    is_literal = True
    # A first prime of 54 bits has no room for results at a scale of 2^108.
    chain = (56, 54, 54, 54, 60)
    scale_bits = 54

    @property
    def min_slots(self) -> int:
        """A slot for each marker."""
        markers: int = self.options.markers
        return markers

    def factors(self) -> tuple[float, float]:
        factor = chi_square.published_factor(self.options.people)
        return factor**2, factor

    def evaluated(self, evaluator: Evaluator, phenotypes: Handles, blocks: Sequence[Handles]) -> list[Handle]:
        (genotypes,) = blocks
        return chi_square.as_published(evaluator, phenotypes, genotypes)


WORKLOADS = (ChiSquare(), PublishedChiSquare())
