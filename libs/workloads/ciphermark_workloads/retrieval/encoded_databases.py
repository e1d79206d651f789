"""What a server of retrieval reads for an answer, and how fast this host's memory gives as many bytes: no answer is
sooner than its store is read once, unless a cache holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from statistics import median
from time import perf_counter

import numpy as np
import numpy.typing as npt

from ciphermark_contract.program import Program
from ciphermark_core.metrics import Metric, register

STORE_SIZE = register(
    Metric(
        "store_size",
        "bytes",
        "lower",
        1.0,
        "size of the store",
        "Bytes of the plaintexts that an answer is made of, as operations take them: 8 for a coefficient and prime.",
        adds_up=False,
    )
)
MEMORY_BANDWIDTH = register(
    Metric(
        "memory_bandwidth",
        "bytes/s",
        "higher",
        1.25,
        "memory bandwidth",
        "Bytes a second when as many as the store has are read and nothing else, with the threads of an answer.",
        adds_up=False,
    )
)

# Fewer bytes are read before another thread has begun, and no cache that cores have to themselves holds more.
_LEAST, _MOST = 1 << 20, 1 << 28
_READINGS = 5


def results(program: Program, threads: int) -> Mapping[str, float]:
    """Of the program of an answer, by the names of metrics. Takes about a tenth of a second."""
    size = program.plaintext_bytes
    if not size:
        return {}
    return {STORE_SIZE.name: float(size), MEMORY_BANDWIDTH.name: bandwidth(size, threads)}


def bandwidth(size_bytes: int, threads: int) -> float:
    """Bytes a second, the median of some readings: each thread reads its share of as many bytes, of 1 MiB at least and
    256 MiB at most, again and again until together they have read 256 MiB.
    """
    values = np.ones(min(max(size_bytes, _LEAST), _MOST) // 8, dtype=np.uint64)
    shares = np.array_split(values, threads)
    rounds = -(-_MOST // values.nbytes)
    times: list[float] = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_READINGS):
            start = perf_counter()
            wait([pool.submit(_read, share, rounds) for share in shares])
            times.append(perf_counter() - start)
    return rounds * values.nbytes / median(times)


def _read(share: npt.NDArray[np.uint64], rounds: int) -> None:
    """Bound by memory, and without the lock of the interpreter."""
    for _ in range(rounds):
        np.bitwise_or.reduce(share)
