"""The kinds of processes under `make serve`, where they are found, and which of them may be killed now."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
from processes import command_line
from serving import Serving

# By design three deaths of a service within a minute stop that one, and three deaths of attempts at a job fail it
# (deploy/supervision.py, jobs/attempts.py; both have tests of their own). Kills keep below both.
MAX_OF_A_UNIT = 2
WITHIN_S = 70.0
MAX_OF_A_JOB = 2

_MEASURING = "ciphermark_measure.worker"
_PARTY = "ciphermark_measure.parties.worker"
_FORKING = "multiprocessing.forkserver"

Processes = list[psutil.Process]


@dataclass(frozen=True)
class Kind:
    """A kind of process. ``is_unit`` where somebody keeps it going who counts its deaths; ``ends_attempts`` where an
    attempt at a job dies with it; ``spoils_trials`` where trials are recorded as crashed for its death.
    """

    name: str
    find: Callable[[Serving], Processes]
    is_unit: bool = False
    ends_attempts: bool = False
    spoils_trials: bool = False


def _program(name: str) -> Callable[[Serving], Processes]:
    return lambda serving: [process for program, process in serving.services().items() if program == name]


def _below(serving: Serving) -> Processes:
    """All processes below the services, these left out."""
    return [child for service in serving.services().values() for child in service.children(recursive=True)]


def _with(word: str) -> Callable[[Serving], Processes]:
    return lambda serving: [process for process in _below(serving) if word in " ".join(command_line(process))]


def _of_forks(is_origin: bool) -> Callable[[Serving], Processes]:
    """The process that attempts are forked from, or the attempts: both have one command line."""

    def find(serving: Serving) -> Processes:
        worker = serving.services().get("worker")
        found = _with(_FORKING)(serving)
        return [process for process in found if worker and (process.ppid() == worker.pid) == is_origin]

    return find


def _postmaster(serving: Serving) -> Processes:
    file = serving.data_directory / "postgres" / "postmaster.pid"
    with suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
        process = psutil.Process(int(file.read_text().splitlines()[0]))
        return [process] if str(file.parent) in command_line(process) else []
    return []


def _of_postgresql(are_clients: bool) -> Callable[[Serving], Processes]:
    """Its processes that serve a connection, or all others but the first."""

    def find(serving: Serving) -> Processes:
        below = [child for first in _postmaster(serving) for child in first.children(recursive=True)]
        return [child for child in below if ("ciphermark" in " ".join(command_line(child))) == are_clients]

    return find


def _others(serving: Serving) -> Processes:
    """Whatever else is below the services."""
    known = (_MEASURING, _PARTY, _FORKING)
    return [
        process
        for process in _below(serving)
        if not any(word in " ".join(command_line(process)) for word in known)
    ]


KINDS = (
    Kind("client service", _program("ciphermark-client"), is_unit=True, spoils_trials=True),
    Kind("server service", _program("ciphermark-server"), is_unit=True, spoils_trials=True),
    Kind("benchmark service", _program("serve"), is_unit=True),
    Kind("dashboard", _program("ciphermark-dashboard"), is_unit=True),
    Kind("worker", _program("worker"), is_unit=True, ends_attempts=True),
    Kind("PostgreSQL", _postmaster, is_unit=True),
    Kind("backend of PostgreSQL", _of_postgresql(are_clients=True)),
    Kind("helper of PostgreSQL", _of_postgresql(are_clients=False)),
    Kind("attempt", _of_forks(is_origin=False), ends_attempts=True),
    Kind("origin of attempts", _of_forks(is_origin=True), ends_attempts=True),
    Kind("measuring worker", _with(_MEASURING), spoils_trials=True),
    Kind("party", _with(_PARTY), spoils_trials=True),
    Kind("other process", _others),
)


@dataclass
class Restraint:
    """Keeps kills below what stops a service, or fails a job, by design. Pure."""

    of_units_s: dict[str, list[float]] = field(default_factory=dict)
    of_jobs: dict[str, int] = field(default_factory=dict)

    def allows(self, kind: Kind, now_s: float, jobs: Mapping[str, int]) -> bool:
        """Whether one of the kind may be killed; ``jobs`` are the deaths that are counted of each job under way."""
        recent = [at_s for at_s in self.of_units_s.get(kind.name, []) if now_s - at_s < WITHIN_S]
        if kind.is_unit and len(recent) >= MAX_OF_A_UNIT:
            return False
        deaths = (max(counted, self.of_jobs.get(job_id, 0)) for job_id, counted in jobs.items())
        return not kind.ends_attempts or all(count < MAX_OF_A_JOB for count in deaths)

    def killed(self, kind: Kind, now_s: float, jobs: Iterable[str]) -> None:
        """Note a kill while these jobs are under way."""
        self.of_units_s.setdefault(kind.name, []).append(now_s)
        if kind.ends_attempts:
            for job_id in jobs:
                self.of_jobs[job_id] = self.of_jobs.get(job_id, 0) + 1


def alive(kind: Kind, serving: Serving) -> Processes:
    """The processes of a kind that live now, by id; this one is none of them, and who has ended has no command line."""
    try:
        found: Sequence[psutil.Process] = kind.find(serving)
    except psutil.Error:  # they come and go
        return []
    return sorted(
        (process for process in found if command_line(process) and process.pid != os.getpid()),
        key=lambda process: process.pid,
    )
