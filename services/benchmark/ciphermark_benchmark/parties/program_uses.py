"""The programs of a trial, as they are recorded. Pure."""

from __future__ import annotations

from ciphermark_contract.program import Program
from ciphermark_core.model import OperationCount, ProgramUse


def program_use(stage: str, content: bytes) -> ProgramUse:
    """What is recorded of the program that a server executed in ``stage``, given as it serialized it.

    Raises ``ValueError`` for bytes that hold no program.
    """
    program = Program.from_bytes(content)
    counts = sorted(program.counts.items())
    return ProgramUse(
        stage=stage,
        digest=program.digest,
        scheme=program.scheme,
        depth=program.depth,
        constants=len(program.constants),
        live_ciphertexts=program.live_ciphertexts,
        counts=tuple(OperationCount(operation, level, n) for (operation, level), n in counts),
        content=content,
    )
