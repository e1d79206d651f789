"""The Python interface of the native modules ``_ciphermark_seal`` and ``_ciphermark_seal_hexl``.

Their sources are in ``native/``. Values are passed as contiguous arrays, ``int64`` for bfv and bgv and
``float64`` for ckks. Binders take rows, as :meth:`ciphermark_contract.interfaces.Operator.bind` does. They return loops
that run with the GIL released.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast

from ciphermark_adapters.bindings import Binder, NativeBound, Rows
from ciphermark_contract.interfaces import Bound, Handle, Vector

# Operation, its values, plaintexts and numbers; level and number of polynomials of each result.
ProgramNode: TypeAlias = tuple[
    str, tuple[int, ...], tuple[int, ...], tuple[int | float, ...], list[tuple[int, int]]
]


# With a compression: SEAL's own serialization.
Dump: TypeAlias = Callable[[str], bytes]
# Encodes vectors, each with a level and a scale, on a number of threads.
Prepare: TypeAlias = Callable[[Sequence[tuple[Vector, int | None, float]], int], list[Handle]]


class SealContext(Protocol):
    """A parameter set that SEAL accepted, with the encoder of its scheme."""

    switches_keys: bool
    modulus_bits: int
    dump_parameters: Dump
    # A vector as a plaintext: of bfv or bgv, with neither level nor scale; of ckks, at a level or at the top.
    encode_integers: Callable[[Vector, int | None, float], Handle]
    encode_reals: Callable[[Vector, int | None, float], Handle]

    def galois_element(self, steps: int, /) -> int:
        """The k of X → X^k that rotates by this many steps; raises ``ValueError`` for too many."""

    def level(self, ciphertext: Handle, /) -> int:
        """The number of switches to a smaller modulus that the ciphertext has left."""

    def residues(self, ciphertext: Handle, /) -> Vector:
        """The residues of a bfv ciphertext, polynomial by polynomial, prime by prime.

        Raises ``ValueError`` for a ciphertext in NTT form.
        """

    def from_residues(self, residues: Vector, level: int, /) -> Handle:
        """The inverse of :meth:`residues`; raises ``ValueError`` for residues of no ciphertext at the level."""

    def load(self, data: bytes, /) -> Handle:
        """A ciphertext; raises ``RuntimeError`` or ``ValueError`` for one of other parameters."""


class NativeKeyOwner(Protocol):
    """Holds the secret key."""

    # Rows, and the scale: encoding and public-key encryption. Decryption and decoding.
    encrypt_integers: Callable[[Rows, float], NativeBound]
    encrypt_reals: Callable[[Rows, float], NativeBound]
    decrypt_integers: Binder
    decrypt_reals: Binder
    # Each call generates new evaluation keys; those of rotations are for Galois elements in [1, 2N).
    dump_secret_key: Dump
    dump_public_key: Dump
    dump_relinearization_keys: Dump
    dump_rotation_keys: Callable[[Sequence[int], str], bytes]
    # New keys with their uniform halves as seeds; and encryptions with the secret key, likewise.
    dump_seeded_public_key: Dump
    dump_seeded_relinearization_keys: Dump
    dump_seeded_rotation_keys: Callable[[Sequence[int], str], bytes]
    dump_seeded_integers: Callable[[Vector, float, str], bytes]
    dump_seeded_reals: Callable[[Vector, float, str], bytes]
    # New keys, generated and discarded: a secret key and its public key; the key of one Galois element.
    generate_key_pair: Callable[[], None]
    generate_relinearization_keys: Callable[[], None]
    generate_rotation_key: Callable[[int], None]

    def noise_budget_bits(self, ciphertext: Handle, /) -> int:
        """Remaining noise budget in bits (bfv, bgv)."""

    def dump_rotation_key(self, element: int, /) -> bytes:
        """A new rotation key for one element, uncompressed, as an evaluator loads it."""


class NativeEvaluator(Protocol):
    """The operations of ``native/kernels.cpp``, those that encode plaintexts, and the loaded keys."""

    transform_plain: Binder
    # Encoding at the top level, with the scale; and by coefficients (bfv, bgv).
    encode_integers: Callable[[Rows, float], NativeBound]
    encode_reals: Callable[[Rows, float], NativeBound]
    encode_coefficients: Binder
    # In bfv and bgv in NTT form at a level, or only encoded for ``None``, without a scale: raises
    # ``ValueError`` for numbers that are not in [0, t). In ckks at a level and scale.
    prepare_integers: Prepare
    prepare_reals: Prepare

    def load_relinearization_keys(self, data: bytes, /) -> None:
        """Load the keys; raises ``RuntimeError`` or ``ValueError`` for keys of other parameters."""

    def load_rotation_key(self, element: int, data: bytes, /) -> None:
        """Add the key of X → X^element; raises as ``load_relinearization_keys`` does."""

    def bind(self, operation: str, rows: Rows, /) -> NativeBound:
        """Bind an operation by its name: rows are ciphertexts, then plaintexts, then whole numbers.

        Raises ``TypeError`` for rows that do not fit, ``Unsupported`` for a missing operation.
        """


class NativeProgram(Protocol):
    """A program, translated for an evaluator."""

    def bind(self, inputs: Sequence[Handle], threads: int, /) -> Bound:
        """Bind the program to its inputs."""


class SealModule(Protocol):
    """One of the two modules."""

    __name__: str
    __file__: str
    seal_version: str
    is_debug_build: bool
    has_hexl: bool
    build_facts: dict[str, str]
    # Scheme, ring dimension, moduli, t (0 for ckks). Raises ``ValueError`` with SEAL's reason for refusing them.
    Context: Callable[[str, int, Sequence[int], int], SealContext]
    # Generates secret and public key.
    KeyOwner: Callable[[SealContext], NativeKeyOwner]
    # Without keys; the scale at which numbers are encoded (ckks; else 1).
    Evaluator: Callable[[SealContext, float], NativeEvaluator]
    # Evaluator, number of inputs, nodes, plaintexts, outputs. Raises ``Unsupported`` for an operation that programs do
    # not support.
    Program: Callable[
        [NativeEvaluator, int, Sequence[ProgramNode], Sequence[Handle], Sequence[int]], NativeProgram
    ]

    def default_chain(self, ring_dimension: int, /) -> list[int]:
        """SEAL's default primes for bfv and bgv, special prime last."""

    def create_chain(self, ring_dimension: int, bits: Sequence[int], /) -> list[int]:
        """Primes of these sizes in this order."""

    def bind_empty(self) -> Bound:
        """The empty native loop."""


def load(name: str) -> SealModule:
    """Import a native module, and register its bound operations as the contract's ``Bound``."""
    module: Any = importlib.import_module(name)
    results = ("Ciphertext", "Plaintext", "Integers", "Reals", "Empty")
    for bound in (getattr(module, f"{name}Bound") for name in results):
        NativeBound.register(bound)
    Bound.register(module.ProgramBound)
    return cast(SealModule, module)
