"""Section ``retrieval``: private retrieval at 128 bits with HEXL, both parties in this process.

Times are the server's answer to one query, over a database that was prepared before: with one thread and with two in
turns. Every answer is compared with the element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from bench.figures import Figure, Progress, Target
from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Bound
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended

_VARIANT = "seal-hexl"
_THREADS = (1, 2)
_LOOPS = 15
_PREPARED_BYTES_PER_S = 150e6
_SCALING = 1.7
_KEYWORD_RATIO, _BATCH_SHARE = 1.5, 1 / 8
_INDEX: dict[str, Value] = {"elements": 1 << 16, "element_bytes": 256}


@dataclass(frozen=True, slots=True)
class _Case:
    """``target_s``: of an answer with all threads."""

    name: str
    options: dict[str, Value]
    target_s: float
    loops: int = _LOOPS

    @property
    def told(self) -> str:
        return f"{self.name}, {self.options['elements']} × {self.options['element_bytes']} B"


_CASES = (
    _Case("fast-pir", _INDEX, 0.015),
    _Case("seal-pir", {"elements": 1 << 16, "element_bytes": 288}, 0.06),
    _Case("mul-pir", {"elements": 1 << 16, "element_bytes": 288}, 0.3),
    _Case("fast-pir", {"elements": 1 << 20, "element_bytes": 256}, 0.15, loops=7),
)


def section(progress: Progress) -> Iterator[Figure]:
    """Answers and what threads bring; then keywords and batches beside an index."""
    for case in _CASES:
        progress(case.told)
        yield from _answers(case)
    progress("keywords and batches beside an index")
    yield from _beside_an_index()


def _answers(case: _Case) -> Iterator[Figure]:
    prepared = _Prepared(case.name, case.options)
    times: dict[int, list[float]] = {threads: [] for threads in _THREADS}
    for _ in range(case.loops):
        for threads in _THREADS:
            times[threads].append(prepared.answered_s(threads))
    one, two = (median(times[threads]) for threads in _THREADS)
    notes = f"least {min(times[_THREADS[-1]]) * 1e3:.1f} ms; one thread {one * 1e3:.1f} ms"
    yield Figure("retrieval", f"{case.told}, answer, 2 threads", two, "s", Target(most=case.target_s), notes)
    least = min(times[_THREADS[0]]) / min(times[_THREADS[-1]])
    yield Figure(
        "retrieval",
        f"{case.told}, 2 threads against 1",
        one / two,
        "×",
        Target(least=_SCALING),
        f"of the least times, which others disturb less: {least:.2f}",
    )
    database_bytes = int(case.options["elements"]) * int(case.options["element_bytes"])
    yield Figure(
        "retrieval",
        f"{case.told}, encoded with 2 threads",
        database_bytes / prepared.encode_s / 1e6,
        "MB/s",
        Target(least=_PREPARED_BYTES_PER_S / 1e6),
        "bytes of the database, once it is laid out",
    )


def _beside_an_index() -> Iterator[Figure]:
    index = _Prepared("fast-pir", _INDEX)
    keyword = _Prepared(
        "keyword-pir", {"records": _INDEX["elements"], "value_bytes": _INDEX["element_bytes"]}
    )
    batch = _Prepared("batch-pir", {**_INDEX, "wanted": 64})
    threads = _THREADS[-1]
    times = [tuple(each.answered_s(threads) for each in (index, keyword, batch)) for _ in range(_LOOPS)]
    keywords = median(keyword_s / index_s for index_s, keyword_s, _ in times)
    shares = median(batch_s / 64 / index_s for index_s, _, batch_s in times)
    yield Figure(
        "retrieval", "keyword-pir against fast-pir, 65536 × 256 B", keywords, "×", Target(most=_KEYWORD_RATIO)
    )
    yield Figure(
        "retrieval",
        "an element of batch-pir's 64 against fast-pir, 65536 × 256 B",
        shares,
        "×",
        Target(most=_BATCH_SHARE),
    )


class _Prepared:
    """A workload whose keys are made, whose database is encoded and whose query is there."""

    def __init__(self, name: str, options: dict[str, Value]) -> None:
        workload = WORKLOADS[name].with_options(options)
        self._given = workload.input(1, None)
        spec = recommended(workload, "bfv", registry.declaration(_VARIANT))
        self.both = InProcess(workload, registry.load(_VARIANT), spec, self._given)
        (stage,) = workload.server_stages
        traced, evaluator = self.both.programs[stage.name].traced, self.both.evaluator
        start = perf_counter()
        prepared = evaluator.prepare_constants(traced.program, traced.constants, _THREADS[-1])
        self.encode_s = perf_counter() - start
        query = self.both.operands(stage, self._given, [])
        self._bound: dict[int, Bound] = {
            threads: evaluator.bind_program(traced.program, query, prepared, threads) for threads in _THREADS
        }
        for bound in self._bound.values():
            bound.run(1)
            self._require_right(bound)

    def answered_s(self, threads: int) -> float:
        """Seconds of an answer."""
        return self._bound[threads].run(1) / 1e9

    def _require_right(self, bound: Bound) -> None:
        judgement = self.both.judged(self.both.output(bound.results(), self._given), self._given)
        if judgement.complaint is not None:
            raise UserError(f"{self.both.workload.name}: {judgement.complaint}")
