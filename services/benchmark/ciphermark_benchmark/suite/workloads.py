"""The form of an experiment with workloads of one family."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from ciphermark_benchmark.data_sets.finder import DataSetText, Finder, Remembered, options_key
from ciphermark_benchmark.suite.dimensions import Several
from ciphermark_benchmark.suite.fields import (
    Divisions,
    PlainModulus,
    PrimeBits,
    RingDimension,
    ScaleBits,
    Strict,
    Variant,
)
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import EXACT_SCHEMES, Scheme
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure.parties.messages import MOST_BATCH
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, families
from ciphermark_workloads.options import combinations

T = TypeVar("T")
_SCHEMES_WITH: dict[str, tuple[Scheme, ...]] = {"scale_bits": ("ckks",), "plain_modulus": EXACT_SCHEMES}


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
    batch: Several[Annotated[int, Field(ge=1, le=MOST_BATCH)]] = Field(
        [1], description="inputs that one program computes on in a pass", examples=[[1, 8]]
    )
    threads: Several[Annotated[int, Field(ge=1, le=4096)]] = Field(
        [1], description="threads a library may use", examples=[[1, 2]]
    )
    division: Divisions = "equal"
    security: Literal[128, 192, 256, "none"] = Field(
        128,
        description="least level by the 2018 table, in bits; none has to be written to allow less than 128",
        examples=[192],
    )

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
        if value is not None and taken and not taken & set(_SCHEMES_WITH[name]):
            raise ValueError(
                f"{name} is for {' and '.join(_SCHEMES_WITH[name])}, and this is {', '.join(sorted(taken))}"
            )
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
