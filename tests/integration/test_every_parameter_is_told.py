"""Cases that differ in one field of any kind: no view, figure, chart or terminal table loses, merges or hides one.

A run of both cases must tell exactly what two runs of one case each tell, and the field that differs must be read off.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ciphermark_benchmark.figure_rows import rows
from ciphermark_core.model import Case, LayerFacts, OperationCount, ParameterSpec, ProgramUse, Sample
from ciphermark_core.run import Run
from ciphermark_dashboards.pages import FIGURES
from ciphermark_db.database import Database
from ciphermark_db.schema import view_files
from ciphermark_present import listing
from ciphermark_present.catalogue import (
    comparing,
    first_executions,
    layers,
    noise,
    published,
    ranking,
    repetitions,
    workloads,
)
from ciphermark_present.catalogue.columns import OF_CASE, PARAMETERS, with_differing
from ciphermark_present.catalogue.comparing import TWO_RUNS
from ciphermark_present.catalogue.published import PUBLISHED
from ciphermark_present.figure import Figure, Layout
from ciphermark_present.page import OF_METRIC
from ciphermark_present.printed import Wanted
from ciphermark_present.query import Answer
from ciphermark_workloads.inference import figures as inference
from ciphermark_workloads.learning import figures as learning

VARIANTS = ("seal", "seal-hexl")
_COUNTS = (OperationCount("mul", 1, 3),)
_LAYER = LayerFacts("dense", 1, 0, None, 1000, 500, _COUNTS)
PROGRAM = ProgramUse("infer", "d" * 64, "bfv", 1, 0, 2, _COUNTS, b"content", (_LAYER,))
_OF_NO_CASE = {"security", "program_count", "runs", "hosts", "host_states"}
VIEWS = [item.name for item in view_files() if item.kind == "view" and item.name not in _OF_NO_CASE]
# What identifies a run or a trial, and so differs between two recordings of one case.
_OF_RUN = {"run_id", "trial_id", "case_info_id", "started_at"}


def _of_parameters(name: str) -> Any:
    return lambda case, value: replace(case, parameters=replace(case.parameters, **{name: value}))


def _of_case(name: str) -> Any:
    return lambda case, value: replace(case, **{name: value})


def _with_batch(case: Case, value: int) -> Case:
    return replace(case, dimensions={**case.dimensions, "inputs_per_pass": value})


@dataclass(frozen=True, slots=True)
class Field:
    """A field of cases: the column that tells it, two values, how to set them, and a scheme that has it."""

    name: str
    column: str
    values: tuple[Any, Any]
    change: Any
    scheme: str = "bfv"

    def cases(self) -> tuple[Case, Case]:
        exact = {"plain_modulus": 65537} if self.scheme == "bfv" else {"scale_bits": 40}
        spec = ParameterSpec(self.scheme, 8192, (60, 40, 60), **exact)  # type: ignore[arg-type]
        first, second = (self.change(Case("", "", "", spec, 4096, "random"), value) for value in self.values)
        return first, second


_PARAMETERS = (
    ("plain_modulus", "plain_modulus", (40961, 65537), "bfv"),
    ("scale_bits", "scale", (20, 21), "ckks"),
    ("modulus_bits", "modulus_bits", ((40, 50, 60), (40, 60, 50)), "bfv"),
    ("ring_dimension", "ring_dimension", (8192, 16384), "bfv"),
    ("security", "security_bits", (0, 128), "bfv"),
    ("security_table", "security_table", ("2018", "2024"), "bfv"),
    ("depth", "comparison_group", (1, 2), "bfv"),
    ("tuning", "tuning", ("matched", "recommended"), "bfv"),
    ("ring_dimension_is_minimum", "ring_dimension_is_minimum", (False, True), "bfv"),
)
FIELDS = {
    field.name: field
    for field in (
        *(
            Field(name, column, values, _of_parameters(name), scheme)
            for name, column, values, scheme in _PARAMETERS
        ),
        Field("vector_length", "vector_length", (16, 1024), _of_case("vector_length")),
        Field("data_pattern", "data_pattern", ("constant", "random"), _of_case("data_pattern")),
        Field("threads", "threads", (1, 2), _of_case("threads"), "ckks"),
        Field("inputs_per_pass", "dimensions", (1, 2), _with_batch),
    )
}
_KINDS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("arithmetic", "mul", {}),
    ("depth", "mul", {"max_repetitions": 9}),
    ("noise", "mul", {"max_repetitions": 9}),
    ("serialization", "zstd", {}),
    ("key_generation", "key_pair", {}),
    ("repetition", "add", {"repetitions": 3}),
    ("learning", "lmc-plain", {"data_set": "boston"}),
    ("retrieval", "pir", {}),
    ("inference", "lola", {}),
)

_WITH_PROGRAMS = ("learning", "retrieval", "inference")


def _samples(make: Any, experiment: str, scheme: str, number: int) -> tuple[Sample, ...]:
    """What a trial of an experiment records; all values tell the number of the trial."""
    times = [0.001 * (number + 1) * (1 + ordinal / 1000) for ordinal in range(8)]
    left = "noise_budget" if scheme == "bfv" else "precision"
    bits = tuple(Sample(left, 90.0 - number - 10 * k, "evaluate", repetitions=k) for k in range(3))
    stages = tuple(
        sample for stage in ("prepare", "train", "infer") for sample in make.times(times, phase=stage)
    )
    layer = tuple(Sample("layer_time", value, "infer", step=_LAYER.name) for value in times)
    found = {
        "depth": (
            Sample("depth", 3.0 + number, "evaluate"),
            Sample("is_at_max_repetitions", 0.0, "evaluate"),
            *bits,
        ),
        "noise": bits,
        "serialization": (
            Sample("size", 1000.0 + number, "ciphertext"),
            Sample("expansion", 2.0 + number, "ciphertext"),
        ),
        "learning": (*stages, *_both_parties(make, times), Sample("agreement", 1 / (number + 1), "infer")),
        "retrieval": (*stages, *layer),
        "inference": (
            *make.times(times, phase="infer", step="evaluate"),
            Sample("agreement", 1.0, "infer"),
            Sample("logit_error", 1e-4 * (number + 1), "infer"),
            *layer,
        ),
    }
    memory = Sample("peak_memory", 1e6 * (number + 1), "evaluate")
    first = [Sample(metric, times[-1] * 3, "evaluate") for metric in ("cold_time", "first_touch_time")]
    return found.get(experiment, (*make.times(times), memory, *first, replace(bits[0], repetitions=None)))


def _both_parties(make: Any, times: Sequence[float]) -> tuple[Sample, ...]:
    """The times of both parties in a stage, and the bytes between them."""
    halves = [time / 2 for time in times]
    parties = (
        sample for party in ("client", "server") for sample in make.times(halves, "infer", party=party)
    )
    return (*parties, *make.times(halves, "infer", step="evaluate"), Sample("size", 1e6 * times[0], "infer"))


def _recorded(database: Database, make: Any, cases: Mapping[int, Case]) -> Run:
    """A run of every experiment with each of the cases, whose values tell their numbers."""
    run = make.run()
    database.record_run(run)
    outcomes = []
    for number, case in cases.items():
        for experiment, operation, dimensions in _KINDS:
            for which, variant in enumerate(VARIANTS):
                made = replace(
                    case,
                    variant=variant,
                    experiment=experiment,
                    operation=operation,
                    dimensions={**dimensions, **case.dimensions},
                )
                samples = _samples(make, experiment, made.parameters.scheme, 2 * number + which)
                programs = (PROGRAM,) if experiment in _WITH_PROGRAMS else ()
                outcomes.append(make.outcome(run, made, samples, programs=programs))
    database.record_outcomes(outcomes)
    return run


# One of each kind by `make test`: of the scheme, of the request, of its resolution, of a case, of a family.
_EVERYDAY = {"plain_modulus", "scale_bits", "tuning", "vector_length", "inputs_per_pass"}


@dataclass(frozen=True, slots=True)
class Runs:
    """Two runs of both cases of a field, and one of each."""

    field: Field
    both: Run
    again: Run
    alone: tuple[Run, Run]


@pytest.fixture(
    scope="module",
    params=[name if name in _EVERYDAY else pytest.param(name, marks=pytest.mark.extended) for name in FIELDS],
)
def runs(request: pytest.FixtureRequest, database: Database, make: Any) -> Runs:
    field = FIELDS[request.param]
    first, second = field.cases()
    both, again = (_recorded(database, make, {0: first, 1: second}) for _ in range(2))
    return Runs(
        field, both, again, (_recorded(database, make, {0: first}), _recorded(database, make, {1: second}))
    )


def _counted(found: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter(
        json.dumps({name: value for name, value in row.items() if name not in _OF_RUN}, default=str)
        for row in found
    )


def _of_view(database: Database, view: str, run: Run) -> list[dict[str, Any]]:
    table = database.query(f"select * from {view} where run_id = %s", [run.id])
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _of_figure(database: Database, figure: Figure, run: Run) -> list[dict[str, Any]]:
    found = rows(database, figure, run.id)
    if figure.derive is None or not found:
        return found
    return figure.derive(Answer(tuple(found[0]), [tuple(row.values()) for row in found]), {}).mappings


def _are_united(both: Any, first: Any, second: Any) -> bool:
    return _counted(both) == _counted(first) + _counted(second)


# What says of itself that it looks at several cases at once, and of which fields.
_ACROSS = {
    "published_match": {"vector_length", "data_pattern"},
    "by-data": {"data_pattern"},
    "latency-by-size": {"vector_length", "ring_dimension"},
    "published": {*FIELDS},
    "published-bootstrapping": {*FIELDS},
    "published-inferences": {*FIELDS},
    "published-operations": {*FIELDS},
    "hexl": {"vector_length", "ring_dimension"},
    "security-map": {*FIELDS},  # a row per parameter set
    **{
        f"{family}threads": {"threads"}
        for family in ("", "cost-", "learning-", "retrieval-", "inference-", "workload-")
    },
}
# Of no single case, or about one that is asked for.
_NARROWED = {
    *("leaderboard", "two-runs", "operations"),
    *("case-outcomes", "case-results", "case-distribution", "case-samples"),
}
_OF_ONE = {"program-counts", "learning-profile"}  # charts of one program or case
_COUNTED = {"repetitions", "rate", "start_s"}  # numbers that place marks
# Views whose rows name a case and leave its parameters to others, or are about one thread alone.
_BY_KEY = {"case_program", "executed_operations", "published_match"}


def test_nothing_is_merged_or_hidden(database: Database, runs: Runs) -> None:
    name, column, every = runs.field.name, runs.field.column, (runs.both, *runs.alone)
    problems = []
    for view in VIEWS:
        found, *parts = (_of_view(database, view, run) for run in every)
        if not _are_united(found, *parts) and name not in _ACROSS.get(view, ()):
            problems.append(f"view {view}")
        if found and column not in found[0] and view not in _BY_KEY:
            problems.append(f"view {view} without {column}")
    for figure in FIGURES.values():
        if figure.name in _NARROWED:
            continue
        found, *parts = (_of_figure(database, figure, run) for run in every)
        if name in _ACROSS.get(figure.name, ()):
            continue
        if not _are_united(found, *parts):
            problems.append(f"figure {figure.name}")
        if found and column not in found[0]:
            problems.append(f"figure {figure.name} without {column}")
        problems += [f"chart of {figure.name}: {what}" for what in _chart(figure, found, parts, name)]
        problems += [f"page table {figure.name}: two rows say {row}" for row in _told_twice(figure, found)]
    assert not problems


# Columns of numbers that say what a row is about.
_JUDGED = {"In b", "Parameters", "Verdict", "Against the fastest", "HEXL is", "Same parameters"}
_NUMBERS = {column.name for column in OF_CASE} | {"repetitions", "level", "n", "year"}


def _told_twice(figure: Figure, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the page's table says of more than one row, measured values and how they are judged apart."""
    columns = with_differing(figure.columns, found, PARAMETERS)
    names = [
        c
        for c in columns
        if not c.unit and (not c.is_number or c.name in _NUMBERS) and c.label not in _JUDGED
    ]
    lines = Counter(json.dumps([column.cell(row) for column in names]) for row in found)
    return [line for line, n in lines.items() if n > 1]


def test_two_runs_compare_like_with_like(database: Database, runs: Runs) -> None:
    """Runs of the same two cases: each is compared with itself, and is told from the other in all forms."""
    a, b = runs.both, runs.again
    answers = []
    for run in (a, b):
        found = rows(database, TWO_RUNS, run.id)
        answers.append(Answer(tuple(found[0]), [tuple(row.values()) for row in found]))
    params = {"run_a": a.id, "run_b": b.id, "levels": "equal", "threshold": OF_METRIC}
    assert TWO_RUNS.combine is not None
    compared = TWO_RUNS.combine(answers, params).mappings
    figures = {
        (row["case_key"], row["phase"], row["metric"], row["repetitions"]) for row in answers[0].mappings
    }
    assert len(compared) == len(answers[0].rows) == len(figures)
    assert {row["ratio"] for row in compared} <= {1.0, None}
    assert not _told_twice(TWO_RUNS, compared)
    chart = TWO_RUNS.draw(compared)
    assert chart is not None
    marks = [row["case"] for row in chart.to_dict(validate=False)["data"]["values"]]
    assert len(set(marks)) == len(marks)
    lines = Counter(_lines(comparing.tables(compared)))
    assert sum(lines.values()) == len(compared)
    assert [line for line, n in lines.items() if n > 1] == []


def test_published_figures_stand_beside_cases_that_are_told(database: Database, runs: Runs) -> None:
    found = rows(database, PUBLISHED, runs.both.id)
    printed = [row for row in found if row["median"] is not None]
    told = Counter((row["result"], published.case(row)) for row in published.told_apart(printed))
    assert [line for line, n in told.items() if n > 1] == []


def _chart(figure: Figure, found: Any, parts: Any, name: str) -> Iterator[str]:
    """What is wrong with the chart of both cases: marks that are lost, at the place of another, or tell too little."""
    drawn, *of_parts = (_marks(figure, each) for each in (found, *parts))
    is_narrowed = name in ("vector_length", "ring_dimension") or figure.name in _OF_ONE  # to one vector
    is_in_table = not all(of_parts)  # too few marks for a chart
    if not is_narrowed and not is_in_table and len(drawn) != sum(map(len, of_parts)):
        yield f"{len(drawn)} marks, not {[len(each) for each in of_parts]}"
    double = [place for place, n in Counter(drawn).items() if n > 1]
    if double:
        yield f"several marks at {double[0]}"


def _marks(figure: Figure, found: Any) -> list[str]:
    """Where marks are, but for the measured value: by all that is no number, and by what is counted along an axis."""
    chart = figure.draw(found)
    if chart is None:
        return []
    specification = chart.to_dict(validate=False)
    placed = set(_placed(specification))
    return [
        json.dumps({name: row[name] for name in sorted(placed) if name in row})
        for row in specification["data"]["values"]
    ]


def _placed(node: Any) -> Iterator[str]:
    """The fields of all channels that place a mark, apart from measured values."""
    if isinstance(node, list):
        for each in node:
            yield from _placed(each)
    elif isinstance(node, dict):
        is_placed = node.get("type") in ("nominal", "ordinal") or node.get("field") in _COUNTED
        if "field" in node and is_placed:
            yield node["field"]
        for name, each in node.items():
            if name not in ("tooltip", "data", "text"):
                yield from _placed(each)


# The figures that are printed of these cases, by their tables in detail or, of the depth, also at a glance.
LISTINGS = {
    "ranking": (ranking.RANKS, ranking.RANKING),
    "repetitions": (repetitions.REPETITIONS, repetitions.LAYOUT),
    "learning": (learning.LEARNING, learning.LAYOUT),
    "workloads": (workloads.WORKLOADS, workloads.LAYOUT),
    "depths": (noise.DEPTH, noise.DEPTH.printed[1]),
    "limits": (noise.DEPTH, noise.DEPTH.printed[0]),
    "layers": (inference.LAYERS, layers.LAYOUT),
    "first executions": (first_executions.FIRST_EXECUTIONS, first_executions.LAYOUT),
}


def test_terminal_tables_tell_both(database: Database, runs: Runs) -> None:
    problems = []
    for name, (figure, layout) in LISTINGS.items():

        def printed(run: Run, figure: Figure = figure, layout: Layout = layout) -> Counter[str]:
            asked = (figure, *layout.others)
            answers = [rows(database, each, run.id, {"across_security_levels": False}) for each in asked]
            return Counter(_lines(listing.tables(figure, layout, answers, Wanted(is_detailed=True))))

        found, *parts = map(printed, (runs.both, *runs.alone))
        if sum(found.values()) != sum(sum(part.values()) for part in parts):
            problems.append(f"{name}: {sum(found.values())} lines, not {[sum(p.values()) for p in parts]}")
        double = [line for line, n in found.items() if n > 1]
        if double:
            problems.append(f"{name}: two lines say {double[0]}")
    assert not problems


def _lines(printed: Any) -> Iterator[str]:
    """What each line of tables is about: heading and texts, but for figures."""
    heading: tuple[str, ...] = ()
    for table in printed:
        heading = (table.title, table.about) if table.title else (*heading[:2], table.about)
        told = [""] * len(table.heads)
        for row in table.rows:
            told = [text or before for text, before in zip(row, told, strict=True)]
            about = [text for head, text in zip(table.heads, told, strict=True) if not _is_figure(head)]
            yield json.dumps([*heading, *about])


def _is_figure(head: Any) -> bool:
    return head.is_number and head.text not in ("N", "log QP", "n", "vector length")
