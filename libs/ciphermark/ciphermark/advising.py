"""Advice in Python: which library, build and parameters to take for a computation, within limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas

from ciphermark.runs import path_of
from ciphermark_benchmark import limits as limits_of
from ciphermark_benchmark.cli.advise import answer_of
from ciphermark_present import markup
from ciphermark_present.catalogue import advice
from ciphermark_workloads.computation import Computation


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer of :func:`advise`. A notebook displays its tables. ``answer`` has everything, as
    ``ciphermark advise --format json`` prints it.
    """

    finding: str
    answer: Mapping[str, Any] = field(repr=False)

    @property
    def points(self) -> pandas.DataFrame:
        """The points that no other candidate beats in time, memory and traffic, the best first, in seconds and bytes.
        ``why`` has the reason for each.
        """
        return pandas.DataFrame(advice.point_rows(self.answer))

    @property
    def left_out(self) -> pandas.DataFrame:
        """All other candidates, with the reason against each in ``why_not``."""
        return pandas.DataFrame(advice.left_out_rows(self.answer))

    @property
    def verified(self) -> pandas.DataFrame:
        """Predicted and measured costs of the points that were measured; empty without ``verify``."""
        return pandas.DataFrame(self.answer.get("verified", []))

    def suite(self, point: int = 1) -> str:
        """The text of the suite that measures a point. Raises ``IndexError`` for a point that there is not."""
        return str(self.answer["points"][point - 1]["suite"])

    def _repr_markdown_(self) -> str:
        """The tables."""
        return markup.markdown(advice.tables(self.answer))


def advise(
    subject: str | Path | Computation,
    options: Mapping[str, Any] | None = None,
    *,
    verify: int = 0,
    **limits: Any,
) -> Advice:
    """Advise on library, build and parameters for a computation, as ``ciphermark advise`` does.

    ``subject`` is a workload by name, a file with a computation, or a computation of a file; ``options`` are those of
    the workload. ``limits`` are those of the command line, with underscores: ``latency="2s"``, ``server_memory="4GB"``,
    ``libraries=["seal"]``. With ``verify``, so many of the best points are measured. Raises ``UserError`` for
    mistakes.
    """
    settings = [f"{name}={json.dumps(value)}" for name, value in (options or {}).items()]
    answer = answer_of([str(path_of(subject)), *settings], limits_of.read(limits), verify)
    return Advice(advice.finding(answer), answer)
