"""A program: the frozen graph of a circuit's operations, for one scheme and one resolved modulus chain.

Values are numbered: inputs first, then the results of the nodes, in order. A node's operands are preceding values, then
plaintext constants, then numbers: ``evaluator.apply(operation, *ciphertexts, *plaintexts, *numbers)``.
A program does not depend on the values of its inputs. It names constants by digest; the workload keeps their vectors.
In the *managed* form, for libraries that choose levels themselves, nodes are managed operations and constants are plain
vectors. Its shapes are those that explicit level management would give.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import islice
from operator import or_
from typing import TypeAlias, TypeVar

import msgspec
import numpy as np

from ciphermark_contract.bound import Vector
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_contract.operations import OPERATIONS, Call, Kind, Shape, top_level
from ciphermark_core import case_keys
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import EXACT_SCHEMES, Parameters, Scheme

# The last use of an unused value or input.
UNUSED = -1
_LONG = 1024  # from here on, comparing values takes less time than hashing them


@dataclass(frozen=True, slots=True)
class Constant:
    """A plain vector, by :func:`digest_of`, and its encoding; ``scale`` is that of ckks."""

    digest: str
    level: int
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. ``operands`` are values, ``constants`` indices of the program's constants."""

    operation: str
    operands: tuple[int, ...]
    constants: tuple[int, ...] = ()
    arguments: tuple[int | float, ...] = ()
    results: tuple[Shape, ...] = ()


Cost: TypeAlias = Callable[[Node, int], float]
"""The cost of a node at the level of its first operand, in any additive unit."""


@dataclass(frozen=True)
class Program:
    """Inputs by shape, constants, nodes in an order of execution, and outputs by value number."""

    parameters: Parameters
    inputs: tuple[Shape, ...]
    constants: tuple[Constant, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    is_managed: bool = False

    @property
    def scheme(self) -> Scheme:
        """The scheme of its parameters."""
        return self.parameters.spec.scheme

    def to_bytes(self) -> bytes:
        """The program in columns (MessagePack), as stored and as hashed by :attr:`digest`."""
        return encoded(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """The inverse of :meth:`to_bytes`; raises ``ValueError`` for bytes that hold no program."""
        return decoded(data)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of :meth:`to_bytes`, in hexadecimal digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape of every value."""
        return (*self.inputs, *(shape for node in self.nodes for shape in node.results))

    @cached_property
    def first_results(self) -> tuple[int, ...]:
        """Per node, the value that is its first result."""
        counts = [len(self.inputs), *(len(node.results) for node in self.nodes)]
        return tuple(int(start) for start in np.cumsum(counts)[:-1])

    def repeated(self, count: int) -> Program:
        """The program for ``count`` sets of inputs with the same constants.

        Inputs and outputs are ordered set by set. No node depends on a node of another set.
        """
        width, result_count = len(self.inputs), len(self.shapes) - len(self.inputs)

        def moved(values: tuple[int, ...], copy: int) -> tuple[int, ...]:
            return tuple(
                copy * width + value if value < width else count * width + copy * result_count + value - width
                for value in values
            )

        copies = range(count)
        return replace(
            self,
            inputs=self.inputs * count,
            nodes=tuple(
                replace(node, operands=moved(node.operands, copy)) for copy in copies for node in self.nodes
            ),
            outputs=tuple(value for copy in copies for value in moved(self.outputs, copy)),
        )

    @property
    def depth(self) -> int:
        """Levels from the highest input down to the lowest value."""
        return max((shape.level for shape in self.inputs), default=0) - min(
            (shape.level for shape in self.shapes), default=0
        )

    @cached_property
    def counts(self) -> Mapping[tuple[str, int], int]:
        """The number of occurrences of each operation by level, that of its first operand."""
        return Counter((node.operation, self.level_of(node)) for node in self.nodes)

    @cached_property
    def keys(self) -> KeyRequest:
        """The evaluation keys that the program requires."""
        calls = {(node.operation, node.arguments): node for node in self.nodes}
        return reduce(or_, map(self.keys_of, calls.values()), NO_KEYS)

    def keys_of(self, node: Node) -> KeyRequest:
        """The evaluation keys that one node requires."""
        call = Call(OPERATIONS[node.operation], node.arguments)
        return call.managed_keys if self.is_managed else call.keys

    @cached_property
    def plaintext_bytes(self) -> int:
        """Bytes of its constants as nodes take them, with each form of a constant counted once.

        In NTT form a constant has N words of 8 bytes for every prime of its level, in coefficient form N words. The
        managed form has 0 bytes, since its constants are vectors.
        """
        uses = {(constant, self._takes_evaluated(node)) for node in self.nodes for constant in node.constants}
        lowest = len(self.parameters.moduli) - top_level(self.parameters)
        words = (lowest + self.constants[constant].level if evaluated else 1 for constant, evaluated in uses)
        return 0 if self.is_managed else 8 * self.parameters.ring_dimension * sum(words)

    def _takes_evaluated(self, node: Node) -> bool:
        """Whether its plaintexts are in NTT form: prepared ones, and those of ckks."""
        return self.scheme not in EXACT_SCHEMES or Kind.NTT_PLAINTEXT in OPERATIONS[node.operation].operands

    def level_of(self, node: Node) -> int:
        """The level at which a node computes."""
        return self.shapes[node.operands[0]].level

    def work(self, cost: Cost) -> float:
        """The total cost of all nodes: the time of one thread."""
        return sum(cost(node, self.level_of(node)) for node in self.nodes)

    def span(self, cost: Cost) -> float:
        """The cost of the most expensive path: the minimum time with any number of threads."""
        ends = [0.0] * len(self.inputs)
        for node in self.nodes:
            start = max((ends[operand] for operand in node.operands), default=0.0)
            ends.extend([start + cost(node, self.level_of(node))] * len(node.results))
        return max(ends, default=0.0)

    @cached_property
    def last_uses(self) -> tuple[int, ...]:
        """Per value, the node that uses it last; the number of nodes for an output, :data:`UNUSED` for no use."""
        uses = [UNUSED] * len(self.shapes)
        for index, node in enumerate(self.nodes):
            for operand in node.operands:
                uses[operand] = index
        for output in self.outputs:
            uses[output] = len(self.nodes)
        return tuple(uses)

    @cached_property
    def live_ciphertexts(self) -> int:
        """The maximum number of ciphertexts, inputs included, alive at once when nodes execute in order."""
        live = most = len(self.inputs)
        for node, dying in zip(self.nodes, self.dying, strict=True):
            live += len(node.results)
            most = max(most, live)
            live -= len(dying)
        return most

    @cached_property
    def dying(self) -> tuple[tuple[int, ...], ...]:
        """Per node, the values with no later use, whose memory can then be freed."""
        dying: list[list[int]] = [[] for _ in self.nodes]
        for value, last in self._mortal():
            dying[last].append(value)
        return tuple(map(tuple, dying))

    def _mortal(self) -> Iterator[tuple[int, int]]:
        makers = [0] * len(self.inputs) + [i for i, node in enumerate(self.nodes) for _ in node.results]
        for value, (last, maker) in enumerate(zip(self.last_uses, makers, strict=True)):
            if last < len(self.nodes) and self.nodes:
                yield value, max(last, maker)


def digest_of(values: Vector) -> str:
    """SHA-256 of a vector's type and values, in hexadecimal digits."""
    if values.ndim == 1 and len(values) >= _LONG and (values == values[0]).all():
        return _digest_of_equal(values.dtype.str, values[:1].tobytes(), len(values))
    return _digest(values.dtype.str, np.ascontiguousarray(values).data)


@lru_cache(1 << 14)  # circuits have the same coefficients on every modulus chain
def _digest_of_equal(kind: str, value: bytes, count: int) -> str:
    return _digest(kind, memoryview(value * count))


def _digest(kind: str, data: memoryview) -> str:
    digest = hashlib.sha256(kind.encode())
    digest.update(data)
    return digest.hexdigest()


def require_constants(program: Program, vectors: Mapping[str, Vector]) -> Sequence[Vector]:
    """The vector of each constant, in order; raises ``ValueError`` where one is missing."""
    missing = {constant.digest for constant in program.constants} - vectors.keys()
    if missing:
        raise ValueError(f"the program has {len(missing)} constants whose vectors are not given")
    return [vectors[constant.digest] for constant in program.constants]


def require_rotation_keys(program: Program, made: KeyRequest) -> None:
    """Raise ``Unsupported`` for a rotation without its key: a library would compose it from several others."""
    missing = {*program.keys.steps} - {*made.steps}
    if missing:
        steps = ", ".join(map(str, sorted(missing)))
        raise Unsupported(f"no rotation key was generated for {steps} steps, only for {made.steps}")


_FORMAT = 1
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Columns:
    """``parameters`` and ``names`` use first names (:mod:`ciphermark_core.case_keys`), so that digests do not change.

    ``shapes`` lists the shapes that occur; ``inputs`` and ``results`` are indices of it.

    ``operations`` are indices of ``names``, one per node. The columns after it hold entries node by node; the
    ``…_counts`` columns hold their numbers per node.
    """

    format: int
    parameters: msgspec.Raw
    is_managed: bool
    shapes: list[Shape]
    constants: list[Constant]
    inputs: list[int]
    names: list[str]
    operations: list[int]
    operand_counts: list[int]
    operands: list[int]
    constant_counts: list[int]
    constant_operands: list[int]
    argument_counts: list[int]
    arguments: list[int | float]
    result_counts: list[int]
    results: list[int]
    outputs: list[int]


def encoded(program: Program) -> bytes:
    """The program's bytes."""
    nodes = program.nodes
    names = _numbered(node.operation for node in nodes)
    shapes = _numbered(program.shapes)
    columns = _Columns(
        format=_FORMAT,
        parameters=msgspec.Raw(
            msgspec.msgpack.encode(case_keys.parameters(msgspec.to_builtins(program.parameters)))
        ),
        is_managed=program.is_managed,
        shapes=list(shapes),
        constants=list(program.constants),
        inputs=[shapes[shape] for shape in program.inputs],
        names=[case_keys.operation(name) for name in names],
        operations=[names[node.operation] for node in nodes],
        operand_counts=[len(node.operands) for node in nodes],
        operands=[operand for node in nodes for operand in node.operands],
        constant_counts=[len(node.constants) for node in nodes],
        constant_operands=[constant for node in nodes for constant in node.constants],
        argument_counts=[len(node.arguments) for node in nodes],
        arguments=[argument for node in nodes for argument in node.arguments],
        result_counts=[len(node.results) for node in nodes],
        results=[shapes[shape] for node in nodes for shape in node.results],
        outputs=list(program.outputs),
    )
    return msgspec.msgpack.encode(columns)


def decoded(data: bytes) -> Program:
    """The program in the bytes; raises ``ValueError`` where there is none."""
    try:
        columns = msgspec.msgpack.decode(data, type=_Columns)
        stored = msgspec.msgpack.decode(columns.parameters)
        program = Program(
            parameters=msgspec.convert(case_keys.current_parameters(stored), Parameters),
            inputs=tuple(columns.shapes[index] for index in columns.inputs),
            constants=tuple(columns.constants),
            nodes=tuple(_nodes(columns)),
            outputs=tuple(columns.outputs),
            is_managed=columns.is_managed,
        )
    except (msgspec.MsgspecError, IndexError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"the data contains no program: {error}") from error
    if columns.format != _FORMAT:
        raise ValueError(f"the program has format {columns.format}, and this software reads {_FORMAT}")
    _require_order(program)
    return program


def _nodes(columns: _Columns) -> Iterator[Node]:
    operands = _pieces(columns.operands, columns.operand_counts)
    constants = _pieces(columns.constant_operands, columns.constant_counts)
    arguments = _pieces(columns.arguments, columns.argument_counts)
    results = _pieces([columns.shapes[index] for index in columns.results], columns.result_counts)
    names = [case_keys.current_operation(name) for name in columns.names]
    rows = zip(columns.operations, operands, constants, arguments, results, strict=True)
    for name, taken, plain, numbers, shapes in rows:
        yield Node(names[name], taken, plain, numbers, shapes)


def _pieces(values: Sequence[_T], counts: Iterable[int]) -> Iterator[tuple[_T, ...]]:
    left = iter(values)
    return (tuple(islice(left, count)) for count in counts)


def _numbered(values: Iterable[_T]) -> dict[_T, int]:
    return {value: index for index, value in enumerate(dict.fromkeys(values))}


def _require_order(program: Program) -> None:
    for node, first_result in zip(program.nodes, program.first_results, strict=True):
        _require_within(node.operands, first_result)
        _require_within(node.constants, len(program.constants))
        if not node.operands or not node.results:
            raise ValueError(f"a node of {node.operation} has no operand or no result")
    _require_within(program.outputs, len(program.shapes))


def _require_within(indices: Iterable[int], bound: int) -> None:
    if not all(0 <= index < bound for index in indices):
        raise ValueError("the program's nodes are not in an order of execution")
