"""Tables of the reference that are written by hand hold what the code has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import get_args

import pytest

import ciphermark_measure.experiments  # noqa: F401 - registers metrics
import ciphermark_workloads.catalogue  # noqa: F401 - registers metrics
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Status
from ciphermark_core.security import LEVELS, TABLES, limit
from ciphermark_web.problems import KINDS

REPOSITORY = Path(__file__).parents[2]
REFERENCE = REPOSITORY / "docs" / "reference"
PRODUCT = ("libs", "services", "dashboards", "db", "deploy", "setup", "docker-compose.yml")
_OF_CHILDREN = {"CIPHERMARK_VARIANT", "CIPHERMARK_PARENT"}  # set for processes that are started, not by users
_VARIABLE = re.compile(r"\b(?:CIPHERMARK_[A-Z_]*[A-Z]|HELIB_ROOT)\b")


def text(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def first_cells(name: str) -> list[str]:
    """The names in the first cells of all rows of a page."""
    rows = re.findall(r"^\| (`[^|]*) \|", text(name), re.MULTILINE)
    return [found for row in rows for found in re.findall(r"`([^`]+)`", row)]


SECTIONS = re.split(r"^## ", text("security-tables.md"), flags=re.MULTILINE)[1:3]


@pytest.mark.parametrize(("table", "section"), [*zip(TABLES, SECTIONS, strict=True)], ids=[*TABLES])
def test_security_tables_are_those_that_the_product_uses(table: str, section: str) -> None:
    rows = [tuple(re.findall(r"[\d–]+", row)) for row in re.findall(r"^\| \d.*$", section, re.MULTILINE)]
    assert rows
    for ring, *cells in rows:
        used = (limit(table, int(ring), level) for level in LEVELS)
        assert cells == ["–" if bits is None else str(bits) for bits in used]
    assert limit(table, int(rows[-1][0]) * 2, 128) == limit(table, int(rows[-1][0]), 128)  # no row is missing


def test_every_metric_and_status_has_a_row() -> None:
    rows = first_cells("metrics-and-statuses.md")
    assert set(METRICS) | set(get_args(Status)) <= set(rows)


def test_every_kind_of_problem_has_a_row() -> None:
    page = text("rest.md")
    for kind, (status, *_) in KINDS.items():
        assert re.search(rf"^\| (?:\d+, )*{status}\b[^|]*\| [^|]*`{kind}`", page, re.MULTILINE), kind


def test_every_environment_variable_has_a_row() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PRODUCT], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    files = [REPOSITORY / name for name in listed.stdout.splitlines()]
    used = {
        name.removesuffix("_FILE") if "TOKEN" in name else name
        for path in files
        if path.suffix in (".py", ".yml", ".sh")
        for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))
    }
    assert used - _OF_CHILDREN - set(first_cells("environment.md")) == set()
