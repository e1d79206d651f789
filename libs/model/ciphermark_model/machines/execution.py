"""The execution of a graph on a machine: a register file with furthest-use eviction, and prefetch before computation.

Loads are issued ahead of their use, limited by the bandwidth alone: the decoupled prefetch of CraterLake (ISCA 2022).
The register file evicts the object whose next use is the furthest, and writes back results that are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from ciphermark_model.machines.graph import HINT, KINDS, NEVER, VALUE, Graph, Structure
from ciphermark_model.machines.machine import UNITS, Instructions, Machine, Units

_WORDS_OF_A_BUTTERFLY = 2
_ABSENT = -1  # the next use of an object that is not on the chip
Floats = npt.NDArray[np.float64]
MEMORY, LATENCY, LANES = "memory", "latency", "lanes"


@dataclass(frozen=True, slots=True)
class Execution:
    """What a graph costs on a machine.

    ``compute_s`` is the time of all operations without waiting for memory, ``memory_s`` that of all loads and stores.
    ``without_latency_s`` is the time with a latency of 0, ``latency_s`` the sum of all latencies. ``bytes`` are by
    kind: hints, plaintexts, inputs, and spills (results written back and loaded again). ``busy`` is the busy share of
    each unit. ``binding`` names what alone would take longest: a unit, the memory, or the latency.
    """

    machine: Machine
    time_s: float
    without_latency_s: float
    latency_s: float
    compute_s: float
    memory_s: float
    bytes: Mapping[str, float]
    busy: Mapping[str, float]
    binding: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that each node loads and stores, and their sums by kind."""

    of_nodes: Floats
    by_kind: Mapping[str, float]


def execute(graph: Graph, machine: Machine, traffic: Traffic | None = None) -> Execution:
    """The execution of a graph that was made for this machine's words and digits. ``traffic`` is that of a machine with
    the same register file.
    """
    traffic = traffic or traffic_of(graph, machine)
    units = _cycles(graph, machine)
    latency = machine.latency_cycles * graph.switches
    hertz = machine.ghz * 1e9
    plain = np.max(list(units.values()), axis=0) if units else np.zeros(len(graph.structure.nodes))
    arrivals = np.cumsum(traffic.of_nodes) / machine.bandwidth
    time_s = _end(arrivals, (plain + latency) / hertz)
    totals = {name: float(cycles.sum()) / hertz for name, cycles in units.items()}
    memory_s = float(arrivals[-1]) if len(arrivals) else 0.0
    alone = {**totals, MEMORY: memory_s, LATENCY: float(latency.sum()) / hertz}
    return Execution(
        machine,
        time_s,
        _end(arrivals, plain / hertz),
        float(latency.sum()) / hertz,
        float((plain + latency).sum()) / hertz,
        memory_s,
        traffic.by_kind,
        {name: value / time_s if time_s else 0.0 for name, value in totals.items()},
        max(alone, key=lambda name: alone[name]),
    )


def _end(arrivals: Floats, seconds: Floats) -> float:
    """The end of the last node: each starts when the one before has ended and its operands have arrived."""
    if not len(seconds):
        return 0.0
    done = np.cumsum(seconds)
    return float((arrivals - (done - seconds)).max() + done[-1])


def _cycles(graph: Graph, machine: Machine) -> dict[str, Floats]:
    """Cycles of each unit for each node."""
    ntt, converted, accumulated, multiply, add, move = graph.work.T
    compute, vector = machine.compute, graph.structure.ring / machine.lanes
    if isinstance(compute, Instructions):
        butterflies = np.log2(graph.structure.ring) / _WORDS_OF_A_BUTTERFLY
        cycles = (
            ntt * (butterflies * compute.butterfly)
            + accumulated * compute.accumulate
            + multiply * compute.multiply
            + add * compute.add
            + move * compute.move
        )
        return {LANES: cycles * vector}
    return _of_units(compute, (ntt, converted, accumulated, multiply, add, move), vector)


def _of_units(units: Units, work: tuple[Floats, ...], vector: float) -> dict[str, Floats]:
    ntt, converted, accumulated, multiply, add, move = work
    conversion = {"residues": converted, "accumulators": accumulated, "multipliers": 0.0 * converted}
    shared = accumulated if units.conversion == "multipliers" else 0.0
    cycles = (
        ntt / units.ntt,
        conversion[units.conversion] / units.conversions,
        (multiply + shared) / units.multiply,
        (add + shared) / units.add,
        move / units.automorphism,
    )
    return {name: vector * value for name, value in zip(UNITS, cycles, strict=True)}


def traffic_of(graph: Graph, machine: Machine) -> Traffic:
    """Loads and stores of a graph through the machine's register file."""
    structure, residue = graph.structure, graph.structure.ring * machine.word_bytes
    factors = np.ones(len(KINDS))
    factors[HINT] = machine.hint_factor
    kinds = np.array(structure.kinds, dtype=np.int64)
    sizes = (graph.sizes * factors[kinds] * residue).tolist()
    scratch = [row.scratch * residue for row in graph.rows]
    file = _RegisterFile(machine.register_file_bytes, sizes)
    of_nodes = file.run(structure, scratch)
    loaded = (
        np.bincount(kinds, np.array(file.loads) * np.array(sizes), len(KINDS))
        if sizes
        else np.zeros(len(KINDS))
    )
    loaded[VALUE] += file.stored
    return Traffic(of_nodes, {name: float(value) for name, value in zip(KINDS, loaded, strict=True)})


class _RegisterFile:
    """Objects on the chip. ``loads`` counts the loads of each object, ``stored`` the bytes written back."""

    def __init__(self, capacity: float, sizes: list[float]) -> None:
        self._capacity, self._sizes = capacity, sizes
        self.loads = [0] * len(sizes)
        self.stored = 0.0

    def run(self, graph: Structure, scratch: list[float]) -> Floats:
        """The bytes that each node moves."""
        sizes, loads, capacity = self._sizes, self.loads, self._capacity
        next_use, is_dirty = [_ABSENT] * len(sizes), [False] * len(sizes)
        rooms = [capacity - bytes_needed for bytes_needed in scratch]
        heap: list[tuple[int, int]] = []  # entries whose use is not the object's next one are void
        moved, used = [0.0] * len(graph.nodes), 0.0
        for index, (task, reads, writes, uses) in enumerate(
            zip(graph.nodes, graph.reads, graph.writes, graph.next_uses, strict=True)
        ):
            bytes_moved = 0.0
            for item in reads:
                if next_use[item] == _ABSENT:
                    loads[item] += 1
                    used += sizes[item]
                    bytes_moved += sizes[item]
            for item in writes:
                is_dirty[item] = True
                used += sizes[item]
            room = rooms[task]
            while used > room and heap and heap[0][0] < -index:  # objects of this node stay
                use, item = heappop(heap)
                if next_use[item] == -use:
                    next_use[item] = _ABSENT
                    used -= sizes[item]
                    if is_dirty[item]:
                        is_dirty[item] = False
                        bytes_moved += sizes[item]
                        self.stored += sizes[item]
            for item, use in zip(reads + writes, uses, strict=True):
                if use == NEVER:
                    next_use[item] = _ABSENT
                    used -= sizes[item]
                else:
                    next_use[item] = use
                    heappush(heap, (-use, item))
            moved[index] = bytes_moved
        return np.array(moved)
