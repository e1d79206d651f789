"""The page of the command line is what the parsers are."""

from __future__ import annotations

from pathlib import Path

from ciphermark_benchmark.cli import _commands, _page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_committed_page_is_the_generated_one() -> None:
    committed = PAGE.read_text(encoding="utf-8")
    assert committed == _page.page(), (
        "generate it: python -m ciphermark_benchmark.cli._page > docs/reference/cli.md"
    )


def test_every_command_has_a_section() -> None:
    page = _page.page()
    assert [name for name in _commands.names() if f"\n## `ciphermark {name}`\n" not in page] == []
