"""The Python interface of Ciphermark: write a computation, run a suite, predict costs, ask for advice.

Importing it is cheap, since users' files do so in every worker: what reads results is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ciphermark_circuits.expressions import dot, greater, matvec, rotate, sign
from ciphermark_workloads.computation import computation, integers, reals

if TYPE_CHECKING:
    from ciphermark.advising import Advice, advise
    from ciphermark.predicting import predict
    from ciphermark.runs import Picture, Run, run
    from ciphermark.runs import opened as open

# Modules and names of what is loaded on demand.
_ON_DEMAND = {
    "Advice": ("advising", "Advice"),
    "Picture": ("runs", "Picture"),
    "Run": ("runs", "Run"),
    "advise": ("advising", "advise"),
    "open": ("runs", "opened"),
    "predict": ("predicting", "predict"),
    "run": ("runs", "run"),
}
__all__ = [
    "Advice",
    "Picture",
    "Run",
    "advise",
    "computation",
    "dot",
    "greater",
    "integers",
    "matvec",
    "open",
    "predict",
    "reals",
    "rotate",
    "run",
    "sign",
]


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _ON_DEMAND[name]
    return getattr(import_module(f"ciphermark.{module}"), own)


def __dir__() -> list[str]:
    return __all__
