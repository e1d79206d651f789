"""Figures of noise, depth, memory and bytes."""

from __future__ import annotations

from ciphermark_present import formats, shared, subject
from ciphermark_present.additions import with_additions
from ciphermark_present.catalogue.columns import (
    CHAIN,
    OPERATION,
    PEAK,
    PLACE,
    REASON,
    SIZE,
    STATUS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import quality

_ADDITION = Column("addition", "What the library adds on purpose", formats.text, is_prose=True)

NOISE = Figure(
    name="noise",
    title="Bits left against the number of operations",
    lead=(
        "Noise budget (bfv, bgv) or precision (ckks) after 0, 1, 2, 4, 8, … operations in a row. Variants that agree "
        "lie upon each other, each with a mark of its own size. Fresh keys move a budget by a bit or two: less is no "
        "difference. What a library adds on purpose when it decrypts stands beside."
    ),
    view="noise",
    subject=subject.NOISE,
    where={"phase": "operation"},
    narrowed_by=(*PLACE, *VECTOR),
    order="operation, ring_dimension, size, variant, repetitions",
    derive=with_additions,
    tell=quality.noise,
    chart="quality.noise",
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("repetitions", "Operations", formats.digits, is_number=True),
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
        _ADDITION,
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
    view="bits_left",
    subject=subject.OPERATION,
    where={"phase": "operation"},
    narrowed_by=(*PLACE, *VECTOR),
    order="operation, ring_dimension, size, variant, meaning",
    derive=with_additions,
    tell=quality.bits_left,
    chart="quality.bits_left",
    noted_by=("metric", "meaning"),
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("bits", "Bits left", formats.bits, is_number=True),
        Column("meaning", "Of"),
        Column("n", "Samples", formats.digits, is_number=True),
        _ADDITION,
    ),
)
DEPTH = Figure(
    name="depth",
    title="Depth",
    lead="The most operations in a row whose result still decrypts right; ≥ where the search ended at its cap.",
    view="depth",
    subject=subject.DEPTH,
    narrowed_by=(*PLACE, *VECTOR),
    may_lack=("security_compared",),
    order="operation, ring_dimension, size, variant",
    tell=quality.depth,
    chart="quality.depth",
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        Column("depth", "Operations", formats.digits, is_number=True),
        Column("is_capped", "At the cap", formats.yes),
        STATUS,
        REASON,
    ),
)
MEMORY = Figure(
    name="memory",
    title="Peak memory",
    lead=(
        "The kernel's high-water mark of the process's resident memory during the phase, Python and library included, "
        "in a worker where nothing is timed. What encryption takes belongs to the parameters, and stands once. The "
        "chart has one ciphertext's vector, the table every size."
    ),
    view="memory",
    subject=subject.OPERATION,
    narrowed_by=(*PLACE, *VECTOR, "phase"),
    order="operation, ring_dimension, size, variant",
    derive=shared.derived,
    tell=quality.memory,
    chart="quality.peak_memory",
    columns=(
        OPERATION,
        N,
        CHAIN,
        SIZE,
        VARIANT,
        PEAK,
    ),
)
SIZES = Figure(
    name="sizes",
    title="Serialized sizes",
    lead=(
        "Exact bytes of ciphertexts, plaintexts and keys. Expansion is ciphertext bytes by bytes of the data inside. "
        "The axis is logarithmic."
    ),
    view="sizes",
    subject=subject.OBJECT,
    narrowed_by=("scheme", "security_compared", "ring_dimension", "variant", *VECTOR),
    order="object, compression, ring_dimension, size, variant, comparison_key",
    tell=quality.sizes,
    chart="quality.object_sizes",
    noted_by=("object", "object"),
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
