"""A traced program in the words of a machine: the work of each node, and the objects that it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Shape, top_level
from ciphermark_contract.program import Constant, Node, Program
from ciphermark_core.errors import Unsupported
from ciphermark_model.machines.machine import Machine
from ciphermark_model.machines.passes import KeySwitch, Passes, Site, Work, key_switch, raised, work_of

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


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of work: what a node does, with so many hints and loaded plaintexts, on how many residues, of which
    ``after`` are left. ``polynomials`` and ``results`` are those of the ciphertexts that it reads and of its results.
    """

    place: str
    work: Work
    residues: int
    after: int = 0
    polynomials: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    hints: int = 0
    loaded: int = 0

    def row(self, switch: Callable[[int], KeySwitch], plaintext_residues: int | None) -> Row:
        """The row with the key switching of so many residues; raises ``Unsupported`` with the place."""
        try:
            own = switch(self.residues) if self.hints else _NONE
        except Unsupported as error:
            raise Unsupported(f"{self.place}: {error}") from None
        passes = self.work(Site(self.residues, self.after, self.polynomials, self.results, own))
        if plaintext_residues is not None:  # their other residues are computed
            passes = passes.plus(Passes(ntt=self.loaded * max(0, self.residues - plaintext_residues)))
        return Row(passes, self.hints, own.scratch)


@dataclass
class Structure:
    """Nodes in order, in words of a size. ``tasks`` are distinct kinds of work, ``nodes`` the task of each node.
    ``reads`` and ``writes`` hold the objects of each node. Objects have a kind and a size in residues; the size of a
    hint is that of the ciphertexts that it switches. ``outputs`` are needed at the end. ``residues`` are those of the
    whole chain, ``residues_by`` the same by either rule; ``chain_digits`` are the digits of the program's own chain.
    """

    ring: int
    residues: int
    residues_by: Mapping[Words, int]
    chain: tuple[int, int]
    tasks: list[Task] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    reads: list[tuple[int, ...]] = field(default_factory=list)
    writes: list[tuple[int, ...]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    outputs: tuple[int, ...] = ()

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

    def on(self, machine: Machine, security: int | None = None) -> Graph:
        """The graph on a machine with these words. Raises ``Unsupported``, with the place, where it does not fit."""
        if self.ring > machine.max_ring:
            raise Unsupported(f"N = {self.ring} is above the {machine.max_ring} of {machine.name}")
        digits, plaintext = machine.digits_at(security), machine.plaintext_residues

        @cache
        def switch(residues: int) -> KeySwitch:
            return key_switch(residues, digits.at(residues, *self.chain))

        rows = [task.row(switch, plaintext) for task in self.tasks]
        sizes = [
            switch(size).hint
            if kind == HINT
            else plaintext
            if kind == PLAINTEXT and plaintext is not None
            else size
            for kind, size in zip(self.kinds, self.sizes, strict=True)
        ]
        return Graph(self, rows, np.array(sizes, dtype=np.float64))


@dataclass
class Graph:
    """A structure with the work of each of its tasks, and the size of each object in residues."""

    structure: Structure
    rows: list[Row]
    sizes: npt.NDArray[np.float64]

    @cached_property
    def work(self) -> npt.NDArray[np.float64]:
        """Passes of each node, in the order of :class:`~.passes.Passes`."""
        table = np.array([row.passes for row in self.rows], dtype=np.float64).reshape(-1, len(Passes()))
        return table[self._nodes]

    @cached_property
    def switches(self) -> npt.NDArray[np.float64]:
        """Key switches of each node."""
        return np.array([row.switches for row in self.rows], dtype=np.float64)[self._nodes]

    @cached_property
    def _nodes(self) -> npt.NDArray[np.int64]:
        return np.array(self.structure.nodes, dtype=np.int64)

    @property
    def facts(self) -> Mapping[str, float]:
        """Key switches, distinct hints, and residues of hints and plaintexts."""
        kinds, sizes = np.array(self.structure.kinds), self.sizes
        return {
            "key_switches": float(self.switches.sum()),
            "hints": int((kinds == HINT).sum()),
            "hint_residues": float(sizes[kinds == HINT].sum()),
            "plaintexts": int((kinds == PLAINTEXT).sum()),
            "plaintext_residues": float(sizes[kinds == PLAINTEXT].sum()),
        }


NEVER = 1 << 60


def structure_of(
    programs: Sequence[Program],
    word_bits: int,
    *,
    words: Words | None = None,
    bodies: Mapping[str, Program] | None = None,
    uniform: Collection[str] = (),
) -> Structure:
    """The structure of programs that execute one after the other, on inputs of their own, in words of a size.

    ``words`` is by default ``per prime``, but ``whole modulus`` where every prime is smaller than a word. ``bodies``
    are programs that replace a node of an operation: its operand, raised to the level of the body's input, enters it.
    Their chain may have further primes at its end.
    ``uniform`` are the digests of constants with one value in all slots, which are loaded as a number.

    Raises ``Unsupported``, with the place, for a program that the model does not take.
    """
    mapping = _Mapping(programs[0], word_bits, words, dict(bodies or {}), frozenset(uniform))
    for program in programs:
        mapping.add(program)
    return mapping.structure


_Known: TypeAlias = tuple[int, int, tuple[Hashable, ...]]  # a task, its residues, and its hints


# Of a program: the number of each value's shape, the residues of each shape, a name for each constant, and its tasks.
_Forms: TypeAlias = tuple[list[int], list[int], list[int | None], dict[Hashable, _Known]]


class _Mapping:
    """Maps programs on one modulus chain."""

    def __init__(
        self,
        program: Program,
        word_bits: int,
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
            words = "whole modulus" if max(bits) < word_bits else "per prime"
        prefix = _residues(bits, word_bits, words)
        lowest = len(bits) - top_level(parameters)
        self._residues = prefix[lowest - 1 :]  # by level
        own = parameters.key_switching.decomposition_digits if parameters.key_switching else len(bits)
        self._half = parameters.ring_dimension // 2
        self._objects: dict[Hashable, int] = {}
        self._raised: dict[tuple[int, int], int] = {}
        self._forms: dict[int, _Forms] = {}
        self._names: dict[tuple[str, int, float | None], int] = {}
        both = {kind: _residues(bits, word_bits, kind)[-1] for kind in _WORDS}
        self.structure = Structure(parameters.ring_dimension, self._residues[-1], both, (prefix[-1], own))

    def add(self, program: Program) -> None:
        """Append the nodes of a program."""
        inputs = [
            self._new(INPUT, shape.polynomials * self._residues[shape.level]) for shape in program.inputs
        ]
        outputs = self._emit(program, inputs)
        self.structure.outputs = (*self.structure.outputs, *outputs)

    def _emit(self, program: Program, inputs: Sequence[int]) -> list[int]:
        """Append nodes on these objects; returns the objects of the program's outputs."""
        if program.is_managed:
            raise Unsupported(
                "the program leaves levels to its library: name a run, or a variant, of a library that sets them itself"
            )
        values, graph = list(inputs), self.structure
        if id(program) not in self._forms:
            self._forms[id(program)] = self._formed(program)
        forms, sizes, own, tasks = self._forms[id(program)]
        for index, (node, first) in enumerate(zip(program.nodes, program.first_results, strict=True)):
            body = self._bodies.get(node.operation)
            if body is not None:
                level = program.shapes[node.operands[0]].level
                values.extend(self._expanded(body, values[node.operands[0]], level))
                continue
            form = tuple([forms[value] for value in node.operands])
            loaded = [own[constant] for constant in node.constants if own[constant] is not None]
            key = (node.operation, node.arguments, form, forms[first], len(loaded))
            known = tasks.get(key)
            if known is None:
                known = tasks[key] = self._task(program, index, len(loaded))
            task, residues, hints = known
            reads = [values[value] for value in node.operands]
            for name in loaded:
                reads.append(self._shared(PLAINTEXT, (name, residues), residues))
            for hint in hints:
                reads.append(self._shared(HINT, (hint, residues), residues))
            count = len(node.results)
            results = tuple(range(len(graph.sizes), len(graph.sizes) + count))
            graph.sizes.extend([sizes[forms[first]]] * count)
            graph.kinds.extend([VALUE] * count)
            graph.nodes.append(task)
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
        graph, low, top = self.structure, self._residues[level], self._residues[body.inputs[0].level]
        if (low, top) not in self._raised:
            self._raised[low, top] = self._new_task(Task("raise", raised, low, top))
        result = self._new(VALUE, 2 * top)
        graph.nodes.append(self._raised[low, top])
        graph.reads.append((operand,))
        graph.writes.append((result,))
        return self._emit(body, [result])

    def _task(self, program: Program, index: int, loaded: int) -> _Known:
        node: Node = program.nodes[index]
        shapes, place = program.shapes, f"node {index}, {node.operation}"
        residues = self._residues[shapes[node.operands[0]].level]
        work = work_of(self._scheme, node.operation)
        if work is None:
            raise Unsupported(f"{place}: the model of accelerators does not know this operation")
        hints = tuple(self._hints(program.keys_of(node)))
        task = Task(
            place,
            work,
            residues,
            self._residues[node.results[0].level],
            tuple(shapes[value].polynomials for value in node.operands),
            tuple(shape.polynomials for shape in node.results),
            len(hints),
            loaded,
        )
        return self._new_task(task), residues, hints

    def _new_task(self, task: Task) -> int:
        self.structure.tasks.append(task)
        return len(self.structure.tasks) - 1

    def _hints(self, keys: KeyRequest) -> Iterator[Hashable]:
        if keys.relinearization:
            yield "relinearization"
        if keys.switching:
            yield "switching"
        yield from (("rotation", step % self._half) for step in keys.steps)
        yield from (("automorphism", element) for element in keys.elements)

    def _plaintext_name(self, constant: Constant) -> int | None:
        """A number for a constant, equal for equal ones; ``None`` for one with one value in all slots."""
        if constant.digest in self._uniform:
            return None
        return self._names.setdefault((constant.digest, constant.level, constant.scale), len(self._names))

    def _shared(self, kind: int, name: Hashable, size: int) -> int:
        if name not in self._objects:
            self._objects[name] = self._new(kind, size)
        return self._objects[name]

    def _new(self, kind: int, size: int) -> int:
        self.structure.kinds.append(kind)
        self.structure.sizes.append(size)
        return len(self.structure.sizes) - 1


_NONE = KeySwitch(Passes(), Passes(), 0.0, 0.0)


def _residues(bits: Sequence[int], word_bits: int, words: Words) -> list[int]:
    """The words of a coefficient by the number of primes, from one on."""
    if words == "whole modulus":
        return [-(-int(total) // word_bits) for total in np.cumsum(bits)]
    return [int(total) for total in np.cumsum([-(-size // word_bits) for size in bits])]
