"""Kinds of encryption, and which values they bear on.

With the secret key and a seed in the place of a half, a ciphertext takes half the bytes of one that the public key
made, other time to make, send and read, and has less noise. Values of two kinds are never ranked together.
"""

from __future__ import annotations

PUBLIC_KEY = "public key"
SECRET_KEY = "secret key"

_METRICS = frozenset(("time", "cpu_time", "size", "peak_memory", "expansion", "noise_budget", "precision"))
_WITHOUT_UPLOADS = frozenset(("prepare",))  # stages
# What parties do without making, sending or reading an upload; and the size of what comes back.
_WITHOUT_ENCRYPTION = frozenset(
    ("load", "keys", "pack", "fit", "trace", "encode", "evaluate", "decrypt", "unpack", "returned")
)


def bears_on(stage: str | None, part: str | None, metric: str | None = "time") -> bool:
    """Whether a value of a workload depends on what encrypts: ``part`` is a party or step of the stage, empty or
    ``None`` of the whole. Pure.
    """
    return metric in _METRICS and stage not in _WITHOUT_UPLOADS and part not in _WITHOUT_ENCRYPTION
