"""The forms in which a figure comes by itself: pictures, the chart's specification, data, query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ciphermark_dashboards import rendering
from ciphermark_dashboards.errors import NotFoundError
from ciphermark_dashboards.rendering import Filled
from ciphermark_present.query import Row


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its media type, and how it is written; that raises :class:`NotFoundError` where nothing is to draw."""

    media_type: str
    write: Callable[[Filled], bytes]


def _drawn(draw: Callable[[Row], bytes]) -> Callable[[Filled], bytes]:
    """What draws a figure's chart."""

    def write(item: Filled) -> bytes:
        if not item.figure.chart:
            raise NotFoundError(f"Figure {item.figure.name} is a table and has no chart: it comes as csv.")
        if item.specification is None:
            raise NotFoundError(
                f"Figure {item.figure.name} has nothing to draw for this run and these filters; its rows come as csv."
            )
        return draw(item.specification)

    return write


FORMS: dict[str, Form] = {
    "svg": Form("image/svg+xml", _drawn(lambda chart: rendering.svg(chart).encode())),
    "pdf": Form("application/pdf", _drawn(rendering.pdf)),
    "png": Form("image/png", _drawn(rendering.png)),
    "json": Form("application/json", _drawn(lambda chart: rendering.as_json(chart).encode())),
    "csv": Form("text/csv", lambda item: item.csv.encode()),
    "sql": Form("text/plain", lambda item: item.sql.encode()),
}
