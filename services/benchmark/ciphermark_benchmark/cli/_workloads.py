"""The workload that a command line names: one that is installed, or a file."""

from __future__ import annotations

from pathlib import Path

from ciphermark_core.containment import Limits
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, named


def chosen(name: str, limits: Limits = user_workloads.LOADING) -> AnyWorkload:
    """The workload; raises ``UserError`` for one that there is not, or that a suite refuses, too."""
    if user_workloads.is_own(name):
        return WORKLOADS[user_workloads.copied(name, Path(), limits).name]
    return named(WORKLOADS, name)
