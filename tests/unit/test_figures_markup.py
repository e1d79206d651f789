"""Tables as LaTeX, checked by a small grammar of what every LaTeX with booktabs takes: no LaTeX is needed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_present import markup
from ciphermark_present.printed import Head, Printed

COMMANDS = {
    *(
        "begin",
        "end",
        "caption",
        "label",
        "smallskip",
        "toprule",
        "midrule",
        "bottomrule",
        "par",
        "footnotesize",
        "centering",
        "linewidth",
        "ensuremath",
        "texttt",
        "textsuperscript",
    ),
    *(
        "mu",
        "times",
        "approx",
        "geq",
        "cdot",
        "to",
        "circ",
        "dagger",
        "ldots",
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
    ),
}
# In mathematics alone, and elsewhere an error.
MATHEMATICAL = {"mu", "times", "approx", "geq", "cdot", "to", "circ", "dagger"}
TOKEN = re.compile(
    r"\\\\|\\(?P<word>[a-zA-Z]+)|\\(?P<sign>[^a-zA-Z])|(?P<open>\{)|(?P<close>\})|(?P<special>[&%$#_^~])|[^\\{}&%$#_^~]",
    re.DOTALL,
)


def checked(text: str) -> None:
    """Raise ``AssertionError`` for what LaTeX would not set, or set as something else."""
    first, _, body = text.partition("\n")
    assert first.startswith("%")
    open_environments: list[str] = []
    for line in body.splitlines():
        row = line.strip()
        begun, ended = re.match(r"\\begin\{(\w+)\}", row), re.match(r"\\end\{(\w+)\}", row)
        if begun:
            open_environments.append(begun[1])
        elif ended:
            assert open_environments.pop() == ended[1]
        tokens(row)
    assert open_environments == []


def tokens(line: str) -> list[str]:
    """The tokens of a line, whose braces are balanced and whose specials are escaped."""
    found, place, braces, mathematical = [], 0, 0, []
    while place < len(line):
        match = TOKEN.match(line, place)
        assert match, line[place:]
        place = match.end()
        found.append(match.group())
        if match["word"]:
            assert match["word"] in COMMANDS, match["word"]
            assert match["word"] not in MATHEMATICAL or mathematical, line
        if match["sign"]:
            assert match["sign"] in "{}&%$#_\\", match["sign"]
        braces += bool(match["open"]) - bool(match["close"])
        if match["open"] and line[: match.start()].endswith("\\ensuremath"):
            mathematical.append(braces)
        if match["close"] and mathematical and braces < mathematical[-1]:
            mathematical.pop()
        assert braces >= 0, line
        assert match["special"] in (None, "&") or (match["special"] == "^" and mathematical), line
        assert " " <= match.group()[0] <= "~" or match.group() in markup._LETTERS, match.group()
    assert braces == 0, line
    return found


def rows(text: str) -> list[str]:
    """The lines of tables that are rows: heads and cells."""
    return [line.strip() for line in text.splitlines() if line.rstrip().endswith(r"\\")]


def table(cells: list[list[str]], title: str = "", about: str = "", **more: Any) -> Printed:
    heads = tuple(Head(f"head {n}", n > 0) for n in range(len(cells[0])))
    return Printed(title, about, heads, tuple(map(tuple, cells)), **more)


TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=20)
NASTY = (
    *(
        "100 % & #1",
        "a_b^c~d",
        "scale 2^40, 10^-3, 2^x",
        "{x}\\y",
        "$y$",
        "[t]",
        "*",
        "* other parameters",
        "µs × ≈ ≥ <1> · – …",
        "Größe → ∞ 数",
    ),
    "two\nlines",
)


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=4), TEXTS, TEXTS)
def test_whatever_tables_say_is_latex(cells: list[list[str]], title: str, about: str) -> None:
    text = markup.latex([table(cells, title, about)])
    checked(text)
    for row in rows(text):
        assert tokens(row).count("&") == 2
        assert not row.startswith(("[", "*"))


@pytest.mark.parametrize("nasty", NASTY)
def test_what_means_something_to_latex_is_escaped(nasty: str) -> None:
    text = markup.latex([table([[nasty, "1"], ["add", nasty]], nasty, nasty)])
    checked(text)
    assert len(rows(text)) == 3


def test_powers_are_set_as_such() -> None:
    text = markup.latex([table([["scale 2^40, 10^-3, 2^x", "1"]])])
    assert r"scale 2\textsuperscript{40}, 10\textsuperscript{-3}, 2\textasciicircum{}x" in text


def test_a_table_has_a_label_and_the_legend_of_its_marks_below() -> None:
    legend = (
        "Fastest: median time. Others: multiple of it. Brackets: 95% interval",
        "≈ no significant difference",
    )
    text = markup.latex(
        [table([["add", "≈1"]], "BFV", legend=legend, name="matrix-2", explained="n: samples.")]
    )
    checked(text)
    assert r"\caption{BFV}" in text
    assert r"\label{tab:matrix-2}" in text
    below = text.partition(r"\end{adjustbox}")[2]
    assert r"95\% interval; \ensuremath{\approx} no significant difference; n: samples." in below


@given(TEXTS)
def test_a_label_is_plain(name: str) -> None:
    labels = re.findall(r"\\label\{(.*)\}", markup.latex([table([["a", "b"]], name=name)]))
    assert all(re.fullmatch(r"tab:[A-Za-z0-9-]*", label) for label in labels)


def test_the_grammar_refuses_what_latex_does() -> None:
    for wrong in ("a & b_c", "50 %", r"\frac{1}{2}", "{", "}", r"\mu", "x → y", "$1$"):
        with pytest.raises(AssertionError):
            tokens(wrong)
    with pytest.raises(AssertionError):
        checked("% x\n\\begin{table}\n\\end{tabular}\n")
