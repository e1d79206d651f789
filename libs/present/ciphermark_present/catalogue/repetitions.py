"""The figure of operations in a row."""

from __future__ import annotations

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import (
    INTERVAL,
    LOG_QP,
    PEAK,
    PLACE,
    RANKED,
    REASON,
    SECURITY_2018,
    SIZE,
    STATUS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import quality

REPETITIONS = Figure(
    name="repetitions",
    title="Operations in a row",
    lead=(
        "Median total time of so many operations in a row, at the smallest N that is secure for the chain and, where "
        "the suite names one, at a given N. The time axis is logarithmic."
    ),
    view="repetitions",
    subject=subject.REPETITION,
    narrowed_by=(*PLACE, *VECTOR),
    may_lack=("security_compared",),
    order="label, repetitions, size, ring_dimension_is_minimum desc, median nulls last, variant",
    tell=quality.repetitions,
    chart="repetitions.against_count",
    columns=(
        RANKED,
        Column("repetitions", "In a row", formats.digits, is_number=True),
        VARIANT,
        N,
        SIZE,
        Column("ring_dimension_is_minimum", "Smallest secure N", formats.yes),
        STATUS,
        Column("median", "Total time", formats.seconds, is_number=True),
        *INTERVAL,
        PEAK,
        Column("bits_left", "Bits left", formats.bits, is_number=True),
        LOG_QP,
        SECURITY_2018,
        REASON,
    ),
)
