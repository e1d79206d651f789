"""Figures of times and their ratios: sentences, charts, tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ciphermark_core.security import COMPARED_BY
from ciphermark_present import charting, formats, sentences, subject
from ciphermark_present.by_ring import along, by_ring
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    CHAIN,
    DATA,
    INTERVAL,
    LOG_QP,
    OPERATION,
    RANKED,
    RATIO_INTERVAL,
    REASON,
    SECURITY_2018,
    SECURITY_2024,
    SIZE,
    STATUS,
    THREADS,
    N,
)
from ciphermark_present.catalogue.ratios import draw_by_data, draw_leaderboard, draw_speedup
from ciphermark_present.charting import Chart
from ciphermark_present.figure import FILTERS, Column, Figure, Grid
from ciphermark_present.formats import ratio, seconds
from ciphermark_present.plots import Value
from ciphermark_present.query import Answer, Row


def tell_leaderboard(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The fastest variant, and the distance of the others from it; separately for each tuning, and for composite
    operations.
    """
    variants = [row for row in every if row["mean_ratio"] is not None]
    for ranked in dict.fromkeys(map(_ranking, variants)):
        yield from _ranks([row for row in variants if _ranking(row) == ranked], parameters)


def _ranking(row: Row) -> tuple[str, bool]:
    return row["tuning"], row["is_composite"]


def _ranks(known: Sequence[Row], parameters: Row) -> Iterator[str]:
    if len(known) < 2:
        return
    cases = _cases(known[0]["common_cases"])
    verb = "compose" if known[0]["is_composite"] else "have"
    where = f"{sentences.place(parameters)}, {known[0]['tuning']} tuning"
    over = f"geometric mean of the ratios to the fastest over the {cases} that all {verb}"
    first = [row for row in known if row["rank"] == 1]
    if not first:
        yield f"{where}: {_means(known)} ({over}); too few samples to rank them."
        return
    leading = (
        f"{first[0]['variant']} is fastest{_of_the_best(first[0]['mean_ratio'])}"
        if len(first) == 1
        else f"{_means(first)} share rank 1"
    )
    texts = [leading]
    for rank in sorted({row["rank"] for row in known if row["rank"] not in (None, 1)}):
        texts.append(f"rank {rank}: {_means([row for row in known if row['rank'] == rank])}")
    unsure = [row for row in known if row["rank"] is None]
    if unsure:
        texts.append(f"unranked, interval too wide: {_means(unsure)}")
    yield f"{where}: {'; '.join(texts)} ({over})."


def _of_the_best(ratio: float) -> str:
    """A leader's mean against the fastest variant of each case: fastest in every case, or a multiple of its time."""
    return (
        " in every case"
        if ratio <= 1
        else f" overall, at {formats.ratio(ratio)} the time of the fastest of each case"
    )


def find_leader(rows: Sequence[Row]) -> str:
    """The variants on rank 1 of the first ranking that has several."""
    variants = [row for row in rows if row["mean_ratio"] is not None and row["rank"] is not None]
    for ranking in dict.fromkeys(map(_ranking, variants)):
        own = [row for row in variants if _ranking(row) == ranking]
        first = [row for row in own if row["rank"] == 1]
        if len(own) > 1 and len(first) == 1:
            return f"{first[0]['variant']} is fastest{_of_the_best(first[0]['mean_ratio'])}"
        if len(own) > 1 and first:
            return f"{sentences.listed([row['variant'] for row in first])} share rank 1"
    return ""


def find_range(rows: Sequence[Row]) -> str:
    """The cheapest and the most expensive operation, at the largest N on one full ciphertext."""
    here = charting.largest(sentences.undisturbed(rows, "median"))
    if not here:
        return ""
    largest = here[0]["ring_dimension"]
    least, most = min(here, key=_median), max(here, key=_median)
    if least["operation"] == most["operation"]:
        return f"{least['operation']} takes {seconds(least['median'])} to {seconds(most['median'])} at N = {largest}"
    return (
        f"From {seconds(least['median'])} ({least['operation']}) to {seconds(most['median'])} "
        f"({most['operation']}) at N = {largest}"
    )


def find_growth(rows: Sequence[Row]) -> str:
    """The most that a longer vector adds to the time of an operation, for one variant."""
    timed = sentences.undisturbed(rows, "median")
    grown = [
        (max(own, key=_length), min(own, key=_length))
        for own in sentences.by(timed, "label", "variant", "tuning", "modulus_bits")
        if len({row["vector_length"] for row in own}) > 1
    ]
    if not grown:
        return ""
    long, short = max(grown, key=lambda pair: _median(pair[0]) / _median(pair[1]))
    return (
        f"{long['operation']} on {formats.values(long['vector_length'])} takes up to "
        f"{ratio(_median(long) / _median(short))} as long as on {short['vector_length']:,} ({long['variant']})"
    )


def find_by_data(rows: Sequence[Row]) -> str:
    """Whether random values take longer than one value in all slots."""
    slower = [row for row in rows if row["verdict"] == "random is slower"]
    if not slower:
        return f"Random values are slower than constant ones in no case of {len(rows)}"
    most = max(slower, key=lambda row: float(row["ratio"]))
    return (
        f"Random values are slower than constant ones in {len(slower)} of {_cases(len(rows))}, "
        f"up to {ratio(most['ratio'])} ({most['operation']})"
    )


def find_speedup(rows: Sequence[Row]) -> str:
    """The operation that gains most, or the absence of a gain."""
    faster = [row for row in rows if row["verdict"] == "faster"]
    if not faster:
        return f"HEXL speeds up no operation significantly ({_cases(len(rows))})"
    most = max(faster, key=lambda row: float(row["ratio"]))
    return (
        f"HEXL makes {most['operation']} {ratio(most['ratio'])} as fast at N = {most['ring_dimension']}, and "
        f"{len(faster)} of {_cases(len(rows))} faster"
    )


def tell_latency(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The cheapest and the most expensive operation, at the largest N with the longest vector there."""
    timed = sentences.undisturbed(every, "median")
    if not timed:
        return
    largest = max(row["ring_dimension"] for row in timed)
    size = max(row["vector_length"] for row in timed if row["ring_dimension"] == largest)
    here = [row for row in timed if (row["ring_dimension"], row["vector_length"]) == (largest, size)]
    least, most = min(here, key=_median), max(here, key=_median)
    where = f"{sentences.place(parameters)}, N = {largest}, vector length {size}"
    yield f"Operations, {where}: median times from {_timed(least)} to {_timed(most)}."


def judged_by_data(answer: Answer, _: Row) -> Answer:
    """The rows with the ratio of both medians, its interval, and a verdict on the data's effect."""
    from ciphermark_analysis.estimates import Estimate, ratio_of, verdict  # loads numpy

    judged = []
    for row in answer.mappings:
        random, same = (
            Estimate(n, *(row[f"{data}_{name}"] for name in ("s", "low", "high")))
            for data, n in (("random", row["n"]), ("constant", row["constant_n"]))
        )
        ratio = ratio_of(random, same)
        words = _BY_DATA.get(verdict(ratio), verdict(ratio))
        judged.append(
            {**row, "ratio": ratio.median, "ci_low": ratio.low, "ci_high": ratio.high, "verdict": words}
        )
    columns = tuple(dict.fromkeys((*answer.columns, "ratio", "ci_low", "ci_high", "verdict")))
    return Answer(columns, [tuple(row[name] for name in columns) for row in judged])


_BY_DATA = {"faster": "random is slower", "slower": "random is faster"}


def tell_by_data(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Whether random values take longer than one value in all slots."""
    counted = Counter(row["verdict"] for row in every)
    slower = [row["ratio"] for row in every if row["verdict"] == "random is slower"]
    parts = [
        f"slower in {len(slower)} of {_cases(len(every))}"
        + (f", up to {ratio(max(slower))}" if slower else "")
    ]
    parts += [
        f"{words} in {counted[verdict]}"
        for verdict, words in (("random is faster", "faster"), *_UNDECIDED)
        if counted[verdict]
    ]
    yield f"Random values rather than one value in all slots, {sentences.place(parameters)}: {'; '.join(parts)}."


def tell_speedup(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The cases where HEXL helps, with the largest gain; the cases where it harms; and those without a verdict."""
    counted = Counter(row["verdict"] for row in every)
    faster, slower = _ratios(every, "faster"), _ratios(every, "slower")
    up_to = f", up to {ratio(max(faster))}" if faster else ""
    parts = [f"faster in {len(faster)} of {_cases(len(every))}{up_to}"]
    if slower:
        parts.append(f"slower in {len(slower)}, down to {ratio(min(slower))}")
    parts += [f"{words} in {counted[verdict]}" for verdict, words in _UNDECIDED if counted[verdict]]
    yield f"HEXL in {sentences.place(parameters)}: {'; '.join(parts)}."


_UNDECIDED = (("no difference", "no significant difference"), ("too few samples", "too few samples"))


def _means(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row['variant']} {ratio(row['mean_ratio'])}" for row in rows)


def _median(row: Row) -> float:
    return float(row["median"])


def _length(row: Row) -> int:
    return int(row["vector_length"])


def _timed(row: Row) -> str:
    return f"{seconds(row['median'])} ({row['operation']}, {row['variant']})"


def _ratios(rows: Sequence[Row], verdict: str) -> list[float]:
    return [row["ratio"] for row in rows if row["verdict"] == verdict]


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


_WRITTEN = dict.fromkeys(("median", "ci_low", "ci_high"), formats.seconds)


def draw_latency(rows: Sequence[Row]) -> Chart | None:
    """Median time of each operation and tuning at the largest N, all on one axis."""
    cases = charting.with_ends(charting.largest(rows), "median")
    return by_ring(cases, _latency(cases))


def draw_latency_by_size(rows: Sequence[Row]) -> Chart | None:
    """Median time against vector length, at one N."""
    cases = charting.with_ends(rows, "median")
    title = f"Vector length, at N = {rows[0]['ring_dimension']}" if rows else ""
    return along(cases, _latency(cases), "vector_length", title)


def _latency(cases: Sequence[Row]) -> Value:
    axis = charting.seconds(row[name] for row in cases for name in ("median", "from", "to"))
    told = [
        charting.text_tip("median", "Median"),
        charting.text_tip("ci_low", "95% from"),
        charting.text_tip("ci_high", "to"),
    ]
    return Value("median", None, axis, told, written=_WRITTEN, has_ends=True)


def _grid_cell(row: Row) -> str:
    """A cell of the grid: time and ratio, or the outcome of the trial."""
    if row["median"] is None:
        return str(row["status"])
    time = columns.disturbance(row["standing"] == "disturbed") + formats.seconds(row["median"])
    if row["ratio"] is None:
        return time
    mark = "≈" if row["verdict"] == "no difference" and row["ratio"] != 1 else ""
    other = "" if row["is_equal_parameters"] else "*"
    return f"{time} · {mark}{formats.ratio(row['ratio'])}{other}"


def _with_ranks(answer: Answer, parameters: Row) -> Answer:
    """See :func:`ciphermark_present.ranks.ranked`; the local import loads numpy only where ranks are needed."""
    from ciphermark_present import ranks

    return ranks.ranked(answer, parameters)


def several_sizes(answer: Answer, _: Row) -> Answer:
    """The rows at the largest N where an operation has vectors of several lengths. Pure."""
    ring, size, operation = (
        answer.columns.index(name) for name in ("ring_dimension", "vector_length", "operation")
    )
    sizes: dict[tuple[int, str], set[int]] = {}
    for row in answer.rows:
        sizes.setdefault((row[ring], row[operation]), set()).add(row[size])
    varied = [place for place, lengths in sizes.items() if len(lengths) > 1]
    largest = max((place[0] for place in varied), default=None)
    return Answer(
        answer.columns,
        [row for row in answer.rows if row[ring] == largest and (row[ring], row[operation]) in varied],
    )


LEADERBOARD = Figure(
    name="leaderboard",
    title="Leaderboard",
    lead=(
        "Geometric mean of each variant's ratios to the fastest variant, over shared cases. 1 means fastest "
        "everywhere."
    ),
    reading=(
        "The mean covers the cases that all shown variants have. Its 95% interval comes from a bootstrap over"
        " cases and rounds, and ends at 1.00, the smallest possible mean. With fewer than six cases it has none: "
        "they do not speak for others, and each is a small mark. Hollow marks have cases with other parameters than "
        "the fastest variant, or not interleaved with it. "
        "Variants that do not differ significantly share a rank: the interval of their difference must exceed"
        " the significance threshold of 5%. A case without a significant difference from the fastest variant "
        "is a tie. Variants without an interval have no rank. No variant is ranked where a wide interval "
        "would contradict the order of the means. Each tuning is ranked separately. With matched tuning, all "
        "libraries switch keys in the same way. With recommended tuning, each library has the settings that "
        "its documentation recommends, at the requested level. Composite operations, which an adapter builds "
        "from several library calls, are ranked separately."
    ),
    view="leaderboard",
    subject=subject.OPERATION,
    derive=_with_ranks,
    tell=tell_leaderboard,
    finding=find_leader,
    chart=draw_leaderboard,
    printed=(),
    columns=(
        columns.of_build(Column("label", "Variant")),
        Column("tuning", "Tuning"),
        Column("rank", "Rank", formats.text, is_number=True),
        columns.ratio("mean_ratio", "× fastest"),
        RATIO_INTERVAL,
        columns.count("common_cases", "Common cases"),
        columns.count("fastest_in", "Fastest or tied in"),
        *columns.opened(
            columns.count("compared_cases", "of shared cases"),
            columns.count("ok", "Trials ok"),
            columns.count("unsupported", "Unsupported"),
            columns.count("failed", "Failed"),
        ),
    ),
    empty="No library has a timed trial under these filters.",
    is_table_open=True,
    on_page="If the variants share no case, select fewer of them.",
)
MATRIX = Figure(
    name="matrix",
    title="Every case",
    lead="Median time, and the multiple of the fastest variant's time.",
    reading=(
        "Ratios compare interleaved samples pair by pair, at one security level. Marks: ≈ no significant "
        "difference; ! disturbed samples only; * other parameters than the fastest variant; ° built without "
        "HEXL, next to a build with it. Composite operations combine "
        "several library calls and are compared only with each other. Empty cells give the reason."
    ),
    on_page="Select a cell to see its samples.",
    noted_by=("operation", "operation"),
    view="matrix",
    subject=subject.OPERATION,
    where={"phase": "evaluate"},
    narrowed_by=(*FILTERS, "phase"),
    may_lack=("phase", *COMPARED_BY.values()),
    order="label, ring_dimension, modulus_bits, vector_length, data_pattern, threads, comparison_group, variant, "
    "status",
    grid=Grid(
        (RANKED, N, CHAIN, SIZE, DATA, THREADS),
        _grid_cell,
    ),
    printed=(),
    columns=(
        RANKED,
        N,
        *columns.opened(CHAIN),
        SIZE,
        replace(DATA, detail=5),
        replace(THREADS, detail=5),
        BUILD,
        replace(STATUS, detail=4),
        columns.compared(columns.seconds("median", "Median")),
        columns.ratio("ratio", "× fastest"),
        RATIO_INTERVAL,
        *columns.opened(
            Column("verdict", "Against the fastest", formats.text),
            Column("is_equal_parameters", "Same parameters", formats.yes),
            LOG_QP,
            SECURITY_2024,
            REASON,
        ),
    ),
)
LATENCY = Figure(
    name="latency",
    title="Time of operations",
    lead="Median time of one execution on one full ciphertext at the largest N; whiskers are 95% intervals.",
    reading=(
        "All operations share one logarithmic axis. Hollow marks have a shorter modulus chain. The table lists "
        "every N and vector length."
    ),
    view="latency",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="label, vector_length, ring_dimension, median, variant",
    tell=tell_latency,
    finding=find_range,
    chart=draw_latency,
    printed=(),
    columns=(
        RANKED,
        N,
        SIZE,
        BUILD,
        columns.compared(columns.seconds("median", "Median")),
        INTERVAL,
        *columns.opened(
            columns.count("n", "Samples"), columns.UNDISTURBED, LOG_QP, SECURITY_2018, SECURITY_2024
        ),
    ),
)
LATENCY_BY_SIZE = Figure(
    name="latency-by-size",
    title="Time by vector length",
    lead="Median time at the largest N.",
    reading="A vector longer than the slots of one ciphertext takes several ciphertexts.",
    view="latency",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="label, vector_length, median, variant",
    derive=several_sizes,
    finding=find_growth,
    chart=draw_latency_by_size,
    printed=(),
    columns=LATENCY.columns,
    empty="This run has vectors of one length only under these filters.",
)
BY_DATA = Figure(
    name="by-data",
    title="Time with random and constant data",
    lead="Median time with random values divided by the time with one value in all slots.",
    reading=(
        "One value in all slots encodes as a constant, which some libraries multiply faster. The two cases "
        "are not interleaved: the interval combines their separate intervals."
    ),
    view="by_data",
    subject=subject.OPERATION,
    narrowed_by=(*(name for name in FILTERS if name != "data_pattern"), "phase"),
    order="operation, ring_dimension, vector_length, variant, modulus_bits",
    derive=judged_by_data,
    tell=tell_by_data,
    finding=find_by_data,
    chart=draw_by_data,
    printed=(),
    columns=(
        OPERATION,
        N,
        *columns.opened(CHAIN),
        SIZE,
        BUILD,
        columns.seconds("constant_s", "One value in all slots"),
        columns.seconds("random_s", "Random values"),
        columns.ratio("ratio", "Random / constant"),
        RATIO_INTERVAL,
        Column("verdict", "Verdict"),
    ),
    empty="This run has no case with both data patterns under these filters.",
)
SPEEDUP = Figure(
    name="speedup",
    title="HEXL speedup",
    lead="Time without HEXL divided by time with HEXL.",
    reading=(
        "Ratios compare interleaved samples pair by pair. If the interval stays within the significance "
        "threshold of 5%, there is no significant difference."
    ),
    view="speedup",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="ring_dimension, operation, vector_length, modulus_bits, comparison_group",
    tell=tell_speedup,
    finding=find_speedup,
    chart=draw_speedup,
    printed=(),
    columns=(
        OPERATION,
        N,
        *columns.opened(CHAIN),
        SIZE,
        Column("variant_on", "With HEXL"),
        Column("variant_off", "Without"),
        columns.ratio("ratio", "HEXL speedup"),
        RATIO_INTERVAL,
        Column("verdict", "HEXL is"),
        *columns.opened(columns.count("n", "Pairs")),
    ),
    empty="This run has no pair of builds with and without HEXL under these filters.",
)
