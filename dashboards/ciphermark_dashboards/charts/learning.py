"""Charts of learning on encrypted data, and of chains of operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_dashboards.charts import places, style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.formats import level
from ciphermark_dashboards.store import Row

_PHASES = {"prepare_s": "prepare", "train_s": "train", "infer_s": "infer"}


def phases(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each phase by workload and variant, logarithmic, one small chart per phase.

    Security levels of one workload stand apart: their times are not to be compared.
    """
    known = _named(rows)
    times = [
        {**row, "phase": phase, "seconds": row[column]}
        for row in known
        for column, phase in _PHASES.items()
        if row[column] is not None
    ]
    if not times:
        return None
    names = style.variants_of(times)
    axis = style.seconds_axis(row["seconds"] for row in times)
    return style.dressed(
        alt.Chart(style.data(times, "variant", "workload", "phase", "seconds"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("seconds:Q", title=None, scale=style.log_scale(), axis=axis),
            y=alt.Y("workload:N", title=None, axis=style.bands()),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=style.colour(names),
            shape=style.shape(names),
            tooltip=style.tips("variant:N", "workload:N", "phase:N", alt.Tooltip("seconds:Q", format=".3s")),
        )
        .properties(width=240, height=alt.Step(9))
        .facet(facet=alt.Facet("phase:N", title=None, sort=list(_PHASES.values())), columns=len(_PHASES))
        .resolve_axis(x="independent")
    )


def chains(rows: Sequence[Row]) -> Chart | None:
    """Total time of a chain on a full vector against its length, one small chart per scheme and operation."""
    known = [
        {
            **row,
            "what": f"{row['operation']}, {row['scheme']}",
            "choice": "smallest secure N" if row["is_least"] else f"N = {row['ring_dimension']}",
        }
        for row in places.fullest([row for row in rows if row["median"] is not None])
    ]
    if not known:
        return None
    names = style.variants_of(known)
    axis = style.seconds_axis(row["median"] for row in known)
    columns = ("variant", "what", "choice", "repetitions", "median", "ring_dimension")
    return style.dressed(
        alt.Chart(style.data(known, *columns))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=40), strokeWidth=1.5)
        .encode(
            x=alt.X("repetitions:Q", title="Operations in a row", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("median:Q", title=None, scale=style.log_scale(), axis=axis),
            color=style.colour(names),
            shape=style.shape(names),
            strokeDash=alt.StrokeDash("choice:N", title="Ring dimension"),
            tooltip=style.tips(
                "variant:N", "repetitions:Q", alt.Tooltip("median:Q", format=".3s"), "ring_dimension:O"
            ),
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows that were measured with their workload in words, its level too where libraries came out at several."""
    measured = [row for row in rows if row["security_2018"] is not None]
    levels: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in measured:
        levels[row["operation"], row["scheme"]].add(row["security_2018"])
    return [
        {
            **row,
            "workload": f"{row['operation']}, {row['scheme']}"
            + (
                f", {level(row['security_2018'])}" if len(levels[row["operation"], row["scheme"]]) > 1 else ""
            ),
        }
        for row in measured
    ]
