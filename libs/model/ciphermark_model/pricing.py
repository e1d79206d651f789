"""The cost of each node of a program, from a cost table. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import Switching
from ciphermark_contract.operations import LOWERING, OPERATIONS, Kind, top_level
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import EXACT_SCHEMES, Parameters
from ciphermark_model.interpolation import Costs
from ciphermark_model.reuse import Caches, Floats, Integers, Reads, digits_in_use, reads_of
from ciphermark_model.table import Cost, Key, Residency

_WORD = 8  # bytes
_FRESH = 2  # polynomials of measured operands
FULL_PRODUCT = "mul_full"  # a product with relinearization and rescaling, measured whole
_SUMMANDS = 8  # handles of the measured sum of many
# Handles of the last-level cache: others share it, and replacement is not perfect.
CACHE_FACTORS = (1.0, 2.0, 0.5)
# Operations on encoded plaintexts, and those of the same meaning on plaintexts in NTT form.
_PREPARED = {
    row.name: other.name
    for row in OPERATIONS.values()
    for other in OPERATIONS.values()
    if row.operands == (Kind.CIPHERTEXT, Kind.PLAINTEXT)
    and other.operands == (Kind.TRANSFORMED, Kind.NTT_PLAINTEXT)
    and other.meaning is row.meaning
    and not other.takes_several
}


@dataclass(frozen=True, slots=True)
class Part:
    """``factor`` times a cost with cached and with streamed operands. ``key`` names the cached one."""

    key: Key
    factor: float
    cached: Cost
    streamed: Cost


@dataclass(frozen=True, slots=True)
class _Form:
    """Nodes with equal costs: the parts of the cost, and the keys of parts that are lacking."""

    primes: int
    parts: tuple[Part, ...]
    lacking: tuple[Key, ...]


@dataclass(slots=True)
class Priced:
    """Seconds of each node for three sizes of the last-level cache (:data:`CACHE_FACTORS`); the uncertainty that each
    table entry contributes, as a half-width of 95%; and the costs that the table lacks, by operation and number of
    nodes. ``older`` are the costs of an earlier build.
    """

    seconds: tuple[Floats, ...]
    half_widths: dict[Key, float] = field(default_factory=dict)
    lacking: dict[Key, int] = field(default_factory=dict)
    older: set[Key] = field(default_factory=set)


class Pricer:
    """Prices programs of one variant: for one parameter set and number of threads inside of operations.

    A managed node is the operation and what the library adds to it: see :meth:`_operations_of`. A native interpreter
    (``programs_have_threads``) overwrites operands that are used for the last time: then the copy is saved which a
    measured operation begins with.
    """

    def __init__(
        self, costs: Costs, declared: Declaration, parameters: Parameters, switching: Switching, threads: int
    ) -> None:
        self.costs, self._declared = costs, declared
        self._parameters, self._switching = parameters, switching
        of_scheme = declared.operations[parameters.spec.scheme]
        self._encodes = any(Kind.VECTOR in OPERATIONS[name].operands for name in of_scheme)
        self._overwrites = declared.programs_have_threads
        self._threads = 1 if declared.programs_have_threads or not declared.has_threads else threads
        self.lowest = len(parameters.moduli) - top_level(parameters)
        self._bits = [prime.bit_length() for prime in parameters.moduli]
        self.residues = max(1, len(parameters.spec.plain_residues))
        self._special_bits = self._bits_of_special()
        table = costs.table
        self._caches = [
            Caches(min(table.near_cache, round(factor * table.last_cache)), round(factor * table.last_cache))
            for factor in CACHE_FACTORS
        ]
        self.part = lru_cache(None)(self._part)
        self.copied = lru_cache(None)(self._copied)
        self.per_byte = lru_cache(None)(self._per_byte)

    def key(
        self,
        operation: str,
        primes: int,
        count: int = 1,
        residency: Residency = "cached",
        threads: int | None = None,
    ) -> Key:
        """The key of an operation on this many data primes."""
        digits = digits_in_use(primes, len(self._bits), self._switching.digits)
        return self.costs.table.key(
            operation,
            self._parameters.spec.scheme,
            self._parameters.ring_dimension,
            self._bits[:primes],
            self._special_bits,
            digits,
            count=count,
            threads=self._threads if threads is None else threads,
            residency=residency,
        )

    def seconds(
        self,
        operation: str,
        primes: int,
        count: int = 1,
        residency: Residency = "cached",
        *,
        is_managed: bool = False,
    ) -> float | None:
        """The time of one execution on fresh operands; ``None`` where the table lacks a part of it."""
        names = [operation]
        if is_managed:
            is_with_plain = not OPERATIONS[operation].takes_ciphertexts_only
            names = [*self._operations_of(operation, is_with_plain, primes)]
        found = [self.part(name, primes, count, _FRESH) for name in names]
        parts = [part for part in found if isinstance(part, Part)]
        if len(parts) < len(found):
            return None
        costs = [part.cached if residency == "cached" else part.streamed for part in parts]
        return math.fsum(part.factor * cost.median for part, cost in zip(parts, costs, strict=True))

    def client_s(self, step: str, primes: int) -> float | None:
        """The time of a client's step on a fresh ciphertext of so many primes; ``None`` where the table lacks it."""
        count = _FRESH if step == "decrypt" else 1
        cost = self.costs.of(self.key(step, primes, count, threads=1))
        return None if cost is None else cost.median

    def priced(self, program: Program) -> Priced:
        """The costs of all nodes."""
        places_of: dict[tuple[str, bool, int, int, int], int] = {}
        places, overwritten, shapes = [], [], program.shapes
        for node, dying in zip(program.nodes, program.dying, strict=True):
            primes = self.lowest + program.level_of(node)
            polynomials = max([shapes[value].polynomials for value in node.operands])
            about = node.operation, len(node.constants) > 0, primes, polynomials, count_of(node)
            places.append(places_of.setdefault(about, len(places_of)))
            overwrites = self._overwrites and self._is_overwriting(program, node, dying)
            overwritten.append(polynomials if overwrites else 0)
        forms = [self._form(*about, is_managed=program.is_managed) for about in places_of]
        return self._of_forms(
            forms,
            np.array(places, dtype=np.int64),
            np.array(overwritten, dtype=np.int64),
            reads_of(program, self._switching),
        )

    def _of_forms(
        self, forms: Sequence[_Form], places: Integers, overwritten: Integers, reads: Reads
    ) -> Priced:
        """The costs of nodes whose forms have these places, and that overwrite so many polynomials."""
        columns = np.array([self._columns(form) for form in forms]).reshape(-1, 5)[places].T
        shares = [caches.streamed_shares(reads) for caches in self._caches]
        priced = Priced(
            tuple(
                self._seconds(columns, share, caches.missed_key_bytes(reads), overwritten / _FRESH)
                for caches, share in zip(self._caches, shares, strict=True)
            )
        )
        self._add_uncertainty(priced, forms, places, shares[0])
        return priced

    def _columns(self, form: _Form) -> tuple[float, float, float, float, float]:
        """Seconds of cached and streamed operands, of copying each of them, and of reading a byte."""
        cached = math.fsum(part.factor * part.cached.median for part in form.parts)
        streamed = math.fsum(part.factor * part.streamed.median for part in form.parts)
        copied, copied_streamed = (self.copied(form.primes, is_streamed) for is_streamed in (False, True))
        return (cached, streamed, copied, copied_streamed, self.per_byte(form.primes))

    def _seconds(self, columns: Floats, shares: Floats, key_bytes: Floats, overwritten: Floats) -> Floats:
        cached, streamed, copied, copied_streamed, per_byte = columns
        operations = cached + shares * (streamed - cached)
        saved = overwritten * np.where(shares > 0.5, copied_streamed, copied)
        whole = np.maximum(operations + per_byte * key_bytes - saved, operations / 2)
        return self.residues * np.where(operations > 0, whole, 0.0)

    def _add_uncertainty(
        self, priced: Priced, forms: Sequence[_Form], places: Integers, shares: Floats
    ) -> None:
        """Add up half-widths and missing costs over the nodes of each form."""
        total = np.bincount(places, minlength=1)
        far = np.bincount(places, shares > 0.5, minlength=1)
        for place, form in enumerate(forms):
            for key in form.lacking:
                priced.lacking[key] = priced.lacking.get(key, 0) + int(total[place])
            for part in form.parts:
                counts = (part.cached, total[place] - far[place]), (part.streamed, far[place])
                width = sum(float(count) * (cost.high - cost.low) / 2 for cost, count in counts)
                width *= part.factor * self.residues
                priced.half_widths[part.key] = priced.half_widths.get(part.key, 0.0) + width
                if any(cost.is_older for cost, count in counts if count):
                    priced.older.add(part.key)

    def _form(  # noqa: PLR0913 - what the cost of a node depends on
        self,
        operation: str,
        has_constant: bool,
        primes: int,
        polynomials: int,
        count: int,
        *,
        is_managed: bool,
    ) -> _Form:
        names = (
            self._operations_of(operation, has_constant, primes)
            if is_managed
            else (self._prepared(operation),)
        )
        found = [self.part(name, primes, count, polynomials) for name in names]
        return _Form(
            primes,
            tuple(item for item in found if isinstance(item, Part)),
            tuple(item for item in found if isinstance(item, Key)),
        )

    def _prepared(self, operation: str) -> str:
        """The operation that a native interpreter executes: in bgv, whose ciphertexts are in NTT form, that on the
        plaintext in NTT form, since it prepares plaintexts once.
        """
        other = _PREPARED.get(operation, operation)
        scheme = self._parameters.spec.scheme
        is_prepared = self._overwrites and scheme == "bgv" and other in self._declared.operations[scheme]
        return other if is_prepared else operation

    def _operations_of(self, operation: str, has_constant: bool, primes: int) -> tuple[str, ...]:
        """The measured operations that a managed node consists of. A product of ciphertexts is one measured full
        product. A product with a plaintext is followed by rescaling in ckks. Encoding is part of the node where the
        library has plaintexts.
        """
        row = OPERATIONS[operation]
        if row.is_product:
            return (FULL_PRODUCT,)
        names = [operation]
        if has_constant and self._encodes:
            names.insert(0, "encode")
        if row.is_multiplication and self._parameters.spec.scheme not in EXACT_SCHEMES and primes > 1:
            names.append("rescale")
        return tuple(names)

    def _part(self, name: str, primes: int, count: int, polynomials: int) -> Part | Key:
        """The part, or the key of the cost that is lacking. Where operands were measured in one place only, that cost
        is both.
        """
        keys = [self.key(name, primes, count, residency) for residency in ("cached", "streamed")]
        costs = [self.costs.of(key) or self._like_another(key, primes) for key in keys]
        cached, streamed = costs[0] or costs[1], costs[1] or costs[0]
        if cached is None or streamed is None:
            return keys[0]
        row = OPERATIONS[name]
        usual = 3 if row.transformed_by and OPERATIONS[row.transformed_by].is_product else _FRESH
        return Part(keys[0], polynomials / usual if polynomials > _FRESH else 1.0, cached, streamed)

    def _like_another(self, key: Key, primes: int) -> Cost | None:
        """The cost of a key switching that does not exist on fresh operands of a level, such as relinearization where
        the scale fills the last prime: that of a rotation there, times their ratio one level above; 5% wider.
        """
        if not key.digits or key.count > 1:
            return None
        names = key.operation, "rotate"
        above = [self.costs.of(self.key(name, primes + 1, residency=key.residency)) for name in names]
        other = self.costs.of(self.key("rotate", primes, residency=key.residency))
        if other is None or above[0] is None or above[1] is None or primes >= len(self._bits):
            return None
        like = other.scaled(above[0].median / above[1].median)
        return replace(like, low=0.95 * like.low, high=1.05 * like.high)

    def _copied(self, primes: int, is_streamed: bool) -> float:
        """Seconds to copy a ciphertext of two polynomials: what a sum takes beyond adding in place, which a sum of many
        does for all but its first term. 0 without these measurements.
        """
        residency: Residency = "streamed" if is_streamed else "cached"
        one = self.costs.of(self.key("add", primes, residency=residency))
        many = self.costs.of(self.key("add_many", primes, _SUMMANDS, residency))
        if one is None or many is None:
            return 0.0
        in_place = (many.median - one.median) / (_SUMMANDS - 2)
        return min(max(one.median - in_place, 0.0), one.median / 2)

    def _per_byte(self, primes: int) -> float:
        """Seconds to read a byte from memory: the difference of streamed and cached sums, of three ciphertexts."""
        costs = [self.costs.of(self.key("add", primes, 1, residency)) for residency in ("cached", "streamed")]
        if costs[0] is None or costs[1] is None:
            return 0.0
        size = 3 * _FRESH * primes * _WORD * self._parameters.ring_dimension
        return max(0.0, (costs[1].median - costs[0].median) / size)

    def _is_overwriting(self, program: Program, node: Node, dying: Sequence[int]) -> bool:
        """Whether the native interpreter overwrites an operand: not an input, nor for a larger result, nor by an
        operation that only lowers or divides, which copies nothing.
        """
        row = OPERATIONS[node.operation]
        if node.operation == LOWERING or row.is_product or row.has_several_results:
            return False
        if row.is_maintenance and row.transformed_by and not OPERATIONS[row.transformed_by].is_product:
            return False
        return any(value >= len(program.inputs) for value in node.operands[:2] if value in dying)

    def _bits_of_special(self) -> list[int]:
        bits = [prime.bit_length() for prime in self._parameters.special_moduli]
        return (bits + bits[-1:] * self._switching.special_primes)[: self._switching.special_primes]


def count_of(node: Node) -> int:
    """Handles of an operation on several, or results of one with several; else 1."""
    row = OPERATIONS[node.operation]
    if row.takes_several:
        return len(node.operands)
    return len(node.results) if row.has_several_results else 1
