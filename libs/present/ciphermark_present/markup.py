"""Tables in the markup of papers and notes: Markdown and LaTeX. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ciphermark_core.controls import visible
from ciphermark_present.printed import Printed, with_footnotes

_LETTERS = frozenset(map(chr, (*range(0xC0, 0xD7), *range(0xD8, 0xF7), *range(0xF8, 0x17F))))
_POWER = re.compile(r"(?<=\d)\\textasciicircum\{\}(-?\d+)")
_MARKDOWN = re.compile(r"([\\`*_\[\]|<])")
_LATEX = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "µ": r"\ensuremath{\mu}",
        "×": r"\ensuremath{\times}",
        "≈": r"\ensuremath{\approx}",
        "≥": r"\ensuremath{\geq}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
        "·": r"\ensuremath{\cdot}",
        "−": r"\ensuremath{-}",
        "→": r"\ensuremath{\to}",
        "“": "``",
        "”": "''",
        "‘": "`",
        "’": "'",
        "—": "---",
        "–": "--",
        "…": r"\ldots{}",
        "°": r"\ensuremath{^\circ}",
        "†": r"\ensuremath{\dagger}",
        **{sign: f"\\{sign}" for sign in "&%$#_"},
    }
)


def markdown(tables: Iterable[Printed]) -> str:
    """Every table with its title as a heading, its legend and remarks as notes below."""
    return "\n\n".join(_markdown(table) for table in tables) + "\n"


def latex(tables: Iterable[Printed]) -> str:
    """Every table as an environment ``table`` with a label, the lines of booktabs and a legend; adjustbox scales down a
    table that is wider than the text. A document's preamble must load both.
    """
    return (
        "% needs \\usepackage{adjustbox,booktabs}\n" + "\n\n".join(_latex(table) for table in tables) + "\n"
    )


FORMATS: Mapping[str, Callable[[Iterable[Printed]], str]] = MappingProxyType({"md": markdown, "latex": latex})


def _markdown(table: Printed) -> str:
    grid, notes = with_footnotes(table)
    lines = [
        f"| {' | '.join(_plain(head.text) for head in grid.heads)} |",
        f"| {' | '.join('---:' if head.is_number else '---' for head in grid.heads)} |",
        *(f"| {' | '.join(map(_plain, row))} |" for row in grid.rows),
    ]
    above = [f"### {_plain(table.title)}"] * bool(table.title) + [_plain(table.about)] * bool(table.about)
    below = ["\n".join(f"- {_plain(note)}" for note in (*table.legend, *notes))] * bool(table.legend or notes)
    return "\n\n".join([*above, "\n".join(lines), *below])


def _plain(text: str) -> str:
    return " ".join(_MARKDOWN.sub(r"\\\1", visible(text).replace("&", "&amp;")).split())


def _latex(table: Printed) -> str:
    grid, notes = with_footnotes(table)
    caption = ". ".join(filter(None, (table.title, table.about)))
    legend = "; ".join(part.rstrip(".") for part in (*table.legend, table.explained) if part)
    rows = [" & ".join(map(_escaped, row)) + r" \\" for row in grid.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            *([rf"  \caption{{{_escaped(caption)}}}"] * bool(caption)),
            *([rf"  \label{{tab:{_label(table.name)}}}"] * bool(table.name)),
            r"  \begin{adjustbox}{max width=\linewidth}",
            rf"  \begin{{tabular}}{{{''.join('r' if head.is_number else 'l' for head in grid.heads)}}}",
            r"    \toprule",
            "    " + " & ".join(_escaped(head.text) for head in grid.heads) + r" \\",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \end{adjustbox}",
            *(
                rf"  \par\smallskip\footnotesize {_escaped(note)}"
                for note in ([f"{legend}."] * bool(legend) + [*notes])
            ),
            r"\end{table}",
        ]
    )


def _label(name: str) -> str:
    """A name without characters that mean something to LaTeX."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def _escaped(text: str) -> str:
    # LaTeX would take a bracket or star at the beginning of a line for an argument of the line break before it
    safe = "".join(_LATEX.get(sign) or _known(sign) for sign in " ".join(visible(text).split()))
    safe = _POWER.sub(r"\\textsuperscript{\1}", safe)
    return f"{{{safe[0]}}}{safe[1:]}" if safe.startswith(("[", "*")) else safe


def _known(sign: str) -> str:
    """A letter that every LaTeX sets, accents included; the code point of any other one."""
    return sign if " " <= sign <= "~" or sign in _LETTERS else rf"\texttt{{U+{ord(sign):04X}}}"
