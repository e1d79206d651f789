"""Saved pictures: what they say of their origin, their width and theme, and the font in them."""

from __future__ import annotations

import io
import re
import struct
from datetime import datetime, timezone
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader

from ciphermark_core.errors import UserError
from ciphermark_dashboards import fonts, pictures, rendering, templating
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.pictures import Caption, Look
from ciphermark_dashboards.rendering import Filled
from ciphermark_present import theme
from ciphermark_present.charting import alt
from ciphermark_present.figure import Figure
from ciphermark_present.query import Answer

RUN = {
    "run_id": "8136aaf8-70a9-4cb8-b1b7-f62e2aa361a0",
    "suite": "quick",
    "started_at": datetime(2026, 11, 22, 20, 21, tzinfo=timezone.utc),
    "cpu_model": "Test CPU & co",
    "cores": 2,
    "software_version": "0.0.9",
}
ROW = {"scheme": "bfv", "ring_dimension": 8192, "security_2018": 128, "security_2024": 0, "variant": "seal"}
SVG = "{http://www.w3.org/2000/svg}"


def draw(rows: Any) -> Any:
    """A chart as wide as its page, with a long label."""
    values = [{"x": number, "y": f"{row['variant']} with a long name"} for number, row in enumerate(rows)]
    chart = alt.Chart(alt.Data(values=values)).mark_bar(color="#0072B2")
    return chart.encode(x=alt.X("x:Q"), y=alt.Y("y:N")).properties(width="container")


def filled(finding: str = "", *rows: dict[str, Any]) -> Filled:
    figure = Figure(
        name="latency",
        title="Time by ring dimension",
        lead="Median time of one execution.",
        view="latency",
        columns=(),
        chart=draw,
        finding=lambda _: finding,
    )
    every = rows or (ROW,)
    answer = Answer(tuple(ROW), [tuple(row.values()) for row in every])
    return Filled(figure, Selection((("run", RUN["run_id"]),)), answer)


@cache
def picture(width: str | None = None, theme_name: str = "light") -> str:
    """A picture as SVG."""
    item = filled("SEAL is fast")
    assert item.specification is not None
    wanted = pictures.look(width, theme_name)
    return pictures.svg(item.specification, pictures.caption(item, [RUN]), wanted)


def texts(svg: str) -> str:
    """The visible texts of a picture, on one line."""
    return " ".join(element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def test_a_caption_names_run_host_parameters_levels_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "revision", lambda: "abc1234")
    rows = (ROW, {**ROW, "scheme": "ckks", "ring_dimension": 4096, "security_2024": 128})
    assert pictures.caption(filled("", *rows), [RUN]) == Caption(
        title="Time by ring dimension",
        measure="Median time of one execution.",
        provenance=(
            "Run 8136aaf8 of suite quick, 2026-11-22 20:21 UTC, Test CPU & co, 2 cores",
            "BFV, CKKS, N = 4096, 8192",
            "Security: 128 bits (2018); below 128 bits, 128 bits (2024)",
            "Measured by Ciphermark 0.0.9. Source: Ciphermark 0.1.0 (revision abc1234)",
        ),
    )


def test_a_finding_is_the_title_above_the_measure() -> None:
    caption = pictures.caption(filled("SEAL is fast"), [RUN])
    assert (caption.title, caption.measure) == (
        "SEAL is fast",
        "Time by ring dimension. Median time of one execution.",
    )


def test_two_runs_are_named_apart() -> None:
    item = filled()
    of_two = Filled(item.figure, Selection((("a", "1"), ("b", "2"))), item.answer)
    first, second, *_ = pictures.caption(of_two, [RUN, RUN]).provenance
    assert (first[:16], second[:16]) == ("Run a: 8136aaf8 ", "Run b: 8136aaf8 ")


def test_without_such_columns_the_choices_name_parameters_and_level() -> None:
    item = filled()
    place = {"scheme": "ckks", "ring_dimension": [4096, 8192], "security_compared": 192}
    chosen = Filled(item.figure, Selection((("run", "1"),), extra=place), Answer(("variant",), [("seal",)]))
    assert pictures.caption(chosen, [RUN]).provenance[1:3] == (
        "CKKS, N = 4096, 8192",
        "Security: 192 bits (2018)",
    )


def test_a_revision_is_that_of_this_clone() -> None:
    assert re.fullmatch(r"[0-9a-f]{7,40}|", pictures.revision())


@pytest.mark.parametrize(
    ("width", "theme_name", "expected"),
    [
        (None, None, Look()),
        ("89mm", "light", Look(89, "mm")),
        ("640px", "dark", Look(640, "px", is_dark=True)),
    ],
)
def test_a_look_is_a_width_and_a_theme(width: str | None, theme_name: str | None, expected: Look) -> None:
    assert pictures.look(width, theme_name) == expected


@pytest.mark.parametrize(
    ("width", "theme_name"), [("89", None), ("8cm", None), ("1mm", None), (None, "blue")]
)
def test_another_look_is_refused(width: str | None, theme_name: str | None) -> None:
    with pytest.raises(UserError, match=width or theme_name or ""):
        pictures.look(width, theme_name)


@pytest.mark.parametrize("width", [None, "89mm"])
def test_a_picture_needs_nothing_else(width: str | None) -> None:
    svg = picture(width)
    told = texts(svg)
    for text in (
        "SEAL is fast",
        "8136aaf8",
        "quick",
        "Test CPU & co",
        "N = 8192",
        "(2024)",
        "2026-11-22",
        "0.1.0",
    ):
        assert text in told
    assert "url(data:font/woff2;base64," in svg.replace('"', "")
    assert set(re.findall(r'(?:href=|url\()"?([^")]{0,5})', svg)) <= {"data:", "#clip"}


@pytest.mark.parametrize("width", [None, "89mm", "300px"])
def test_a_picture_is_as_wide_as_asked_and_nothing_crosses_its_edge(width: str | None) -> None:
    wanted = pictures.look(width)
    root = ElementTree.fromstring(picture(width))
    assert root.get("width") == f"{wanted.width:g}{wanted.unit}"
    (chart,) = root.findall(f"{SVG}svg")
    end = float(chart.get("x", 0)) + float(chart.get("width", 0))
    assert 0.9 * wanted.width_px < end <= wanted.width_px
    for text in root.findall(f"{SVG}text"):
        assert len(text.text or "") * float(text.get("font-size", 0)) * 0.6 < wanted.width_px * 1.1
        assert float(text.get("font-size", 0)) >= theme.LEAST_PX


def test_labels_of_rows_are_above_their_marks_where_room_is_scarce() -> None:
    specification = filled().specification
    assert specification is not None
    narrow, wide = (pictures.drawn(specification, width) for width in (300, 700))
    anchors = [
        re.findall(r'text-anchor="(\w+)"[^>]*>seal with a long name', chart.content)
        for chart in (narrow, wide)
    ]
    assert anchors == [["start"], ["end"]]


def test_a_picture_is_light_unless_asked() -> None:
    light, dark = picture(), picture(theme_name="dark")
    assert f'fill="{theme.LIGHT.ground}"' in light
    assert "#0072B2" in light
    assert f'fill="{theme.DARK.ground}"' in dark
    assert "#0072B2" not in dark
    assert theme.IN_THE_DARK["#0072B2"] in dark


def test_a_png_has_the_pixels_of_its_width() -> None:
    (width,) = struct.unpack(">I", pictures.png(picture("89mm"), "mm")[16:20])
    assert width == pytest.approx(89 / 25.4 * 300, abs=2)


def test_a_pdf_has_its_width_its_texts_and_the_font() -> None:
    data = pictures.pdf(picture("89mm"), "SEAL is fast", "How fast it is.", pictures.look("89mm").width_px)
    (page,) = PdfReader(io.BytesIO(data)).pages
    assert float(page.mediabox.width) == pytest.approx(89 / 25.4 * 72, abs=0.1)
    assert "SEAL is fast" in " ".join(page.extract_text().split())
    embedded = {
        str(font["/BaseFont"])
        for font in _fonts(page)
        if {"/FontFile2", "/FontFile3"} & font["/DescendantFonts"][0].get_object()["/FontDescriptor"].keys()
    }
    assert embedded
    assert all("Inter" in name for name in embedded)


def _fonts(part: Any) -> list[Any]:
    """The fonts of a page and of the pictures on it."""
    resources = part.get("/Resources", {})
    own = [font.get_object() for font in resources.get("/Font", {}).values()]
    return own + [
        each for inner in resources.get("/XObject", {}).values() for each in _fonts(inner.get_object())
    ]


# The font


def test_the_font_is_small_and_has_its_license() -> None:
    assert fonts.WEB.stat().st_size < 40_000
    assert "SIL OPEN FONT LICENSE" in (fonts.FOLDER / "LICENSE").read_text().upper()


def test_the_font_has_the_signs_that_texts_use() -> None:
    """The glyphs of the terminal, of code and of foreign names are not among them."""
    signs = TTFont(fonts.FOLDER / "inter-400.ttf").getBestCmap()
    package = files("ciphermark_present")
    sources = "".join(file.read_text() for file in package.iterdir() if file.name.endswith((".py", ".csv")))
    wanted = {sign for sign in sources if ord(sign) > 0x7E} - {"␛", "\ufffd"}
    assert {sign for sign in wanted if ord(sign) not in signs} == set()


def test_digits_alone_have_equal_widths() -> None:
    with TTFont(fonts.WEB) as font:
        table, names = font["GSUB"].table, font.getBestCmap()
        (axis,) = font["fvar"].axes
        (feature,) = {
            tuple(record.Feature.LookupListIndex)
            for record in table.FeatureList.FeatureRecord
            if record.FeatureTag == "tnum"
        }
        changed = {
            name
            for place in feature
            for each in table.LookupList.Lookup[place].SubTable
            for name in each.mapping
        }
    assert changed == {names[ord(digit)] for digit in "0123456789"}
    assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", 400, 700)


def test_pages_load_the_font() -> None:
    asset = templating.assets()[fonts.WEB.name]
    assert asset.content_type == "font/woff2"
    page = templating.message("Title", "text").body.decode()
    assert f'<link rel="preload" href="{asset.path}" as="font"' in page
    assert f'url("{asset.path}")' in page


def test_charts_measure_texts_with_the_font() -> None:
    chart = {
        "data": {"values": [{"x": "Wide words and 123"}]},
        "mark": "point",
        "encoding": {"y": {"field": "x"}},
    }
    named = [
        rendering.svg({**chart, "config": {"font": name, "axis": {"labelFontSize": 12}}})
        for name in (theme.FONT, "sans-serif")
    ]
    widths = {re.match(r'<svg[^>]* width="([\d.]+)"', text)[1] for text in named}  # type: ignore[index]
    assert len(widths) == 2
