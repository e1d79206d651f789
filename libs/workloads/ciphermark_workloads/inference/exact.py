"""What networks on encrypted images have in common that bfv computes, too: in whole numbers, exactly."""

from __future__ import annotations

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported, Vector
from ciphermark_contract.managed import next_lower
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.inference.on_images import Given, OnImages
from ciphermark_workloads.inference.whole_numbers import Integers, Scales, centred

# Of the 200 images that are shipped with LoLa's network each has the class that it has in floating point, and no logit
# is beyond 48.5 bits, its sign included.
SCALES = Scales(pixels=3, convolution=3, dense=6, last=9)

# Of t at N = 8192 the three primes after the least that give slots, 51.3 bits: the next has 19 bits, for which five
# levels leave too little room. At N = 16384 primes are others.
T_8192 = 114689 * 147457 * 163841
T_16384 = 65537 * 163841 * 557057
_MOST = 2.0**61  # a fourth of what 64 bits hold: by rounding weights logits may become somewhat larger


class Exact(OnImages[Given]):
    """In bfv the output are whole numbers, computed exactly modulo t, a product of primes, residue by residue.

    ``bfv`` are its parameters there, ``roomy_bfv`` those for libraries that choose their own primes.
    """

    schemes: tuple[Scheme, ...] = ("ckks", "bfv")
    bfv = ParameterSpec("bfv", 8192, (42, 43, 43, 43, 43), plain_modulus=T_8192)
    roomy_bfv = ParameterSpec("bfv", 16384, (56, 56, 56, 56, 60), plain_modulus=T_16384)

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """In both schemes 128-bit secure by both tables."""
        real = super().parameters(scheme)
        return real if real.scheme == scheme else self.bfv

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        real = super().roomy_parameters(scheme)
        return real if real.scheme == scheme else self.roomy_bfv

    def logits(self, found: Vector, parameters: Parameters) -> Floats:
        """The network's logits, of those that slots hold."""
        modulus = parameters.plain_modulus
        if modulus is not None:
            found = np.ldexp(centred(found, modulus), -SCALES.logits)
        logits: Floats = np.ldexp(found, self.options.halvings)
        return logits

    def expected(self, given: Given, parameters: Parameters) -> Floats:
        """In bfv what whole numbers come to."""
        if parameters.plain_modulus is None:
            return self.reference(given)
        logits: Floats = np.ldexp(self._whole_logits(given), self.options.halvings - SCALES.logits)
        return logits

    def require_room(self, given: Given, parameters: Parameters) -> None:
        """In bfv, raise ``Unsupported`` where a logit is beyond t/2, which would be another one."""
        modulus = parameters.plain_modulus
        if modulus is None:
            super().require_room(given, parameters)
            return
        largest = self._largest(given)
        if 2 * largest >= modulus:
            missing = (2 * largest).bit_length() - modulus.bit_length() + 1
            raise Unsupported(
                f"a logit of {largest.bit_length()} bits and a sign is beyond t, which has {modulus.bit_length()}: "
                f"take a larger one, or halve the last layer {self.options.halvings + missing} times (halvings)"
            )

    def _largest(self, given: Given) -> int:
        """Of whole logits; by floating point where 64 bits might not hold them."""
        about = float(np.abs(self.reference(given)).max()) * 2.0 ** (SCALES.logits - self.options.halvings)
        return int(about) if about > _MOST else int(np.abs(self._whole_logits(given)).max())

    def _whole_logits(self, given: Given) -> Integers:
        """Those of an image (classes,), or of several (count, classes)."""
        pixels = given.pixels
        found = SCALES.of_logits(self.halved_network(), pixels.reshape(-1, *pixels.shape[-2:]))
        logits: Integers = found.reshape(*pixels.shape[:-2], -1)
        return logits


def rescaled(evaluator: Evaluator, a: Handle) -> Handle:
    """Whole numbers have no scale."""
    return a if evaluator.parameters.scale is None else evaluator.apply("rescale", a)


def squared(evaluator: Evaluator, a: Handle) -> Handle:
    """In bfv at the next modulus, which holds what noise has left, too: all that follows takes less time there."""
    square = evaluator.managed().apply("square", a)
    return next_lower(evaluator, square) if evaluator.parameters.scale is None else square
