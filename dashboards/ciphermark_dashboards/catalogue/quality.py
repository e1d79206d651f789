"""Figures of noise, depth, memory and bytes."""

from __future__ import annotations

from ciphermark_dashboards import formats
from ciphermark_dashboards.catalogue.columns import CHAIN, OPERATION, SIZE, VARIANT, N
from ciphermark_dashboards.charts import quality
from ciphermark_dashboards.figures import Column, Figure

NOISE = Figure(
    name="noise",
    title="Bits left against the number of operations",
    lead=(
        "Noise budget (bfv, bgv) or precision (ckks) after 0, 1, 2, 4, 8, … operations in a row. Variants stand side "
        "by side at each count, since most agree. Fresh keys move a budget by a bit or two: less is no difference."
    ),
    block="noise",
    draw=quality.noise,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("repetitions", "Operations", formats.digits, is_number=True),
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
    ),
)
BITS_LEFT = Figure(
    name="bits-left",
    title="Bits left after one operation",
    lead=(
        "Noise budget (bfv, bgv) or precision (ckks) of the result of one operation on fresh ciphertexts. The chart "
        "has one ciphertext's vector, the table every size. Fresh keys move a budget by a bit or two: less is no "
        "difference."
    ),
    block="bits_left",
    draw=quality.bits_left,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
        Column("n", "Samples", formats.digits, is_number=True),
    ),
)
DEPTH = Figure(
    name="depth",
    title="Depth",
    lead="The most operations in a row whose result still decrypts right; ≥ where the search ended at its cap.",
    block="depth",
    draw=quality.depth,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("depth", "Operations", formats.digits, is_number=True),
        Column("is_capped", "At the cap", formats.yes),
        Column("status", "Outcome"),
        Column("error", "Reason", formats.text),
    ),
)
MEMORY = Figure(
    name="memory",
    title="Peak memory",
    lead=(
        "The kernel's high-water mark of the process's resident memory during the phase, Python and library included, "
        "in a worker where nothing is timed. The chart has one ciphertext's vector, the table every size."
    ),
    block="memory",
    draw=quality.peak_memory,
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("peak_bytes", "Peak", formats.size, is_number=True),
    ),
)
SIZES = Figure(
    name="sizes",
    title="Serialized sizes",
    lead=(
        "Exact bytes of ciphertexts, plaintexts and keys. Expansion is ciphertext bytes by bytes of the data inside. "
        "The axis is logarithmic."
    ),
    block="sizes",
    draw=quality.object_sizes,
    columns=(
        Column("object", "Object"),
        Column("compression", "Compression"),
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("bytes", "Bytes", formats.size, is_number=True),
        Column("expansion", "Expansion", formats.digits, is_number=True),
    ),
)
