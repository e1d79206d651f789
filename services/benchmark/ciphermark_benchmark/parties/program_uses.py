"""The programs of a trial, as they are recorded. Pure."""

from __future__ import annotations

from ciphermark_contract.program import Program
from ciphermark_core.model import OperationCount, ProgramUse
from ciphermark_measure.parties.messages import Described


def program_use(stage: str, described: Described) -> ProgramUse:
    """What is recorded of the program that a server executed in ``stage``, given as it told it.

    Raises ``ValueError`` for bytes that hold no program.
    """
    program = Program.from_bytes(described.program)
    counts = sorted(program.counts.items())
    return ProgramUse(
        stage=stage,
        digest=program.digest,
        scheme=program.scheme,
        depth=program.depth,
        constants=len(program.constants),
        live_ciphertexts=program.live_ciphertexts,
        counts=tuple(OperationCount(operation, level, n) for (operation, level), n in counts),
        content=described.program,
        layers=described.layers,
    )
