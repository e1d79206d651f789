"""The central types: frozen dataclasses that travel between processes as JSON.

``msgspec`` (de)serializes them as they stand: see :mod:`ciphermark_core.wire`. Absent values are ``None``, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from ciphermark_core import case_keys, primes
from ciphermark_core import security as security_tables
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import Value
from ciphermark_core.encryption import PUBLIC_KEY
from ciphermark_core.errors import Unsupported
from ciphermark_core.key_switching import KeySwitching, Scaling, Tuning
from ciphermark_core.limits import (
    Fact,
    Factor,
    Int32,
    Int64,
    Moment,
    Natural,
    Positive,
    Positive32,
    Positive64,
    Seconds,
    Word,
)
from ciphermark_core.metrics import METRICS

Scheme = Literal["bfv", "bgv", "ckks"]
Status = Literal[
    "ok", "incorrect", "unsupported", "budget_exhausted", "crashed", "out_of_memory", "timeout", "cancelled"
]
DataPattern = Literal["constant", "random", "real"]

SCHEMES: tuple[Scheme, ...] = ("bfv", "bgv", "ckks")
EXACT_SCHEMES: tuple[Scheme, ...] = ("bfv", "bgv")


# The distributions of secret keys. Uniform ternary: coefficients −1, 0 and 1 are equally likely. Sparse: a fixed number
# (the Hamming weight) is nonzero. Encapsulated: a sparser secret exists only inside bootstrapping (Bossuat,
# Troncoso-Pastoriza and Hubaux, ePrint 2022/024); the secret outside is uniform in Lattigo and sparse in OpenFHE.
SecretDistribution = Literal["uniform ternary", "sparse ternary", "sparse-encapsulated"]


@dataclass(frozen=True, slots=True)
class BootstrappingParameters:
    """Requested parameters of ckks bootstrapping.

    ``level_budget`` is the number of levels for encoding and decoding (CoeffsToSlots and SlotsToCoeffs). ``slots`` is
    the number of values that every ciphertext holds; ``None`` means all slots. ``iterations`` above 1 (Meta-BTS) raise
    the precision above that of the first bootstrapping, which ``precision_bits`` then states. With ``slots_first``,
    decoding precedes the raising of the modulus, at low levels; otherwise it is the last step.
    """

    level_budget: tuple[Int32, Int32] = (3, 3)
    slots: Positive32 | None = None
    iterations: Positive32 = 1
    precision_bits: Int32 | None = None
    slots_first: bool = False

    @property
    def text(self) -> str:
        """Return the text for tables: level budget, and iterations, slots and order that differ from the defaults."""
        encoding, decoding = self.level_budget
        iterations = (
            f", {self.iterations} iterations from {self.precision_bits} bits" if self.iterations > 1 else ""
        )
        slots = f", {self.slots} slots" if self.slots else ""
        order = ", slots first" if self.slots_first else ""
        return f"level budget {encoding} + {decoding}{iterations}{slots}{order}"


@dataclass(frozen=True, slots=True)
class Bootstrapping:
    """Bootstrapping as a library resolved it.

    A result is ``depth`` levels below the top. An operand is at ``operand_level`` or above. ``error`` is the maximum
    error of a correct result, for values of at most 1. ``moduli`` and ``special_moduli`` are the primes inside
    bootstrapping, where the parameter set has those outside only; its depth is then 0. Its keys take
    ``key_bytes``. A bootstrapping fails with a probability of at most 2^−``failure_bits``, as the library's documents
    state it; ``None`` where they do not.
    """

    parameters: BootstrappingParameters
    depth: Int32
    error: float
    operand_level: Int32 = 0
    moduli: tuple[Positive, ...] = ()
    special_moduli: tuple[Positive, ...] = ()
    key_bytes: Int64 | None = None
    failure_bits: float | None = None

    @property
    def modulus_bits(self) -> tuple[int, ...] | None:
        """Sizes of the primes inside bootstrapping, special primes last; ``None`` where the parameter set has them."""
        return tuple(prime.bit_length() for prime in self.moduli + self.special_moduli) or None


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """A *requested* parameter set.

    ``modulus_bits`` lists prime sizes in bits, the special (key-switching) prime last. It includes the levels that
    ``bootstrapping`` consumes. ``None`` requests the library's default modulus chain, or, with ``depth``, Ciphermark's
    chain for that many consecutive multiplications. With both set, Ciphermark computed these sizes for that depth.
    ``plain_modulus`` (bfv, bgv) is the value of t; ``scale_bits`` (ckks) is log2 of the encoding scale.
    ``security`` is the minimum classical security level by ``security_table``, 0 for none. With
    ``ring_dimension_is_minimum``, the library takes the smallest ring dimension from ``ring_dimension`` on at which the
    chain reaches that level. ``tuning`` selects the key switching. ``matched`` sets all libraries alike, to one digit
    per prime where they can. ``recommended`` follows each library's documentation for the same data primes.
    ``hamming_weight`` is that of a sparse secret; ``None`` means the library's own.

    Suites and REST messages offer every field with ``metadata``, which are arguments of pydantic's ``Field``. Give a
    new field a default: keys of cases do not change while the field has that value.
    """

    scheme: Scheme
    ring_dimension: Annotated[int, msgspec.Meta(ge=2, le=(1 << 31) - 1)]
    modulus_bits: tuple[Positive32, ...] | None = None
    plain_modulus: Positive | None = None
    scale_bits: Annotated[int, msgspec.Meta(ge=0, le=1000)] | None = None
    security: Int32 = 128
    depth: Int32 | None = None
    ring_dimension_is_minimum: bool = False
    tuning: Tuning = "matched"
    secret_distribution: SecretDistribution = field(
        default="uniform ternary",
        metadata={
            "description": "distribution of secret keys; no security table rates sparse ones",
            "examples": ["sparse ternary"],
        },
    )
    hamming_weight: Int32 | None = field(
        default=None,
        metadata={
            "ge": 1,
            "description": "Hamming weight of a sparse secret; default: the library's",
            "examples": [192],
        },
    )
    security_table: security_tables.Table = "2018"
    bootstrapping: BootstrappingParameters | None = None

    @property
    def slots(self) -> int:
        """Values one ciphertext holds: N integers (bfv, bgv) or N/2 reals (ckks); those that bootstrapping keeps."""
        if self.bootstrapping is not None and self.bootstrapping.slots is not None:
            return self.bootstrapping.slots
        return self.ring_dimension // 2 if self.scheme == "ckks" else self.ring_dimension

    @property
    def scale(self) -> float | None:
        """The encoding scale (ckks)."""
        return None if self.scale_bits is None else 2.0**self.scale_bits

    @property
    def security_compared(self) -> int | None:
        """The level at which cases are compared, for recommended tuning; ``None`` for other requests."""
        return self.security if self.tuning == "recommended" else None

    @property
    def security_compared_2024(self) -> int | None:
        """The same by the 2024 table, for a request by that table: the 2018 table guarantees nothing about it."""
        return self.security_compared if self.security_table == "2024" else None

    @property
    def secret(self) -> str | None:
        """The secret distribution as tables write it; ``None`` for the uniform ternary one, which every library has."""
        if self.secret_distribution == "uniform ternary":
            return None
        weight = f", h = {self.hamming_weight}" if self.hamming_weight else ""
        return f"{self.secret_distribution}{weight}"

    @property
    def plain_residues(self) -> tuple[int, ...]:
        """The prime factors of a composite t (bfv) whose factors all give slots, else an empty tuple.

        For such a t, a ciphertext consists of one ciphertext per factor.
        """
        if self.scheme != "bfv" or self.plain_modulus is None:
            return ()
        factors = primes.batching_factors(self.plain_modulus, self.ring_dimension)
        return factors if len(factors) > 1 else ()


_DEFAULTS = {item.name: item.default for item in fields(ParameterSpec) if item.default is not MISSING}


def offered() -> dict[str, tuple[Any, Any, Mapping[str, Any]]]:
    """The fields of :class:`ParameterSpec` with metadata: the type of each, its default, and the metadata."""
    kinds = get_type_hints(ParameterSpec)
    return {
        item.name: (kinds[item.name], item.default, item.metadata)
        for item in fields(ParameterSpec)
        if item.metadata
    }


@dataclass(frozen=True, slots=True)
class Parameters:
    """A *resolved* parameter set: the primes and settings that the library uses.

    ``moduli`` are the ciphertext primes (Q), ``special_moduli`` the primes that only key switching uses (P). ``scale``
    is the default encoding scale of ckks. ``key_switching`` is ``None`` where keys cannot be switched.
    ``secret_distribution`` is the distribution of secret keys, ``encryption`` the kind of key that encrypts.
    ``hamming_weight`` is that of a sparse secret; ``None`` for other secrets or where the library does not report it.
    ``bootstrapping`` is ``None`` where the library cannot bootstrap.
    ``slot_generator`` (g) orders the slots of bfv and bgv: slot c of the first row is the value at ζ^(g^c).
    """

    spec: ParameterSpec
    ring_dimension: Positive32
    moduli: tuple[Positive, ...]
    special_moduli: tuple[Positive, ...]
    slots: Positive32
    plain_modulus: Positive | None = None
    scale: Annotated[float, msgspec.Meta(gt=0)] | None = None
    key_switching: KeySwitching | None = None
    scaling: Scaling = "exact"
    secret_distribution: Word = "uniform ternary"
    encryption: Word = PUBLIC_KEY
    slot_generator: int = 3
    hamming_weight: Int32 | None = None
    bootstrapping: Bootstrapping | None = None

    def require_bootstrapping(self) -> Bootstrapping:
        """Return ``bootstrapping``; raises ``Unsupported`` where the request has no bootstrapping parameters."""
        if self.bootstrapping is None:
            raise Unsupported("bootstrapping needs parameters of its own: write bootstrapping")
        return self.bootstrapping

    @property
    def modulus_bits(self) -> tuple[int, ...]:
        """Sizes of all primes in bits, special primes last."""
        return tuple(prime.bit_length() for prime in self.moduli + self.special_moduli)

    @property
    def special_primes(self) -> int:
        """The number of primes that only key switching uses."""
        return len(self.special_moduli)

    @property
    def log_q(self) -> float:
        """log2 of the ciphertext modulus Q."""
        return math.log2(math.prod(self.moduli))

    @property
    def log_qp(self) -> float:
        """log2 of the largest modulus QP, special primes included; security depends on it."""
        own = math.prod(self.moduli + self.special_moduli)
        inside = self.bootstrapping
        return math.log2(max(own, math.prod(inside.moduli + inside.special_moduli) if inside else 1))

    @property
    def security_2018(self) -> int | None:
        """Classical security level (0, 128, 192 or 256) by the 2018 standard, ``None`` for a secret that it does not
        rate."""
        return self.security_by("2018")

    @property
    def security_2024(self) -> int | None:
        """Classical security level (0, 128, 192 or 256) by the 2024 guidelines, ``None`` for a secret that they do not
        rate."""
        return self.security_by("2024")

    def security_by(self, table: security_tables.Table) -> int | None:
        """Classical security level by a table, ``None`` for a secret that it does not rate."""
        if security_tables.is_unrated(self.secret_distribution):
            return None
        return security_tables.level(table, self.ring_dimension, self.log_qp)


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """One library build as it reports itself.

    ``build`` holds compiler, flags, commit and similar facts as text. ``is_debug`` marks a debug build, whose times are
    meaningless; ``is_reference`` marks a pseudo-library, which is never ranked.
    """

    library: Word
    variant: Word
    version: Word
    hexl: bool
    build: dict[str, str]
    is_debug: bool = False
    is_reference: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One point of an experiment.

    ``vector_length`` is the number of values. ``dimensions`` holds the dimensions of a single experiment or family, by
    their names in :data:`~ciphermark_core.descriptor.DIMENSIONS`; an unset dimension is absent.
    """

    variant: Word
    experiment: Word
    operation: Word
    parameters: ParameterSpec
    vector_length: Int64
    data_pattern: DataPattern
    threads: Int32 = 1
    dimensions: Mapping[Word, Value] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Identity of the case across runs and hosts: a hash of all its fields, and of the dimensions that are set."""
        return case_keys.key(msgspec.to_builtins(self), _DEFAULTS)

    @property
    def comparison_group(self) -> str:
        """The same for every variant: cases with equal comparison groups are compared."""
        return replace(self, variant="").key


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution of a case in the worker number ``process``."""

    id: Word
    run_id: Word
    case: Case
    process: Int32
    seed: Natural
    budget: Budget


@dataclass(frozen=True, slots=True)
class Sample:
    """One recorded value of one registered metric.

    ``value`` is per execution: that of ``loops`` executions is divided by them. ``stage`` is ``keygen``, ``encrypt``,
    ``evaluate`` or ``decrypt``, names the object that a size belongs to, or is a stage of a workload. There ``step``
    names a part of the stage, of whichever party; without a step, ``party`` is the one whose own sum or peak it is.
    ``repetitions`` counts operations applied so far (depth, noise, repetition). ``slowdown`` is how many times as long
    as on an undisturbed host it took, by the reference kernel timed with it and the run-queue delay. ``is_disturbed``:
    other processes had the core for most of the time.
    """

    metric: Word
    value: float
    stage: Word
    party: Word | None = None
    step: Word | None = None
    ordinal: Int32 = 0
    loops: Positive64 = 1
    is_warmup: bool = False
    repetitions: Int32 | None = None
    is_disturbed: bool = False
    slowdown: Factor = 1.0

    @property
    def phase(self) -> str:
        """The place of the measurement as one text: the stage, ``stage.step`` or ``stage.party``."""
        part = self.step or self.party
        return f"{self.stage}.{part}" if part else self.stage

    @property
    def unit(self) -> str:
        """The unit of the metric. Raises ``KeyError`` for an unregistered metric."""
        return METRICS[self.metric].unit


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy of the decrypted result.

    ``tolerance`` is the maximum error of a correct result: 0 for bfv and bgv.
    ``precision_bits`` is −log2(max error / max(1, max |expected|)); ``None`` for exact schemes.
    """

    max_abs_error: float
    incorrect_slots: Int64
    tolerance: float
    precision_bits: float | None = None


@dataclass(frozen=True, slots=True)
class OperationCount:
    """The number of nodes of a program that apply an operation at a level."""

    operation: Word
    level: Int32
    n: Int32


@dataclass(frozen=True, slots=True)
class LayerFacts:
    """Facts about one layer of a program.

    The layer begins at ``level`` and ends at ``end_level``, where ``scale_bits`` is log2 of the scale. For a library
    that chooses levels itself, these are the values that explicit level management would give. ``operand_bytes`` and
    ``result_bytes`` are the sizes of its operands and results in memory.
    """

    name: Word
    level: Int32
    end_level: Int32
    scale_bits: float | None
    operand_bytes: Int64
    result_bytes: Int64
    counts: tuple[OperationCount, ...]


@dataclass(frozen=True, slots=True)
class ProgramUse:
    """The program that a trial executed in a stage: ``content`` is its serialized form, ``digest`` the SHA-256 of that.

    ``depth`` is the number of levels from its highest input down to its lowest value. ``constants`` is the number of
    plaintexts, ``live_ciphertexts`` the maximum number alive at once when its nodes execute in order. ``layers`` are
    its parts, in order, where the workload names several.
    """

    stage: Word
    digest: Word
    scheme: Scheme
    depth: Int32
    constants: Int32
    live_ciphertexts: Int32
    counts: tuple[OperationCount, ...]
    content: bytes
    layers: tuple[LayerFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a trial. ``facts`` are values about the measurement itself (loops, overheads).

    ``unmeasured`` gives the reason for each requested probe without values. ``stacks`` holds, by stage, the sampled
    call stacks: a line per stack, with its frames from the outermost on, separated by semicolons, and its count.
    """

    trial: Trial
    status: Status
    started_at: Moment
    duration_s: Seconds
    samples: tuple[Sample, ...] = ()
    accuracy: Accuracy | None = None
    parameters: Parameters | None = None
    library: LibraryInfo | None = None
    error: str | None = None
    facts: dict[Word, Fact] = field(default_factory=dict)
    programs: tuple[ProgramUse, ...] = ()
    unmeasured: dict[Word, str] = field(default_factory=dict)
    stacks: dict[Word, str] = field(default_factory=dict)

    @property
    def ciphertexts(self) -> int:
        """Ciphertexts that the case's vector spans."""
        case = self.trial.case
        return -(-case.vector_length // (self.parameters or case.parameters).slots)
