from __future__ import annotations

import pytest

from ciphermark_analysis.comparison import OWN, paired

RESULT = {
    "variant": "seal",
    "scheme": "bfv",
    "ring_dimension": 4096,
    "experiment": "arithmetic",
    "operation": "add",
    "phase": "evaluate",
    "vector_length": 4096,
    "data_pattern": "random",
    "data_set": None,
    "threads": 1,
    "repetitions": None,
    "metric": "time",
    "unit": "s",
    "direction": "lower",
    "threshold": 1.05,
    "threshold_kind": "factor",
    "n": 10,
    "processes": 2,
    "median": 1.0,
    "low": 0.9,
    "high": 1.1,
    "status": "ok",
    "error": None,
    "log_qp": 109.0,
    "tuning": "matched",
    "modulus_bits": [36, 36, 37],
    "plain_modulus": 65537,
    "scale": None,
    "security_bits": 128,
    "chain_depth": None,
    "ring_dimension_is_minimum": False,
    "dimensions": {},
    "security_2018": 128,
    "security_compared": 128,
    "security_compared_2024": 128,
    "security_table": "2018",
    "encryption": "public key",
    "key_switching": "hybrid",
    "decomposition_digits": 2,
    "parameter_set_id": "p",
    "security_2024": 0,
    "is_composite": False,
    "reference_kernel_s": None,
    "memory_kernel_s": None,
    "undisturbed_share": None,
    "slowdown": None,
    "case_key": "seal-add",
    "comparison_group": "add",
}
ENDING = RESULT | {"phase": None, "metric": None, "median": None, "status": "crashed"}


def result(**changes):
    return RESULT | changes


def test_a_result_of_both_runs_is_one_row_with_what_each_has_of_its_own():
    (row,) = paired([result(median=1.0)], [result(median=2.0, n=20, status="budget_exhausted")])
    assert (row["a_median"], row["b_median"], row["a_n"], row["b_n"]) == (1.0, 2.0, 10, 20)
    assert (row["a_status"], row["b_status"], row["comparison_group"]) == ("ok", "budget_exhausted", "add")
    assert {name[2:] for name in row if name.startswith(("a_", "b_"))} == set(OWN)


@pytest.mark.parametrize(
    "change",
    [{"case_key": "seal-mul"}, {"phase": "encrypt"}, {"metric": "peak_memory"}, {"repetitions": 4}],
)
def test_another_case_phase_metric_or_count_is_another_result(change):
    rows = paired([result()], [result(**change)])
    assert sorted(("a" if row["b_status"] is None else "b") for row in rows) == ["a", "b"]
    for row in rows:
        missing = "b" if row["b_status"] is None else "a"
        assert all(row[f"{missing}_{name}"] is None for name in OWN)


def test_endings_of_both_runs_meet_and_several_endings_are_all_told():
    (row,) = paired([ENDING], [ENDING | {"status": "incorrect"}])
    assert (row["a_status"], row["b_status"]) == ("crashed", "incorrect")
    assert len(paired([ENDING, ENDING | {"status": "timeout"}], [ENDING])) == 2
    assert len(paired([ENDING, ENDING | {"status": "timeout"}], [])) == 2


def test_rows_come_by_scheme_ring_and_falling_level():
    a = [
        result(case_key="1", scheme="ckks"),
        result(case_key="2", ring_dimension=8192),
        result(case_key="3", security_2018=None),
        result(case_key="4", security_2018=192),
        result(case_key="5", operation="mul"),
        result(case_key="6", repetitions=2),
        result(case_key="7"),
    ]
    b = [result(case_key="8", operation="sub", repetitions=1)]
    found = [
        (
            row["scheme"],
            row["ring_dimension"],
            row["a_security_2018"] or row["b_security_2018"],
            row["operation"],
        )
        for row in paired(a, b)
    ]
    assert found == [
        ("bfv", 4096, 192, "add"),
        ("bfv", 4096, 128, "add"),
        ("bfv", 4096, 128, "add"),
        ("bfv", 4096, 128, "mul"),
        ("bfv", 4096, 128, "sub"),
        ("bfv", 4096, None, "add"),
        ("bfv", 8192, 128, "add"),
        ("ckks", 4096, 128, "add"),
    ]


def test_two_runs_without_results_have_no_rows():
    assert paired([], []) == []
