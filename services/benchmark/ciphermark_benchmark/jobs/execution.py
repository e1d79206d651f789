"""One attempt at a job, on this host, in a separate process.

Ctrl-C (SIGINT) ends it between two turns with all measurements kept. It also ends with the process that started it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from time import sleep
from typing import Any

import structlog

from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.data_sets.finder import Remembered
from ciphermark_benchmark.jobs.decisions import Claim
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_benchmark.runner.patience import Patience
from ciphermark_benchmark.runner.recorder import PATIENCE_S, Record, members, record_journal
from ciphermark_benchmark.runner.runs import Prepared
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.capacity import capacity_of
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import Plan
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome, Trial
from ciphermark_core.run import Host, Run
from ciphermark_db.database import Database, DatabaseUnavailable
from ciphermark_db.sql import blocks
from ciphermark_measure import probes

_AGAIN_S = 1.0
_ANOTHER_RUN = "the job waits for another run that is executed in this data directory"
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Request:
    """A job's request."""

    id: str
    suite_name: str
    suite_text: str
    variants: tuple[str, ...]


class Waiting:
    """Records what a job waits for during its execution, as the job's reason until the wait ends."""

    def __init__(self, data_directory: DataDirectory, claim: Claim) -> None:
        self._data_directory = data_directory
        self._claim = claim
        self._is_told = False
        self._reason: str | None = None
        self._alone = Lock()

    def __call__(self, reason: str | None) -> None:
        """Report a reason, or the end of the wait. If the database does not answer, only the log has it."""
        if reason is None and not self._is_told:
            return
        _log.info("the job waits" if reason else "the job resumes", job_id=self._claim.job_id, reason=reason)
        self._is_told, self._reason = reason is not None, reason
        with suppress(DatabaseUnavailable, UserError):
            Patience(PATIENCE_S)(self._tell)

    def _tell(self) -> None:
        """Record the latest reason: an earlier call may still be under way."""
        with self._alone, storage.connected(self._data_directory) as database:
            _write(database, self._claim, {"reason": self._reason}, "tell_wait")


def execute(data_directory: DataDirectory, claim: Claim) -> None:
    """Execute and record the rest of a job; returns when everything is recorded.

    Raises ``UserError`` if the job cannot be executed here, or the database refuses its outcomes;
    ``DatabaseUnavailable`` if it cannot begin.
    """
    prepared, waiting = _prepared(data_directory, claim), Waiting(data_directory, claim)
    prepared.record.journal.on_wait = waiting
    with runs.recording(data_directory, prepared) as recorder:
        with runs.alone_on_host(data_directory, lambda: waiting(_ANOTHER_RUN)):
            waiting(None)
            runs.measure(
                data_directory, prepared, recorder, lambda outcome: _log_outcome(claim.job_id, outcome)
            )
        while not recorder.finish():
            if recorder.is_refused:
                raise UserError(recorder.last_error)
            sleep(_AGAIN_S)
    prepared.record.journal.retire(prepared.place)
    runs.predict(data_directory, prepared.run, [*prepared.record.journal.outcomes()])


def _prepared(data_directory: DataDirectory, claim: Claim) -> Prepared:
    """This host's part of a job: its own claimed run with a journal, and the whole plan."""
    facts = probes.host_facts()
    with storage.connected(data_directory) as database:
        request = requested(database, claim.job_id)
        catalogue = Catalogue(data_directory, os.environ)
        suite = files.parse(request.suite_text, f"suite {request.suite_name}", catalogue)
        catalogue.provide(data_set.name for data_set in runs.own_data_sets(suite).values())
        run = claimed(database, request, suite, facts)
        runs.require_room(suite, request.variants, facts)
        everything = planned(request, suite, run)
        _write(database, claim, {"trials": everything.outcomes}, "count_job_trials")
    journal = opened_journal(data_directory, request, run, suite, everything.outcomes)
    return Prepared(
        data_directory.of_jobs, Record(request.id, journal, members(everything)), suite, everything
    )


def _log_outcome(job_id: str, outcome: Outcome) -> None:
    trial = outcome.trial
    _log.info(
        "trial ended",
        job_id=job_id,
        run_id=trial.run_id,
        trial_id=trial.id,
        variant=trial.case.variant,
        experiment=trial.case.experiment,
        operation=trial.case.operation,
        status=outcome.status,
        error=outcome.error,
        duration_s=round(outcome.duration_s, 4),
    )


def recover(data_directory: DataDirectory) -> None:
    """Record the journals of earlier attempts on this host, whatever the state of their jobs.

    Journals of ended jobs are retired. Journals of another database, and those that cannot be recorded, stay unchanged.
    """
    place = data_directory.of_jobs
    with storage.connected(data_directory) as database:
        for path in sorted(place.pending.glob("*.jsonl")):
            try:
                _recover(database, place, Journal.read(path))
            except FileNotFoundError:
                continue  # another worker retired it meanwhile
            except (UserError, ValueError) as error:
                _log.error("a journal cannot be recorded, and waits", path=str(path), reason=str(error))


def _recover(database: Database, place: DataDirectory, journal: Journal) -> None:
    run = journal.header.run
    for origin in _rows(database, "run_origin", {"id": run.id}):
        job_id = origin["continues"] or run.id
        request = requested(database, job_id)
        remembered = Remembered(journal.header.data_sets, options=journal.header.options)
        suite = files.parse(request.suite_text, f"suite {request.suite_name}", remembered)
        record_journal(database, Record(job_id, journal, members(planned(request, suite, run))))
        if origin["has_ended"]:
            journal.retire(place)


def requested(database: Database, job_id: str) -> Request:
    """The job as submitted."""
    (row,) = _rows(database, "job", {"id": job_id})
    return Request(row["id"], row["suite"], row["suite_text"], tuple(row["variants"]))


def claimed(database: Database, request: Request, suite: Suite, facts: Host) -> Run:
    """This host's run of a job: the first run, or its continuation if another host began the job.

    The first host to record the first run owns it; a host that returns continues its own run.
    """
    began = runs.begun(suite, request.suite_text, facts, request.id)
    database.record_run(began)
    (holder,) = _rows(database, "run_fingerprint", {"id": request.id})
    if holder["fingerprint"] == facts.fingerprint:
        return began
    own = replace(began, id=continuation(request.id, facts.fingerprint))
    database.record_run(own, continues=request.id)
    return own


def continuation(job_id: str, fingerprint: str) -> str:
    """The id of the run by which another host continues a job. Pure."""
    return str(uuid.uuid5(uuid.UUID(job_id), fingerprint))


def planned(request: Request, suite: Suite, run: Run) -> Plan:
    """The whole plan of a job. Trial ids derive from the job, so that no two hosts record the same trial; the trials
    belong to this host's run.
    """
    runs.require_variants(suite, request.variants)
    cases, host_mb = (
        runs.cases(suite, run.host, request.variants),
        capacity_of(run.host).memory_mb,
    )
    return belonging_to(run.id, plan.make(request.id, suite, cases, host_mb))


def belonging_to(run_id: str, whole: Plan) -> Plan:
    """A plan with its trials assigned to another run; their ids stay. Pure."""

    def moved(trial: Trial) -> Trial:
        return replace(trial, run_id=run_id)

    blocks_ = tuple(
        replace(
            block,
            comparison_groups=tuple(
                replace(comparison_group, trials=tuple(map(moved, comparison_group.trials)))
                for comparison_group in block.comparison_groups
            ),
        )
        for block in whole.blocks
    )
    return Plan(blocks_, tuple(item._replace(trial=moved(item.trial)) for item in whole.unsupported))


def opened_journal(
    data_directory: DataDirectory, request: Request, run: Run, suite: Suite, trials: int
) -> Journal:
    """The journal of this host's run: an earlier attempt's, or a new one."""
    place = data_directory.of_jobs
    if any((folder / f"{run.id}.jsonl").exists() for folder in (place.pending, place.recorded)):
        return Journal.reopen(place, run.id)
    own, options = runs.own_data_sets(suite), runs.settled_options(suite)
    header = Header(run, f"job {request.id}", request.variants, own, options=options, trials=trials)
    return Journal.create(place, header)


def _rows(database: Database, block: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    table = database.query(blocks("jobs")[block].decode(), params)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _write(database: Database, claim: Claim, params: dict[str, Any], block: str) -> None:
    own: dict[str, Any] = {"id": claim.job_id, "attempt": claim.attempt}
    database.query(blocks("jobs")[block].decode(), own | params, read_only=False)
