"""Proves that the Pyfhel just built adds correctly in its three schemes; an AssertionError if not."""

from typing import Any

import numpy as np
from Pyfhel import Pyfhel

CONTEXTS: dict[str, dict[str, Any]] = {
    "bfv": {"n": 4096, "t_bits": 20},
    "bgv": {"n": 4096, "t_bits": 20},
    "ckks": {"n": 8192, "scale": 2**30, "qi_sizes": [60, 30, 30, 60]},
}

for scheme, context in CONTEXTS.items():
    library = Pyfhel()
    library.contextGen(scheme=scheme, **context)
    library.keyGen()
    values = np.array([1, 2, 3], dtype=np.float64 if scheme == "ckks" else np.int64)
    encrypted = library.encrypt(values)
    total = library.decrypt(encrypted + encrypted)[:3]
    assert np.allclose(total, 2 * values, atol=1e-3), f"{scheme}: {total}"
    print(f"{scheme}: correct")
