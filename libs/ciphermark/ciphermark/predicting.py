"""Predictions in Python, by the code of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas

from ciphermark.runs import frame, path_of
from ciphermark_benchmark.cli import predict as predicting
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_present import links
from ciphermark_workloads.computation import Computation


def predict(  # noqa: PLR0913 - the options of the command
    subject: str | Path | Computation,
    *,
    variants: Sequence[str] | None = None,
    scheme: Scheme | None = None,
    threads: int = 1,
    ring_dimension: int | None = None,
    bandwidth: str = links.USUAL,
    **options: Any,
) -> pandas.DataFrame:
    """Predict the costs of a workload, a computation or a suite, as ``ciphermark predict`` does: a row per variant,
    with the 80% interval of the evaluation, bytes and memory.

    ``options`` are those of the workload. Raises ``UserError`` where no variant has a prediction, with the reasons.
    """
    wanted = [str(path_of(subject)), *(f"{name}={value}" for name, value in options.items())]
    found, reasons = predicting.predictions(wanted, variants, scheme, threads, ring_dimension)
    if not found:
        raise UserError("\n".join(reasons))
    table = predicting.rows(found, links.bits_per_second(bandwidth), 0.0)
    return frame(table.columns, table.rows)
