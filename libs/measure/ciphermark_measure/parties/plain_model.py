"""What the server is told in the clear, as bytes: named arrays of float64."""

from __future__ import annotations

import msgspec
import numpy as np

from ciphermark_workloads.learning.workload import PlainModel


class _Array(msgspec.Struct, frozen=True, array_like=True):
    shape: tuple[int, ...]
    data: bytes


_decoder = msgspec.msgpack.Decoder(dict[str, _Array])


def dump(model: PlainModel) -> bytes:
    """The arrays as bytes: equal models give equal bytes."""
    arrays = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in sorted(model.items())}
    return msgspec.msgpack.encode({name: _Array(item.shape, item.tobytes()) for name, item in arrays.items()})


def load(data: bytes) -> PlainModel:
    """Read the arrays; raises ``ValueError`` for bytes that are none."""
    arrays = _decoder.decode(data)
    return {
        name: np.frombuffer(item.data, dtype="<f8").astype(np.float64).reshape(item.shape)
        for name, item in arrays.items()
    }
