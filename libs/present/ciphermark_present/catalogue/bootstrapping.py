"""The page *Bootstrapping*: latency, amortized time, levels, precision, keys and memory; published times next to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_core import security
from ciphermark_present import charting, formats, page, sentences, subject
from ciphermark_present.catalogue import columns, published
from ciphermark_present.catalogue.columns import BUILD, CHAIN, INTERVAL, LOG_QP, THREADS, N
from ciphermark_present.charting import Chart
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.page import Page
from ciphermark_present.plots import Value, in_panels
from ciphermark_present.printed import Cells, Wanted, of
from ciphermark_present.query import Answer, Row

_NARROWED = ("variant", "ring_dimension", "threads")
_LATENCY, _AMORTIZED = "one ciphertext", "one slot and level left"
_AS_UNIFORM: dict[security.Table, str] = {"2018": "as_uniform_2018", "2024": "as_uniform_2024"}


def with_levels_of_uniform(answer: Answer, _: Row) -> Answer:
    """The rows with the security that both tables state for a uniform ternary secret in the same ring and modulus."""
    names = (*answer.columns, *_AS_UNIFORM.values())
    rows = []
    for row in answer.mappings:
        levels = {
            name: None
            if row["log_qp"] is None
            else security.level(table, row["ring_dimension"], row["log_qp"])
            for table, name in _AS_UNIFORM.items()
        }
        rows.append(tuple((row | levels)[name] for name in names))
    return Answer(names, rows)


def finding(rows: Sequence[Row]) -> str:
    """The smallest amortized time with undisturbed samples, with its case; and a smaller one without, if there is."""
    known = sentences.undisturbed(rows, "amortized_s")
    if not known:
        return ""
    best, least = (min(each, key=_amortized) for each in (known, [row for row in rows if row["amortized_s"]]))
    text = (
        f"{best['variant']} is cheapest at N = {best['ring_dimension']} with {formats.count(best['slots'])} slots: "
        f"{formats.seconds(best['median'])}, or {formats.seconds(best['amortized_s'])} per slot and level left"
    )
    if _amortized(least) == _amortized(best):
        return text
    return (
        f"{text}; {least['variant']} at N = {least['ring_dimension']}, from disturbed samples only, "
        f"{formats.seconds(least['amortized_s'])}"
    )


def _amortized(row: Row) -> float:
    return float(row["amortized_s"])


def draw_times(rows: Sequence[Row]) -> Chart | None:
    """Latency, and amortized time, of each case: a row for each case in two small charts."""
    has_threads = len({row["threads"] for row in rows}) > 1
    drawn = [
        {**row, "panel": panel, "what": _what(row, has_threads), "shown_s": row[name]}
        for panel, name in ((_LATENCY, "median"), (_AMORTIZED, "amortized_s"))
        for row in rows
        if row[name]
    ]
    if not drawn:
        return None
    axis = charting.seconds(row["shown_s"] for row in drawn)
    tips = [charting.text_tip("shown_s", "Time"), charting.text_tip("precision_after", "Precision after")]
    written: dict[str, Any] = {"shown_s": formats.seconds, "precision_after": formats.bits}
    value = Value("shown_s", None, axis, tips, ("precision_after",), written)
    return in_panels(drawn, value, "what", [_LATENCY, _AMORTIZED], [])


def _what(row: Row, has_threads: bool) -> str:
    threads = sentences.threads(row) if has_threads else ""
    parts = (
        f"N = {row['ring_dimension']}",
        f"{formats.count(row['slots'])} slots",
        str(row["bootstrapping"]).replace(f", {row['slots']} slots", ""),  # which are there already
    )
    return charting.joined(*parts, str(row["secret"] or ""), threads)


def _failure(bits: float | None) -> str:
    return "" if bits is None else f"2^−{bits:.1f}"


def _change(before: str, after: str) -> Any:
    return lambda row: f"{row[before]} → {row[after]}"


def _precision(row: Row) -> str:
    return f"{row['precision_before']:.1f} → {row['precision_after']:.1f} bits"


_MEASURED = (
    columns.compared(columns.seconds("median", "Latency")),
    columns.seconds("amortized_s", "Per slot and level", "amortized"),
    Column("levels_after", "Levels", text=_change("levels_before", "levels_after"), is_number=True),
    Column("precision_after", "Precision", text=_precision, is_number=True),
    columns.size("key_bytes", "Keys", "keys"),
    replace(columns.size("peak_bytes", "Peak memory", "peak"), detail=1),
)
_SLOTS = columns.count("slots", "Slots")


def _listed(_: Sequence[Row], __: Wanted) -> Iterator[Cells]:
    yield from (of(column) for column in (BUILD, N, _SLOTS, THREADS))
    yield of(_MEASURED[0])
    yield from (of(column, len(_MEASURED) - place) for place, column in enumerate(_MEASURED[1:]))


LAYOUT = Layout(
    about=lambda *_: "Time of one bootstrapping; mean precision and levels before and after",
    columns=_listed,
    is_by_level=False,
    table=("scheme",),
    place=35,
)
BOOTSTRAPPING = Figure(
    name="bootstrapping",
    title="Bootstrapping",
    lead="Time of one bootstrapping, and that time divided by slots and by the levels left after it.",
    reading=(
        "Every result is decrypted and compared with its operand before and after the samples. Operands are at the "
        "lowest level that the library takes. Precision is −log2 of the mean error of the slots, of the operand and of "
        "the result; libraries state this mean. The failure probability is the library's documented one. No table "
        "rates sparse secrets: both levels are those of a uniform ternary secret with the same N and log2(QP), an "
        "upper bound. Primes inside are those of the bootstrapping circuit, where ciphertexts outside have fewer. Keys "
        "are the bytes of all evaluation keys, which the server holds. Peak memory is that of a process with both "
        "parties."
    ),
    view="bootstrapping",
    subject=subject.BOOTSTRAPPING,
    narrowed_by=_NARROWED,
    order="ring_dimension, slots, secret, bootstrapping, threads, variant",
    derive=with_levels_of_uniform,
    finding=finding,
    chart=draw_times,
    printed=(LAYOUT,),
    is_table_open=True,
    columns=(
        BUILD,
        N,
        _SLOTS,
        replace(THREADS, detail=1),
        *_MEASURED,
        Column("failure_bits", "Failure", _failure, is_number=True, detail=2),
        *columns.opened(
            INTERVAL,
            Column("min_precision", "Precision of the worst slot", formats.bits, is_number=True),
            columns.seconds("keygen_s", "Key generation and loading"),
            Column("secret", "Secret", formats.text),
            Column("bootstrapping", "Parameters", formats.text),
            CHAIN,
            columns.of_dimension(columns.descriptor.DIMENSIONS["bootstrapping_bits"]),
            LOG_QP,
            Column("as_uniform_2018", "2018, if uniform", formats.level),
            Column("as_uniform_2024", "2024, if uniform", formats.level),
        ),
    ),
    empty="This run has no bootstrapping: the suite bootstrapping has.",
)
PUBLISHED = published.about(
    "published-bootstrapping",
    *subject.BOOTSTRAPPING.experiments,
    title="Published bootstrapping",
    lead="From papers, each with its host; never ranked.",
    reading=(
        "Machines, slots, levels and security differ: the notes state them where the source does. A time of an "
        "accelerator is that of a simulator."
    ),
)
PAGE = Page(
    "/bootstrapping",
    "Bootstrapping",
    "Latency, amortized time, precision, keys and memory of bootstrapping.",
    (page.VARIANT, page.RING_DIMENSION, page.THREADS),
    (BOOTSTRAPPING, PUBLISHED),
    question="How long does it take to bootstrap a ciphertext with {threads}?",
    suite="bootstrapping",
    place=35,
)
