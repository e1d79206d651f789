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


# What secret keys are drawn from: coefficients −1, 0 and 1 with one chance each; a fixed number of them (the Hamming
# weight) not 0; or the first, with the second only inside bootstrapping (Bossuat, Troncoso-Pastoriza and Hubaux,
# ePrint 2022/024).
SecretDistribution = Literal["uniform ternary", "sparse ternary", "sparse-encapsulated"]


@dataclass(frozen=True, slots=True)
class BootstrappingParameters:
    """How ckks ciphertexts are bootstrapped.

    ``level_budget`` are levels for encoding and decoding (CoeffsToSlots and SlotsToCoeffs), ``slots`` the values that
    a bootstrapped ciphertext holds, all of them if ``None``. ``iterations`` above 1 (Meta-BTS) raise the precision of
    a first bootstrapping, which is ``precision_bits`` then.
    """

    level_budget: tuple[Int32, Int32] = (3, 3)
    slots: Positive32 | None = None
    iterations: Positive32 = 1
    precision_bits: Int32 | None = None

    @property
    def text(self) -> str:
        """As tables write it: level budget, iterations and slots that are not the defaults."""
        encoding, decoding = self.level_budget
        iterations = (
            f", {self.iterations} iterations from {self.precision_bits} bits" if self.iterations > 1 else ""
        )
        slots = f", {self.slots} slots" if self.slots else ""
        return f"level budget {encoding} + {decoding}{iterations}{slots}"


@dataclass(frozen=True, slots=True)
class Bootstrapping:
    """Bootstrapping as a library resolved it: a result is ``depth`` levels below the top, an operand at
    ``operand_level`` or above. ``error`` is the largest that a correct result has, for values of at most 1.
    """

    parameters: BootstrappingParameters
    depth: Int32
    error: float
    operand_level: Int32 = 0


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """A *requested* parameter set.

    ``modulus_bits`` lists prime sizes, the special (key-switching) prime last; ``None`` asks for the library's own
    default modulus chain, or with ``depth`` a chain that Ciphermark makes for that many multiplications one after
    another. With both it has made these sizes for so many. ``plain_modulus`` (bfv, bgv) is the value of t;
    ``scale_bits`` (ckks) is log2 of the encoding scale.
    ``security`` is the least classical security level by ``security_table``, 0 for none. With
    ``ring_dimension_is_minimum`` the ring dimension is the least to try: the smallest from there on at which the chain
    is that secure is taken. ``tuning`` says who chooses how keys are switched: ``matched``, all libraries alike, one
    digit per prime where they can; ``recommended``, each library as its own documentation would set it for the same
    data primes. ``hamming_weight`` is that of a sparse secret, the library's own if ``None``. ``modulus_bits`` includes
    the levels that ``bootstrapping`` takes.

    Suites and messages of REST offer a field with ``metadata``, which describes it there as arguments of pydantic's
    ``Field``. A field that is added has a default: keys of cases stay while it has that value.
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
        """Values one ciphertext holds: N integers (bfv, bgv) or N/2 reals (ckks)."""
        return self.ring_dimension // 2 if self.scheme == "ckks" else self.ring_dimension

    @property
    def scale(self) -> float | None:
        """The encoding scale (ckks)."""
        return None if self.scale_bits is None else 2.0**self.scale_bits

    @property
    def security_compared(self) -> int | None:
        """The level at which cases are compared, where the request determines it: with recommended tuning."""
        return self.security if self.tuning == "recommended" else None

    @property
    def security_compared_2024(self) -> int | None:
        """The same by the 2024 table, where the request is by that: the 2018 table promises nothing about it."""
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
        """The primes of a t (bfv) that is a product of several which give slots: then a ciphertext is one for each of
        them. None of any other t.
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
    """A *resolved* parameter set: what the library really uses, prime by prime.

    ``moduli`` are the ciphertext primes (Q), ``special_moduli`` the primes that only key switching uses (P). ``scale``
    is the default encoding scale of ckks. ``key_switching`` is ``None`` where keys cannot be switched.
    ``secret_distribution`` and ``encryption`` name what secret keys are drawn from, and what encrypts;
    ``hamming_weight`` is that of a sparse secret, ``None`` for others or where the library does not say.
    ``bootstrapping`` is ``None`` where nothing can be bootstrapped.
    ``slot_generator`` orders the slots of bfv and bgv: slot c of the first row is the value at ζ^(g^c).
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
        """How ciphertexts are bootstrapped. Raises ``Unsupported`` where the request names no parameters for it."""
        if self.bootstrapping is None:
            raise Unsupported("bootstrapping needs parameters of its own: write bootstrapping")
        return self.bootstrapping

    @property
    def modulus_bits(self) -> tuple[int, ...]:
        """Sizes of all primes in bits, special primes last."""
        return tuple(prime.bit_length() for prime in self.moduli + self.special_moduli)

    @property
    def special_primes(self) -> int:
        """How many primes only key switching uses."""
        return len(self.special_moduli)

    @property
    def log_q(self) -> float:
        """log2 of the ciphertext modulus Q."""
        return math.log2(math.prod(self.moduli))

    @property
    def log_qp(self) -> float:
        """log2 of the largest modulus, special primes included: what security depends on."""
        return math.log2(math.prod(self.moduli + self.special_moduli))

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

    ``build`` holds compiler, flags, commit and the like as text. ``is_debug`` marks a build whose times mean nothing,
    ``is_reference`` a pseudo-library, which is never ranked.
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

    ``vector_length`` counts the vector's values. ``dimensions`` hold what one experiment or family alone is varied by,
    under the names of :data:`~ciphermark_core.descriptor.DIMENSIONS`; what is unset is absent.
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
    as on an undisturbed host it took, by the reference kernel beside it and the run-queue delay. ``is_disturbed``:
    others had the core for most of it.
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
        """Where it was taken, as one text: the stage, ``stage.step`` or ``stage.party``."""
        part = self.step or self.party
        return f"{self.stage}.{part}" if part else self.stage

    @property
    def unit(self) -> str:
        """The unit of the metric. Raises ``KeyError`` for a metric that nobody registered."""
        return METRICS[self.metric].unit


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How right the decrypted result is.

    ``tolerance`` is the largest error that counts as right: 0 for bfv and bgv.
    ``precision_bits`` is −log2(max error / max(1, max |expected|)); ``None`` for exact schemes.
    """

    max_abs_error: float
    incorrect_slots: Int64
    tolerance: float
    precision_bits: float | None = None


@dataclass(frozen=True, slots=True)
class OperationCount:
    """How often a program has an operation at a level."""

    operation: Word
    level: Int32
    n: Int32


@dataclass(frozen=True, slots=True)
class LayerFacts:
    """What a program says of one of its layers. ``level`` is where it begins and ``end_level`` where it ends,
    ``scale_bits`` log2 of the scale there; of a library that chooses levels itself, those that it would have otherwise.
    ``operand_bytes`` and ``result_bytes`` are what it takes and ends with in memory.
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

    ``depth`` is the number of levels from its highest input down to its lowest value, ``constants`` that of plaintexts,
    ``live_ciphertexts`` the most that are alive at once when its nodes execute in order. ``layers`` are its parts, in
    order, where the workload names several.
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
    """What came of a trial. ``facts`` are values about the measurement itself (loops, overheads)."""

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

    @property
    def ciphertexts(self) -> int:
        """Ciphertexts that the case's vector spans."""
        case = self.trial.case
        return -(-case.vector_length // (self.parameters or case.parameters).slots)
