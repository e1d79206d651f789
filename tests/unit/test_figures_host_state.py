from __future__ import annotations

import pytest

from ciphermark_present.host_state import told, unlike_corrections

ROW = {
    "timed_trials": 4,
    "watched_trials": 4,
    "timed_samples": 1200,
    "undisturbed_share": 0.875,
    "short_trials": 0,
    "disturbed_phases": 0,
    "disturbed_results": [],
    "reference_kernel_s": 4.2e-5,
    "reference_kernel_spread": 0.31,
    "run_delay_share": 0.002,
    "steal_share": 0.011,
    "slowdown": 1.18,
}


def test_what_was_kept_is_always_told():
    assert list(told(ROW)) == [
        "87.5% of 1,200 timed samples were taken while the host was undisturbed; all times are corrected by the "
        "reference kernel and the run-queue delay, together 1.18 times in the mean (the reference kernel took 42 µs, "
        "and up to 31.0% more; others had the core for 0.2%, steal time 1.1%)"
    ]


def test_of_runs_from_before_times_were_corrected_none_is_called_so():
    (sentence,) = told(ROW | {"slowdown": None})
    assert "while the host was undisturbed, and results are made of them (the reference kernel" in sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"watched_trials": 0}, "nothing was watched"),
        ({"watched_trials": 3}, "beside 1 of 4 trials nothing was watched"),
        ({"short_trials": 1}, "1 trial ended at the limit"),
        ({"disturbed_phases": 2}, "in every sample of 2 phases others had the core"),
        (
            {"disturbed_phases": 1, "disturbed_results": ["seal add bfv 4096 operation"]},
            "(undisturbed_share is 0): seal add bfv 4096 operation",
        ),
        (
            {"disturbed_phases": 10, "disturbed_results": [f"seal {n}" for n in range(10)]},
            "seal 6; seal 7 and 2 more",
        ),
        ({"run_delay_share": None}, "the run-queue delay is unknown"),
        ({"steal_share": None}, "steal time is unknown"),
    ],
)
def test_what_spoils_figures_is_told(change, words):
    assert any(words in sentence for sentence in told(ROW | change))


def states(gains):
    return [{"reference_kernel_gains": gains}]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (
            [1.0],
            [1.25],
            "times of a are corrected by 1 times what the reference kernel reports, those of b corrected by 1.25 times "
            "what the reference kernel reports: where the host was disturbed",
        ),
        ([0.0], [1.25], "times of a are not corrected, those of b corrected by 1.25 times"),
        ([1.25], [1.0, 1.25], "those of b corrected by 1 or 1.25 times"),
        ([1.0, 1.25], [1.0, 1.25], "times of a are corrected by 1 or 1.25 times"),
        ([0.0, 1.0], [1.0], "times of a are not corrected or corrected by 1 times"),
    ],
)
def test_unlike_corrections_of_two_runs_are_told(a, b, words):
    assert words in (unlike_corrections(states(a), states(b)) or "")


@pytest.mark.parametrize("rules", [([1.25], [1.25]), (None, [1.25]), ([1.0], None), (None, None)])
def test_of_alike_or_unknown_corrections_nothing_is_said(rules):
    a, b = rules
    assert unlike_corrections(states(a), states(b)) is None
    assert unlike_corrections([], states(b)) is None


def test_a_run_that_went_on_elsewhere_has_the_rules_of_all_its_parts():
    assert "by 1 or 1.25 times" in (
        unlike_corrections([*states([1.0]), *states([1.25])], states([1.0])) or ""
    )
