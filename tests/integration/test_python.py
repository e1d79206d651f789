"""The Python interface: runs as data frames and pictures, by the code of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ciphermark
from ciphermark import _page
from ciphermark_core.errors import UserError

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"


def test_the_reference_page_is_generated() -> None:
    assert PAGE.read_text(encoding="utf-8") == _page.page()


def test_importing_it_loads_no_database_and_no_service() -> None:
    """Users' files import it in every worker and on servers without the benchmark service."""
    code = (
        "import sys, ciphermark; "
        "print([name for name in ('psycopg', 'pandas', 'ciphermark_benchmark') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        ciphermark.rum  # noqa: B018 - the access is what is tried


@pytest.fixture
def run(reference: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ciphermark.Run:
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", reference("quick"))
    monkeypatch.setenv("CIPHERMARK_DATA", str(tmp_path))
    return ciphermark.open("last")


def test_a_run_has_its_results_and_ratios_as_data_frames(run: ciphermark.Run) -> None:
    results, ratios = run.results, run.ratios
    assert set(results.run_id) == set(ratios.run_id) == {run.id}
    assert {"variant", "operation", "median", "ci_low", "ci_high"} <= {*results.columns}
    assert set(ratios[ratios["rank"] == 1].ratio) == {1.0}
    assert run.costs().empty  # quick has no workload


def test_a_figure_is_a_picture_or_a_table(run: ciphermark.Run, tmp_path: Path) -> None:
    picture = run.figure("latency", {"scheme": "ckks"})
    assert set(picture.rows.scheme) == {"ckks"}
    assert picture._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
    picture.save(tmp_path / "latency.svg")
    assert (tmp_path / "latency.svg").read_text().startswith("<svg")
    table = run.figure("operations")
    assert "<table" in table._repr_mimebundle_()["text/html"]
    with pytest.raises(UserError, match=r"is a table: use rows.to_csv"):
        table.save(tmp_path / "table.svg")


def test_predictions_need_a_cost_table(run: ciphermark.Run) -> None:
    with pytest.raises(UserError, match="no cost table on this host"):
        ciphermark.predict("logistic", variants=["seal"])


def test_mistakes_have_the_words_of_the_command_line(run: ciphermark.Run) -> None:
    with pytest.raises(UserError, match="no figure 'latencies'; did you mean"):
        run.figure("latencies")
    with pytest.raises(UserError, match="no run matches"):
        ciphermark.open("nothing")
    with pytest.raises(UserError, match="the suite has no variant 'sael'"):
        ciphermark.run("smoke", variants=["sael"])
