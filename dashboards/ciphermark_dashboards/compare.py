"""The page Compare: what changed between two runs of a suite, and the history of the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ciphermark_analysis import comparison, two_runs
from ciphermark_core import percentages
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.store import Store
from ciphermark_present import changes, charting, formats, histories, host_state, parameters
from ciphermark_present.catalogue import comparing
from ciphermark_present.histories import Series
from ciphermark_present.page import OF_METRIC, THRESHOLD
from ciphermark_present.query import AS_MEASURED, Row

_WIDTHS = {"wide": (410.0, 200.0), "narrow": (328.0, 200.0)}  # of pictures, in pixels
_MAX_RUNS = 30  # of a history
_MAX_PICTURES = 6
_MAX_ROWS = 30  # of a section, before those behind a closed detail
_ANY_LEVEL = "Security levels differ: ratios across levels do not compare equal protection."
_OTHER_HOST = "The hosts differ: differences may come from the hosts."
_OTHER_SUITE = "The suites differ."
_SAME_RUN = "Both sides are the same run: select another one."


def page(store: Store, selection: Selection, item: Filled, case: str) -> dict[str, Any]:
    """The context of the page's template; ``item`` is the filled figure, ``case`` the case whose history is shown."""
    offered = store.run_choices()
    runs = [run for run in offered if not run["is_shipped"]]
    a, b = (_run(store, offered, run_id) for run_id in selection.runs)
    rows = comparing.said_once(item.rows)
    changed = changes.sections(rows)
    undecided = changes.undecided(rows)
    threshold = _threshold(selection)
    every = [each for section in changed for each in section.items] + undecided
    series = _series(store, runs, b, selection, threshold)
    pictured = histories.pictured(
        series, case, [row for row in rows if comparing.kind_of(row["verdict"]) in comparing.CHANGES]
    )
    remarks = _remarks(selection, a, b)
    states = [
        store.ask("host_state", {"run_id": run_id}, selection.is_uncorrected).mappings
        for run_id in selection.runs
    ]
    return {
        "a": a,
        "b": b,
        "choices": _choices(offered, a, b),
        "headline": comparing.headline(rows),
        "pill": changes.pill(rows),
        "power": changes.power(rows),
        "remarks": remarks,
        "changed": changed,
        "undecided": undecided,
        "unchanged": comparing.verdicts(rows).get("unchanged", 0),
        "incomparable": comparing.incomparable(rows),
        "axis": changes.axis(every, threshold or SIGNIFICANCE_THRESHOLD),
        "most": _MAX_ROWS,
        "look": _look([each.variant for each in every] + [each.variant for each in series]),
        "notes": [*remarks, *_conditions(rows, states)],
        "hosts": [(run["run_id"], host_state.word(own)) for run, own in zip((a, b), states, strict=True)],
        "history": _history(series, pictured, case),
        "case": case,
        "item": item,
    }


def _run(store: Store, runs: Sequence[Row], run_id: str) -> Row:
    """A run among those that are offered; an older one is requested."""
    return next((run for run in runs if run["run_id"] == run_id), None) or store.run(run_id)


def _choices(runs: Sequence[Row], a: Row, b: Row) -> dict[str, list[tuple[str, str]]]:
    """The options of the question: suites with two runs, and the runs of the suite. The chosen ones are included."""
    counts: dict[str, int] = {}
    for run in runs:
        counts[run["suite"]] = counts.get(run["suite"], 0) + (not run["is_shipped"])
    suites = dict.fromkeys([*(name for name, count in counts.items() if count > 1), b["suite"]])
    own = [run for run in runs if run["suite"] == b["suite"]]
    offered = list({run["run_id"]: run for run in (*own, a, b)}.values())
    names = [(run["run_id"], _name(run, offered)) for run in offered]
    return {"suites": [(name, name) for name in sorted(suites)], "runs": names}


def _name(run: Row, others: Sequence[Row]) -> str:
    """The name of a run among others: its label and start, and what else distinguishes it."""
    parts = (
        run["label"],
        formats.minute(run["started_at"]),
        run["suite"] if len({each["suite"] for each in others}) > 1 else "",
        run["host"] if len({each["host_id"] for each in others}) > 1 else "",
        "" if run["label"] else run["run_id"][:8],
        "reference" if run["is_shipped"] else "imported" if run["is_imported"] else "",
    )
    return " · ".join(part for part in parts if part)


def _threshold(selection: Selection) -> float | None:
    """The significance threshold of times that the reader chose, as a factor; ``None`` for that of the metric."""
    chosen = selection.parameters[THRESHOLD.name]
    return percentages.factor(THRESHOLD.label, None if chosen == OF_METRIC else chosen)


def _look(variants: Sequence[str]) -> dict[str, tuple[str, str]]:
    names = sorted(set(variants))
    return {name: charting.look(name, names) for name in names}


def _remarks(selection: Selection, a: Row, b: Row) -> list[str]:
    """What a reader has to know before any ratio."""
    return [
        *([_SAME_RUN] if a["run_id"] == b["run_id"] else []),
        *([_OTHER_SUITE] if a["suite"] != b["suite"] else []),
        *([_OTHER_HOST] if a["host_id"] != b["host_id"] else []),
        *([AS_MEASURED] if selection.is_uncorrected else []),
        *([_ANY_LEVEL] if selection.parameters["levels"] == "any" else []),
    ]


def _conditions(rows: Sequence[Row], states: Sequence[Sequence[Row]]) -> list[str]:
    """The certainty of a comparison, and the effects of the hosts; ``states`` are those of run a and of run b."""
    drift = comparison.drift(rows)
    others = (two_runs.shared(rows), host_state.unlike_corrections(*states))
    sentences = [*comparing.certainty(rows), *([f"Host: {drift}"] if drift else []), *filter(None, others)]
    return [f"{text[0].upper()}{text[1:]}." for text in sentences]


def _series(
    store: Store, runs: Sequence[Row], b: Row, selection: Selection, threshold: float | None
) -> list[Series]:
    """The times of the latest runs of run b's suite on its host; none for fewer than three runs."""
    own = [run for run in runs if (run["suite"], run["host_id"]) == (b["suite"], b["host_id"])]
    latest = sorted(own, key=lambda run: run["started_at"])[-_MAX_RUNS:]
    if len(latest) < histories.MIN_RUNS:
        return []
    answer = store.ask("histories", {"runs": [run["run_id"] for run in latest]}, selection.is_uncorrected)
    return histories.of_runs(answer.mappings, threshold)


def _history(
    series: Sequence[Series], pictured: Sequence[Sequence[Series]], case: str
) -> Mapping[str, Any] | None:
    """The history of the suite; ``None`` without one."""
    if not series:
        return None
    shown = pictured if case else pictured[:_MAX_PICTURES]
    changed = sum(bool(each.points) for each in series)
    runs = max(len(each.rows) for each in series)
    return {
        "title": f"{changed:,} of {len(series):,} times changed over {runs} runs"
        if changed
        else (f"No time changed over {runs} runs"),
        "pictures": [
            {name: histories.picture(each, *size) for name, size in _WIDTHS.items()} for each in shown
        ],
        "more": len(pictured) - len(shown),
        "cases": _cases(series),
        "is_chosen": bool(case),
    }


def _cases(series: Sequence[Series]) -> list[tuple[str, str]]:
    """The cases whose history can be selected."""
    rows = list({each.rows[0]["comparison_group"]: each.rows[0] for each in series}.values())
    names = [f"{changes.computation(row)}, {changes.conditions(row)}" for row in rows]
    apart = parameters.apart(
        rows, lambda row: (row["operation"], row["repetitions"], changes.conditions(row))
    )
    options = [
        (row["comparison_group"], ", ".join(filter(None, words)))
        for row, *words in zip(rows, names, apart, strict=True)
    ]
    return [("", "all that changed"), *sorted(options, key=lambda option: option[1])]
