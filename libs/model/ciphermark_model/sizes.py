"""Bytes of ciphertexts and keys as libraries write them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import Switching
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Shape, top_level
from ciphermark_core.model import Parameters

_WORD = 8
# SEAL 4.1.2, ciphertext.cpp and dynarray.h: two headers, parms_id, five words, a byte, and the length.
_CIPHERTEXT = 16 + 32 + 1 + 5 * _WORD + 16 + _WORD
_SEED = 16 + 1 + 64  # randomgen.h: header, type of the generator, seed
_KEY = 16 + 32 + 2 * _WORD  # kswitchkeys.h: header, parms_id, numbers of lists and of digits
_UNCOMPRESSED = "none"


@dataclass(frozen=True, slots=True)
class Format:
    """The form of SEAL, exact for SEAL and Pyfhel. Others add less than 1% of a ciphertext. Compression saves the zero
    bits above each prime, which it finds but for about 1%.
    """

    parameters: Parameters
    switching: Switching
    is_compressed: bool

    @classmethod
    def of(cls, declared: Declaration, parameters: Parameters, switching: Switching) -> Format:
        """The form in which a variant sends ciphertexts."""
        return cls(parameters, switching, declared.compressions[0] != _UNCOMPRESSED)

    def ciphertext(self, shape: Shape, *, is_seeded: bool = False) -> int:
        """Bytes of a ciphertext, half of which is a seed if ``is_seeded``."""
        primes = len(self.parameters.moduli) - top_level(self.parameters) + shape.level
        polynomials = shape.polynomials - is_seeded
        residues = max(1, len(self.parameters.spec.plain_residues))
        words = self._polynomial_bytes(primes) * polynomials
        return residues * (words + _CIPHERTEXT + (_SEED if is_seeded else 0))

    def keys(self, keys: KeyRequest) -> int:
        """Bytes of evaluation keys, expanded. Those of bootstrapping are not counted: only the library knows them."""
        used = len(self.parameters.moduli) + self.switching.special_primes
        each = _KEY + self.switching.digits * (
            2 * _WORD * used * self.parameters.ring_dimension + _CIPHERTEXT
        )
        return keys.count * each * max(1, len(self.parameters.spec.plain_residues))

    def _polynomial_bytes(self, primes: int) -> int:
        if not self.is_compressed:
            return _WORD * primes * self.parameters.ring_dimension
        bits = sum(prime.bit_length() for prime in self.parameters.moduli[:primes])
        return bits * self.parameters.ring_dimension // 8
