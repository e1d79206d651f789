"""What was stored cannot control the terminal, page, report or log in which it is read."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest
from rich.text import Text

from ciphermark_core.controls import visible, visible_in
from ciphermark_dashboards.templating import TEMPLATES
from ciphermark_present import markup
from ciphermark_present.console import Terminal, styled
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show

HOSTILE = "a\x1b[2Jb\x9b31mc\x07d\u202eefg\u2066\x7f\r"
SHOWN = "a␛[2Jb\ufffd31mc␇d\ufffdefg\ufffd␡␍"
TABLE = Printed(HOSTILE, HOSTILE, (Head(HOSTILE), Head("b", is_prose=True)), ((HOSTILE, HOSTILE),))


def test_control_characters_become_visible_ones_of_one_width() -> None:
    assert visible(HOSTILE) == SHOWN
    assert len(visible(HOSTILE)) == len(HOSTILE)
    kept = "as\tit\nis, größer ≈ 数"
    assert visible(kept) == kept


def test_texts_within_are_made_visible() -> None:
    value = {HOSTILE: [HOSTILE, (1, None, HOSTILE)], "b": {"c": HOSTILE}}
    assert visible_in(value) == {SHOWN: [SHOWN, [1, None, SHOWN]], "b": {"c": SHOWN}}


def printed() -> str:
    file = io.StringIO()
    console = Terminal(file=file, width=200, force_terminal=True)
    show(console, [TABLE])
    console.print(HOSTILE)
    console.print(Text(HOSTILE, style="bold"))
    return file.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")  # the console's own


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(printed, id="terminal"),
        pytest.param(lambda: markup.markdown([TABLE]), id="markdown"),
        pytest.param(lambda: markup.latex([TABLE]), id="latex"),
        pytest.param(lambda: TEMPLATES.from_string("<p>{{ x }}</p>").render(x=HOSTILE), id="page"),
        pytest.param(lambda: json.dumps({"event": HOSTILE}), id="log"),
    ],
)
def test_no_reader_gets_any(text) -> None:
    written = text()
    assert "2J" in written
    assert not {sign for sign in written if visible(sign) != sign}


@pytest.mark.parametrize(
    "text",
    [
        "Compare it in a suite: `variants: [seal, seal-mine]`",
        "/srv/[ada]/suites/[bold]mine[/bold].yaml",
        "a closing tag alone: [/red]",
        "a backslash before one: \\[red]",
        "not an emoji: :warning:",
    ],
)
def test_brackets_of_texts_are_printed(text: str) -> None:
    file = io.StringIO()
    console = Terminal(file=file, width=200)
    console.print(text)
    console.print(styled("[bold]{}[/bold]: {}", text, text))
    assert file.getvalue() == f"{text}\n{text}: {text}\n"


def test_a_template_has_markup() -> None:
    assert styled("[bold]{}[/bold] {}", "a", "[b]").markup == "[bold]a[/bold] \\[b]"


def test_all_that_prints_does_so_by_this_console() -> None:
    repository = Path(__file__).parents[2]
    files = [
        path for folder in ("services", "libs", "dashboards") for path in (repository / folder).rglob("*.py")
    ]
    imports = {
        path.name
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "rich.console"
        and "Console" in {alias.name for alias in node.names}
    }
    assert imports == set()
