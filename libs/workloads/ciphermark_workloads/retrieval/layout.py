"""Where the elements of a database lie in slots, by FastPIR (Ahmad et al., OSDI 2021). Pure.

The N slots of bfv and bgv are two rows of R = N/2. An element has one slot of each row, in a *block* of R elements, and
a symbol there in each of several *columns*: of its first half in the first row, of its second half in the second. So a
block of a column is one plaintext.
"""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters


@dataclass(frozen=True, slots=True)
class Layout:
    """``elements`` elements of ``element_bytes`` bytes, in rows of ``row`` slots that hold ``symbol_bits`` bits each.

    Column j comes back ``stride`` times j slots further. So as many elements as the stride, a power of two, can be
    asked for at once where their numbers differ modulo the stride: one answer has them side by side.
    Raises ``Unsupported`` for elements of more columns than a row has slots for.
    """

    elements: int
    element_bytes: int
    row: int
    symbol_bits: int
    stride: int = 1

    def __post_init__(self) -> None:
        width = self.row // self.stride
        if self.columns > width:
            raise Unsupported(
                f"elements of {self.element_bytes} bytes take {self.columns} columns, and a row has {width} slots for "
                f"them: at N = {2 * self.row} with {self.symbol_bits} bits a slot elements have at most "
                f"{most_bytes(width, self.symbol_bits)} bytes"
            )

    @classmethod
    def of(cls, elements: int, element_bytes: int, parameters: Parameters) -> Layout:
        """The layout for resolved parameters of bfv or bgv; raises ``Unsupported`` for elements that are too long."""
        return cls(
            elements,
            element_bytes,
            parameters.ring_dimension // 2,
            symbol_bits(parameters.plain_modulus or 0),
        )

    @property
    def half_bytes(self) -> int:
        """Bytes of half an element; where S is odd, the second half ends with a byte more."""
        return (self.element_bytes + 1) // 2

    @property
    def columns(self) -> int:
        """Symbols of half an element: ⌈4S/w⌉ for an even S."""
        return -(-8 * self.half_bytes // self.symbol_bits)

    @property
    def blocks(self) -> int:
        """Ciphertexts of a query: ⌈n/R⌉."""
        return -(-self.elements // self.row)

    def place(self, index: int) -> tuple[int, int]:
        """Block and slot of an element, 0 ≤ index < n."""
        return divmod(index, self.row)

    def members(self, block: int) -> tuple[int, int]:
        """The elements of a block: from the first to before the second number."""
        return block * self.row, min((block + 1) * self.row, self.elements)


def symbol_bits(plain_modulus: int) -> int:
    """w = ⌊log2 t⌋ for a prime t > 2: 2^w is below t."""
    return plain_modulus.bit_length() - 1


def most_bytes(row: int, symbol_bits: int) -> int:
    """The longest elements that have no more columns than a row has slots: N·w/8 bytes."""
    return 2 * (row * symbol_bits // 8)
