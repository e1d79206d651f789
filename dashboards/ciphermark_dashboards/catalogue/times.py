"""Figures of times and their ratios."""

from __future__ import annotations

from ciphermark_dashboards import formats
from ciphermark_dashboards.catalogue.columns import (
    CHAIN,
    DATA,
    INTERVAL,
    OPERATION,
    RATIO_INTERVAL,
    SIZE,
    THREADS,
    VARIANT,
    N,
)
from ciphermark_dashboards.charts import operations, ratios
from ciphermark_dashboards.figures import Column, Figure, Grid
from ciphermark_dashboards.store import Row


def _told(row: Row) -> str:
    """A cell of the grid: time and ratio, or how the trial ended."""
    if row["median"] is None:
        return str(row["status"])
    if row["ratio"] is None:
        return formats.seconds(row["median"])
    mark = "≈" if row["verdict"] == "no difference" and row["ratio"] != 1 else ""
    other = "" if row["is_equal_parameters"] else "*"
    return f"{formats.seconds(row['median'])} · {mark}{formats.digits(row['ratio'])}×{other}"


LEADERBOARD = Figure(
    name="leaderboard",
    title="Leaderboard",
    lead=(
        "How many times the time of the run's fastest each variant takes: the geometric mean of the ratios below, over "
        "the cases that all variants shown have; if there is none, choose fewer variants. 1 means fastest everywhere. "
        "Who is not surely slower than another, by intervals and beyond the noise floor of 5 %, shares its rank; a "
        "case whose interval shows no difference from the fastest is a tie with it. Without intervals there is no rank."
    ),
    block="leaderboard",
    draw=ratios.leaderboard,
    columns=(
        VARIANT,
        Column("rank", "Rank", formats.text, is_number=True),
        Column("mean_ratio", "× fastest", formats.digits, is_number=True),
        *RATIO_INTERVAL,
        Column("common_cases", "Common cases", formats.digits, is_number=True),
        Column("fastest_in", "Fastest or tied in", formats.digits, is_number=True),
        Column("compared_cases", "of shared cases", formats.digits, is_number=True),
        Column("ok", "Trials ok", formats.digits, is_number=True),
        Column("unsupported", "Unsupported", formats.digits, is_number=True),
        Column("failed", "Failed", formats.digits, is_number=True),
    ),
    empty="No library has a timed trial under these filters.",
    is_table_open=True,
)
MATRIX = Figure(
    name="matrix",
    title="Every case",
    lead=(
        "Median time, and how many times that of the run's fastest variant at this security level, pair by pair of "
        "samples taken in turns; ≈ where the 95 % interval finds no difference, * where the library's parameters are "
        "not those of the fastest. What is missing says why. A cell leads to its samples."
    ),
    block="matrix",
    grid=Grid(
        (OPERATION, N, CHAIN, SIZE, DATA, THREADS),
        _told,
    ),
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        DATA,
        THREADS,
        VARIANT,
        Column("status", "Outcome"),
        Column("median", "Median", formats.seconds, is_number=True),
        Column("ratio", "× fastest", formats.digits, is_number=True),
        Column("ci_low", "95 % from", formats.digits, is_number=True),
        Column("ci_high", "to", formats.digits, is_number=True),
        Column("verdict", "Against the fastest", formats.text),
        Column("is_equal_parameters", "Same parameters", formats.yes),
        Column("log_qp", "log2(QP)", formats.bits, is_number=True),
        Column("security_2024", "Security (2024)", formats.level),
        Column("error", "Reason", formats.text),
    ),
)
LATENCY = Figure(
    name="latency",
    title="Time against N",
    lead=(
        "Median time of one execution on one ciphertext's vector; a whisker is the 95 % interval of the median. Both "
        "axes are logarithmic, each chart has a time axis of its own. The table has every size."
    ),
    block="latency",
    draw=operations.latency_against_n,
    columns=(
        OPERATION,
        N,
        SIZE,
        VARIANT,
        Column("median", "Median", formats.seconds, is_number=True),
        *INTERVAL,
        Column("n", "Samples", formats.digits, is_number=True),
        Column("log_qp", "log2(QP)", formats.bits, is_number=True),
        Column("security_2018", "Security (2018)", formats.level),
        Column("security_2024", "Security (2024)", formats.level),
    ),
)
LATENCY_BY_SIZE = Figure(
    name="latency-by-size",
    title="Time against the size of the vector",
    lead=(
        "Median time at the largest N with vectors of several sizes: beyond one ciphertext's slots a vector takes "
        "several ciphertexts."
    ),
    block="latency_by_size",
    draw=operations.latency_against_size,
    columns=LATENCY.columns,
    empty="This run has vectors of one size only under these filters.",
)
BY_DATA = Figure(
    name="by-data",
    title="Same or random data",
    lead=(
        "Median time of random values divided by that of one value in all slots. Encoded, the latter is a constant, "
        "which some libraries multiply by at less cost. The two were not measured in turns: the interval is the widest "
        "that theirs allow."
    ),
    block="by_data",
    draw=operations.by_data,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("same_s", "One value in all slots", formats.seconds, is_number=True),
        Column("random_s", "Random values", formats.seconds, is_number=True),
        Column("ratio", "Random / same", formats.digits, is_number=True),
        *RATIO_INTERVAL,
        Column("verdict", "Verdict"),
    ),
    empty="This run has no case with both data patterns under these filters.",
)
SPEEDUP = Figure(
    name="speedup",
    title="What HEXL brings",
    lead=(
        "Time without HEXL divided by time with it, pair by pair of samples that were taken in turns. Where the "
        "interval does not clear the noise floor of 5 %, there is no difference."
    ),
    block="speedup",
    draw=ratios.speedup,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        Column("variant_on", "With HEXL"),
        Column("variant_off", "Without"),
        Column("ratio", "Speed-up", formats.digits, is_number=True),
        *RATIO_INTERVAL,
        Column("verdict", "HEXL is"),
        Column("n", "Pairs", formats.digits, is_number=True),
    ),
    empty="This run has no pair of builds with and without HEXL under these filters.",
)
