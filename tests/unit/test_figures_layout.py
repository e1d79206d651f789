"""Tables keep within a width and lose nothing, in a terminal and as markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_present import markup, terminal
from ciphermark_present.printed import Head, Printed

WORDS = st.text("abcdefgh", min_size=1, max_size=9)
PROSE = st.lists(WORDS, max_size=40).map(" ".join)
NUMBERS = st.integers(0, 10**6).map(str)
LONGEST_WORD = 9


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(["number", "prose"]), min_size=1, max_size=12))
    heads = [Head("row")]
    columns = [WORDS]
    for kind in kinds:
        is_number = kind == "number"
        heads.append(Head(draw(WORDS), is_number, not is_number))
        columns.append(NUMBERS if is_number else PROSE)
    rows = draw(st.lists(st.tuples(*columns), max_size=6))
    return Printed("title", "about", tuple(heads), tuple(rows))


@given(table=tables(), width=st.integers(2 * LONGEST_WORD + 2, 160))
def test_no_line_is_wider_and_every_word_is_there_or_its_column_is_named(table, width):
    lines = list(terminal.lines(table, width))
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    words = set(re.findall(r"[a-z]+|[0-9]+", text))
    _, _, left_out = " ".join(text.split()).partition("Hidden columns: ")
    for head, column in zip(table.heads, zip(*table.rows, strict=True), strict=False):
        assert head.text in left_out or set(" ".join(column).split()) <= words


def test_columns_without_room_are_left_out_by_their_priority_and_named():
    heads = (Head("operation"), *(Head(f"variant-{number}", True, drop=number) for number in range(6)))
    table = Printed("", "", heads, (("add", *(f"{number}00 ms" for number in range(6))),))
    names, _, *below = terminal.lines(table, 40)
    assert names.split() == ["operation", "variant-0", "variant-1", "variant-2"]
    assert "variant-3, variant-4, variant-5" in " ".join(" ".join(below).split())
    assert len(list(terminal.lines(table, 120))) == 2


def test_what_would_take_more_than_five_lines_is_a_footnote_told_once():
    reason = " ".join(["because"] * 60)
    table = Printed(
        "", "", (Head("row"), Head("why", is_prose=True)), (("a", reason), ("b", reason), ("c", ""))
    )
    _, first, second, third, *notes = terminal.lines(table, 60)
    assert (first.split(), second.split(), third.split()) == (["a", "[1]"], ["b", "[1]"], ["c"])
    assert notes[0].startswith("[1] because because")
    assert " ".join(notes).count("because") == 60


@given(table=tables())
def test_markdown_has_a_cell_for_every_cell(table):
    lines = [line for line in markup.markdown([table]).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} == {len(table.heads) + 1}
    assert len(lines) == len(table.rows) + 2


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 %_&#$", r"50 \%\_\&\#\$"),
        ("2^40 x^y", r"2\textsuperscript{40} x\textasciicircum{}y"),
        ("3 µs × ≈", r"3 \ensuremath{\mu}s \ensuremath{\times} \ensuremath{\approx}"),
        ("seal°, 1 s†", r"seal\ensuremath{^\circ}, 1 s\ensuremath{\dagger}"),
        ("[1, 2]", "{[}1, 2]"),
        ("a\\b{c}", r"a\textbackslash{}b\{c\}"),
    ],
)
def test_latex_escapes_what_has_a_meaning_there(text, escaped):
    found = markup.latex([Printed("", "", (Head("x"),), ((text,),))])
    assert f"    {escaped} \\\\" in found.splitlines()


def test_latex_is_a_table_with_caption_and_rules():
    heads = (Head("operation"), Head("median", True), Head("why", is_prose=True))
    found = markup.latex(
        [Printed("bfv", "times", heads, (("add", "1 ms", "a long reason for it"), ("sub", "2 ms", "short")))]
    )
    for part in (
        r"\caption{bfv. times}",
        r"\begin{tabular}{lrl}",
        r"add & 1 ms & {[}1] \\",
        r"sub & 2 ms & short \\",
        "a long reason for it",
        r"\bottomrule",
    ):
        assert part in found


@pytest.mark.parametrize("width", range(80, 121))
def test_heads_of_prose_stand_whole_at_every_width(width):
    note = "80-bit; which of its two forms is not printed"
    heads = (
        *(
            Head("system"),
            Head("scheme"),
            Head("result", is_prose=True, min_width=20),
            Head("published", True),
        ),
        *(Head("note", is_prose=True), Head("ours", True), Head("95% interval", True)),
        Head("our case", is_prose=True, min_width=24),
    )
    rows = (("CraterLake", "ckks", "LoLa-CIFAR plain weights", "50.5 ms", note, "–", "", ""),)
    lines = list(terminal.lines(Printed("", "", heads, rows), width))
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines[:2]).split()).count("case") == 1
