from __future__ import annotations

import pytest

from ciphermark_present.host_state import told, unlike_corrections, word

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


def test_interference_and_the_reference_kernel_are_always_reported():
    assert list(told(ROW)) == [
        "Host interference: 87.5% of 1,200 samples undisturbed; mean slowdown 1.18×, corrected",
        "Reference kernel 42.0 µs, up to 31.0% slower; run-queue delay 0.2%, steal time 1.1%",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([{"undisturbed_share": 0.9}], "undisturbed"),
        ([{}], "noisy"),
        ([{"undisturbed_share": 0.99, "disturbed_phases": 1}], "noisy"),
        ([{"undisturbed_share": 1.0}, {}], "noisy"),
        ([{"undisturbed_share": None}], "noisy"),
        ([{"watched_trials": 0}], "unwatched"),
        ([], "unwatched"),
    ],
)
def test_the_state_of_hosts_is_one_word(changes, expected):
    assert word([ROW | change for change in changes]) == expected


def test_times_of_runs_from_before_times_were_corrected_are_not_called_so():
    first, _ = told(ROW | {"slowdown": None})
    assert first == "Host interference: 87.5% of 1,200 samples undisturbed; times are of these samples"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"watched_trials": 0}, "Warning: no interference data"),
        ({"watched_trials": 3}, "Warning: 1 of 4 trials has no interference data"),
        ({"watched_trials": 1}, "Warning: 3 of 4 trials have no interference data"),
        ({"short_trials": 1}, "Warning: 1 trial ended at the limit"),
        ({"disturbed_phases": 2}, "Warning: 2 results have only disturbed samples"),
        (
            {"disturbed_phases": 1, "disturbed_results": ["seal add bfv 4096 evaluate"]},
            "(undisturbed_share is 0): seal add bfv 4096 evaluate",
        ),
        (
            {"disturbed_phases": 10, "disturbed_results": [f"seal {n}" for n in range(10)]},
            "seal 6; seal 7 and 2 more",
        ),
        ({"run_delay_share": None}, "run-queue delay unknown"),
        ({"steal_share": None}, "steal time unknown"),
        ({"is_uncorrected": True}, "times are not corrected"),
    ],
)
def test_sources_of_error_are_reported(change, words):
    assert any(words in sentence for sentence in told(ROW | change))


def states(gains):
    return [{"reference_kernel_gains": gains}]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (
            [1.0],
            [1.25],
            "Warning: the runs correct disturbed times by different rules (A: 1× the reference kernel's slowdown; "
            "B: 1.25× the reference kernel's slowdown); ratios of such times are less exact",
        ),
        ([0.0], [1.25], "(A: not at all; B: 1.25× the"),
        ([1.25], [1.0, 1.25], "B: 1× or 1.25× the reference kernel's slowdown)"),
        ([1.0, 1.25], [1.0, 1.25], "(A: 1× or 1.25× the"),
        ([0.0, 1.0], [1.0], "(A: not at all or 1× the"),
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
    assert "A: 1× or 1.25×" in (unlike_corrections([*states([1.0]), *states([1.25])], states([1.0])) or "")


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([ROW | {"undisturbed_share": 0.95}], "undisturbed"),
        ([ROW | {"undisturbed_share": 0.95}, ROW], "noisy"),
        ([ROW | {"undisturbed_share": 0.95, "disturbed_phases": 1}], "noisy"),
        ([ROW | {"watched_trials": 0}], "unwatched"),
        ([], "unwatched"),
    ],
)
def test_the_state_of_a_host_is_one_word(rows, state):
    assert word(rows) == state
