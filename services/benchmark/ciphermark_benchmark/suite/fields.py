"""The common part of all experiments' forms: variants, rings, primes, dimensions, operations, budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from ciphermark_adapters import registry
from ciphermark_analysis.estimates import LOOKS
from ciphermark_benchmark.suite import renamed
from ciphermark_contract.operations import OPERATIONS, read, where
from ciphermark_core import security
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.key_switching import Tuning
from ciphermark_core.model import BootstrappingParameters
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import Varied

T = TypeVar("T")


def distinct(values: list[T]) -> list[T]:
    """Return the list; raise ``ValueError`` for duplicates."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise ValueError(f"{value!r} is listed twice")
    return values


Several = Annotated[list[T], Field(min_length=1), AfterValidator(distinct)]


def as_list(value: Any) -> list[Any]:
    """The value as a list; a single value becomes a list of one."""
    return value if isinstance(value, list) else [value]


def field_of(varied: Varied) -> tuple[Any, Any]:
    """A dimension as a field of the form: its type, and pydantic's field information."""
    number = Annotated[int, Field(ge=1, le=varied.most)]
    kind: Any = Several[number] if varied.is_list else number
    description = varied.dimension.sentence
    examples = [varied.example]
    if varied.default is not None:
        return kind, Field(varied.default, description=description, examples=examples)
    return kind | None, Field(None, validate_default=True, description=description, examples=examples)


def owned(varied: Varied) -> Any:
    """A validator: a dimension without a default is required where it is varied, and refused elsewhere."""
    name = varied.dimension.name
    owners = [row.name for row in KINDS.values() if varied in row.varied]

    def check(cls: type[BaseModel], value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        if kind in owners and value is None:
            sentence = varied.dimension.sentence.partition(" (")[0]
            meaning = f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}"
            raise ValueError(f"{kind} needs `{name}`: {meaning}, such as {varied.example}")
        if kind is not None and kind not in owners and value is not None and varied.default is None:
            raise ValueError(f"{name} are for the kind {' or '.join(owners)}, not for {kind}")
        return value

    return field_validator(name)(classmethod(check))


VARIED = {varied.dimension.name: varied for row in KINDS.values() for varied in row.varied}


# The largest ring of the security tables, and of any library here.
_LARGEST_RING = 131_072


def _variant(name: str) -> str:
    try:
        registry.declaration(name)
    except UserError as error:
        hint = did_you_mean(registry.base_variant(name), registry.declarations())
        raise ValueError(str(error) + hint) from None
    return name


def _ring_dimension(value: int) -> int:
    if value < 2 or value & (value - 1):
        raise ValueError(f"the ring dimension must be a power of two, not {value}")
    if value > _LARGEST_RING:
        raise ValueError(f"the ring dimension must be at most {_LARGEST_RING}, not {value}")
    return value


RingDimension = Annotated[int, AfterValidator(_ring_dimension)]
PrimeBits = Annotated[int, Field(ge=2, le=60)]
ScaleBits = Annotated[int, Field(ge=10, le=60)]
Level = Annotated[int, Field(ge=0, le=1024)]
Tunings = Annotated[
    Tuning | Several[Tuning],
    Field(
        description="matched: one key-switching method for all libraries; recommended: the settings of each library's "
        "documentation. The two are never ranked together",
        examples=[["matched", "recommended"]],
    ),
]
Variant = Annotated[str, AfterValidator(_variant)]
Threads = Annotated[
    Several[Annotated[int, Field(ge=1, le=4096)]],
    Field(description="number of threads of the library", examples=[[1, 2]]),
]


class Strict(BaseModel):
    """A form that knows its keys and types, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SecurityText(Strict):
    """A security level and the table that it is of."""

    bits: Literal[128, 192, 256] = Field(description="minimum level, in bits", examples=[128])
    table: Literal[2018, 2024] = Field(
        description="2018: HE Standard; 2024: guidelines (Bossuat et al.), which allow a few bits less of modulus",
        examples=[2024],
    )


Security = Annotated[
    Literal[128, 192, 256, "none"] | SecurityText,
    Field(
        description="minimum level in bits, and its table. A number alone refers to the HE Standard (2018); none "
        "allows less than 128 bits",
        examples=[{"bits": 128, "table": 2024}],
    ),
]


def asked_security(value: Literal[128, 192, 256, "none"] | SecurityText) -> tuple[int, security.Table]:
    """The security level, 0 for none, and its table."""
    if isinstance(value, SecurityText):
        return value.bits, _TABLES[value.table]
    return (0 if value == "none" else value), "2018"


_TABLES: Mapping[int, security.Table] = {int(table): table for table in security.TABLES}


class BootstrappingText(Strict):
    """How CKKS ciphertexts are bootstrapped; the modulus chain must include the levels for it."""

    level_budget: Annotated[list[Annotated[int, Field(ge=1, le=8)]], Field(min_length=2, max_length=2)] = (
        Field([3, 3], description="levels for encoding and decoding", examples=[[2, 2]])
    )
    slots: int | None = Field(
        None,
        ge=1,
        description="number of slots of every ciphertext, a power of 2; default: all",
        examples=[8],
    )
    iterations: int = Field(
        1, ge=1, le=8, description="number of iterations; a second one raises the precision", examples=[2]
    )
    precision_bits: int | None = Field(
        None, ge=1, le=60, description="precision of the first of several iterations", examples=[10]
    )
    slots_first: bool = Field(
        False, description="decode before the modulus is raised; default: as the last step", examples=[True]
    )

    @model_validator(mode="after")
    def _precision_is_of_the_first(self) -> Self:
        if (self.iterations > 1) != (self.precision_bits is not None):
            raise ValueError("precision_bits belongs to more than one of iterations, which need it")
        return self

    def parameters(self) -> BootstrappingParameters:
        """The parameters as in a parameter set."""
        first, last = self.level_budget
        return BootstrappingParameters(
            (first, last), self.slots, self.iterations, self.precision_bits, self.slots_first
        )


class PlainModulus(Strict):
    """The plaintext modulus t of BFV and BGV: its size in bits, or its value."""

    bits: int | None = Field(
        None, ge=2, le=60, description="the largest prime of this size that allows slots", examples=[20]
    )
    value: int | None = Field(
        None, ge=2, lt=1 << 60, description="the value of t: a prime with t ≡ 1 modulo 2N", examples=[65537]
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.bits is None) == (self.value is None):
            raise ValueError("plain_modulus takes either bits or value")
        return self


_WEEK_S = 7 * 24 * 3600
_LARGEST_MEMORY_MB = 1 << 24
_WIDEST = 0.5
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")
# Defaults of the limits of a budget with max_ci_half_width.
_MAX_SAMPLES = 64
_MAX_TIME_S = 10.0


def _share(value: Any) -> Any:
    """``2%`` as 0.02; other values unchanged."""
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    share = float(percent[1]) / 100 if percent else value
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= _WIDEST:
        raise ValueError(f"must be above 0% and at most {_WIDEST:.0%}, such as 2%, not {value!r}")
    return float(share)


HalfWidth = Annotated[
    float,
    BeforeValidator(_share),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": _WIDEST},
                {"type": "string", "pattern": f"^{_PERCENT.pattern}$"},
            ]
        }
    ),
]


class BudgetText(Strict):
    """The sampling budget of each trial."""

    processes: int = Field(
        1, ge=1, le=100, description="number of fresh worker processes per case", examples=[3]
    )
    min_samples: int = Field(
        10, ge=1, le=1_000_000, description="minimum number of samples per trial", examples=[20]
    )
    warmups: int = Field(
        1,
        ge=0,
        le=1000,
        description="number of samples, or passes of a workload, before those that count",
        examples=[2],
    )
    min_time_s: float = Field(
        0.3,
        ge=0,
        le=3600,
        description="minimum total time of an operation's samples, in seconds",
        examples=[0.5],
    )
    timeout_s: float = Field(
        300, gt=0, le=_WEEK_S, description="time limit of a trial, in seconds", examples=[60]
    )
    memory_mb: int = Field(
        8192,
        ge=64,
        le=_LARGEST_MEMORY_MB,
        description="limit of a worker's private memory, in MB",
        examples=[4096],
    )
    max_ci_half_width: HalfWidth | None = Field(
        None,
        description="relative half-width of the median's confidence interval at which sampling ends; without it, "
        "sampling ends at min_samples and min_time_s",
        examples=["2%"],
    )
    max_samples: int | None = Field(
        None,
        ge=1,
        le=LOOKS[-1],
        description="with max_ci_half_width: maximum number of samples; default: the larger of "
        f"{_MAX_SAMPLES} and min_samples",
        examples=[24],
    )
    max_time_s: float | None = Field(
        None,
        gt=0,
        le=_WEEK_S,
        description="with max_ci_half_width: maximum sampling time in seconds, once there are min_samples; default: "
        f"the larger of {_MAX_TIME_S:g} and min_time_s",
        examples=[2],
    )

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        reason = next(filter(None, (self._lacks_half_width(), self._too_few(), self._too_short())), None)
        if reason is not None:
            raise ValueError(reason)
        return self

    def _lacks_half_width(self) -> str | None:
        idle = [name for name in ("max_samples", "max_time_s") if getattr(self, name) is not None]
        if self.max_ci_half_width is None and idle:
            return f"{' and '.join(idle)} limit what `max_ci_half_width` asks for, and there is none"
        return None

    def _too_few(self) -> str | None:
        most = self.max_samples
        if most is None:
            return None
        if most < self.min_samples:
            return f"max_samples ({most}) is less than min_samples ({self.min_samples}), which are the least"
        if most < LOOKS[0]:
            return f"max_samples ({most}) is too few for max_ci_half_width, which needs {LOOKS[0]}"
        return None

    def _too_short(self) -> str | None:
        """The objection to contradictory times. Only explicit times are compared; defaults adapt."""
        written = {name: getattr(self, name) for name in ("min_time_s", "max_time_s", "timeout_s")}
        times = [(name, s) for name, s in written.items() if name in self.model_fields_set and s is not None]
        for (shorter, less_s), (longer, more_s) in pairwise(times):
            if less_s > more_s:
                return f"{shorter} ({less_s:g}) is more than {longer} ({more_s:g})"
        return None

    @property
    def budget(self) -> Budget:
        """The resulting budget, with defaults for all missing keys."""
        written = self.model_dump(exclude={"max_samples", "max_time_s"})
        if self.max_ci_half_width is None:
            return Budget(**written)
        max_time_s = self.max_time_s or min(max(_MAX_TIME_S, self.min_time_s), self.timeout_s)
        max_samples = self.max_samples or max(_MAX_SAMPLES, self.min_samples)
        return Budget(**written, max_samples=max_samples, max_time_s=max_time_s)


PRODUCTS = where(lambda row: row.is_product)


def _texts(name: str) -> Iterator[str]:
    """The texts of an operation in cases: one for each default argument, if it has arguments."""
    if name not in OPERATIONS:
        yield name
        return
    yield from (call.text for call in OPERATIONS[name].calls())


def defaults(kind: str) -> tuple[str, ...]:
    """The operations of an experiment if a suite names none."""
    return tuple(text for name in KINDS[kind].defaults for text in _texts(name))


def written(value: Any) -> Any:
    """The list of operations with one text per case: ``rotate: [1, 64]`` becomes ``rotate(1)`` and ``rotate(64)``."""
    if not isinstance(value, list):
        return value
    return [text for item in value for text in _written(item)]


def _written(item: Any) -> Iterator[Any]:
    if isinstance(item, Mapping):
        for name, arguments in item.items():
            yield from (_call(name, argument) for argument in as_list(arguments))
    elif isinstance(item, str):
        yield from _texts(item)
    else:
        yield item


def _call(name: Any, argument: Any) -> str:
    return f"{name}({', '.join(map(str, as_list(argument)))})"


def kind_of(text: str, kind: str) -> str:
    """The kind of an operation's cases in an experiment: another kind if only that one has the operation."""
    row = KINDS[kind]
    return kind if row.also is None or text.partition("(")[0] in row.operations else row.also


def require_known(text: str, kind: str) -> None:
    """Raise ``ValueError`` for an operation that is not in an experiment, or for invalid arguments."""
    row, name = KINDS[kind], text.partition("(")[0]
    operations = row.operations if row.also is None else (*row.operations, *KINDS[row.also].operations)
    now = renamed.VALUES.get(text, "")
    if now.partition("(")[0] in operations:
        raise ValueError(f"{text!r} is now {now!r}")
    if name not in operations:
        raise ValueError(
            f"unknown operation {name!r} for {kind}{did_you_mean(name, operations)}; "
            f"operations: {', '.join(operations)}"
        )
    if name in OPERATIONS:
        read(text)


def _json_schema() -> dict[str, Any]:
    with_arguments = {
        row.name: {
            "description": f"{row.summary} Takes {row.argument.sentence}.",
            "anyOf": [{"type": ["array", "number"]}],
        }
        for row in OPERATIONS.values()
        if row.argument is not None
    }
    return {
        "anyOf": [
            {"type": "string", "description": "a name, with arguments if it takes any: rotate(64)"},
            {"type": "object", "properties": with_arguments, "additionalProperties": False},
        ]
    }


OperationText = Annotated[str, WithJsonSchema(_json_schema())]
