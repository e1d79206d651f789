"""A worker's answer to each request, independent of pipes and processes."""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from time import perf_counter

from ciphermark_adapters import registry
from ciphermark_core.errors import Exhausted, Unsupported
from ciphermark_core.model import LibraryInfo, Outcome, Sample, Status, Trial
from ciphermark_measure import confinement, profiling, protocol
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import KINDS, Experiment, Findings, Setting, repetition
from ciphermark_measure.experiments.base import Sampled, alone
from ciphermark_measure.interference import reference_kernel
from ciphermark_measure.interference.cpu_steal import CpuSteal
from ciphermark_measure.interference.host_state import Gate, counts
from ciphermark_measure.sampling import empty_loop_ns
from ciphermark_measure.session import Session, library_of, prepare
from ciphermark_workloads import user_workloads


class Service:
    """Prepares once, then opens, samples and closes one trial after another."""

    clock = MonotonicClock()

    def __init__(self) -> None:
        self._session: Session | None = None
        self._library: LibraryInfo | None = None
        self._resolution_ns = resolution_ns(self.clock)
        self._experiment: Experiment | None = None
        self._closed: Experiment | None = None
        self._trial: Trial | None = None
        self._started_at = ""
        self._started = 0.0
        self._gate = (
            Gate()
            if reference_kernel.reason_against()
            else Gate(reference_kernel.ReferenceKernel(), self.clock, memory=reference_kernel.Memory())
        )
        self._steal = CpuSteal()
        self._pages: confinement.Pages = []

    def load(self, variant: str) -> None:
        """Load the library and the generator of operands for the next requests, while other workers start. Failures are
        reported by the request that meets them.
        """
        import numpy.random  # noqa: F401  # numpy defers it to the first use, too late to overlap

        with suppress(Exception):
            self._library = library_of(variant)

    def answer(self, request: protocol.Request) -> protocol.Reply:
        """Answer one request; a failure of the library becomes ``Refused``."""
        answers: dict[type, Callable[..., protocol.Reply]] = {
            protocol.Prepare: self._prepare,
            protocol.Open: self._open,
            protocol.Turn: self._turn,
            protocol.Close: self._close,
            protocol.Profile: self._profile,
            protocol.Branch: self._branch,
            protocol.Memory: self._memory,
            protocol.Join: self._join,
            protocol.Footprint: self._footprint,
        }
        try:
            return answers[type(request)](request)
        except Exception as error:  # a library may throw anything: it costs one trial
            self._experiment = None
            return refusal(error)

    def _prepare(self, request: protocol.Prepare) -> protocol.Reply:
        session = self._with_keys(request)
        self._library = library = self._library or library_of(request.variant)
        facts = {
            "keys_s": session.keys_s,
            "empty_loop_ns": empty_loop_ns(session.evaluator.empty()),
            "clock_resolution_ns": float(self._resolution_ns),
        }
        return protocol.Prepared(library, session.parameters, facts)

    def _with_keys(self, request: protocol.Prepare) -> Session:
        self._session = session = prepare(request.variant, request.parameters, request.keys)
        gc.collect()
        gc.freeze()  # these objects stay: collections between trials can skip them
        return session

    def _open(self, request: protocol.Open) -> protocol.Reply:
        self._trial, self._closed = request.trial, None
        self._started_at = datetime.now(timezone.utc).isoformat()
        self._started = perf_counter()
        self._gate.begin_trial(request.baseline_ns)
        self._steal = CpuSteal()
        self._experiment = self._made(request.trial)
        gc.collect()
        self._experiment.open()
        return protocol.Turned(is_done=False)

    def _turn(self, request: protocol.Turn) -> protocol.Reply:
        assert self._experiment is not None
        return protocol.Turned(self._experiment.turn())

    def _close(self, request: protocol.Close) -> protocol.Reply:
        assert self._experiment is not None
        assert self._trial is not None
        self._gate.settle()
        findings = self._experiment.close()
        self._closed, self._experiment = self._experiment, None
        return protocol.Closed(self._outcome(self._trial, findings), self.clock.now_ns())

    def _profile(self, request: protocol.Profile) -> protocol.Reply:
        assert self._trial is not None
        phases = self._closed.phases if isinstance(self._closed, Sampled) else ()
        return profiling.profiled(phases, self._trial.budget.probes)

    def _branch(self, request: protocol.Branch) -> protocol.Reply:
        """Prepare in a fork where that is safe, so that this process stays without keys for the next request."""
        registry.load(request.preparation.variant)
        if confinement.can_fork() and not confinement.branch():
            return protocol.Joined()
        peaks = alone("keygen", lambda: self._with_keys(request.preparation))
        can_fork = confinement.can_fork()
        if can_fork:
            confinement.prepare_forks()
        return protocol.Branched(tuple(peaks), can_fork)

    def _join(self, request: protocol.Join) -> protocol.Reply:
        os._exit(0)  # cleaning up is the worker's task

    def _memory(self, request: protocol.Memory) -> protocol.Reply:
        """Measure in a fork where that is safe: libraries keep memory in pools, so the next trial would begin with a
        larger heap. The fork returns its peaks of encryption and decryption.
        """
        assert self._session is not None
        if not confinement.can_fork():
            reply, _ = self._peaks(request.trial)
            gc.collect()  # what a fork takes with it
            return reply
        pages = self._pages = self._pages or confinement.file_pages()

        def measured() -> tuple[protocol.Reply, dict[Hashable, list[Sample]]]:
            confinement.map_again(pages)
            return self._peaks(request.trial)

        reply, learned = confinement.forked(measured, "measures the memory")
        self._session.client_peaks.update(learned)
        return reply

    def _peaks(self, trial: Trial) -> tuple[protocol.Reply, dict[Hashable, list[Sample]]]:
        """The reply, made in the process where a failure happens, since its traceback reaches no other process."""
        assert self._session is not None
        try:
            reply: protocol.Reply = protocol.Peaks(tuple(self._made(trial).memory()))
        except Exception as error:  # a library may throw anything
            reply = refusal(error)
        return reply, self._session.client_peaks

    def _footprint(self, request: protocol.Footprint) -> protocol.Reply:
        return protocol.Peaks(tuple(repetition.footprint(request.trial, request.keys)))

    def _made(self, trial: Trial) -> Experiment:
        assert self._session is not None
        setting = Setting(self._session, trial, self.clock, self._resolution_ns, self._gate)
        return KINDS[trial.case.experiment].experiment(setting)

    def _outcome(self, trial: Trial, findings: Findings) -> Outcome:
        assert self._session is not None
        return Outcome(
            trial=trial,
            status=findings.status,
            started_at=self._started_at,
            duration_s=perf_counter() - self._started,
            samples=findings.samples,
            accuracy=findings.accuracy,
            parameters=self._session.parameters,
            library=self._library,
            error=findings.error,
            facts=findings.facts | self._state(findings.samples),
        )

    def _state(self, samples: Sequence[Sample]) -> dict[str, float]:
        """The state of the host around the samples of the trial, as facts."""
        gate_facts = self._gate.facts()
        return self._steal.facts() | (gate_facts | counts(samples) if gate_facts else {})


def refusal(error: Exception) -> protocol.Refused:
    """The reply for an exception: its status, with the library's own text."""
    text, where = str(error) or type(error).__name__, user_workloads.innermost(error)
    status: Status = "crashed"
    if isinstance(error, Unsupported):
        status = "unsupported"
    elif isinstance(error, Exhausted):
        status = "budget_exhausted"
    elif isinstance(error, MemoryError) or "bad_alloc" in text:
        status, text = "out_of_memory", f"the memory limit was reached: {text}"
    else:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {text} (in {where or frame.name})"
        where = None
    return protocol.Refused(status, f"{where}: {text}" if where else text, type(error).__name__)
