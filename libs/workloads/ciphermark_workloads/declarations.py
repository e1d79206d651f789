"""Checks a workload's declarations before any of its code is executed: suites and `check` use the same
rules.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator
from typing import get_args

from ciphermark_core.errors import Unsupported
from ciphermark_core.model import SCHEMES
from ciphermark_workloads import options
from ciphermark_workloads.catalogue import WORKLOADS, families
from ciphermark_workloads.parameters import reason_against
from ciphermark_workloads.workload import AnyWorkload, Returns

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)


def faults(workload: AnyWorkload) -> list[str]:
    """The faults of a workload's declarations. Raises the exceptions of its methods."""
    missing = [name for name in ("name", "title", "schemes") if not getattr(workload, name, None)]
    if missing:
        return [f"it says no {name}" for name in missing]
    reasons = [*_of_words(workload), *_of_stages(workload), *options.faults(workload.Options)]
    return reasons or [*_of_parameters(workload)]


def _of_words(workload: AnyWorkload) -> Iterator[str]:
    if not _NAME.fullmatch(str(workload.name)):
        yield (
            f"the name {reprlib.repr(workload.name)} is not made of letters, digits, dots, dashes and underlines, "
            "at most 40"
        )
    if workload.family not in families(WORKLOADS):
        yield f"there is no family {reprlib.repr(workload.family)}; leave `family` out"
    for scheme in workload.schemes:
        if scheme not in SCHEMES:
            yield f"there is no scheme {reprlib.repr(scheme)}"


def _of_stages(workload: AnyWorkload) -> Iterator[str]:
    returns = [stage.returns for stage in workload.stages]
    if any(item not in get_args(Returns) for item in returns) or returns.count("result") != 1:
        yield "one stage returns the `result`, others `state` or `nothing`"
    elif returns[-1] != "result":
        yield "the last stage returns the `result`"


def _of_parameters(workload: AnyWorkload) -> Iterator[str]:
    for scheme in workload.schemes:
        for own in (workload.parameters, workload.roomy_parameters):
            try:
                reason = reason_against(own(scheme))
            except Unsupported:
                continue
            if reason is not None:
                yield reason
                break
