"""The Python interface of the shared library ``_ciphermark_lattigo``, which is written in Go.

Its sources are in ``native/``. It is called through ctypes, and loops, encryption and programs run in Go with the GIL
released: no call of Lattigo crosses the border by itself. Objects of Go are known by numbers, and freed explicitly.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import resource
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_char_p, c_double, c_int64, c_void_p
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ciphermark_adapters.bindings import NativeBound, Rows
from ciphermark_contract.bound import Collections
from ciphermark_contract.interfaces import Exhausted, Vector
from ciphermark_contract.interfaces import Handle as AnyHandle

MODULE = "_ciphermark_lattigo"
_THREADS = "OMP_NUM_THREADS"  # by which processes limit a library's threads
# The collector starts when the memory in use has doubled, Go's default. It collects sooner where less than this is left
# of the host's memory, or of the process's limit: a quarter, but at most 1 GiB. Where memory in use alone exceeds Go's
# limit, collections follow each other and take half of the CPU time: ResNet-20 took twice its time with a quarter.
GROWTH_PERCENT = 100
_LEFT_SHARE, _LEFT_BYTES = 4, 1 << 30
_ERRORS: dict[str, type[Exception]] = {
    "ValueError": ValueError,
    "RuntimeError": RuntimeError,
    "Exhausted": Exhausted,
}
# Functions that return no number.
_RESULTS = {
    "lattigo_free": None,
    "lattigo_free_text": None,
    "lattigo_start": None,
    "lattigo_collections": None,
    "lattigo_facts": c_void_p,
    "lattigo_circuit": c_void_p,
    "lattigo_dump": c_void_p,
    "lattigo_dump_key": c_void_p,
}


def path() -> Path:
    """The file of the shared library; raises ``ModuleNotFoundError`` where it is not installed."""
    found = importlib.util.find_spec(MODULE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"No module named {MODULE!r}", name=MODULE)
    return Path(found.origin)


@cache
def _library() -> ctypes.CDLL:
    """Load the library, and limit the memory and the cores of Go's runtime."""
    library = ctypes.CDLL(str(path()))
    for name, kind in _RESULTS.items():
        getattr(library, name).restype = kind
    threads = int(os.environ.get(_THREADS, "1"))
    library.lattigo_start(c_int64(memory_limit()), c_int64(GROWTH_PERCENT), c_int64(threads))
    return library


def memory_limit() -> int:
    """Bytes that Go should not exceed: it ends a process whose own limit it reaches."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    available = host if limit == resource.RLIM_INFINITY else min(host, limit)
    return available - min(available // _LEFT_SHARE, _LEFT_BYTES)


@cache
def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(_library(), name)
    if name not in _RESULTS:
        function.restype = c_int64  # type: ignore[attr-defined]
    return function


def facts() -> dict[str, str]:
    """What Go tells of the build: the versions of all modules, and its settings."""
    address = _function("lattigo_facts")()
    told: dict[str, str] = json.loads(_taken(address))
    return told


def _taken(address: int, length: int = -1) -> bytes:
    """The bytes at an address of Go, which are freed."""
    data = ctypes.string_at(address, length)
    _function("lattigo_free_text")(c_void_p(address))
    return data


def _call(name: str, *arguments: Any) -> Any:
    failed = c_void_p()
    answer = _function(name)(*arguments, byref(failed))
    if failed.value:
        kind, _, text = _taken(failed.value).decode(errors="replace").partition(":")
        raise _ERRORS[kind](text)
    return answer


class Handle:
    """An object of Go, which is freed with it."""

    __slots__ = ("_free", "number")

    def __init__(self, number: int) -> None:
        self.number = c_int64(number)
        self._free = _function("lattigo_free")

    def __del__(self) -> None:
        self._free(self.number)


def _made(name: str, *arguments: Any) -> Handle:
    return Handle(_call(name, *arguments))


def _integers(values: Sequence[int]) -> Any:
    return (c_int64 * len(values))(*values)


def _numbers(handles: Sequence[Handle]) -> Any:
    return (c_int64 * len(handles))(*(handle.number.value for handle in handles))


def _vectors(vectors: Sequence[Vector]) -> tuple[Any, Any]:
    """Addresses and lengths, for as long as the vectors live."""
    addresses = (c_void_p * len(vectors))(*(vector.ctypes.data for vector in vectors))
    return addresses, _integers([len(vector) for vector in vectors])


def collections() -> Collections:
    """What Go's collector has done so far."""
    cycles, paused = c_int64(), c_int64()
    _function("lattigo_collections")(byref(cycles), byref(paused))
    return Collections(cycles.value, paused.value)


class Circuit(NamedTuple):
    """What Lattigo makes a bootstrapping circuit of: sizes of primes, for each level those of its matrices."""

    log_slots: int
    encoding: tuple[tuple[int, ...], ...]
    decoding: tuple[tuple[int, ...], ...]
    modular_bits: int
    ephemeral_weight: int


class ParametersLiteral(NamedTuple):
    """What Lattigo makes a parameter set of; ``plain_modulus`` is 0 for ckks, ``scale_bits`` for others.

    A ``secret_weight`` of 0 is that of a uniform ternary secret.
    """

    scheme: str
    ring_dimension: int
    moduli: tuple[int, ...]
    special_moduli: tuple[int, ...]
    plain_modulus: int
    scale_bits: int
    secret_weight: int = 0
    bootstrapping: Circuit | None = None


@lru_cache(maxsize=4)
def context(literal: ParametersLiteral) -> Handle:
    """A parameter set; raises ``RuntimeError`` with Lattigo's reason against it."""
    asked, circuit = literal._asdict(), literal.bootstrapping
    asked["bootstrapping"] = circuit and _in_go(circuit._asdict())
    return _made("lattigo_context", c_char_p(json.dumps(_in_go(asked)).encode()))


def _in_go(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by their names in Go."""
    return {name.title().replace("_", ""): value for name, value in fields.items()}


class CircuitFacts(NamedTuple):
    """A bootstrapping circuit as Lattigo resolves it, and the k of X → X^k of its rotation keys."""

    moduli: tuple[int, ...]
    special_moduli: tuple[int, ...]
    elements: tuple[int, ...]
    operand_level: int


def circuit(parameters: Handle) -> CircuitFacts:
    """The bootstrapping circuit of parameters that have one."""
    length = c_int64()
    facts = json.loads(_taken(_call("lattigo_circuit", parameters.number, byref(length)), length.value))
    moduli, special, elements = (tuple(facts[name]) for name in ("Moduli", "SpecialModuli", "Elements"))
    return CircuitFacts(moduli, special, elements, facts["OperandLevel"])


class LattigoBound(NativeBound):
    """A loop in Go. ``counts`` are the numbers of results of the rows, where an operation has several."""

    def __init__(
        self,
        native: Handle,
        rows: int,
        counts: Sequence[int] | None = None,
        convert: Callable[[Handle], AnyHandle] | None = None,
    ) -> None:
        self._native = native
        self._counts = counts
        self._most = rows if counts is None else sum(counts)
        self._convert = convert

    def run(self, loops: int) -> int:
        """See the contract: the loop and its clock are Go's."""
        cycles, paused = c_int64(), c_int64()
        elapsed: int = _call("lattigo_run", self._native.number, c_int64(loops), byref(cycles), byref(paused))
        self.collections = Collections(cycles.value, paused.value)
        return elapsed

    def results(self) -> list[AnyHandle]:
        return self._results(are_taken=False)

    def take(self) -> list[AnyHandle]:
        return self._results(are_taken=True)

    def _results(self, *, are_taken: bool) -> list[AnyHandle]:
        numbers = (c_int64 * self._most)()
        count = _call(
            "lattigo_results", self._native.number, c_int64(are_taken), numbers, c_int64(self._most)
        )
        found: list[AnyHandle] = [Handle(number) for number in numbers[:count]]
        if self._convert is not None:
            return [self._convert(handle) for handle in found]
        if self._counts is None or not found:
            return found
        left = iter(found)
        return [[next(left) for _ in range(size)] for size in self._counts]


def bind_empty() -> LattigoBound:
    """The empty loop."""
    return LattigoBound(Handle(_function("lattigo_bind_empty")()), 0)


class KeyOwner:
    """Holds the secret key in Go: the given one, or a new one."""

    def __init__(self, parameters: Handle, secret: bytes = b"") -> None:
        self._native = _made("lattigo_owner", parameters.number, c_char_p(secret), c_int64(len(secret)))

    def dump(self, item: str, element: int = 0) -> bytes:
        """A key in Lattigo's format. Evaluation keys are generated; ``element`` is the k of X → X^k."""
        length = c_int64()
        address = _call(
            "lattigo_dump_key", self._native.number, c_char_p(item.encode()), c_int64(element), byref(length)
        )
        return _taken(address, length.value)

    def budget_bits(self, ciphertext: Handle) -> int:
        """Bits between noise and modulus."""
        bits: int = _call("lattigo_budget_bits", self._native.number, ciphertext.number)
        return bits

    def bind_encrypt(self, vectors: Sequence[Vector]) -> LattigoBound:
        """Encode and encrypt."""
        addresses, lengths = _vectors(vectors)
        count = c_int64(len(vectors))
        native = _made("lattigo_bind_encrypt", self._native.number, addresses, lengths, count)
        return LattigoBound(native, len(vectors))

    def bind_decrypt(self, ciphertexts: Sequence[Handle], slots: int, kind: type) -> LattigoBound:
        """Decrypt and decode; results are vectors of this number of slots, and of this type."""

        def converted(vector: Handle) -> Vector:
            values: Vector = np.empty(slots, dtype=kind)
            into = c_void_p(values.ctypes.data)
            _call("lattigo_values", vector.number, into, c_int64(slots))
            return values

        count = c_int64(len(ciphertexts))
        native = _made("lattigo_bind_decrypt", self._native.number, _numbers(ciphertexts), count)
        return LattigoBound(native, len(ciphertexts), convert=converted)

    def bind_generation(self, item: str) -> LattigoBound:
        """Generate a key that nobody keeps."""
        native = _made("lattigo_bind_generation", self._native.number, c_char_p(item.encode()))
        return LattigoBound(native, 0)


def load(parameters: Handle, data: bytes) -> Handle:
    """A ciphertext; raises ``ValueError`` or ``RuntimeError`` for bytes that are none of these parameters."""
    return _made("lattigo_load", parameters.number, c_char_p(data), c_int64(len(data)))


def dump(handle: Handle) -> bytes:
    """A ciphertext or plaintext in Lattigo's format."""
    length = c_int64()
    address = _call("lattigo_dump", handle.number, byref(length))
    return _taken(address, length.value)


def slot_root(parameters: Handle) -> int:
    """The root of unity of bfv and bgv to which slots belong: slot c is the value at its power 5^c."""
    root: int = _call("lattigo_slot_root", parameters.number)
    return root


class Shape(NamedTuple):
    """Level, number of polynomials, and the scale of CKKS or the factor of BGV."""

    level: int
    polynomials: int
    scale: float


def shape(ciphertext: Handle) -> Shape:
    """The shape of a ciphertext."""
    level, polynomials, scale = c_int64(), c_int64(), c_double()
    _call("lattigo_shape", ciphertext.number, byref(level), byref(polynomials), byref(scale))
    return Shape(level.value, polynomials.value, scale.value)


def encode(
    parameters: Handle,
    vectors: Sequence[Vector],
    levels: Sequence[int],
    scales: Sequence[float],
    threads: int = 1,
) -> list[Handle]:
    """Plaintexts at levels and scales; 0 is the default scale. Raises ``ValueError`` for values that are no slots."""
    addresses, lengths = _vectors(vectors)
    count, numbers = len(vectors), (c_int64 * len(vectors))()
    _call(
        "lattigo_encode",
        parameters.number,
        addresses,
        lengths,
        _integers(levels),
        (c_double * count)(*scales),
        c_int64(count),
        c_int64(threads),
        numbers,
    )
    return [Handle(number) for number in numbers]


class Evaluator:
    """Evaluation keys, and Lattigo's evaluator over them."""

    def __init__(self, parameters: Handle) -> None:
        self._native = _made("lattigo_evaluator", parameters.number)

    def add_key(self, item: str, data: bytes) -> None:
        """Read a key; raises ``ValueError`` or ``RuntimeError`` for bytes that are none."""
        name = c_char_p(item.encode())
        _call("lattigo_add_key", self._native.number, name, c_char_p(data), c_int64(len(data)))

    def complete(self) -> None:
        """Is to be called after the last key."""
        _call("lattigo_complete", self._native.number)

    def bind(self, name: str, rows: Rows, counts: Sequence[int] | None = None) -> LattigoBound:
        """Bind an operation to rows of handles and numbers; ``counts`` are the numbers of their results."""
        handles = [[item for item in row if isinstance(item, Handle)] for row in rows]
        numbers = [[item for item in row if not isinstance(item, Handle)] for row in rows]
        flat = [number for row in numbers for number in row]
        native = _made(
            "lattigo_bind",
            self._native.number,
            c_char_p(name.encode()),
            c_int64(len(rows)),
            _numbers([handle for row in handles for handle in row]),
            _integers([len(row) for row in handles]),
            (c_double * len(flat))(*map(float, flat)),
            _integers([int(number) for number in flat]),
            _integers([len(row) for row in numbers]),
        )
        return LattigoBound(native, len(rows), counts)

    def bind_encode(self, vectors: Sequence[Vector], levels: Sequence[int]) -> LattigoBound:
        """Encode at levels and the default scale."""
        addresses, lengths = _vectors(vectors)
        count = c_int64(len(vectors))
        native = _made(
            "lattigo_bind_encode", self._native.number, addresses, lengths, _integers(levels), count
        )
        return LattigoBound(native, len(vectors))

    def bind_encode_coefficients(self, vectors: Sequence[Vector]) -> LattigoBound:
        """Encode coefficients at the top level."""
        addresses, lengths = _vectors(vectors)
        count = c_int64(len(vectors))
        native = _made("lattigo_bind_encode_coefficients", self._native.number, addresses, lengths, count)
        return LattigoBound(native, len(vectors))

    def program(
        self, inputs: int, nodes: Sequence[object], plaintexts: Sequence[Handle], outputs: Sequence[int]
    ) -> Program:
        """Translate a program: see the type ``node`` of ``program.go``."""
        native = _made(
            "lattigo_program",
            self._native.number,
            c_int64(inputs),
            c_char_p(json.dumps(nodes).encode()),
            _numbers(plaintexts),
            c_int64(len(plaintexts)),
            _integers(outputs),
            c_int64(len(outputs)),
        )
        return Program(native, len(outputs))


class Program:
    """A program in Go."""

    def __init__(self, native: Handle, outputs: int) -> None:
        self._native = native
        self._outputs = outputs

    def bind(self, inputs: Sequence[Handle], threads: int) -> LattigoBound:
        """Bind it to inputs; independent nodes execute on several goroutines."""
        native = _made(
            "lattigo_bind_program",
            self._native.number,
            _numbers(inputs),
            c_int64(len(inputs)),
            c_int64(threads),
        )
        return LattigoBound(native, self._outputs)
