"""The bodies of requests and answers, with a real one of each as an example."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ciphermark_analysis.comparison import COLUMNS
from ciphermark_benchmark import export
from ciphermark_core import descriptor
from ciphermark_core.metrics import Direction, ThresholdKind
from ciphermark_core.model import Status
from ciphermark_db.database import Table
from ciphermark_present.catalogue.comparing import Conclusion

State = Literal["queued", "running", "done", "cancelled", "failed", "recorded"]
_Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9@._-]+$")]


_RUN_ID = "927d5e7a-49c3-433d-81c6-666cae32cf41"
# A suite, as JSON and as YAML, an adapter, the dimensions that a case has a value in, and an answer of advice.
_EXAMPLES: dict[str, Any] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
_YAML: str = _EXAMPLES["suite_yaml"]
ADVICE: dict[str, Any] = _EXAMPLES["advice"]


class NeedsText(BaseModel):
    """What the host must have beside the suite's variants."""

    model_config = ConfigDict(extra="forbid")

    isa: list[_Word] = Field(
        [], max_length=50, description="CPU flags as the kernel names them", examples=[["avx512ifma"]]
    )
    memory_mb: int = Field(
        0,
        ge=0,
        le=1 << 24,
        description="memory in MiB; the predicted memory of the suite's largest case counts too",
        examples=[4096],
    )


class Submitted(BaseModel):
    """A suite to execute: by name, as JSON, or as YAML text."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"suite": "smoke"},
                {
                    "suite": _EXAMPLES["suite"],
                    "variants": ["seal"],
                    "needs": {"isa": ["avx2"], "memory_mb": 4096},
                },
                {"suite_yaml": _YAML},
            ]
        },
    )

    suite: Annotated[str, Field(max_length=200)] | dict[str, Any] | None = Field(
        None, description="name of a shipped suite, or a suite as JSON", examples=["smoke"]
    )
    suite_yaml: str | None = Field(
        None, description="a suite as YAML text, without anchors, aliases and tags", examples=[_YAML]
    )
    variants: list[_Word] = Field(
        [], max_length=100, description="only these variants of the suite; empty: all", examples=[["seal"]]
    )
    needs: NeedsText = NeedsText()

    @model_validator(mode="after")
    def _one_suite(self) -> Self:
        if (self.suite is None) == (self.suite_yaml is None):
            raise ValueError("give either suite or suite_yaml")
        return self


class Progress(BaseModel):
    """How far a trial of minutes is, with all of it as text in ``words``."""

    words: str = Field(examples=["lattigo, helr: iteration-2 (2 of 6 stages), 2.2 min left"])
    variant: str = Field(examples=["lattigo"])
    workload: str = Field(examples=["helr"])
    stage: str = Field(
        description="the latest stage that has ended, at the time `at`", examples=["iteration-2"]
    )
    done: int = Field(description="stages that have ended", examples=[2])
    total: int = Field(description="stages of the minimum number of passes", examples=[6])
    left_s: float = Field(description="estimated time of the other stages", examples=[130.0])
    at: datetime = Field(examples=["2026-11-21T21:26:24.897840Z"])


class RunLine(BaseModel):
    """A run in the list."""

    id: str = Field(examples=[_RUN_ID])
    suite: str = Field(examples=["mine"])
    state: State = Field(
        description="recorded: a run of the command line, as far as it is recorded", examples=["done"]
    )
    reason: str | None = Field(
        description="why it failed or was cancelled; of an open one: what went wrong last", examples=[None]
    )
    host: str | None = Field(description="the host that executes it, or did so last", examples=["bench"])
    attempts: int = Field(examples=[1])
    trials: int | None = Field(
        description="how many it comes to; null before a host has planned it", examples=[2]
    )
    submitted_at: datetime = Field(examples=["2026-11-21T21:26:19.476979Z"])
    started_at: datetime | None = Field(examples=["2026-11-21T21:26:22.003690Z"])
    ended_at: datetime | None = Field(examples=["2026-11-21T21:26:26.841157Z"])
    progress: Progress | None = Field(
        description="the trial under way, recorded every five seconds; null between such trials",
        examples=[None],
    )


class Part(BaseModel):
    """What one host did of a run: a run in the database."""

    id: str = Field(examples=[_RUN_ID])
    host: str = Field(examples=["bench"])
    trials: int = Field(examples=[2])
    started_at: datetime = Field(examples=["2026-11-21T21:26:24.897840Z"])


class RunDetail(RunLine):
    """A run with what is recorded of it."""

    recorded: dict[str, int] = Field(description="recorded trials by status", examples=[{"ok": 2}])
    parts: list[Part] = Field(description="one per host that worked on it; nearly always one")
    waits_for: str | None = Field(description="why a queued run waits", examples=[None])


class Suites(BaseModel):
    """The suites that can be submitted by name."""

    suites: list[str] = Field(examples=[["micro", "quick", "smoke"]])


class Runs(BaseModel):
    """Runs, the latest first. ``next`` is the value of ``before`` for those that follow."""

    runs: list[RunLine]
    next: str | None = Field(examples=[None])


class HostView(BaseModel):
    """A benchmark worker and what its host offers."""

    hostname: str = Field(examples=["bench"])
    fingerprint: str = Field(examples=["2b202a3319f72644"])
    cpu_model: str = Field(examples=["AMD EPYC"])
    variants: list[str] = Field(examples=[["openfhe", "pyfhel", "seal", "seal-hexl", "tenseal"]])
    isa: list[str] = Field(examples=[["avx2", "avx512f", "avx512ifma"]])
    memory_mb: int = Field(examples=[24105])
    cores: int | None = Field(
        description="cores that its worker may use; null if not reported", examples=[16]
    )
    since: datetime = Field(examples=["2026-11-21T21:26:22.048210Z"])
    last_heartbeat: datetime = Field(examples=["2026-11-21T21:26:26.037521Z"])
    is_alive: bool = Field(examples=[True])
    run_id: str | None = Field(description="what it executes", examples=[_RUN_ID])
    waits_for: str | None = Field(
        description="what it waits for before it takes runs, such as a machine that another worker has",
        examples=[None],
    )


class Hosts(BaseModel):
    """All benchmark workers."""

    hosts: list[HostView]


class Adapters(BaseModel):
    """The libraries on the host of the API."""

    adapters: list[dict[str, Any]] = Field(
        description="each with what its library reports, and what it can do",
        examples=[[_EXAMPLES["adapter"]]],
    )


class _CaseRow(BaseModel):
    """Which case of which run a row is of."""

    model_config = ConfigDict(extra="forbid")

    case_info_id: int = Field(examples=[1])
    run_id: UUID = Field(examples=["927d5e7a-49c3-433d-81c6-666cae32cf41"])
    case_key: str = Field(examples=["72e9463de274ecbc60f160974f57b060"])
    comparison_group: str = Field(examples=["60eea248aa57dff78b9a2d405f8107fd"])
    build_id: str | None = Field(examples=["3f5b7a1c9d2e4f60"])
    parameter_set_id: str | None = Field(examples=["5dbf700bbb51870abb2e45cfbe21ea88"])
    status: Status = Field(examples=["ok"])


# JSON types of dimensions whose own kind is not a JSON type.
_IN_JSON: dict[type, Any] = {tuple: list[int], dict: dict[str, str | int | float | bool]}
_FIELDS: dict[str, Any] = {
    dimension.name: (
        _IN_JSON.get(dimension.kind, dimension.kind) | None,
        Field(description=dimension.sentence, examples=[_EXAMPLES["case"].get(dimension.name)]),
    )
    for dimension in descriptor.columns()
}
_Dimensions = create_model("_Dimensions", __base__=_CaseRow, **_FIELDS)


class ResultRow(_Dimensions):
    """A row of the view `results`; docs/reference/sql/results.md explains its columns."""

    top_level: int | None = Field(examples=[1])
    suite: str = Field(examples=["mine"])
    started_at: datetime = Field(examples=["2026-11-21T21:26:24.897840+00:00"])
    host: str = Field(examples=["bench"])
    host_fingerprint: str = Field(examples=["2b202a3319f72644"])
    phase: str | None = Field(examples=["evaluate"])
    stage: str | None = Field(examples=["evaluate"])
    party: str | None = Field(examples=[None])
    step: str | None = Field(examples=[None])
    metric: str | None = Field(examples=["time"])
    unit: str | None = Field(examples=["s"])
    repetitions: int | None = Field(examples=[None])
    n: int | None = Field(examples=[30])
    median: float | None = Field(examples=[5.598375e-06])
    ci_low: float | None = Field(examples=[5.51575e-06])
    ci_high: float | None = Field(examples=[5.811e-06])
    mad: float | None = Field(examples=[2.040000000000005e-07])
    min: float | None = Field(examples=[5.135e-06])
    max: float | None = Field(examples=[1.763125e-05])
    uncorrected_n: int | None = Field(examples=[30])
    uncorrected_median: float | None = Field(examples=[5.699e-06])
    uncorrected_ci_low: float | None = Field(examples=[5.612e-06])
    uncorrected_ci_high: float | None = Field(examples=[5.902e-06])
    direction: Direction | None = Field(examples=["lower"])
    threshold: float | None = Field(examples=[1.05])
    threshold_kind: ThresholdKind | None = Field(examples=["factor"])
    error: str | None = Field(examples=[None])
    is_composite: bool = Field(examples=[False])
    undisturbed_share: float | None = Field(examples=[0.9333333333333333])
    slowdown: float | None = Field(examples=[1.018])
    reference_kernel_s: float | None = Field(examples=[4.2252e-05])
    reference_kernel_spread: float | None = Field(examples=[0.021])
    steal_share: float | None = Field(examples=[0.0])
    memory_kernel_s: float | None = Field(examples=[4.6e-05])
    executed_ciphertexts: int | None = Field(examples=[None])


# Columns of a comparison that rows of results lack or define otherwise. Other columns belong to one run (`a_median`) or
# to both (`vector_length`).
_OF_TWO_RUNS: dict[str, tuple[Any, Any]] = {
    "data_set": (str | None, Field(examples=[None])),
    "ratio": (float | None, Field(description="run b divided by run a", examples=[0.9993083136239903])),
    "ratio_low": (float | None, Field(examples=[0.9586356723875733])),
    "ratio_high": (float | None, Field(examples=[1.0845464725643896])),
    "reference_kernel_ratio": (
        float | None,
        Field(
            description="the reference kernel's time in run b divided by that in run a",
            examples=[0.9968],
        ),
    ),
    "detectable_slowdown": (
        float | None,
        Field(
            description="the smallest slowdown, a factor, that would be reported with a probability of 80%",
            examples=[1.1436],
        ),
    ),
    "verdict": (str, Field(examples=["undecided"])),
    "remark": (str, Field(examples=[""])),
    "a_run_id": (UUID | None, Field(examples=["927d5e7a-49c3-433d-81c6-666cae32cf41"])),
    "b_run_id": (UUID | None, Field(examples=["df71e836-d3cd-49ec-aa59-1c75ad3a2795"])),
}


def _of_either_run(column: str) -> tuple[Any, Any]:
    """A field of a comparison, typed as in rows of results: of both runs, or of run a or b only and then optional."""
    if column in ResultRow.model_fields:
        field = ResultRow.model_fields[column]
        return field.annotation, field
    field = ResultRow.model_fields[column.removeprefix("a_").removeprefix("b_")]
    return field.annotation, field


_COMPARED: dict[str, Any] = {
    column: _OF_TWO_RUNS.get(column) or _of_either_run(column)
    for column in dict.fromkeys((*COLUMNS, *_OF_TWO_RUNS))
}
_Compared = create_model("_Compared", __config__=ConfigDict(extra="forbid"), **_COMPARED)


class ComparedRow(_Compared):
    """What two runs have of one case, phase and metric. The ratio is the median of run a over that of run b, with its
    interval, which holds together with those of all times and is widened by what the hosts' reference kernels differ.
    `verdict` is `slower`, `faster`, `unchanged` or `undecided` for times, `better`, `worse`, `unchanged` or `changed`
    for other metrics, or `failed`, `fixed` or `not comparable`, with a reason behind a colon where there is one.
    `remark` says how parameters and hosts differ.
    """


class Comparison(BaseModel):
    """Two runs: the verdict of the whole, which `ciphermark compare` reports as its exit code, and every case."""

    model_config = ConfigDict(extra="forbid")

    conclusion: Conclusion = Field(examples=["undecided"])
    exit_code: int = Field(
        ge=0,
        le=3,
        description="0: no regression; 1: regression; 2: nothing compared; 3: undecided",
        examples=[3],
    )
    verdicts: dict[str, int] = Field(
        description="how many results have each verdict; peak memory that all operations share counts once",
        examples=[{"undecided": 3, "unchanged": 40}],
    )
    accepted: int = Field(description="undecided results that `require_power` accepts", examples=[0])
    times: int = Field(description="times that are judged together", examples=[31])
    false_alarm_rate: float = Field(
        description="the probability that equal builds are reported as different", examples=[0.05]
    )
    detectable_median: float | None = Field(
        description="the smallest slowdown, a factor, that would be reported with a probability of 80%: median",
        examples=[1.1436],
    )
    detectable_largest: float | None = Field(
        description="the same: maximum over all times", examples=[1.4127]
    )
    results: list[ComparedRow]


def example_csv(row: type[BaseModel]) -> str:
    """The row's example as CSV, with a header."""
    values = tuple((field.examples or [None])[0] for field in row.model_fields.values())
    return export.rendered(Table(tuple(row.model_fields), [values]), "csv").decode()
