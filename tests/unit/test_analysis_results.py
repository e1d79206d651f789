"""Results, ratios and standings against the same statistics written down plainly, one sample at a time."""

from __future__ import annotations

import math
from dataclasses import astuple, replace
from datetime import datetime, timedelta, timezone
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis import correction
from ciphermark_analysis.estimates import Estimate, Verdict, estimate
from ciphermark_analysis.ratios import Ratio, ratios, relative
from ciphermark_analysis.results import facts, results
from ciphermark_analysis.samples import NO_REPETITIONS, Group, Place, Samples, Trial
from ciphermark_analysis.wins import Standing, standings
from ciphermark_core.security import Table

TIME = Place("evaluate", None, None, "time", "s")
SIZE = Place("result", None, None, "size", "bytes")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)

# process, ordinal, value, slowdown, is_disturbed
Row = tuple[int, int, float, float, bool]

taken = st.tuples(st.floats(1e-6, 1e3), st.floats(1, 2), st.booleans())
rows_of_two = st.lists(st.tuples(taken, taken), min_size=1, max_size=30)


def group(number: int, rows: list[Row], place: Place = TIME, **traits: Any) -> Group:
    """Trials of two processes, in which every place has these samples, and a warm-up that must not count."""
    rows = [*rows, (0, 1000, 1e9, 1.0, False)]
    process, ordinal, value, slowdown, is_disturbed = (np.array(column) for column in zip(*rows, strict=True))
    starts = traits.pop("starts", (START, START))
    trials = tuple(Trial(i, start, 10.0, {"reference_kernel_s": 1e-4}) for i, start in enumerate(starts))
    samples = Samples(
        places=(place,),
        place=np.zeros(len(rows), np.int64),
        trial=process,
        value=value,
        slowdown=slowdown,
        is_disturbed=is_disturbed,
        is_warmup=ordinal == 1000,
        ordinal=ordinal,
        repetitions=np.full(len(rows), NO_REPETITIONS),
    )
    known: dict[str, Any] = {
        "variant": f"v{number}",
        "status": "ok",
        "library": f"l{number}",
        "hexl": False,
        "is_reference": False,
        "security_compared": 128,
        "security_compared_2024": 128,
        "security_table": "2018",
        "encryption": "public key",
        "is_until_exhausted": False,
        "is_sequential": False,
    }
    return Group(id=number, trials=trials, samples=samples, **{**known, **traits})


def rows_from(values: list[tuple[float, float, bool]]) -> list[Row]:
    return [(index % 2, index, *value) for index, value in enumerate(values)]


@given(st.lists(taken, min_size=1, max_size=60), st.booleans())
def test_a_result_is_what_its_samples_say(
    values: list[tuple[float, float, bool]], is_sequential: bool
) -> None:
    (row,) = results([group(1, rows_from(values), is_sequential=is_sequential)])
    undisturbed = [(value, slowdown) for value, slowdown, is_disturbed in values if not is_disturbed]
    counted = [value / slowdown for value, slowdown in undisturbed] or [value for value, _, _ in values]
    plain = estimate(counted, is_sequential=is_sequential)
    if not undisturbed:
        plain = Estimate(plain.n, plain.median, None, None)
    logarithms = [math.log(slowdown) for _, slowdown in undisturbed]
    widening = math.exp(0.4 * abs(fmean(logarithms))) if logarithms else 1.0
    assert (row.n, row.median) == (plain.n, plain.median)
    assert row.ci_low == (None if plain.low is None else pytest.approx(plain.low / widening, rel=1e-12))
    assert row.ci_high == (None if plain.high is None else pytest.approx(plain.high * widening, rel=1e-12))
    assert row.mad == pytest.approx(median(abs(value - plain.median) for value in counted), rel=1e-12)
    assert (row.min, row.max) == (min(counted), max(counted))
    clock = estimate([value for value, _, _ in values], is_sequential=is_sequential)
    assert astuple(clock) == (
        row.uncorrected_n,
        row.uncorrected_median,
        row.uncorrected_ci_low,
        row.uncorrected_ci_high,
    )
    calm = [slowdown <= 1.05 and not is_disturbed for _, slowdown, is_disturbed in values]
    assert row.undisturbed_share == pytest.approx(fmean(calm))
    wanted = math.exp(fmean(logarithms)) if logarithms else None
    assert row.slowdown == (None if wanted is None else pytest.approx(wanted, rel=1e-12))


def test_a_failed_group_has_no_results() -> None:
    rows = rows_from([(1.0, 1.0, False)] * 8)
    assert results([group(1, rows, status="incorrect")]) == []
    assert results([group(1, rows, status="budget_exhausted")]) == []
    assert len(results([group(1, rows, status="budget_exhausted", is_until_exhausted=True)])) == 1


def test_what_is_no_time_has_no_slowdown() -> None:
    (row,) = results([group(1, rows_from([(5.0, 1.0, False)] * 8), SIZE)])
    assert (row.slowdown, row.undisturbed_share) == (None, 1.0)


def test_interrupted_times_are_marked_on_a_host_that_was_not_observed() -> None:
    """All samples of a pass that was interrupted are disturbed: see ``runner/two_parties.py``."""
    own = group(1, rows_from([(1.0, 1.0, True)]))
    for facts_of_trial, share in (({}, None), ({"resumptions": 1.0}, 0.0)):
        trials = tuple(replace(trial, facts=facts_of_trial) for trial in own.trials)
        (row,) = results([replace(own, trials=trials)])
        assert (row.undisturbed_share, row.slowdown) == (share, None)


@given(rows_of_two, rows_of_two)
def test_many_groups_at_once_are_each_alone(first: Any, second: Any) -> None:
    groups = [
        group(number, rows_from([pair[side] for pair in pairs]))
        for number, (pairs, side) in enumerate([(first, 0), (first, 1), (second, 0), (second, 1)])
    ]
    assert results(groups) == [row for each in groups for row in results([each])]
    apart = [row for pair in (groups[:2], groups[2:]) for row in ratios([pair], ["equal_security"])]
    assert ratios([groups[:2], groups[2:]], ["equal_security"]) == apart


def by_group(rows: list[Ratio]) -> dict[int, Ratio]:
    return {row.group: row for row in rows}


@given(rows_of_two)
def test_a_ratio_is_that_of_pairs_that_nothing_disturbed(pairs: Any) -> None:
    own, base = (rows_from([pair[side] for pair in pairs]) for side in (0, 1))
    # the base is fastest by a distance that no sample bridges
    base = [(process, ordinal, value * 1e-10, *rest) for process, ordinal, value, *rest in base]
    row = by_group(ratios([[group(1, own), group(2, base)]], ["equal_security"]))[1]
    kept = [(a[2] / a[3]) / (b[2] / b[3]) for a, b in zip(own, base, strict=True) if not (a[4] or b[4])]
    every = [(a[2] / a[3]) / (b[2] / b[3]) for a, b in zip(own, base, strict=True)]
    is_lost = all(a[4] for a in own) or all(b[4] for b in base)
    is_base_lost = all(b[4] for b in base) and not all(a[4] for a in own)
    assert row.base == (1 if is_base_lost else 2)  # what is disturbed is not the fastest
    if is_base_lost:
        return
    assert row.is_paired == bool(kept or is_lost)
    if row.is_paired:
        plain = estimate(kept) if kept else Estimate(len(every), median(every), None, None)
        assert (row.n, row.ratio) == (plain.n, pytest.approx(plain.median, rel=1e-12))
        assert (row.ci_low is None) == (plain.low is None)
        if plain.low is not None and row.ci_low is not None:
            assert row.ci_low <= plain.low * (1 + 1e-12)
    clock = estimate([a[2] / b[2] for a, b in zip(own, base, strict=True)])
    assert row.uncorrected_is_paired
    assert (row.uncorrected_n, row.uncorrected_ci_low) == (clock.n, clock.low)
    assert row.uncorrected_ratio == pytest.approx(clock.median, rel=1e-12)


def timed(value: float, **traits: Any) -> list[Row]:
    return rows_from([(value, traits.get("slowdown", 1.0), False)] * 12)


def test_trials_that_do_not_overlap_do_not_pair() -> None:
    later = START + timedelta(seconds=11)
    rows = by_group(
        ratios([[group(1, timed(2.0), starts=(later, later)), group(2, timed(1.0))]], ["equal_security"])
    )
    assert not rows[1].is_paired
    assert rows[1].ratio == 2.0
    assert rows[2].is_paired  # with itself


def test_levels_of_security_are_ranked_apart_unless_asked() -> None:
    groups = [group(1, timed(2.0), security_compared=128), group(2, timed(1.0), security_compared=192)]
    assert {row.standing for row in ratios([groups], ["equal_security"])} == {"alone"}
    assert by_group(ratios([groups], ["across_security_levels"]))[1].base == 2


def test_levels_are_those_of_either_table() -> None:
    groups = [group(1, timed(2.0)), group(2, timed(1.0), security_compared_2024=0)]
    rows = {kind: by_group(ratios([groups], [kind])) for kind in ("equal_security", "equal_security_2024")}
    assert [rows["equal_security"][number].standing for number in (1, 2)] == ["behind", "win"]
    assert [rows["equal_security_2024"][number].standing for number in (1, 2)] == ["alone", "alone"]


def test_ratios_to_a_variant_are_those_of_its_pairs() -> None:
    """Whatever is fastest; where the variant is missing, there are none."""
    groups = [
        group(1, timed(2.0), variant="seal"),
        group(2, timed(1.0), variant="openfhe"),
        group(3, timed(3.0), variant="tenseal"),
    ]
    others = [group(4, timed(2.0), variant="openfhe"), group(5, timed(1.0), variant="tenseal")]
    rows = relative([groups, others], "equal_security", "seal")
    assert [(row.group, row.base, row.rank, row.ratio) for row in rows] == [
        (1, 1, 1, 1.0),
        (2, 1, 2, 0.5),
        (3, 1, 2, 1.5),
    ]
    assert [row.verdict for row in rows] == ["no difference", "faster", "slower"]
    fastest = by_group(ratios([groups], ["equal_security"]))
    same = by_group(relative([groups], "equal_security", "openfhe"))
    names = ("base", "ratio", "ci_low", "ci_high", "verdict", "is_paired", "uncorrected_ratio")
    assert [[getattr(same[number], name) for name in names] for number in same] == [
        [getattr(fastest[number], name) for name in names] for number in fastest
    ]


@pytest.mark.parametrize(
    ("stage", "party", "step", "is_apart"),
    [
        ("infer", None, None, True),
        ("infer", "client", None, True),
        ("infer", "server", None, True),
        ("infer", None, "encrypt", True),
        ("infer", None, "deserialize", True),
        ("infer", None, "transfer", True),
        ("infer", None, "evaluate", False),
        ("infer", None, "decrypt", False),
        ("prepare", None, None, False),
    ],
)
def test_kinds_of_encryption_are_ranked_apart_where_they_bear_on_times(
    stage: str, party: str | None, step: str | None, is_apart: bool
) -> None:
    place = Place(stage, party, step, "time", "s")
    groups = [
        group(1, timed(2.0), place),
        group(2, timed(1.0), place, encryption="secret key"),
        group(3, timed(3.0), place),
    ]
    rows = by_group(ratios([groups], ["equal_security"]))
    assert [rows[number].base for number in (1, 2, 3)] == ([1, 2, 1] if is_apart else [2, 2, 2])
    assert rows[2].standing == ("alone" if is_apart else "win")


def test_the_uncorrected_ratio_has_a_base_of_its_own() -> None:
    groups = [group(1, timed(3.0, slowdown=2.0)), group(2, timed(2.0))]
    row = by_group(ratios([groups], ["equal_security"]))[2]
    assert (row.base, row.rank, row.standing) == (
        1,
        2,
        "tie",
    )  # 1.33 times, within the error of the correction
    assert (row.uncorrected_base, row.uncorrected_rank, row.uncorrected_standing) == (2, 1, "win")


def test_hexl_is_compared_within_its_library() -> None:
    groups = [
        group(1, timed(3.0), library="seal"),
        group(2, timed(1.0), library="seal", hexl=True),
        group(3, timed(1.0), library="openfhe", hexl=True),
    ]
    (row,) = ratios([groups], ["hexl"])
    assert (row.group, row.base, row.ratio, row.verdict, row.rank) == (1, 2, 3.0, "faster", None)


@pytest.mark.parametrize(
    ("table", "level_of_other", "is_compared"),
    [
        ("2018", {"security_compared": 0}, False),
        ("2018", {"security_compared_2024": 0}, True),
        ("2024", {"security_compared": 0}, True),
        ("2024", {"security_compared_2024": 0}, False),
    ],
)
def test_hexl_is_compared_at_one_level_by_the_table_of_the_request(
    table: Table, level_of_other: dict[str, int], is_compared: bool
) -> None:
    groups = [
        group(1, timed(3.0), library="seal", security_table=table),
        group(2, timed(1.0), library="seal", hexl=True, security_table=table, **level_of_other),
    ]
    assert len(ratios([groups], ["hexl"])) == is_compared


def test_reference_libraries_are_not_ranked() -> None:
    groups = [group(1, timed(3.0)), group(2, timed(1.0), is_reference=True)]
    assert [row.group for row in ratios([groups], ["equal_security"])] == [1]


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        (["no difference"], ["alone"]),
        (["no difference", "slower"], ["win", "behind"]),
        (["no difference", "slower", "slower"], ["win", "behind", "behind"]),
        (["no difference", "no difference"], ["tie", "tie"]),
        (["no difference", "no difference", "slower"], ["tie", "tie", "behind"]),
        (["no difference", "faster"], ["tie", "tie"]),
        (["no difference", "too few samples"], ["tie", "tie"]),
    ],
)
def test_a_win_needs_a_difference_from_every_other(verdicts: list[Verdict], wanted: list[Standing]) -> None:
    assert standings(0, verdicts, [False] * len(verdicts)) == wanted


def disturbed(value: float) -> list[Row]:
    return rows_from([(value, 1.0, True)] * 12)


@pytest.mark.parametrize(
    ("samples", "wanted"),
    [
        # the variant of a disturbed time that is half of another one's: it was printed as the fastest
        ((disturbed(1.0), timed(2.0)), [("disturbed", 2, "too few samples"), ("tie", 1, "no difference")]),
        ((timed(1.0), disturbed(2.0)), [("tie", 1, "no difference"), ("disturbed", 2, "too few samples")]),
        (
            (disturbed(1.0), disturbed(2.0)),
            [("disturbed", 1, "too few samples"), ("disturbed", 2, "too few samples")],
        ),
        ((disturbed(1.0),), [("disturbed", 1, "too few samples")]),
    ],
)
def test_disturbed_samples_win_nothing(samples: Any, wanted: Any) -> None:
    groups = [group(number, rows) for number, rows in enumerate(samples)]
    rows = by_group(ratios([groups], ["equal_security"]))
    assert [(rows[n].standing, rows[n].rank, rows[n].verdict) for n in range(len(groups))] == wanted
    lone = [row for row in rows.values() if row.standing == "disturbed"]
    assert {(row.ci_low, row.ci_high) for row in lone} == {(None, None)}
    assert {row.ratio for row in rows.values() if row.group == row.base} == {1.0}


def test_hexl_helps_by_no_disturbed_pair() -> None:
    groups = [
        group(1, disturbed(3.0), library="seal"),
        group(2, timed(1.0), library="seal", hexl=True),
    ]
    (row,) = ratios([groups], ["hexl"])
    assert (row.ratio, row.ci_low, row.verdict) == (3.0, None, "too few samples")


def test_facts_of_trials() -> None:
    own = group(1, timed(1.0))
    row = facts(own)
    assert (row.is_watched, row.reference_kernel_s, row.is_composite, row.steal_share) == (
        True,
        None,
        False,
        None,
    )


def test_samples_by_round_count_as_those_of_a_case_do() -> None:
    """What others had the core in has no slowdown: it counts where nothing else is there."""
    assert correction.counted_by_round([1, 2, 7], [4.0, 9.0, 3.0], [2.0, None, 1.0]) == {1: 2.0, 7: 3.0}
    assert correction.counted_by_round([1, 2], [4.0, 9.0], [None, None]) == {1: 4.0, 2: 9.0}
