"""The judge of what is lost and doubled under kills finds what is planted, and complains of nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kills.ledger import Asked, Found, Job, Kill, Trial, Written, complaints
from kills.victims import KINDS, MAX_OF_A_JOB, MAX_OF_A_UNIT, WITHIN_S, Restraint

PLACES = [("add of seal", 0), ("add of cleartext", 0), ("lmc of seal", 0)]
COMPARISONS = ["add", "add", "lmc"]
JOBS = [Job(f"id-{name}", name, "done", None, 100.0, 110.0) for name in ("one", "two")]
TRIALS = [
    Trial(f"{job.id}/{number}", job.id, place, comparison, "ok", 3, 1.5)
    for job in JOBS
    for number, (place, comparison) in enumerate(zip(PLACES, COMPARISONS, strict=True))
]
WRITTEN = [Written(trial.id, "ok", 3, 1.5) for trial in TRIALS]
ASKED = Asked(
    frozenset({"one", "two", "never-answered"}),
    {job.name: job.id for job in JOBS},
    dict.fromkeys(PLACES, "ok"),
)
WELL = Found(JOBS, TRIALS, WRITTEN)


def changed(items, number, **changes):
    return [replace(item, **changes) if place == number else item for place, item in enumerate(items)]


def without(items, number):
    return [item for place, item in enumerate(items) if place != number]


def of_kill(kind="party", at_s=105.0, until_s=106.0, spoils_trials=True):
    return Kill(kind, at_s, until_s, spoils_trials)


def test_where_all_is_well_there_is_nothing_to_complain_of():
    assert complaints(ASKED, WELL, []) == []


PLANTED = {
    "a job is gone": (replace(WELL, jobs=JOBS[:1]), "lost: job two was accepted, and is not there"),
    "a job is there under another id": (
        replace(WELL, jobs=changed(JOBS, 1, id="other"), trials=TRIALS[:3], written=WRITTEN[:3]),
        "lost: job two was accepted",
    ),
    "a job failed": (
        replace(WELL, jobs=changed(JOBS, 0, state="failed", reason="3 attempts died")),
        "lost: job one is failed: 3 attempts died",
    ),
    "a job hangs": (
        replace(WELL, jobs=changed(JOBS, 0, state="running", ended_s=None)),
        "lost: job one is running",
    ),
    "a job is there twice": (
        replace(WELL, jobs=[*JOBS, replace(JOBS[0], id="other")]),
        "doubled: job one is there 2 times",
    ),
    "a job that nobody asked for": (
        replace(WELL, jobs=[*JOBS, replace(JOBS[0], id="other", name="three")]),
        "doubled: nobody asked for job three",
    ),
    "a trial is not recorded": (
        replace(WELL, trials=without(TRIALS, 2), written=without(WRITTEN, 2)),
        "lost: ('lmc of seal', 0) of job one is not recorded",
    ),
    "a trial is in the journal alone": (
        replace(WELL, trials=without(TRIALS, 2)),
        "lost: trial id-one/2 is in a journal, and not in the database",
    ),
    "a trial is in no journal": (
        replace(WELL, written=without(WRITTEN, 2)),
        "doubled: trial id-one/2 is in the database, and in no journal",
    ),
    "a case is recorded twice": (
        replace(
            WELL,
            trials=[*TRIALS, replace(TRIALS[2], id="again")],
            written=[*WRITTEN, Written("again", "ok", 3, 1.5)],
        ),
        "doubled: ('lmc of seal', 0) of job one is recorded 2 times",
    ),
    "a case of another suite": (
        replace(WELL, trials=changed(TRIALS, 2, place=("mul of seal", 0))),
        "doubled: ('mul of seal', 0) of job one is none of its cases",
    ),
    "samples are recorded twice": (
        replace(WELL, trials=changed(TRIALS, 4, samples=6, total=3.0)),
        "doubled: trial id-two/1 has 6 samples of 3.0, ok, in the database, and 3 of 1.5",
    ),
    "samples are missing": (
        replace(WELL, trials=changed(TRIALS, 4, samples=2, total=1.0)),
        "lost: trial id-two/1 has 2 samples of 1.0",
    ),
    "samples of another execution": (
        replace(WELL, trials=changed(TRIALS, 4, total=1.6)),
        "lost: trial id-two/1 has 3 samples of 1.6",
    ),
    "a trial without samples": (
        replace(
            WELL,
            trials=changed(TRIALS, 4, samples=0, total=0.0),
            written=changed(WRITTEN, 4, samples=0, total=0.0),
        ),
        "lost: ('add of cleartext', 0) of job two has no samples",
    ),
    "a trial crashed by itself": (
        replace(
            WELL, trials=changed(TRIALS, 4, status="crashed"), written=changed(WRITTEN, 4, status="crashed")
        ),
        "lost: ('add of cleartext', 0) of job two is crashed, and ok where nothing is killed",
    ),
    "a whole comparison was executed again": (
        replace(WELL, written=[*WRITTEN[:3], *WRITTEN]),
        "doubled: trial id-one/0 was executed again",
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_is_found(planted):
    found, expected = PLANTED[planted]
    assert any(text.startswith(expected) for text in complaints(ASKED, found, [])), complaints(
        ASKED, found, []
    )


def test_half_a_comparison_may_be_executed_again():
    """Its worker died in between: the journal has the first half twice, and the second time counts."""
    first = replace(WRITTEN[0], total=1.7)
    assert complaints(ASKED, replace(WELL, written=[first, *WRITTEN]), []) == []


@pytest.mark.parametrize(
    ("kill", "is_excused"),
    [
        (of_kill(), True),
        (of_kill("client service", 90.0, 102.0), True),  # the job began while the service was away
        (of_kill("party", 50.0, 60.0), False),
        (of_kill("party", 120.0, 130.0), False),
        (of_kill("dashboard", spoils_trials=False), False),
    ],
)
def test_a_crash_is_excused_by_a_kill_that_reaches_trials_meanwhile(kill, is_excused):
    found = replace(
        WELL,
        trials=changed(TRIALS, 2, status="crashed", samples=0, total=0.0),
        written=changed(WRITTEN, 2, status="crashed", samples=0, total=0.0),
    )
    assert (complaints(ASKED, found, [kill]) == []) == is_excused


KIND = {kind.name: kind for kind in KINDS}


def test_a_service_is_not_killed_as_often_as_stops_it():
    restraint, worker = Restraint(), KIND["dashboard"]
    for second in range(MAX_OF_A_UNIT):
        assert restraint.allows(worker, float(second), {})
        restraint.killed(worker, float(second), ())
    assert not restraint.allows(worker, 10.0, {})
    assert restraint.allows(KIND["client service"], 10.0, {})
    assert restraint.allows(worker, WITHIN_S + 0.5, {})


@pytest.mark.parametrize("name", ["worker", "attempt", "origin of attempts"])
def test_a_job_does_not_lose_as_many_attempts_as_fail_it(name):
    restraint = Restraint()
    for second in range(MAX_OF_A_JOB):
        assert restraint.allows(KIND[name], 100.0 * second, {"job": 0})
        restraint.killed(KIND[name], 100.0 * second, {"job": 0})
    assert not restraint.allows(KIND[name], 1000.0, {"job": 0, "other": 0})
    assert restraint.allows(KIND[name], 1000.0, {"other": 0})
    assert not restraint.allows(KIND[name], 1000.0, {"other": MAX_OF_A_JOB})
    assert restraint.allows(KIND["party"], 1000.0, {"job": 0})
