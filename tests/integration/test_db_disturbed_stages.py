"""A stage of a workload whose samples are all disturbed is marked, comes last and wins nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ciphermark_benchmark import figure_rows
from ciphermark_core.model import Case, ParameterSpec, Sample
from ciphermark_core.run import Run
from ciphermark_db.database import Database
from ciphermark_present import listing, sentences
from ciphermark_present.catalogue import layers, whole_cost
from ciphermark_present.figure import Figure
from ciphermark_present.printed import Wanted
from ciphermark_workloads.inference import figures as inference
from ciphermark_workloads.learning import figures as learning
from ciphermark_workloads.retrieval import figures as retrieval

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

FACTS = {"reference_kernel_version": 2.0, "reference_kernel_s": 5e-5, "reference_kernel_spread": 0.4}
PARAMETERS = {"variant": None, "data_set": "boston"}


def disturbed(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    return tuple(replace(sample, is_disturbed=True) for sample in samples)


def stages(seconds: float) -> tuple[Sample, ...]:
    """Eight passes, with what each family tells of itself."""
    return tuple(
        Sample(metric, value, "infer", party, step, ordinal=ordinal)
        for ordinal in range(8)
        for metric, value, party, step in (
            ("time", seconds, None, None),
            ("time", seconds * 0.9, None, "evaluate"),
            ("time", seconds * 0.9, "server", None),
            ("time", seconds * 0.1, "client", None),
            ("time", seconds * 0.1, None, "serialize"),
            ("size", 1e5, None, None),
            ("size", 1e4, None, "returned"),
            ("database_size", 1e6, None, None),
            ("answers", 1.0, None, None),
            ("answered_size", 256.0, None, None),
            ("logit_error", 1e-4, None, None),
            ("agreement", 1.0, None, None),
        )
    )


@pytest.fixture(scope="module")
def runs(database: Database, make: Maker) -> dict[str, Run]:
    """A run of each family: seal takes half of the other's time, and others had the core for most of it."""
    spec = ParameterSpec("bfv", 8192, None, 65537)
    recorded = {}
    for family, workload in (("learning", "lmc-plain"), ("retrieval", "fast-pir"), ("inference", "digits")):
        run = recorded[family] = make.run()
        database.record_run(run)
        dimensions = {"data_set": "boston"} if family == "learning" else {}
        for variant, samples in (("seal", disturbed(stages(1.0))), ("seal-hexl", stages(2.0))):
            case = Case(variant, family, workload, spec, 1, "random", dimensions=dimensions)
            database.record_outcome(make.outcome(run, case, samples, facts=FACTS))
    return recorded


def rows(database: Database, figure: Figure, run: Run) -> list[dict[str, Any]]:
    return figure_rows.rows(database, figure, run.id)


FIGURES = (
    ("learning", learning.LEARNING, "infer_s"),
    ("learning", learning.STAGES, "time_s"),
    ("retrieval", retrieval.RETRIEVALS, "answer_s"),
    ("inference", inference.INFERENCES, "infer_s"),
)
PARTS = (
    ("learning", learning.STAGES, ("serialization_s", "evaluate_s")),
    ("retrieval", whole_cost.WHOLE_COST, ("client_s", "server_s")),
    ("inference", inference.PARTS, ("client_s", "server_s", "serialize_s")),
)


@pytest.mark.parametrize(
    ("family", "figure", "column"), FIGURES, ids=lambda item: getattr(item, "name", item)
)
def test_a_disturbed_stage_is_marked_and_comes_last(
    database: Database, runs: dict[str, Run], family: str, figure: Figure, column: str
) -> None:
    found = rows(database, figure, runs[family])
    assert [row["variant"] for row in found] == ["seal-hexl", "seal"]
    (shown,) = [each for each in figure.columns if each.name == column]
    assert [shown.cell(row).startswith("!") for row in found] == [False, True]
    assert [shown.brief_cell(row).startswith("!") for row in found] == [False, True]


@pytest.mark.parametrize(("family", "figure", "names"), PARTS, ids=lambda item: getattr(item, "name", None))
def test_parts_of_disturbed_samples_are_marked_too(
    database: Database, runs: dict[str, Run], family: str, figure: Figure, names: Sequence[str]
) -> None:
    found = {row["variant"]: row for row in rows(database, figure, runs[family])}
    shown = {column.name: column for column in figure.columns}
    for name in names:
        marks = {variant: shown[name].cell(row).startswith("!") for variant, row in found.items()}
        assert marks == {"seal": True, "seal-hexl": False}, name


def test_the_parts_that_are_not_disturbed_are_not_marked(database: Database, make: Maker) -> None:
    """The core of the client was taken while it wrote, and its server's never."""
    run = make.run()
    database.record_run(run)
    case = Case("seal", "inference", "digits", ParameterSpec("bfv", 8192, None, 65537), 1, "random")
    samples = [
        replace(sample, is_disturbed=sample.party == "client" or sample.step == "serialize")
        for sample in stages(1.0)
    ]
    database.record_outcome(make.outcome(run, case, tuple(samples), facts=FACTS))
    (row,) = rows(database, inference.PARTS, run)
    assert {*row["disturbed_times"]} == {"client_s", "serialize_s"}
    assert not sentences.fastest([row], (), "client_s")
    assert sentences.fastest([row], (), "infer_s")
    chart = inference.draw_parts([row])
    assert chart is not None
    told = {value["part"]: value["told"] for value in chart.to_dict(validate=False)["data"]["values"]}
    marked = {part for part, text in told.items() if "disturbed samples only" in text}
    assert marked == {"both: write and read", "the rest of both"}


@pytest.mark.parametrize("is_alone_disturbed", [False, True])
@pytest.mark.parametrize("is_batch_disturbed", [False, True])
def test_the_share_of_a_query_alone_is_marked_where_either_time_is_disturbed(
    database: Database, make: Maker, is_alone_disturbed: bool, is_batch_disturbed: bool
) -> None:
    run, spec = make.run(), ParameterSpec("bfv", 8192, None, 65537)
    database.record_run(run)
    for dimensions, seconds, is_disturbed in (
        ({}, 1.0, is_alone_disturbed),
        ({"inputs_per_pass": 2}, 1.5, is_batch_disturbed),
    ):
        case = Case("seal", "retrieval", "fast-pir", spec, 1, "random", dimensions=dimensions)
        samples = disturbed(stages(seconds)) if is_disturbed else stages(seconds)
        database.record_outcome(make.outcome(run, case, samples, facts=FACTS))
    (shown,) = [column for column in retrieval.AT_ONCE.columns if column.name == "alone_share"]
    found = {row["inputs"]: row for row in rows(database, retrieval.AT_ONCE, run)}
    assert found[2]["alone_share"] == pytest.approx(0.75)
    for inputs, is_disturbed in ((1, is_alone_disturbed), (2, is_batch_disturbed)):
        row = found[inputs]
        assert ("alone_s" in row["disturbed_times"]) == is_alone_disturbed
        assert shown.cell(row).startswith("!") == (is_alone_disturbed or is_disturbed)
        assert row["disturbed_times"].count("alone_share") <= 1


@pytest.mark.parametrize(
    ("family", "figure", "column"), FIGURES, ids=lambda item: getattr(item, "name", item)
)
def test_a_disturbed_stage_is_never_the_fastest(
    database: Database, runs: dict[str, Run], family: str, figure: Figure, column: str
) -> None:
    if figure.tell is not None:
        every = [sentences.with_level(row, "2018") for row in rows(database, figure, runs[family])]
        told = " ".join(figure.tell(every, PARAMETERS))
        assert "(seal-hexl" in told
        assert "(seal," not in told
        assert "(seal)" not in told


def test_a_disturbed_stage_wins_nothing(database: Database, runs: dict[str, Run]) -> None:
    for run in runs.values():
        answer = database.query(
            "select variant, standing, rank from ranking where run_id = %s and phase = 'infer'", [run.id]
        )
        assert set(answer.rows) == {("seal", "disturbed", 2), ("seal-hexl", "tie", 1)}


def printed(database: Database, figure: Figure, run: Run) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    (layout, *_) = figure.printed
    answers = [rows(database, each, run) for each in (figure, *layout.others)]
    for table in listing.tables(figure, layout, answers, Wanted()):
        yield " ".join((table.about, *table.legend)), [*table.rows]


def test_the_terminal_says_what_the_mark_means(database: Database, runs: dict[str, Run]) -> None:
    for family, figure, _ in FIGURES:
        if figure.printed:
            ((about, cells),) = list(printed(database, figure, runs[family]))[:1]
            assert "! disturbed samples only" in about
            assert any(cell.startswith("!") for cell in cells[-1])
            assert not any(cell.startswith("!") for cell in cells[0])


def test_layers_of_disturbed_samples_are_no_answer() -> None:
    def row(variant: str, seconds: float, **more: Any) -> dict[str, Any]:
        same = {"operation": "digits", "options": None, "scheme": "bfv", "threads": 1, "security_2018": 128}
        own = {"case_key": variant, "variant": variant, "layer_time": seconds}
        levels = {"layer": "dense", "layer_share": 1.0, "security_2018": 128, "security_2024": 128}
        return dict(sentences.with_level({**same, **own, **levels, **more}, "2018"))

    every = [row("seal", 1.0, disturbed_times=["layer_time"]), row("seal-hexl", 2.0, disturbed_times=[])]
    (sentence,) = layers.tell_longest(every, {})
    assert "seal-hexl" in sentence
