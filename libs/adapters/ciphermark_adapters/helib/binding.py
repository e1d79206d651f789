"""The Python interface of the native module ``_ciphermark_helib``.

Its sources are in ``native/``. Values are passed as contiguous arrays over all slots in HElib's order, ``int64`` for
bgv and ``float64`` for ckks. Binders take rows, as :meth:`ciphermark_contract.interfaces.Operator.bind` does. They
return loops that run with the GIL released.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any, Protocol, cast

from ciphermark_adapters.bindings import Binder, NativeBound, Rows
from ciphermark_contract.interfaces import Bound, Handle, Vector

_THREADS = "OMP_NUM_THREADS"  # by which processes limit a library's threads

# Raised by the module for HElib's exceptions.
LIBRARY_ERRORS = (RuntimeError, ValueError, IndexError)


class HElibContext(Protocol):
    """A parameter set that HElib accepted."""

    ciphertext_primes: list[int]
    special_primes: list[int]
    small_primes: list[int]
    # Slot i holds the plaintext polynomial's value at ζ^e for the i-th e of these, ζ one primitive 2N-th root of unity.
    slot_exponents: list[int]

    def dump(self) -> bytes:
        """HElib's own serialization of the context."""


class NativeKeyOwner(Protocol):
    """Holds the secret key."""

    decrypt_integers: Binder
    decrypt_reals: Binder
    # Rows, and the scale: encoding and public-key encryption.
    encrypt_integers: Callable[[Rows, float], NativeBound]
    encrypt_reals: Callable[[Rows, float], NativeBound]
    # HElib's own serialization. A public key has the context, the encryption key and all key-switching matrices: the
    # one from s², then those of automorphisms.
    dump_secret_key: Callable[[], bytes]
    dump_public_key: Callable[[], bytes]
    dump_relinearization_keys: Callable[[], bytes]
    dump_rotation_keys: Callable[[], bytes]

    def load(self, data: bytes, /) -> Handle:
        """A ciphertext; raises ``RuntimeError`` for damaged bytes."""


class NativeEvaluator(Protocol):
    """One binder per operation; ``automorphism`` takes a ciphertext and the exponent k of X → X^k."""

    negate: Binder
    add: Binder
    sub: Binder
    add_plain: Binder
    sub_plain: Binder
    add_plain_ntt: Binder
    mul_plain: Binder
    mul: Binder
    mul_full: Binder
    square: Binder
    relinearize: Binder
    mod_down: Binder
    drop_prime: Binder
    add_integer: Binder
    add_real: Binder
    mul_integer: Binder
    mul_real: Binder
    automorphism: Binder
    # A plaintext at the primes of a ciphertext, or, without one, at those of a level; and the scale.
    encode_integers: Callable[[Vector, Handle | None, int, float], Handle]
    encode_reals: Callable[[Vector, Handle | None, int, float], Handle]

    def load(self, data: bytes, /) -> Handle:
        """A ciphertext; raises ``RuntimeError`` for damaged bytes."""


class HElibModule(Protocol):
    """The module."""

    __name__: str
    __file__: str
    helib_version: str
    is_debug_build: bool
    build_facts: dict[str, str]
    # Generates keys: relinearization or not, exponents k of automorphisms X → X^k.
    KeyOwner: Callable[[HElibContext, bool, Sequence[int]], NativeKeyOwner]
    # From a public key as `dump_public_key` writes it, and the scale of fresh ciphertexts.
    Evaluator: Callable[[HElibContext, bytes, float], NativeEvaluator]

    def choose_context(self, m: int, p: int, bits: int, columns: int, /) -> HElibContext:
        """A bgv context whose primes HElib chooses: about ``bits`` bits, key switching in ``columns`` digits."""

    def foretell_context(self, m: int, bits: int, columns: int, special_bits: int, /) -> HElibContext:
        """A ckks context with the primes that ``choose_context`` chooses for a special prime of this size."""

    def describe_bare(self, m: int, precision: int, /) -> str:
        """A ckks context without primes, in HElib's JSON format."""

    def read_context(self, json: str, /) -> HElibContext:
        """The context that a text in HElib's JSON format describes."""

    def set_threads(self, count: int, /) -> None:
        """The size of NTL's thread pool, which HElib's operations use, for the calling thread."""

    def bind_empty(self) -> Bound:
        """The empty native loop."""


@cache
def module() -> HElibModule:
    """Import the native module, register its bound operations as the contract's ``Bound``, and size its thread pool."""
    with _elsewhere():
        native: Any = importlib.import_module("_ciphermark_helib")
    for bound in (native.CiphertextBound, native.IntegersBound, native.RealsBound, native.EmptyBound):
        NativeBound.register(bound)
    native.set_threads(int(os.environ.get(_THREADS, "1")))
    return cast(HElibModule, native)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Change the current folder while HElib is loaded: it opens the file ``helib.log`` there."""
    here = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
