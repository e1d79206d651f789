"""The descriptor of a case: every dimension of a case and of its resolved parameters, declared once.

A :class:`Dimension` with ``sources`` is a column of the table ``case_info``, which has one row for each case as it was
executed. Everything else follows from the declaration: what the recorder writes (:func:`row`), the comments on the
columns and the documentation of views, exports, headings and tooltips (``label``, ``short``, ``sentence``, ``unit``,
``written``), filters (``is_filter``), and the rule which dimensions distinguish the rows of a table (``tells_apart``).

A dimension without ``sources`` belongs to an experiment or a family of workloads, which registers it. Its value is in
:attr:`~ciphermark_core.model.Case.dimensions`, and in ``case_info.dimensions`` of the database.

To add a dimension of all cases: the field of ``ParameterSpec`` (with metadata where suites request it), ``Parameters``
or ``Case``, one ``Dimension`` below, one ``alter table case_info add column`` as a migration, and a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from ciphermark_core import registry

Value = str | int | float | bool
V = TypeVar("V")
# The origin of the value: the suite that requests a case, or the library that executes it.
Origin = Literal["request", "result"]
_OF_FAMILY = "trial.case.dimensions"


@dataclass(frozen=True, slots=True)
class Dimension(Generic[V]):
    """One dimension, with values of ``kind``, or ``None`` where it does not apply; ``sentence`` explains it.

    ``sources`` are dotted paths into an :class:`~ciphermark_core.model.Outcome`; the first value that is not ``None``
    counts. ``label`` heads a table's column, or ``short`` where space is scarce. ``written`` names the format of a
    value in a cell. ``phrase`` is its form in a sentence or heading: a text with ``{}`` for the value, or the name of a
    format. ``tells_apart``: cases that differ in it are different requests, which a table has to distinguish.
    ``is_filter``: pages offer it as a filter.
    """

    name: str
    kind: type[V]
    sentence: str
    sources: tuple[str, ...] = ()
    unit: str = ""
    label: str = ""
    short: str = ""
    written: str = "text"
    phrase: str = "{}"
    origin: Origin = "request"
    tells_apart: bool = False
    is_filter: bool = False

    @property
    def is_number(self) -> bool:
        """Whether values are single numbers, which tables right-align."""
        return self.kind in (int, float)

    @property
    def is_of_family(self) -> bool:
        """Whether it is in the ``dimensions`` of cases, since it belongs to a single experiment or family."""
        return not self.sources or self.sources[0].startswith(f"{_OF_FAMILY}.")

    @property
    def heading(self) -> str:
        """The label, else the name in words."""
        return self.label or self.name.replace("_", " ").capitalize()

    def of(self, dimensions: Mapping[str, Value]) -> V | None:
        """The value of a case; ``None`` for a case without the dimension. Raises ``TypeError`` for another kind."""
        value = dimensions.get(self.name)
        if value is None or type(value) is self.kind:
            return value
        raise TypeError(f"{self.name} is {value!r}, no {self.kind.__name__}")


def _follow(reached: dict[str, Any], path: str) -> Any:
    """Return the value at a dotted path of attributes and keys from ``reached[""]``; ``None`` where a part is missing.

    ``reached`` caches the values of earlier paths, since most share a prefix.
    """
    if path not in reached:
        parent, _, name = path.rpartition(".")
        owner = _follow(reached, parent)
        if owner is None:
            reached[path] = None
        else:
            reached[path] = owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name)
    return reached[path]


_registered: dict[str, Dimension[Any]] = {}
DIMENSIONS: Mapping[str, Dimension[Any]] = MappingProxyType(_registered)


def register(dimension: Dimension[V]) -> Dimension[V]:
    """Register a dimension, and return it. Raises ``ValueError`` where its name already has another meaning."""
    return registry.add(_registered, dimension)


def columns() -> tuple[Dimension[Any], ...]:
    """The dimensions that are columns of ``case_info``, in order of declaration."""
    return tuple(dimension for dimension in DIMENSIONS.values() if dimension.sources)


def row(outcome: object) -> dict[str, Any]:
    """Return the values of all :func:`columns` for an outcome's executed case; ``None`` where no source has one."""
    reached: dict[str, Any] = {"": outcome}
    values: dict[str, Any] = {}
    for dimension in columns():
        for path in dimension.sources:
            values[dimension.name] = value = _follow(reached, path)
            if value is not None:
                break
    return values


def filters() -> tuple[Dimension[Any], ...]:
    """The dimensions that pages offer as filters, in order of declaration."""
    return tuple(dimension for dimension in columns() if dimension.is_filter)


def tells_apart() -> tuple[Dimension[Any], ...]:
    """The dimensions of a request that distinguish the cases of a table, in the order in which they are stated."""
    return tuple(dimension for dimension in columns() if dimension.tells_apart)


def of_library() -> tuple[Dimension[Any], ...]:
    """The dimensions that a library chose for a parameter set; they are shown with a case, but do not identify it."""
    return tuple(
        dimension for dimension in columns() if dimension.origin == "result" and dimension.phrase != "{}"
    )


_CASE = "trial.case"
_SPEC = "trial.case.parameters"

_OF_CASES: tuple[Dimension[Any], ...] = (
    Dimension(
        "variant",
        str,
        "Build that is compared, such as seal-hexl; seal@again is a second entry of the same build",
        (f"{_CASE}.variant",),
        label="Variant",
        is_filter=True,
    ),
    Dimension(
        "library",
        str,
        "Library of the variant; NULL where no worker got as far as loading it",
        ("library.library",),
        label="Library",
        origin="result",
    ),
    Dimension(
        "library_version",
        str,
        "Version that the library reports; NULL like library",
        ("library.version",),
        label="Version",
        origin="result",
    ),
    Dimension(
        "hexl",
        bool,
        "Whether the build uses Intel HEXL; NULL like library",
        ("library.hexl",),
        label="HEXL",
        written="yes",
        origin="result",
    ),
    Dimension(
        "is_debug",
        bool,
        "Whether this is a debug build, whose times mean nothing; NULL like library",
        ("library.is_debug",),
        label="Debug build",
        written="yes",
        origin="result",
    ),
    Dimension(
        "is_reference",
        bool,
        "Whether this is a pseudo-library, which is never ranked; NULL like library",
        ("library.is_reference",),
        label="Pseudo-library",
        written="yes",
        origin="result",
    ),
    Dimension(
        "experiment",
        str,
        "What the suite varies: arithmetic, rotation, depth, noise, serialization, ...",
        (f"{_CASE}.experiment",),
        label="Experiment",
        is_filter=True,
    ),
    Dimension(
        "operation",
        str,
        "Homomorphic operation or workload; of the phases encrypt, decrypt and keygen the one in whose trial they were "
        "measured, of serialization the compression",
        (f"{_CASE}.operation",),
        label="Operation",
        is_filter=True,
    ),
    Dimension(
        "scheme",
        str,
        "BFV, BGV or CKKS, in lower case",
        (f"{_SPEC}.scheme",),
        label="Scheme",
        phrase="scheme",
        is_filter=True,
    ),
    Dimension(
        "ring_dimension",
        int,
        "N: as used by the library, or as requested where the trial did not get that far",
        ("parameters.ring_dimension", f"{_SPEC}.ring_dimension"),
        unit="number",
        label="N",
        phrase="N = {}",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "requested_ring_dimension",
        int,
        "N as the suite requests it: the minimum where ring_dimension_is_minimum",
        (f"{_SPEC}.ring_dimension",),
        unit="number",
        label="N requested",
    ),
    Dimension(
        "modulus_bits",
        tuple,
        "Sizes of the primes, special primes last: as used, or as requested; NULL requests the default modulus chain",
        ("parameters.modulus_bits", f"{_SPEC}.modulus_bits"),
        unit="bits",
        label="Primes, bits",
        written="chain",
        phrase="chain",
        tells_apart=True,
    ),
    Dimension(
        "requested_modulus_bits",
        tuple,
        "Sizes of the primes as the suite requests them, special primes last; NULL requests the default modulus chain",
        (f"{_SPEC}.modulus_bits",),
        unit="bits",
        label="Primes requested, bits",
        written="chain",
    ),
    Dimension(
        "plain_modulus",
        int,
        "Plaintext modulus t (BFV, BGV): as used, or as requested; otherwise NULL",
        ("parameters.plain_modulus", f"{_SPEC}.plain_modulus"),
        unit="number",
        label="t",
        phrase="t = {}",
        tells_apart=True,
    ),
    Dimension(
        "scale",
        float,
        "Default encoding scale (CKKS): as used, or as requested; otherwise NULL",
        ("parameters.scale", f"{_SPEC}.scale"),
        unit="number",
        label="Scale",
        written="scale",
        phrase="scale",
        tells_apart=True,
    ),
    Dimension(
        "ring_dimension_is_minimum",
        bool,
        "Whether the ring dimension is the smallest that is secure for the modulus chain, rather than given by the "
        "suite",
        (f"{_SPEC}.ring_dimension_is_minimum",),
        label="Smallest secure N",
        written="yes",
        phrase="smallest_secure",
        tells_apart=True,
    ),
    Dimension(
        "security_bits",
        int,
        "Requested security in bits, by security_table; 0 if none was requested",
        (f"{_SPEC}.security",),
        unit="bits",
        label="Requested security",
        written="asked",
        phrase="at least {} bits requested",
        tells_apart=True,
    ),
    Dimension(
        "chain_depth",
        int,
        "Multiplicative depth that the modulus chain was chosen for; NULL if the suite gives the chain or the library "
        "chooses it",
        (f"{_SPEC}.depth",),
        unit="number",
        label="Multiplicative depth of the chain",
    ),
    Dimension(
        "tuning",
        str,
        "matched: one key-switching method and one digit per prime in all libraries; recommended: the method and "
        "number of digits that the library recommends. The two are never ranked together",
        (f"{_SPEC}.tuning",),
        label="Tuning",
        phrase="{} tuning",
        tells_apart=True,
    ),
    Dimension(
        "secret",
        str,
        "Secret distribution that the suite requests, with its Hamming weight; NULL for uniform ternary",
        (f"{_SPEC}.secret",),
        label="Secret requested",
        phrase="secret {}",
        tells_apart=True,
    ),
    Dimension(
        "bootstrapping",
        str,
        "Bootstrapping parameters that the suite requests, in words; NULL without",
        (f"{_SPEC}.bootstrapping.text",),
        label="Bootstrapping",
        phrase="bootstrapping with {}",
        tells_apart=True,
    ),
    Dimension(
        "hamming_weight",
        int,
        "Entries of the secret that are not zero; NULL where the distribution does not fix it",
        ("parameters.hamming_weight",),
        unit="number",
        label="Hamming weight",
        origin="result",
    ),
    Dimension(
        "dimensions",
        dict,
        "What one experiment or family alone is varied by; its keys are those of the table dimension",
        (_OF_FAMILY,),
        label="Options",
        written="options",
        phrase="options",
        tells_apart=True,
    ),
    Dimension(
        "data_set",
        str,
        "Real data that a workload computes on; NULL for generated vectors",
        (f"{_OF_FAMILY}.data_set",),
        label="Data set",
        is_filter=True,
    ),
    Dimension(
        "data_pattern",
        str,
        "constant: one value in all slots; random: a value for each",
        (f"{_CASE}.data_pattern",),
        label="Data",
        phrase="{} data",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "vector_length",
        int,
        "Number of values in the vector",
        (f"{_CASE}.vector_length",),
        unit="number",
        label="Vector length",
        written="digits",
        phrase="values",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "threads",
        int,
        "Threads that the library may use",
        (f"{_CASE}.threads",),
        unit="number",
        label="Threads",
        phrase="threads",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "slots",
        int,
        "Values in one ciphertext: as used, or as requested",
        ("parameters.slots", f"{_SPEC}.slots"),
        unit="number",
        label="Slots",
        origin="result",
    ),
    Dimension(
        "ciphertexts",
        int,
        "Ciphertexts that the vector spans: vector_length / slots, rounded up",
        ("ciphertexts",),
        unit="number",
        label="Ciphertexts",
        origin="result",
    ),
    Dimension(
        "log_q",
        float,
        "log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters",
        ("parameters.log_q",),
        unit="bits",
        label="log2(Q)",
        short="log Q",
        written="bits",
        origin="result",
    ),
    Dimension(
        "log_qp",
        float,
        "log2 of Q times the special primes: what security depends on; NULL like log_q",
        ("parameters.log_qp",),
        unit="bits",
        label="log2(QP)",
        short="log QP",
        written="bits",
        origin="result",
    ),
    Dimension(
        "security_2018",
        int,
        "Classical security (0, 128, 192, 256) by the 2018 standard, 0 for less than 128; NULL like log_q",
        ("parameters.security_2018",),
        unit="bits",
        label="Security (2018)",
        short="2018",
        written="level",
        origin="result",
    ),
    Dimension(
        "security_2024",
        int,
        "Classical security (0, 128, 192, 256) by the 2024 guidelines, 0 for less than 128; NULL like log_q",
        ("parameters.security_2024",),
        unit="bits",
        label="Security (2024)",
        short="2024",
        written="level",
        origin="result",
    ),
    Dimension(
        "security_compared",
        int,
        "Security at which variants are compared: security_2018 with matched tuning, the requested security_bits "
        "with recommended tuning",
        (f"{_SPEC}.security_compared", "parameters.security_2018"),
        unit="bits",
        label="Security (2018)",
        short="2018",
        written="level",
        origin="result",
        is_filter=True,
    ),
    Dimension(
        "key_switching",
        str,
        "hybrid: keys are switched with special primes; bv: without; NULL where keys cannot be switched, and like "
        "log_q",
        ("parameters.key_switching.method",),
        label="Key switching",
        phrase="{} key switching",
        origin="result",
    ),
    Dimension(
        "decomposition_digits",
        int,
        "Decomposition digits of a ciphertext of the top level where its key is switched; NULL like key_switching",
        ("parameters.key_switching.decomposition_digits",),
        unit="number",
        label="Decomposition digits",
        phrase="decomposition_digits",
        origin="result",
    ),
    Dimension(
        "special_primes",
        int,
        "How many of the primes are special ones, which only key switching uses: the last of modulus_bits; NULL like "
        "log_q",
        ("parameters.special_primes",),
        unit="number",
        label="Special primes",
        phrase="special_primes",
        origin="result",
    ),
    Dimension(
        "scaling",
        str,
        "How the library keeps scales: exact for every ciphertext (CKKS scale, BGV factor), fixed with every prime as "
        "the scale, or managed together with levels; NULL like log_q",
        ("parameters.scaling",),
        label="Scaling",
        phrase="{} scaling",
        origin="result",
    ),
    Dimension(
        "secret_distribution",
        str,
        "What secret keys are drawn from; NULL like log_q",
        ("parameters.secret_distribution",),
        label="Secret",
        phrase="secret {}",
        origin="result",
    ),
    Dimension(
        "encryption",
        str,
        "What encrypts: public key, secret key; NULL like log_q",
        ("parameters.encryption",),
        label="Encryption",
        phrase="encrypted with the {}",
        origin="result",
    ),
    Dimension(
        "security_table",
        str,
        "Table that security_bits is of: 2018 (HE Standard) or 2024 (guidelines, Bossuat et al.)",
        (f"{_SPEC}.security_table",),
        label="Security table",
        phrase="by the {} table",
        tells_apart=True,
    ),
    Dimension(
        "security_compared_2024",
        int,
        "Security by the guidelines (Bossuat et al., 2024) at which variants are compared: the requested security_bits "
        "by them with recommended tuning, else security_2024",
        (f"{_SPEC}.security_compared_2024", "parameters.security_2024"),
        unit="bits",
        label="Security (2024)",
        short="2024",
        written="level",
        origin="result",
        is_filter=True,
    ),
    Dimension(
        "level",
        int,
        "Level: data primes left less one, of the first operand of an operation or the highest operand of a layer. "
        "NULL for a case that does not choose it: its operands are fresh",
        (f"{_OF_FAMILY}.level",),
        unit="number",
        label="Level",
        phrase="level {}",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "residency",
        str,
        "cached: each execution has the operands of the one before. streamed: operands and results are in a pool of at "
        "least four times the last-level cache. NULL where the case does not choose it",
        (f"{_OF_FAMILY}.residency",),
        label="Residency",
        phrase="{} operands",
        tells_apart=True,
        is_filter=True,
    ),
    Dimension(
        "bootstrapping_bits",
        tuple,
        "Sizes of the primes inside bootstrapping, special primes last; NULL where modulus_bits has them",
        ("parameters.bootstrapping.modulus_bits",),
        unit="bits",
        label="Primes inside bootstrapping, bits",
        written="chain",
        origin="result",
    ),
)
for _dimension in _OF_CASES:
    register(_dimension)

MAX_REPETITIONS = register(
    Dimension("max_repetitions", int, "Maximum number of repetitions (experiments depth and noise).")
)
REPETITIONS = register(Dimension("repetitions", int, "Consecutive operations (experiment repetition)."))
DATA_SET: Dimension[str] = DIMENSIONS["data_set"]
LEVEL: Dimension[int] = DIMENSIONS["level"]
RESIDENCY: Dimension[str] = DIMENSIONS["residency"]
