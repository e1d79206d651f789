"""The workload that a command line names: an installed one, or a file."""

from __future__ import annotations

from pathlib import Path

from ciphermark_core.containment import Limits
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, named


def chosen(name: str, limits: Limits = user_workloads.LOADING) -> AnyWorkload:
    """The workload of a name or file. Raises ``UserError`` for an unknown one, and for one that a
    suite would refuse.
    """
    if user_workloads.is_own(name):
        return WORKLOADS[user_workloads.copied(name, Path(), limits).name]
    return named(WORKLOADS, name)
