"""The verdicts of a run: how often each variant is the fastest, and highlights."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_core import security
from ciphermark_dashboards.store import Store
from ciphermark_present import highlights, query
from ciphermark_present.catalogue import ranking
from ciphermark_present.catalogue.first_executions import FIRST_EXECUTIONS
from ciphermark_present.highlights import Evidence
from ciphermark_present.printed import Wanted
from ciphermark_present.query import Row

_PHASE = "evaluate"  # of first executions


def table(rows: Sequence[Row]) -> security.Table:
    """The security table of the run's suite, by the rows of the block ``choices``."""
    return max((row["security_table"] for row in rows), default=security.OLDEST)


def of_run(store: Store, run_id: str, times: str) -> list[str]:
    """How often each variant is the fastest, in the words of the command line, and the run's highlights."""
    wanted = Wanted(table=table(store.ask("choices", {"run_id": run_id}).mappings))
    answers = _answers(store, run_id, wanted, times)
    timings = [ranking.timed(answer) for answer in answers]
    evidence = Evidence(
        [row for same in ranking.contests(timings, wanted) for row in same],
        timings[ranking.FIGURES.index(ranking.SPEEDUPS)],
        store.answer(query.of(FIRST_EXECUTIONS, run_id, {"phase": _PHASE, "times": times})).mappings,
        wraps={},  # only adapters know these
    )
    return [*ranking.of_run(answers, wanted), *highlights.highlights(evidence)]


def _answers(store: Store, run_id: str, wanted: Wanted, times: str) -> list[list[Row]]:
    chosen = {"across_security_levels": False, "times": times, query.TABLE: wanted.table}
    return [[*store.answer(query.of(figure, run_id, chosen)).mappings] for figure in ranking.OF_RUN]
