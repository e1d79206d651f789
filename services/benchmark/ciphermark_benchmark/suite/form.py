"""Suites: the YAML form, checked at the edge, and its page of documentation. What they mean is decided in
:mod:`.plan`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from ruamel.yaml import YAML

from ciphermark_benchmark.data_sets.finder import DataSetText, Finder, Remembered, options_key
from ciphermark_benchmark.suite.fields import (
    PRODUCTS,
    VARIED,
    BootstrappingText,
    BudgetText,
    OperationText,
    PlainModulus,
    PrimeBits,
    RingDimension,
    ScaleBits,
    Security,
    Several,
    Strict,
    Threads,
    Tunings,
    Variant,
    as_list,
    distinct,
    field_of,
    owned,
    require_known,
    written,
)
from ciphermark_core.descriptor import REPETITIONS, Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import EXACT_SCHEMES, Scheme, offered
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.parties.messages import MAX_INPUTS_PER_PASS
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, families
from ciphermark_workloads.options import combinations

if TYPE_CHECKING:
    KindName = str
else:
    KindName = Literal[tuple(KINDS)]
# Kinds whose chain has a length of its own: that many multiplications are what `for-depth` makes room for.
_REPEATING = tuple(row.name for row in KINDS.values() if any(v.dimension is REPETITIONS for v in row.varied))

_DEEPEST = 1024
_LARGEST_SIZE = 1 << 40  # elements: 8 TB in the clear

# The mappings of a suite, in the order of the page: name of the definition, heading, what it is.
_SECTIONS = (
    ("", "A suite", "The keys at the top of a file."),
    ("BudgetText", "`budget`", "How much measuring each trial gets."),
    (
        "ExperimentText",
        "An experiment",
        "Operations and chains of them, on vectors. What takes a list makes a case of every combination.",
    ),
    (
        "WorkloadText",
        "An experiment with workloads",
        "Whole computations between two parties; the kind is the name of their family (`ciphermark workload list`).",
    ),
    ("PlainModulus", "`plain_modulus`", "One of both."),
    ("SecurityText", "`security`", "Both, where the level is not of the HE Standard (2018)."),
)
_BEGINNING = """# Every key of a suite

Written by `ciphermark suite keys` from the form that suites are checked with; `ciphermark suite schema` is the same
for editors. `ciphermark suite new` writes a suite for you, and the [cookbook](cookbook.md) has suites for what people
ask.
"""

T = TypeVar("T")


_SCHEMES_WITH: dict[str, tuple[Scheme, ...]] = {"scale_bits": ("ckks",), "plain_modulus": EXACT_SCHEMES}


def _require_scheme_with(name: str, schemes: Sequence[Scheme]) -> None:
    """Raise ``ValueError`` for a key that none of the schemes has; whatever is given where no scheme is known."""
    if schemes and not {*schemes} & {*_SCHEMES_WITH[name]}:
        raise ValueError(
            f"{name} is for {' and '.join(_SCHEMES_WITH[name])}, and this is {', '.join(schemes)}"
        )


class Matrix(Strict):
    """What all experiments but those of workloads have."""

    kind: KindName = Field(description="what is measured", examples=["arithmetic"])
    variants: Several[Variant] = Field(
        description="libraries, each in one build; `seal@mine` is seal under a label of its own",
        examples=[["seal", "seal-hexl", "openfhe"]],
    )
    schemes: Several[Scheme] = Field(
        description="bfv and bgv compute exactly modulo t, ckks approximately", examples=[["bfv", "ckks"]]
    )
    ring_dimension: Literal["smallest-secure"] | Several[RingDimension] = Field(
        description="N; smallest-secure: the smallest at which the modulus chain is secure, for each library by itself",
        examples=["smallest-secure"],
    )
    modulus_bits: Literal["default", "for-depth"] | Annotated[list[PrimeBits], Field(min_length=1)] = Field(
        "default",
        validate_default=True,
        description="prime sizes, special prime last, or the library's default modulus chain; for-depth: one that "
        "Ciphermark makes for `depth` consecutive multiplications",
        examples=[[60, 40, 40, 60]],
    )
    depth: Annotated[int, Field(ge=1, le=_DEEPEST)] | None = Field(
        None,
        validate_default=True,
        description="consecutive multiplications that `modulus_bits: for-depth` has room for; in the kind repetition, "
        "as many as `repetitions` where it is not given",
        examples=[3],
    )
    plain_modulus: PlainModulus = Field(
        PlainModulus(bits=20),
        description="t of bfv and bgv, by its size or its value: results are exact modulo t",
        examples=[{"bits": 30}],
    )
    scale_bits: ScaleBits = Field(30, description="log2 of the ckks scale", examples=[40])
    vector_length: Several[Annotated[int, Field(ge=1, le=_LARGEST_SIZE)] | Literal["full"]] = Field(
        ["full"],
        validate_default=True,
        description="values in the vector; full: as many as one ciphertext holds",
        examples=[["full", 1000000]],
    )
    data: Several[Literal["constant", "random"]] = Field(
        ["random"], description="one value in all slots, or random values", examples=[["constant", "random"]]
    )
    operations: Annotated[Several[OperationText] | None, BeforeValidator(written)] = Field(
        None,
        description="operations, with arguments where they take some; where none is named, the usual ones of the kind",
        examples=[["add", "mul", {"rotate": [1, 64]}]],
    )
    threads: Threads = Field([1])
    tuning: Tunings = "matched"
    bootstrapping: BootstrappingText | None = Field(
        None,
        description="how ckks is bootstrapped: the operation bootstrap needs it",
        examples=[{"level_budget": [2, 2]}],
    )
    security: Security = 128
    allow: Annotated[list[Literal["small-primes"]], AfterValidator(distinct)] = Field(
        [],
        description="small-primes: ckks modulus chains with primes under 30 bits at N ≥ 8192",
        examples=[["small-primes"]],
    )

    def dimensions(self) -> list[dict[str, Value]]:
        """Every combination of what this kind alone varies, under the names of its dimensions."""
        names = [varied.dimension.name for varied in KINDS[self.kind].varied]
        return [
            dict(zip(names, values, strict=True))
            for values in product(*(as_list(getattr(self, name)) for name in names))
        ]

    @field_validator("modulus_bits")
    @classmethod
    def _chain_is_known(cls, value: T, info: ValidationInfo) -> T:
        if value == "default" and info.data.get("ring_dimension") == "smallest-secure":
            raise ValueError(
                "default depends on the ring dimension, so `ring_dimension: smallest-secure` needs "
                "`modulus_bits: for-depth` or prime sizes"
            )
        return value

    @field_validator("depth")
    @classmethod
    def _depth_is_told(cls, value: int | None, info: ValidationInfo) -> int | None:
        is_asked = info.data.get("modulus_bits", "for-depth") == "for-depth"
        if value is not None and not is_asked:
            raise ValueError(
                "depth is what `modulus_bits: for-depth` has room for: write that, or leave depth out"
            )
        is_for_depth = info.data.get("modulus_bits") == "for-depth"
        if value is None and is_for_depth and info.data.get("kind", _REPEATING[0]) not in _REPEATING:
            raise ValueError(
                "for-depth needs `depth`: how many consecutive multiplications the chain has room for, such as 3"
            )
        return value

    @field_validator("vector_length")
    @classmethod
    def _size_is_known(cls, value: list[T], info: ValidationInfo) -> list[T]:
        if "full" in value and info.data.get("ring_dimension") == "smallest-secure":
            raise ValueError(
                "full depends on the ring dimension, which may differ from library to library with "
                "`ring_dimension: smallest-secure`: write a number, such as [16]"
            )
        return value

    @field_validator("scale_bits", "plain_modulus")
    @classmethod
    def _some_scheme_has_it(cls, value: T, info: ValidationInfo) -> T:
        _require_scheme_with(str(info.field_name), info.data.get("schemes", ()))
        return value

    @field_validator("security")
    @classmethod
    def _smallest_is_secure(cls, value: T, info: ValidationInfo) -> T:
        if value == "none" and info.data.get("ring_dimension") == "smallest-secure":
            raise ValueError(
                "`ring_dimension: smallest-secure` needs a security level: write 128, 192 or 256"
            )
        return value

    @field_validator("operations")
    @classmethod
    def _operations_exist(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        kind: str | None = info.data.get("kind")
        if kind is None:
            return value  # an unknown kind is complaint enough
        for text in value or ():
            require_known(text, kind)
        return value

    @field_validator("operations")
    @classmethod
    def _operations_fit_the_chain(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        repeats = info.data.get("kind") in _REPEATING and info.data.get("depth", 1) is None
        for name in value or ():
            if repeats and info.data.get("modulus_bits") == "for-depth" and name not in PRODUCTS:
                raise ValueError(
                    f"for-depth makes a modulus chain for so many {' or '.join(PRODUCTS)}, and {name!r} is none: write "
                    "`depth`, or give it an experiment of its own with prime sizes or `default`"
                )
        return value


def _family(name: str) -> str:
    if name not in families(WORKLOADS):
        raise ValueError(f"there is no family of workloads {name!r}")
    return name


def _workload(name: str, info: ValidationInfo) -> str:
    if user_workloads.is_own(name):
        finder: Finder = info.context or Remembered({})
        return finder.workload(name)
    names = sorted(WORKLOADS)
    if name not in names:
        raise ValueError(f"unknown workload {name!r}{did_you_mean(name, names)}; known: {', '.join(names)}")
    return name


class WorkloadText(Strict):
    """Workloads of one family, whose name is the kind, with the parameters that they are made for. Every combination of
    the lists is a case."""

    kind: Annotated[
        str,
        AfterValidator(_family),
        Field(
            json_schema_extra={"enum": list(families(WORKLOADS))},
            description="the family of the workloads",
            examples=["learning"],
        ),
    ]
    variants: Several[Variant] = Field(
        description="libraries, each in one build; `seal@mine` is seal under a label of its own",
        examples=[["seal", "tenseal"]],
    )
    workloads: Several[Annotated[str, AfterValidator(_workload)]] = Field(
        description="by name (`ciphermark workload list`), or files of your own", examples=[["lmc-encrypted"]]
    )
    data_sets: Several[DataSetText] | None = Field(
        None,
        validate_default=True,
        description="for workloads that take data: names, or CSV files relative to the suite file: a header, numbers, "
        "the label in the last column",
        examples=[["boston"]],
    )
    options: dict[str, Several[str | int | float | bool]] = Field(
        {},
        description="values of options, which every workload that is named must have",
        examples=[{"degree": [15, 79]}],
    )
    ring_dimension: Several[RingDimension] | None = Field(
        None, description="N, where it is to be another than recommended", examples=[[16384]]
    )
    schemes: Several[Scheme] | None = Field(
        None,
        description="those that are wanted; a workload has those of them that it offers",
        examples=[["ckks"]],
    )
    modulus_bits: Annotated[list[PrimeBits], Field(min_length=1)] | None = Field(
        None,
        description="prime sizes, special prime last, where they are to be others than recommended",
        examples=[[60, 40, 40, 60]],
    )
    scale_bits: ScaleBits | None = Field(
        None, description="log2 of the ckks scale, where it is to be another", examples=[40]
    )
    plain_modulus: PlainModulus | None = Field(
        None, description="t of bfv and bgv, where it is to be another", examples=[{"value": 65537}]
    )
    inputs_per_pass: Several[Annotated[int, Field(ge=1, le=MAX_INPUTS_PER_PASS)]] = Field(
        [1], description="inputs that one program computes on in a pass", examples=[[1, 8]]
    )
    threads: Threads = Field([1])
    tuning: Tunings = "matched"
    security: Security = 128

    _settled: dict[str, dict[str, Value]] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _settle(self, info: ValidationInfo) -> Self:
        finder: Finder = info.context or Remembered({})
        for name, chosen in product(self.workloads, combinations(self.options)):
            if user_workloads.files_named_in(WORKLOADS[name], chosen):
                self._settled[options_key(name, chosen)] = finder.with_files(WORKLOADS[name], chosen)
        return self

    @property
    def settled(self) -> dict[str, dict[str, Value]]:
        """Of the options that name files: all of them with what follows from those, by what the suite says."""
        return self._settled

    def chosen(self) -> Iterator[tuple[str, dict[str, Value]]]:
        """Every workload with every combination of its options."""
        for name, values in product(self.workloads, combinations(self.options)):
            yield name, self._settled.get(options_key(name, values), values)

    @field_validator("schemes")
    @classmethod
    def _every_workload_has_one(cls, value: list[Scheme] | None, info: ValidationInfo) -> list[Scheme] | None:
        for name in info.data.get("workloads", ()):
            offered = WORKLOADS[name].schemes
            if value is not None and not set(value) & set(offered):
                raise ValueError(f"the workload {name} offers none of these, only {', '.join(offered)}")
        return value

    @field_validator("scale_bits", "plain_modulus")
    @classmethod
    def _some_scheme_has_it(cls, value: T, info: ValidationInfo) -> T:
        name = str(info.field_name)
        offered = {
            scheme for workload in info.data.get("workloads", ()) for scheme in WORKLOADS[workload].schemes
        }
        taken = offered.intersection(info.data.get("schemes") or offered)
        if value is not None:
            _require_scheme_with(name, sorted(taken))
        return value

    @field_validator("workloads")
    @classmethod
    def _all_of_the_family(cls, value: list[str], info: ValidationInfo) -> list[str]:
        kind = info.data.get("kind")
        for name in value:
            if kind is not None and WORKLOADS[name].family != kind:
                raise ValueError(f"{name} is a workload of the kind {WORKLOADS[name].family}, not {kind}")
        return value

    @field_validator("data_sets")
    @classmethod
    def _data_where_they_are_taken(
        cls, value: list[DataSetText] | None, info: ValidationInfo
    ) -> list[DataSetText] | None:
        for name in info.data.get("workloads", ()):
            if WORKLOADS[name].takes_data and value is None:
                raise ValueError(f"the workload {name} takes a data set")
            if not WORKLOADS[name].takes_data and value is not None:
                raise ValueError(f"the workload {name} takes no data set")
        return value

    @field_validator("options")
    @classmethod
    def _options_that_there_are(
        cls, value: dict[str, list[Value]], info: ValidationInfo
    ) -> dict[str, list[Value]]:
        finder: Finder = info.context or Remembered({})
        for name, chosen in product(info.data.get("workloads", ()), combinations(value)):
            try:
                workload = WORKLOADS[name].with_options(finder.with_files(WORKLOADS[name], chosen))
                workload.parameters(workload.schemes[0])
            except (UserError, Unsupported) as error:
                raise ValueError(str(error)) from None
        return value


if TYPE_CHECKING:
    ExperimentText = Matrix
else:
    ExperimentText = create_model(
        "ExperimentText",
        __base__=Matrix,
        __doc__="One experiment: every combination of its lists is a case.",
        __validators__={f"_{name}": owned(varied) for name, varied in VARIED.items()},
        **{name: (kind, Field(default, **notes)) for name, (kind, default, notes) in offered().items()},
        **{name: field_of(varied) for name, varied in VARIED.items()},
    )


def form_of(experiment: Any) -> str:
    """Which form an experiment has, by what is written as its kind."""
    is_family = isinstance(experiment, dict) and experiment.get("kind") in families(WORKLOADS)
    return "family" if is_family else "measured"


AnyExperiment = Annotated[
    Annotated[ExperimentText, Tag("measured")] | Annotated[WorkloadText, Tag("family")],
    Discriminator(form_of),
]
FORMS: dict[str, type[BaseModel]] = {"measured": ExperimentText, "family": WorkloadText}


class Suite(Strict):
    """What to measure."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        max_length=100,
        description="what results are found by; letters, digits, dots, dashes and underlines",
        examples=["mine"],
    )
    seed: int = Field(
        1, ge=0, lt=2**63, description="decides vectors, splits of data and the order of cases", examples=[7]
    )
    budget: BudgetText = Field(
        BudgetText(), description="how much measuring each trial gets", examples=[{"min_samples": 20}]
    )
    experiments: Annotated[list[AnyExperiment], Field(min_length=1)] = Field(
        description="what is measured: every combination of the lists of an experiment is a case"
    )

    @property
    def variants(self) -> set[str]:
        """All variants that it names."""
        return {name for experiment in self.experiments for name in experiment.variants}


def json_schema() -> dict[str, Any]:
    """JSON Schema of the suite form. Which variants and operations exist is checked when a suite is read."""
    return Suite.model_json_schema()


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_BEGINNING, *_sections(json_schema())])


def _sections(schema: Mapping[str, Any]) -> Iterator[str]:
    for definition, heading, sentence in _SECTIONS:
        mapping = schema["$defs"][definition] if definition else schema
        yield f"## {heading}\n\n{sentence}\n"
        yield "| key | values | default | meaning | example |"
        yield "|---|---|---|---|---|"
        for name, field in mapping["properties"].items():
            default = _default(field, name in mapping.get("required", ()))
            example = " ".join(f"`{name}: {_yaml(value)}`" for value in field.get("examples", ()))
            values = _values(field, schema["$defs"])
            yield f"| `{name}` | {values} | {default} | {field['description']} | {example} |"
        yield ""


def _default(field: Mapping[str, Any], is_required: bool) -> str:
    if is_required:
        return "must be given"
    value = field.get("default")
    return "none" if value is None else f"`{_yaml(value)}`"


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a field may be, in words, from its JSON Schema."""
    if "anyOf" in field:
        several = [_values(item, definitions) for item in field["anyOf"] if item.get("type") != "null"]
        return " or ".join(dict.fromkeys(several))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        has_section = any(name == section for section, _, _ in _SECTIONS)
        return "mapping, see below" if has_section else _values(definitions[name], definitions)
    return _of_type(field, definitions)


def _of_type(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    match field.get("type"):
        case "array":
            items = field.get("items", {})
            return "list of experiments" if "oneOf" in items else f"list of {_values(items, definitions)}"
        case "integer":
            return f"whole number{_range(field)}"
        case "number":
            return f"number{_range(field)}"
        case "object":
            return "mapping"
        case _:
            return "text"


def _range(field: Mapping[str, Any]) -> str:
    least = field.get("minimum", field.get("exclusiveMinimum"))
    most = field.get("maximum", field.get("exclusiveMaximum"))
    above = None if least is None else f"{'above' if 'exclusiveMinimum' in field else 'from'} {least:,}"
    below = None if most is None else f"{'below' if 'exclusiveMaximum' in field else 'to'} {most:,}"
    bounds = [text for text in (above, below) if text]
    return f" {' '.join(bounds)}" if bounds else ""


def _yaml(value: Any) -> str:
    """A value as a suite has it, on one line; of a mapping what is set."""
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if item is not None}
    yaml = YAML(typ="safe")
    yaml.default_flow_style, yaml.width = True, 10_000
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().removesuffix("...\n").strip()
