"""The budget of a suite: the form, what contradicts itself in one, and what it comes to."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ciphermark_analysis.estimates import LOOKS
from ciphermark_benchmark.suite.fields import Strict
from ciphermark_core.budget import Budget

_WEEK_S = 7 * 24 * 3600
_LARGEST_MEMORY_MB = 1 << 24
_WIDEST = 0.5
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")
# What a budget with a precision ends at, where it does not say.
_MOST_SAMPLES = 64
_MOST_TIME_S = 10.0


def _share(value: Any) -> Any:
    """``2%`` as 0.02; whatever else as it is."""
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    share = float(percent[1]) / 100 if percent else value
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= _WIDEST:
        raise ValueError(f"must be more than 0 % and at most {_WIDEST:.0%}, such as 2%, not {value!r}")
    return float(share)


Precision = Annotated[
    float,
    BeforeValidator(_share),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": _WIDEST},
                {"type": "string", "pattern": f"^{_PERCENT.pattern}$"},
            ]
        }
    ),
]


class BudgetText(Strict):
    """How much measuring each trial gets."""

    processes: int = Field(1, ge=1, le=100, description="fresh workers per case", examples=[3])
    samples: int = Field(10, ge=1, le=1_000_000, description="least samples per trial", examples=[20])
    warmups: int = Field(1, ge=0, le=1000, description="samples before those that count", examples=[2])
    min_time_s: float = Field(
        0.3, ge=0, le=3600, description="least time of the operation's samples, in seconds", examples=[0.5]
    )
    timeout_s: float = Field(
        300, gt=0, le=_WEEK_S, description="a trial that takes longer is ended; seconds", examples=[60]
    )
    memory_mb: int = Field(
        8192,
        ge=64,
        le=_LARGEST_MEMORY_MB,
        description="private memory a worker may have, in MB",
        examples=[4096],
    )
    precision: Precision | None = Field(
        None,
        description="relative half-width of the median's interval at which a phase has enough samples; without it the "
        "least are enough",
        examples=["2%"],
    )
    most_samples: int | None = Field(
        None,
        ge=1,
        le=LOOKS[-1],
        description=f"with a precision: enough samples in any case; {_MOST_SAMPLES} or the least, where not given",
        examples=[24],
    )
    most_time_s: float | None = Field(
        None,
        gt=0,
        le=_WEEK_S,
        description="with a precision: a phase that was sampled for so many seconds has enough, once it has the least; "
        f"{_MOST_TIME_S:g}, or the least time, where not given",
        examples=[2],
    )

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        reason = next(filter(None, (self._lacks_precision(), self._too_few(), self._too_short())), None)
        if reason is not None:
            raise ValueError(reason)
        return self

    def _lacks_precision(self) -> str | None:
        idle = [name for name in ("most_samples", "most_time_s") if getattr(self, name) is not None]
        if self.precision is None and idle:
            return f"{' and '.join(idle)} limit what a `precision` asks for, and there is none"
        return None

    def _too_few(self) -> str | None:
        most = self.most_samples
        if most is None:
            return None
        if most < self.samples:
            return f"most_samples ({most}) is less than samples ({self.samples}), which are the least"
        if most < LOOKS[0]:
            return f"most_samples ({most}) is too few for a precision: an interval that may end early needs {LOOKS[0]}"
        return None

    def _too_short(self) -> str | None:
        """Of two times only those are compared that were written: defaults give way."""
        written = {name: getattr(self, name) for name in ("min_time_s", "most_time_s", "timeout_s")}
        known = [(name, s) for name, s in written.items() if name in self.model_fields_set and s is not None]
        for (shorter, less_s), (longer, more_s) in pairwise(known):
            if less_s > more_s:
                return f"{shorter} ({less_s:g}) is more than {longer} ({more_s:g})"
        return None

    @property
    def budget(self) -> Budget:
        """What it comes to, with all that it leaves open."""
        written = self.model_dump(exclude={"most_samples", "most_time_s"})
        if self.precision is None:
            return Budget(**written)
        most_time_s = self.most_time_s or min(max(_MOST_TIME_S, self.min_time_s), self.timeout_s)
        most_samples = self.most_samples or max(_MOST_SAMPLES, self.samples)
        return Budget(**written, most_samples=most_samples, most_time_s=most_time_s)
