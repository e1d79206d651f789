"""The settings that both parties read from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ciphermark_measure.processes import Confinement
from ciphermark_web import environment
from ciphermark_web.sessions import Allowance

# A comparison has a session of every variant at a time: as many as Ciphermark's own variants, to the last.
SESSIONS = 8


@dataclass(frozen=True, slots=True)
class PartySettings:
    """Where blobs are, when they are swept away, and what parties may use."""

    blobs: Path
    blob_age_s: int
    allowance: Allowance
    confinement: Confinement
    timeout_s: int

    @classmethod
    def read(cls, environ: environment.Environ) -> PartySettings:
        """Read the variables that docs/services.md describes; raises ``UserError`` for what they may not be."""

        def number(name: str, default: int, least: int, most: int) -> int:
            return environment.integer(environ, name, default, (least, most))

        return cls(
            blobs=environment.folder(environ, "CIPHERMARK_BLOBS", "that both parties share for blobs"),
            blob_age_s=number("CIPHERMARK_BLOB_AGE_S", 900, 1, 365 * 86_400),
            allowance=Allowance(
                most=number("CIPHERMARK_SESSIONS", SESSIONS, 1, 64),
                idle_s=number("CIPHERMARK_SESSION_IDLE_S", 900, 1, 86_400),
            ),
            confinement=Confinement(
                cpus=(),
                threads=number("CIPHERMARK_PARTY_THREADS", 1, 1, 1024),
                memory_mb=number("CIPHERMARK_PARTY_MEMORY_MB", 8192, 256, 1 << 22),
            ),
            timeout_s=number("CIPHERMARK_REQUEST_TIMEOUT_S", 600, 1, 86_400),
        )
