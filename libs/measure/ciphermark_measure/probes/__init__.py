"""The probes. To add one: a file here with a class below :class:`Probe`, and its metric, registered there.

Additive metrics are summed over parts and divided by executions; for others, such as a high-water mark, the largest
value counts.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import zip_longest

from ciphermark_core import host
from ciphermark_core.metrics import METRICS, Metric, register
from ciphermark_core.model import Sample
from ciphermark_core.run import Host
from ciphermark_measure.interference import cpu_steal, reference_kernel
from ciphermark_measure.probes.base import Probe, Span
from ciphermark_measure.probes.stacks import Stacks


def _found() -> Iterator[type[Probe]]:
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        module = importlib.import_module(f"{__name__}.{name}")
        for item in vars(module).values():
            is_probe = inspect.isclass(item) and issubclass(item, Probe) and item is not Probe
            if is_probe and item.__module__ == module.__name__:
                yield item


PROBES: tuple[type[Probe], ...] = tuple(_found())


@cache
def reason_against(probe: type[Probe]) -> str | None:
    """Why this process cannot use a probe, or ``None``."""
    return probe().available()


def unavailable() -> dict[str, str]:
    """The metrics of all runs that cannot be measured here, and why."""
    reasons = ((probe, reason_against(probe)) for probe in PROBES if probe.asked_as is None)
    return {metric.name: reason for probe, reason in reasons if reason for metric in probe.metrics}


def asked() -> tuple[str, ...]:
    """The names by which suites ask for probes."""
    return tuple(sorted({probe.asked_as for probe in PROBES if probe.asked_as is not None}))


OVERHEADS = {
    name: register(
        Metric(
            f"{name}_overhead",
            "ratio",
            None,
            0.02,
            f"overhead of {name}",
            f"Minimum CPU time of repetitions with the probe {name}, divided by that without it, less 1.",
            "difference",
            adds_up=False,
            probe=name,
        )
    )
    for name in asked()
}


def reasons_against(names: Iterable[str]) -> dict[str, str]:
    """The requested probes that cannot measure here, or not everything, and why."""
    reasons = {probe.asked_as: reason_against(probe) for probe in PROBES if probe.asked_as in set(names)}
    return {name: reason for name, reason in reasons.items() if name and reason}


def host_facts() -> Host:
    """The facts of :func:`host.collect`, with warnings for everything that no probe can measure here."""
    facts = host.collect()
    missing = tuple(f"{metric} is not measured here: {reason}" for metric, reason in unavailable().items())
    return replace(facts, warnings=(*facts.warnings, *missing, *_unwatched()))


def _unwatched() -> tuple[str, ...]:
    """Warnings for the parts of the host's state around samples that cannot be measured here."""
    reason = reference_kernel.reason_against()
    without = (
        () if reason is None else (f"disturbed and undisturbed samples cannot be distinguished: {reason}",)
    )
    return (*without, *cpu_steal.unreadable())


class Meter:
    """All available probes of a kind of span, started and stopped together: those of every run, and the ``names``."""

    def __init__(self, span: Span, names: Collection[str] = ()) -> None:
        self._probes = [
            probe()
            for probe in PROBES
            if span in probe.spans
            and (probe.asked_as is None or probe.asked_as in names)
            and reason_against(probe) is None
        ]

    @classmethod
    def repeated(cls, name: str) -> list[Meter]:
        """The probes of a name for repetitions of a loop: a meter for each set that measures together."""
        kinds = [
            probe
            for probe in PROBES
            if probe.asked_as == name and "profile" in probe.spans and reason_against(probe) is None
        ]
        meters = []
        for together in zip_longest(*(probe.variants() for probe in kinds)):
            meter = cls.__new__(cls)
            meter._probes = [probe for probe in together if probe is not None]
            meters.append(meter)
        return meters

    @property
    def region_s(self) -> float:
        """The minimum duration of a repetition."""
        return max(probe.region_s for probe in self._probes)

    @property
    def stops_process(self) -> bool:
        """Whether overhead is no CPU time of this process."""
        return any(probe.stops_process for probe in self._probes)

    @property
    def stacks(self) -> str:
        """The call stacks of the last span; empty without a probe of them."""
        return "".join(probe.text for probe in self._probes if isinstance(probe, Stacks))

    @property
    def repetitions(self) -> int:
        """The number of repetitions."""
        return min(probe.repetitions for probe in self._probes)

    def start(self) -> None:
        """Start measuring."""
        for probe in self._probes:
            probe.start()

    def stop(self) -> dict[str, float]:
        """The values since :meth:`start`, by metric. The probe that was started last is stopped first."""
        values: dict[str, float] = {}
        for probe in reversed(self._probes):
            values |= probe.stop()
        return values


def together(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The values of a whole from those of its parts."""
    whole: dict[str, float] = {}
    for values in parts:
        for metric, value in values.items():
            whole[metric] = METRICS[metric].together(whole[metric], value) if metric in whole else value
    return whole


def samples_of(
    values: Mapping[str, float], stage: str, *, step: str | None = None, party: str | None = None
) -> list[Sample]:
    """One sample of each metric, in a fixed order."""
    return [
        Sample(metric, values[metric], stage, step=step, party=party)
        for metric in METRICS
        if metric in values
    ]


def measured_alone(action: Callable[[], object]) -> dict[str, float]:
    """The measured values of one execution of ``action``, outside of all timing."""
    meter = Meter("alone")
    meter.start()
    action()
    return meter.stop()
