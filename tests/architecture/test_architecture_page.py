"""The page of the architecture and its picture are true."""

from __future__ import annotations

import re
import runpy

from house import REPOSITORY

PAGE = REPOSITORY / "docs" / "explanation" / "architecture.md"
PICTURE = REPOSITORY / "docs" / "pictures" / "house.svg"
_PLACE = re.compile(r"`((?:bench|dashboards|db|deploy|docs|libs|services|setup|suites|tests)/[^`]*)`")


def test_every_place_that_the_page_names_exists() -> None:
    places = _PLACE.findall(PAGE.read_text())
    assert len(places) > 20
    assert [place for place in places if not (REPOSITORY / place).exists()] == []


def test_the_picture_shows_every_package_that_is_checked() -> None:
    script = runpy.run_path(str(PICTURE.with_suffix(".py")))
    shown = PICTURE.read_text()
    missing = [name for row in script["layers"]() for name in row if f">{name}</text>" not in shown]
    assert missing == [], "give it its words in docs/pictures/house.py, and run that"


def test_the_picture_of_parameters_is_what_chains_are() -> None:
    picture = PICTURE.with_name("parameters.svg")
    script = runpy.run_path(str(picture.with_suffix(".py")))
    assert picture.read_text(encoding="utf-8") == script["picture"](), "run docs/pictures/parameters.py"
