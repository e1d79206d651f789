"""The chart of learning on encrypted data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present import parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart
from ciphermark_present.formats import level

_PHASES = {"prepare_s": "prepare", "train_s": "train", "infer_s": "infer"}


def phases(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each phase by workload and variant, logarithmic, one small chart per phase.

    Options, security levels, threads and parameters of one workload stand apart: their times are not to be compared.
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


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows that were measured with their workload in words, its level too where libraries came out at several, and
    what tells its cases apart.
    """
    measured = [row for row in rows if row["security_2018"] is not None]
    levels: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in measured:
        levels[row["operation"], row["scheme"]].add(row["security_2018"])
    known = [_label(row, len(levels[row["operation"], row["scheme"]]) > 1) for row in measured]
    named = [{**row, "workload": label} for row, label in zip(measured, known, strict=True)]
    labels = parameters.apart(named, lambda row: row["workload"])
    return [
        {**row, "workload": places.joined(row["workload"], label)}
        for row, label in zip(named, labels, strict=True)
    ]


def _label(row: Row, has_levels: bool) -> str:
    told = (
        row["operation"],
        row["options"],
        row["scheme"],
        level(row["security_2018"]) if has_levels else None,
        f"{row['threads']} threads" if row["threads"] > 1 else None,
    )
    return ", ".join(filter(None, told))
