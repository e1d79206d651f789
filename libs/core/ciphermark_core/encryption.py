"""Kinds of encryption, and the values that depend on them.

A ciphertext encrypted with the secret key can hold a seed instead of its uniform half. It then takes half the bytes of
a public-key ciphertext and has less noise; encrypting, sending and reading take different times. Values of two kinds
are never ranked together.
"""

from __future__ import annotations

PUBLIC_KEY = "public key"
SECRET_KEY = "secret key"

_METRICS = frozenset(("time", "cpu_time", "size", "peak_memory", "expansion", "noise_budget", "precision"))
_WITHOUT_UPLOADS = frozenset(("prepare",))  # stages
# Actions of parties that involve no upload, and the size of the reply.
_WITHOUT_ENCRYPTION = frozenset(
    ("load", "keys", "pack", "fit", "trace", "encode", "evaluate", "decrypt", "unpack", "returned")
)


def bears_on(stage: str | None, part: str | None, metric: str | None = "time") -> bool:
    """Whether a value of a workload depends on the kind of encryption. Pure.

    ``part`` is a party or step of the stage, empty or ``None`` for the whole stage.
    """
    return metric in _METRICS and stage not in _WITHOUT_UPLOADS and part not in _WITHOUT_ENCRYPTION
