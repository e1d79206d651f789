"""Predictions on accelerators as tables. Pure; a row is what :mod:`ciphermark_benchmark.on_machines` makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present import formats
from ciphermark_present.catalogue import columns
from ciphermark_present.printed import Head, Printed, told_once
from ciphermark_present.query import Row

UNVERIFIED = "*"
_KINDS = ("hint", "plaintext", "input", "spill")


def tables(rows: Sequence[Row], title: str) -> Iterator[Printed]:
    """Times and traffic on each machine, the busy share of its units, and its inputs that are not published."""
    yield _times(rows, title)
    yield _units(rows)
    if any(row["marks"] for row in rows):
        yield _inputs(rows)


def finding(rows: Sequence[Row]) -> str:
    """The prediction in one sentence: of a machine, or of one with changes in comparison."""
    first, last = rows[0], rows[-1]
    name = first["program"].rpartition("/")[2]
    text = f"{name} takes {formats.seconds(first['time_s'])} on {first['title']}, bound by {first['binding']}"
    if last is first:
        return text
    return f"{text}; {formats.seconds(last['time_s'])} with the changes"


def _times(rows: Sequence[Row], title: str) -> Printed:
    heads = (
        Head("machine"),
        Head("time", is_number=True),
        Head("latency 0", is_number=True),
        Head("computing", is_number=True, drop=1),
        Head("bound by"),
        *(Head(f"{kind}s", is_number=True, drop=2) for kind in _KINDS),
        Head("energy", is_number=True, drop=3),
    )
    lines = [
        (
            _name(row),
            formats.seconds(row["time_s"]),
            formats.seconds(row["without_latency_s"]),
            formats.seconds(row["compute_s"]),
            row["binding"],
            *(formats.size(row[f"{kind}_bytes"]) for kind in _KINDS),
            energy(row),
        )
        for row in rows
    ]
    several = len({row["program"] for row in rows}) > 1
    if several:
        heads = (Head("program"), *heads)
        lines = [(row["program"], *line) for row, line in zip(rows, lines, strict=True)]
    return Printed(
        title,
        _about(rows),
        heads,
        told_once(lines, 1) if several else tuple(lines),
        1 + several,
        legend=tuple(_legend(rows)),
    )


def energy(row: Row) -> str:
    """The upper bound of the energy: the published power times the predicted time."""
    power = row["power_w"]
    return formats.NOTHING if power is None else f"≤ {formats.three_digits(power * row['time_s'])} J"


def _name(row: Row) -> str:
    return row["title"] + UNVERIFIED * (not row["is_verified"])


def _about(rows: Sequence[Row]) -> str:
    rings = ", ".join(str(ring) for ring in dict.fromkeys(row["ring_dimension"] for row in rows))
    residues = ", ".join(str(count) for count in dict.fromkeys(row["residues"] for row in rows))
    return f"predicted, not measured; N = {rings}; residues of a fresh ciphertext: {residues}"


def _legend(rows: Sequence[Row]) -> Iterator[str]:
    if any(not row["is_verified"] for row in rows):
        yield f"{UNVERIFIED} the machine was not compared with its publication"
    if any(row["latency_s"] for row in rows):
        yield "latency 0: without the cycles that are added to each key switching, a fitted number"
    if any(row["power_w"] for row in rows):
        yield "energy: at most the published power for the whole time"
    yield from dict.fromkeys(remark for row in rows for remark in row["remarks"])


def _units(rows: Sequence[Row]) -> Printed:
    units = tuple(dict.fromkeys(unit for row in rows for unit in row["busy"]))
    heads = (Head("machine"), *(Head(unit, is_number=True) for unit in units), Head("memory", is_number=True))
    lines = [
        (
            _name(row),
            *(
                formats.percent(row["busy"][unit]) if unit in row["busy"] else formats.NOTHING
                for unit in units
            ),
            formats.percent(row["memory_s"] / row["time_s"]),
        )
        for row in rows
    ]
    if len({row["program"] for row in rows}) > 1:
        heads = (Head("program"), *heads)
        lines = [(row["program"], *line) for row, line in zip(rows, lines, strict=True)]
    return Printed("Busy share of units", "", heads, tuple(lines), len(heads) - len(units) - 1)


def _inputs(rows: Sequence[Row]) -> Printed:
    marks = dict.fromkeys((_name(row), key, text) for row in rows for key, text in row["marks"].items())
    heads = (Head("machine"), Head("input"), Head("origin", is_prose=True))
    return Printed("Inputs that are not published", "", heads, told_once([*marks], 1), 2)


def comparison(whole: Row) -> Iterator[Printed]:
    """Published against predicted times, their errors, ablations and the security of published points. ``whole`` is
    what :func:`ciphermark_benchmark.machine_comparison.whole` returns.
    """
    yield _compared(whole["rows"], whole["exact_bootstrap_ms"])
    yield _errors(whole["errors"])
    if whole["ablations"]:
        yield _ablations(whole["ablations"])
    yield _verdicts(whole["verdicts"])


def _ms(value: float | None) -> str:
    return formats.NOTHING if value is None else formats.seconds(value / 1e3)


def _times_of(value: float | None, published: float) -> str:
    return formats.NOTHING if value is None else f"{value / published:.2f}"


def _compared(rows: Sequence[Row], exact_ms: float) -> Printed:
    heads = (
        Head("bits"),
        Head("program"),
        Head("published", is_number=True),
        Head("predicted", is_number=True),
        Head("ratio", is_number=True),
        Head("latency 0", is_number=True, drop=1),
        Head("ratio", is_number=True),
        Head("trivial rule", is_number=True),
        Head("bound by"),
        *(Head(f"{kind}s", is_number=True, drop=2) for kind in _KINDS),
        Head("energy", is_number=True, drop=3),
    )
    lines = [
        (
            str(row["security"]),
            row["program"],
            _ms(row["published_ms"]),
            _ms(row.get("predicted_ms")),
            _times_of(row.get("predicted_ms"), row["published_ms"]),
            _ms(row.get("without_latency_ms")),
            _times_of(row.get("without_latency_ms"), row["published_ms"]),
            _times_of(row["rule_ms"] if row["security"] == _MAIN else None, row["published_ms"]),
            row.get("binding", row.get("reason", "")),
            *(formats.size(row.get(f"{kind}_bytes")) for kind in _KINDS),
            formats.NOTHING if not row.get("energy_j") else f"≤ {formats.three_digits(row['energy_j'])} J",
        )
        for row in sorted(rows, key=lambda row: row["security"])
    ]
    legend = (
        "ratio: predicted by published",
        "latency 0: without the cycles that are added to each key switching, a number fitted to lola-mnist",
        "trivial rule: the published time of the processor, divided by one number for all programs",
        "energy: at most the published power for the whole time",
        "bootstraps have all terms of EvalMod's polynomial, 15 products in each part, as inferred for the paper",
        f"with its even terms alone, 11 products, packed-bootstrap takes {_ms(exact_ms)} at 80 bits",
    )
    return Printed("Published and predicted times", "", heads, told_once(lines, 1), 2, legend=legend)


_MAIN = 80


def measured(rows: Sequence[Row], times: Sequence[Row]) -> Printed:
    """Measured times of programs on processors, and of the paper's, next to the predictions for the machine. Parameters
    of measured programs are their own.
    """
    own = {row["program"]: row for row in rows if row["security"] == _MAIN}
    lines = []
    for program, row in own.items():
        several = [time for time in times if time["program"] == program]
        if row["cpu_s"]:
            several.append({"seconds": row["cpu_s"]})
        predicted_ms = row.get("predicted_ms")
        lines += [(program, *_processor(time, predicted_ms and predicted_ms / 1e3)) for time in several]
    return _processors(lines)


def measured_beside(rows: Sequence[Row], times: Sequence[Row]) -> Iterator[Printed]:
    """Measured times of predicted programs, where there are some, next to their prediction on the first machine."""
    first: dict[str, float] = {}
    for row in rows:
        first.setdefault(row["program"], row["time_s"])
    lines = [(time["program"], *_processor(time, first[time["program"]])) for time in times]
    if lines:
        yield _processors(lines)


def _processor(time: Row, predicted_s: float | None) -> tuple[str, ...]:
    """A measured time of a program, or one of the paper."""
    name = f"{time['variant']}, {time['host']}" if "variant" in time else "of the paper"
    return (
        name,
        str(time.get("ring_dimension") or formats.NOTHING),
        f"{time['log_qp']:.0f}" if time.get("log_qp") else formats.NOTHING,
        str(time.get("threads") or formats.NOTHING),
        time.get("options") or formats.NOTHING,
        columns.disturbance(time.get("is_disturbed", False)) + formats.seconds(time["seconds"]),
        formats.NOTHING if predicted_s is None else formats.seconds(predicted_s),
        formats.NOTHING if predicted_s is None else formats.ratio(time["seconds"] / predicted_s),
    )


def _processors(lines: Sequence[tuple[str, ...]]) -> Printed:
    heads = (
        Head("program"),
        Head("processor"),
        *(Head(name, is_number=True) for name in ("N", "log2 QP", "threads")),
        Head("options", drop=1),
        *(Head(name, is_number=True) for name in ("time", "predicted", "factor")),
    )
    legend = (
        "time: the latest measured one; parameters of measured programs are their own",
        "factor: time of the processor by the predicted one",
        *(columns.DISTURBED,) * any(text.startswith(formats.DISTURBED) for line in lines for text in line),
    )
    return Printed("Times of processors", "", heads, told_once(lines, 1), 2, legend=legend)


def _errors(rows: Sequence[Row]) -> Printed:
    heads = (
        Head("bits"),
        Head("rule"),
        Head("error", is_number=True),
        Head("within 2×", is_number=True),
    )
    lines = [
        (str(row["security"]), row["rule"], formats.ratio(row["error"]), f"{row['within_2']} of {row['n']}")
        for row in rows
    ]
    legend = ("error: geometric mean of how many times too large or too small",)
    return Printed("Errors", "", heads, told_once(lines, 1), 2, legend=legend)


def _ablations(rows: Sequence[Row]) -> Printed:
    heads = (
        Head("machine"),
        Head("program"),
        *(Head(name, is_number=True) for name in ("published", "predicted", "ratio")),
    )
    lines = [
        (
            row["machine"],
            row["program"],
            formats.ratio(row["published_slowdown"]),
            formats.ratio(row["slowdown"]),
            f"{row['slowdown'] / row['published_slowdown']:.2f}",
        )
        for row in rows
    ]
    return Printed("Time in that of the whole machine", "", heads, told_once(lines, 1), 2)


def _verdicts(rows: Sequence[Row]) -> Printed:
    heads = (
        Head("stated bits"),
        *(Head(name, is_number=True) for name in ("N", "L", "digits", "log2 QP", "2018", "2024")),
    )
    lines = [
        (
            str(row["security"]),
            str(row["ring_dimension"]),
            str(row["residues"]),
            str(row["digits"]),
            f"{row['log_qp']:.0f}",
            *(formats.security(row[f"security_{table}"]) for table in (2018, 2024)),
        )
        for row in rows
    ]
    legend = (
        "2018, 2024: level by the HE Standard, which has no N above 32768, and by the guidelines of Bossuat et al.",
    )
    return Printed("Security of published parameters", "", heads, told_once(lines, 1), 2, legend=legend)
