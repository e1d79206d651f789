"""``ciphermark figure``: every figure of the pages as a file, the same as its page draws."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard
from test_dashboards_pages import recorded_run
from typer.testing import CliRunner

from ciphermark_benchmark.cli._commands import app as program
from ciphermark_core.errors import UserError
from ciphermark_dashboards.pages import CASE_PAGE, FIGURE_PAGES, FIGURES
from ciphermark_db.database import Database
from ciphermark_present import theme

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

# The runs below have a workload of the family learning alone, without times of its parties, and one N.
NOTHING_OF = {
    "answer-layers",
    "bootstrapping",
    "communication",
    "cost-threads",
    "costs",
    "inferences",
    "layers",
    "prediction-errors",
    "predictions",
    "residuals",
    "classification",
    "retrieval-at-once",
    "retrieval-scaling",
    "retrievals",
    "scaling",
    "threads",
    "track-record",
    "workloads",
    *(
        f"{family}-{name}"
        for family in ("learning", "retrieval", "inference", "workload")
        for name in ("whole-cost", "profile", "threads")
    ),
}
BEGINS = {
    "svg": b"<svg",
    "pdf": b"%PDF-",
    "png": b"\x89PNG",
    "json": b"{",
    "csv": b"case_info_id,run_id,",
    "sql": b"select",
}


@pytest.fixture(scope="module")
def recorded(
    new_url: Callable[[], str], make: Maker, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Ciphermark, list[str], str]:
    """The command line over two runs with something for every page, their ids, and the URL of the database."""
    url = new_url()
    with Database.open(url) as database:
        ids = [recorded_run(make, database), recorded_run(make, database, slower=1.5)]
    return Ciphermark(tmp_path_factory.mktemp("figure") / "data", url), ids, url


def test_the_list_fits_into_a_terminal() -> None:
    """What it says stands in tests/golden/figures.txt."""
    done = CliRunner().invoke(program, ["figure"], env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.exit_code == 0
    assert all(len(line) <= 120 for line in done.output.splitlines())
    assert all(len(f"  {name:<20} {figure.title} (table, csv)") <= 80 for name, figure in FIGURES.items())


@pytest.mark.extended  # pages ask for each figure, and tests/unit/test_figures_charts.py draws each
def test_every_figure_comes_as_a_file(
    recorded: tuple[Ciphermark, list[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ciphermark, ids, url = recorded
    monkeypatch.setenv("CIPHERMARK_DATA", str(ciphermark.data_directory))
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    key = ciphermark.rows("select comparison_group from results where metric = 'time' limit 1")[0][
        "comparison_group"
    ]
    empty = set()
    for name, figure in FIGURES.items():
        # By default a picture, or a table; tests/unit/test_figures_charts.py draws them all.
        form = "csv" if not figure.chart else "svg" if name == "latency" else "json"
        more = ["--filter", f"case={key}"] if FIGURE_PAGES[name] is CASE_PAGE else []
        more += ["--format", form] if form == "json" else []
        done = CliRunner().invoke(program, ["figure", name, ids[1], *more])
        if isinstance(done.exception, UserError):
            assert figure.empty in str(done.exception)
            empty.add(name)
            continue
        assert done.exit_code == 0, (name, done.exception)
        content = (tmp_path / f"{name}.{form}").read_bytes()
        assert content.count(b"\n") > 1 if form == "csv" else content.startswith(BEGINS[form]), name
    assert empty == NOTHING_OF


# Pages write pictures by the same functions (test_dashboards_pages.py).
@pytest.mark.parametrize(
    "form",
    [
        form if form not in ("pdf", "png") else pytest.param(form, marks=pytest.mark.extended)
        for form in BEGINS
    ],
)
def test_the_ending_says_the_form(
    recorded: tuple[Ciphermark, list[str], str], tmp_path: Path, form: str
) -> None:
    ciphermark, ids, _ = recorded
    path = tmp_path / f"any name.{form}"
    done = ciphermark("figure", "latency", ids[0], "-o", str(path))
    assert path.read_bytes().startswith(BEGINS[form])
    assert done.out == ""
    assert f"figure: {path}" in done.err
    shown = (
        r"Shown: scheme=bfv, table=2018 \(or 2024\), security=\d+, phase=evaluate \(or encrypt, decrypt\), "
        r"data=random \(or constant\)"
    )
    assert re.search(shown, done.err)


def test_vega_lite_is_what_the_page_draws(recorded: tuple[Ciphermark, list[str], str]) -> None:
    ciphermark, ids, url = recorded
    told = ciphermark("figure", "latency", "last~1", "-o", "-", "--format", "json", "-f", "phase=encrypt").out
    with dashboard(url) as client:
        page = client.get("/operations", params={"run": ids[0], "phase": "encrypt"}).text
    drawn = re.search(r'<script type="application/json" id="data-latency">(.*?)</script>', page, re.DOTALL)
    assert drawn is not None
    assert theme.linked(json.loads(told)) == json.loads(drawn[1])  # a page's marks lead to their cases
    assert "vega-lite" in json.loads(told)["$schema"]


def test_filters_choose_rows(recorded: tuple[Ciphermark, list[str], str]) -> None:
    ciphermark, _, _ = recorded
    arguments = ("-o", "-", "--format", "csv", "--filter", "variant=seal", "--filter", "variant=tenseal")
    rows = ciphermark("figure", "latency", "last:quick", *arguments).out.splitlines()
    assert {
        variant for variant in ("seal", "seal-hexl", "tenseal") if any(f",{variant}," in row for row in rows)
    } == {
        "seal",
        "tenseal",
    }


def test_two_runs_are_a_figure_of_the_later_one(
    recorded: tuple[Ciphermark, list[str], str], tmp_path: Path
) -> None:
    ciphermark, ids, _ = recorded
    for name, more in (("before.csv", ()), ("named.csv", ("--filter", "a=last~1"))):
        ciphermark("figure", "two-runs", "last", "-o", str(tmp_path / name), *more)
    assert (tmp_path / "before.csv").read_bytes() == (tmp_path / "named.csv").read_bytes()
    assert "slower" in (tmp_path / "named.csv").read_text()
    assert ids[1] in (tmp_path / "named.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("latencies",), "no figure 'latencies'; did you mean 'latency'?"),
        (
            ("latency", "last", "-o", "a.jpg"),
            "available as .svg, .pdf, .png, .json, .csv, .sql; did you mean 'png'?",
        ),
        (("latency", "last", "--format", "pfd"), "did you mean 'pdf'?"),
        (("latency", "last", "-o", "a.svg", "--format", "png"), "the ending svg contradicts --format png"),
        (("latency", "last", "--width", "8cm"), "write a number with its unit, such as 89mm or 640px"),
        (("latency", "nope"), "There is no run nope"),
        (("latency", "last", "--filter", "colour=red"), "there is no filter 'colour'"),
        (("latency", "last", "--filter", "scheme=rsa"), "this run has bfv"),
        (("latency", "last", "--filter", "scheme"), "write filters as NAME=VALUE"),
        (("workloads", "last"), "This run has no workload of such a family."),
        (("matrix", "last", "-o", "a.svg"), "Figure matrix is a table without a chart"),
        (("case-samples", "last"), "Missing case"),
        (("case-samples", "last", "--filter", "case=gone"), "This case has no time samples."),
    ],
)
def test_what_cannot_be_drawn_is_told_and_writes_nothing(
    recorded: tuple[Ciphermark, list[str], str], arguments: tuple[str, ...], told: str
) -> None:
    ciphermark, _, _ = recorded
    done = ciphermark("figure", *arguments, code=2)
    assert told in done.err
    assert done.out == ""
