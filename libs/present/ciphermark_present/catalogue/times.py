"""Figures of times and their ratios."""

from __future__ import annotations

from ciphermark_present import formats, subject
from ciphermark_present.answer import Answer, Row
from ciphermark_present.catalogue.columns import (
    CHAIN,
    DATA,
    INTERVAL,
    LOG_QP,
    OPERATION,
    PLACE,
    RANKED,
    RATIO_INTERVAL,
    REASON,
    SECURITY_2018,
    SECURITY_2024,
    SIZE,
    STATUS,
    THREADS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.figure import Column, Figure, Grid
from ciphermark_present.sentences import times


def _told(row: Row) -> str:
    """A cell of the grid: time and ratio, or how the trial ended."""
    if row["median"] is None:
        return str(row["status"])
    if row["ratio"] is None:
        return formats.seconds(row["median"])
    mark = "≈" if row["verdict"] == "no difference" and row["ratio"] != 1 else ""
    other = "" if row["is_equal_parameters"] else "*"
    return f"{formats.seconds(row['median'])} · {mark}{formats.digits(row['ratio'])}×{other}"


def _ranked(answer: Answer, parameters: Row) -> Answer:
    """See :func:`ciphermark_present.ranks.ranked`; a command line that ranks nothing does not wait for numpy."""
    from ciphermark_present import ranks

    return ranks.ranked(answer, parameters)


def several_sizes(answer: Answer, _: Row) -> Answer:
    """The rows at the largest N at which an operation has vectors of several sizes. Pure."""
    ring, size, operation = (answer.columns.index(name) for name in ("ring_dimension", "size", "operation"))
    sizes: dict[tuple[int, str], set[int]] = {}
    for row in answer.rows:
        sizes.setdefault((row[ring], row[operation]), set()).add(row[size])
    varied = [place for place, found in sizes.items() if len(found) > 1]
    largest = max((place[0] for place in varied), default=None)
    return Answer(
        answer.columns,
        [row for row in answer.rows if row[ring] == largest and (row[ring], row[operation]) in varied],
    )


LEADERBOARD = Figure(
    name="leaderboard",
    title="Leaderboard",
    lead=(
        "How many times the time of the run's fastest each variant takes: the geometric mean of the ratios below, over "
        "the cases that all variants shown have. 1 means fastest everywhere. "
        "The 95 % interval takes these cases for a sample of others, and is by a bootstrap over cases and rounds: with "
        "few cases it is wide; of one case it is that case's. Who is not surely slower than another, by the interval "
        "of their difference and beyond the noise floor of 5 %, shares its rank; a "
        "case whose interval shows no difference from the fastest is a tie with it. Without intervals there is no "
        "rank, and none where an interval is so wide that a variant with a better mean would have a worse one. "
        "Each division is ranked by itself: in equal all libraries switch keys alike, in best each as its own "
        "documentation would set it, at the level that was asked for. Operations that an adapter composes of several "
        "calls of its library are ranked apart."
    ),
    view="leaderboard",
    subject=subject.OPERATION,
    derive=_ranked,
    tell=times.leaderboard,
    chart="ratios.leaderboard",
    columns=(
        Column("label", "Variant"),
        Column("division", "Division"),
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
    on_page="Where all have no case in common, choose fewer variants.",
)
MATRIX = Figure(
    name="matrix",
    title="Every case",
    lead=(
        "Median time, and how many times that of the run's fastest variant at this security level, pair by pair of "
        "samples taken in turns; ≈ where the 95 % interval finds no difference, * where the library's parameters are "
        "not those of the fastest. What an adapter has to make of several calls of its library is marked composed, and "
        "compared with its like. What is missing says why."
    ),
    on_page="A cell leads to its samples.",
    noted_by=("operation", "operation"),
    view="matrix",
    subject=subject.OPERATION,
    where={"phase": "operation"},
    narrowed_by=(*PLACE, "phase"),
    may_lack=("phase", "security_compared"),
    order="label, ring_dimension, modulus_bits, size, data_pattern, threads, comparison_key, variant, status",
    grid=Grid(
        (RANKED, N, CHAIN, SIZE, DATA, THREADS),
        _told,
    ),
    columns=(
        RANKED,
        N,
        CHAIN,
        SIZE,
        DATA,
        THREADS,
        VARIANT,
        STATUS,
        Column("median", "Median", formats.seconds, is_number=True),
        Column("ratio", "× fastest", formats.digits, is_number=True),
        Column("ci_low", "95 % from", formats.digits, is_number=True),
        Column("ci_high", "to", formats.digits, is_number=True),
        Column("verdict", "Against the fastest", formats.text),
        Column("is_equal_parameters", "Same parameters", formats.yes),
        LOG_QP,
        SECURITY_2024,
        REASON,
    ),
)
LATENCY = Figure(
    name="latency",
    title="Time against N",
    lead=(
        "Median time of one execution on one ciphertext's vector; a whisker is the 95 % interval of the median. Both "
        "axes are logarithmic, each chart has a time axis of its own. The table has every size."
    ),
    view="latency",
    subject=subject.OPERATION,
    narrowed_by=(*PLACE, *VECTOR, "phase"),
    order="label, size, ring_dimension, median, variant",
    tell=times.latency,
    chart="operations.latency_against_n",
    columns=(
        RANKED,
        N,
        SIZE,
        VARIANT,
        Column("median", "Median", formats.seconds, is_number=True),
        *INTERVAL,
        Column("n", "Samples", formats.digits, is_number=True),
        LOG_QP,
        SECURITY_2018,
        SECURITY_2024,
    ),
)
LATENCY_BY_SIZE = Figure(
    name="latency-by-size",
    title="Time against the size of the vector",
    lead=(
        "Median time at the largest N with vectors of several sizes: beyond one ciphertext's slots a vector takes "
        "several ciphertexts."
    ),
    view="latency",
    subject=subject.OPERATION,
    narrowed_by=(*PLACE, *VECTOR, "phase"),
    order="label, size, median, variant",
    derive=several_sizes,
    chart="operations.latency_against_size",
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
    view="by_data",
    subject=subject.OPERATION,
    narrowed_by=(*PLACE, "size", "threads", "phase"),
    order="operation, ring_dimension, size, variant, modulus_bits",
    tell=times.by_data,
    chart="operations.by_data",
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
    view="speedup",
    subject=subject.OPERATION,
    narrowed_by=("scheme", "security_compared", "ring_dimension", "operation", *VECTOR, "phase"),
    order="ring_dimension, operation, size, modulus_bits, comparison_key",
    tell=times.speedup,
    chart="ratios.speedup",
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
