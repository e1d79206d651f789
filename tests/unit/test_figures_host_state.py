from __future__ import annotations

import pytest

from ciphermark_figures.sentences.host_state import told

ROW = {
    "timed_trials": 4,
    "watched_trials": 4,
    "timed_samples": 1200,
    "quiet_share": 0.875,
    "short_trials": 0,
    "disturbed_phases": 0,
    "anchor_s": 4.2e-5,
    "anchor_spread": 0.31,
    "run_delay_share": 0.002,
    "steal_share": 0.011,
    "slow_down": 1.18,
}


def test_what_was_kept_is_always_told():
    assert list(told(ROW)) == [
        "87.5% of 1,200 timed samples were taken while the host was quiet; all times are corrected by the anchor and "
        "the wait for the core, together 1.18 times in the mean (the anchor took 42 µs, and up to 31.0% more; others "
        "had the core for 0.2%, steal time 1.1%)"
    ]


def test_of_runs_from_before_times_were_corrected_none_is_called_so():
    (sentence,) = told(ROW | {"slow_down": None})
    assert "while the host was quiet, and figures are made of them (the anchor" in sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"watched_trials": 0}, "nothing was watched"),
        ({"watched_trials": 3}, "beside 1 of 4 trials nothing was watched"),
        ({"short_trials": 1}, "1 trial ended at the limit"),
        ({"disturbed_phases": 2}, "in every sample of 2 phases others had the core"),
        ({"run_delay_share": None}, "the wait for the core is unknown"),
        ({"steal_share": None}, "steal time is unknown"),
    ],
)
def test_what_spoils_figures_is_told(change, words):
    assert any(words in sentence for sentence in told(ROW | change))
