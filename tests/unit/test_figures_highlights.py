"""Highlights are of what was measured: the largest of each kind, surely so where an interval can say, and none
twice."""

from __future__ import annotations

import pytest

from ciphermark_present.highlights import MOST, Evidence, highlights

WRAPS = {"tenseal": "seal", "pyfhel": "seal"}
TRAITS = {
    "ring_dimension": 8192,
    "log_qp": 200.0,
    "security_2018": 128,
    "security_2024": 128,
    "key_switching": "hybrid",
    "decomposition_digits": 3,
}


def case(label, times, **changes):
    """Rows of one case: variant to seconds, ranked; what is not the fastest is surely slower."""
    fastest = min(times, key=times.get)
    return [
        {
            **TRAITS,
            **{f"fastest_{name}": value for name, value in TRAITS.items()},
            "scheme": "bfv",
            "tuning": "matched",
            "label": label,
            "phase": "evaluate",
            "repetitions": None,
            "data_pattern": "random",
            "comparison_group": label,
            "variant": variant,
            "median": seconds,
            "low": 0.99 * seconds,
            "high": 1.01 * seconds,
            "rank": 1 if variant == fastest else 2,
            "standing": "win" if variant == fastest else "behind",
            "ratio": seconds / times[fastest],
            "ci_low": 0.99 * seconds / times[fastest],
            "ci_high": 1.01 * seconds / times[fastest],
            "verdict": "slower",
            "fastest_variant": fastest,
            "is_paired": True,
        }
        | changes
        for variant, seconds in times.items()
    ]


def pair(operation, ratio, verdict, **changes):
    made = {
        "scheme": "bfv",
        "tuning": "matched",
        "label": operation,
        "ring_dimension": 8192,
        "ratio": ratio,
    }
    made |= {
        "data_pattern": "random",
        "comparison_group": operation,
        "variant_on": "seal-hexl",
        "verdict": verdict,
    }
    return made | {"ci_low": 0.9 * ratio, "ci_high": 1.1 * ratio} | changes


def first(label, variant, cold_ratio, cold_n=6):
    made = {"scheme": "bfv", "tuning": "matched", "label": label, "variant": variant, "ring_dimension": 8192}
    made |= {"data_pattern": "random", "comparison_group": label, "cold_ratio": cold_ratio, "warm_s": 0.001}
    made |= {"cold_n": cold_n}
    return made | {"cold_s": None if cold_ratio is None else cold_ratio / 1000}


MUL = case("mul", {"seal": 4.0, "seal-hexl": 2.0, "tenseal": 8.0})
ADD = case("add", {"seal": 3.0, "seal-hexl": 1.0, "tenseal": 3.1})
PLAIN = case("mul_plain", {"seal": 2.0, "seal-hexl": 5.0, "openfhe": 1.0})


def told(ranked=(), speedups=(), first_executions=(), wraps=WRAPS):
    return highlights(Evidence([row for rows in ranked for row in rows], speedups, first_executions, wraps))


def test_the_leader_is_beaten_somewhere():
    assert told([MUL, ADD, PLAIN], wraps={})[0] == (
        "seal-hexl leads, but takes 5.00× as long as openfhe for mul_plain (BFV, N = 8192)"
    )


def test_a_leader_that_is_never_beaten_is_no_highlight():
    assert not any("leads, but" in sentence for sentence in told([MUL, ADD]))


@pytest.mark.parametrize("verdict", ["no difference", "too few samples"])
def test_what_no_interval_tells_is_no_upset_where_another_is_sure(verdict):
    unsure = [row | {"verdict": verdict} for row in PLAIN]
    beaten = case("rotate", {"seal": 1.0, "seal-hexl": 1.5})
    sentences = told([MUL, ADD, unsure, beaten], wraps={})
    assert "takes 1.50× as long as seal for rotate" in sentences[0]


@pytest.mark.parametrize("wraps", [{}, WRAPS])
def test_too_few_samples_are_no_highlight(wraps):
    none = {"verdict": "too few samples"} | dict.fromkeys(("low", "high", "ci_low", "ci_high"))
    unsure = [[row | none for row in rows] for rows in (MUL, ADD, PLAIN)]
    assert told(unsure, wraps=wraps) == []


def test_a_wrapper_whose_interval_meets_its_librarys_is_no_highlight():
    wide = [row | {"low": 0.5 * row["median"], "high": 2 * row["median"]} for row in MUL]
    assert not any("wraps" in sentence for sentence in told([wide]))


def test_a_first_execution_in_few_processes_is_no_highlight():
    assert told(first_executions=[first("mul", "seal", 3.0, cold_n=5)]) == []


def test_other_parameters_are_told():
    other = [row | {"fastest_decomposition_digits": 1} for row in PLAIN]
    assert "N = 8192; decomposition digits 3 against 1)" in told([MUL, ADD, other], wraps={})[0]


def test_a_wrapper_is_held_against_its_library_with_the_same_parameters():
    assert told([MUL, ADD])[0] == (
        "tenseal takes 2.00× as long as seal, whose library it wraps, for mul (BFV, N = 8192)"
    )
    unlike = [row | ({"ring_dimension": 4096} if row["variant"] == "seal" else {}) for row in MUL]
    assert not any("wraps" in sentence for sentence in told([unlike, ADD[:2]]))


def test_where_hexl_does_not_help():
    idle = pair("mul", 1.01, "no difference", ci_high=1.04)
    open_ = pair("sub", 0.9, "no difference", ci_high=1.4)  # which may hide a gain
    pairs = [pair("add", 3.0, "faster"), idle, open_, pair("negate", 0.8, "slower")]
    assert told(speedups=pairs) == ["HEXL slows down negate (BFV, N = 8192): 0.800×, 95% CI [0.720, 0.880]"]
    assert "HEXL does not speed up mul" in told(speedups=pairs[:3])[0]
    assert told(speedups=[open_]) == []
    assert told(speedups=pairs[:1]) == []


def test_the_first_execution():
    rows = [first("mul", "seal", 3.0), first("add", "pyfhel", 40.0), first("add", "seal", None)]
    assert told(first_executions=rows) == [
        "The first add of pyfhel in a process takes 40 ms, 40.0× its warm time of 1 ms (BFV, N = 8192)"
    ]
    assert told(first_executions=[first("mul", "seal", 1.5)]) == []


def test_there_are_three_at_max_and_no_case_of_a_variant_twice():
    widest = case("rescale", {"seal": 1.0, "tenseal": 90.0})
    many = told(
        [MUL, ADD, PLAIN, widest],
        [pair("mul", 1.0, "no difference", ci_high=1.04)],
        [first("mul", "seal", 9.0)],
    )
    assert len(many) == MOST
    # The wrapper's largest cost is where libraries lie farthest apart, too: the next one is told there.
    assert (
        "tenseal takes 90.0× as long as seal, whose library it wraps, for rescale"
        in told([MUL, ADD, widest])[0]
    )
    apart = next(
        sentence for sentence in told([MUL, ADD, widest]) if sentence.startswith("Largest difference")
    )
    assert "for mul (" in apart


def test_a_run_without_rows_has_none():
    assert told() == []


def test_disturbed_times_are_no_evidence():
    disturbed = case("mul", {"seal": 1.0, "openfhe": 9.0})
    disturbed[1]["standing"] = "disturbed"
    assert told([disturbed]) == []
