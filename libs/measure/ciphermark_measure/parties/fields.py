"""Fields that several messages of parties have, with their limits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ciphermark_core.descriptor import Value
from ciphermark_core.model import Sample
from ciphermark_measure.blobs import Blob

MOST_BLOBS = 4096  # of one request
MOST_BATCH = 1 << 16
MOST_GIVEN = 1 << 16  # numbers of an input
MOST_PASSES = 1 << 10  # through layers
NAME = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"

Variant = Annotated[
    str, Meta(pattern=NAME, description="a variant as `GET /v1/adapters` lists them", examples=["seal"])
]
WorkloadName = Annotated[
    str,
    Meta(pattern=NAME, description="a workload as `GET /v1/workloads` lists them", examples=["lmc-plain"]),
]
StageName = Annotated[
    str,
    Meta(pattern=NAME, description="a stage of the workload, of those with a server", examples=["infer"]),
]
Options = Annotated[
    dict[str, Value], Meta(description="options of the workload; absent: its defaults", examples=[{}])
]
Batch = Annotated[
    int,
    Meta(
        ge=1, le=MOST_BATCH, description="inputs that are computed on by one program in a pass", examples=[1]
    ),
]
Threads = Annotated[
    Annotated[int, Meta(ge=1, le=4096)] | None,
    Meta(
        description="threads of the library, at most what CIPHERMARK_PARTY_THREADS allows, which is the default",
        examples=[1],
    ),
]
Blobs = Annotated[tuple[Blob, ...], Meta(min_length=1, max_length=MOST_BLOBS)]
LayerEnds = Annotated[
    tuple[Blobs, ...], Meta(description="the ciphertexts that each layer ends with, in order")
]
Samples = Annotated[tuple[Sample, ...], Meta(description="what the party measured while it worked")]
