"""Figures of memory, of bytes on the wire, and of key generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ciphermark_present import charting, formats, headings, sentences, subject
from ciphermark_present.by_ring import by_ring
from ciphermark_present.catalogue import columns, comparing
from ciphermark_present.catalogue.columns import (
    CHAIN,
    INTERVAL,
    LOG_QP,
    OPERATION,
    PEAK,
    SECURITY_2018,
    SIZE,
    VARIANT,
    N,
)
from ciphermark_present.charting import Chart
from ciphermark_present.figure import FILTERS, Column, Figure, Layout
from ciphermark_present.formats import size
from ciphermark_present.plots import Value, in_panels, in_rows
from ciphermark_present.printed import Cells, Head, Wanted, of, present
from ciphermark_present.query import Row


def tell_memory(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The memory of each variant for the operation with the highest peak."""
    peak = max(every, key=lambda row: float(row["peak_bytes"]))
    same = ("operation", "ring_dimension", "vector_length")
    here = [row for row in every if all(row[name] == peak[name] for name in same)]
    yield (
        f"Peak memory, {sentences.place(parameters)}, is highest for {peak['operation']} at "
        f"N = {peak['ring_dimension']} with vector length {peak['vector_length']}: "
        f"{sentences.extent(here, 'peak_bytes', size)}."
    )


def tell_sizes(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Bytes of a ciphertext, or of another serialized object, and of the largest object, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    biggest = max(here, key=lambda row: float(row["bytes"]))["object"]
    extents = [
        f"{name} {sentences.extent(rows, 'bytes', size)}"
        for name in dict.fromkeys(("ciphertext", biggest))
        if (rows := [row for row in here if row["object"] == name])
    ]
    yield (
        f"Bytes, {sentences.place(parameters)}, N = {largest}, every way of compression: "
        f"{'; '.join(extents)}."
    )


def find_peak(rows: Sequence[Row]) -> str:
    """The extent of the variants' memory for the operation with the highest peak, with a vector of one ciphertext."""
    cases = charting.fullest(rows)
    peak = max(cases, key=lambda row: float(row["peak_bytes"]))
    here = [row for row in cases if all(row[name] == peak[name] for name in ("operation", "ring_dimension"))]
    least = min(float(row["peak_bytes"]) for row in here)
    range_of = f"{size(least)} to {size(peak['peak_bytes'])}" if len(here) > 1 else size(peak["peak_bytes"])
    return f"{peak['operation']} at N = {peak['ring_dimension']} has the highest peak memory: {range_of}"


def find_sizes(rows: Sequence[Row]) -> str:
    """The extent of a ciphertext's bytes at the largest N, uncompressed where that is known."""
    whole = [row for row in charting.fullest(rows) if row["object"] == "ciphertext"]
    largest = max((row["ring_dimension"] for row in whole), default=0)
    here = [row for row in whole if row["ring_dimension"] == largest]
    plain = [row for row in here if not _is_packed(row)] or here
    if not plain:
        return ""
    least, most = (size(choose(row["bytes"] for row in plain)) for choose in (min, max))
    packed = f", compressed with {plain[0]['compression']}" if _is_packed(plain[0]) else ""
    return f"A ciphertext at N = {largest} takes {least if least == most else f'{least} to {most}'}{packed}"


def draw_memory(rows: Sequence[Row]) -> Chart | None:
    """Peak memory with a vector of one ciphertext, by N and variant."""
    peaks = charting.fullest(rows) if rows else []
    axis = charting.sizes(row["peak_bytes"] for row in peaks)
    told = [charting.text_tip("peak_bytes", "Peak memory")]
    return by_ring(peaks, Value("peak_bytes", None, axis, told, written={"peak_bytes": formats.size}))


def draw_sizes(rows: Sequence[Row]) -> Chart | None:
    """Serialized sizes by object and variant, in bytes, with a vector of one ciphertext: a row for each object, one
    small chart for each N.
    """
    if not rows:
        return None
    cases = charting.with_rings([{**row, "operation": row["compression"]} for row in charting.fullest(rows)])
    are_alike = len({row["compression"] for row in cases}) == 1
    about = [f"Compression: {cases[0]['compression']}"] * (are_alike and _is_packed(cases[0]))
    labelled = [
        {
            **row,
            "what": charting.joined(
                row["object"].replace("_", " "), row["compression"] * (_is_packed(row) and not are_alike)
            ),
            "panel": f"N = {row['ring']}",
        }
        for row in cases
    ]
    order = [f"N = {ring}" for ring in charting.ring_order(labelled)]
    drawn, notes = charting.enough(labelled, "panel", order)
    value = Value(
        "bytes",
        None,
        charting.sizes(row["bytes"] for row in rows),
        [charting.text_tip("bytes", "Size")],
        written={"bytes": formats.size},
    )
    if not drawn:
        rows_of = [{**row, "panel": charting.joined(row["what"], row["panel"])} for row in labelled]
        return in_rows(rows_of, value, about)
    return in_panels(drawn, value, "what", order, about + notes)


def _is_packed(row: Row) -> bool:
    return bool(row["compression"] != "none")


def _object(row: Row) -> str:
    return str(row["compression"]) if _is_packed(row) else ""


def _expansion(row: Row) -> str:
    return "" if row["expansion"] is None else formats.times(row["expansion"])


def _heading(rows: Sequence[Row], _: Wanted) -> str:
    """Scheme and parameters."""
    first = rows[0]
    chain = f"primes of {formats.chain(first['modulus_bits'])} bits"
    parts = [first["scheme"].upper(), f"N = {first['ring_dimension']}", chain, headings.message(rows)]
    about = ", ".join(filter(None, parts))
    return f"{about}. Security: {formats.security(first['security_2018'])} (2018)"


def _objects(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield Head("object"), lambda row: str(row["object"])
    yield from present([(Head("compression"), _object)], rows)
    yield of(VARIANT)
    yield Head("bytes", True, drop=2), lambda row: formats.digits(row["bytes"])
    yield Head("", True), lambda row: formats.brief_size(row["bytes"])
    yield from present([(Head("expansion", True, drop=1), _expansion)], rows)


def _keys(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield Head("key"), lambda row: str(row["operation"])
    yield of(VARIANT)
    yield Head("median", True), lambda row: formats.brief_seconds(row["median"])
    yield Head("95% interval", True, drop=1), _interval
    yield Head("n", True), lambda row: str(row["n"])


def _interval(row: Row) -> str:
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])[1]


def _about_objects(rows: Sequence[Row], _: Wanted) -> str:
    """The contents of the bytes, and how full the ciphertext is to which expansion refers."""
    slots, size = rows[0]["slots"], rows[0]["vector_length"]
    inside = f"its {slots:,} values" if size >= slots else f"the {size:,} values in it (it holds {slots:,})"
    return f"Exact sizes, {rows[0]['data_pattern']} data. Expansion: multiple of the bytes of {inside}"


def _numbered(names: tuple[str, ...]) -> Callable[[Sequence[Sequence[Row]], Wanted], list[Row]]:
    """The rows with the number of the measured object (``what``), in the order of the query."""

    def rows(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
        whats = [tuple(row[name] for name in names) for row in answers[0]]
        places = {what: place for place, what in reversed(list(enumerate(whats)))}
        return [{**row, "what": places[what]} for row, what in zip(answers[0], whats, strict=True)]

    return rows


OBJECTS = Layout(
    rows=_numbered(("object", "compression")),
    table=("scheme", "tuning", "ring_dimension", "vector_length", "data_pattern", "modulus_bits"),
    is_by_level=False,
    varied=lambda row: (row["what"], row["variant"]),
    order=lambda row: (row["what"], row["variant"]),
    title=_heading,
    about=_about_objects,
    columns=_objects,
    place=40,
    is_main=True,
)
KEYS = replace(
    OBJECTS,
    rows=_numbered(("operation",)),
    about=lambda rows, _: "Key generation time: median per key. n: number of keys",
    columns=_keys,
    place=41,
)
KEY_GENERATION = Figure(
    name="key-generation",
    title="Key generation time",
    lead="Median time to generate one key.",
    reading=(
        "Keys are a secret key with its public key, a relinearization key, and the key of one rotation. Large"
        " keys are generated only a few times: see the number of samples."
    ),
    view="key_generation",
    subject=subject.KEY,
    narrowed_by=("scheme", "security_2018", "ring_dimension", "variant"),
    order="operation, ring_dimension, median, variant, comparison_group",
    page="/memory",
    printed=(KEYS,),
    columns=(
        Column("operation", "Key"),
        N,
        *columns.opened(CHAIN),
        VARIANT,
        columns.compared(columns.seconds("median", "Median")),
        INTERVAL,
        columns.count("n", "Samples"),
        *columns.opened(LOG_QP, SECURITY_2018),
    ),
    empty="This run has not measured key generation: add the experiment key_generation.",
)
MEMORY = Figure(
    name="memory",
    title="Peak memory",
    lead="Maximum resident memory of a worker process during an operation.",
    reading=(
        "The value is the kernel's high-water mark of the process, Python and library included. The worker "
        "times nothing. Encryption depends only on the parameters and is listed once. The chart shows one "
        "full ciphertext, the table every vector length."
    ),
    view="memory",
    subject=subject.OPERATION,
    narrowed_by=(*FILTERS, "phase"),
    order="operation, ring_dimension, vector_length, variant",
    derive=comparing.with_rows_once,
    tell=tell_memory,
    finding=find_peak,
    chart=draw_memory,
    printed=(),
    columns=(OPERATION, N, *columns.opened(CHAIN), SIZE, VARIANT, columns.compared(PEAK)),
)
SIZES = Figure(
    name="sizes",
    title="Serialized sizes",
    lead="Bytes of serialized ciphertexts, plaintexts and keys.",
    reading=(
        "Expansion is the ciphertext bytes divided by the bytes of the values inside: at most as many values "
        "as a ciphertext has slots."
    ),
    view="sizes",
    subject=subject.OBJECT,
    narrowed_by=tuple(name for name in FILTERS if name != "operation"),
    order="object, compression, ring_dimension, vector_length, variant, comparison_group",
    tell=tell_sizes,
    finding=find_sizes,
    chart=draw_sizes,
    printed=(OBJECTS,),
    noted_by=("object", "object"),
    columns=(
        Column("object", "Object"),
        Column("compression", "Compression"),
        N,
        *columns.opened(CHAIN, columns.count("slots", "Slots")),
        SIZE,
        VARIANT,
        columns.compared(columns.size("bytes", "Bytes")),
        columns.count("expansion", "Expansion"),
    ),
)
