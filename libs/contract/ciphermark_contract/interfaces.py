"""The adapter contract: what every library is driven through.

A :class:`KeyOwner` (client side) holds the secret key; an :class:`Evaluator` (server side) is made from
public material alone and cannot decrypt. Handles (ciphertexts, plaintexts) are opaque, belong to the
object that made them, and cross to the other side only as bytes.

Vectors are numpy arrays of at most ``parameters.slots`` values: ``int64`` in [0, t) for bfv and
bgv, ``float64`` for ckks. Shorter vectors are padded with zeros; :meth:`KeyOwner.decrypt` returns all slots.
The slots of bfv and bgv form a 2 × N/2 matrix: ``rotate`` turns each row, ``rotate_columns`` swaps the
rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ciphermark_contract.bound import Bound, Handle, PythonBound, Row
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.vectors import Vector
from ciphermark_core.errors import Exhausted, Unsupported
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

if TYPE_CHECKING:
    from ciphermark_contract.program import Program

Prepared: TypeAlias = Any  # a program's constants as an evaluator takes them


def _nothing() -> None:
    """What the empty loop executes."""


class Operator(ABC):
    """Anything that applies named operations; the table ``operations`` is all it can do."""

    @property
    @abstractmethod
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """Name of each operation that works here and the function that applies it once."""

    def reason_against(self, operation: str) -> str:
        """Why ``operation`` is not in the table."""
        return f"there is no {operation} here"

    def apply(self, operation: str, *operands: Any) -> Handle:
        """Apply an operation once to one row of operands.

        Raises ``Unsupported`` for a missing operation and ``Exhausted`` where no level is left.
        """
        return self.function(operation)(*operands)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        """Bind an operation to operands, one row per ciphertext of the vector. Off the clock."""
        return PythonBound(self.function(operation), rows)

    def empty(self) -> Bound:
        """A loop that does nothing, measured and reported beside every result."""
        return PythonBound(_nothing, [()])

    def function(self, operation: str) -> Callable[..., Handle]:
        """What applies an operation; raises ``Unsupported`` for a missing one."""
        try:
            return self.operations[operation]
        except KeyError:
            raise Unsupported(self.reason_against(operation)) from None


class KeyOwner(Operator):
    """The client: makes the keys, encrypts and decrypts.

    Its operations are ``encrypt`` (a vector: encode and encrypt) and ``decrypt`` (a ciphertext: decrypt and
    decode to all slots).
    """

    parameters: Parameters

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """``encrypt`` and ``decrypt``."""
        return {"encrypt": self.encrypt, "decrypt": self.decrypt}

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        self.function(operation)
        return {"encrypt": self.bind_encrypt, "decrypt": self.bind_decrypt}[operation](rows)

    def bind_encrypt(self, rows: Sequence[Row]) -> Bound:
        """Bind the encryption of vectors; what a library's own call does not do, such as padding, is done here."""
        return PythonBound(self.encrypt, rows)

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """Bind the decryption of ciphertexts; what a library's own call does not do waits for the results."""
        return PythonBound(self.decrypt, rows)

    @abstractmethod
    def encrypt(self, values: Vector) -> Handle:
        """Encode at the top level with the default scale, and encrypt."""

    @abstractmethod
    def decrypt(self, ciphertext: Handle) -> Vector:
        """Decrypt and decode all slots."""

    @abstractmethod
    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """Bits of noise budget left (bfv, bgv), 0 when none; ``None`` where the library cannot tell."""

    @abstractmethod
    def public_material(self) -> Iterator[bytes]:
        """Everything an evaluator needs, in parts that are given away one by one; no secret key in it.

        Evaluation keys can be larger than all else together: an owner that can make and dump them one at a time does so
        here, holds none of them, and makes new ones when it is asked again.
        """

    @abstractmethod
    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """Serialize a ciphertext of this owner."""

    @abstractmethod
    def load(self, data: bytes) -> Handle:
        """Read a ciphertext that an evaluator dumped."""

    def from_words(self, words: Sequence[Vector], level: int = 0) -> Handle:
        """The ciphertext at a level whose words these are, as :meth:`Evaluator.words` tells them; reduced where no
        ciphertext has them. Raises ``Unsupported`` where ``mul_word`` is not declared, ``ValueError`` for another
        number of words than ciphertexts have.
        """
        raise Unsupported("no ciphertext is made of words here")

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """Serialize one of ``SEEDED_ITEMS`` that the declaration lists, made anew: keys, or an encryption of ``values``
        with the secret key. Raises ``Unsupported`` for one that does not exist.
        """
        raise Unsupported(f"no {item.replace('_', ' ')} is written here")

    def bind_key_generation(self, item: str) -> Bound:
        """Bind the making of a new key, one of those that the declaration ``generates``; results are nothing, and the
        owner's keys stay what they are. A rotation key is for one step. Raises ``Unsupported`` for any other."""
        raise Unsupported(f"no {item.replace('_', ' ')} is made by itself here")

    @abstractmethod
    def dump_key(self, item: str, compression: str) -> bytes:
        """Serialize one of ``KEY_ITEMS``, made anew where the owner does not hold it. Raises ``Unsupported`` for one
        that does not exist."""


class Evaluator(Operator):
    """The server: computes on ciphertexts, made from public material, unable to decrypt."""

    parameters: Parameters

    @abstractmethod
    def encode(
        self,
        values: Vector,
        like: Handle | None = None,
        scale: float | None = None,
        level: int | None = None,
    ) -> Handle:
        """A plaintext operand: at ``level``, or at that of the ciphertext ``like`` (default: the top level).

        ``scale`` (ckks) is the encoding scale, by default the parameter set's.
        """

    @abstractmethod
    def load(self, data: bytes) -> Handle:
        """Read a ciphertext that a key owner or evaluator dumped."""

    @abstractmethod
    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """Serialize a ciphertext."""

    @abstractmethod
    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """Serialize a plaintext; raises ``Unsupported`` where the library cannot."""

    @abstractmethod
    def level(self, ciphertext: Handle) -> int:
        """How many times the ciphertext can still be switched to a smaller modulus."""

    @abstractmethod
    def scale(self, ciphertext: Handle) -> float | None:
        """The exact scale (ckks), else ``None``."""

    @abstractmethod
    def polynomials(self, ciphertext: Handle) -> int:
        """Number of polynomials: 2 when fresh, 3 after a multiplication without relinearization."""

    def words(self, ciphertext: Handle) -> list[Vector]:
        """The words of a ciphertext (:mod:`ciphermark_contract.operations.words`): vectors of N whole numbers in
        [0, 2^w). Raises ``Unsupported`` where ``mul_word`` is not declared.
        """
        raise Unsupported(self.reason_against("mul_word"))

    def managed(self) -> Operator:
        """The managed operations for circuits: see :class:`ciphermark_contract.managed.Managed`."""
        from ciphermark_contract.managed import Managed  # it builds on this module

        return Managed(self)

    def prepare_constants(
        self, program: Program, constants: Mapping[str, Vector], threads: int = 1
    ) -> Prepared:
        """What a server does once for a program: it encodes ``constants``, vectors by digest, as nodes take them, on
        ``threads`` threads where programs have them. Timed apart. Raises ``ValueError`` for a vector that is missing,
        ``Unsupported`` for an operation or a key that is."""
        from ciphermark_contract import execution  # it builds on this module

        return execution.prepared(self, program, constants)

    def bind_program(
        self, program: Program, inputs: Sequence[Handle], prepared: Prepared, threads: int = 1
    ) -> Bound:
        """Bind a program to its inputs and to what :meth:`prepare_constants` returned; its results are the outputs.

        ``inputs`` must have the program's shapes. Where the declaration says ``programs_have_threads``, independent
        nodes execute on ``threads`` threads, and results do not depend on how many; elsewhere nodes execute one after
        the other. Raises ``Unsupported`` for an operation that there is not.
        """
        from ciphermark_contract import execution

        return execution.ProgramBound(self, program, inputs, prepared)


class Adapter(ABC):
    """One library build."""

    @abstractmethod
    def info(self) -> LibraryInfo:
        """Version and build facts, from the loaded library itself."""

    @abstractmethod
    def resolve(self, spec: ParameterSpec) -> Parameters:
        """What the library makes of a request; raises ``Unsupported`` with the reason."""

    @abstractmethod
    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        """Generate fresh keys. Chains too short for key switching raise ``Unsupported`` if asked to."""

    @abstractmethod
    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        """An evaluator from :meth:`KeyOwner.public_material`: the same parts in the same order, each taken once.

        Raises ``ValueError`` or ``RuntimeError`` for others.
        """


__all__ = [
    "Adapter",
    "Bound",
    "Evaluator",
    "Exhausted",
    "Handle",
    "KeyOwner",
    "KeyRequest",
    "Operator",
    "Prepared",
    "PythonBound",
    "Row",
    "Unsupported",
    "Vector",
]
