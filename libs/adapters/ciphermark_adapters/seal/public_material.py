"""What travels from key owner to evaluator: a line of JSON, then one evaluation key after the other.

One at a time, because they are the largest objects that there are: at N = 32768 a key has 100 MB and more, and a
workload takes 15.
"""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import Parameters


@dataclass(frozen=True, slots=True)
class Header:
    """The first part. The keys follow in SEAL's own format, uncompressed: relinearization keys where ``keys`` has them,
    and a rotation key for each of ``elements``, the k of X → X^k.
    """

    parameters: Parameters
    keys: KeyRequest
    elements: tuple[int, ...]
