"""Parameters of a computation: the smallest secure ring with the levels, and the precision or range, that it needs.

Levels, keys and counts come from the traced circuit, so they are those of the program. Errors of ckks are those that
:mod:`ciphermark_model.precision` predicts for it, with random inputs within their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from ciphermark_circuits.arrangement import Arranged
from ciphermark_circuits.expressions import Expression, ordered
from ciphermark_circuits.lowering import Packing, diagonals_of, lower, usual_baby_steps, width_of
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_contract.tracing import Traced, fresh_inputs, trace
from ciphermark_core import chains, primes
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import EXACT_SCHEMES, Parameters, ParameterSpec, Scheme
from ciphermark_core.security import Table, limit
from ciphermark_model import precision
from ciphermark_workloads.workload import Decision

RINGS = tuple(1 << bits for bits in range(11, 18))
_LARGEST_OF_2018 = 32768
_USUAL_SCALE_BITS = 40
_LEAST_SCALE_BITS = 25
# What libraries that choose their primes do: data primes of at most 56 bits, a special prime of 60, up to two bits more
# in all; decryption noise as large as the error; and primes of bgv that are 1 modulo 2N·t, a few bits above that.
_ROOMY_DATA_BITS, _ROOMY_SPECIAL_BITS, _ROOMY_SLACK_BITS, _ROOMY_NOISE_BITS = 56, 60, 2, 2
_ROOMY_FACTOR_BITS = 7
_LEAST_DRIFT_BITS = 3  # scales differ by an eighth at most
_MORE_SCALE_BITS = 5  # by which an alternative scale is larger
_T_BITS = 58
_BALANCE = 1.5  # times √t: the factor that SEAL multiplies by


@dataclass(frozen=True, slots=True)
class Graph:
    """An arranged function, the length of each encrypted input, whether values change places and are whole."""

    arrangement: Arranged
    lengths: Mapping[str, int]
    is_moving: bool
    is_whole: bool

    def traced(self, parameters: Parameters) -> Traced:
        """The program on these parameters, with every operation of the contract."""
        width, parts = width_of(parameters, self.is_moving), self._parts(parameters)

        def circuit(evaluator: Evaluator, handles: Sequence[Handle]) -> list[Handle]:
            rest = iter(handles)
            inputs = {name: [next(rest) for _ in range(number)] for name, number in parts.items()}
            return lower(evaluator, self.arrangement, inputs, width)

        return trace(circuit, parameters, fresh_inputs(parameters, sum(parts.values())))

    def samples(self, parameters: Parameters) -> list[Vector]:
        """Random values within the bounds of each input, for each of its ciphertexts: the same every time."""
        random = np.random.default_rng(0)
        nodes = ordered(self.arrangement.roots)
        bounds = {
            node.argument: (node.low.min(), node.high.max()) for node in nodes if node.operation == "input"
        }
        return [
            random.uniform(*bounds.get(name, (-1.0, 1.0)), parameters.slots)
            for name, number in self._parts(parameters).items()
            for _ in range(number)
        ]

    def _parts(self, parameters: Parameters) -> dict[str, int]:
        """The number of ciphertexts of each input."""
        width = width_of(parameters, self.is_moving)
        return {name: Packing.of(length, width).parts for name, length in self.lengths.items()}


@dataclass(frozen=True, slots=True)
class Selection:
    """The parameter sets of a computation. ``tolerance`` is the largest error of a correct real value."""

    name: str
    graph: Graph
    tolerance: float
    _levels: dict[int, int] = field(default_factory=dict)
    _scales: dict[int, int] = field(default_factory=dict)
    _specs: dict[tuple[Scheme, bool], ParameterSpec] = field(default_factory=dict)

    def recommended(self, scheme: Scheme, is_roomy: bool = False) -> ParameterSpec:
        """The parameters in the smallest secure ring; with ``is_roomy``, for libraries that choose their primes.

        Raises ``UserError`` where no ring has the levels, or the precision or range; ``Unsupported`` where one has them
        for another scheme, or for libraries that take the requested primes.
        """
        key = (scheme, is_roomy)
        if key not in self._specs:
            spec = next(self._candidates(scheme, is_roomy), None)
            if spec is None:
                others = {*EXACT_SCHEMES} - {scheme} if scheme in EXACT_SCHEMES else ()
                is_possible = is_roomy or any(next(self._candidates(other, False), None) for other in others)
                raise Unsupported(self._refusal(scheme)) if is_possible else UserError(self._refusal(scheme))
            self._specs[key] = spec
        return self._specs[key]

    def alternatives(self, scheme: Scheme) -> list[ParameterSpec]:
        """The recommended parameters, then a larger and the smallest scale in that ring, then the next larger ring."""
        first, rings = self.recommended(scheme), self._candidates(scheme, is_roomy=False)
        second = next((spec for spec in rings if spec.ring_dimension > first.ring_dimension), None)
        others = []
        if scheme == "ckks":
            ring, usual = first.ring_dimension, first.scale_bits or 0
            needed = self.needed_scale_bits(ring)
            others = [self._real(ring, bits) for bits in (usual + _MORE_SCALE_BITS, needed) if bits != usual]
        specs = [first, *others, second]
        return list(dict.fromkeys(spec for spec in specs if spec is not None))

    def baby_steps(self, spec: ParameterSpec) -> list[int]:
        """Other numbers of baby steps than the usual one: fewer rotation keys, or more rotations of one vector."""
        diagonals = diagonals_of(self.graph.arrangement, width_of(_resolved(spec), self.graph.is_moving))
        usual = usual_baby_steps(diagonals) if diagonals else 0
        return [steps for steps in (usual // 2, 2 * usual, 4 * usual) if 0 < steps <= diagonals]

    def _candidates(self, scheme: Scheme, is_roomy: bool) -> Iterator[ParameterSpec]:
        for ring in RINGS:
            spec = (
                self._recommended_real(ring, is_roomy)
                if scheme == "ckks"
                else self._exact(scheme, ring, is_roomy)
            )
            if spec is not None:
                yield spec

    def levels(self, ring: int) -> int:
        """The levels of the circuit in a ring: those of masks depend on how many ciphertexts a vector takes."""
        if ring not in self._levels:
            scheme: Scheme = "bgv" if self.graph.is_whole else "ckks"
            modulus = primes.batching_modulus(20, ring) if self.graph.is_whole else None
            scale_bits = None if self.graph.is_whole else 50
            spec = ParameterSpec(scheme, ring, None, modulus, scale_bits, security=0)
            moduli = [1 << 50] * self._most_primes()  # only their sizes matter here
            self._levels[ring] = self.graph.traced(requests.resolved(spec, moduli, [1 << 50])).program.depth
        return self._levels[ring]

    def _most_primes(self) -> int:
        """As many as the products take, and a mask of each movement."""
        nodes = ordered(self.graph.arrangement.roots)
        masks = sum(node.operation in ("turned", "sum") for node in nodes)
        return self.graph.arrangement.depth + masks + 2

    # --- Real numbers ------------------------------------------------------------------------------------------------

    def needed_scale_bits(self, ring: int) -> int:
        """The smallest scale at which the predicted error is safely within the tolerance.

        Scales of products drift: each level doubles the difference of its prime from the scale. Primes of b bits that
        are 1 modulo 2N are N·b·ln 2 apart in the mean.
        """
        if ring not in self._scales:
            self._scales[ring] = self._needed_scale_bits(ring)
        return self._scales[ring]

    def _needed_scale_bits(self, ring: int) -> int:
        at = _resolved(ParameterSpec("ckks", ring, (60, *[40] * self.levels(ring), 60), scale_bits=40))
        traced = self.graph.traced(at)
        predicted = precision.precision(traced.program, traced.constants, self.graph.samples(at))
        needed = math.ceil(40 + math.log2(precision.safe_error(predicted) / self.tolerance))
        levels = max(1, self.levels(ring))
        drift = levels + math.log2(levels * ring * 28) + _LEAST_DRIFT_BITS
        return max(needed, math.ceil(drift), _LEAST_SCALE_BITS)

    def _recommended_real(self, ring: int, is_roomy: bool) -> ParameterSpec | None:
        """The scale is as large as the tolerance needs, or as usual where the ring has room for it."""
        least = (self.graph.arrangement.depth + 2) * _LEAST_SCALE_BITS
        if least > _log_qp(ring) or self._is_too_long(ring):
            return None
        needed = self.needed_scale_bits(ring) + (_ROOMY_NOISE_BITS if is_roomy else 0)
        sizes = range(max(needed, _USUAL_SCALE_BITS), needed - 1, -1)
        specs = (self._real(ring, bits, is_roomy) for bits in sizes)
        return next((spec for spec in specs if spec is not None), None)

    def _is_too_long(self, ring: int) -> bool:
        """Whether vectors take several ciphertexts in this ring, and one in a ring that is as fast per value."""
        return max(self.graph.lengths.values()) > ring // 2 and self.graph.is_moving and ring < RINGS[4]

    def _real(self, ring: int, scale_bits: int, is_roomy: bool = False) -> ParameterSpec | None:
        """Parameters with a scale; ``None`` where no secure chain of primes has it."""
        levels = self.levels(ring)
        chain = chains.ckks_chain(scale_bits, levels, self._largest(levels, scale_bits))
        slack = 0
        if is_roomy:
            first, slack = min(chain[0], _ROOMY_DATA_BITS), _ROOMY_SLACK_BITS
            chain = (first, *chain[1:-1], _ROOMY_SPECIAL_BITS)
        room = chains.headroom_bits(self._largest(levels, scale_bits))
        if chain[0] < scale_bits + room or sum(chain) + slack > _log_qp(ring) or not _exist(chain, ring):
            return None
        return ParameterSpec("ckks", ring, chain, scale_bits=scale_bits, security_table=_table(ring))

    def _largest(self, levels: int, scale_bits: int) -> float:
        """The largest value relative to the room that its level has above the last one."""
        depths = self.graph.arrangement.depths
        sizes = [
            math.log2(max(node.largest, 2.0**-60)) - (levels - depths[id(node)]) * scale_bits
            for node in ordered(self.graph.arrangement.roots)
            if not node.is_constant
        ]
        return math.pow(2.0, min(max(sizes), 500.0))

    # --- Integers ----------------------------------------------------------------------------------------------------

    def _exact(self, scheme: Scheme, ring: int, is_roomy: bool) -> ParameterSpec | None:
        """The smallest plaintext modulus for the results, and Ciphermark's chain for the levels, with room for sums."""
        modulus = self._plain_modulus(ring)
        if modulus is None or self._is_too_long(ring):
            return None
        balance = _BALANCE * sqrt(modulus) if scheme == "bgv" else 1.0
        depth, more = max(1, self.levels(ring)), _growth_bits(self.graph.arrangement, balance)
        wished = ParameterSpec(scheme, ring, plain_modulus=modulus, depth=depth, security_table=_table(ring))
        try:
            chain = chains.chain_for_depth(wished)
        except Unsupported:
            return None
        share = math.ceil(more / (len(chain) - 1)) if scheme == "bfv" else more
        chain = tuple(bits + share for bits in chain)
        if is_roomy:
            least = (2 * ring * modulus).bit_length() + _ROOMY_FACTOR_BITS if scheme == "bgv" else 0
            chain = (*(max(bits, least) for bits in chain[:-1]), _ROOMY_SPECIAL_BITS)
        if max(chain) > primes.LARGEST_PRIME_BITS or sum(chain) > _log_qp(ring) or not _exist(chain, ring):
            return None
        return replace(wished, modulus_bits=chain, depth=None)

    def _plain_modulus(self, ring: int) -> int | None:
        """The smallest prime that is 1 modulo 2N and holds all results between −t/2 and t/2."""
        largest = max(root.largest for root in self.graph.arrangement.roots)
        if not largest < 2.0 ** (_T_BITS - 1):
            return None
        step = 2 * ring
        candidate = (2 * int(largest) // step + 1) * step + 1
        while not primes.is_prime(candidate):
            candidate += step
        return candidate if candidate.bit_length() <= _T_BITS else None

    # --- Words -------------------------------------------------------------------------------------------------------

    def decisions(self, scheme: Scheme) -> list[Decision]:
        """Every choice, with its reason."""
        spec = self.recommended(scheme)
        ring, chain = spec.ring_dimension, spec.modulus_bits or ()
        levels, arrangement = self.levels(ring), self.graph.arrangement
        largest = max(root.largest for root in arrangement.roots)
        program = self.graph.traced(_resolved(spec)).program
        keys = [f"{len(program.keys.steps)} rotations"] if program.keys.steps else []
        keys += ["relinearization"] if program.keys.relinearization else []
        at = ", ".join(f"{line} takes {count}" for line, count in arrangement.lines().items())
        decided = [
            Decision("scheme", scheme.upper(), "integers, exact" if self.graph.is_whole else "real numbers"),
            Decision("levels", str(levels), at or "no multiplication"),
            Decision("N", f"{ring:,}", f"smallest 128-bit secure ring for {sum(chain)} bits"),
            Decision(
                "modulus chain",
                ", ".join(map(str, chain)),
                f"bits; a prime per level, results up to {largest:.3g}",
            ),
        ]
        if spec.scale_bits:
            needed = self.needed_scale_bits(ring)
            decided.append(
                Decision("scale", f"2^{spec.scale_bits}", f"tolerance {self.tolerance:g} needs 2^{needed}")
            )
        else:
            decided.append(Decision("t", f"{spec.plain_modulus:,}", f"holds results up to {largest:,.0f}"))
        return [
            *decided,
            Decision("keys", ", ".join(keys) or "none", "from the traced program"),
            Decision("packing", *self._packing(spec)),
        ]

    def _packing(self, spec: ParameterSpec) -> tuple[str, str]:
        """The number of uploaded ciphertexts, and how vectors lie in their slots."""
        width = width_of(_resolved(spec), self.graph.is_moving)
        packings = {name: Packing.of(length, width) for name, length in self.graph.lengths.items()}
        parts = sum(item.parts for item in packings.values())
        places: dict[str, list[str]] = {}
        for name, item in packings.items():
            each = (
                f"repeated every {item.period:,} of" if item.period < width else f"{item.length:,} values in"
            )
            places.setdefault(f"{each} {spec.slots:,} slots", []).append(name)
        reasons = "; ".join(f"{', '.join(names)}: {place}" for place, names in places.items())
        return f"{parts} ciphertext{'s' if parts > 1 else ''}", reasons

    def _refusal(self, scheme: Scheme) -> str:
        arrangement = self.graph.arrangement
        deepest = max(arrangement.lines().items(), key=lambda item: item[1], default=("", 0))
        largest = max(arrangement.roots, key=lambda root: root.largest)
        where = deepest[0] or largest.place
        if scheme == "ckks":
            needs = f"results up to {largest.largest:.3g} within {self.tolerance:g}"
        else:
            needs = f"exact results up to {largest.largest:.3g}"
        remedy = ", or allow a larger tolerance" if scheme == "ckks" else ""
        return (
            f"{where}: no ring up to N = {RINGS[-1]} is 128 bits secure with {arrangement.depth} levels and {needs}. "
            f"This line takes {deepest[1]} of the levels. Multiply less deeply, narrow the bounds of inputs{remedy}"
        )


def _table(ring: int) -> Table:
    return "2018" if ring <= _LARGEST_OF_2018 else "2024"


def _log_qp(ring: int) -> int:
    """The largest sum of prime sizes that is 128 bits secure by both tables; by that of 2024 above N = 32768."""
    tables: tuple[Table, ...] = ("2018", "2024") if ring <= _LARGEST_OF_2018 else ("2024",)
    return min(limit(table, ring, 128) or 0 for table in tables)


def _exist(chain: tuple[int, ...], ring: int) -> bool:
    """Whether there are as many primes of each size."""
    try:
        for bits in {*chain}:
            primes.ntt_primes(bits, ring, chain.count(bits))
    except Unsupported:
        return False
    return True


def _resolved(spec: ParameterSpec) -> Parameters:
    """Parameters with numbers of these sizes in place of primes, for bounds."""
    *data, special = spec.modulus_bits or ()
    return requests.resolved(spec, [1 << bits for bits in data], [1 << special])


# --- Noise of exact schemes -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Growth:
    """The factor by which sums enlarge the noise beyond that of consecutive products.

    In bgv each switch to a smaller modulus multiplies the plaintext by the inverse of its prime, and products multiply
    these factors. ``factors`` are their exponents by level. Before ciphertexts of different factors are added, SEAL
    multiplies them by numbers of about √t.
    """

    size: float
    factors: tuple[int, ...] = ()

    def at(self, depth: int) -> tuple[int, ...]:
        """The exponents after switches down to a depth."""
        return (*self.factors, *[1] * (depth - len(self.factors)))


def _growth_bits(arrangement: Arranged, balance: float) -> int:
    """Bits of the largest growth; ``balance`` is the factor for sums of ciphertexts of different factors."""
    growth: dict[int, _Growth] = {}
    for node in ordered(arrangement.roots):
        below = [growth[id(operand)] for operand in node.operands if not operand.is_constant]
        growth[id(node)] = _grown(node, below, balance)
    return math.ceil(math.log2(min(max(item.size for item in growth.values()), 2.0**500)))


def _grown(node: Expression, below: Sequence[_Growth], balance: float) -> _Growth:
    if not below:
        return _Growth(1.0)
    first, depth = below[0], max(len(item.factors) for item in below)
    match node.operation:
        case "plus" | "minus":
            is_alike = len({item.at(depth) for item in below}) == 1
            size = sum(item.size for item in below) * (1.0 if is_alike else balance)
            return _Growth(size, first.at(depth))
        case "sum":
            return _Growth(first.size * 2 * sqrt(node.operands[0].length), first.factors)
        case "matvec":
            return _Growth(first.size * 2 * sqrt(node.argument.shape[1]), (*first.factors, 1))
        case "turned":
            return _Growth(first.size + 1, first.factors)
        case "times":
            factors = tuple(map(sum, zip(*(item.at(depth) for item in below), strict=True)))
            return _Growth(_bounded(math.prod(item.size for item in below)), (*factors, 1))
        case "polynomial":
            degree = len(node.argument) - 1
            sums = np.count_nonzero(node.argument[1:]) - 1
            size = math.log2(first.size) * degree + math.log2(2 * balance) * sums
            return _Growth(
                _bounded(2.0 ** min(size, 500.0)), (*first.factors, *[1] * (degree.bit_length() + 1))
            )
        case _:
            return first


def _bounded(size: float) -> float:
    return min(size, 2.0**500)
