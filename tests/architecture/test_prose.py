"""The check of the language finds each kind of fault, and no fault in what is right."""

from __future__ import annotations

import ast

import prose
import pytest
from prose import Text, comments, constants, document, messages, template

FAULTS = {
    "It is told beside the results.": ["told", "beside"],
    "The division decides; see the 2018 table.": ["divisions", "2018 table"],
    "A `quiet_share` of 1 means that ckks is not slowed.": ["ckks"],
    "The interval has 95 % coverage.": ["%"],
    "What is missing gives no reason.": ["without its subject"],
    " ".join(["word"] * 31): ["31 words"],
}
RIGHT = (
    "Every result is correct.",
    "The key `division` is now `tuning`, and `bfv` is code.",
    "See [tuning](divisions.md).",
    f"{' '.join(['word'] * 20)}. {' '.join(['Word'] * 20)}",
    "What does it cost?",
)


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_found(text: str) -> None:
    found = [message for item in document(text) for message in messages(item)]
    assert len(found) == len(FAULTS[text])
    for message, word in zip(found, FAULTS[text], strict=True):
        assert word.rstrip("s") in message


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_has_no_fault(text: str) -> None:
    assert [message for item in document(text) for message in messages(item)] == []


@pytest.mark.parametrize(
    ("heading", "is_sentence"),
    [
        ("Read results", False),
        ("Why you can trust the numbers", False),
        ("Keys are not seeded", True),
        ("Which parameters do I need?", True),
    ],
)
def test_a_heading_is_no_sentence(heading: str, is_sentence: bool) -> None:
    (text,) = document(f"# {heading}\n")
    assert any("heading" in message for message in messages(text)) == is_sentence


def test_a_page_is_its_paragraphs_items_and_cells() -> None:
    page = "# Head\n\nOne\ntwo.\n- item\n  goes `on`\n\n```sh\ntold\n```\n| a | b |\n|---|---|\n| c | d |\n"
    assert [(text.line, text.content) for text in document(page) if text.content.strip("-")] == [
        (1, "Head"),
        (3, "One two."),
        (5, "item goes X"),
        (11, "a"),
        (11, "b"),
        (13, "c"),
        (13, "d"),
    ]


def test_a_template_has_neither_tags_nor_statements() -> None:
    text = "<p title='told'>a {{ told }}</p>\n{% if told %}<script>told</script>{# told #}"
    assert [item.content for item in template(text)] == ["a X"]


def test_texts_of_a_module_are_its_strings_and_the_help_of_commands() -> None:
    module = ast.parse(
        '"""Not for users: the module."""\n'
        "@app.command(epilog=_EPILOG)\n"
        "def f(x):\n"
        '    """Help of the command, in words."""\n'
        "    def g(x):\n"
        '        """Not for users: a docstring."""\n'
        '    return f"{x} has so many words", "key", "select 1 from a where true"\n'
    )
    assert [text.content for text in constants(module)] == [
        "Help of the command, in words.",
        "X has so many words",
    ]


def test_comments_of_a_suite_are_checked() -> None:
    suite = "# One\n# two.\nname: a\nbudget: {min_samples: 6}  # three\n# four\n"
    assert [(text.line, text.content) for text in comments(suite)] == [(1, "One two."), (4, "three four")]


def test_documents_and_sources_are_checked() -> None:
    names = prose.checked()
    assert {"README.md", "docs/index.md", "CHANGELOG.md"} <= set(names)
    assert any(name.endswith(".html") for name in names)
    assert len(names) > 300


def test_a_fault_names_its_place(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "document", lambda text: [Text(7, "It is told.")])
    assert prose.main(["README.md"]) == 1
    assert capsys.readouterr().out.startswith("README.md:7: “told”: ")
