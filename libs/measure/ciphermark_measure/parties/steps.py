"""What one request to a party cost, step by step and in all: whatever there are probes for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ciphermark_core.model import Sample
from ciphermark_measure.parties.messages import Role, Step
from ciphermark_measure.probes import Meter, samples_of, together


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
        self._steps[name] = together([self._steps.get(name, {}), self._meter.stop()])

    def each(self, name: Step, items: Iterable[bytes]) -> Iterator[bytes]:
        """The items, with what making each of them takes measured as a piece of a step."""
        following = iter(items)
        while True:
            with self.step(name):
                item = next(following, None)
            if item is None:
                return
            yield item

    def samples(self) -> tuple[Sample, ...]:
        """What was measured, in the order of the steps."""
        return tuple(
            replace(sample, step=name)
            for name, values in self._steps.items()
            for sample in samples_of(values, self._stage)
        )


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
        whole = (replace(sample, party=self._role) for sample in samples_of(own, self._stage))
        return (*super().samples(), *whole)
