"""Input of statistics: the trials that are pooled into one result, and their samples as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from ciphermark_core.security import Table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

NO_REPETITIONS = -1


@dataclass(frozen=True, slots=True)
class Place:
    """The place of samples, and the metric with its unit."""

    stage: str
    party: str | None
    step: str | None
    metric: str
    unit: str

    @property
    def phase(self) -> str:
        """The place as one text: the stage, ``stage.step`` or ``stage.party``."""
        part = self.step or self.party
        return f"{self.stage}.{part}" if part else self.stage


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one or more trials: a row per sample, in any order; all arrays have the same length.

    ``place`` is an index into ``places``, ``trial`` one into :attr:`Group.trials`. ``repetitions`` is
    :data:`NO_REPETITIONS` for samples without.
    """

    places: tuple[Place, ...]
    place: Integers
    trial: Integers
    value: Floats
    slowdown: Floats
    is_disturbed: Booleans
    is_warmup: Booleans
    ordinal: Integers
    repetitions: Integers


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial without its samples. ``facts`` are as recorded; a fact that is no number is ``None``."""

    process: int
    started_at: datetime
    duration_s: float
    facts: Mapping[str, float | None]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Trials pooled into one result: one case, build, parameter set and status in one run.

    ``id`` is the caller's; results and ratios refer to groups by it. ``library``, ``hexl``, ``is_reference``,
    ``security_compared``, ``security_compared_2024`` and ``encryption`` are ``None`` where no worker reported them.
    ``security_table`` is that of the request. ``is_until_exhausted``: trials of the experiment regularly end with the
    status ``budget_exhausted``. ``is_sequential``: the number of samples depends on their values.
    """

    id: int
    variant: str
    status: str
    library: str | None
    hexl: bool | None
    is_reference: bool | None
    security_compared: int | None
    security_compared_2024: int | None
    security_table: Table
    encryption: str | None
    is_until_exhausted: bool
    is_sequential: bool
    trials: tuple[Trial, ...]
    samples: Samples

    @property
    def is_counted(self) -> bool:
        """Whether samples of such trials may be shown."""
        return self.status == "ok" or (self.status == "budget_exhausted" and self.is_until_exhausted)

    @property
    def is_composite(self) -> bool:
        """Whether the operation takes several calls of the library; such operations are ranked separately."""
        return any(trial.facts.get("is_composite") == 1 for trial in self.trials)

    @property
    def is_watched(self) -> bool:
        """Whether the host was observed during all trials, or they were interrupted: then samples are disturbed."""
        return all({"reference_kernel_s", "resumptions"} & trial.facts.keys() for trial in self.trials)
