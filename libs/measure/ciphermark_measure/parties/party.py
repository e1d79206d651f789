"""The common part of client and server: a table of answers, and failures that are data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from time import perf_counter_ns
from typing import Any, TypeVar

import msgspec
import numpy as np

from ciphermark_contract.bound import Collections
from ciphermark_contract.interfaces import Adapter
from ciphermark_core.descriptor import Value
from ciphermark_core.model import Sample
from ciphermark_measure.clock import MonotonicClock
from ciphermark_measure.interference import host_state, reference_kernel
from ciphermark_measure.interference.cpu_steal import CpuSteal
from ciphermark_measure.interference.host_state import Around, Gate, Slowing
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, Blobs
from ciphermark_measure.parties.messages import Role, Step
from ciphermark_measure.probes import Meter, samples_of, together
from ciphermark_measure.service import refusal
from ciphermark_workloads.catalogue import AnyWorkload, named
from ciphermark_workloads.workload import Arrays, Stage

T = TypeVar("T")


class OutOfOrder(Exception):
    """A request arrived before the one that it depends on."""


class HostWatch:
    """Watches the host's influence on a party, with the same readings as around samples of operations. ``baseline_ns``
    is the lowest known reference-kernel baseline; without a reference kernel nothing is watched.
    """

    def __init__(self, gate: Gate, baseline_ns: float | None = None) -> None:
        self.gate = gate
        self._baseline_ns = baseline_ns
        self._steal = CpuSteal()
        self._adapter: Adapter | None = None

    @classmethod
    def of_this_process(cls, baseline_ns: float | None = None) -> HostWatch:
        """A watch with the kernels, where they are built."""
        if reference_kernel.reason_against():
            return cls(Gate())
        return cls(
            Gate(reference_kernel.ReferenceKernel(), MonotonicClock(), memory=reference_kernel.Memory()),
            baseline_ns,
        )

    def begin_trial(self) -> None:
        """Start a trial: :meth:`facts` covers the time from now on."""
        self.gate.begin_trial(self._baseline_ns)
        self._steal = CpuSteal()

    def listen(self, adapter: Adapter) -> None:
        """Count the collections of a library from now on."""
        self._adapter = adapter

    def collections(self) -> Collections:
        """The collections of the library so far."""
        return Collections() if self._adapter is None else self._adapter.collections()

    @property
    def facts(self) -> messages.HostReadings:
        """The readings of the trial so far."""
        return messages.HostReadings(**self._steal.facts(), **self.gate.facts())


class Party(ABC):
    """Answers one request at a time.

    ``store`` holds the blobs; ``workloads`` are the available ones, by name. ``host`` watches the steps.
    """

    def __init__(
        self, store: Blobs, workloads: Mapping[str, AnyWorkload], host: HostWatch | None = None
    ) -> None:
        self.store = store
        self.workloads = workloads
        self.host = host or HostWatch(Gate())

    @property
    @abstractmethod
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        """The handler of each kind of request."""

    def answer(self, request: messages.Request) -> messages.Reply:
        """Answer one request; any failure becomes ``Refused``."""
        try:
            return self.answers[type(request)](request)
        except Exception as error:  # a library may throw anything: it costs one trial
            return refusal(error)

    def configured(self, name: str, options: Mapping[str, Value]) -> AnyWorkload:
        """The workload with its options; raises ``UserError`` for an unknown workload or option."""
        return named(self.workloads, name).with_options(options)

    def server_stage(self, workload: AnyWorkload, name: str) -> Stage:
        """The stage of a name; raises ``OutOfOrder`` for one without the server."""
        stages = {stage.name: stage for stage in workload.server_stages}
        if name not in stages:
            raise OutOfOrder(f"{workload.name} has no stage {name} for the server, only {', '.join(stages)}")
        return stages[name]

    def got(self, blobs: Sequence[Blob]) -> list[bytes]:
        """The parts of blobs, one after the other."""
        return list(self.parts(blobs))

    def parts(self, blobs: Sequence[Blob]) -> Iterator[bytes]:
        """The parts of blobs, on request; all exist and are compared with their digests beforehand."""
        return chain.from_iterable([self.store.get_parts(blob) for blob in blobs])

    def kept(self, items: Sequence[bytes]) -> tuple[Blob, ...]:
        """Store bytes as parts of one blob: separate files would take longer to write than most ciphertexts."""
        return (self.store.put_parts(items),)


def equal_parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items in ``count`` parts of equal length; raises ``ValueError`` where that is impossible."""
    length, rest = divmod(len(items), count)
    if rest:
        raise ValueError(f"{len(items)} ciphertexts are not those of a pass over {count}")
    return [items[length * i : length * (i + 1)] for i in range(count)]


class Watch:
    """Measures the work inside ``step``. A step may consist of several pieces. The gate of the ``host`` is read around
    steps, outside of their time, and so are the collections of the library. ``reads_memory`` adds the memory kernel,
    whose buffer then counts in the process's peak.
    """

    def __init__(self, stage: str, host: HostWatch | None = None, reads_memory: bool = False) -> None:
        self._stage = stage
        self._host = host or HostWatch(Gate())
        self._gate = self._host.gate
        self._reads_memory = reads_memory
        self._collections: dict[Step, Collections] = {}
        self._meter = Meter("step")
        self._steps: dict[Step, dict[str, float]] = {}
        self._pieces: dict[Step, list[tuple[Around, int]]] = {}

    @contextmanager
    def step(self, name: Step) -> Iterator[None]:
        """Measure the work inside."""
        with self._watched(name):
            self._meter.start()
            yield
            self._stop(name)

    def each(self, name: Step, items: Iterable[bytes]) -> Iterator[bytes]:
        """The items; the production of each is measured as a piece of a step."""
        following = iter(items)
        with self._watched(name):
            while True:
                self._meter.start()
                item = next(following, None)
                self._stop(name)
                if item is None:
                    return
                yield item

    def without(self, name: Step, items: Iterable[bytes]) -> Iterator[bytes]:
        """The items; the production of each is excluded from the step that requests it."""
        following = iter(items)
        while True:
            self._stop(name)
            item = next(following, None)
            self._meter.start()
            if item is None:
                return
            yield item

    def of_each(self, name: Step, action: Callable[[bytes], T], items: Iterable[bytes]) -> list[T]:
        """The results of ``action`` on each item, measured as a piece of a step; producing the items is excluded."""
        results, pieces = [], [self._steps.get(name, {})]
        with self._watched(name):
            for item in items:
                self._meter.start()
                results.append(action(item))
                pieces.append(self._meter.stop())
        self._steps[name] = together(pieces)
        return results

    def samples(self) -> tuple[Sample, ...]:
        """The measured values, in the order of the steps, each with its slowdown by current knowledge."""
        return tuple(
            _slowed(sample, self._slowing([name]))
            for name, values in self._steps.items()
            for sample in samples_of(values, self._stage, step=name)
        )

    @property
    def collected(self) -> messages.Collected:
        """The collections that fell into steps."""
        cycles = sum(item.cycles for item in self._collections.values())
        paused_ns = sum(item.paused_ns for item in self._collections.values())
        return messages.Collected(cycles, paused_ns / 1e9, tuple(self._collections))

    def _slowing(self, names: Iterable[Step]) -> Slowing:
        """The slowdown of steps together."""
        pieces = [piece for name in names for piece in self._pieces.get(name, ())]
        return host_state.together([(self._gate.slowing(around), lasted_ns) for around, lasted_ns in pieces])

    @contextmanager
    def _watched(self, name: Step) -> Iterator[None]:
        """Read the gate before and after the work inside."""
        begun, before = self._gate.before(self._reads_memory), self._host.collections()
        start_ns = perf_counter_ns()
        yield
        lasted_ns = perf_counter_ns() - start_ns
        collections = self._host.collections().since(before)
        if collections.cycles:
            self._collections[name] = self._collections.get(name, Collections()) | collections
        self._pieces.setdefault(name, []).append((self._gate.after(begun, lasted_ns), lasted_ns))

    def _stop(self, name: Step) -> None:
        self._steps[name] = together([self._steps.get(name, {}), self._meter.stop()])


def _slowed(sample: Sample, slowing: Slowing) -> Sample:
    """A sample with its slowdown. CPU time contains no wait, so that waiting does not disturb it; values other than
    times stay unchanged.
    """
    match sample.metric:
        case "time":
            return replace(sample, slowdown=slowing.factor, is_disturbed=slowing.is_disturbed)
        case "cpu_time":
            return replace(sample, slowdown=slowing.by_host)
        case _:
            return sample


class Steps(Watch):
    """The steps of one request, which begins when this object is created. Adds the party's own sums, and the cost of
    the watch, which belongs to no stage.
    """

    def __init__(
        self, stage: str, role: Role, host: HostWatch | None = None, reads_memory: bool = False
    ) -> None:
        super().__init__(stage, host, reads_memory)
        self._role = role
        self._before_ns = self._gate.spent_ns
        self._request = Meter("request")
        self._request.start()

    def samples(self) -> tuple[Sample, ...]:
        """The samples of each step, then the party's own."""
        own = together([*self._steps.values(), self._request.stop()])
        self._gate.settle()
        slowing = self._slowing(self._steps)
        parts = [_slowed(sample, slowing) for sample in samples_of(own, self._stage, party=self._role)]
        watched_ns = self._gate.spent_ns - self._before_ns
        cost = [Sample("time", watched_ns / 1e9, self._stage, step=messages.CHECK)] if watched_ns else []
        return (*super().samples(), *parts, *cost)


class _Array(msgspec.Struct, frozen=True, array_like=True):
    shape: tuple[int, ...]
    data: bytes


_decoder = msgspec.msgpack.Decoder(dict[str, _Array])


def dump_arrays(arrays: Arrays) -> bytes:
    """The arrays as bytes; equal arrays give equal bytes."""
    plain = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in sorted(arrays.items())}
    return msgspec.msgpack.encode({name: _Array(item.shape, item.tobytes()) for name, item in plain.items()})


def load_arrays(data: bytes) -> Arrays:
    """Read the arrays; raises ``ValueError`` for invalid bytes."""
    arrays = _decoder.decode(data)
    return {
        name: np.frombuffer(item.data, dtype="<f8").astype(np.float64).reshape(item.shape)
        for name, item in arrays.items()
    }
