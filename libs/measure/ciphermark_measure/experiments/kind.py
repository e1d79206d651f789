"""An experiment as suites, plans and workers know it: one row, in the experiment's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import read
from ciphermark_core import experiments
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import Dimension
from ciphermark_core.model import Case, Scheme
from ciphermark_measure.experiments.base import Experiment

# Measured with two cores: see docs/decisions/0046.
WORKER_S = 0.4  # start of a worker with its library, beside which another one starts that measures memory
KEYS_S = 0.03  # keys at N = 4096
TRIAL_S = 0.12  # of every trial: calibration and turns
CIPHERTEXT_S = 0.02  # operands and checks of all sets of one ciphertext at N = 4096
ENCRYPTION_S = 1.5e-3  # encryption, and two decryptions of different forms, of a ciphertext at N = 4096
PRODUCT_S = 3e-3  # a multiplication or rotation at N = 4096
SUM_S = 5e-5


# Why a case cannot be executed with a declared library, or nothing.
Reason: TypeAlias = Callable[[Case, Declaration], str | None]


@dataclass(frozen=True, slots=True)
class Varied:
    """A dimension that the experiment's cases have beside what all have, as a suite writes it: a list of whole numbers,
    or one; from 1 to ``most``. Without a default it has to be written; ``example`` shows how.
    """

    dimension: Dimension[int]
    most: int
    example: int | list[int]
    default: int | None = None
    is_list: bool = False


def sampled_s(budget: Budget, once_s: float, least_s: float = 0.0) -> float:
    """How long a phase is sampled whose samples are of one execution at least, each of which takes ``once_s``. With a
    precision to reach, half way from the fewest samples to the most. Pure.
    """
    fewest_s = max(least_s, budget.samples * once_s)
    if budget.precision is None:
        return fewest_s
    most_s = min(fewest_s * budget.most_samples / budget.samples, max(fewest_s, budget.most_time_s))
    return (fewest_s + most_s) / 2


def _nothing_more(case: Case, budget: Budget, growth: float) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class ExperimentKind:
    """One row. ``operations`` are the names that it knows, ``defaults`` those that it takes where a suite names none.

    ``also``: the kind whose operations a suite may name here, too; they become cases of that kind.
    ``determines`` and ``is_until_exhausted``: see :class:`ciphermark_core.experiments.Experiment`.
    ``has_memory_worker``: its subject is memory, too, and each case has a worker of its own for that. ``searched`` are
    the stages whose times a search for a slower build may be for: none where nothing is timed. ``reason`` says
    why a case cannot be executed with a declared library (beyond its schemes), or nothing; ``trial_s`` how long a trial
    takes, roughly, where everything takes so many times as long as at N = 4096. ``vector_s`` is likewise what the first
    of all trials of a worker with a vector takes more: see :mod:`ciphermark_measure.client_phases`.
    """

    name: str
    experiment: type[Experiment]
    operations: tuple[str, ...]
    defaults: tuple[str, ...]
    trial_s: Callable[[Case, Budget, float], float]
    reason: Reason
    vector_s: Callable[[Case, Budget, float], float] = _nothing_more
    varied: tuple[Varied, ...] = ()
    also: str | None = None
    has_memory_worker: bool = False
    determines: str | None = None
    is_until_exhausted: bool = False
    searched: tuple[str, ...] = ("operation",)

    @property
    def recorded(self) -> experiments.Experiment:
        """What has to be known of it to read what it recorded."""
        return experiments.Experiment(self.name, self.determines, self.is_until_exhausted)


def without_primitive(case: Case, declared: Declaration) -> str | None:
    """Why the library has no such operation, or the scheme no such argument of it."""
    return _missing(case, declared, declared.operations)


def without_managed(case: Case, declared: Declaration) -> str | None:
    """Why the library has no such managed operation, or the scheme no such argument of it."""
    return _missing(case, declared, declared.managed)


def _missing(case: Case, declared: Declaration, operations: Mapping[Scheme, tuple[str, ...]]) -> str | None:
    scheme, call = case.parameters.scheme, read(case.operation)
    if call.name not in operations[scheme]:
        return declared.reason_against(call.name, scheme)
    return call.reason_in(scheme)
