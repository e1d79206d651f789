"""The table that answers whether HEXL helps: every operation of a run at every N, with a verdict for its CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ciphermark_present import charting, formats, parameters, subject
from ciphermark_present.catalogue.columns import OPERATION, opened
from ciphermark_present.figure import FILTERS, Column, Figure
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row

_RINGS = tuple(1 << power for power in range(12, 18))
_ADDED = ("rings", "ratios", "helps", "intervals")
_MARKS = {"no difference": " ≈", "undecided": " ?", "too few samples": " ?"}


def with_rings(answer: Answer, _: Row) -> Answer:
    """A row for each operation, and for each request of it at one N: its speedup at every N, the verdict over these,
    and the intervals. Of several vectors, it takes the fullest of one ciphertext.
    """
    cells = [f"{name}_{ring}" for ring in _RINGS for name in ("n", "verdict")]
    names = tuple(dict.fromkeys((*answer.columns, *_ADDED, *cells)))
    full = charting.fullest(answer.mappings) if answer.rows else []
    labeled = parameters.with_apart(full, lambda row: (row["operation"], row["ring_dimension"]))
    rows = []
    for same in grouped(labeled, lambda row: (row["operation"], row["apart"])):
        cases = sorted(same, key=lambda row: int(row["ring_dimension"]))
        row: dict[str, Any] = {**cases[-1], **dict.fromkeys(cells)}
        for case in cases:
            ring = case["ring_dimension"]
            row |= {f"n_{ring}": float(case["ratio"]), f"verdict_{ring}": case["verdict"]}
        row["rings"] = [case["ring_dimension"] for case in cases]
        row["ratios"] = [float(case["ratio"]) for case in cases]
        row["helps"] = _verdict(cases)
        row["intervals"] = "; ".join(f"N = {case['ring_dimension']} {_interval(case)}" for case in cases)
        rows.append(tuple(row[name] for name in names))
    return Answer(names, rows)


def _interval(case: Row) -> str:
    return formats.ratio_interval(case["ci_low"], case["ci_high"])


def _verdict(cases: Sequence[Row]) -> str:
    """Whether HEXL helps, with the N where the answer differs."""
    words = {"faster": "yes", "no difference": "no", "slower": "slower"}
    answers = grouped(cases, lambda case: words.get(case["verdict"], "undecided"))
    texts = [(words.get(same[0]["verdict"], "undecided"), same) for same in answers]
    if len(texts) == 1:
        return texts[0][0]
    return "; ".join(
        f"{text} at {', '.join(str(case['ring_dimension']) for case in same)}" for text, same in texts
    )


def finding(rows: Sequence[Row]) -> str:
    """The number of operations that HEXL speeds up at every N, on this CPU."""
    operations = grouped(rows, lambda row: row["operation"])
    helped = sum(all(row["helps"] == "yes" for row in same) for same in operations)
    unsure = sum(any("undecided" in row["helps"] for row in same) for same in operations)
    text = f"On {rows[0]['cpu']}, HEXL speeds up {helped} of {len(operations)} operations at every N"
    return f"{text}; {unsure} undecided" if unsure else text


def _column(ring: int) -> Column:
    def mark(row: Row) -> str:
        return _MARKS.get(row[f"verdict_{ring}"], "")

    return Column(f"n_{ring}", f"N = {ring}", formats.times, is_number=True, mark=mark)


HEXL = Figure(
    name="hexl",
    title="HEXL by operation and N",
    lead="Speedup by operation and N: time without HEXL divided by time with it. ≈ no significant difference.",
    reading=(
        "Each cell compares interleaved samples pair by pair. The verdict holds for the CPU of the run. HEXL's fastest "
        "transforms need AVX-512 IFMA and primes of at most 50 bits. ? marks a speedup with too few samples or a wide "
        "interval. Intervals open with a row."
    ),
    view="hexl",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="operation, tuning, threads, ring_dimension, comparison_group",
    derive=with_rings,
    finding=finding,
    printed=(),
    columns=(
        OPERATION,
        *(_column(ring) for ring in _RINGS),
        Column("helps", "Does HEXL help?"),
        *opened(
            Column("intervals", "95% intervals"),
            Column("variant_on", "With HEXL"),
            Column("variant_off", "Without"),
            Column("cpu", "CPU"),
        ),
    ),
    empty="This run has no pair of builds with and without HEXL under these filters: the suite primitives has.",
)
