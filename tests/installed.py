"""Which variants can be measured on this host; its facts take 0.4 s and are read once in a process."""

from __future__ import annotations

from functools import cache

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_core import host


@cache
def cpu_flags() -> frozenset[str]:
    return frozenset(host.collect().cpu_flags)


def availability(variant: str) -> Availability:
    return registry.availability(variant, cpu_flags())


def absence(variant: str) -> str | None:
    """Why a declared variant cannot be tested on this host; ``None`` when it can, here or by its own interpreter."""
    found = availability(variant)
    return None if found.is_installed else f"{variant}: {found.reason}; {found.remedy}"


def has_hexl() -> bool:
    """Whether this CPU can execute builds with Intel HEXL: where not, runs tell why, and tests expect that."""
    return "this CPU" not in (availability("seal-hexl").reason or "")
