"""What is asked of the two parties of a workload, and what they answer.

The same structures travel over pipes (a party in a local process) and, as JSON, over REST. Bulk never does: contexts,
keys and ciphertexts are blobs in a store that both parties reach, named here by digest.
"""

from __future__ import annotations

import msgspec

from ciphermark_core.words import Accuracy, LibraryInfo, Parameters, ParameterSpec, Sample


class Blob(msgspec.Struct, frozen=True):
    """A content-addressed blob: SHA-256 in hexadecimal, and size."""

    digest: str
    size_bytes: int


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
    """``material`` is all that a server needs."""

    library: LibraryInfo
    parameters: Parameters
    material: Blob
    samples: tuple[Sample, ...]


class Encrypt(msgspec.Struct, tag="encrypt", frozen=True):
    """Prepare and encrypt the inputs of one phase of the workload."""

    phase: str
    data: DataSet


class Encrypted(msgspec.Struct, tag="encrypted", frozen=True):
    """``plain`` is what the server is told in the clear; ``plaintext_bytes`` the size of the data before encryption."""

    inputs: tuple[Blob, ...]
    plain: Blob
    plaintext_bytes: int
    samples: tuple[Sample, ...]


class Score(msgspec.Struct, tag="score", frozen=True):
    """Decrypt the outputs of the last phase and compare them with the plaintext run."""

    outputs: tuple[Blob, ...]
    data: DataSet


class Scored(msgspec.Struct, tag="scored", frozen=True):
    """``samples`` hold quality: accuracy, MSE, agreement with the plaintext run, noise error."""

    accuracy: Accuracy
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

    phase: str
    inputs: tuple[Blob, ...]
    plain: Blob


class Evaluated(msgspec.Struct, tag="evaluated", frozen=True):
    """The outputs of a phase."""

    outputs: tuple[Blob, ...]
    samples: tuple[Sample, ...]


ClientRequest = MakeKeys | Encrypt | Score
ClientReply = KeysMade | Encrypted | Scored
ServerRequest = Load | Evaluate
ServerReply = Loaded | Evaluated
