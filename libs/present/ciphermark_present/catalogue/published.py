"""Figures that others published, beside ours."""

from __future__ import annotations

from ciphermark_present import formats
from ciphermark_present.catalogue.columns import SCHEME
from ciphermark_present.figure import Column, Figure

PUBLISHED = Figure(
    name="published",
    title="Published figures beside ours",
    lead=(
        "From papers, each with the host it was measured on. Hosts differ, and so may parameters: they are no "
        "comparison of libraries, and are never ranked."
    ),
    view="published",
    narrowed_by=(),
    order="id, operation, ring_dimension, ring_dimension_is_minimum, median",
    columns=(
        Column("figure", "Figure", is_prose=True),
        SCHEME,
        Column("system", "System"),
        Column("published_value", "Published", is_number=True, unit="unit"),
        Column("median", "Ours", is_number=True, unit="unit"),
        Column("variant", "Our variant", formats.text),
        Column("operation", "Our case", formats.text),
        Column("ring_dimension", "Our N", formats.text, is_number=True),
        Column("source", "Source", is_prose=True),
        Column("year", "Year", formats.text, is_number=True),
        Column("published_host", "Measured on", is_prose=True),
        Column("note", "Note", formats.text, is_prose=True),
    ),
)
