"""Tables keep within a width and lose nothing, in a terminal and as markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_present import markup, terminal
from ciphermark_present.catalogue import comparing, published
from ciphermark_present.printed import Head, Pivot, Printed, pivoted
from ciphermark_present.query import Answer

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


def test_among_texts_what_would_take_more_than_five_lines_is_a_footnote_told_once():
    reason = " ".join(["because"] * 60)
    table = Printed(
        "", "", (Head("row"), Head("why", is_prose=True)), (("a", reason), ("b", reason), ("c", ""))
    )
    _, first, second, third, *notes = terminal.lines(table, 60)
    assert (first.split(), second.split(), third.split()) == (["a", "[1]"], ["b", "[1]"], ["c"])
    assert notes[0].startswith("[1] because because")
    assert " ".join(notes).count("because") == 60


def test_prose_among_numbers_takes_two_lines_or_is_a_footnote_and_a_short_text_is_none():
    heads = (Head("row"), Head("time", True), Head("note", is_prose=True))
    long, short = " ".join(["because"] * 12), "fixed scaling."
    table = Printed("", "", heads, (("a", "1 ms", long), ("b", "2 ms", short)))
    _, first, second, *notes = terminal.lines(table, 50)
    assert first.split() == ["a", "1", "ms", "[1]"]
    assert second.split() == ["b", "2", "ms", *short.split()]
    assert " ".join(notes).split() == ["[1]", *long.split()]
    assert len(list(terminal.lines(table, 70))) == 4


def test_a_hidden_column_takes_its_footnotes_along():
    heads = (Head("row"), *(Head(f"time-{n}", True) for n in range(4)), Head("note", is_prose=True, drop=1))
    reason = " ".join(["because"] * 20)
    lines = "\n".join(terminal.lines(Printed("", "", heads, (("a", *["100 ms"] * 4, reason),)), 35))
    assert "Hidden columns: note." in lines
    assert "because" not in lines


def test_a_terminal_without_room_keeps_the_column_with_the_time_that_others_are_multiples_of():
    names = [f"library-{number}" for number in range(8)]
    rows = [{"operation": "add", "variant": name, "rank": int(name == names[-1])} for name in names]
    pivot = Pivot(
        lambda row: row["operation"],
        lambda row, _: "1.20 ms" if row["rank"] else "1.26×",
        is_needed=lambda row: bool(row["rank"]),
    )
    operation = (Head("operation"), lambda row: row["operation"])
    head, line, *below = terminal.lines(pivoted("", "", [operation], rows, pivot, 0), 60)
    assert head.split() == ["operation", *names[:4], names[-1]]
    assert line.split() == ["add", *["1.26×"] * 4, "1.20", "ms"]
    assert "Hidden columns: library-4, library-5, library-6." in " ".join(below)


RESULT = {
    **{"experiment": "arithmetic", "operation": "rotate_columns", "scheme": "bfv", "ring_dimension": 16384},
    **{"tuning": "recommended", "data_set": None, "data_pattern": "random", "vector_length": 1_048_576},
    **{"threads": 1, "repetitions": None, "comparison_group": "c", "phase": "evaluate", "metric": "time"},
    **{"unit": "s", "a_median": 0.0123, "b_median": 0.0155, "ratio": 1.26, "ratio_low": 1.11},
    **{
        "ratio_high": 1.43,
        "detectable_slowdown": 1.12,
        "verdict": "slower",
        "remark": "log QP 216 against 218",
    },
    **dict.fromkeys([f"{run}_security_{year}" for run in "ab" for year in ("2018", "2024")], 128),
}


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_comparison_names_its_cases_at_every_width(width):
    rows = [{**RESULT, "variant": name} for name in ("seal-hexl", "openfhe")]
    for table in (*comparing.largest(rows), *comparing.tables(rows)):
        lines = list(terminal.lines(table, width))
        text = " ".join("\n".join(lines).split())
        assert max(map(len, lines)) <= width
        assert len(lines) <= 2 * len(table.rows) + 2 + ("[1]" in text) + text.count("Hidden") * 2
        assert "1.26×" in text, "B takes longer than A: above 1, as everywhere"
        assert "rotate_columns" in text


def test_a_table_of_published_values_has_the_columns_that_have_a_text():
    row = {
        **{"id": 1, "source": "a paper", "year": 2025, "published_host": "unstated", "system": "SEAL"},
        **{"scheme": "bfv", "result": "300 additions", "published_value": 7.0, "unit": "s", "note": None},
        **{"median": None, "variant": None, "operation": None, "case_key": None, "metric": "time"},
        **dict.fromkeys(("published_threads", "published_security", "provenance")),
    }
    (table,) = published.tables([row])
    assert [head.text for head in table.heads] == ["system", "scheme", "result", "published", "ours"]
    of_threads = [
        {**row, "id": count, "published_threads": count, "published_value": 8.0 / count}
        for count in (1, 2, 4)
    ]
    assert len(next(published.tables([{**each, "note": str(each["id"])} for each in of_threads])).rows) == 3
    answer = Answer(tuple(row), [tuple(each.values()) for each in of_threads])
    (together,) = published.with_threads(answer, {}).mappings
    assert (together["thread_counts"], together["published_values"]) == ([1, 2, 4], [8.0, 4.0, 2.0])
    assert (
        next(column for column in published.PUBLISHED.columns if column.name == "speedup").cell(together)
        == "4.00× at 4"
    )
    (table,) = published.tables(of_threads)
    assert [head.text for head in table.heads][2:5] == ["result", "threads", "published"]
    assert table.rows[0][2:5] == ("300 additions", "1 to 4", "8 to 2 s")


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
