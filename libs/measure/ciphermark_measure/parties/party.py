"""What client and server have in common: a table of answers, and failures that are data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np

from ciphermark_core.descriptor import Value
from ciphermark_core.model import Sample
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, Blobs
from ciphermark_measure.parties.messages import Role, Step
from ciphermark_measure.probes import Meter, samples_of, together
from ciphermark_measure.service import refusal
from ciphermark_workloads.catalogue import AnyWorkload, named
from ciphermark_workloads.workload import Arrays, Stage

T = TypeVar("T")


class OutOfOrder(Exception):
    """A request came before the one that it builds on."""


class Party(ABC):
    """Answers one request at a time.

    ``store`` is where blobs come from and go to; ``workloads`` are those that can be asked for, by name.
    """

    def __init__(self, store: Blobs, workloads: Mapping[str, AnyWorkload]) -> None:
        self.store = store
        self.workloads = workloads

    @property
    @abstractmethod
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        """What to do for each kind of request."""

    def answer(self, request: messages.Request) -> messages.Reply:
        """Answer one request; whatever goes wrong becomes ``Refused``."""
        try:
            return self.answers[type(request)](request)
        except Exception as error:  # a library may throw anything: it costs one trial
            return refusal(error)

    def configured(self, name: str, options: Mapping[str, Value]) -> AnyWorkload:
        """The workload with its options; raises ``UserError`` for an unknown one, and for options it does not have."""
        return named(self.workloads, name).with_options(options)

    def server_stage(self, workload: AnyWorkload, name: str) -> Stage:
        """The stage of a name; raises ``OutOfOrder`` for one that the server does not compute in."""
        stages = {stage.name: stage for stage in workload.server_stages}
        if name not in stages:
            raise OutOfOrder(f"{workload.name} has no stage {name} for the server, only {', '.join(stages)}")
        return stages[name]

    def got(self, blobs: Sequence[Blob]) -> list[bytes]:
        """The parts of blobs, one after the other."""
        return list(self.parts(blobs))

    def parts(self, blobs: Sequence[Blob]) -> Iterator[bytes]:
        """The parts of blobs as they are asked for; all are there, and compared with their digests, before that."""
        return chain.from_iterable([self.store.get_parts(blob) for blob in blobs])

    def kept(self, items: Sequence[bytes]) -> tuple[Blob, ...]:
        """Keep bytes as parts of one blob: a file each would take longer than what most ciphertexts weigh."""
        return (self.store.put_parts(items),)


def equal_parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items in so many parts of one length; raises ``ValueError`` where that cannot be."""
    length, rest = divmod(len(items), count)
    if rest:
        raise ValueError(f"{len(items)} ciphertexts are not those of a batch of {count}")
    return [items[length * i : length * (i + 1)] for i in range(count)]


class Watch:
    """Measures what is done in ``step``. A step may come in several pieces."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._meter = Meter("step")
        self._steps: dict[Step, dict[str, float]] = {}

    @contextmanager
    def step(self, name: Step) -> Iterator[None]:
        """Measure what is done inside."""
        self._meter.start()
        yield
        self._stop(name)

    def each(self, name: Step, items: Iterable[bytes]) -> Iterator[bytes]:
        """The items, with what making each of them takes measured as a piece of a step."""
        following = iter(items)
        while True:
            with self.step(name):
                item = next(following, None)
            if item is None:
                return
            yield item

    def without(self, name: Step, items: Iterable[bytes]) -> Iterator[bytes]:
        """The items, with what making each of them takes left out of the step that asks for it."""
        following = iter(items)
        while True:
            self._stop(name)
            item = next(following, None)
            self._meter.start()
            if item is None:
                return
            yield item

    def of_each(self, name: Step, action: Callable[[bytes], T], items: Iterable[bytes]) -> list[T]:
        """What ``action`` makes of each item, measured as a piece of a step; making the items is no part of it."""
        results, pieces = [], [self._steps.get(name, {})]
        for item in items:
            self._meter.start()
            results.append(action(item))
            pieces.append(self._meter.stop())
        self._steps[name] = together(pieces)
        return results

    def samples(self) -> tuple[Sample, ...]:
        """What was measured, in the order of the steps."""
        return tuple(
            sample
            for name, values in self._steps.items()
            for sample in samples_of(values, self._stage, step=name)
        )

    def _stop(self, name: Step) -> None:
        self._steps[name] = together([self._steps.get(name, {}), self._meter.stop()])


class Steps(Watch):
    """The steps of one request, which begins when this is made. Tells what they come to, too, as the party's own."""

    def __init__(self, stage: str, role: Role) -> None:
        super().__init__(stage)
        self._role = role
        self._request = Meter("request")
        self._request.start()

    def samples(self) -> tuple[Sample, ...]:
        """Step by step, then the party's own."""
        own = together([*self._steps.values(), self._request.stop()])
        return (*super().samples(), *samples_of(own, self._stage, party=self._role))


class _Array(msgspec.Struct, frozen=True, array_like=True):
    shape: tuple[int, ...]
    data: bytes


_decoder = msgspec.msgpack.Decoder(dict[str, _Array])


def dump_arrays(arrays: Arrays) -> bytes:
    """The arrays as bytes: equal arrays give equal bytes."""
    plain = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in sorted(arrays.items())}
    return msgspec.msgpack.encode({name: _Array(item.shape, item.tobytes()) for name, item in plain.items()})


def load_arrays(data: bytes) -> Arrays:
    """Read the arrays; raises ``ValueError`` for bytes that are none."""
    arrays = _decoder.decode(data)
    return {
        name: np.frombuffer(item.data, dtype="<f8").astype(np.float64).reshape(item.shape)
        for name, item in arrays.items()
    }
