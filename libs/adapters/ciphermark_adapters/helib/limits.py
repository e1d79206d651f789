"""Requests that HElib has no parameters for, as far as that is known without loading it. Pure."""

from __future__ import annotations

from ciphermark_core.model import ParameterSpec

# Where t ≡ 1 modulo 2N, HElib's tables for encoding take 12.5 N² bytes in each of a worker's two contexts, and decoding
# takes N² steps: 1.6 GB at this ring; 6.3 GB and minutes for a single case at the next; 25 GB at the one after.
LARGEST_BGV_RING = 8192


def refusal(spec: ParameterSpec) -> str | None:
    """Why the adapter takes no such request; ``None`` where nothing is known against it."""
    if spec.scheme == "bgv" and spec.ring_dimension > LARGEST_BGV_RING:
        return (
            f"HElib's tables for slots grow with N² in bgv, and so does the time to decode them: beyond N = "
            f"{LARGEST_BGV_RING} a case takes minutes and 6 GB or more"
        )
    return None
