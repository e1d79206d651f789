"""A traced program in the words of a machine: the work of each node, and the objects that it reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import LOWERING as LOWERED
from ciphermark_contract.operations import Shape, top_level
from ciphermark_contract.program import Constant, Node, Program
from ciphermark_core.errors import Unsupported
from ciphermark_model.machines.machine import Machine
from ciphermark_model.machines.passes import LOWERING, WORK, KeySwitch, Passes, Site, key_switch, raised

# per prime: a prime takes whole words. whole modulus: the machine has its own primes, of a word each.
Words = Literal["per prime", "whole modulus"]
_WORDS: tuple[Words, ...] = ("per prime", "whole modulus")
INPUT, VALUE, PLAINTEXT, HINT = range(4)
KINDS = ("input", "spill", "plaintext", "hint")


class Row(NamedTuple):
    """The work of a node, its key switches, and its scratch space in residues."""

    passes: Passes
    switches: int
    scratch: float


@dataclass
class Graph:
    """Nodes in order. ``rows`` are distinct kinds of work, ``nodes`` the row of each node. ``reads`` and ``writes``
    hold the objects of each node; objects have a kind and a size in residues. ``outputs`` are needed at the end.
    ``residues`` are those of the whole chain, ``residues_by`` the same by either rule.
    """

    ring: int
    residues: int
    residues_by: Mapping[Words, int]
    rows: list[Row] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    reads: list[tuple[int, ...]] = field(default_factory=list)
    writes: list[tuple[int, ...]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    outputs: tuple[int, ...] = ()

    @cached_property
    def work(self) -> npt.NDArray[np.float64]:
        """Passes of each node, in the order of :class:`~.passes.Passes`."""
        table = np.array([row.passes for row in self.rows], dtype=np.float64).reshape(-1, len(Passes()))
        return table[np.array(self.nodes, dtype=np.int64)]

    @cached_property
    def switches(self) -> npt.NDArray[np.float64]:
        """Key switches of each node."""
        return np.array([row.switches for row in self.rows], dtype=np.float64)[
            np.array(self.nodes, dtype=np.int64)
        ]

    @cached_property
    def next_uses(self) -> list[tuple[int, ...]]:
        """For each node, the next nodes that use the objects it reads and writes: the number of nodes for an output,
        :data:`NEVER` for no use.
        """
        upcoming = [NEVER] * len(self.sizes)
        for output in self.outputs:
            upcoming[output] = len(self.nodes)
        uses: list[tuple[int, ...]] = [()] * len(self.nodes)
        for node in range(len(self.nodes) - 1, -1, -1):
            objects = self.reads[node] + self.writes[node]
            uses[node] = tuple([upcoming[item] for item in objects])
            for item in self.reads[node]:
                upcoming[item] = node
        return uses

    @property
    def facts(self) -> Mapping[str, float]:
        """Key switches, the residues L that they work on in total, distinct hints, and residues of hints and
        plaintexts.
        """
        counts = np.bincount(np.array(self.nodes, dtype=np.int64), minlength=len(self.rows))
        kinds, sizes = np.array(self.kinds), np.array(self.sizes)
        return {
            "key_switches": float(sum(n * row.switches for n, row in zip(counts, self.rows, strict=True))),
            "hints": int((kinds == HINT).sum()),
            "hint_residues": float(sizes[kinds == HINT].sum()),
            "plaintexts": int((kinds == PLAINTEXT).sum()),
            "plaintext_residues": float(sizes[kinds == PLAINTEXT].sum()),
        }


NEVER = 1 << 60


def graph_of(  # noqa: PLR0913 - what a mapping is of
    programs: Sequence[Program],
    machine: Machine,
    security: int | None = None,
    *,
    words: Words | None = None,
    bodies: Mapping[str, Program] | None = None,
    uniform: Collection[str] = (),
) -> Graph:
    """The graph of programs that execute one after the other, on inputs of their own.

    ``words`` is by default ``per prime``, but ``whole modulus`` where every prime is smaller than a word. ``bodies``
    are programs that replace a node of an operation: its operand, raised to the level of the body's input, enters it.
    Their chain may have further primes at its end.
    ``uniform`` are the digests of constants with one value in all slots, which are loaded as a number.

    Raises ``Unsupported``, with the place, for a program that the machine or the model does not take.
    """
    parameters = programs[0].parameters
    ring = parameters.ring_dimension
    if ring > machine.max_ring:
        raise Unsupported(f"N = {ring} is above the {machine.max_ring} of {machine.name}")
    if parameters.spec.scheme not in LOWERING:
        raise Unsupported(
            f"accelerators are modeled for CKKS and BGV, not for {parameters.spec.scheme.upper()}, whose products"
            " extend the basis of residues"
        )
    mapping = _Mapping(programs[0], machine, security, words, dict(bodies or {}), frozenset(uniform))
    for program in programs:
        mapping.add(program)
    return mapping.graph


_Known: TypeAlias = tuple[int, int, tuple[Hashable, ...]]  # a row, its residues, and its hints


# Of a program: the number of each value's shape, the residues of each shape, a name for each constant, and its rows.
_Forms: TypeAlias = tuple[list[int], list[int], list[int | None], dict[Hashable, _Known]]


class _Mapping:
    """Maps programs on one modulus chain."""

    def __init__(  # noqa: PLR0913, PLR0917 - the arguments of graph_of
        self,
        program: Program,
        machine: Machine,
        security: int | None,
        words: Words | None,
        bodies: Mapping[str, Program],
        uniform: frozenset[str],
    ) -> None:
        self._bodies, self._uniform = bodies, uniform
        chains = [program.parameters, *(body.parameters for body in bodies.values())]
        parameters = max(chains, key=lambda each: len(each.moduli))
        self._scheme = parameters.spec.scheme
        bits = [prime.bit_length() for prime in parameters.moduli]
        if words is None:
            words = "whole modulus" if max(bits) < machine.word_bits else "per prime"
        prefix = _residues(bits, machine.word_bits, words)
        lowest = len(bits) - top_level(parameters)
        self._residues = prefix[lowest - 1 :]  # by level
        own = parameters.key_switching.decomposition_digits if parameters.key_switching else len(bits)
        digits = machine.digits_at(security)
        self._digits, self._chain = digits, (prefix[-1], own)
        self._switches: dict[int, KeySwitch] = {}
        self._plaintext = machine.plaintext_residues
        self._half = parameters.ring_dimension // 2
        self._objects: dict[Hashable, int] = {}
        self._raised: dict[tuple[int, int], int] = {}
        self._forms: dict[int, _Forms] = {}
        self._names: dict[tuple[str, int, float | None], int] = {}
        both = {kind: _residues(bits, machine.word_bits, kind)[-1] for kind in _WORDS}
        self.graph = Graph(parameters.ring_dimension, self._residues[-1], both)

    def add(self, program: Program) -> None:
        """Append the nodes of a program."""
        inputs = [
            self._new(INPUT, shape.polynomials * self._residues[shape.level]) for shape in program.inputs
        ]
        outputs = self._emit(program, inputs)
        self.graph.outputs = (*self.graph.outputs, *outputs)

    def _emit(self, program: Program, inputs: Sequence[int]) -> list[int]:
        """Append nodes on these objects; returns the objects of the program's outputs."""
        if program.is_managed:
            raise Unsupported(
                "the program leaves levels to its library: name a run, or a variant, of a library that sets them itself"
            )
        values, graph = list(inputs), self.graph
        if id(program) not in self._forms:
            self._forms[id(program)] = self._formed(program)
        forms, sizes, own, rows = self._forms[id(program)]
        for index, (node, first) in enumerate(zip(program.nodes, program.first_results, strict=True)):
            body = self._bodies.get(node.operation)
            if body is not None:
                level = program.shapes[node.operands[0]].level
                values.extend(self._expanded(body, values[node.operands[0]], level))
                continue
            form = tuple([forms[value] for value in node.operands])
            loaded = [own[constant] for constant in node.constants if own[constant] is not None]
            key = (node.operation, node.arguments, form, forms[first], len(loaded))
            known = rows.get(key)
            if known is None:
                known = rows[key] = self._row(program, index, len(loaded))
            row, residues, hints = known
            reads = [values[value] for value in node.operands]
            for name in loaded:
                size = residues if self._plaintext is None else self._plaintext
                reads.append(self._shared(PLAINTEXT, (name, residues), size))
            for hint in hints:
                reads.append(self._hint(hint, residues))
            count = len(node.results)
            results = tuple(range(len(graph.sizes), len(graph.sizes) + count))
            graph.sizes.extend([sizes[forms[first]]] * count)
            graph.kinds.extend([VALUE] * count)
            graph.nodes.append(row)
            graph.reads.append(tuple(dict.fromkeys(reads)))
            graph.writes.append(results)
            values.extend(results)
        return [values[output] for output in program.outputs]

    def _formed(self, program: Program) -> _Forms:
        numbered: dict[Shape, int] = {}
        forms = [numbered.setdefault(shape, len(numbered)) for shape in program.shapes]
        sizes = [shape.polynomials * self._residues[shape.level] for shape in numbered]
        return forms, sizes, list(map(self._plaintext_name, program.constants)), {}

    def _expanded(self, body: Program, operand: int, level: int) -> list[int]:
        """A body after the step that raises its operand."""
        graph, low, top = self.graph, self._residues[level], self._residues[body.inputs[0].level]
        if (low, top) not in self._raised:
            self._raised[low, top] = self._kind(Row(raised(low, top), 0, 0.0), "raise")
        result = self._new(VALUE, 2 * top)
        graph.nodes.append(self._raised[low, top])
        graph.reads.append((operand,))
        graph.writes.append((result,))
        return self._emit(body, [result])

    def _row(self, program: Program, index: int, loaded: int) -> _Known:
        node: Node = program.nodes[index]
        shapes, keys = program.shapes, program.keys_of(node)
        residues = self._residues[shapes[node.operands[0]].level]
        work = LOWERING[self._scheme] if node.operation == LOWERED else WORK.get(node.operation)
        if work is None:
            raise Unsupported(
                f"node {index}, {node.operation}: the model of accelerators does not know this operation"
            )
        hints = tuple(self._hints(keys))
        switch = _NONE
        if hints:
            switch = self._switch(residues, f"node {index}, {node.operation}")
        site = Site(
            residues,
            self._residues[node.results[0].level],
            tuple(shapes[value].polynomials for value in node.operands),
            tuple(shape.polynomials for shape in node.results),
            switch,
        )
        passes = work(site)
        if self._plaintext is not None:  # their other residues are computed
            passes = passes.plus(Passes(ntt=loaded * max(0, residues - self._plaintext)))
        return self._kind(Row(passes, len(hints), switch.scratch), node.operation), residues, hints

    def _kind(self, row: Row, name: str) -> int:
        self.graph.rows.append(row)
        self.graph.names.append(name)
        return len(self.graph.rows) - 1

    def _switch(self, residues: int, place: str) -> KeySwitch:
        if residues not in self._switches:
            try:
                self._switches[residues] = key_switch(residues, self._digits.at(residues, *self._chain))
            except Unsupported as error:
                raise Unsupported(f"{place}: {error}") from None
        return self._switches[residues]

    def _hints(self, keys: KeyRequest) -> Iterator[Hashable]:
        if keys.relinearization:
            yield "relinearization"
        if keys.switching:
            yield "switching"
        yield from (("rotation", step % self._half) for step in keys.steps)
        yield from (("automorphism", element) for element in keys.elements)

    def _hint(self, hint: Hashable, residues: int) -> int:
        return self._shared(HINT, (hint, residues), self._switches[residues].hint)

    def _plaintext_name(self, constant: Constant) -> int | None:
        """A number for a constant, equal for equal ones; ``None`` for one with one value in all slots."""
        if constant.digest in self._uniform:
            return None
        return self._names.setdefault((constant.digest, constant.level, constant.scale), len(self._names))

    def _shared(self, kind: int, name: Hashable, size: float) -> int:
        if name not in self._objects:
            self._objects[name] = self._new(kind, size)
        return self._objects[name]

    def _new(self, kind: int, size: float) -> int:
        self.graph.kinds.append(kind)
        self.graph.sizes.append(size)
        return len(self.graph.sizes) - 1


_NONE = KeySwitch(Passes(), Passes(), 0.0, 0.0)


def _residues(bits: Sequence[int], word_bits: int, words: Words) -> list[int]:
    """The words of a coefficient by the number of primes, from one on."""
    if words == "whole modulus":
        return [-(-int(total) // word_bits) for total in np.cumsum(bits)]
    return [int(total) for total in np.cumsum([-(-size // word_bits) for size in bits])]
