"""A machine that computes on residue polynomials: its units, its memory, and its digits of key switching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ciphermark_core.errors import Unsupported

# Base conversion: a unit that puts out whole residues; multiply-accumulate units; or the multipliers and adders.
Conversion = Literal["residues", "accumulators", "multipliers"]
UNITS = ("ntt", "base conversion", "multiply", "add", "automorphism")


@dataclass(frozen=True, slots=True)
class Units:
    """Pipelined units: the residue polynomials that each kind takes at once, at ``lanes`` words a cycle each.

    ``conversions`` is the number of units with whole residues out, or of multiply-accumulate units per lane.
    """

    ntt: float
    multiply: float
    add: float
    automorphism: float
    conversion: Conversion
    conversions: float = 1.0


@dataclass(frozen=True, slots=True)
class Instructions:
    """Cycles of one lane for each part of the work, on a machine whose lanes do everything, one after the other."""

    butterfly: float
    accumulate: float = 0.0
    multiply: float = 0.0
    add: float = 0.0
    move: float = 0.0


@dataclass(frozen=True, slots=True)
class Switching:
    """Key switching at one level: so many digits of ``special`` residues each.

    Without special residues it is the standard one: a digit for each residue.
    """

    digits: float
    special: float


@dataclass(frozen=True, slots=True)
class Digits:
    """Digits of key switching by the residues L of a ciphertext.

    ``rows`` are pairs of the largest L and its digits, in ascending order. A row without digits (0) is the standard key
    switching. ``special`` is a fixed number of special residues; without it, they are L by the digits. Without rows,
    the digits are those of the program's own chain.
    """

    rows: tuple[tuple[int, int], ...] = ()
    special: int | None = None

    @property
    def max_residues(self) -> int | None:
        """The largest L, ``None`` for no limit."""
        return self.rows[-1][0] if self.rows else None

    def at(self, residues: int, chain: int, chain_digits: int) -> Switching:
        """The key switching at a level of ``residues``; ``chain`` and ``chain_digits`` are those of a whole chain.

        Raises ``Unsupported`` above the largest L.
        """
        if not self.rows:
            special = -(-chain // chain_digits)
            return Switching(-(-residues // special), special)
        digits = next((count for up_to, count in self.rows if residues <= up_to), None)
        if digits is None:
            raise Unsupported(f"it has {residues} residues, and the machine takes up to {self.rows[-1][0]}")
        if self.special is not None:
            return Switching(-(-residues // self.special), self.special)
        return Switching(digits, residues / digits) if digits else Switching(residues, 0)


@dataclass(frozen=True, slots=True)
class Machine:
    """An accelerator, or a processor in its terms.

    ``digits`` is by security level in bits, 0 for any. ``hint_factor`` is the stored share of a hint, 0.5 with seeds.
    ``plaintext_residues`` is the number of residues loaded for a plaintext, ``None`` for all of them; the others are
    computed on the machine. ``latency_cycles`` are added to each product and rotation. ``marks`` give fields that are
    not published their origin. ``is_verified``: figures of its publication were compared with the model. ``published``
    holds facts that the model does not use, such as the area; ``published_ms`` times by program and security level,
    ``published_cpu_s`` those of the processor it was compared with. ``published_slowdowns`` are times by program, in
    those of the machine that it is ``based_on``.
    """

    name: str
    title: str
    source: str
    is_verified: bool
    word_bits: int
    max_ring: int
    lanes: float
    ghz: float
    compute: Units | Instructions
    register_file_bytes: float
    bandwidth: float
    digits: Mapping[int, Digits]
    hint_factor: float = 1.0
    plaintext_residues: int | None = None
    latency_cycles: float = 0.0
    marks: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, float] = field(default_factory=dict)
    published_ms: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    published_cpu_s: Mapping[str, float] = field(default_factory=dict)
    based_on: str | None = None
    published_slowdowns: Mapping[str, float] = field(default_factory=dict)

    @property
    def word_bytes(self) -> float:
        """Bytes of a word in memory, where words are packed."""
        return self.word_bits / 8

    def digits_at(self, security: int | None) -> Digits:
        """The digits at a security level, by default the first one. Raises ``Unsupported`` for a level that the machine
        does not define.
        """
        levels = [*self.digits]
        if levels == [0] or security is None:
            return self.digits[levels[0]]
        if security not in self.digits:
            known = ", ".join(map(str, levels))
            raise Unsupported(f"{self.name} has digits of key switching for {known} bits, not for {security}")
        return self.digits[security]
