"""Predicts the workloads of runs from cost tables of other runs, and stores the predictions next to the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ciphermark_benchmark import archive, predicting
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Journal
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Case, Outcome
from ciphermark_core.run import Host, Run
from ciphermark_db.database import Database
from ciphermark_model.prediction import Prediction, Share, predict, total
from ciphermark_model.quantity import Quantity
from ciphermark_model.table import CostTable
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.options import INPUTS_PER_PASS
from ciphermark_workloads.options import of_case as options_of


def record(database: Database, run: Run, outcomes: Iterable[Outcome]) -> int:
    """Predict the correct cases of a run that are workloads known here. Stores the predictions; returns their number.

    A variant without a cost table of the run's host has none, and neither has a pass of several inputs.
    """
    cases = {item.trial.case.key: item.trial.case for item in outcomes if item.status == "ok"}
    tables: dict[str, CostTable | None] = {}
    stored = 0
    for key, case in cases.items():
        if case.operation not in WORKLOADS or (INPUTS_PER_PASS.of(case.dimensions) or 1) > 1:
            continue
        if case.variant not in tables:
            tables[case.variant] = _table(database, run.host, case.variant, run.id)
        prediction = _prediction(case, tables[case.variant])
        if prediction is not None:
            database.record_prediction(run.id, key, [*_results(prediction)], _shares(prediction))
            stored += 1
    return stored


def renewed(data_directory: DataDirectory, database: Database, run_id: str) -> int:
    """As :func:`record`, from the journal or the archive of the run in the data directory; 0 without one. Computations
    of users' files count where the data directory has their copies; archives of others never execute any.
    """
    for place in (data_directory, data_directory.of_jobs):
        path = place.recorded / f"{run_id}.jsonl"
        if path.is_file():
            journal = Journal.read(path)
            with suppress(UserError):  # a copy is gone, or was changed
                user_workloads.install_copies(place.workloads, journal.header.workloads.values())
            return record(database, journal.header.run, journal.outcomes())
    path = data_directory.imported / f"{run_id}.jsonl.xz"
    if not path.is_file():
        return 0
    header, outcomes = archive.read(path)
    return record(database, header.run, outcomes)


def _table(database: Database, host: Host, variant: str, run_id: str) -> CostTable | None:
    try:
        return predicting.cost_table(database, host, variant, but_of=run_id)
    except UserError:
        return None


def _prediction(case: Case, table: CostTable | None) -> Prediction | None:
    if table is None:
        return None
    workload = WORKLOADS[case.operation].with_options(options_of(case.dimensions))
    try:
        about = predicting.subject(workload, case.parameters, case.variant)
    except Unsupported:
        return None
    return predict(about, table, case.threads)


def _results(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """The rows of steps, of both parties together as results are: each of them serializes. Those of the evaluation name
    what all of it lacks.
    """
    steps: dict[tuple[str, str], list[Quantity]] = {}
    for (_, stage, step), own in prediction.times_s.items():
        steps.setdefault((stage, step), []).append(own)
    for (stage, step), several in steps.items():
        seconds = total(several)
        lacking = [text for text in prediction.uncovered if text.startswith(f"{step}: ")]
        yield {
            "stage": stage,
            "step": step,
            "metric": "time",
            "predicted": seconds.value,
            "predicted_low": seconds.low,
            "predicted_high": seconds.high,
            "uncovered": lacking,
            "cost_table": prediction.table,
        }


def _shares(prediction: Prediction) -> list[dict[str, Any]]:
    """The parts of the evaluation by operation."""
    by_operation: dict[str, list[Share]] = {}
    for share in prediction.shares:
        by_operation.setdefault(share.operation, []).append(share)
    return [
        {
            "operation": name,
            "occurrences": sum(share.count for share in own),
            "predicted_s": sum(share.seconds for share in own),
        }
        for name, own in by_operation.items()
    ]
