"""The requests to the two parties of a workload, and their replies.

The same structures travel over pipes (a party in a local process) and, as JSON, over REST, whose schemas derive from
them. Bulk data does not: contexts, keys and ciphertexts are blobs in a store that both parties reach, named here by
digest.

A party answers one request at a time. The order is ``MakeKeys``, ``Load``, then any number of passes. A pass is
``Encrypt`` and ``Evaluate`` for each stage with the server, then ``Score``. After all passes, ``EvaluateLayers`` and
``CompareLayers`` may evaluate the last stage once more, layer by layer. A party may answer ``Refused`` instead of its
reply.

Samples of a reply cover the party's own work, step by step: ``time`` and ``cpu_time`` (s) with ``stage`` and ``step``.
With ``party`` instead of a step, they hold the sum of its steps, and ``peak_memory`` (bytes). Each time has its
``slowdown``, also where it ``is_disturbed``. Reading and storing blobs is no step: it is part of the transfer.

Two activities of a party during a request are not part of the stage, and the requester subtracts them from its time:

- Step ``check``, which is in no sum, only judges and records: a client's computation in the clear, facts of the
  library's build, readings of the host.
- Before a client encrypts, it computes the client-only stages, each a separate stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ciphermark_contract.operations import Shape
from ciphermark_core.descriptor import Value
from ciphermark_core.model import Accuracy, LayerFacts, LibraryInfo, Parameters, ParameterSpec, Sample, Scheme
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.protocol import Hello, Refused
from ciphermark_workloads.workload import Stage

VERSION = 11

# --- Fields that several messages have, with their limits ------------------------------------------------------------

MAX_BLOBS = 4096  # of one request
MAX_INPUTS_PER_PASS = 1 << 16
MAX_GIVEN = 1 << 16  # numbers of an input
MAX_PASSES = 1 << 10  # through layers
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
InputsPerPass = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_INPUTS_PER_PASS,
        description="inputs that are computed on by one program in a pass",
        examples=[1],
    ),
]
Threads = Annotated[
    Annotated[int, Meta(ge=1, le=4096)] | None,
    Meta(
        description="threads of the library, at most what CIPHERMARK_PARTY_THREADS allows, which is the default",
        examples=[1],
    ),
]
Blobs = Annotated[tuple[Blob, ...], Meta(min_length=1, max_length=MAX_BLOBS)]
LayerEnds = Annotated[
    tuple[Blobs, ...], Meta(description="the ciphertexts that each layer ends with, in order")
]
Samples = Annotated[tuple[Sample, ...], Meta(description="what the party measured while it worked")]
_Cost = Annotated[Annotated[float, Meta(ge=0, le=1e7)] | None, Meta(examples=[0.001])]  # s; a third of a year
_Kernel = Annotated[Annotated[float, Meta(ge=0, le=1e6)] | None, Meta(examples=[2.0])]
_Count = Annotated[Annotated[float, Meta(ge=0, le=1e12)] | None, Meta(examples=[31.0])]
# A spread is negative where other workers found a lower baseline.
_Ratio = Annotated[Annotated[float, Meta(ge=-1, le=1e6)] | None, Meta(examples=[1.02])]


class HostReadings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a party read of its host, as :meth:`~ciphermark_measure.parties.party.HostWatch.facts` reports it. Nothing
    else is recorded, whatever a service answers.
    """

    run_delay_s: _Cost = None
    steal_s: _Cost = None
    reference_kernel_version: _Kernel = None
    reference_kernel_gain: _Ratio = None
    reference_kernel_s: _Cost = None
    reference_kernel_spread: _Ratio = None
    reference_kernel_readings: _Count = None
    reference_kernel_cost_s: _Cost = None
    memory_kernel: _Kernel = None
    memory_kernel_s: _Cost = None
    memory_slowdown: _Ratio = None
    memory_cost_s: _Cost = None

    @property
    def by_name(self) -> dict[str, float]:
        """Those that were read."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


HostFacts = Annotated[
    HostReadings,
    Meta(
        description="what the party read of its host since its session began: the reference kernel, the memory "
        "kernel, the run-queue delay, steal time; null where it was not read",
        examples=[
            {
                "reference_kernel_s": 5.4e-05,
                "reference_kernel_spread": 0.02,
                "run_delay_s": 0.001,
                "steal_s": 0.0,
            }
        ],
    ),
]

Role = Literal["client", "server"]
PREPARE = "prepare"  # the stage before those of the workload: keys and their loading
# ``load`` makes the library ready. ``fit`` is a client's computation in a client-only stage. ``pack`` lays numbers out
# in vectors; ``unpack`` finds the output in decrypted vectors. ``trace`` makes the program of a stage and ``encode``
# its plaintext operands, both once where the server keeps them. ``transfer`` is the whole without the parties' own
# steps. ``check`` is not part of the whole: see above.
Step = Literal[
    "load",
    "keygen",
    "fit",
    "pack",
    "encrypt",
    "serialize",
    "deserialize",
    "trace",
    "encode",
    "evaluate",
    "decrypt",
    "unpack",
    "transfer",
    "check",
]
CHECK: Step = "check"
ENCODE: Step = "encode"
TRACE: Step = "trace"
TRANSFER: Step = "transfer"
RETURNED = "returned"  # of sizes: the server's results


class Collected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Garbage collections of a library while a party answered: their number, the seconds for which they stopped it, and
    the steps into which they fell.
    """

    cycles: Annotated[int, Meta(ge=0, le=1 << 40, examples=[0])] = 0
    paused_s: Annotated[float, Meta(ge=0, le=1e7, examples=[0.0])] = 0.0
    steps: Annotated[tuple[Step, ...], Meta(max_length=32, examples=[[]])] = ()


class Source(msgspec.Struct, frozen=True):
    """What an input is made of: a seed, and a data set where the workload takes one; or the numbers that it is."""

    seed: Annotated[int, Meta(ge=0, lt=1 << 32, examples=[1])]
    data_set: Annotated[
        Annotated[str, Meta(pattern=NAME)] | None,
        Meta(
            description="as `GET /v1/data-sets` lists them (or the digest of one that the client was given)",
            examples=["boston"],
        ),
    ] = None
    given: Annotated[
        Annotated[tuple[float, ...], Meta(min_length=1, max_length=MAX_GIVEN)] | None,
        Meta(
            description="the input itself, for workloads that take one: of inference pixels from 0 to 1, row by row; "
            "its result is returned",
            examples=[None],
        ),
    ] = None


# --- The client -----------------------------------------------------------------------------------------------------


class MakeKeys(msgspec.Struct, tag="make_keys", frozen=True):
    """Resolve the parameters and make the keys that a workload needs. The secret key stays in the process, unless a
    local run names it to resume from checkpoints: then the party keeps it in a folder of its own.

    Without ``parameters`` the workload's own are taken, for ``scheme`` or else the first that both it and the variant
    have. ``source`` is needed by workloads whose keys are those of their traced programs.
    """

    variant: Variant
    workload: WorkloadName
    parameters: ParameterSpec | None = None
    scheme: Annotated[
        Scheme | None, Meta(description="which of the workload's own parameters", examples=["bfv"])
    ] = None
    options: Options = {}
    inputs_per_pass: InputsPerPass = 1
    source: Annotated[Source | None, Meta(examples=[{"seed": 1, "data_set": "boston"}])] = None
    threads: Threads = None
    kept_as: Annotated[
        Annotated[str, Meta(pattern=NAME)] | None,
        Meta(
            description="the name of a secret key that is kept for checkpoints, or taken where it is kept; only for "
            "parties of a local run",
            examples=[None],
        ),
    ] = None


class KeysMade(msgspec.Struct, tag="keys_made", frozen=True):
    """Keys are made. ``material`` is all that a server needs; ``stages`` are those of the workload, in order.
    ``programs`` are the digests of the programs of a workload with checkpoints, whose secret key is kept.
    """

    stages: tuple[Stage, ...]
    library: LibraryInfo
    parameters: Parameters
    material: Blob
    samples: Samples
    host_facts: HostFacts = HostReadings()
    collected: Collected = Collected()
    programs: tuple[str, ...] = ()


class Encrypt(msgspec.Struct, tag="encrypt", frozen=True):
    """Encrypt what one stage of the workload needs."""

    stage: StageName
    source: Source


class Encrypted(msgspec.Struct, tag="encrypted", frozen=True):
    """Ciphertexts are blobs. ``public`` is what the server is told in the clear; ``plaintext_bytes`` the size of what
    was encrypted, before encryption: 8 bytes a number.
    """

    inputs: tuple[Blob, ...]
    public: Blob
    plaintext_bytes: Annotated[int, Meta(examples=[5304])]
    samples: Samples
    host_facts: HostFacts = HostReadings()
    collected: Collected = Collected()


class Score(msgspec.Struct, tag="score", frozen=True):
    """Decrypt what the last stage returned, and judge it."""

    outputs: Blobs
    source: Source


class Scored(msgspec.Struct, tag="scored", frozen=True):
    """How good the result is: see :meth:`~ciphermark_workloads.workload.Workload.judge`.

    ``samples`` hold the workload's own results, too. ``complaint`` says why the outcome is wrong; null where it is
    right. ``found`` is the output, to two digits after the point, where the input was given with the request.
    """

    accuracy: Accuracy
    complaint: Annotated[str | None, Meta(examples=[None])]
    samples: Samples
    found: Annotated[tuple[float, ...] | None, Meta(examples=[None])] = None
    host_facts: HostFacts = HostReadings()
    collected: Collected = Collected()


class CompareLayers(msgspec.Struct, tag="compare_layers", frozen=True):
    """Decrypt what each layer of the last stage ended with, of the first input, and compare it with the same operations
    on plain vectors.
    """

    source: Source
    ends: LayerEnds


class LayersCompared(msgspec.Struct, tag="layers_compared", frozen=True):
    """The largest value and the largest error of each layer, as samples with its name as their step. They were not
    measured while anything was timed.
    """

    samples: Samples


# --- The server -----------------------------------------------------------------------------------------------------


class Load(msgspec.Struct, tag="load", frozen=True):
    """Make an evaluator of a client's public material."""

    variant: Variant
    workload: WorkloadName
    material: Blob
    options: Options = {}
    inputs_per_pass: InputsPerPass = 1
    threads: Threads = None


class Loaded(msgspec.Struct, tag="loaded", frozen=True):
    """The evaluator is ready."""

    library: LibraryInfo
    parameters: Parameters
    samples: Samples
    host_facts: HostFacts = HostReadings()
    collected: Collected = Collected()


class State(msgspec.Struct, frozen=True):
    """The results of a stage: its ciphertexts, and their shapes in its program for one input."""

    outputs: Blobs
    shapes: Annotated[tuple[Shape, ...], Meta(max_length=MAX_BLOBS)]


class Evaluate(msgspec.Struct, tag="evaluate", frozen=True):
    """Evaluate one stage on ciphertexts. What it returns is kept as the next one's state, and written as blobs.

    ``state`` are the results of the stage before, where another server evaluated that.
    """

    stage: StageName
    inputs: Blobs
    public: Blob
    state: Annotated[State | None, Meta(examples=[None])] = None


class Evaluated(msgspec.Struct, tag="evaluated", frozen=True):
    """The outputs of a stage, and the digest of the program that was executed."""

    outputs: tuple[Blob, ...]
    program: Annotated[str, Meta(examples=["3c" * 32])]
    samples: Samples
    once: Annotated[
        tuple[Sample, ...],
        Meta(description="the steps `trace` and `encode` where their results are kept: they are in no sum"),
    ] = ()
    host_facts: HostFacts = HostReadings()
    collected: Collected = Collected()
    shapes: Annotated[tuple[Shape, ...], Meta(description="the shapes of the outputs for one input")] = ()


class Describe(msgspec.Struct, tag="describe", frozen=True):
    """Describe the program of an evaluated stage."""

    stage: StageName


class Described(msgspec.Struct, tag="described", frozen=True):
    """The bytes of a program, whose SHA-256 is its digest: see :class:`ciphermark_contract.program.Program`."""

    program: Annotated[bytes, Meta(examples=["gaA="])]
    layers: Annotated[
        tuple[LayerFacts, ...],
        Meta(description="its parts, in order, where the workload names several"),
    ] = ()


class EvaluateLayers(msgspec.Struct, tag="evaluate_layers", frozen=True):
    """Evaluate the last stage, which was evaluated before, on the first input of a pass and layer by layer: ``passes``
    times, after one that counts for nothing. The constants of layers take the place of the whole program's, which is
    rebuilt where that is evaluated once more.
    """

    inputs: Blobs
    passes: Annotated[int, Meta(ge=1, le=MAX_PASSES, examples=[6])]
    returns_ends: Annotated[
        bool, Meta(description="whether to give back what each layer ends with", examples=[True])
    ]


class LayersEvaluated(msgspec.Struct, tag="layers_evaluated", frozen=True):
    """The times of each layer, as samples with its name as their step."""

    ends: LayerEnds
    samples: Samples


ClientRequest: TypeAlias = MakeKeys | Encrypt | Score | CompareLayers
ServerRequest: TypeAlias = Load | Evaluate | Describe | EvaluateLayers
Request: TypeAlias = ClientRequest | ServerRequest
Reply: TypeAlias = (
    Hello
    | Refused
    | KeysMade
    | Encrypted
    | Scored
    | LayersCompared
    | Loaded
    | Evaluated
    | Described
    | LayersEvaluated
)

Watched: TypeAlias = KeysMade | Encrypted | Scored | Loaded | Evaluated  # those with facts of the host
Measured: TypeAlias = Watched | LayersCompared | LayersEvaluated  # those with samples


def samples_of(reply: Measured) -> tuple[Sample, ...]:
    """All samples of a reply, also of work done once."""
    return (reply.once if isinstance(reply, Evaluated) else ()) + reply.samples


# Each decodes one line, a request to a party of its role or a reply, and raises ``ValueError`` for anything else.
read_request: Mapping[Role, Callable[[bytes], Request]] = {
    "client": msgspec.json.Decoder(ClientRequest).decode,
    "server": msgspec.json.Decoder(ServerRequest).decode,
}
read_reply: Callable[[bytes], Reply] = msgspec.json.Decoder(Reply).decode
