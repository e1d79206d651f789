"""A run from beginning to end: new, resumed, or this host's part of a job; executed and recorded.

A run of the command line resembles a job that this host has claimed. They differ in how they begin, and in what happens
if the database is away at the end.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import chain, repeat
from pathlib import Path
from time import sleep

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark import __version__, archive, run_names, storage
from ciphermark_benchmark.data_directory import DATA_VARIABLE, DataDirectory
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.data_sets.finder import Remembered
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.runner import reference_kernel_baseline
from ciphermark_benchmark.runner.checkpoints import Checkpoints
from ciphermark_benchmark.runner.executor import Executor
from ciphermark_benchmark.runner.journal import WAITED_FOR, Header, Journal
from ciphermark_benchmark.runner.recorder import Record, Recorder, members
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.two_parties import Advance, OnStage
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.capacity import capacity_of
from ciphermark_benchmark.suite.form import Suite, WorkloadText
from ciphermark_benchmark.suite.plan import Plan, PlannedCase
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.private import FILE_MODE, private_folder
from ciphermark_core.run import Host, Run
from ciphermark_db.database import DatabaseUnavailable
from ciphermark_measure import probes
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS

OnOutcome = Callable[[Outcome], None]
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # wasted making of keys may take minutes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready for execution; ``place`` holds its journal and those of its kind.

    The plan omits ``done`` trials, which are complete according to the journal.
    """

    place: DataDirectory
    record: Record
    suite: Suite
    plan: Plan
    done: int = 0

    @property
    def run(self) -> Run:
        """This host's run."""
        return self.record.journal.header.run


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run. ``waiting`` is the reason why outcomes wait in the journal, if they do."""

    run: Run
    outcomes: tuple[Outcome, ...]
    waiting: str | None


def available(suite: Suite, facts: Host) -> dict[str, Availability]:
    """The availability of the suite's variants on this host."""
    flags = frozenset(facts.cpu_flags)
    return {name: registry.availability(name, flags) for name in suite.variants}


def own_data_sets(suite: Suite) -> dict[str, Known]:
    """The data sets of a suite that are not shipped, by their text in the suite."""
    workloads = (item for item in suite.experiments if isinstance(item, WorkloadText))
    named = (data_set for experiment in workloads for data_set in experiment.data_sets or ())
    return {item.key: item.known for item in named if item.known.name not in DATA_SETS}


def settled_options(suite: Suite) -> dict[str, dict[str, Value]]:
    """The options of a suite that name files, with the values that follow from the files, by their
    text in the suite.
    """
    workloads = (item for item in suite.experiments if isinstance(item, WorkloadText))
    return {key: values for experiment in workloads for key, values in experiment.settled.items()}


def read(
    data_directory: DataDirectory,
    path: Path,
    variants: Sequence[str] = (),
    label: str | None = None,
    text: str | None = None,
) -> tuple[Suite, str, Catalogue, Host]:
    """The suite of a requested run, its text, the catalogue of its files, and this host. ``text`` replaces the suite at
    ``path``; files that it names are found as in that suite.

    Raises ``UserError`` for an invalid label, for an unreadable suite, for a variant that the suite lacks, and if the
    suite needs more processes than this host can hold.
    """
    if label is not None:
        run_names.label(label)
    catalogue = Catalogue(data_directory, os.environ, files.spelled_out(path).parent)
    text = files.text_of(path) if text is None else text
    suite = files.parse(text, str(files.spelled_out(path)), catalogue)
    require_variants(suite, variants)
    facts = probes.host_facts()
    require_room(suite, variants, facts)
    return suite, text, catalogue, facts


def new(
    data_directory: DataDirectory,
    path: Path,
    variants: Sequence[str] = (),
    label: str | None = None,
    text: str | None = None,
) -> Prepared:
    """Begin a run of a suite file, for all or some of its variants. Takes ``text`` and raises as :func:`read` does."""
    suite, text, catalogue, facts = read(data_directory, path, variants, label, text)
    own = own_data_sets(suite)
    run = replace(begun(suite, text, facts, str(uuid.uuid4())), label=label)
    planned = cases(suite, facts, variants)
    origin = os.fsencode(path).decode(errors="replace")  # a file's name may be invalid UTF-8
    catalogue.provide(data_set.name for data_set in own.values())
    whole = plan.make(run.id, suite, planned, capacity_of(facts).memory_mb)
    header = Header(
        run, origin, tuple(variants), own, catalogue.workloads, settled_options(suite), whole.outcomes
    )
    journal = Journal.create(data_directory, header)
    return Prepared(data_directory, Record(run.id, journal, members(whole)), suite, whole)


def require_room(suite: Suite, variants: Sequence[str], facts: Host) -> None:
    """Raise ``UserError`` if the suite, restricted to the variants, needs more concurrent processes than the host can
    hold.
    """
    capacity = capacity_of(facts)
    reason = plan.reason_against_suite(suite, available(suite, facts), variants, capacity)
    if reason is not None:
        raise UserError(reason)


def begun(suite: Suite, text: str, facts: Host, run_id: str) -> Run:
    """A run of a suite that begins now, on the host with these facts."""
    return Run(
        id=run_id,
        suite_name=suite.name,
        suite_text=text,
        seed=suite.seed,
        started_at=datetime.now(timezone.utc).isoformat(),
        host=facts,
        software_version=__version__,
    )


def resumed(data_directory: DataDirectory, run_id: str, path: Path | None = None) -> Prepared:
    """Resume a run, named by its id or the beginning of it, without the trials in its journal.

    Raises ``UserError`` on another host than the run began on, or if the suite at ``path`` differs: the results would
    not be comparable.
    """
    journal = Journal.reopen(data_directory, run_id)
    header, facts = journal.header, probes.host_facts()
    if path is not None and files.text_of(path) != header.run.suite_text:
        raise UserError(
            f"{path} differs from the suite of run {run_id} ({header.origin}, as it was then); "
            "omit the file to resume with the original suite, or start a new run"
        )
    if facts.fingerprint != header.run.host.fingerprint:
        raise UserError(
            f"run {run_id} belongs to host {header.run.host.hostname} ({header.run.host.cpu_model}); "
            "resume it there, or start a new run here"
        )
    user_workloads.install_copies(data_directory.workloads, header.workloads.values())
    remembered = Remembered(header.data_sets, header.workloads, header.options)
    suite = files.parse(header.run.suite_text, header.origin, remembered)
    Catalogue(data_directory, os.environ).provide(data_set.name for data_set in header.data_sets.values())
    require_room(suite, header.variants, facts)
    planned = cases(suite, facts, header.variants)
    done = {outcome.trial.id for outcome in journal.outcomes()}
    whole = plan.make(header.run.id, suite, planned, capacity_of(facts).memory_mb)
    rest = plan.without(whole, done)
    return Prepared(data_directory, Record(header.run.id, journal, members(rest)), suite, rest, len(done))


def require_variants(suite: Suite, variants: Sequence[str]) -> None:
    """Raise ``UserError`` for a variant that is not in the suite."""
    for name in variants:
        if name not in suite.variants:
            raise UserError(
                f"the suite has no variant {name!r}; variants: {', '.join(sorted(suite.variants))}"
            )


def cases(suite: Suite, facts: Host, variants: Sequence[str]) -> list[PlannedCase]:
    """The cases of a suite on a host, for some variants, or for all if none is named."""
    planned = plan.cases(suite, available(suite, facts), host_mb=capacity_of(facts).memory_mb)
    return [item for item in planned if not variants or item.case.variant in variants]


def execute(
    data_directory: DataDirectory,
    prepared: Prepared,
    on_outcome: OnOutcome,
    on_stage: OnStage = lambda _: None,
) -> Ended:
    """Execute the rest of a run and record it, or leave it in the journal while the database is away. Requires
    exclusive use of the data directory: see :func:`alone_on_host`.
    """
    with recording(data_directory, prepared) as recorder:
        measure(data_directory, prepared, recorder, on_outcome, on_stage)
        if recorder.finish():
            prepared.record.journal.retire(prepared.place)
    outcomes = tuple(archive.latest(prepared.record.journal.outcomes()))
    if recorder.last_error is None:
        predict(data_directory, prepared.run, outcomes)
    return Ended(prepared.run, outcomes, recorder.last_error)


def predict(data_directory: DataDirectory, run: Run, outcomes: Sequence[Outcome]) -> None:
    """Store what the model of costs predicts of a run's workloads, for its track record. Predictions that the database
    misses are made again by ``ciphermark db rebuild``.
    """
    if any(item.trial.case.operation in WORKLOADS for item in outcomes):
        from ciphermark_benchmark import track_record  # loads the model

        with suppress(DatabaseUnavailable), storage.connected(data_directory) as database:
            track_record.record(database, run, outcomes)


@contextmanager
def recording(data_directory: DataDirectory, prepared: Prepared) -> Iterator[Recorder]:
    """The recorder of a run, with the journal's outcomes recorded."""
    recorder = Recorder(prepared.record, lambda: storage.connected(data_directory))
    try:
        recorder.begin()
        yield recorder
    finally:
        recorder.close()


def measure(
    data_directory: DataDirectory,
    prepared: Prepared,
    recorder: Recorder,
    on_outcome: OnOutcome,
    on_stage: OnStage = lambda _: None,
) -> None:
    """Execute the remaining trials; every outcome is journaled before ``on_outcome`` receives it. ``on_stage`` is
    called after every stage of a workload.

    If a disk is full, including that of blobs, trials under way restart once there may be space, so that no measured
    time includes the wait.
    """

    def report(outcome: Outcome) -> None:
        recorder.report(outcome)
        on_outcome(outcome)

    def advance(stage: Advance) -> None:
        recorder.advance(stage)
        on_stage(stage)

    http_party.end_sessions(os.environ, http_party.runs_begun(prepared.place.pending))
    places = (data_directory.pending, data_directory.of_jobs.pending)
    Checkpoints(data_directory).sweep(
        lambda: [run for place in places for run in http_party.runs_begun(place)]
    )
    cpu_model = prepared.run.host.cpu_model
    is_used = bool(prepared.plan.blocks)  # measuring the baseline briefly loads a core
    level = (
        reference_kernel_baseline.looked_for(data_directory.folder, cpu_model)
        if is_used
        else ReferenceKernelBaseline()
    )
    try:
        executor = Executor(report, data_directory=data_directory, level=level, on_stage=advance)
        for pause_s in chain(_PAUSES_S, repeat(_PAUSES_S[-1])):
            try:
                executor.execute(plan.without(prepared.plan, recorder.done()), prepared.suite.seed)
                return
            except OSError as error:
                _wait(error, pause_s, prepared.record.journal.on_wait)
    finally:
        reference_kernel_baseline.remember(data_directory.folder, cpu_model, level)


def _wait(error: OSError, pause_s: float, on_wait: Callable[[str | None], None]) -> None:
    """Wait for a disk to become writable, and report the wait; raises the error if waiting does not help."""
    waited_for = WAITED_FOR.get(error.errno or 0)
    if waited_for is None:
        raise error
    where = f"{error.filename}: " if error.filename else ""
    on_wait(f"{where}{error.strerror}; waiting for {waited_for}, then the trial restarts")
    sleep(pause_s)
    on_wait(None)


@contextmanager
def alone_on_host(data_directory: DataDirectory, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold exclusive use of the data directory, since concurrent runs disturb each other. Waits until no command and no
    job executes a run in it; ``on_wait`` is called once before a wait. Raises ``UserError`` for an unusable folder.
    """
    try:
        private_folder(data_directory.folder)
        # Opened read-only, so that remounting the disk read-only need not wait for a run.
        lock = os.fdopen(os.open(data_directory.folder / "run.lock", os.O_RDONLY | os.O_CREAT, FILE_MODE))
    except OSError as error:
        raise UserError(
            f"{data_directory.folder}: cannot store data: {error.strerror}; set {DATA_VARIABLE} to another folder"
        ) from error
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
