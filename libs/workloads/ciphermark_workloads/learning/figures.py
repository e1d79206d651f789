"""Charts of the family learning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, headings, page, parameters, plots, sentences
from ciphermark_present.catalogue import columns, passes, published
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    REASON,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    STATUS,
    THREADS,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart
from ciphermark_present.figure import OPENED, Column, Figure, Layout
from ciphermark_present.formats import level, seconds, share
from ciphermark_present.page import Page
from ciphermark_present.printed import Cells, Head, Printed, Wanted, absent_last, of, present, printed
from ciphermark_present.query import Row, is_disturbed
from ciphermark_present.subject import Subject

SUBJECT = Subject(("learning",))
_PHASE_NAMES = {"prepare_s": "prepare", "train_s": "train", "infer_s": "infer"}


def draw_phases(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each phase by workload and variant, logarithmic, one small chart per phase.

    Options, security levels, threads and parameters of a workload are separate: their times are not comparable.
    """
    cases = _named(rows)
    times = [
        {
            **charting.as_seconds(row, column),
            "phase": phase,
            "ci_low": row.get(f"{phase}_low"),
            "ci_high": row.get(f"{phase}_high"),
        }
        for row in cases
        for column, phase in _PHASE_NAMES.items()
        if row[column] is not None
    ]
    if not times:
        return None
    return plots.timed(times, "phase", "seconds", [*_PHASE_NAMES.values()])


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The measured rows with a text for their workload. It includes the level where libraries reached several, and the
    properties that distinguish its cases.
    """
    measured = [row for row in rows if row["security_2018"] is not None]
    levels: dict[tuple[str, str], set[int | None]] = defaultdict(set)
    for row in measured:
        levels[row["operation"], row["scheme"]].add(sentences.shown_level(row))
    workloads = [_label(row, len(levels[row["operation"], row["scheme"]]) > 1) for row in measured]
    named = [{**row, "workload": label} for row, label in zip(measured, workloads, strict=True)]
    labels = parameters.apart(named, lambda row: row["workload"])
    return [
        {**row, "workload": charting.joined(row["workload"], label)}
        for row, label in zip(named, labels, strict=True)
    ]


def _label(row: Row, has_levels: bool) -> str:
    texts = (
        row["operation"],
        row["options"],
        row["scheme"],
        level(sentences.shown_level(row)) if has_levels else None,
        sentences.threads(row),
    )
    return ", ".join(filter(None, texts))


def _peak(party: str) -> Column:
    label = f"Peak memory, {party}"
    brief = formats.brief_size
    return Column(
        f"{party}_peak_bytes", label, formats.size, is_number=True, short=f"{party} peak", brief=brief
    )


def _cpu(party: str) -> Column:
    return Column(
        f"{party}_cpu",
        f"CPU, {party}",
        formats.share,
        is_number=True,
        short=f"{party} CPU",
        brief=formats.percent,
    )


_STAGE_TIMES = (
    columns.seconds("prepare_s", "Prepare"),
    columns.encrypted(columns.seconds("train_s", "Train")),
    columns.encrypted(columns.seconds("infer_s", "Infer")),
)
_MSE = Column(
    "mse",
    "Mean squared error",
    formats.digits,
    is_number=True,
    short="mse",
    brief=lambda value: formats.brief_digits(value) or formats.NOTHING,
)
_EXPANSION = columns.encrypted(
    Column("expansion", "Expansion", formats.digits, is_number=True, brief=formats.times)
)
_SENT = columns.encrypted(columns.size("sent_bytes", "Sent"))
QUALITY = (
    *_STAGE_TIMES,
    columns.share("accuracy", "Accuracy"),
    _MSE,
    columns.share("agreement", "Agreement", "agree"),
    columns.error("noise_error", "Noise error", "noise"),
    columns.error("rounding_error", "Rounding error", "rounding"),
    columns.error("max_error", "Largest error", "max error"),
    _EXPANSION,
    _SENT,
)


_SHOWN = ("train_s", "infer_s", "accuracy", "agreement", "sent_bytes")  # on a page; others open


def _on_page(column: Column) -> Column:
    if column.name not in _SHOWN:
        return replace(column, detail=OPENED)
    return columns.compared(column) if column in _STAGE_TIMES else column


def tell_learning(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The accuracy of encrypted learning by data set; then, by workload and level, the fastest variants in training and
    inference.
    """
    secure = [row for row in every if row["status"] == "ok" and row["security_2018"] is not None]
    agreements = [row for row in secure if row["agreement"] is not None]
    differing = [row for row in agreements if row["agreement"] < 1]
    data_set = parameters["data_set"]
    if agreements and not differing:
        yield f"{data_set}: on encrypted data every workload gives each row its class in the clear (median of passes)."
    for rows in sentences.by(differing, "operation"):
        wrong = sentences.extent(rows, "agreement", share)
        yield f"{data_set}: {rows[0]['operation']} gives some rows another class than in the clear; agreement {wrong}."
    for rows in sentences.by(secure, "operation", "security_shown"):
        first = rows[0]
        accurate = [row for row in rows if row["accuracy"] is not None]
        texts = [f"accuracy {sentences.extent(accurate, 'accuracy', share)}"] if accurate else []
        texts += [*_fastest(rows, "train_s", "training"), *_fastest(rows, "infer_s", "inference")]
        yield (
            f"{first['operation']} on {data_set} at {sentences.level_and_table(first)}: {'; '.join(texts)}."
        )


def find_fastest(rows: Sequence[Row]) -> str:
    """The fastest variant in training and in inference, of the workload that takes longest."""
    timed = [row for row in rows if row["infer_s"] is not None and row["security_2018"] is not None]
    best = sentences.fastest(timed, ("operation", "options", "scheme", "security_shown"), "infer_s")
    if not best:
        return ""
    row = max(best, key=lambda row: float(row["infer_s"]))
    return f"{row['operation']}: {row['variant']} has the fastest median inference, {seconds(row['infer_s'])}"


def _fastest(rows: Sequence[Row], column: str, word: str) -> list[str]:
    timings = [{**row, "keys": sentences.encryption(row, rows)} for row in rows]
    return [
        f"fastest median {word} time {seconds(best[column])} "
        f"({charting.joined(best['variant'], best['scheme'].upper(), best['keys'])})"
        for best in sentences.fastest(timings, ("keys",), column)
    ]


_TIME = columns.encrypted(columns.seconds("time_s", "Time"))
_SERIALIZATION = columns.encrypted(columns.seconds("serialization_s", "Serialization"))
_TRANSFER = columns.encrypted(columns.seconds("transfer_s", "Transfer"))
COSTS = (
    _TIME,
    _cpu("client"),
    _peak("client"),
    _cpu("server"),
    _peak("server"),
    _SERIALIZATION,
    _TRANSFER,
)
STAGES = Figure(
    name="stages",
    title="Stages by party",
    lead="CPU time, memory and transfers of each party in each stage.",
    reading=(
        "CPU is the party's CPU time divided by the wall time of the stage. Peak memory is the high-water "
        "mark of the party's process. Serialization covers both parties. Transfer covers messages, blobs and "
        "waiting."
    ),
    view="stages",
    subject=SUBJECT,
    order=(
        "operation, options, scheme, threads, array_position(array['prepare', 'train', 'infer'], stage), "
        "'time_s' = any(disturbed_times), time_s, variant"
    ),
    printed=(),
    columns=(
        WORKLOAD,
        replace(OPTIONS, detail=5),
        SCHEME,
        Column("stage", "Stage"),
        BUILD,
        columns.compared(_TIME),
        columns.seconds("evaluate_s", "Evaluation"),
        _TRANSFER,
        _peak("server"),
        *columns.opened(
            THREADS,
            N,
            _SERIALIZATION,
            _cpu("client"),
            _cpu("server"),
            _peak("client"),
            SECURITY_2018,
            SECURITY_2024,
        ),
    ),
    empty="This run has no workload that ended with the status ok.",
)


_EXPLAINED = (
    "Times: medians of one pass; the client trains in the clear",
    "Agree: rows with the same class as in the plaintext run",
    "Noise: largest error of a score, relative to the largest score",
    "Max error: largest absolute difference of a score from the plaintext run",
    "Sent: ciphertexts of one pass to the server",
)
_OF_DETAILS = (
    "MSE: of the predicted classes",
    "Rounding: largest difference of the exact result from the plaintext run",
    "Expansion: of the rows by encryption",
    "CPU: CPU time of the party, as a multiple of the stage's wall time",
    "Peak: memory of the party",
    "Serialization: of both parties",
    "Transfer: messages, blobs and waiting",
)
_MORE = ("mse", "rounding_error", "expansion")  # further details of the results


def _with_stages(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """The successful results, each with its stages."""
    results, stages = answers
    of_case: dict[str, list[Row]] = {}
    for row in stages:
        of_case.setdefault(row["case_key"], []).append(row)
    return [{**row, "stages": of_case.get(row["case_key"], [])} for row in results if row["status"] == "ok"]


def _listed(rows: Sequence[Row], wanted: Wanted) -> Iterator[Cells]:
    columns = [column for column in QUALITY if wanted.is_detailed or column.name not in _MORE]
    yield of(BUILD)
    yield from headings.cells(rows)
    yield from present((of(column, drop) for drop, column in enumerate(columns)), rows, (formats.NOTHING,))


def _stage_costs(rows: Sequence[Row], wanted: Wanted) -> Iterator[Printed]:
    """The stages with the variants in the order of ``rows``; the name of a stage is in its first row."""
    if wanted.is_detailed:
        stages = [stage for row in rows for stage in row["stages"]]
        names = list(dict.fromkeys(stage["stage"] for stage in stages))
        stages.sort(key=lambda stage: names.index(stage["stage"]))
        columns = [(Head("stage"), lambda row: str(row["stage"])), of(BUILD)]
        costs = [of(column, drop) for drop, column in enumerate(COSTS)]
        yield printed("", "", [*columns, *costs], stages, once=1)


LAYOUT = Layout(
    others=(STAGES,),
    rows=_with_stages,
    table=("operation", "options", "data_set", "threads", "scheme"),
    varied=lambda row: row["ring_dimension"],
    order=lambda row: (is_disturbed(row, "infer_s"), absent_last(row["infer_s"]), row["variant"]),
    title=lambda rows, wanted: ", ".join(
        filter(None, (wanted.titled(rows[0]["operation"]), rows[0]["options"], rows[0]["data_set"]))
    ),
    about=lambda rows, _: f"{headings.heading(rows)}. {headings.threads(rows[0])}",
    columns=_listed,
    once=lambda rows: 0,
    more=_stage_costs,
    explained=lambda wanted: ". ".join((*_EXPLAINED, *(_OF_DETAILS if wanted.is_detailed else ()))),
    place=50,
)
LEARNING = Figure(
    name="learning",
    title="Learning on encrypted data",
    lead="Median wall time of each stage, with both parties and all transfers.",
    reading=(
        "prepare generates keys; train fits the model; infer classifies the test rows. Plain models are "
        "trained by the client without encryption. Agreement is the share of rows that get the same class as "
        "from the unencrypted algorithm. Noise error is the largest difference of scores from the expected "
        "scores. Rounding error (BFV, BGV) is the difference of the expected scores from the unencrypted "
        "algorithm. Both are relative to the largest score. Largest error is the absolute difference of "
        "scores from the unencrypted algorithm. Expansion is the bytes sent divided by the bytes of the data."
        " Each security level has its own line."
    ),
    view="learning",
    subject=SUBJECT,
    order=(
        "operation, options, data_set, scheme, threads, 'infer_s' = any(disturbed_times), infer_s nulls last, variant"
    ),
    tell=tell_learning,
    finding=find_fastest,
    chart=draw_phases,
    printed=(LAYOUT,),
    columns=(
        WORKLOAD,
        replace(OPTIONS, detail=5),
        SCHEME,
        *columns.opened(THREADS),
        BUILD,
        replace(STATUS, detail=4),
        *columns.opened(N, SECURITY_2018, SECURITY_2024),
        *(_on_page(column) for column in QUALITY),
        *columns.opened(REASON),
    ),
    empty="This run has no learning workload.",
)
PUBLISHED_LEARNING = published.about("published", *SUBJECT.experiments, may_lack=("experiment",))
PAGE = Page(
    "/learning",
    "Learning",
    ("Workloads on encrypted data: the client holds the key, the server receives only ciphertexts."),
    (page.DATA_SET, page.TABLE, page.WORKLOAD, page.VARIANT, page.BANDWIDTH),
    (LEARNING, *passes.of_family("learning", SUBJECT), STAGES, PUBLISHED_LEARNING),
    question="How long does it take to {operation} on {data_set}, with levels by the {table}?",
    suite="tenseal-ml",
    place=60,
)
