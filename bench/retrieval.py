"""Section ``retrieval``: private retrieval at 128 bits with HEXL, both parties in this process.

Times are those of the server's answer to one query over a prepared database, with one thread and two threads
interleaved. Every answer is compared with the element.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

from bench.results import BenchResult, Progress, Target
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
_SCALING = Target(least=1.7)
_ENCODED = Target(least=150)
_INDEX: dict[str, Value] = {"elements": 1 << 16, "element_bytes": 256}
_WANTED = 64


# Workload, elements, bytes per element, maximum seconds of an answer with all threads, answers.
_CASES = (
    ("fast-pir", 1 << 16, 256, 0.015, _LOOPS),
    ("seal-pir", 1 << 16, 288, 0.06, _LOOPS),
    ("mul-pir", 1 << 16, 288, 0.3, _LOOPS),
    ("fast-pir", 1 << 20, 256, 0.15, 7),
)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Answers and the speedup of threads; then keywords and batches against an index."""
    for workload, elements, element_bytes, max_s, loops in _CASES:
        name = f"{workload}, {elements} × {element_bytes} B"
        progress(name)
        prepared = _Prepared(workload, {"elements": elements, "element_bytes": element_bytes})
        yield from prepared.answers(name, max_s, loops)
        encoded = elements * element_bytes / prepared.encode_s / 1e6
        note = "bytes of the database, once it is laid out"
        yield BenchResult(f"{name}, encoded with 2 threads", encoded, "MB/s", _ENCODED, note)
    progress("keywords and batches beside an index")
    yield from _beside_an_index()


def _beside_an_index() -> Iterator[BenchResult]:
    of_keywords = {"records": _INDEX["elements"], "value_bytes": _INDEX["element_bytes"]}
    index, keyword = _Prepared("fast-pir", _INDEX), _Prepared("keyword-pir", of_keywords)
    batch = _Prepared("batch-pir", {**_INDEX, "wanted": _WANTED})
    times = [[each.answered_s(_THREADS[-1]) for each in (index, keyword, batch)] for _ in range(_LOOPS)]
    keywords = median(keyword_s / index_s for index_s, keyword_s, _ in times)
    yield BenchResult("keyword-pir against fast-pir, 65536 × 256 B", keywords, "×", Target(most=1.5))
    shares = median(batch_s / _WANTED / index_s for index_s, _, batch_s in times)
    name = f"an element of batch-pir's {_WANTED} against fast-pir, 65536 × 256 B"
    yield BenchResult(name, shares, "×", Target(most=1 / 8))


class _Prepared(InProcess):
    """Both parties of a workload, with generated keys, an encoded database and a query, whose answer is correct."""

    def __init__(self, name: str, options: dict[str, Value]) -> None:
        workload = WORKLOADS[name].with_options(options)
        given = workload.input(1, None)
        spec = recommended(workload, "bfv", registry.declaration(_VARIANT))
        super().__init__(workload, registry.load(_VARIANT), spec, given)
        (stage,) = workload.server_stages
        traced, evaluator = self.programs[stage.name].traced, self.evaluator
        start = perf_counter()
        prepared = evaluator.prepare_constants(traced.program, traced.constants, _THREADS[-1])
        self.encode_s = perf_counter() - start
        query = self.operands(stage, given, [])
        self._bound: dict[int, Bound] = {
            threads: evaluator.bind_program(traced.program, query, prepared, threads) for threads in _THREADS
        }
        for bound in self._bound.values():
            bound.run(1)
            complaint = self.judged(self.output(bound.results(), given), given).complaint
            if complaint is not None:
                raise UserError(f"{name}: {complaint}")

    def answers(self, name: str, max_s: float, loops: int) -> Iterator[BenchResult]:
        """The time of an answer, and the speedup of the second thread."""
        times = [[self.answered_s(threads) for threads in _THREADS] for _ in range(loops)]
        one_s, two_s = zip(*times, strict=True)
        one, two = median(one_s), median(two_s)
        note = f"least {min(two_s) * 1e3:.1f} ms; one thread {one * 1e3:.1f} ms"
        yield BenchResult(f"{name}, answer, 2 threads", two, "s", Target(most=max_s), note)
        note = f"of the least times, which others disturb less: {min(one_s) / min(two_s):.2f}"
        yield BenchResult(f"{name}, 2 threads against 1", one / two, "×", _SCALING, note)

    def answered_s(self, threads: int) -> float:
        """Seconds of an answer."""
        return self._bound[threads].run(1) / 1e9
