"""What is asked of the two parties of a workload, and what they answer.

The same structures travel over pipes (a party in a local process) and, as JSON, over REST. Bulk never does: contexts,
keys and ciphertexts are blobs in a store that both parties reach, named here by digest.

A party answers one request at a time. In order: ``MakeKeys``, ``Load``; then, as often as wanted, one pass: ``Encrypt``
and ``Evaluate`` for each phase of the workload, and ``Score``. Instead of its reply a party may answer ``Refused``.

Samples of a reply tell what the party itself did, step by step: ``time`` and ``cpu_time`` (s) with
``stage`` and ``step`` of :data:`Stage` and :data:`Step`; and with the ``party`` instead of a step the sum of its
steps, and ``peak_memory`` (bytes). Getting and storing blobs is no step: it is part of the transfer.

Two things that a party does while it is asked are not of the stage, and whoever asks takes them off its time: what is
done to judge and to record alone, ``<stage>.check``, which is in no sum (what a client computes in the clear; facts of
the library's build); and, before a client encrypts for a model in the clear, the training of that model, which is a
stage ``train`` of its own.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ciphermark_core.model import Accuracy, LibraryInfo, Parameters, ParameterSpec, Sample
from ciphermark_measure.blobs import Blob
from ciphermark_measure.protocol import Hello, Refused
from ciphermark_workloads.learning.workload import Phase

VERSION = 1

Role = Literal["client", "server"]
Stage = Literal["prepare", "train", "infer"]  # keys and their loading; then the phases of the workload
# ``load`` makes the library ready; ``fit`` trains in the clear; ``pack`` lays numbers out in vectors, ``unpack`` finds
# the scores in decrypted vectors; ``encode`` is what a server does once for a model; ``transfer`` is what is left of
# the whole when the parties' own steps are taken away. ``check`` is no part of the whole: see above.
Step = Literal[
    "load",
    "keys",
    "fit",
    "pack",
    "encrypt",
    "serialize",
    "deserialize",
    "encode",
    "evaluate",
    "decrypt",
    "unpack",
    "transfer",
    "check",
]
CHECK: Step = "check"
ENCODE: Step = "encode"
TRANSFER: Step = "transfer"
RETURNED = "returned"  # of sizes: what the server gave back


class DataSet(msgspec.Struct, frozen=True):
    """Which rows: a data set by its name (or the digest of one that the client was given), and how it is split."""

    name: str
    split_seed: int
    test_share: float = 0.2


# --- The client -----------------------------------------------------------------------------------------------------


class MakeKeys(msgspec.Struct, tag="make_keys", frozen=True):
    """Resolve the parameters and make the keys that a workload needs. The secret key stays in the process."""

    variant: str
    parameters: ParameterSpec
    workload: str


class KeysMade(msgspec.Struct, tag="keys_made", frozen=True):
    """``material`` is all that a server needs; ``phases`` are those of the workload, in order."""

    phases: tuple[Phase, ...]
    library: LibraryInfo
    parameters: Parameters
    material: Blob
    samples: tuple[Sample, ...]


class Encrypt(msgspec.Struct, tag="encrypt", frozen=True):
    """Prepare and encrypt the inputs of one phase of the workload."""

    phase: Phase
    data: DataSet


class Encrypted(msgspec.Struct, tag="encrypted", frozen=True):
    """``plain`` is what the server is told in the clear.

    ``plaintext_bytes`` is the size of the rows of this phase before encryption: 8 bytes a number, labels included
    where they are encrypted too.
    """

    inputs: tuple[Blob, ...]
    plain: Blob
    plaintext_bytes: int
    samples: tuple[Sample, ...]


class Score(msgspec.Struct, tag="score", frozen=True):
    """Decrypt the outputs of the last phase and compare the scores with those of the plaintext run."""

    outputs: tuple[Blob, ...]
    data: DataSet


class Scored(msgspec.Struct, tag="scored", frozen=True):
    """How good the scores are: see :mod:`ciphermark_measure.parties.quality`.

    ``samples`` hold those of the quality in phase ``infer``, too. ``complaint`` says why the outcome is wrong; ``None``
    where the rows agree with the plaintext run as well as they must.
    """

    accuracy: Accuracy
    complaint: str | None
    samples: tuple[Sample, ...]


# --- The server -----------------------------------------------------------------------------------------------------


class Load(msgspec.Struct, tag="load", frozen=True):
    """Make an evaluator of a client's public material."""

    variant: str
    workload: str
    material: Blob


class Loaded(msgspec.Struct, tag="loaded", frozen=True):
    """The server is ready to evaluate."""

    library: LibraryInfo
    parameters: Parameters
    samples: tuple[Sample, ...]


class Evaluate(msgspec.Struct, tag="evaluate", frozen=True):
    """Evaluate one phase. What it returns is kept as the state of the next phase, and also written as blobs."""

    phase: Phase
    inputs: tuple[Blob, ...]
    plain: Blob


class Evaluated(msgspec.Struct, tag="evaluated", frozen=True):
    """The outputs of a phase."""

    outputs: tuple[Blob, ...]
    samples: tuple[Sample, ...]


ClientRequest: TypeAlias = MakeKeys | Encrypt | Score
ServerRequest: TypeAlias = Load | Evaluate
Request: TypeAlias = ClientRequest | ServerRequest
Reply: TypeAlias = Hello | Refused | KeysMade | Encrypted | Scored | Loaded | Evaluated

_requests = {"client": msgspec.json.Decoder(ClientRequest), "server": msgspec.json.Decoder(ServerRequest)}
_reply = msgspec.json.Decoder(Reply)


def read_request(role: Role, line: bytes) -> Request:
    """Decode a request to a party of this role; raises ``ValueError`` for anything else."""
    request: Request = _requests[role].decode(line)
    return request


def read_reply(line: bytes) -> Reply:
    """Decode a party's reply; raises ``ValueError`` for anything else."""
    reply: Reply = _reply.decode(line)
    return reply
