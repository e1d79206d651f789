"""The figure of two runs, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_core.metrics import METRICS
from ciphermark_db.comparison import COLUMNS, settled
from ciphermark_db.pairing import paired
from ciphermark_db.two_runs import TOGETHER, judgements
from ciphermark_present import formats
from ciphermark_present.answer import Answer, Row
from ciphermark_present.catalogue.columns import OPERATION, SCHEME, SIZE, VARIANT, N
from ciphermark_present.figure import Column, Figure

INCOMPARABLE = "not comparable"
REGRESSIONS = ("failed", "slower", "worse")
GAINS = ("mended", "faster", "better")
_SAME = ("no difference", "unchanged")
_ORDER = (*REGRESSIONS, "changed", *GAINS, TOGETHER, "too few samples", *_SAME, INCOMPARABLE)
_SHOWN = {
    "regressions": REGRESSIONS,
    "changed": (*REGRESSIONS, "changed", *GAINS),
    "unchanged": _SAME,
    INCOMPARABLE: (INCOMPARABLE,),
}


def judged(answers: Sequence[Answer], params: Row) -> Answer:
    """The figures of run a and run b side by side with their judgements, what changed first. Pure."""
    rows = []
    known = settled(paired(*(answer.mappings for answer in answers)))
    for row, judgement in zip(known, judgements(known, params["levels"] == "any"), strict=True):
        of_run = params["run_b"] if row["b_status"] is not None else params["run_a"]
        rows.append((*judgement, of_run))
    place = COLUMNS.index("verdict")
    shown = _SHOWN.get(params["show"], _ORDER)
    kept = [row for row in rows if kind_of(row[place]) in shown]
    kept.sort(key=lambda row: _ORDER.index(kind_of(row[place])))
    return Answer((*COLUMNS, "run_id"), kept)


def kind_of(verdict: str) -> str:
    """The verdict without its reason."""
    return verdict.partition(":")[0]


def counted(rows: Sequence[Row]) -> Iterator[str]:
    """How many cases were judged how, in the order of importance."""
    counts = Counter(kind_of(row["verdict"]) for row in rows)
    yield from (f"{counts[kind]} {kind}" for kind in _ORDER if counts[kind])


def _verdict(value: str) -> str:
    kind = kind_of(value)
    if kind in REGRESSIONS:
        return f"▼ {value}: a regression" if kind == value else f"▼ {value}"
    return f"▲ {value}" if kind in GAINS else value


def _text(value: Any) -> str:
    return value or ""


def _bits(metric: str) -> str:
    """By how many bits figures of a metric may differ and show no difference."""
    return f"{METRICS[metric].floor:g} bits"


TWO_RUNS = Figure(
    name="two-runs",
    title="Case by case",
    lead=(
        "Run a divided by run b: above 1, b is faster or smaller. Times whose interval does not clear the noise floor "
        "of 5 %, also where it is widened by what the hosts' anchors differ, show no difference; neither do memory "
        f"and sizes within 5 %, nor noise budgets within {_bits('noise_budget')} and precision within "
        f"{_bits('precision')}. What failed in b alone is a regression. The SQL has the figures that are judged here."
    ),
    view="run_figures",
    narrowed_by=(),
    order="case_key, phase, metric, repetitions",
    chart="ratios.two_runs",
    combine=judged,
    columns=(
        Column("verdict", "In b", _verdict),
        VARIANT,
        SCHEME,
        N,
        Column("experiment", "Experiment"),
        OPERATION,
        SIZE,
        Column("data_pattern", "Data"),
        Column("repetitions", "In a row", formats.text, is_number=True),
        Column("phase", "Phase", formats.text),
        Column("metric", "Metric", formats.text),
        Column("a_median", "a", is_number=True, unit="unit"),
        Column("b_median", "b", is_number=True, unit="unit"),
        Column("ratio", "a / b", formats.digits, is_number=True),
        Column("ratio_low", "95 % from", formats.digits, is_number=True),
        Column("ratio_high", "to", formats.digits, is_number=True),
        Column("anchor_ratio", "Anchor a / b", formats.digits, is_number=True),
        Column("remark", "Parameters", _text),
    ),
    empty="No case is judged so.",
)
