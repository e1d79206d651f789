"""Recording: everything once, nothing lost."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from ciphermark_core.errors import UserError
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Accuracy, OperationCount, Outcome, ParameterSpec, ProgramUse, Sample
from ciphermark_core.run import Run
from ciphermark_db.database import ContentRefused, Database

TABLES = ("host", "build", "parameter_set", "run", "case_request", "case_info", "trial", "sample")


def counts(database: Database) -> dict[str, int]:
    return {table: database.query(f"select count(*) from {table}").rows[0][0] for table in TABLES}


def record(url: str, run: Run, outcomes: list[Outcome]) -> None:
    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for outcome in outcomes:
            database.record_outcome(outcome)


def test_recording_twice_is_recording_once(database: Database, make) -> None:
    run = make.run()
    outcome = make.outcome(run, samples=make.times([0.1, 0.2]))
    database.record_run(run)
    database.record_outcome(outcome)
    before = counts(database)
    database.record_run(run)
    database.record_outcome(outcome)
    database.record_outcome(replace(outcome, status="incorrect", samples=make.times([9.0])))
    assert counts(database) == before
    assert database.recorded_trials(run.id) == {outcome.trial.id}
    assert database.recorded_trials("unknown") == set()


def test_two_processes_record_the_same_outcomes(empty_url: Callable[[], str], make) -> None:
    url, run = empty_url(), make.run()
    cases = [
        make.case(variant, vector_length=size) for variant in ("seal", "seal-hexl") for size in range(1, 26)
    ]
    outcomes = [make.outcome(run, case, make.times([0.1 * i for i in range(20)])) for case in cases]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(record, url, run, outcomes), pool.submit(record, url, run, outcomes[::-1])]:
            done.result(timeout=120)
    with Database.open(url) as database:
        found = counts(database)
    assert (found["run"], found["host"], found["build"], found["parameter_set"]) == (1, 1, 2, 1)
    assert (found["trial"], found["sample"]) == (50, 1000)


def test_every_field_arrives(new_url: Callable[[], str], make) -> None:
    spec = ParameterSpec("ckks", 16384, (60, 40, 60), None, 40, 192, 1, True, tuning="recommended")
    case = make.case("openfhe", parameters=spec, threads=4, experiment="noise", data_pattern="constant")
    case = replace(case, dimensions={"max_repetitions": 9, "repetitions": 50, "data_set": "boston"})
    moduli = (2**63 + 1, 2**64 - 59, 3)
    sample = Sample("precision", 21.25, "evaluate", None, None, 3, 12, True, 5)
    run = make.run()
    outcome = replace(
        make.outcome(run, case, (sample,), process=2, error="slow", facts={"loops": 3.0, "bad": math.nan}),
        accuracy=Accuracy(1e-9, 2, 1e-6, math.inf),
        parameters=replace(
            make.parameters(spec, moduli), key_switching=KeySwitching("hybrid", 2), scaling="fixed"
        ),
    )
    url = new_url()
    record(url, run, [outcome])
    with Database.open(url) as database:
        assert database.query(
            "select requested_modulus_bits, scale, security_bits, threads, slots, data_set from case_info"
        ).rows == [([60, 40, 60], 2.0**40, 192, 4, 8192, "boston")]
        assert database.query("select request -> 'parameters' ->> 'scale_bits' from case_request").rows == [
            ("40",)
        ]
        assert database.query(
            "select chain_depth, ring_dimension_is_minimum, tuning, dimensions from case_info"
        ).rows == [(1, True, "recommended", dict(case.dimensions))]
        moduli_row = database.query(
            "select moduli || special_moduli, i.plain_modulus from parameter_set "
            "join case_info as i on parameter_set_id = id"
        ).rows
        assert moduli_row == [([*moduli], None)]
        assert database.query(
            "select key_switching, decomposition_digits, scaling, secret_distribution, encryption from case_info"
        ).rows == [("hybrid", 2, "fixed", "uniform ternary", "public key")]
        assert database.query(
            "select max_abs_error, incorrect_slots, tolerance, precision_bits from trial"
        ).rows == [(1e-9, 2, 1e-6, math.inf)]
        assert database.query(
            "select process, seed, error, facts, budget -> 'min_samples' from trial"
        ).rows == [(2, 7, "slow", {"loops": 3.0, "bad": None}, 10)]
        assert database.query("select trial_id, stage, party, step, metric from series").rows == [
            (outcome.trial.id, "evaluate", None, None, "precision")
        ]
        assert database.query("select value, loops, ordinal, repetitions, is_warmup from sample").rows == [
            (21.25, 12, 3, 5, True)
        ]
        assert database.query("select seed, host_load_1min, host_warnings from run").rows == [
            (2**64 - 1, 0.5, ["turbo is on"])
        ]


def test_programs_are_kept_once_and_found_by_trial_and_case(new_url: Callable[[], str], make) -> None:
    counts = (OperationCount("mul", 2, 3), OperationCount("add", 1, 5))
    content = b"\x00 any bytes \xff"
    infer = ProgramUse("infer", "d" * 64, "ckks", 1, 7, 4, counts, content)
    train = replace(infer, stage="train", digest="e" * 64)
    run = make.run()
    other = make.case("openfhe")
    outcomes = [
        make.outcome(run, programs=(infer, train)),
        make.outcome(run, process=1, programs=(infer, train)),
        make.outcome(run, other, programs=(infer, replace(train, digest="f" * 64))),
    ]
    url = new_url()
    record(url, run, outcomes)
    with Database.open(url) as database:
        assert database.query("select digest, nodes, content from program order by digest").rows == [
            (letter * 64, 8, content) for letter in "def"
        ]
        assert database.query("select count(*) from trial_program").rows == [(6,)]
        assert [(item.variant, item.stage, item.content) for item in database.programs(run.id)] == [
            (variant, stage, content) for variant in ("openfhe", "seal") for stage in ("infer", "train")
        ]
        sql = (
            "select operation, level, occurrences from program_count where program = %s order by occurrences"
        )
        assert database.query(sql, ["d" * 64]).rows == [("mul", 2, 3), ("add", 1, 5)]
        sql = (
            "select variant, stage, left(program, 1), constants, live_ciphertexts, is_equal_program "
            "from case_program order by variant, stage"
        )
        assert database.query(sql).rows == [
            ("openfhe", "infer", "d", 7, 4, True),
            ("openfhe", "train", "f", 7, 4, False),
            ("seal", "infer", "d", 7, 4, True),
            ("seal", "train", "e", 7, 4, False),
        ]


def test_a_metric_and_a_dimension_that_nobody_registered_here_are_recorded_all_the_same(
    new_url: Callable[[], str], make
) -> None:
    """A journal may be recorded by a process that does not know the workload that made it."""
    run = make.run()
    case = make.case(dimensions={"side": 32})
    url = new_url()
    record(url, run, [make.outcome(run, case, (Sample("queries_per_second", 12.0, "answer"),))])
    with Database.open(url) as database:
        assert database.query("select metric, unit, median, dimensions from results").rows == [
            ("queries_per_second", "", 12.0, {"side": 32})
        ]
        assert database.query("select kind from dimension where name = 'side'").rows == [("int",)]


def test_what_differs_per_run_makes_no_new_host(new_url: Callable[[], str], make) -> None:
    with Database.open(new_url()) as database:
        database.migrate()
        first = make.run()
        database.record_run(first)
        database.record_run(make.run(host=replace(first.host, load_1min=3.0, clock_noise=0.2, warnings=())))
        database.record_run(make.run(host=replace(first.host, governor="powersave")))
        assert counts(database)["host"] == 2
        assert database.run_ids()[0] == first.id


def test_text_that_postgresql_refuses_is_fixed(database: Database, make) -> None:
    run = make.run()
    database.record_run(run)
    database.record_outcome(make.outcome(run, status="crashed", error="core\0dumped \udcff"))
    assert database.query("select error from results where run_id = %s", [run.id]).rows == [
        ("core\ufffddumped ?",)
    ]


def test_a_failed_recording_leaves_nothing(database: Database, make) -> None:
    run = make.run()
    outcome = make.outcome(run, make.case("helib"), make.times([0.1]))
    before = counts(database)
    with pytest.raises(UserError, match="foreign key"):
        database.record_outcome(outcome)
    assert counts(database) == before
    broken = replace(outcome, samples=(*outcome.samples, Sample("time", "no number", "evaluate")))
    database.record_run(run)
    with pytest.raises(ValueError, match="no number"):
        database.record_outcome(broken)
    assert database.recorded_trials(run.id) == set()
    database.record_outcome(outcome)
    assert database.recorded_trials(run.id) == {outcome.trial.id}


@pytest.mark.parametrize("samples", [{"ordinal": 2**31}, {"repetitions": 2**31}, {"loops": 2**63}])
def test_a_number_that_the_database_has_no_room_for_is_refused(
    database: Database, make, samples: dict[str, int]
) -> None:
    run = make.run()
    database.record_run(run)
    outcome = make.outcome(run, samples=(Sample("time", 1.0, "evaluate", **samples),))
    with pytest.raises(ContentRefused, match="out of range"):
        database.record_outcome(outcome)
    assert database.recorded_trials(run.id) == set()


def test_samples_that_are_remembered_and_read_give_equal_results(new_url: Callable[[], str], make) -> None:
    """What came just before is in memory; what another connection recorded is read."""
    run = make.run()
    noise = random.Random(1)
    outcomes = [
        make.outcome(
            run,
            make.case(variant),
            tuple(
                Sample(metric, noise.random(), "evaluate", None, step, ordinal, 3, ordinal < 2, repetitions)
                for ordinal in range(20)
                for metric, step, repetitions in (
                    ("time", None, None),
                    ("time", "part", 5),
                    ("size", None, 2),
                )
            ),
            process=process,
        )
        for process in range(3)
        for variant in ("seal", "seal-hexl", "openfhe")
    ]
    answers = []
    for at_once in (1, 2, 9):
        url = new_url()
        record(url, run, outcomes[:1])
        for first in range(1, len(outcomes), at_once):
            with Database.open(url) as database:
                for outcome in outcomes[first : first + at_once]:
                    database.record_outcome(outcome)
        answers.append(statistics_of(url))
        with Database.open(url) as database:
            database.rebuild([run.id])
        answers.append(statistics_of(url))
    assert answers[0]
    assert answers.count(answers[0]) == 6


def statistics_of(url: str) -> list[object]:
    with Database.open(url) as database:
        assert database.query("select count(*), count(repetitions), sum(loops) from sample").rows == [
            (540, 360, 1620)
        ]
        asked = "select to_jsonb(v) - 'case_info_id' from {} as v order by 1"
        return [row for view in ("results", "ratios") for row in database.query(asked.format(view)).rows]


def test_the_state_of_the_host_is_refreshed_now_and_then_and_at_the_end(database: Database, make) -> None:
    """It is of all trials of a run, and would make recording slower with each."""
    run = make.run()
    database.record_run(run)
    asked = f"select timed_trials from host_state where run_id = '{run.id}'"
    for process in range(3):
        database.record_outcome(make.outcome(run, samples=make.times([1.0, 2.0]), process=process))
    assert database.query(asked).rows == [(1,)]
    database.update_host_state(run.id)
    assert database.query(asked).rows == [(3,)]


def test_an_unknown_status_is_refused(database: Database, make) -> None:
    run = make.run()
    database.record_run(run)
    with pytest.raises(UserError, match="case_info_status_check"):
        database.record_outcome(make.outcome(run, status="fine"))
