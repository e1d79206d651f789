"""The template of PDF reports, set by Typst."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import typst
from pypdf import PdfReader

from ciphermark_core.controls import visible
from ciphermark_dashboards import rendering, report

TEMPLATE = files("ciphermark_dashboards") / "templates" / "report.typ"
HEADING = "Under which it stands"
# Five times as high as wide: as wide as a page, it would be far higher than one.
TALL = """<svg xmlns="http://www.w3.org/2000/svg" width="400" height="2000">
<text x="9" y="30">legend</text><text x="9" y="1990">axis</text></svg>"""


def pages(folder: Path, **changes: Any) -> list[str]:
    """The texts of the pages of a report with one figure."""
    (folder / "chart.svg").write_text(TALL)
    table = {"head": [["rotate_columns", False]], "rows": [["a"]], "same": "", "legend": "", "left_out": 0}
    figure = {"title": HEADING, "lead": "What it is.", "chart": "chart.svg", "table": table}
    figure |= {"notes": [], "sentences": [], "is_grid": True}
    texts = dict.fromkeys(
        ("title", "version", "started", "run", "host", "note", "whole", "method", "suite", "omitted"), "text"
    )
    names = ("answers", "findings", "caveats", "reading", "notes", "facts", "builds")
    lists: dict[str, Any] = {name: [] for name in names}
    sections = [{"title": "Section", "scope": "", "figures": [figure | changes]}]
    failures = {"head": [], "rows": [], "same": "", "legend": "", "left_out": 0}
    outcomes = ["A sentence that stands above."] * 12
    data = (
        texts | lists | {"outcomes": outcomes, "sections": sections, "failures": failures, "has_sql": False}
    )
    (folder / "data.json").write_text(json.dumps(data))
    (folder / "report.typ").write_bytes(TEMPLATE.read_bytes())
    read = PdfReader(io.BytesIO(bytes(typst.compile(str(folder / "report.typ")))))
    return [page.extract_text() for page in read.pages]


def test_a_chart_higher_than_a_page_stands_whole_under_its_heading(tmp_path: Path) -> None:
    (told,) = [text for text in pages(tmp_path) if HEADING in text]
    assert "legend" in told
    assert "axis" in told


def test_long_names_end_where_their_column_does(tmp_path: Path) -> None:
    """Names are parted after underscores, where their columns are narrow."""
    head = [[f"column {number}", True] for number in range(26)]
    rows = [["rotate_columns", *["1,000,000"] * 25]]
    table = {"head": head, "rows": rows, "same": "", "legend": "", "left_out": 0}
    (told,) = [text for text in pages(tmp_path, chart=None, table=table) if HEADING in text]
    assert "rotate_columns" not in told.replace("\u200b", "")
    assert "rotate_" in told


def test_what_was_stored_is_visible_in_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    set_texts: list[str] = []

    def pdf(source: bytes, texts: dict[str, bytes]) -> bytes:
        set_texts.append(texts["data.json"].decode())
        return b""

    monkeypatch.setattr(rendering, "pdf", pdf)
    facts = defaultdict(lambda: "a\x1b[2J\u202e", started_at=None, cpu_flags=(), turbo=None, smt=None)
    facts |= dict.fromkeys(("memory_bytes", "host_clock_noise", "host_load_1min"))
    report.pdf(report.Report("t\x1b", facts, ("h\x9b",), (), (), (), (), (), ()))
    (text,) = set_texts
    assert "a␛[2J\ufffd" in json.loads(text)["suite"]
    assert not {sign for sign in json.dumps(json.loads(text), ensure_ascii=False) if visible(sign) != sign}
