"""What the server is told in the clear, as bytes: named arrays of float64."""

from __future__ import annotations

import msgspec
import numpy as np

from ciphermark_workloads.workload import Arrays


class _Array(msgspec.Struct, frozen=True, array_like=True):
    shape: tuple[int, ...]
    data: bytes


_decoder = msgspec.msgpack.Decoder(dict[str, _Array])


def dump(arrays: Arrays) -> bytes:
    """The arrays as bytes: equal arrays give equal bytes."""
    plain = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in sorted(arrays.items())}
    return msgspec.msgpack.encode({name: _Array(item.shape, item.tobytes()) for name, item in plain.items()})


def load(data: bytes) -> Arrays:
    """Read the arrays; raises ``ValueError`` for bytes that are none."""
    arrays = _decoder.decode(data)
    return {
        name: np.frombuffer(item.data, dtype="<f8").astype(np.float64).reshape(item.shape)
        for name, item in arrays.items()
    }
