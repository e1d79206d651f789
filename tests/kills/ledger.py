"""What is lost and what is doubled, of jobs that were executed while processes were killed. Pure.

*Lost* is a job that was accepted and is not there, or does not end done; a trial of its plan that is not recorded, or
whose outcome or samples are in the journal and not in the database; a trial that ended otherwise than it does where
nothing is killed, unless a process that it was executed by, or a service of its parties, was killed meanwhile: then it
is recorded as crashed, which is what became of it.

*Doubled* is a job that was asked for once and is there twice; a case that is recorded more than once for a process
number; samples that are recorded more often than they were taken; a comparison that was executed again though the
journal had all of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Place = tuple[str, int]
"""The key of a case, and the number of the process."""

_CLOCKS_S = 1.0  # what the times of a kill and of a job's beginning and end may be off


@dataclass(frozen=True)
class Job:
    """A job in the database; times are seconds since the epoch."""

    id: str
    name: str
    state: str
    reason: str | None
    began_s: float | None
    ended_s: float | None


@dataclass(frozen=True)
class Trial:
    """A recorded trial, with how many samples it has and what they come to."""

    id: str
    job_id: str
    place: Place
    comparison: str
    status: str
    samples: int
    total: float


@dataclass(frozen=True)
class Written:
    """An outcome in a journal."""

    trial_id: str
    status: str
    samples: int
    total: float


@dataclass(frozen=True)
class Found:
    """What is there in the end; what was written comes in the order of each journal."""

    jobs: Sequence[Job]
    trials: Sequence[Trial]
    written: Sequence[Written]


@dataclass(frozen=True)
class Kill:
    """What was killed, when, and when all services answered again; ``spoils_trials`` where a trial depends on such a
    process.
    """

    kind: str
    at_s: float
    until_s: float
    spoils_trials: bool


@dataclass(frozen=True)
class Asked:
    """The names of jobs that were asked for, each once; of those that were accepted with their ids."""

    names: frozenset[str]
    accepted: Mapping[str, str]
    expected: Mapping[Place, str] = field(default_factory=dict)
    """What every job comes to where nothing is killed."""


def complaints(asked: Asked, found: Found, kills: Sequence[Kill]) -> list[str]:
    """Whatever was lost or doubled; nothing where all is well."""
    return [
        *_of_jobs(asked, found.jobs),
        *(text for job in found.jobs for text in _of_trials(asked, job, found.trials, kills)),
        *_of_journals(found),
        *_executed_again(found),
    ]


def crashed(asked: Asked, found: Found) -> int:
    """How many trials ended otherwise than they do where nothing is killed."""
    return sum(trial.status != asked.expected.get(trial.place) for trial in found.trials)


def _of_jobs(asked: Asked, jobs: Sequence[Job]) -> Iterator[str]:
    ids: dict[str, list[str]] = {}
    for job in jobs:
        ids.setdefault(job.name, []).append(job.id)
        if job.state != "done":
            yield f"lost: job {job.name} is {job.state}: {job.reason}"
    for name, job_id in asked.accepted.items():
        if job_id not in ids.get(name, []):
            yield f"lost: job {name} was accepted, and is not there"
    for name, same in ids.items():
        if len(same) > 1:
            yield f"doubled: job {name} is there {len(same)} times"
        if name not in asked.names:
            yield f"doubled: nobody asked for job {name}"


def _of_trials(asked: Asked, job: Job, trials: Sequence[Trial], kills: Sequence[Kill]) -> Iterator[str]:
    own = [trial for trial in trials if trial.job_id == job.id]
    counts = Counter(trial.place for trial in own)
    for place, count in counts.items():
        if count > 1:
            yield f"doubled: {place} of job {job.name} is recorded {count} times"
        if place not in asked.expected:
            yield f"doubled: {place} of job {job.name} is none of its cases"
    for place in asked.expected:
        if not counts[place]:
            yield f"lost: {place} of job {job.name} is not recorded"
    may_crash = any(kill.spoils_trials and _overlap(job, kill) for kill in kills)
    for trial in own:
        usual = asked.expected.get(trial.place)
        if trial.status != usual and not (may_crash and trial.status == "crashed"):
            yield f"lost: {trial.place} of job {job.name} is {trial.status}, and {usual} where nothing is killed"
        if trial.status == "ok" and not trial.samples:
            yield f"lost: {trial.place} of job {job.name} has no samples"


def _overlap(job: Job, kill: Kill) -> bool:
    began_s = math.inf if job.began_s is None else job.began_s
    ended_s = math.inf if job.ended_s is None else job.ended_s
    return kill.at_s <= ended_s + _CLOCKS_S and began_s - _CLOCKS_S <= kill.until_s


def _of_journals(found: Found) -> Iterator[str]:
    latest = {item.trial_id: item for item in found.written}
    recorded = {trial.id: trial for trial in found.trials}
    for name in latest.keys() - recorded.keys():
        yield f"lost: trial {name} is in a journal, and not in the database"
    for name, trial in recorded.items():
        item = latest.get(name)
        if item is None:
            yield f"doubled: trial {name} is in the database, and in no journal"
        elif (item.status, item.samples) != (trial.status, trial.samples) or not math.isclose(
            item.total, trial.total, rel_tol=1e-9, abs_tol=1e-12
        ):
            kind = "doubled" if trial.samples > item.samples else "lost"
            yield (
                f"{kind}: trial {name} has {trial.samples} samples of {trial.total}, {trial.status}, in the database, "
                f"and {item.samples} of {item.total}, {item.status}, in its journal"
            )


def _executed_again(found: Found) -> Iterator[str]:
    """Trials of a comparison that come in a journal after all of it was there."""
    groups: dict[tuple[str, str, int], set[str]] = {}
    for trial in found.trials:
        groups.setdefault((trial.job_id, trial.comparison, trial.place[1]), set()).add(trial.id)
    group_of = {name: frozenset(own) for own in groups.values() for name in own}
    there: dict[frozenset[str], set[str]] = {}
    for item in found.written:
        own = group_of.get(item.trial_id)
        if own is None:
            continue
        known = there.setdefault(own, set())
        if known == own:
            yield f"doubled: trial {item.trial_id} was executed again, and its journal had all of its comparison"
        known.add(item.trial_id)
