"""Whether a modulus is secure enough, in a sentence for the user. Pure."""

from __future__ import annotations

from ciphermark_core import security


def reason_against(
    ring_dimension: int, log_qp: float, asked_bits: int, secret_distribution: str = "uniform ternary"
) -> str | None:
    """Why a modulus of ``log_qp`` bits misses the level asked for by the 2018 table; ``None`` when it does not."""
    if asked_bits and security.is_unrated(secret_distribution):
        return f"the security of a {secret_distribution} secret is unknown: no table rates it; write `security: none`"
    if security.level("2018", ring_dimension, log_qp) >= asked_bits:
        return None
    bound = security.limit("2018", ring_dimension, asked_bits)
    if bound is None:
        what = f"N = {ring_dimension} is below the smallest ring of the 2018 table"
    else:
        what = (
            f"a chain of {log_qp:.1f} bits at N = {ring_dimension} is above {bound}, the 2018 table's limit for "
            f"{asked_bits} bits"
        )
    return f"{what}; write `security: none` to allow it"
