"""The verdict that results begin with: who is the fastest, of cases in which there is somebody to be faster than."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.database import Database
from ciphermark_present.catalogue import ranking
from ciphermark_present.printed import Wanted


@pytest.mark.parametrize(
    ("variants", "verdict"),
    [
        ({"add": ("seal",), "mul": ("seal",)}, "BFV, matched  2 cases: nothing to compare, only seal"),
        (
            {"add": ("tenseal",), "mul": ("seal",)},
            "BFV, matched  2 cases: nothing to compare, each with one of seal, tenseal",
        ),
        ({"add": ("seal", "tenseal"), "mul": ("tenseal",)}, "BFV, matched  1 case: seal fastest in 1"),
        (
            {"add": ("seal", "tenseal"), "mul": ("tenseal", "seal")},
            "BFV, matched  2 cases: seal fastest in 1, tenseal in 1",
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
    assert _said(database, run.id) == [verdict]


def test_stages_of_one_library_are_one_line(database: Database, make: Any) -> None:
    run = make.run()
    database.record_run(run)
    learnt = {"experiment": "learning", "operation": "lmc-plain", "dimensions": {"data_set": "boston"}}
    times = [0.001 * (1 + ordinal / 1000) for ordinal in range(8)]
    phases = ("train", "train.evaluate", "infer", "infer.evaluate")
    samples = [sample for phase in phases for sample in make.times(times, phase=phase)]
    database.record_outcome(make.outcome(run, make.case("seal", **learnt), samples))
    assert _said(database, run.id) == ["BFV, stages of one library  2 cases: nothing to compare, only seal"]


def _said(database: Database, run: str) -> list[str]:
    answers = [rows(database, figure, run, {"across_security_levels": False}) for figure in ranking.OF_RUN]
    return list(ranking.of_run(answers, Wanted()))


def test_operations_in_a_row_and_stages_have_verdicts_of_their_own(database: Database, make: Any) -> None:
    """A stage counts where a library computes in it, and none of its parts, nor the keys."""
    run = make.run()
    database.record_run(run)
    chain = {"experiment": "repetition", "operation": "mul", "dimensions": {"repetitions": 3}}
    learnt = {"experiment": "learning", "operation": "lmc-plain", "dimensions": {"data_set": "boston"}}
    for place, variant in enumerate(("seal", "pyfhel")):
        times = [0.001 * (place + 1) * (1 + ordinal / 1000) for ordinal in range(8)]
        case = make.case(variant, **chain)
        database.record_outcome(make.outcome(run, case, make.times(times, repetitions=3)))
        phases = ("prepare", "train", "train.fit", "infer", "infer.client", "infer.evaluate")
        samples = [sample for phase in phases for sample in make.times(times, phase=phase)]
        database.record_outcome(make.outcome(run, make.case(variant, **learnt), samples))
    assert _said(database, run.id) == [
        "BFV, matched, consecutive operations  1 case: seal fastest in 1",
        "BFV, infer                            1 case: seal fastest in 1",
    ]


def test_what_is_timed_is_named(database: Database, make: Any) -> None:
    run = make.run()
    database.record_run(run)
    case = make.case("seal", experiment="repetition", operation="mul", dimensions={"repetitions": 3})
    database.record_outcome(make.outcome(run, case, make.times([0.001] * 8, repetitions=3)))
    (ranks, *_) = (
        rows(database, figure, run.id, {"across_security_levels": False}) for figure in ranking.OF_RUN
    )
    assert [row["label"] for row in ranking.timed(ranks)] == ["mul × 3"]
