"""What the client tells of data sets and workloads over REST."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from ciphermark_core.model import Scheme
from ciphermark_workloads.workload import Stage


class DataSetFacts(BaseModel):
    """A data set that this client has."""

    name: str = Field(examples=["boston"])
    rows: int = Field(examples=[506])
    features: int = Field(examples=[13])


class WorkloadFacts(BaseModel):
    """A workload: its stages in order, and the defaults of its options."""

    name: str = Field(examples=["lmc-plain"])
    family: str = Field(examples=["learning"])
    title: str = Field(examples=["linear means, trained in the clear"])
    stages: tuple[Stage, ...] = Field(
        examples=[[{"name": "train", "returns": "nothing"}, {"name": "infer", "returns": "result"}]]
    )
    schemes: tuple[Scheme, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
    takes_data: bool = Field(description="it computes on a data set", examples=[True])
    options: dict[str, Any] = Field(examples=[{"test_share": 0.2}])
