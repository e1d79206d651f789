"""The answers of the overview: which case of which run, in which words, how sure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ciphermark_present import answers, labels, pareto, ratio_axis
from ciphermark_present.answers import Place
from ciphermark_present.pareto import Point

RUNS = ("new", "old")
PLACE = Place("mul", "bfv", "2018", 128)


def case(**other: Any) -> dict[str, Any]:
    """A case of a comparison of two variants in the newest run."""
    own: dict[str, Any] = {
        "run_id": "new",
        "experiment": "arithmetic",
        "operation": "mul",
        "scheme": "bfv",
        "stage": "evaluate",
        "table_of_level": "2018",
        "level": 128,
        "comparison_group": "a",
        "tuning": "matched",
        "data_pattern": "random",
        "data_set": None,
        "threads": 1,
        "is_composite": False,
        "security_table": "2018",
        "vector_length": 8192,
        "ciphertexts": 1,
        "ring_dimension": 8192,
        "variants": 2,
    }
    return own | other


WORKLOAD = {"experiment": "learning", "operation": "lr-k3-plain", "scheme": "ckks", "stage": "infer"}


def ranked(variant: str, ratio: float = 1.0, **other: Any) -> dict[str, Any]:
    """A variant of a case."""
    own: dict[str, Any] = {
        "case_info_id": hash(variant),
        "experiment": "arithmetic",
        "stage": "evaluate",
        "variant": variant,
        "median_s": 0.01 * ratio,
        "ratio": ratio,
        "ci_low": ratio * 0.98,
        "ci_high": ratio * 1.02,
        "standing": "behind",
        "is_paired": True,
        "is_equal_parameters": True,
        "ring_dimension": 8192,
        "log_qp": 218.0,
        "security_2024": 0,
    }
    return own | other


def asked(cases: list[dict[str, Any]], **given: str) -> answers.Question:
    question = answers.question(cases, RUNS, given)
    assert question is not None
    return question


@pytest.mark.parametrize(
    ("cases", "given", "expected"),
    [
        ([case()], {}, ("mul", "bfv", "2018", 128)),
        # A workload rather than an operation, but the first run that compares any before a later one.
        ([case(), case(**WORKLOAD)], {}, ("lr-k3-plain", "ckks", "2018", 128)),
        ([case(), case(**WORKLOAD, run_id="old")], {}, ("mul", "bfv", "2018", 128)),
        ([case(variants=1), case(**WORKLOAD, run_id="old")], {}, ("lr-k3-plain", "ckks", "2018", 128)),
        # What the reader chose, as far as there is such a thing.
        ([case(), case(scheme="bgv")], {"scheme": "bgv"}, ("mul", "bgv", "2018", 128)),
        ([case(), case(**WORKLOAD)], {"for": "mul", "scheme": "ckks"}, ("mul", "bfv", "2018", 128)),
        ([case(), case(**WORKLOAD)], {"scheme": "bfv"}, ("mul", "bfv", "2018", 128)),
        # 128 bits, else the next level above, else the highest below.
        ([case(level=128), case(level=256)], {}, ("mul", "bfv", "2018", 128)),
        ([case(level=0), case(level=192), case(level=256)], {}, ("mul", "bfv", "2018", 192)),
        ([case(level=0)], {}, ("mul", "bfv", "2018", 0)),
        ([case(), case(level=256)], {"security": "256"}, ("mul", "bfv", "2018", 256)),
        # The table that the run asked its level of.
        ([case(), case(table_of_level="2024")], {}, ("mul", "bfv", "2018", 128)),
        (
            [case(security_table="2024"), case(table_of_level="2024", security_table="2024")],
            {},
            ("mul", "bfv", "2024", 128),
        ),
        ([case(), case(table_of_level="2024", level=0)], {"table": "2024"}, ("mul", "bfv", "2024", 0)),
    ],
)
def test_a_question_is_completed(cases: list[dict[str, Any]], given: dict[str, str], expected: Any) -> None:
    place = asked(cases, **given).place
    assert (place.operation, place.scheme, place.table, place.level) == expected


def test_the_run_that_is_asked_for_completes_the_question() -> None:
    """Also one that compares nothing: its reader wants to see what it has."""
    cases = [case(**WORKLOAD), case(run_id="old", variants=1, level=192), case(scheme="ckks")]
    question = answers.question(cases, RUNS, {}, "old")
    assert question is not None
    assert question.place == Place("mul", "bfv", "2018", 192)
    without = answers.question(cases, RUNS, {}, "gone")
    assert without is not None
    assert without.place.operation == "lr-k3-plain"


def test_choices_that_no_run_has_are_let_go() -> None:
    assert answers.question([], RUNS, {}) is None
    assert asked([case()], **{"for": "add", "scheme": "ckks", "security": "256"}).let_go == [
        "add",
        "ckks",
        "256 bits",
    ]
    assert asked([case()], **{"for": "mul", "scheme": "bfv", "security": "128"}).let_go == []


@pytest.mark.parametrize(
    ("other", "is_better"),
    [
        ({"run_id": "old"}, False),
        ({"tuning": "recommended"}, False),
        ({"data_pattern": "constant"}, False),
        ({"threads": 4}, False),
        ({"ciphertexts": 16}, False),
        ({"is_composite": True}, False),
        ({"variants": 1}, False),
        ({"variants": 5}, True),
        ({"variants": 5, "threads": 4}, False),
        ({"ring_dimension": 4096}, False),
        ({"vector_length": 16}, False),
        ({"operation": "add"}, False),
        ({"level": 256}, False),
    ],
)
def test_the_usual_case_stands_for_a_computation(other: dict[str, Any], is_better: bool) -> None:
    cases = [case(comparison_group="b", **other), case()]
    chosen = answers.case_for(cases, RUNS, PLACE)
    assert chosen is not None
    assert chosen["comparison_group"] == ("b" if is_better else "a")


def test_the_latest_run_that_compares_libraries_is_chosen_unless_one_is_asked_for() -> None:
    cases = [case(variants=1), case(run_id="old", comparison_group="b")]
    for preferred, expected in (("", "old"), ("new", "new"), ("gone", "old")):
        chosen = answers.case_for(cases, RUNS, PLACE, preferred)
        assert chosen is not None
        assert chosen["run_id"] == expected
    assert answers.case_for(cases, RUNS, Place("add", "bfv", "2018", 128)) is None


def test_libraries_with_other_parameters_are_beside() -> None:
    own = case(**WORKLOAD, ring_dimension=4096)
    other = case(**WORKLOAD, ring_dimension=8192, comparison_group="b")
    shorter = case(**WORKLOAD, vector_length=16, comparison_group="c")
    assert answers.beside([own, other, shorter], own) == [other]
    assert answers.beside([case(), case(ring_dimension=4096, comparison_group="b")], case()) == []


@pytest.mark.parametrize(
    ("rows", "certainty", "headline", "reason"),
    [
        (
            [ranked("seal-hexl", standing="win"), ranked("seal", 1.5)],
            "sure",
            "seal-hexl is the fastest: 10.0 ms; seal takes 1.50× as long.",
            "The 95% interval of seal, [1.47, 1.53], lies beyond the significance threshold of 5%.",
        ),
        (
            [ranked("seal", standing="tie"), ranked("pyfhel", 1.2, ci_low=0.98, ci_high=1.5, standing="tie")],
            "not sure",
            "seal has the fastest median, 10.0 ms; pyfhel may be as fast.",
            "The 95% interval of pyfhel, 1.20× [0.980, 1.50] reaches the threshold of 5%.",
        ),
        (
            [
                ranked("seal", standing="tie"),
                ranked("pyfhel", 1.01, ci_low=0.99, ci_high=1.03, standing="tie"),
            ],
            "tie",
            "seal and pyfhel are equally fast: 10.0 ms.",
            "Within the significance threshold of 5%: pyfhel, 1.01× [0.990, 1.03].",
        ),
        (
            [
                ranked("seal", standing="tie"),
                ranked("pyfhel", 1.2, ci_low=None, ci_high=None, standing="tie"),
            ],
            "not sure",
            "seal has the fastest median, 10.0 ms; pyfhel may be as fast.",
            "There are too few samples for an interval of pyfhel.",
        ),
        ([ranked("seal", standing="alone")], "not compared", "Only seal was measured: 10.0 ms.", ""),
    ],
)
def test_an_answer_says_how_sure_it_is(
    rows: list[dict[str, Any]], certainty: str, headline: str, reason: str
) -> None:
    answer = answers.answer(answers.standings(rows))
    assert answer.certainty == certainty
    assert answers.plain(answer.headline) == headline
    assert answers.plain(answer.reason) == reason


@pytest.mark.parametrize(("median", "certainty"), [(0.02, "sure"), (0.0102, "not sure")])
def test_a_library_of_another_case_is_compared_by_medians(median: float, certainty: str) -> None:
    rows = [ranked("seal-hexl", standing="win"), ranked("seal", 3.0)]
    elsewhere = [
        ranked("openfhe", median_s=9.0),
        ranked("openfhe", median_s=median, ring_dimension=16384, is_equal_parameters=False),
        ranked("seal", median_s=0.001),
    ]
    libraries = answers.standings(rows, elsewhere)
    (openfhe,) = [each for each in libraries if each.variant == "openfhe"]
    assert (libraries[0].variant, openfhe.interval) == ("seal-hexl", None)
    assert (openfhe.ratio, openfhe.is_hollow) == (median / 0.01, True)
    assert openfhe.differing == {"ring_dimension"}
    assert answers.answer(libraries).certainty == certainty


def test_a_faster_library_of_another_case_leads_by_medians_without_certainty() -> None:
    rows = [ranked("seal-hexl", standing="win"), ranked("seal", 3.0), ranked("pyfhel", standing="disturbed")]
    elsewhere = [ranked("openfhe", median_s=0.005), ranked("helib", median_s=0.001, standing="disturbed")]
    libraries = answers.standings(rows, elsewhere)
    assert [(each.variant, each.ratio) for each in libraries] == [
        ("openfhe", 1.0),
        ("seal-hexl", 2.0),
        ("seal", 6.0),
        ("helib", 0.2),
        ("pyfhel", 2.0),
    ]
    answer = answers.answer(libraries[:3])
    assert answer.certainty == "not sure"
    assert (
        answers.plain(answer.headline)
        == "openfhe has the fastest median, 5.00 ms; seal-hexl takes 2.00× as long."
    )
    assert (
        answers.plain(answer.reason) == "Not interleaved: seal-hexl, 2.00× and seal, 6.00× by medians alone."
    )
    assert answers.wins([libraries[:3]]) == "None of 1 has a clear winner."


def test_disturbed_times_are_never_the_fastest() -> None:
    libraries = answers.standings(
        [ranked("seal", standing="disturbed"), ranked("pyfhel", 1.1, standing="win")]
    )
    assert [each.variant for each in libraries] == ["pyfhel", "seal"]


def test_what_else_decides_is_said() -> None:
    rows = [
        ranked("seal-hexl", standing="win", security_2024=128),
        ranked("seal", 1.5),
        ranked("pyfhel", 2.0),
    ]
    metrics = [
        {
            "case_info_id": hash(name),
            "metric": metric,
            "stage": stage,
            "party": None,
            "step": None,
            "median": value,
        }
        for name, memory, size in (("seal-hexl", 9e7, 4e5), ("seal", 8e7, 4e5), ("pyfhel", 8.1e7, 4.1e5))
        for metric, stage, value in (
            ("peak_memory", "evaluate", memory),
            ("peak_memory", "keygen", 1.0),
            ("size", "dump", size),
        )
    ]
    libraries = answers.with_metrics(answers.standings(rows), metrics)
    assert [answers.plain(fact) for fact in answers.answer(libraries).facts] == [
        "Lowest memory: seal and pyfhel, 80.0 MB.",
        "Smallest ciphertext: 400 kB for all 3.",
        "Only seal-hexl also reaches 128 bits by the guidelines (2024).",
    ]


def test_sizes_of_both_directions_and_the_servers_memory_count() -> None:
    metrics = [
        {
            "case_info_id": hash("seal"),
            "metric": metric,
            "stage": stage,
            "party": party,
            "step": step,
            "median": value,
        }
        for metric, stage, party, step, value in (
            ("size", "infer", None, None, 100.0),
            ("size", "infer", None, "returned", 23.0),
            ("size", "prepare", None, None, 7.0),
            ("peak_memory", "infer", "server", None, 5.0),
            ("peak_memory", "infer", "client", None, 6.0),
            ("agreement", "infer", None, None, 1.0),
        )
    ]
    (library,) = answers.with_metrics(answers.standings([ranked("seal", stage="infer")]), metrics)
    assert (library.memory, library.size, library.upload, library.quality) == (5.0, 123.0, 100.0, 1.0)


def test_the_fewest_bytes_are_told_with_the_clients_part() -> None:
    rows = [
        ranked("seal", stage="infer", experiment="learning"),
        ranked("pyfhel", 2.0, experiment="learning"),
    ]
    libraries = [
        replace(each, size=size, upload=size / 4)
        for each, size in zip(answers.standings(rows), (2e6, 3e6), strict=True)
    ]
    facts = [answers.plain(fact) for fact in answers.answer(libraries).facts]
    assert facts == ["Fewest bytes sent: seal, 2.00 MB (500 kB up)."]


def test_wins_and_ties_are_counted() -> None:
    won = answers.standings([ranked("seal", standing="win"), ranked("pyfhel", 2.0)])
    tied = answers.standings([ranked("seal", standing="tie"), ranked("pyfhel", 1.01, standing="tie")])
    alone = answers.standings([ranked("seal", standing="alone")])
    assert answers.wins([won, won, tied, alone]) == "seal is fastest in 2 of 3; 1 tie."
    assert answers.wins([tied]) == "None of 1 has a clear winner."
    assert answers.wins([alone]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9999, "1.00×"),
        (1.0, "1.00×"),
        (9.996, "10.0×"),
        (12.34, "12.3×"),
        (123.4, "123×"),
        (1234.0, "1,234×"),
    ],
)
def test_ratios_have_three_digits(value: float, text: str) -> None:
    assert answers.times(value) == text


def test_an_axis_has_one_and_its_band_inside() -> None:
    axis = ratio_axis.of_ratios([(1.0, None, None), (20.0, 18.0, 22.0)])
    left, width = axis.band
    assert 0 <= left < axis.position(1.0) < left + width
    assert axis.position(22.0) < 100
    assert {1, 2, 5, 10, 20} <= set(axis.ticks)
    assert axis.position(1000.0) == 100.0


def test_nobody_beats_those_of_the_front() -> None:
    points = [Point("a", 1, 9), Point("b", 2, 3), Point("c", 3, 5), Point("d", 4, 1), Point("e", 5, 1)]
    assert [point.variant for point in pareto.front(points)] == ["a", "b", "d"]


def test_labels_of_a_picture_do_not_overlap() -> None:
    points = [Point(f"library-{number}", 1 + number / 50, 1.0) for number in range(6)]
    picture = pareto.scatter(points, 520, 208)
    boxes = [labels.box(mark.label, mark.point.variant) for mark in picture.marks if mark.label]
    assert boxes
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert right <= 520
        for other in boxes[index + 1 :]:
            assert right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]
    assert len(picture.marks) == len(points)
    assert len(picture.x_ticks) >= 2
    assert len(picture.y_ticks) >= 2
