"""Workloads with both parties in this process: keys are generated once, and outputs are checked before a time counts.

Times are those of the server's evaluation only, at 128 bits; constants are encoded in advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.results import BenchResult, Target
from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Handle
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import MAX_ERROR
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import Executed, InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended
from ciphermark_workloads.workload import Judgement

VARIANTS = ("seal", "seal-hexl")
THREADS = (1, 2)


class Parties(InProcess):
    """Client and server of a shipped workload; ``given`` is by default its input of seed 1."""

    def __init__(
        self,
        name: str,
        variant: str,
        scheme: Scheme = "ckks",
        options: Mapping[str, Value] | None = None,
        given: Any = None,
    ) -> None:
        workload = WORKLOADS[name].with_options(options or {})
        self.given = workload.input(1, None) if given is None else given
        spec = recommended(workload, scheme, registry.declaration(variant))
        super().__init__(workload, registry.load(variant), spec, self.given)

    def infer(self, given: Any, loops: int, threads: int) -> tuple[Executed, Judgement]:
        """Execute the last stage, which returns the result; raises ``UserError`` for an incorrect one."""
        stage = self.executed(given, loops, threads)[self.workload.stages[-1].name]
        return stage, self.require_right(stage.outputs, given)

    def require_right(self, outputs: Sequence[Handle], given: Any) -> Judgement:
        """The judgement of the server's outputs; raises ``UserError`` where they are incorrect."""
        judgement = self.judged(self.output(outputs, given), given)
        if judgement.complaint is not None:
            raise UserError(f"{self.workload.name}: {judgement.complaint}")
        return judgement


@dataclass(frozen=True, slots=True)
class Case:
    """The maximum seconds of a workload with HEXL and two threads, and published results."""

    name: str
    target_s: float
    published_s: float
    loops: int = 11

    def results(self, parties: Parties, variant: str) -> Iterator[BenchResult]:
        """Yield one result per number of threads, with the last judgement in its facts."""
        for threads in THREADS:
            stage, judgement = parties.infer(parties.given, self.loops, threads)
            seconds = median(stage.evaluate_s)
            is_goal = (variant, threads) == (VARIANTS[-1], THREADS[-1])
            target = Target(most=self.target_s) if is_goal else None
            beside = f"published {self.published_s} s: {self.published_s / seconds:.0f} times it"
            note = f"constants {stage.encode_s:.3f} s; {beside}"
            name = f"{self.name}, {variant}, {threads} threads"
            facts = {MAX_ERROR.name: judgement.accuracy.max_abs_error, **judgement.results}
            yield BenchResult(name, seconds, "s", target, note, facts)
