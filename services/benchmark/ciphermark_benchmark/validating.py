"""A suite's programs predicted from frozen cost tables, then measured: the rows of the model's validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_analysis.scores import Score, score
from ciphermark_benchmark import predicting
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Case
from ciphermark_db.database import Database
from ciphermark_model.interpolation import Costs
from ciphermark_model.prediction import EVALUATE, Prediction, predict, published_rule
from ciphermark_model.table import CostTable
from ciphermark_model.validation import Axis, Criterion, Measured, Proof, Row, held_out
from ciphermark_present import formats
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.options import of_case

CRITERION = Criterion()
_AXES: Mapping[Axis, str] = {"ring_dimension": "every second N", "primes": "every second level"}
_DIGEST = 12  # characters of a digest in texts


@dataclass(frozen=True, slots=True)
class Forecast:
    """A case before it is measured: its prediction and the time by the published rule, or the reason why there is
    none.
    """

    case: Case
    prediction: Prediction | None = None
    published_s: float | None = None
    failure: str | None = None


def frozen(tables: Mapping[str, CostTable], digests: Sequence[str]) -> None:
    """Raise ``UserError`` unless every table with a wanted digest, ``VARIANT:DIGEST``, has it."""
    for wanted in digests:
        variant, _, digest = wanted.partition(":")
        if variant not in tables or not digest:
            raise UserError(f"--table {wanted}: write VARIANT:DIGEST; variants are {', '.join(tables)}")
        if not tables[variant].digest.startswith(digest):
            raise UserError(
                f"--table {wanted}: the cost table of {variant} is {tables[variant].digest[:_DIGEST]} now"
            )


def forecasts(planned: Iterable[PlannedCase], tables: Mapping[str, CostTable]) -> list[Forecast]:
    """What the model says of workloads that can run here, from the cost tables by variant."""
    return [_forecast(item, tables) for item in planned if item.case.operation in WORKLOADS]


def _forecast(item: PlannedCase, tables: Mapping[str, CostTable]) -> Forecast:
    case, table = item.case, tables.get(item.case.variant)
    if item.reason is not None or table is None:
        return Forecast(case, failure=item.reason or f"no cost table of {case.variant}")
    workload = WORKLOADS[case.operation].with_options(of_case(case.dimensions))
    try:
        subject = predicting.subject(workload, case.parameters, case.variant)
    except Unsupported as error:
        return Forecast(case, failure=str(error))
    costs = Costs(table)
    prediction = predict(subject, costs, case.threads)
    return Forecast(case, prediction, published_rule(subject, costs, case.threads))


def rows(predictions: Iterable[Forecast], measured: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows of forecasts and the report ``server_times`` of their run. The time of a case is the sum of its stages,
    and so are the bounds of its interval.
    """
    by_case: dict[str, list[Mapping[str, Any]]] = {}
    for each in measured:
        by_case.setdefault(each["case_key"], []).append(each)
    return [_row(forecast, by_case.get(forecast.case.key, [])) for forecast in predictions]


def _row(forecast: Forecast, stages: Sequence[Mapping[str, Any]]) -> Row:
    case, prediction = forecast.case, forecast.prediction
    failed = next((each for each in stages if each["status"] != "ok"), None)
    failure = forecast.failure if failed is None else f"{failed['status']}: {failed['error']}"
    return Row(
        case_key=case.key,
        place=_place(case),
        predicted=None if prediction is None else prediction.evaluation,
        published_s=forecast.published_s,
        measured=_measured(stages) if stages and failed is None else None,
        failure=failure,
        uncovered=_lacking(prediction),
    )


def _lacking(prediction: Prediction | None) -> tuple[str, ...]:
    """The costs that the evaluation lacks; those of other steps have no part in a row."""
    every = () if prediction is None else prediction.uncovered
    return tuple(text for text in every if text.startswith(f"{EVALUATE}: "))


def _measured(stages: Sequence[Mapping[str, Any]]) -> Measured:
    return Measured(
        median_s=sum(each["median"] for each in stages),
        low_s=sum(_or_nan(each["ci_low"]) for each in stages),
        high_s=sum(_or_nan(each["ci_high"]) for each in stages),
        executions=min(each["n"] for each in stages),
        workers=min(each["workers"] for each in stages),
    )


def _or_nan(value: float | None) -> float:
    """A bound, or NaN where there are too few samples for one: no interval is within the criterion then."""
    return float("nan") if value is None else value


def _place(case: Case) -> tuple[str, ...]:
    """The program with its options, N, the number of data primes, the variant and its threads."""
    options = ", ".join(f"{name} {value}" for name, value in of_case(case.dimensions).items())
    bits = case.parameters.modulus_bits
    primes = "" if bits is None else str(len(bits) - 1)
    program = f"{case.operation} ({options})" if options else case.operation
    return program, str(case.parameters.ring_dimension), primes, case.variant, str(case.threads)


def measured(database: Database, run_id: str) -> list[dict[str, Any]]:
    """The report of :func:`rows` for a run."""
    return database.report("server_times", run_id=run_id)


_PLACE = (
    Head("program", is_prose=True, min_width=16),
    Head("N", is_number=True),
    Head("data primes", is_number=True, drop=2),
    Head("variant"),
    Head("threads", is_number=True),
)


def printed_tables(tables: Mapping[str, CostTable]) -> Printed:
    """The cost tables with their digests, by which they are frozen."""
    return Printed(
        "Cost tables",
        "Measured times of single operations. A digest changes with any of them.",
        (Head("variant"), Head("digest"), Head("entries", is_number=True)),
        tuple(
            (variant, table.digest[:_DIGEST], f"{len(table.entries):,}") for variant, table in tables.items()
        ),
    )


def printed_held_out(tables: Mapping[str, CostTable]) -> Printed:
    """The errors of costs that are left out of the tables and predicted from the rest."""
    heads = ("costs", "not covered", "MAPE", "worst", "bias", "within 3%", "within 10%")
    lines = []
    for variant, table in tables.items():
        for axis, name in _AXES.items():
            result = held_out(table, axis)
            own = score([*result.errors.values()])
            errors = ("",) * 5 if own is None else _score(own)[1:]
            lines.append((variant, name, f"{len(result.errors):,}", f"{result.uncovered:,}", *errors))
    return Printed(
        "Costs left out of the tables",
        "Predicted from the other costs of the same table. The smallest and the largest N and level stay.",
        (Head("variant"), Head("left out"), *(Head(name, is_number=True) for name in heads)),
        tuple(lines),
        keys=2,
    )


def printed_forecasts(predictions: Sequence[Forecast]) -> Printed:
    """The predictions, before anything is measured."""
    heads = (
        *_PLACE,
        Head("predicted", is_number=True),
        Head("80% interval", is_number=True),
        Head("not predicted", is_prose=True),
    )
    return Printed(
        "Predictions",
        f"Server's evaluation. Rows count with {CRITERION}.",
        heads,
        tuple(_told(each) for each in predictions),
        keys=len(_PLACE),
    )


def _told(forecast: Forecast) -> tuple[str, ...]:
    if forecast.prediction is None:
        return (*_place(forecast.case), "", "", forecast.failure or "")
    own = forecast.prediction.evaluation
    time, interval = formats.time_with_interval(own.value, own.low, own.high)
    return (*_place(forecast.case), time, interval, ", ".join(_lacking(forecast.prediction)))


def printed(result: Proof) -> Iterator[Printed]:
    """The scores of both rules, every row that counts with its signed errors, and every other row with the reason."""
    yield _scores(result)
    yield _errors(result)
    if result.excluded:
        yield Printed(
            "Rows that do not count",
            f"{len(result.excluded)} of {len(result.excluded) + len(result.counted)} rows",
            (*_PLACE, Head("error", is_number=True), Head("reason", is_prose=True)),
            tuple((*row.place, _signed(row.error), reason) for row, reason in result.excluded),
            keys=len(_PLACE),
        )


def _scores(result: Proof) -> Printed:
    scores = {
        "model": result.own,
        "published rule": result.published,
        "model, every measured row": result.every,
    }
    heads = ("rows", "MAPE", "worst", "bias", "within 3%", "within 10%", "in the 80% interval")
    return Printed(
        "Errors of predictions",
        f"Rows count with {result.criterion}.",
        (Head("rule"), *(Head(name, is_number=True) for name in heads)),
        tuple(
            (name, *_score(score), formats.percent(result.coverage) if name == "model" else "")
            for name, score in scores.items()
            if score is not None
        ),
        explained="An error is predicted divided by measured, less one. Bias is its mean, MAPE that of absolute "
        "errors. The published rule adds counts times top-level times of the operations.",
    )


def _score(score: Score) -> tuple[str, ...]:
    sizes = (f"{score.mape:.1%}", _signed(score.worst), _signed(score.bias))
    return (str(score.rows), *sizes, formats.percent(score.within_close), formats.percent(score.within_fair))


def _errors(result: Proof) -> Printed:
    heads = (
        Head("measured", is_number=True),
        Head("predicted", is_number=True),
        Head("80% interval", is_number=True, drop=1),
        Head("error", is_number=True),
        Head("error of the published rule", is_number=True),
    )
    return Printed(
        "Every row that counts",
        "Server's evaluation, medians",
        (*_PLACE, *heads),
        tuple(_error(row) for row in result.counted),
        keys=len(_PLACE),
    )


def _error(row: Row) -> tuple[str, ...]:
    assert row.measured is not None
    assert row.predicted is not None
    time, interval = formats.time_with_interval(row.predicted.value, row.predicted.low, row.predicted.high)
    errors = _signed(row.error), _signed(row.published_error)
    return (*row.place, formats.brief_seconds(row.measured.median_s), time, interval, *errors)


def _signed(error: float | None) -> str:
    return "" if error is None else f"{error:+.1%}"
