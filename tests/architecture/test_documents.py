"""Documents are short, linked to each other, and every page is found from the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from house import REPOSITORY, files

PAGES = [name for name in files() if name.endswith(".md") and not name.startswith(("tests/", "libs/"))]
MAX_LINES = {"README.md": 150, "CONTRIBUTING.md": 80}
MAX_WORDS = 2000
GENERATED = "<!-- generated"
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def links(name: str) -> Iterator[tuple[str, str]]:
    """The files that a page links to, and the places in them."""
    for target in _LINK.findall(_FENCE.sub("", text(name))):
        if "://" not in target:
            path, _, place = target.partition("#")
            folder = Path(name).parent
            resolved = (REPOSITORY / folder / unquote(path)).resolve() if path else REPOSITORY / name
            yield resolved.relative_to(REPOSITORY).as_posix(), place


def places(name: str) -> set[str]:
    """The places of a page that links can name, as repositories of Git derive them from headings."""
    plain = (re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(text(name)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    broken = [
        f"{path}#{place}"
        for path, place in links(name)
        if not (REPOSITORY / path).exists() or (place and place not in places(path))
    ]
    assert broken == []


def test_every_page_is_found_from_the_readme() -> None:
    seen, waiting = set[str](), ["README.md"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [path for path, _ in links(name) if path.endswith(".md")]
    assert {name for name in PAGES if name.startswith("docs/")} - seen == set()


def test_no_page_is_outside_the_tree() -> None:
    assert [path.name for path in (REPOSITORY / "docs").glob("*.md")] == ["index.md"]


@pytest.mark.parametrize("name", MAX_LINES)
def test_a_page_fits_a_few_screens(name: str) -> None:
    assert len(text(name).splitlines()) <= MAX_LINES[name]


def test_pages_that_are_written_are_short() -> None:
    sizes = {name: len(text(name).split()) for name in PAGES if GENERATED not in text(name)}
    assert {name: size for name, size in sizes.items() if size > MAX_WORDS} == {}
