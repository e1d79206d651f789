"""Rows of figures as JSON: what they hold, and a real one of each as an example."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model

from ciphermark_benchmark import export
from ciphermark_core import descriptor
from ciphermark_core.key_switching import Division
from ciphermark_core.metrics import Direction, FloorKind
from ciphermark_core.model import DataPattern, Scheme, Status
from ciphermark_db.database import Table


class _CaseRow(BaseModel):
    """Which case of which run a row is of."""

    model_config = ConfigDict(extra="forbid")

    case_info_id: int = Field(examples=[1])
    run_id: UUID = Field(examples=["927d5e7a-49c3-433d-81c6-666cae32cf41"])
    case_key: str = Field(examples=["72e9463de274ecbc60f160974f57b060"])
    comparison_key: str = Field(examples=["60eea248aa57dff78b9a2d405f8107fd"])
    build_id: str | None = Field(examples=["3f5b7a1c9d2e4f60"])
    parameter_set_id: str | None = Field(examples=["5dbf700bbb51870abb2e45cfbe21ea88"])
    status: Status = Field(examples=["ok"])


# Types of dimensions in JSON, where a dimension's own kind is none.
_IN_JSON: dict[type, Any] = {tuple: list[int], dict: dict[str, str | int | float | bool]}
# One case: the dimensions that it has a value in.
_CASE: dict[str, Any] = {
    "variant": "seal",
    "library": "SEAL",
    "library_version": "4.1.2",
    "hexl": False,
    "is_debug": False,
    "is_reference": False,
    "experiment": "arithmetic",
    "operation": "add",
    "scheme": "bfv",
    "ring_dimension": 2048,
    "requested_ring_dimension": 2048,
    "modulus_bits": [54],
    "plain_modulus": 1038337,
    "ring_dimension_is_minimum": False,
    "security_bits": 128,
    "division": "equal",
    "dimensions": {},
    "data_pattern": "random",
    "size": 2048,
    "threads": 1,
    "slots": 2048,
    "ciphertexts": 1,
    "log_q": 53.99999999999377,
    "log_qp": 53.99999999999377,
    "security_2018": 128,
    "security_2024": 0,
    "security_compared": 128,
    "special_primes": 0,
    "scaling": "exact",
    "secret_distribution": "uniform ternary",
    "encryption": "public key",
}
_FIELDS: dict[str, Any] = {
    dimension.name: (
        _IN_JSON.get(dimension.kind, dimension.kind) | None,
        Field(description=dimension.sentence, examples=[_CASE.get(dimension.name)]),
    )
    for dimension in descriptor.columns()
}
_Dimensions = create_model("_Dimensions", __base__=_CaseRow, **_FIELDS)


class ResultRow(_Dimensions):
    """A row of the view `results`; docs/sql.md tells what its columns mean."""

    suite: str = Field(examples=["mine"])
    started_at: datetime = Field(examples=["2026-11-21T21:26:24.897840+00:00"])
    host: str = Field(examples=["bench"])
    host_fingerprint: str = Field(examples=["2b202a3319f72644"])
    phase: str | None = Field(examples=["operation"])
    stage: str | None = Field(examples=["operation"])
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
    floor: float | None = Field(examples=[1.05])
    floor_kind: FloorKind | None = Field(examples=["factor"])
    error: str | None = Field(examples=[None])
    is_composed: bool = Field(examples=[False])
    quiet_share: float | None = Field(examples=[0.9333333333333333])
    slow_down: float | None = Field(examples=[1.018])
    anchor_s: float | None = Field(examples=[4.2252e-05])
    anchor_spread: float | None = Field(examples=[0.021])
    steal_share: float | None = Field(examples=[0.0])
    executed_ciphertexts: int | None = Field(examples=[None])


class ComparedRow(BaseModel):
    """What two runs have of one case, phase and metric. The ratio is the median of run a over that of run b, with its
    interval, widened by what the hosts' anchors differ; `verdict` puts it into words, with a reason behind a colon
    where there is one, `remark` says how parameters and hosts differ.
    """

    model_config = ConfigDict(extra="forbid")

    variant: str = Field(examples=["seal"])
    scheme: Scheme = Field(examples=["bfv"])
    ring_dimension: int = Field(examples=[2048])
    experiment: str = Field(examples=["arithmetic"])
    operation: str = Field(examples=["add"])
    phase: str | None = Field(examples=["operation"])
    size: int = Field(examples=[2048])
    data_pattern: DataPattern = Field(examples=["random"])
    data_set: str | None = Field(examples=[None])
    threads: int = Field(examples=[1])
    repetitions: int | None = Field(examples=[None])
    metric: str | None = Field(examples=["time"])
    unit: str | None = Field(examples=["s"])
    comparison_key: str = Field(examples=["60eea248aa57dff78b9a2d405f8107fd"])
    division: Division = Field(examples=["equal"])
    modulus_bits: list[int] | None = Field(examples=[[54]])
    plain_modulus: int | None = Field(examples=[1038337])
    scale: float | None = Field(examples=[None])
    security_bits: int = Field(examples=[128])
    chain_depth: int | None = Field(examples=[None])
    ring_dimension_is_minimum: bool = Field(examples=[False])
    dimensions: dict[str, str | int | float | bool] = Field(examples=[{}])
    a_security_2018: int | None = Field(examples=[128])
    a_security_2024: int | None = Field(examples=[0])
    b_security_2018: int | None = Field(examples=[128])
    b_security_2024: int | None = Field(examples=[0])
    a_key_switching: str | None = Field(examples=[None])
    b_key_switching: str | None = Field(examples=[None])
    a_digits: int | None = Field(examples=[None])
    b_digits: int | None = Field(examples=[None])
    a_parameter_set_id: str | None = Field(examples=["5dbf700bbb51870abb2e45cfbe21ea88"])
    b_parameter_set_id: str | None = Field(examples=["5dbf700bbb51870abb2e45cfbe21ea88"])
    a_median: float | None = Field(examples=[5.598375e-06])
    b_median: float | None = Field(examples=[5.6022500000000004e-06])
    a_quiet_share: float | None = Field(examples=[0.9333333333333333])
    b_quiet_share: float | None = Field(examples=[1.0])
    ratio: float | None = Field(examples=[0.9993083136239903])
    ratio_low: float | None = Field(examples=[0.9586356723875733])
    ratio_high: float | None = Field(examples=[1.0845464725643896])
    anchor_ratio: float | None = Field(
        description="the anchor's time beside run a's samples over that beside run b's", examples=[0.9968]
    )
    verdict: str = Field(examples=["no difference"])
    remark: str = Field(examples=[""])
    a_run_id: UUID | None = Field(examples=["927d5e7a-49c3-433d-81c6-666cae32cf41"])
    b_run_id: UUID | None = Field(examples=["df71e836-d3cd-49ec-aa59-1c75ad3a2795"])


def example_csv(row: type[BaseModel]) -> str:
    """The row's example as CSV, under its header."""
    values = tuple((field.examples or [None])[0] for field in row.model_fields.values())
    return export.rendered(Table(tuple(row.model_fields), [values]), "csv").decode()
