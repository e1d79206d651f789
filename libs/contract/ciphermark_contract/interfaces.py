"""The adapter contract: the interface to every library.

A :class:`KeyOwner` (client side) holds the secret key; an :class:`Evaluator` (server side) is built from
public material alone and cannot decrypt. Handles (ciphertexts, plaintexts) are opaque, belong to the
object that created them, and cross to the other side only as bytes.

Vectors are numpy arrays of at most ``parameters.slots`` values: ``int64`` in [0, t) for bfv and
bgv, ``float64`` for ckks. Shorter vectors are padded with zeros; :meth:`KeyOwner.decrypt` returns all slots.
The slots of bfv and bgv form a 2 × N/2 matrix: ``rotate`` turns each row, ``rotate_columns`` swaps the
rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from time import perf_counter_ns
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract.bound import Bound, Collections, Handle, PythonBound, Row, Vector
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import LOWERING, OPERATIONS, Kind, is_one_scale, where
from ciphermark_contract.program import Node, Program, require_constants
from ciphermark_core.errors import Exhausted, Unsupported
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

Prepared: TypeAlias = Any  # a program's constants as an evaluator takes them


def _nothing() -> None:
    """The body of the empty loop."""


class Operator(ABC):
    """Base class of objects that apply named operations; the table ``operations`` lists all of them."""

    @property
    @abstractmethod
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The function that applies each available operation once, by name."""

    def reason_against(self, operation: str) -> str:
        """Return why ``operation`` is not in the table."""
        return f"there is no {operation} here"

    def apply(self, operation: str, *operands: Any) -> Handle:
        """Apply an operation once to one row of operands.

        Raises ``Unsupported`` for a missing operation and ``Exhausted`` where no level is left.
        """
        return self.function(operation)(*operands)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        """Bind an operation to operands, one row per ciphertext of the vector. Not timed."""
        return PythonBound(self.function(operation), rows)

    def empty(self) -> Bound:
        """A loop that does nothing, measured and reported with every result."""
        return PythonBound(_nothing, [()])

    def function(self, operation: str) -> Callable[..., Handle]:
        """The function that applies an operation; raises ``Unsupported`` for a missing one."""
        try:
            return self.operations[operation]
        except KeyError:
            raise Unsupported(self.reason_against(operation)) from None


class KeyOwner(Operator):
    """The client: generates the keys, encrypts and decrypts.

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
        """Bind the encryption of vectors. Steps outside the library's own call, such as padding, happen here."""
        return PythonBound(self.encrypt, rows)

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """Bind the decryption of ciphertexts. Steps outside the library's own call happen when results are read."""
        return PythonBound(self.decrypt, rows)

    @abstractmethod
    def encrypt(self, values: Vector) -> Handle:
        """Encode at the top level with the default scale, and encrypt."""

    @abstractmethod
    def decrypt(self, ciphertext: Handle) -> Vector:
        """Decrypt and decode all slots."""

    @abstractmethod
    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """Remaining noise budget in bits (bfv, bgv), 0 when exhausted; ``None`` where the library cannot report it."""

    @abstractmethod
    def public_material(self) -> Iterator[bytes]:
        """Yield everything an evaluator needs, part by part, without the secret key.

        Evaluation keys can be larger than everything else together. An owner that can generate and dump them one at a
        time does so here, keeps none of them, and generates new ones for another call.
        """

    def release_evaluation_keys(self) -> None:
        """Free the evaluation keys that the owner holds, after they were written. They cannot be written again; the
        owner still encrypts and decrypts.
        """

    def dump_secret(self) -> bytes:
        """Serialize what :meth:`Adapter.restored_owner` needs: the secret key.

        Raises ``Unsupported`` where the adapter restores no owner.
        """
        raise Unsupported("this adapter restores no secret key")

    @abstractmethod
    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """Serialize a ciphertext of this owner."""

    @abstractmethod
    def load(self, data: bytes) -> Handle:
        """Read a ciphertext that an evaluator dumped."""

    def from_words(self, words: Sequence[Vector], level: int = 0) -> Handle:
        """The inverse of :meth:`Evaluator.words`, for a ciphertext at a level; words of no ciphertext are reduced.

        Raises ``Unsupported`` where ``mul_word`` is not declared, and ``ValueError`` for an incorrect number of words.
        """
        raise Unsupported("this adapter composes no ciphertext from words")

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """Generate and serialize one of the declared ``SEEDED_ITEMS``: keys, or ``values`` under the secret key.

        Raises ``Unsupported`` for an item that does not exist.
        """
        raise Unsupported(f"no {item.replace('_', ' ')} is written here")

    def bind_key_generation(self, item: str) -> Bound:
        """Bind the generation of a new key, one of those that the declaration ``generates``.

        It has no results, and the owner's keys do not change. A rotation key is for one step. Raises ``Unsupported``
        for any other item.
        """
        raise Unsupported(f"this adapter does not generate {item.replace('_', ' ')} separately")

    @abstractmethod
    def dump_key(self, item: str, compression: str) -> bytes:
        """Serialize one of ``KEY_ITEMS``, generated again where the owner does not hold it.

        Raises ``Unsupported`` for an item that does not exist.
        """


class Evaluator(Operator):
    """The server: computes on ciphertexts; built from public material, it cannot decrypt."""

    parameters: Parameters

    @abstractmethod
    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
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
        """The managed operations for circuits: see :class:`Managed`."""
        return Managed(self)

    def prepare_constants(
        self, program: Program, constants: Mapping[str, Vector], threads: int = 1
    ) -> Prepared:
        """Prepare a program once: encode ``constants``, vectors by digest, in the form that nodes take.

        Uses ``threads`` threads where programs have threads. Timed separately. Raises ``ValueError`` for a missing
        vector, and ``Unsupported`` for a missing operation or key.
        """
        return encoded_constants(self, program, constants)

    def bind_program(
        self, program: Program, inputs: Sequence[Handle], prepared: Prepared, threads: int = 1
    ) -> Bound:
        """Bind a program to its inputs and to what :meth:`prepare_constants` returned; its results are the outputs.

        ``inputs`` must have the program's shapes. Where the declaration states ``programs_have_threads``, independent
        nodes execute on ``threads`` threads, and results do not depend on their number. Elsewhere nodes execute
        sequentially. Raises ``Unsupported`` for a missing operation.
        """
        return ProgramBound(self, program, inputs, prepared)


class Adapter(ABC):
    """One library build."""

    @abstractmethod
    def info(self) -> LibraryInfo:
        """Version and build facts, from the loaded library itself."""

    @abstractmethod
    def resolve(self, spec: ParameterSpec) -> Parameters:
        """Resolve a request to the library's parameters; raises ``Unsupported`` with the reason."""

    @abstractmethod
    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        """Generate fresh keys. Raises ``Unsupported`` for evaluation keys on a chain too short to switch keys."""

    def restored_owner(self, parameters: Parameters, keys: KeyRequest, secret: bytes) -> KeyOwner:
        """An owner with the secret key of :meth:`KeyOwner.dump_secret`, and fresh evaluation keys.

        Raises as :meth:`key_owner`, and ``ValueError`` or ``RuntimeError`` for bytes that are no such key.
        """
        raise Unsupported("this adapter restores no secret key")

    @abstractmethod
    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        """Build an evaluator from the parts of :meth:`KeyOwner.public_material`, in order, reading each part once.

        Raises ``ValueError`` or ``RuntimeError`` for other parts.
        """

    def collections(self) -> Collections:
        """The garbage collections of the library in this process so far; none for a library without a collector."""
        return Collections()


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


class Managed(Operator):
    """Managed operations: an evaluator's primitives under the same names, with levels and scales managed.

    ``mul`` and ``square`` relinearize; in ckks they and ``mul_plain`` rescale, in bgv they switch to the next modulus
    while there is one. On a chain too short for key switching, products keep three or more polynomials.
    Two ciphertexts are brought to one level and, before they are added, to one exact scale. Plaintext operands are
    vectors here, encoded at the ciphertext's level: the encoding is part of a managed operation.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._scheme = evaluator.parameters.spec.scheme
        managed: dict[str, Callable[..., Handle]] = {
            "add": partial(self._total, "add"),
            "sub": partial(self._total, "sub"),
            "add_plain": partial(self._total_with_plain, "add_plain"),
            "sub_plain": partial(self._total_with_plain, "sub_plain"),
            "mul_plain": self._mul_plain,
            "mul_scalar": self._mul_scalar,
            "mul": self._mul,
            "square": self._square,
        }
        primitives = evaluator.operations
        names = where(lambda row: row.is_managed and row.name in primitives)
        self._table = {name: managed.get(name, primitives[name]) for name in names}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The managed operations whose primitives exist."""
        return self._table

    def reason_against(self, operation: str) -> str:
        """Return the evaluator's reason."""
        return self._evaluator.reason_against(operation)

    def _total(self, operation: str, a: Handle, b: Handle) -> Handle:
        return self._evaluator.apply(operation, *self._at_one_scale(a, b))

    def _total_with_plain(self, operation: str, a: Handle, values: Vector) -> Handle:
        plaintext = self._evaluator.encode(values, like=a, scale=self._evaluator.scale(a))
        return self._evaluator.apply(operation, a, plaintext)

    def _mul_plain(self, a: Handle, values: Vector) -> Handle:
        self._require_level(a)
        product = self._evaluator.apply("mul_plain", a, self._evaluator.encode(values, like=a))
        return self._rescaled(product)

    def _mul_scalar(self, a: Handle, number: float) -> Handle:
        self._require_level(a)
        return self._rescaled(self._evaluator.apply("mul_scalar", a, number))

    def _mul(self, a: Handle, b: Handle) -> Handle:
        a, b = aligned(self._evaluator, a, b)
        self._require_level(a)
        return self._shrunk(self._evaluator.apply("mul", a, b))

    def _square(self, a: Handle) -> Handle:
        self._require_level(a)
        return self._shrunk(self._evaluator.apply("square", a))

    def _shrunk(self, product: Handle) -> Handle:
        if "relinearize" in self._evaluator.operations:
            product = self._evaluator.apply("relinearize", product)
        if self._scheme == "bgv" and self._evaluator.level(product) > 0:
            return self._evaluator.apply("mod_switch", product)
        return self._rescaled(product)

    def _rescaled(self, product: Handle) -> Handle:
        return self._evaluator.apply("rescale", product) if self._scheme == "ckks" else product

    def _require_level(self, a: Handle) -> None:
        if self._scheme == "ckks" and self._evaluator.level(a) == 0:
            raise Exhausted("no level is left in the modulus chain for another multiplication")

    def _at_one_scale(self, a: Handle, b: Handle) -> tuple[Handle, Handle]:
        """Both ciphertexts at one level and, in ckks, at the scale of the lower one, for addition."""
        evaluator = self._evaluator
        if is_one_scale(evaluator.scale(a), evaluator.scale(b)):
            return aligned(evaluator, a, b)
        if evaluator.level(a) >= evaluator.level(b):
            return matched(evaluator, a, b), b
        return a, matched(evaluator, b, a)


def matched(evaluator: Evaluator, high: Handle, low: Handle, factor: float = 1.0) -> Handle:
    """``high``·factor at the level and exact scale of ``low`` (ckks): a product at a chosen scale, rescaled.

    It consumes one level of difference. At equal levels there is none, so ciphertexts with different scales cannot be
    added there.
    """
    level = evaluator.level(low)
    if evaluator.level(high) == level:
        raise ValueError(
            f"scales {evaluator.scale(high)} and {evaluator.scale(low)} differ at one level: "
            "multiply one of the ciphertexts by 1 first"
        )
    high = lowered(evaluator, high, level + 1)
    scale_high, scale_low = evaluator.scale(high), evaluator.scale(low)
    assert scale_high is not None
    assert scale_low is not None
    scale = scale_low * evaluator.parameters.moduli[level + 1] / scale_high
    factors = evaluator.encode(np.full(evaluator.parameters.slots, factor), like=high, scale=scale)
    return evaluator.apply("rescale", evaluator.apply("mul_plain", high, factors))


def aligned(evaluator: Evaluator, a: Handle, b: Handle) -> tuple[Handle, Handle]:
    """Both ciphertexts at the lower of their levels."""
    level = min(evaluator.level(a), evaluator.level(b))
    return lowered(evaluator, a, level), lowered(evaluator, b, level)


def lowered(evaluator: Evaluator, a: Handle, level: int) -> Handle:
    """The ciphertext switched down to a level; unchanged if it is not above it."""
    while evaluator.level(a) > level:
        a = evaluator.apply(LOWERING, a)
    return a


def next_lower(evaluator: Evaluator, a: Handle) -> Handle:
    """The ciphertext at the next modulus; unchanged where there is none or the library cannot switch."""
    if evaluator.level(a) > 0 and "mod_switch" in evaluator.operations:
        return evaluator.apply("mod_switch", a)
    return a


# A node, ready to be called: function, its values, its other operands, the first result, the number of results of a
# list (else 0), and values after their last use.
_Step = tuple[Callable[..., Handle], tuple[int, ...], tuple[Handle, ...], int, int, tuple[int, ...]]


def encoded_constants(
    evaluator: Evaluator, program: Program, vectors: Mapping[str, Vector]
) -> tuple[Handle, ...]:
    """The program's constants as operands: encoded, or as vectors where the program is managed."""
    values = require_constants(program, vectors)
    if program.is_managed:
        return tuple(values)
    return tuple(
        evaluator.encode(vector, scale=constant.scale, level=constant.level)
        for vector, constant in zip(values, program.constants, strict=True)
    )


class ProgramBound(Bound):
    """A loop over the nodes. A ciphertext is dropped after its last use."""

    def __init__(
        self, evaluator: Evaluator, program: Program, inputs: Sequence[Handle], constants: Sequence[Handle]
    ) -> None:
        require_inputs(evaluator, program, inputs)
        self._inputs = list(inputs)
        self._count = len(program.shapes)
        self._outputs = program.outputs
        self._steps = _steps(evaluator.managed() if program.is_managed else evaluator, program, constants)
        self._results: list[Handle] = []

    def run(self, loops: int) -> int:
        start = perf_counter_ns()
        for _ in repeat(None, loops):
            results = self._executed()
        elapsed = perf_counter_ns() - start
        self._results = results
        return elapsed

    def results(self) -> list[Handle]:
        """The outputs of the last execution, in order."""
        return self._results

    def _executed(self) -> list[Handle]:
        values: list[Handle] = [*self._inputs, *repeat(None, self._count - len(self._inputs))]
        for function, operands, others, first, count, dying in self._steps:
            result = function(*[values[operand] for operand in operands], *others)
            if count == 0:
                values[first] = result
            else:
                values[first : first + count] = result
            for value in dying:
                values[value] = None
        return [values[output] for output in self._outputs]


def require_inputs(evaluator: Evaluator, program: Program, inputs: Sequence[Handle]) -> None:
    """Raise ``ValueError`` for inputs that are not what the program was traced for."""
    if len(inputs) != len(program.inputs):
        raise ValueError(f"the program takes {len(program.inputs)} inputs, not {len(inputs)}")
    if program.is_managed:
        return
    for number, (handle, shape) in enumerate(zip(inputs, program.inputs, strict=True)):
        given = (evaluator.level(handle), evaluator.polynomials(handle))
        if given != (shape.level, shape.polynomials):
            raise ValueError(
                f"input {number} has level and polynomials {given}, not {(shape.level, shape.polynomials)}"
            )


def _steps(operator: Operator, program: Program, constants: Sequence[Handle]) -> list[_Step]:
    for operation in {node.operation for node in program.nodes}:
        operator.function(operation)
    rows = zip(program.nodes, program.first_results, program.dying, strict=True)
    return [
        (
            _function(operator, node),
            node.operands,
            (*(constants[index] for index in node.constants), *node.arguments),
            first,
            len(node.results) if OPERATIONS[node.operation].has_several_results else 0,
            dying,
        )
        for node, first, dying in rows
    ]


def _function(operator: Operator, node: Node) -> Callable[..., Handle]:
    """The function that executes a node.

    Where the operation takes prepared plaintexts, each execution converts encoded ones: the form depends on the
    ciphertext operand.
    """
    apply = partial(operator.apply, node.operation)
    names = where(lambda row: row.result is Kind.NTT_PLAINTEXT and row.name in operator.operations)
    if not names or Kind.NTT_PLAINTEXT not in OPERATIONS[node.operation].operands:
        return apply
    prepare, first, end = names[0], len(node.operands), len(node.operands) + len(node.constants)

    def applied(*operands: Handle) -> Handle:
        plaintexts = (operator.apply(prepare, item, operands[0]) for item in operands[first:end])
        return apply(*operands[:first], *plaintexts, *operands[end:])

    return applied
