"""The verdict that results begin with: who is the fastest, of cases in which there is somebody to be faster than."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.gateway import Database
from ciphermark_figures.listings import overview, ranking


@pytest.mark.parametrize(
    ("variants", "verdict"),
    [
        ({"add": ("seal",), "mul": ("seal",)}, "bfv: nobody to compare seal with in 2 cases"),
        ({"add": ("tenseal",), "mul": ("seal",)}, "bfv: nobody to compare seal, tenseal with in 2 cases"),
        ({"add": ("seal", "tenseal"), "mul": ("tenseal",)}, "bfv: of 1 case fastest is seal in 1"),
        (
            {"add": ("seal", "tenseal"), "mul": ("tenseal", "seal")},
            "bfv: of 2 cases fastest is seal in 1, tenseal in 1",
        ),
    ],
)
def test_fastest_is_who_is_compared(
    database: Database, make: Any, variants: Mapping[str, tuple[str, ...]], verdict: str
) -> None:
    """Of each operation the variants from the fastest to the slowest."""
    run = make.run()
    database.record_run(run)
    for operation, order in variants.items():
        for place, variant in enumerate(order):
            samples = make.times([0.001 * (place + 1) * (1 + ordinal / 1000) for ordinal in range(8)])
            database.record_outcome(make.outcome(run, make.case(variant, operation=operation), samples))
    chosen = {"phase": "operation", "any_security": False}
    answers = [rows(database, figure, run.id, chosen) for figure in ranking.FIGURES]
    assert list(overview.verdicts(answers, any_security=False)) == [verdict]
