"""Figures of what is done once: the first execution in a process, the first touch of operands, the making of keys."""

from __future__ import annotations

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import (
    CHAIN,
    DATA,
    PLACE,
    RANKED,
    SIZE,
    THREADS,
    VARIANT,
    VECTOR,
    N,
)
from ciphermark_present.figure import Column, Figure

FIRST_EXECUTIONS = Figure(
    name="first-executions",
    title="Cold beside warm",
    lead=(
        "Cold is the first execution of an operation in its process, which has made keys and operands and nothing else "
        "of the kind: one for each process, so as many as a suite asks for by processes. First touch is one "
        "execution on operands never touched before, once the operation is warm. Neither is among the samples of the "
        "warm time beside them. Where a process executed the operation before, for a case that came earlier or to make "
        "operands, it has no cold time."
    ),
    view="first_executions",
    subject=subject.OPERATION,
    narrowed_by=(*PLACE, *VECTOR),
    order="label, ring_dimension, size, data_pattern, threads, comparison_key, variant",
    page="/operations",
    columns=(
        RANKED,
        N,
        CHAIN,
        SIZE,
        DATA,
        THREADS,
        VARIANT,
        Column("cold_s", "Cold", formats.seconds, is_number=True),
        Column("cold_n", "Processes", formats.digits, is_number=True),
        Column("first_touch_s", "First touch", formats.seconds, is_number=True),
        Column("n", "Touched", formats.digits, is_number=True),
        Column("warm_s", "Warm", formats.seconds, is_number=True),
        Column("cold_ratio", "Cold / warm", formats.digits, is_number=True),
        Column("first_touch_ratio", "First touch / warm", formats.digits, is_number=True),
    ),
)
