"""The probes. To add one: a file here with a class below :class:`Probe`, and its metric, registered there.

Additive metrics are summed over parts and divided by executions; for others, such as a high-water mark, the largest
value counts.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from ciphermark_core import host
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_core.run import Host
from ciphermark_measure.interference import cpu_steal, reference_kernel
from ciphermark_measure.probes.base import Probe, Span


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
    """The metrics that cannot be measured here, and why."""
    reasons = ((probe, reason_against(probe)) for probe in PROBES)
    return {metric.name: reason for probe, reason in reasons if reason for metric in probe.metrics}


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
    """All available probes of a kind of span, started and stopped together."""

    def __init__(self, span: Span) -> None:
        self._probes = [probe() for probe in PROBES if span in probe.spans and reason_against(probe) is None]

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
