"""`ciphermark report`: one file that needs nothing else, in three forms."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import Ciphermark
from dashboard import dashboard
from markdown_it import MarkdownIt
from processes import PATIENCE_S
from pypdf import PdfReader
from test_dashboards_pages import links, recorded_run, times

from ciphermark_core.errors import UserError
from ciphermark_core.model import Sample
from ciphermark_dashboards import rendering, report
from ciphermark_dashboards.report import Report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_present import answers
from ciphermark_present.notes import Note

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

LARGEST_BYTES = 5_000_000
NASTY = "<script>alert(1)</script> <img src=http://x/y> &lt; | `x` \\| ![i](http://x/z) #let x = 1 [*] $y$ @z"
LONG = "<&|`" * 5_000  # 20 kB, all of which needs escaping
FORMS = ("html", "md", "pdf")


@pytest.fixture(scope="module", autouse=True)
def same_picture() -> Iterator[None]:
    """One picture in place of all: what commands write here, in processes of their own, has those that it should."""
    chart = {"data": {"values": [{}]}, "mark": "point", "width": 760}
    svg, png = rendering.svg(chart), rendering.png(chart)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "svg", lambda *_: svg)
        patch.setattr(rendering, "png", lambda *_: png)
        yield


@pytest.fixture(scope="module")
def reported(new_url: Callable[[], str], make: Maker) -> tuple[str, str]:
    """URL of a database with a run whose library has much to say, and the run's id."""
    url = new_url()
    with Database.open(url) as database:
        run_id = recorded_run(make, database, suite_text=f"name: quick  # {NASTY}\n```\n# no heading\n")
        run = make.run(id=run_id)
        case = make.case("pyfhel", operation="mul")
        database.record_outcome(make.outcome(run, case, status="crashed", error=NASTY))
        for data_set, share in (("boston", 1.0), ("breast-cancer", 0.5)):
            case = make.case(
                "seal", experiment="learning", operation="lmc-encrypted", dimensions={"data_set": data_set}
            )
            scores = (
                Sample("accuracy", 0.75, "infer", ordinal=0),
                Sample("agreement", share, "infer", ordinal=0),
            )
            learned = (*make.times([0.004] * 9, "train"), *make.times([0.002] * 9, "infer"), *scores)
            database.record_outcome(make.outcome(run, case, learned))
        case = make.case("seal", operation="mul", vector_length=16, threads=2)
        database.record_outcome(make.outcome(run, case, times(make, 3.0)))
    return url, run_id


@pytest.fixture(scope="module")
def failed(new_url: Callable[[], str], make: Maker) -> tuple[str, str]:
    """URL of a database with a run of 400 failures with 20 kB each, no two alike, and the run's id."""
    url = new_url()
    with Database.open(url) as database:
        run_id = recorded_run(make, database)
        run = make.run(id=run_id)
        database.record_outcomes(
            [
                make.outcome(
                    run,
                    make.case("pyfhel", operation="mul", vector_length=16 + number),
                    status="crashed",
                    error=f"{number} {LONG}",
                )
                for number in range(400)
            ]
        )
    return url, run_id


@cache
def made(of: tuple[str, str]) -> Report:
    url, run_id = of
    with Store(url) as store:
        return report.made(store, run_id, has_sql=True)


@cache
def text_of(of: tuple[str, str], form: str) -> str:
    """What a form of a run's report says."""
    return read(report.FORMATS[form](made(of)), form)


def read(data: bytes, form: str) -> str:
    """What a file says; a PDF on one line."""
    if form != "pdf":
        return data.decode() if form == "md" else html.unescape(re.sub("</?b>", "", data.decode()))
    pages = (page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
    return " ".join(" ".join(pages).replace("\N{ZERO WIDTH SPACE}", "").split())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_tells_the_same(reported: tuple[str, str], form: str) -> None:
    text = text_of(reported, form)
    for told in (
        "seal-hexl is fastest in every case; rank 2: seal 2.00×; rank 3: tenseal 4.00×",
        "Which library is best to ",
        *(answers.plain(shown["answer"].headline) for shown in made(reported).answers),
        "turbo is on",  # a caveat of the host
        "HEXL in BFV at 192 bits (2018): faster in 4 of 4 cases, up to 2.00×.",
        "largest number of bits of noise budget per operation: on average 9",
        "Learning: data set boston",
        "Learning: data set breast-cancer",
        "Not shown: phase encrypt and decrypt, data constant, threads 2.",
        "Not measured: pyfhel: 1 crashed; tenseal: 1 unsupported.",
        "Test CPU",
        "AVX512-IFMA",
        "Turbo",
        "Clock source",
        "decrypted and compared",
        "gcc 14",
        "it has none",
        "and security_compared = 192",  # in the SQL
        reported[1],
    ):
        assert told in text, told


@pytest.mark.extended  # every day tests/integration/test_golden_outputs.py writes Markdown
@pytest.mark.parametrize("form", FORMS)
def test_the_command_writes_one_file(tmp_path: Path, reported: tuple[str, str], form: str) -> None:
    url, run_id = reported
    path = tmp_path / f"out.{form}"
    Ciphermark(tmp_path / "data", url)("report", run_id, "-o", str(path))
    assert 10_000 < len(path.read_bytes()) < LARGEST_BYTES


@pytest.mark.parametrize(
    ("form", "beginning"),
    [
        *(
            pytest.param(*form, marks=pytest.mark.extended)
            for form in (("html", b"<!doctype"), ("pdf", b"%PDF"))
        ),
        ("md", b"# quick"),  # bytes as any form
    ],
)
def test_standard_output_gets_the_report_alone(
    tmp_path: Path, reported: tuple[str, str], form: str, beginning: bytes
) -> None:
    url, run_id = reported
    process = Ciphermark(tmp_path / "data", url).fork("report", run_id, "-o", "-", "--format", form)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(beginning)
    assert out.rstrip().endswith({"html": b"</html>", "md": b"```", "pdf": b"%%EOF"}[form])


def test_html_works_offline_and_runs_nothing(reported: tuple[str, str]) -> None:
    text = report.FORMATS["html"](made(reported)).decode()
    assert "<script" not in text
    assert html.escape(NASTY) in text
    assert all(link.startswith("#note-") for link in links(text))
    assert set(re.findall(r'url\("?([^,)"]*)', text)) <= {
        "data:font/woff2;base64",
        *re.findall(r"#f\d+-\w+", text),
    }
    assert "@import" not in text


def test_cases_stand_side_by_side(reported: tuple[str, str]) -> None:
    """On paper, too, a case is one row with a column per variant."""
    text = text_of(reported, "md")
    assert re.search(r"\| Operation \|.* pyfhel° \| seal° \| seal-hexl \| tenseal° \|\n", text)
    assert re.search(
        r"\| add \|.*\| not in this run \| 4.00 ms · 2.00× \| 2.00 ms · 1.00× \| 8.00 ms · 4.00× \|\n", text
    )


def test_markdown_shows_foreign_text_as_it_is(reported: tuple[str, str]) -> None:
    """Read by a program that lets HTML through, as many do."""
    text = text_of(reported, "md")
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in shown
    assert re.findall(r'<img src="(?!data:image/png;base64,)', shown) == []
    assert f">{html.escape(NASTY)}</td>" in shown
    assert "# no heading" in shown
    assert "<h1>no heading" not in shown


def test_a_run_with_many_long_failures_stays_small(failed: tuple[str, str]) -> None:
    data = {form: report.FORMATS[form](made(failed)) for form in FORMS}
    assert {form: len(found) for form, found in data.items() if len(found) >= LARGEST_BYTES} == {}
    for form in ("html", "md"):
        text = data[form].decode()
        assert re.search(r"\(first [\d,]+ of 20,00\d characters\)", text)
        assert "where run_id = " in text
        assert "more rows are in the database" in text


def test_pages_about_many_long_failures_stay_small(failed: tuple[str, str]) -> None:
    url, run_id = failed
    with dashboard(url) as client:
        for path in (f"/ranking?run={run_id}", f"/runs/{run_id}"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert len(answer.content) < LARGEST_BYTES
            assert re.search(r"first (?:300 of 20,00\d|2000 of 2000\d) characters", answer.text)
        assert "ciphermark sql" in answer.text
        assert "<dt>Clock source</dt><dd>tsc</dd>" in answer.text
        whole = client.get(f"/figures/matrix.csv?run={run_id}").text
    assert f"399 {LONG}" in whole


def test_runs_are_named_as_everywhere(reported: tuple[str, str], new_url: Callable[[], str]) -> None:
    url, run_id = reported
    with Store(url) as store:
        assert report.made(store, "last").facts["run_id"] == run_id
        with pytest.raises(UserError, match="nope"):
            report.made(store, "nope")
    with Store(new_url()) as store, pytest.raises(UserError, match=r"ciphermark run quick"):
        report.made(store, "last")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, reported: tuple[str, str]) -> None:
    with pytest.raises(UserError, match="cannot write"):
        report.write(made(reported), tmp_path / "no" / "out.html", "html")


NOTES = (
    Note("operation", ("seal", "seal-hexl"), ("mul",), frozenset({"mul"}), "without relinearization"),
    Note("operation", ("pyfhel",), ("rotate(1)",), frozenset({"rotate"}), "of what was not measured"),
    Note("object", ("tenseal",), ("no rotation_keys",), frozenset({"no rotation_keys"}), "writes none here"),
)


@pytest.fixture(scope="module")
def noted(reported: tuple[str, str]) -> Report:
    """The report with notes, and without SQL."""
    url, run_id = reported
    with Store(url) as store:
        return report.made(store, run_id, notes=NOTES)


@pytest.mark.parametrize("form", FORMS)
def test_figures_have_the_notes_that_they_need(noted: Report, form: str) -> None:
    text = read(report.FORMATS[form](noted), form)
    assert "seal, seal-hexl · mul: without relinearization" in text
    assert "tenseal · no rotation_keys: writes none here" in text.replace("\\_", "_")
    assert "of what was not measured" not in text
    cited = {"html": r'href="#note-(\d+)"', "md": r"^Notes: \[\^(\d+)\]$", "pdf": r"Notes: (\d+)"}[form]
    assert sorted(set(re.findall(cited, text, re.MULTILINE))) == ["1", "2"]


def test_the_leads_of_a_report_promise_no_link(reported: tuple[str, str]) -> None:
    text = text_of(reported, "md")
    assert "to see its samples" not in text
    assert "choose fewer variants" not in text


def test_sql_is_there_on_request_alone(noted: Report) -> None:
    assert "security_compared =" not in report.FORMATS["html"](noted).decode()


def test_markdown_has_its_pictures_in_files_beside_it(tmp_path: Path, reported: tuple[str, str]) -> None:
    path = tmp_path / "of a run.md"
    report.write(made(reported), path, "md")
    text = path.read_text()
    assert "data:image" not in text
    pictures = sorted((tmp_path / "of a run-figures").iterdir())
    assert [f"of%20a%20run-figures/{picture.name}" for picture in pictures] == re.findall(
        r"!\[.*\]\((of.*)\)", text
    )
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert len(pictures) > 3
