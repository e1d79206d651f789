"""The bytes that a server of retrieval reads for an answer, and this host's memory bandwidth for as many bytes. Reading
the store once is a lower bound of an answer's time, unless a cache holds it.
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

# With fewer bytes, one thread would finish before another begins; no private cache of a core holds more.
_LEAST, _MOST = 1 << 20, 1 << 28
_READINGS = 5


def results(program: Program, threads: int) -> Mapping[str, float]:
    """The results for an answer's program, by the names of metrics. Takes about a tenth of a second."""
    size = program.plaintext_bytes
    if not size:
        return {}
    return {STORE_SIZE.name: float(size), MEMORY_BANDWIDTH.name: bandwidth(size, threads)}


def bandwidth(size_bytes: int, threads: int) -> float:
    """Bytes per second, the median of several readings. Each thread repeatedly reads its share of ``size_bytes``,
    limited to 1 MiB to 256 MiB, until all threads together have read 256 MiB.
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
    """Read the share; limited by memory, and without the lock of the interpreter."""
    for _ in range(rounds):
        np.bitwise_or.reduce(share)
