"""What distinguishes the noise of one library from that of another with the same resolved parameters. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_core.model import SCHEMES, Scheme


@dataclass(frozen=True, slots=True)
class NoiseSources:
    """A library's sources of noise, by which :mod:`ciphermark_model.precision` predicts precision and noise budgets.

    - ``schemes`` are those that the model covers.
    - ``divides_fresh``: public-key encryption takes place modulo QP, and division by P leaves rounding errors only.
    - ``truncates_switches``, ``truncates_keys``: the schemes in which a modulus switch, or the division by P after key
      switching, rounds down. Each coefficient of its error then has the mean 1/2 (bgv: t/2) instead of 0.
    - ``balances_digits``: digits of key switching lie in [−D/2, D/2), not in [0, D).
    - ``secret_zeros``: the share of zeros in a dense secret key.
    - ``tracks_factors``: the schemes in which modulus switches, and products of bfv, multiply the plaintext by a factor
      modulo t. A sum of ciphertexts with different factors multiplies both by numbers first.
    - ``scales_plaintexts``: a plaintext that is added is multiplied by the ciphertext's factor, without reduction
      modulo t.
    - ``resets_scale``: a managed ckks product has the initial scale, whatever the prime that it was divided by.
    - ``decryption_noise`` (ckks): deviation of the noise added to each slot in decryption, relative to that of the
      error's imaginary part, from which the library estimates it, and ``min_decryption_noise`` its minimum in units of
      N divided by the scale.
    """

    schemes: tuple[Scheme, ...] = SCHEMES
    divides_fresh: bool = False
    truncates_switches: tuple[Scheme, ...] = ()
    truncates_keys: tuple[Scheme, ...] = ()
    balances_digits: bool = False
    secret_zeros: float = 1 / 3
    tracks_factors: tuple[Scheme, ...] = ()
    scales_plaintexts: bool = False
    resets_scale: bool = False
    decryption_noise: float = 0.0
    min_decryption_noise: float = 0.0
