"""The overview: a question in a reader's words, and its answer from the latest runs that have one."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ciphermark_dashboards.filters import require_known
from ciphermark_dashboards.rendering import case_address
from ciphermark_dashboards.snapshots import Reader
from ciphermark_dashboards.store import blocks, with_values
from ciphermark_present import answers, charting, formats, pareto, ratio_axis
from ciphermark_present.answers import Place, Question, Standing
from ciphermark_present.pareto import Point, Scatter
from ciphermark_present.query import Query, Row
from ciphermark_present.questions import words
from ciphermark_present.subject import DEPTH, KEY, NOISE, OBJECT, OPERATION, REPETITION

PARAMETERS = ("run", "for", "scheme", "table", "security", "sort")
_OTHERS = [name for each in (NOISE, DEPTH, OBJECT, KEY, REPETITION) for name in each.experiments]
_WIDTHS = {"wide": (520.0, 208.0), "narrow": (328.0, 210.0)}  # of pictures, in pixels
TABLES = {"2018": "HE Standard (2018)", "2024": "guidelines (2024)"}
_SCHEMES = {name: name.upper() for name in answers.SCHEMES}


@dataclass(frozen=True, slots=True)
class Computation:
    """A row of the list of computations: the compared libraries, and the address of the answer."""

    operation: str
    address: str
    is_current: bool
    is_operation: bool
    ring_dimension: int
    libraries: Sequence[Standing]

    @property
    def name(self) -> str:
        """Its name in the list."""
        return words(self.operation).short


@dataclass(frozen=True, slots=True)
class Measure:
    """Time against another measure: one picture for wide and one for narrow screens, or a sentence instead."""

    label: str
    pictures: Mapping[str, Scatter]
    sentence: str = ""


def page(store: Reader, given: Mapping[str, str]) -> dict[str, Any] | None:
    """The context of the overview's template; ``None`` where no run compares libraries."""
    require_known(given, PARAMETERS)
    asked_run = store.run(given["run"])["run_id"] if given.get("run") else None
    runs = store.ask("overview_runs", {"run_id": asked_run}).mappings
    runs_by_id = {str(run["run_id"]): run for run in runs}
    cases = _cases(store, list(runs_by_id))
    order = list(runs_by_id)
    question = answers.question(cases, order, given, asked_run or "")
    if question is None:
        return None
    place, sort = question.place, given.get("sort", "time")
    cases = _at(cases, place)
    chosen = _chosen(cases, order, place, asked_run or "")
    computations = _computations(store, cases, chosen, place, asked_run)
    case = chosen[place.operation]
    own = next(each for each in computations if each.operation == place.operation)
    libraries = _measured(store, own.libraries)
    return {
        "question": question,
        "answer": answers.answer(libraries),
        "libraries": sorted(libraries, key=_SORTED.get(sort, _SORTED["time"])),
        "axis": ratio_axis.of_ratios((each.ratio, *(each.interval or (None, None))) for each in libraries),
        "sort": sort,
        "columns": _columns(libraries),
        "about": _about(libraries),
        "run": runs_by_id[case["run_id"]],
        "is_other_run": asked_run is not None and asked_run != case["run_id"],
        "asked_run": asked_run,
        **_dots(computations),
        "measures": list(_measures(libraries)),
        "most": _most(libraries),
        "cases": {
            each.variant: case_address(each.row["run_id"], each.row["comparison_group"]) for each in libraries
        },
        "choices": _choices(question),
        "address": lambda **changed: _address(place, asked_run, {"sort": sort, **changed}),
        "query": _address(place, asked_run, {}).removeprefix("/?"),
        "sql": with_values(_ranks(place, [case, *answers.beside(cases, case)])),
    }


def _dots(computations: Sequence[Computation]) -> dict[str, Any]:
    """The part of the context about all computations."""
    marks = [row for each in computations for row in each.libraries]
    return {
        "computations": computations,
        "wins": answers.wins(each.libraries for each in computations),
        "dots_axis": ratio_axis.of_ratios((row.ratio, None, None) for row in marks),
        "legend": sorted({row.variant for row in marks}),
        "has_hollow": any(row.is_hollow for row in marks),
        "look": _look([row.variant for row in marks]),
    }


def _at(cases: Sequence[Row], place: Place) -> list[Row]:
    """The cases in the scheme, at the level of the table."""
    here = (place.scheme, place.table, place.level)
    return [row for row in cases if (row["scheme"], row["table_of_level"], row["level"]) == here]


def _cases(store: Reader, runs: Sequence[str]) -> list[Row]:
    parameters = {
        "runs": list(runs),
        "operations": list(OPERATION.experiments),
        "others": [*_OTHERS, *OPERATION.experiments],
    }
    return [{**row, "run_id": str(row["run_id"])} for row in store.ask("overview_cases", parameters).mappings]


def _chosen(cases: Sequence[Row], runs: Sequence[str], place: Place, run: str) -> dict[str, Row]:
    """The representative case of each computation of the scheme at the level."""
    by_operation: dict[str, list[Row]] = {}
    for row in cases:
        by_operation.setdefault(row["operation"], []).append(row)
    found = {
        name: answers.case_for(rows, runs, Place(name, place.scheme, place.table, place.level), run)
        for name, rows in by_operation.items()
    }
    return {name: case for name, case in found.items() if case is not None}


def _computations(
    store: Reader, cases: Sequence[Row], chosen: Mapping[str, Row], place: Place, run: str | None
) -> list[Computation]:
    """The computations: workloads first, in the order of questions."""
    asked = [each for case in chosen.values() for each in (case, *answers.beside(cases, case))]
    rows = store.answer(_ranks(place, asked)).mappings
    own: dict[str, list[Row]] = {}
    elsewhere: dict[str, list[Row]] = {}
    for row in rows:
        case = chosen[row["operation"]]
        is_own = (str(row["run_id"]), row["comparison_group"]) == (case["run_id"], case["comparison_group"])
        (own if is_own else elsewhere).setdefault(row["operation"], []).append(row)
    names = sorted(own, key=lambda name: (answers.is_operation(chosen[name]), words(name).place, name))
    return [
        Computation(
            name,
            _address(place, run, {"for": name}),
            name == place.operation,
            answers.is_operation(chosen[name]),
            chosen[name]["ring_dimension"],
            answers.standings(own[name], elsewhere=elsewhere.get(name, ())),
        )
        for name in names
    ]


def _ranks(place: Place, cases: Sequence[Row]) -> Query:
    """The query of the variants of cases."""
    parameters = {
        "runs": [case["run_id"] for case in cases],
        "groups": [str(case["comparison_group"]) for case in cases],
        "stages": [case["stage"] for case in cases],
        "table": place.table,
        "level": place.level,
    }
    return Query(blocks()["overview_ranks"], parameters)


def _measured(store: Reader, libraries: Sequence[Standing]) -> list[Standing]:
    """The libraries with their other measures."""
    parameters = {
        "cases": [each.row["case_info_id"] for each in libraries],
        "operations": list(OPERATION.experiments),
        "objects": list(OBJECT.experiments),
    }
    return answers.with_metrics(libraries, store.ask("overview_metrics", parameters).mappings)


_SORTED = {
    "time": lambda each: (each.row["standing"] == "disturbed", each.ratio),
    "memory": lambda each: (each.memory is None, each.memory, each.ratio),
    "bytes": lambda each: (each.size is None, each.size, each.ratio),
    "parameters": lambda each: (each.row["log_qp"] or 0, each.ratio),
}


def _columns(libraries: Sequence[Standing]) -> dict[str, tuple[str, str]]:
    """Labels and units of the columns that differ between operations and workloads."""
    row = libraries[0].row
    if not answers.is_operation(row):
        return {
            "memory": ("Server memory", "peak, resident"),
            "bytes": ("Bytes sent", "both ways, no keys"),
            "quality": ("Agreement", "of outputs"),
        }
    quality = ("Precision", "after it") if row["scheme"] == "ckks" else ("Noise budget", "left after it")
    return {"memory": ("Peak memory", "resident"), "bytes": ("Ciphertext", "serialized"), "quality": quality}


_IN_FILE = ("variant", "library_version", "ring_dimension", "log_qp", "security_2018", "security_2024", "n")
_MEASURED = ("time_s", "ratio", "ci_low", "ci_high", "memory_bytes", "size_bytes", "upload_bytes", "quality")


def csv_text(shown: Mapping[str, Any]) -> str:
    """The rows of the answer, for a context of :func:`page`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_IN_FILE, *_MEASURED))
    for each in shown["libraries"]:
        low, high = each.interval or (None, None)
        measures = (each.time, each.ratio, low, high, each.memory, each.size, each.upload, each.quality)
        writer.writerow((*(each.row[name] for name in _IN_FILE), *measures))
    return text.getvalue()


def _about(libraries: Sequence[Standing]) -> str:
    """A one-line description of the computation."""
    row = libraries[0].row
    counts = {each.row["n"] for each in libraries}
    low, high = min(counts), max(counts)
    samples = f"{low}" if low == high else f"{low} to {high}"
    vector, is_workload = formats.values(row["vector_length"]), not answers.is_operation(row)
    data = f"{vector} of {row['data_set']}" if row["data_set"] else ""
    parts = (
        data if is_workload else f"One vector of {vector}, {row['data_pattern']} data",
        "both parties and the transfer" if is_workload else "",
        "1 thread" if row["threads"] == 1 else f"{row['threads']} threads",
        f"{samples} interleaved samples",
    )
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def _measures(libraries: Sequence[Standing]) -> list[Measure]:
    columns = _columns(libraries)
    return [
        _measure(columns["memory"][0], libraries, {each.variant: each.memory for each in libraries}),
        _measure(columns["bytes"][0], libraries, {each.variant: each.size for each in libraries}),
    ]


def _measure(label: str, libraries: Sequence[Standing], values: Mapping[str, float | None]) -> Measure:
    points = [
        Point(each.variant, each.time, value, each.is_hollow)
        for each in libraries
        if (value := values[each.variant]) is not None
    ]
    missing = [each.variant for each in libraries if values[each.variant] is None]
    if not points:
        return Measure(label, {}, "not measured.")
    least, greatest = min(point.y for point in points), max(point.y for point in points)
    if len(points) == 1 or greatest <= least * 1.05:
        names = "all" if not missing and len(points) > 1 else ", ".join(point.variant for point in points)
        rest = f" Not measured: {', '.join(missing)}." if missing else ""
        return Measure(label, {}, f"{answers.size(least)} for {names}.{rest}")
    pictures = {name: pareto.scatter(points, *size) for name, size in _WIDTHS.items()}
    return Measure(label, pictures)


def _most(libraries: Sequence[Standing]) -> dict[str, float]:
    """The maximum of each column with bars."""
    return {
        "memory": max((each.memory or 0 for each in libraries), default=0) or 1,
        "bytes": max((each.size or 0 for each in libraries), default=0) or 1,
        "parameters": max((sum(each.row["modulus_bits"] or ()) for each in libraries), default=0) or 1,
    }


def _choices(question: Question) -> dict[str, Any]:
    """The options of the question's parts: values with their texts."""
    return {
        "operations": [(name, words(name).question) for name in question.operations],
        "schemes": [(name, _SCHEMES.get(name, name)) for name in question.schemes],
        "levels": [
            (str(level), formats.level(level))
            for table, level in question.levels
            if table == question.place.table
        ],
        "tables": [(table, TABLES[table]) for table in dict.fromkeys(table for table, _ in question.levels)],
    }


def _look(variants: Sequence[str]) -> dict[str, tuple[str, str]]:
    names = sorted(set(variants))
    return {name: charting.look(name, names) for name in names}


def _address(place: Place, run: str | None, changed: Mapping[str, str]) -> str:
    """The address of the overview with other choices."""
    own = {
        "for": place.operation,
        "scheme": place.scheme,
        "security": str(place.level),
        "table": place.table,
        "run": run or "",
        **changed,
    }
    if own.get("sort") == "time":
        del own["sort"]
    return "/?" + urlencode({name: value for name, value in own.items() if value})
