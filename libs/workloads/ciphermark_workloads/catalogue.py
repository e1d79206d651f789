"""Finds workloads. A family is a folder here. A workload is a module in it, which lists its instances as ``WORKLOADS``
or provides one of each class.

Other packages provide workloads by the entry points ``ciphermark.workloads``, each a module, or a class below
``Workload``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from ciphermark_core.descriptor import register
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_workloads import options
from ciphermark_workloads.user_workloads import offered_by
from ciphermark_workloads.workload import OWN, AnyWorkload

GROUP = "ciphermark.workloads"
FIGURES = "figures"  # how a family presents results; measurement does not load it
__all__ = ["BROKEN", "GROUP", "WORKLOADS", "AnyWorkload", "add", "families", "named"]


def named(workloads: Mapping[str, AnyWorkload], name: str) -> AnyWorkload:
    """The workload of a name; raises ``UserError`` for an unknown one."""
    try:
        return workloads[name]
    except KeyError:
        names = sorted(workloads)
        raise UserError(
            f"unknown workload {name!r}{did_you_mean(name, names)}; known: {', '.join(names)}"
        ) from None


def add(workloads: dict[str, AnyWorkload], workload: AnyWorkload) -> None:
    """Add a workload and register its options as dimensions; raises ``UserError`` for an existing name."""
    if workload.name in workloads:
        raise UserError(f"two workloads are called {workload.name}: name one of them otherwise")
    reasons = options.faults(workload.Options)
    if reasons:
        raise UserError(f"{workload.name}: {'; '.join(reasons)}")
    for dimension in options.dimensions(workload.Options):
        register(dimension)
    workloads[workload.name] = workload


def _ours() -> Iterator[AnyWorkload]:
    folder = Path(__file__).parent
    for family in pkgutil.iter_modules([str(folder)]):
        if family.ispkg and not family.name.startswith("_"):
            for module in pkgutil.iter_modules([str(folder / family.name)]):
                if module.name == FIGURES:
                    continue
                name = f"{__package__}.{family.name}.{module.name}"
                yield from offered_by(importlib.import_module(name))


def _loaded(entry: EntryPoint) -> tuple[AnyWorkload, ...]:
    target = entry.load()
    return offered_by(target) if isinstance(target, ModuleType) else (target(),)


def _installed() -> tuple[dict[str, AnyWorkload], dict[str, str]]:
    """All workloads by name, and the reasons why entry points of other packages are unusable."""
    workloads: dict[str, AnyWorkload] = {}
    broken: dict[str, str] = {}
    for workload in _ours():
        add(workloads, workload)
    for entry in sorted(entry_points(group=GROUP), key=lambda item: item.name):
        try:
            for workload in _loaded(entry):
                add(workloads, workload)
        except Exception as error:  # any fault of another package
            broken[entry.name] = f"{entry.value}: {type(error).__name__}: {error}"
    return workloads, broken


WORKLOADS: dict[str, AnyWorkload]
"""The workloads of our families and of other packages, by name."""
BROKEN: Mapping[str, str]
"""Entry points that cannot be used, and why."""
WORKLOADS, BROKEN = _installed()


def families(workloads: Mapping[str, AnyWorkload]) -> tuple[str, ...]:
    """The families of workloads, each once, including that of users' own."""
    return tuple(dict.fromkeys([*(workload.family for workload in workloads.values()), OWN]))
