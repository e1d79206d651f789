"""Requested parameter sets: checks that all adapters share, and resolution to primes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ciphermark_contract.keys import KeyRequest
from ciphermark_core import primes
from ciphermark_core.errors import Unsupported
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Bootstrapping, Parameters, ParameterSpec, SecretDistribution

UNIFORM_SECRETS: Mapping[SecretDistribution, int | None] = {"uniform ternary": None}


def require_ring(spec: ParameterSpec, library: str, least: int = 2, most: int | None = None) -> None:
    """Raise ``Unsupported`` for a ring dimension that is no power of two, or outside the library's range."""
    n = spec.ring_dimension
    if n < least or n & (n - 1) or (most is not None and n > most):
        limits = "" if most is None else f" from {least} to {most}"
        raise Unsupported(f"{library} has no ring of dimension {n} here: N must be a power of two{limits}")


def require_scale(spec: ParameterSpec) -> None:
    """Raise ``Unsupported`` for ckks without a scale."""
    if spec.scheme == "ckks" and (spec.scale_bits or 0) <= 0:
        raise Unsupported("ckks needs a scale: write scale_bits")


def require_plain_modulus(spec: ParameterSpec) -> None:
    """Raise ``Unsupported`` for bfv and bgv without a plaintext modulus."""
    if spec.scheme != "ckks" and spec.plain_modulus is None:
        raise Unsupported(f"{spec.scheme} needs a plaintext modulus: write plain_modulus")


def require_slots(spec: ParameterSpec) -> None:
    """Raise ``Unsupported`` for bfv and bgv without a plaintext modulus that gives slots."""
    require_plain_modulus(spec)
    n, t = spec.ring_dimension, spec.plain_modulus
    if spec.scheme != "ckks" and t is not None and not (primes.batches(t, n) or spec.plain_residues):
        raise no_slots(spec)


def no_slots(spec: ParameterSpec) -> Unsupported:
    """The error for a plaintext modulus that gives no slots."""
    n, t = spec.ring_dimension, spec.plain_modulus
    return Unsupported(f"t = {t} gives no slots at N = {n}: it must be a prime that is 1 modulo {2 * n}")


def require_room(spec: ParameterSpec, log_q: float) -> None:
    """Raise ``Unsupported`` where the scale of ckks and a sign do not fit into a modulus of ``log_q`` bits."""
    if spec.scheme == "ckks" and (spec.scale_bits or 0) + 1 >= log_q:
        raise Unsupported(
            f"a scale of {spec.scale_bits} bits does not fit into a modulus of {log_q:.0f} bits: "
            "ask for a smaller scale or more primes"
        )


def require_key_switching(parameters: Parameters, keys: KeyRequest) -> None:
    """Raise ``Unsupported`` for evaluation keys where the parameters allow no key switching."""
    if keys and parameters.key_switching is None:
        raise Unsupported(
            "evaluation keys need key switching, and a modulus chain of one prime leaves none for it: write "
            "modulus_bits with two sizes or more"
        )
    if keys.bootstrapping is not None:
        parameters.require_bootstrapping()


def require_uncompressed(compression: str, library: str) -> None:
    """Raise ``Unsupported`` for any compression of a library that has none."""
    if compression != "none":
        raise Unsupported(f"{library} offers no compression {compression}, only none")


def chosen_primes(spec: ParameterSpec, bits: Sequence[int], library: str) -> tuple[int, ...]:
    """Different primes of these sizes in this order, each the largest remaining one; raises ``Unsupported`` without."""
    require_sizes(bits, library)
    left = {size: iter(primes.ntt_primes(size, spec.ring_dimension, bits.count(size))) for size in set(bits)}
    return tuple(next(left[size]) for size in bits)


def first_secure(several: Iterable[Parameters]) -> Parameters:
    """The first parameter set with the requested security level, else the last. ``several`` must not be empty."""
    for parameters in several:
        if (parameters.security_by(parameters.spec.security_table) or 0) >= parameters.spec.security:
            break
    return parameters


def require_sizes(bits: Sequence[int], library: str) -> None:
    """Raise ``Unsupported`` for no prime at all, or one that is too large."""
    if not bits:
        raise Unsupported(f"{library} needs at least one prime: write modulus_bits with one size or more")
    if max(bits) > primes.LARGEST_PRIME_BITS:
        raise Unsupported(f"primes have at most {primes.LARGEST_PRIME_BITS} bits, not {max(bits)}")


def resolved(
    spec: ParameterSpec,
    moduli: Sequence[int],
    special_moduli: Sequence[int],
    secrets: Mapping[SecretDistribution, int | None] = UNIFORM_SECRETS,
    bootstrapping: Bootstrapping | None = None,
) -> Parameters:
    """Return the resolved parameters of a request: these ciphertext and special primes, with a digit per prime.

    ``secrets`` maps the library's secret distributions to their Hamming weights. ``bootstrapping`` is the resolved
    bootstrapping. Raises ``Unsupported`` for a request for other secrets or bootstrapping.
    """
    is_real = spec.scheme == "ckks"
    parameters = Parameters(
        spec=spec,
        ring_dimension=spec.ring_dimension,
        moduli=tuple(moduli),
        special_moduli=tuple(special_moduli),
        slots=spec.slots,
        plain_modulus=None if is_real else spec.plain_modulus,
        scale=2.0**spec.scale_bits if is_real and spec.scale_bits else None,
        key_switching=one_digit_per_prime(moduli, special_moduli),
        secret_distribution=spec.secret_distribution,
        hamming_weight=_hamming_weight(spec, secrets),
        bootstrapping=bootstrapping,
    )
    if spec.bootstrapping is not None:
        _require_depth(parameters)
    return parameters


def _hamming_weight(spec: ParameterSpec, secrets: Mapping[SecretDistribution, int | None]) -> int | None:
    if spec.secret_distribution not in secrets:
        raise Unsupported(f"there is no setting for a {spec.secret_distribution} secret here")
    weight = secrets[spec.secret_distribution]
    if spec.hamming_weight not in (None, weight):
        raise Unsupported(
            f"a {spec.secret_distribution} secret has the Hamming weight {weight} here: leave hamming_weight out"
        )
    return weight


def _require_depth(parameters: Parameters) -> None:
    """Raise ``Unsupported`` where there is no bootstrapping, or the modulus chain has no level left after it."""
    if parameters.bootstrapping is None:
        raise Unsupported("there is no bootstrapping here: leave bootstrapping out")
    levels, depth = len(parameters.moduli) - 1, parameters.bootstrapping.depth
    if depth >= levels:
        raise Unsupported(
            f"bootstrapping consumes {depth} levels, and the modulus chain has {levels}: write modulus_bits with "
            f"at least {depth + 3} sizes, the special prime included"
        )
