"""What all charts share: one colour and one shape per variant, sizes, and axes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from ciphermark_dashboards.store import Row

# Okabe and Ito's colours for every kind of colour vision, without those that vanish on white or on black. A variant
# keeps its colour on every page; shapes tell variants apart where colours do not.
_OF_VARIANT = {
    "seal": ("#0072B2", "circle"),
    "seal-hexl": ("#D55E00", "square"),
    "tenseal": ("#009E73", "triangle-up"),
    "pyfhel": ("#CC79A7", "diamond"),
    "openfhe": ("#8C6D00", "cross"),
    "helib": ("#0E8A9E", "triangle-down"),
    "lattigo": ("#7F5BD4", "triangle-right"),
}
_OTHERS = (("#767676", "triangle-left"), ("#A3568B", "stroke"), ("#4C8C2B", "arrow"))

WIDTH = 320
HEIGHT = 220


def colour(variants: Iterable[str]) -> alt.Color:
    """Colour by variant."""
    names = sorted(set(variants))
    return alt.Color(
        "variant:N",
        title="Variant",
        scale=alt.Scale(domain=names, range=[look(name, names)[0] for name in names]),
    )


def shape(variants: Iterable[str]) -> alt.Shape:
    """Shape by variant."""
    names = sorted(set(variants))
    return alt.Shape(
        "variant:N",
        title="Variant",
        scale=alt.Scale(domain=names, range=[look(name, names)[1] for name in names]),
    )


def look(variant: str, names: Sequence[str]) -> tuple[str, str]:
    """Colour and shape of a variant; one that is not known takes the next of the others."""
    if variant in _OF_VARIANT:
        return _OF_VARIANT[variant]
    strangers = [name for name in names if name not in _OF_VARIANT]
    return _OTHERS[strangers.index(variant) % len(_OTHERS)]


def data(rows: Sequence[Row], *columns: str) -> alt.Data:
    """The columns that a chart needs, as plain JSON values."""
    return alt.Data(values=[{name: plain(row[name]) for name in columns} for row in rows])


def plain(value: Any) -> Any:
    """A value as JSON has it: decimals become numbers, lists text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return float(value)


def variants_of(rows: Sequence[Row]) -> list[str]:
    """The variants that rows tell of."""
    return sorted({row["variant"] for row in rows})
