"""Tracing of circuits to programs: a circuit is called once, with placeholders for ciphertexts.

A circuit is any Python function over an evaluator and ciphertexts. It sees levels, scales and polynomial counts, which
follow from the resolved primes, and no values. Its program therefore serves all inputs of these shapes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, Unsupported, Vector
from ciphermark_contract.operations import OPERATIONS, Operation, Ring, Shape, fresh, top_level, where
from ciphermark_contract.program import Constant, Node, Program, digest_of
from ciphermark_core.model import Parameters
from ciphermark_core.nearest import did_you_mean

Circuit: TypeAlias = Callable[[Evaluator, Sequence[Handle]], Sequence[Handle]]

# Maximum number of levels on which a circuit is traced to determine its depth.
_DEEPEST = 512


@dataclass(frozen=True, slots=True)
class Form:
    """The form in which a circuit becomes a program.

    ``is_managed``: for a library that chooses levels itself. ``is_literal``: every operation of the circuit is a node.
    Otherwise equal operations on the same operands share a node, and nodes that no output depends on are left out.
    """

    is_managed: bool = False
    is_literal: bool = False


AS_NEEDED = Form()


@dataclass(frozen=True, slots=True)
class Traced:
    """A program, and the vector of each of its constants by digest."""

    program: Program
    constants: Mapping[str, Vector]


@dataclass(frozen=True, slots=True)
class Ciphertext:
    """Stands for the ciphertext that is value number ``value``."""

    value: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Plaintext:
    """Stands for the constant number ``constant``."""

    constant: int
    shape: Shape


def trace(
    circuit: Circuit,
    parameters: Parameters,
    inputs: Sequence[Shape],
    operations: Iterable[str] = OPERATIONS,
    form: Form = AS_NEEDED,
) -> Traced:
    """Return the program of ``circuit`` on inputs of these shapes, with the operations of a library.

    Raises ``Unsupported`` for a missing operation, and, with the circuit's depth, where the modulus chain is too short.
    """
    able = tuple(operations)
    try:
        return _traced(circuit, parameters, inputs, able, form)
    except Exhausted as error:
        needed = _depth_needed(circuit, parameters, inputs, able)
        raise Unsupported(
            f"the program does not fit its modulus chain, which has {top_level(parameters)} levels: {needed} ({error})"
        ) from error


def fresh_inputs(parameters: Parameters, count: int) -> list[Shape]:
    """The shapes of ``count`` fresh ciphertexts."""
    return [fresh(parameters)] * count


def _traced(
    circuit: Circuit, parameters: Parameters, inputs: Sequence[Shape], able: tuple[str, ...], form: Form
) -> Traced:
    evaluator = TracingEvaluator(parameters, inputs, able, form)
    outputs = circuit(evaluator, evaluator.inputs)
    return evaluator.traced(outputs)


def _depth_needed(
    circuit: Circuit, parameters: Parameters, inputs: Sequence[Shape], able: tuple[str, ...]
) -> str:
    """Return the required depth as text, that of the shortest chain that suffices, extended by primes like the last
    one: a circuit may begin below the first level of a longer chain.
    """

    def depth_with(more: int) -> int | None:
        longer = replace(parameters, moduli=parameters.moduli + parameters.moduli[-1:] * more)
        raised = [replace(shape, level=shape.level + more) for shape in inputs]
        try:
            return _traced(circuit, longer, raised, able, AS_NEEDED).program.depth
        except Exhausted:
            return None

    try:
        enough = next((1 << i for i in range(_DEEPEST.bit_length()) if depth_with(1 << i) is not None), None)
        if enough is not None:
            least = bisect_left(
                range(enough), True, enough // 2, key=lambda more: depth_with(more) is not None
            )
            return f"it needs a depth of {depth_with(least)}"
    except ValueError:  # scales may not match on a hypothetical chain: the depth stays unknown
        pass
    return "its depth is not known"


@dataclass(slots=True)
class _Recorded:
    """The nodes and constants traced so far."""

    shapes: list[Shape]
    merges_equals: bool
    nodes: list[Node] = field(default_factory=list)
    values: dict[tuple[object, ...], tuple[Ciphertext, ...]] = field(default_factory=dict)
    constants: dict[Constant, int] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)

    def added(self, node: Node) -> tuple[Ciphertext, ...]:
        """The results of a node, or of an equal existing one."""
        shape = node.results[0]  # all results have it; its fields take less time to hash than the shape
        form = (shape.level, shape.scale, shape.polynomials)
        key = (node.operation, node.operands, node.constants, node.arguments, form)
        values = self.values.get(key)
        if values is None or not self.merges_equals:
            first = len(self.shapes)
            self.nodes.append(node)
            self.shapes.extend(node.results)
            values = self.values[key] = tuple(
                [Ciphertext(first + number, shape) for number in range(len(node.results))]
            )
        return values


class TracingEvaluator(Evaluator):
    """An evaluator without ciphertexts: it derives shapes, and records the applied operations."""

    def __init__(
        self, parameters: Parameters, inputs: Sequence[Shape], able: Container[str], form: Form = AS_NEEDED
    ) -> None:
        self.parameters = parameters
        self.inputs = tuple(Ciphertext(value, shape) for value, shape in enumerate(inputs))
        self._form = form
        self._recorded = _Recorded(list(inputs), merges_equals=not form.is_literal)
        names = where(lambda row: row.name in able or (form.is_managed and row.is_maintenance))
        self._table = {name: partial(self._record, name) for name in names}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        return self._table

    def reason_against(self, operation: str) -> str:
        if operation.partition("(")[0] not in OPERATIONS:
            return f"there is no operation {operation!r}{did_you_mean(operation, OPERATIONS)}"
        return f"the library has no {operation} in {self.parameters.spec.scheme}"

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """Add a constant to the program; see the contract."""
        if level is None:
            level = top_level(self.parameters) if like is None else like.shape.level
        if self.parameters.scale is not None:
            scale = float(scale or self.parameters.scale)
        return self._constant(Constant(digest_of(values), level, scale), values)

    def load(self, data: bytes) -> Handle:
        """A circuit's ciphertexts are its inputs."""
        raise Unsupported("a circuit reads no ciphertext: take it as an input")

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """A circuit's results are its outputs."""
        raise Unsupported("a circuit writes no ciphertext: return it as an output")

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """Unavailable: there are no bytes while a circuit is traced."""
        raise Unsupported("a circuit writes no plaintext")

    def level(self, ciphertext: Handle) -> int:
        level: int = ciphertext.shape.level
        return level

    def scale(self, ciphertext: Handle) -> float | None:
        scale: float | None = ciphertext.shape.scale
        return scale

    def polynomials(self, ciphertext: Handle) -> int:
        polynomials: int = ciphertext.shape.polynomials
        return polynomials

    def traced(self, outputs: Sequence[Handle]) -> Traced:
        """The program that ends with these ciphertexts."""
        recorded = self._recorded
        whole = Program(
            parameters=self.parameters,
            inputs=tuple(recorded.shapes[: len(self.inputs)]),
            constants=tuple(recorded.constants),
            nodes=tuple(recorded.nodes),
            outputs=tuple(output.value for output in outputs),
            is_managed=self._form.is_managed,
        )
        program = whole if self._form.is_literal else pruned(whole)
        digests = {constant.digest for constant in program.constants}
        return Traced(
            program, {digest: values for digest, values in recorded.vectors.items() if digest in digests}
        )

    def _constant(self, constant: Constant, values: Vector) -> Plaintext:
        index = self._recorded.constants.setdefault(constant, len(self._recorded.constants))
        self._recorded.vectors.setdefault(constant.digest, values)
        return Plaintext(index, Shape(constant.level, constant.scale, 1))

    def _record(self, operation: str, *operands: Any) -> Handle:
        ciphertexts = [operand for operand in operands if isinstance(operand, Ciphertext)]
        plaintexts = [operand for operand in operands if isinstance(operand, Plaintext)]
        numbers = tuple(operands[len(ciphertexts) + len(plaintexts) :])
        shapes = [*(item.shape for item in ciphertexts), *(item.shape for item in plaintexts)]
        row = OPERATIONS[operation]
        if not row.yields_ciphertexts:
            return self._encoded(row, *operands)
        shape = row.shape_after(self.parameters, *shapes, *numbers)
        if self._form.is_managed and row.is_maintenance:
            return replace(ciphertexts[0], shape=shape)
        node = Node(
            operation,
            tuple(operand.value for operand in ciphertexts),
            tuple(operand.constant for operand in plaintexts),
            numbers,
            (shape,) * (len(numbers) if row.has_several_results else 1),
        )
        results = self._recorded.added(node)
        return list(results) if row.has_several_results else results[0]

    def _encoded(
        self, row: Operation, values: Vector | Plaintext, like: Ciphertext | None = None
    ) -> Plaintext:
        """Encoding is no node: an evaluator prepares constants, given by slots, in the form that nodes take."""
        if not isinstance(values, Plaintext):
            slots = row.slots_after(Ring.of(self.parameters), values)
            return self._constant(
                Constant(digest_of(slots), top_level(self.parameters), self.parameters.scale), slots
            )
        constant = list(self._recorded.constants)[values.constant]
        vector = self._recorded.vectors[constant.digest]
        return self._constant(replace(constant, level=(like or values).shape.level), vector)


def pruned(program: Program) -> Program:
    """The program without nodes and constants that no output depends on."""
    needed = set(program.outputs)
    indices: list[int] = []
    for index in range(len(program.nodes) - 1, -1, -1):
        node, first = program.nodes[index], program.first_results[index]
        if first in needed or not needed.isdisjoint(range(first + 1, first + len(node.results))):
            needed.update(node.operands)
            indices.append(index)
    uses = dict.fromkeys(
        constant for index in reversed(indices) for constant in program.nodes[index].constants
    )
    if len(indices) == len(program.nodes) and [*uses] == [*range(len(program.constants))]:
        return program
    return _renumbered(program, indices[::-1])


def _renumbered(program: Program, kept: Sequence[int]) -> Program:
    values = {value: value for value in range(len(program.inputs))}
    constants: dict[int, int] = {}
    nodes = []
    for index in kept:
        node, first = program.nodes[index], program.first_results[index]
        operands = tuple([values[operand] for operand in node.operands])
        own = tuple([constants.setdefault(item, len(constants)) for item in node.constants])
        nodes.append(Node(node.operation, operands, own, node.arguments, node.results))
        for number in range(len(node.results)):
            values[first + number] = len(values)
    return replace(
        program,
        constants=tuple(program.constants[item] for item in constants),
        nodes=tuple(nodes),
        outputs=tuple(values[output] for output in program.outputs),
    )
