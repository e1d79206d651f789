"""Figures of layers: where a server's time goes within the circuit of a workload, and how far each part is from the
clear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import (
    INTERVAL,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    THREADS,
    VARIANT,
    WORKLOAD,
    N,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import layers


def _counts(operations: Mapping[str, int] | None) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted((operations or {}).items())) or formats.NOTHING


def _size(name: str, label: str) -> Column:
    return Column(name, label, formats.size, is_number=True, brief=formats.brief_size)


LAYER = Column("layer", "Layer")
LAYERS = Figure(
    name="layers",
    title="Layers",
    lead=(
        "Median times of the parts of the network, each executed by itself on one input beside the passes, in which "
        "the network stays whole. Scale is that at the end of a layer; it takes and gives bytes in memory, 8 for each "
        "coefficient and prime. In ckks the client decrypts what each layer ends with, and compares every slot with "
        "the same operations in the clear."
    ),
    view="layers",
    subject=subject.INFERENCE,
    narrowed_by=("operation", "variant"),
    order="operation, options, scheme, threads, ring_dimension, variant, comparison_key, position",
    tell=layers.longest,
    chart="layers.by_variant",
    columns=(
        WORKLOAD,
        OPTIONS,
        SCHEME,
        THREADS,
        VARIANT,
        N,
        SECURITY_2018,
        LAYER,
        Column("level", "From level", formats.text, is_number=True),
        Column("end_level", "To level", formats.text, is_number=True),
        Column("end_scale_bits", "Scale, bits", formats.bits, is_number=True),
        Column("operations", "Operations", _counts),
        _size("operand_bytes", "Takes"),
        _size("result_bytes", "Gives"),
        Column("layer_time", "Time", formats.seconds, is_number=True, brief=formats.brief_seconds),
        *INTERVAL,
        Column("layer_share", "Share", formats.share, is_number=True),
        Column("layer_largest", "Largest value", formats.digits, is_number=True),
        Column("layer_error", "Largest error", formats.small, is_number=True),
    ),
    empty="This run has no network whose layers were executed.",
)
ANSWER_LAYERS = replace(
    LAYERS,
    name="answer-layers",
    title="Parts of an answer",
    lead=(
        "Median times of the parts of the server's answer, each executed by itself on one query beside the passes, in "
        "which the answer stays whole. A part takes and gives bytes in memory, 8 for each coefficient and prime: the "
        "database is in what it takes."
    ),
    subject=subject.RETRIEVAL,
    columns=tuple(
        column
        for column in LAYERS.columns
        if column.name not in ("end_scale_bits", "layer_largest", "layer_error")
    ),
    empty="This run has no retrieval whose parts were executed.",
)
