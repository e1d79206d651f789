"""What is printed of the archives in ``reference/``, whole (see ``tests/golden.py``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import golden
import pytest
from command import Ciphermark
from pypdf import PdfReader

from ciphermark_benchmark.cli import _result_tables as result_tables
from ciphermark_benchmark.cli import compare
from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.database import Database
from ciphermark_present import terminal
from ciphermark_present.catalogue import comparing, published
from ciphermark_present.printed import Head, Printed, Wanted

WIDTHS = (80, 100, 120, 200)
HEAD_LINES = 3
ARCHIVES = ("quick", "tenseal-ml", "pir-report")
OUTPUTS = {
    **{f"results-{name}.txt": ("results", f"last:{name}") for name in ARCHIVES},
    **{f"summary-{name}.txt": ("summary", f"last:{name}") for name in ARCHIVES},
    "results-quick-details.txt": ("results", "last:quick", "--details", "--notes"),
    "results-quick-encrypt.txt": ("results", "last:quick", "--phase", "encrypt", "--across-security-levels"),
    "results-quick-published.txt": ("results", "last:quick", "--published"),
    "results-tenseal-ml-details.md": ("results", "last:tenseal-ml", "--details", "--format", "md"),
    "results-quick.tex": ("results", "last:quick", "--format", "latex"),
    "results-quick-seal.tex": (
        *("results", "last:quick", "--format", "latex"),
        *("--table", "matrix-2", "--relative-to", "seal"),
    ),
    "figures.txt": ("figure",),
}


@pytest.fixture(scope="module")
def url(reference) -> str:
    return reference(*ARCHIVES)


@pytest.fixture(scope="module")
def imported(tmp_path_factory, url) -> Ciphermark:
    """The command line where the archives are imported, in a terminal of 100 columns."""
    return Ciphermark(tmp_path_factory.mktemp("golden"), url, {"COLUMNS": "100"})


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_as_it_was(imported: Ciphermark, name: str) -> None:
    golden.compare(name, imported(*OUTPUTS[name]).out)


def test_a_report_is_as_it_was(imported: Ciphermark, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    done = imported("report", "last:quick", "-o", str(path))
    assert (done.out, done.err.strip()) == ("", f"report: {path}")
    golden.compare("report-quick.md", path.read_text(encoding="utf-8"))


def printed(database: Database, archive: str) -> Iterator[Printed]:
    """Every table of a reference run: its figures briefly and in detail, published values, and its comparison with
    itself.
    """
    (run_id,) = database.runs_named(f"last:{archive}")
    for is_detailed in (False, True):
        yield from result_tables.of_run(database, run_id, Wanted(is_detailed=is_detailed))
    yield from published.tables(rows(database, published.PUBLISHED, run_id))
    how = compare._How(False, None, True, None, None)
    yield from comparing.tables(compare._compared(database, (run_id, run_id), how, {}))


def widest(tables: Iterable[Printed]) -> list[Printed]:
    """Of tables with the same heads the widest ones, each with the longest text of every column: the form of a table
    depends on these.
    """
    kinds: dict[tuple[Head, ...], Printed] = {}
    for table in tables:
        if table.rows:
            places = range(len(table.heads))
            longest = {max(table.rows, key=lambda row, place=place: len(row[place])) for place in places}
            reduced = replace(table, rows=tuple(longest))
            kinds[table.heads] = max(kinds.get(table.heads, reduced), reduced, key=width_of)
    return list(kinds.values())


def width_of(table: Printed) -> int:
    return sum(max(map(len, texts)) for texts in zip(*table.rows, strict=True))


@pytest.mark.parametrize("archive", ARCHIVES)
def test_printed_figures_keep_their_form_at_every_width(url: str, archive: str) -> None:
    with Database.open(url) as database:
        tables = widest(printed(database, archive))
    assert len(tables) > 5
    for table in tables:
        optional = {head.text for head in table.heads if head.drop}
        for width in WIDTHS:
            lines = list(terminal.lines(table, width))
            assert max(map(len, lines)) <= width
            body = list(takewhile(lambda line: not line.startswith(("[1] ", "Hidden columns:")), lines))
            assert len(body) <= HEAD_LINES + 2 * len(table.rows), f"blocks at {width}: {table.title}"
            below = " ".join(" ".join(lines[len(body) :]).split())
            noted, _, hidden = below.partition("Hidden columns: ")
            assert all(len(text) >= 15 for text in re.split(r"\[[0-9]+\] ", noted)[1:])
            assert {*hidden.partition(". To show")[0].split(", ")} - {""} <= optional, f"hidden at {width}"


@pytest.mark.extended
def test_a_pdf_begins_with_a_page_of_answers(imported: Ciphermark, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    imported("report", "last:quick", "-o", str(path))
    pages = [" ".join(page.extract_text().split()) for page in PdfReader(path).pages]
    assert len(pages) <= 12
    for scheme in ("BFV", "BGV", "CKKS"):
        assert f"Which library is best to multiply two ciphertexts in {scheme} at 128 bits" in pages[0]
    assert "Further results" in pages[0]
