"""Where the operands of an operation are: in the cache, or in a pool that is read from memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ciphermark_contract.operations import Call, Kind
from ciphermark_core.model import Parameters
from ciphermark_measure.levels import operand_shapes, result_shape

Residency = Literal["cached", "streamed"]

# Between two uses of an operand, so many times the last-level cache is accessed: nothing of it is left there.
_CACHES = 4
# Of the memory of a worker: the rest is for keys, and for the library.
_MEMORY_SHARE = 0.5
_WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Pool:
    """The pool of an operation: ``rows`` of operands and results, each of ``row_bytes``."""

    rows: int
    row_bytes: int

    @property
    def size(self) -> int:
        """Bytes of all operands and results."""
        return self.rows * self.row_bytes

    def reason_against(self, memory_mb: int) -> str | None:
        """Why the pool does not fit a worker's memory, in a sentence for the user; ``None`` where it does."""
        limit = int(_MEMORY_SHARE * (memory_mb << 20))
        if self.size <= limit:
            return None
        return (
            f"streamed operands need a pool of {self.size:,} bytes, four times the last-level cache; half of memory_mb "
            f"allows {limit:,}"
        )


def pool_of(call: Call, parameters: Parameters, level: int, caches: Mapping[str, int]) -> Pool:
    """The smallest pool that exceeds the largest of the caches (bytes by level) four times."""
    row_bytes = _row_bytes(call, parameters, level)
    return Pool(-(-_CACHES * max(caches.values()) // row_bytes), row_bytes)


def _row_bytes(call: Call, parameters: Parameters, level: int) -> int:
    row = call.operation
    results = len(call.arguments) if row.has_several_results else 1
    handles = operand_shapes(call, parameters, level)
    handles += [(row.result, result_shape(call, parameters, level))] * results
    return sum(
        _WORD_BYTES * shape.polynomials * _residues(kind, parameters, shape.level) for kind, shape in handles
    )


def _residues(kind: Kind, parameters: Parameters, level: int) -> int:
    """Words of one polynomial; of a vector, its values."""
    is_ckks = parameters.scale is not None
    if kind is Kind.NUMBER:
        return 0
    if kind is Kind.VECTOR:
        return parameters.slots
    is_encoded = kind is Kind.PLAINTEXT and not is_ckks  # modulo t, at no level
    return parameters.ring_dimension * (1 if is_encoded else level + 1)
