"""`ciphermark report`: one file that needs nothing else, in three forms."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from test_dashboards_pages import links, recorded_run

from ciphermark_core.errors import UserError
from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.gateway import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

LARGEST_BYTES = 5_000_000
NASTY = "<script>alert(1)</script> | #let x = 1 [*] $y$ @z"


@pytest.fixture(scope="module")
def reported(new_url: Callable[[], str], make: Maker) -> tuple[str, str]:
    """URL of a database with a run whose library has much to say, and the run's id."""
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        run_id = recorded_run(make, database, suite_text=f"name: quick  # {NASTY}")
        run = make.run(id=run_id)
        case = make.case("pyfhel", operation="mul")
        database.record_outcome(make.outcome(run, case, status="crashed", error=NASTY))
    return url, run_id


@pytest.mark.parametrize("ending", ["html", "md", "pdf"])
def test_the_command_writes_one_file(tmp_path: Path, reported: tuple[str, str], ending: str) -> None:
    url, run_id = reported
    path = tmp_path / f"out.{ending}"
    done = Ciphermark(tmp_path / "home", url)("report", run_id, "-o", str(path))
    assert done.out.strip() == f"report: {path}"
    data = path.read_bytes()
    assert 10_000 < len(data) < LARGEST_BYTES
    if ending == "pdf":
        assert data.startswith(b"%PDF")
        return
    text = data.decode()
    for told in (
        "seal-hexl leads",
        "turbo is on",  # a caveat of the host
        "HEXL in bfv: 2× to 2×",
        "Test CPU",
        "decrypted and compared",
        "gcc 14",
        "it has none",
        run_id,
    ):
        assert told in text, told


def test_html_works_offline_and_runs_nothing(reported: tuple[str, str]) -> None:
    url, run_id = reported
    with Store(url) as store:
        text = report.FORMATS["html"](report.made(store, run_id)).decode()
    assert "<script" not in text
    assert html.escape(NASTY) in text
    assert all(link.startswith("data:image/") for link in links(text))
    assert not re.search(r"url\(|@import", text)


def test_markdown_keeps_foreign_text_in_its_cell(reported: tuple[str, str]) -> None:
    url, run_id = reported
    with Store(url) as store:
        lines = report.FORMATS["md"](report.made(store, run_id)).decode().splitlines()
    (line,) = [line for line in lines if line.startswith("| pyfhel | crashed |")]
    assert line.endswith(r"\| #let x = 1 [*] $y$ @z |")


def test_runs_are_named_as_everywhere(reported: tuple[str, str], new_url: Callable[[], str]) -> None:
    url, run_id = reported
    with Store(url) as store:
        assert report.made(store, "last").facts["run_id"] == run_id
        with pytest.raises(UserError, match="nope"):
            report.made(store, "nope")
    empty = new_url()
    with Database.open(empty) as database:
        database.migrate()
    with Store(empty) as store, pytest.raises(UserError, match=r"suites/quick\.yaml"):
        report.made(store, "last")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, reported: tuple[str, str]) -> None:
    url, run_id = reported
    done = Ciphermark(tmp_path / "home", url)(
        "report", run_id, "-o", str(tmp_path / "no" / "out.html"), code=2
    )
    assert "cannot be written" in done.err
