"""Times are corrected by their slowdowns; what was disturbed stands in no result, unless there is nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import itemgetter

import pytest

from ciphermark_benchmark import figure_rows
from ciphermark_core.run import Run
from ciphermark_db import statistics
from ciphermark_db.database import Database
from ciphermark_present.catalogue.times import MATRIX

FACTS = {
    "reference_kernel_version": 2.0,
    "reference_kernel_s": 5e-5,
    "reference_kernel_spread": 0.4,
    "sampling_s": 2.0,
    "steal_s": 0.3,
    "run_delay_s": 0.15,
}
VARIANTS = ("seal", "seal-hexl")


def watched(samples, disturbed):
    """Samples of which those of some ordinals were disturbed."""
    return tuple(replace(sample, is_disturbed=sample.ordinal in disturbed) for sample in samples)


@pytest.fixture
def recorded(database: Database, make):
    """Record a run of trials: variant, times, ordinals that were disturbed."""

    def record(*trials, facts=FACTS) -> Run:
        run = make.run()
        database.record_run(run)
        for variant, times, disturbed in trials:
            samples = watched(make.times(times), disturbed)
            database.record_outcome(make.outcome(run, make.case(variant), samples, facts=facts))
        database.update_host_state(run.id)
        return run

    return record


@pytest.fixture
def slowed(database: Database, make):
    """Record a run of trials: variant, times, their slowdowns."""

    def record(*trials) -> Run:
        run = make.run()
        database.record_run(run)
        for variant, times, slowdowns in trials:
            samples = [
                replace(sample, slowdown=slowdown)
                for sample, slowdown in zip(make.times(times), slowdowns, strict=True)
            ]
            database.record_outcome(make.outcome(run, make.case(variant), tuple(samples), facts=FACTS))
        database.update_host_state(run.id)
        return run

    return record


def rows(database: Database, sql: str, run: Run):
    table = database.query(sql, [run.id])
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_disturbed_samples_are_kept_and_left_out_of_results(database: Database, recorded) -> None:
    run = recorded(("seal", [1.0, 1.1, 9.0, 9.1, 1.2], {2, 3}))
    (row,) = rows(database, "select * from results where run_id = %s", run)
    assert (row["n"], row["median"], row["max"]) == (3, 1.1, 1.2)
    assert row["undisturbed_share"] == pytest.approx(0.6)
    assert (row["reference_kernel_s"], row["reference_kernel_spread"], row["steal_share"]) == (
        5e-5,
        0.4,
        pytest.approx(0.2),
    )
    kept = rows(database, "select value, is_disturbed from samples where run_id = %s order by ordinal", run)
    assert [item["value"] for item in kept] == [1.0, 1.1, 9.0, 9.1, 1.2]
    assert [item["is_disturbed"] for item in kept] == [False, False, True, True, False]


def test_where_all_samples_were_disturbed_there_are_results_that_say_so(database: Database, recorded) -> None:
    run = recorded(("seal", [2.0, 3.0, 4.0], {0, 1, 2}))
    (row,) = rows(database, "select * from results where run_id = %s", run)
    assert (row["n"], row["median"], row["undisturbed_share"]) == (3, 3.0, 0.0)


def test_results_of_disturbed_samples_are_named_and_win_nothing(database: Database, recorded) -> None:
    """Half the time of the other variant, and no sample of it is undisturbed."""
    run = recorded(("seal", [1.0] * 8, set(range(8))), ("seal-hexl", [2.0] * 8, set()))
    ranks = rows(
        database, "select variant, rank, standing, fastest_variant from ranking where run_id = %s", run
    )
    assert {row["variant"]: (row["rank"], row["standing"]) for row in ranks} == {
        "seal": (2, "disturbed"),
        "seal-hexl": (1, "tie"),
    }
    assert {row["fastest_variant"] for row in ranks} == {"seal-hexl"}
    (state,) = database.report("host_state", run_id=run.id)
    (name,) = state["disturbed_results"]
    assert name.split()[0] == "seal"
    assert name.split()[-1] == "evaluate"
    (cell, other) = [
        (row["variant"], MATRIX.grid.cell(row))
        for row in sorted(figure_rows.rows(database, MATRIX, run.id), key=itemgetter("variant"))
    ]
    assert cell == ("seal", "!1.00 s · 0.500×")
    assert other == ("seal-hexl", "2.00 s · 1.00×")


def test_unwatched_trials_claim_nothing(database: Database, recorded) -> None:
    run = recorded(("seal", [2.0, 3.0, 4.0], set()), facts={})
    (row,) = rows(database, "select * from results where run_id = %s", run)
    assert (row["n"], row["undisturbed_share"], row["reference_kernel_s"], row["steal_share"]) == (
        3,
        None,
        None,
        None,
    )
    (state,) = rows(database, "select * from host_state where run_id = %s", run)
    assert (state["timed_trials"], state["watched_trials"], state["undisturbed_share"]) == (1, 0, None)


@pytest.mark.parametrize(
    ("disturbed", "expected"),
    [
        ((set(), set()), [0.5, 0.5, 1.0, 2.0]),
        (({0}, set()), [0.5, 1.0, 2.0]),
        (({0}, {3}), [0.5, 1.0]),
        (({0, 1}, {1, 2}), [2.0]),
        (({0, 1, 2, 3}, {0}), [0.5, 0.5, 1.0, 2.0]),  # one side has nothing else: rounds still cancel
    ],
)
def test_a_pair_counts_where_both_samples_do(database: Database, recorded, disturbed, expected) -> None:
    off, on = [1.0, 2.0, 3.0, 8.0], [2.0, 4.0, 3.0, 4.0]
    run = recorded(("seal", off, disturbed[0]), ("seal-hexl", on, disturbed[1]))
    (row,) = rows(database, "select * from speedup where run_id = %s", run)
    middle = sorted(expected)
    half = len(middle) // 2
    median = middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
    assert (row["n"], row["ratio"]) == (len(expected), median)
    (slower,) = rows(
        database, "select * from ranking where run_id = %s and variant <> fastest_variant", run
    ) or [None]
    assert slower["n"] == len(expected)
    undisturbed = sum(number not in disturbed[0] | disturbed[1] for number in range(4))
    assert row["undisturbed_share"] == slower["undisturbed_share"] == undisturbed / 4


def test_without_an_undisturbed_pair_medians_of_undisturbed_samples_are_divided(
    database: Database, recorded
) -> None:
    run = recorded(("seal", [1.0, 1.0, 50.0], {2}), ("seal-hexl", [90.0, 80.0, 2.0], {0, 1}))
    (row,) = rows(database, "select * from ranking where run_id = %s and variant <> fastest_variant", run)
    assert (row["ratio"], row["is_paired"], row["undisturbed_share"]) == (2.0, False, 0.0)


def test_the_state_of_the_host_is_one_row_per_run(database: Database, recorded) -> None:
    facts = FACTS | {
        "timed_samples": 5.0,
        "undisturbed_samples": 4.0,
        "disturbed_phases": 1.0,
        "reference_kernel_cost_s": 0.05,
    }
    run = recorded(
        *((variant, [1.0] * 5, {0}) for variant in VARIANTS), facts=facts | {"is_short_of_undisturbed": 1.0}
    )
    (row,) = rows(database, "select * from host_state where run_id = %s", run)
    assert (row["timed_trials"], row["watched_trials"], row["short_trials"], row["disturbed_phases"]) == (
        2,
        2,
        2,
        2,
    )
    assert (row["timed_samples"], row["undisturbed_share"], row["reference_kernel_cost"]) == (10, 0.8, 0.025)
    assert (row["run_delay_share"], row["steal_share"]) == (pytest.approx(0.1), pytest.approx(0.2))


def test_several_processes_compute_the_state_of_a_host_at_once(
    database: Database, url: str, recorded
) -> None:
    """A run and the commands beside it do so when it ends."""
    run = recorded(("seal", [1.0], ()))

    def compute(_: int) -> None:
        with Database.open(url) as another:
            for _ in range(15):
                another.update_host_state(run.id)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(compute, range(3)))
    assert database.query("select count(*) from host_state where run_id = %s", [run.id]).rows == [(1,)]


def test_times_are_corrected_and_intervals_widened_by_the_error_of_that(database: Database, slowed) -> None:
    run = slowed(("seal", [1.0, 1.1, 1.5, 1.5, 1.8, 1.2], [1.0, 1.0, 1.5, 1.2, 1.5, 1.2]))
    (row,) = rows(database, "select * from results where run_id = %s", run)
    slowdown = (1.5 * 1.2 * 1.5 * 1.2) ** (1 / 6)
    assert row["median"] == pytest.approx((1.0 + 1.1) / 2)
    assert (row["n"], row["min"], row["max"]) == (6, pytest.approx(1.0), pytest.approx(1.25))
    assert row["slowdown"] == pytest.approx(slowdown)
    assert row["undisturbed_share"] == pytest.approx(1 / 3)
    assert (row["ci_low"], row["ci_high"]) == (
        pytest.approx(1.0 / slowdown**0.4),
        pytest.approx(1.25 * slowdown**0.4),
    )
    kept = rows(database, "select value, slowdown from samples where run_id = %s order by ordinal", run)
    assert [item["value"] for item in kept] == [1.0, 1.1, 1.5, 1.5, 1.8, 1.2]
    assert [item["slowdown"] for item in kept] == [1.0, 1.0, 1.5, 1.2, 1.5, 1.2]


@pytest.mark.parametrize(("other", "widening"), [("seal@again", 1.0), ("seal-hexl", 1.5 ** (0.4 * 2**0.5))])
def test_what_slows_two_of_one_build_alike_cancels_in_a_round(
    database: Database, slowed, other, widening
) -> None:
    factors = [1.5] * 6
    run = slowed(("seal", [1.5] * 6, factors), (other, [3.0, 3.0, 3.0, 3.15, 3.15, 3.15], factors))
    (row,) = rows(database, "select * from ranking where run_id = %s and variant <> fastest_variant", run)
    assert (row["n"], row["ratio"], row["undisturbed_share"]) == (6, pytest.approx(2.05), 0)
    assert row["ci_low"] == pytest.approx(2.0 / widening)
    assert row["ci_high"] == pytest.approx(2.1 * widening)


def test_another_reference_kernel_is_no_reference_kernel_to_compare_with(
    database: Database, recorded
) -> None:
    former = {name: fact for name, fact in FACTS.items() if name != "reference_kernel_version"}
    run = recorded(("seal", [2.0, 3.0, 4.0], set()), facts=former)
    (row,) = rows(database, "select * from results where run_id = %s", run)
    assert (row["undisturbed_share"], row["reference_kernel_s"]) == (1.0, None)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"reference_kernel_gain": 1.25, "slowdown": 1.1}, [1.25]),
        ({"slowdown": 1.1, "undisturbed_samples": 1.0}, [1.0]),  # before the fact reference_kernel_gain
        ({"undisturbed_samples": 1.0}, [0.0]),  # before times were corrected
        ({"undisturbed_samples": 0.0}, None),
    ],
)
def test_by_what_times_were_corrected_is_known_of_runs_of_any_age(
    database: Database, recorded, facts, expected
) -> None:
    run = recorded(("seal", [1.0, 1.1], set()), facts=FACTS | facts)
    (row,) = rows(database, "select * from host_state where run_id = %s", run)
    assert row["reference_kernel_gains"] == expected


def test_what_was_not_watched_was_corrected_by_nothing_that_is_known(database: Database, recorded) -> None:
    run = recorded(
        ("seal", [1.0, 1.1], set()), facts={"undisturbed_samples": 1.0, "reference_kernel_gain": 1.25}
    )
    (row,) = rows(database, "select * from host_state where run_id = %s", run)
    assert row["reference_kernel_gains"] is None


def test_a_long_run_spends_a_hundredth_of_its_time_on_the_state_of_its_host(
    database: Database, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is computed from all trials, so that each time takes longer than the time before."""
    now_s, spent_s = 0.0, list[float]()

    def computed(connection, run_id: str) -> None:
        nonlocal now_s
        spent_s.append(0.1 * (1 + len(spent_s)))
        now_s += spent_s[-1]

    monkeypatch.setattr(statistics, "update_host_state", computed)
    monkeypatch.setattr("ciphermark_db.database.monotonic", lambda: now_s)
    run = make.run()
    database.record_run(run)
    for number in range(50):
        database.record_outcome(make.outcome(run, make.case(vector_length=1 + number)))
        now_s += 2.0
    assert len(spent_s) > 2
    assert sum(spent_s[:-1]) <= 0.01 * now_s
