"""The Python interface of Ciphermark: write a computation, run a suite, predict costs, ask for advice.

Importing it is cheap, since users' files do so in every worker: what reads results is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ciphermark_circuits.expressions import dot, greater, matvec, rotate, sign
from ciphermark_workloads.computation import computation, integers, reals

if TYPE_CHECKING:
    from ciphermark.runs import Picture, Run, run
    from ciphermark.runs import opened as open

_OF_RUNS = {"Picture": "Picture", "Run": "Run", "open": "opened", "run": "run"}
__all__ = [
    "Picture",
    "Run",
    "computation",
    "dot",
    "greater",
    "integers",
    "matvec",
    "open",
    "reals",
    "rotate",
    "run",
    "sign",
]


def __getattr__(name: str) -> Any:
    if name not in _OF_RUNS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("ciphermark.runs"), _OF_RUNS[name])


def __dir__() -> list[str]:
    return __all__
