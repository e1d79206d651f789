"""The regret of advice: questions, the suite that measures every alternative, and the regret of each answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from predictions import available, predicted

from ciphermark_benchmark import advising, regret
from ciphermark_benchmark.advising import Wish
from ciphermark_benchmark.regret import Answer
from ciphermark_benchmark.suite import files
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_model.advice import Limits
from ciphermark_workloads.catalogue import WORKLOADS

WISH = Wish(WORKLOADS["sign"], "sign", limits=Limits(latency=1e9, threads=1))


def answer(wish: Wish = WISH) -> Answer:
    return regret.answered(wish, advising.candidates(wish, available("seal", "seal-hexl"), predicted))


class Results:
    """The report of a run in which each case, by key, has this time."""

    def __init__(self, seconds) -> None:
        self.seconds = seconds

    def report(self, name, run_id):
        assert (name, run_id) == ("measured_costs", "run")
        sizes = dict.fromkeys(
            ("upload", "download", "keys_size", "client_peak_bytes", "server_peak_bytes"), 1000
        )
        return [
            {"case_key": key, "work_s": time, "ci_low": 0.9 * time, "ci_high": 1.1 * time, "max_error": 1e-9}
            | sizes
            for key, time in self.seconds.items()
        ]


def measured(seconds, wish: Wish = WISH):
    own = answer(wish)
    keys = [str(place) for place in range(len(own.alternatives))]
    (result,) = regret.trials(Results(seconds), "run", [own], [keys])
    return result


def test_alternatives_are_all_candidates_within_the_limits_the_first_choice_first():
    own = answer()
    assert len(own.alternatives) > 2
    assert all(each.costs is not None for each in own.alternatives)
    times = [each.costs.latency_s.value for each in own.alternatives]
    assert times[0] == min(times)
    tight = answer(replace(WISH, limits=Limits(latency=times[0])))
    assert len(tight.alternatives) < len(own.alternatives)


def test_alternatives_that_differ_in_the_sizes_of_primes_alone_are_measured_once():
    own = answer()
    several = advising.candidates(WISH, available("seal", "seal-hexl"), predicted)
    assert len(own.alternatives) < sum(each.costs is not None for each in several)
    about = [
        (each.variant, each.ring_dimension, len(each.modulus_bits), str(each.options))
        for each in own.alternatives
    ]
    assert len(about) == len({*about})


def test_regret_is_the_time_lost_by_the_first_choice():
    result = measured({"0": 1.2, "1": 1.0, "2": 3.0})
    assert result.share == pytest.approx(0.2)
    assert result.best is result.trials[1]
    assert result.is_tie
    assert not measured({"0": 2.0, "1": 1.0}).is_tie
    assert measured({"0": 1.0, "1": 1.5}).share == 0.0
    assert measured({"1": 1.5}).share is None


def test_a_faster_alternative_beyond_a_measured_limit_is_not_the_best():
    seconds = {"0": 1.0, "1": 0.5}
    limit = answer().alternatives[0].costs.server_memory_bytes
    wish = replace(WISH, limits=Limits(latency=1e9, threads=1, server_memory=limit))
    assert measured(seconds, wish).is_within_limits
    late = measured({"0": 2e9, "1": 3e9})
    assert (late.best, late.share, late.is_within_limits) == (None, None, False)
    *_, questions, alternatives = regret.printed([late, measured({})])
    assert "misses time" in questions.rows[0][-1]
    assert questions.rows[1][-1] == "not measured"
    assert len(alternatives.rows) == 2 * len(late.trials)


def test_the_scores_count_questions_within_the_target():
    scores, questions, _ = regret.printed([measured({"0": 1.2, "1": 1.0}), measured({"0": 1.0, "1": 1.2})])
    assert scores.rows[0][0] == "2"
    assert scores.rows[0][2:] == ("10.0%", "20.0%", "1 of 2", "2 of 2", "2 of 2")
    assert [row[-1] for row in questions.rows] == ["20.0% (tie)", "0.0% (tie)"]
    assert questions.rows[1][5] == "the same"


def test_the_suite_measures_an_alternative_of_several_questions_once():
    experiments, places = regret.experiments([answer(), answer()])
    assert places[0] == places[1] == [*range(len(experiments))]
    suite = files.parse(advising.suite_of("questions", experiments, regret._BUDGET), "questions.yaml")
    assert len(suite.experiments) == len(experiments)


def test_shipped_questions_are_many_and_valid():
    path = Path(regret.__file__).parents[3] / "bench" / "advice" / "questions.yaml"
    several = regret.questions(path).several
    assert len({each.workload for each in several}) >= 12
    workload = WORKLOADS["sign"]
    wish = regret.wish_of(replace(several[0], options={"degrees": "7-15"}), workload, host.collect())
    assert wish.workload.options.degrees == "7-15"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "write a list, questions:"),
        ("questions: [{latency: 2s}]", "question 1: a question has a workload"),
        (
            "questions: [{workload: sign}, {workload: sign, latncy: 2s}]",
            "question 2: latncy: there is no such limit",
        ),
        ("questions: [{workload: sign, options: 3}]", "options are a mapping"),
    ],
)
def test_faulty_questions_name_the_place(tmp_path, text, complaint):
    path = tmp_path / "questions.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=complaint):
        regret.questions(path)


def test_questions_that_cannot_be_read_are_a_mistake(tmp_path):
    with pytest.raises(UserError, match="cannot read the questions"):
        regret.questions(tmp_path / "none.yaml")
