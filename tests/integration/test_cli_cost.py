"""The command ``cost``: one cell of the cost table, several, and what it says of cells that nobody measured."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import pytest
from command import Ciphermark

from ciphermark_db.database import Database

# Medians in ms of rotate(1) by level, at N = 8192.
MEDIANS_MS = {"seal": (1, 2, 3, 4), "tenseal": (2, 4, 6, 8)}


@pytest.fixture(scope="module")
def ciphermark(tmp_path_factory: Any, new_url: Any, make: Any) -> Ciphermark:
    """A run with the costs of a rotation on cached operands, and a later run of another operation."""
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        make.record(database, *make.costs("rotate(1)", MEDIANS_MS))
        make.record(database, *make.costs("add", {"seal": (0.001,)}))
    return Ciphermark(tmp_path_factory.mktemp("cost"), url)


def test_a_cell_has_each_library_with_interval_and_security(ciphermark: Ciphermark) -> None:
    lines = ciphermark("cost", "rotate", "--n", "8192", "--level", "2").out.splitlines()
    title, heads, *rows = filter(None, lines)
    assert title.startswith("rotate(1), CKKS, N = 8192, level 2 of ")
    assert title.endswith("1 thread, cached operands")
    assert heads.split()[:2] == ["library", "median"]
    assert [row.split()[:3] for row in rows] == [["seal", "3.00", "ms"], ["tenseal", "6.00", "ms"]]
    assert all("[" in row and "bits" in row for row in rows)


def test_without_a_level_all_levels_are_printed(ciphermark: Ciphermark) -> None:
    out = ciphermark("cost", "rotate(1)", "--variant", "seal").out
    assert [word in out for word in ("1.00 ms", "2.00 ms", "3.00 ms", "4.00 ms", "tenseal")] == [True] * 4 + [
        False
    ]


def test_results_begin_with_the_top_level(ciphermark: Ciphermark) -> None:
    out = " ".join(ciphermark("results", "last~1", "--all").out.split())
    assert re.findall(r"level ([0-9])", out) == ["3", "2", "1", "0"]


def test_wins_are_counted_at_the_top_level_alone(ciphermark: Ciphermark) -> None:
    for command in (("summary",), ("results",)):
        out = " ".join(ciphermark(*command, "last~1").out.split())
        assert "CKKS, matched 1 case: seal fastest in 1" in out


def test_programs_get_every_column(ciphermark: Ciphermark) -> None:
    rows = json.loads(ciphermark("cost", "rotate", "--level", "0", "--format", "json").out)
    assert {row["variant"]: row["median"] for row in rows} == {"seal": 0.001, "tenseal": 0.002}
    assert {"ci_low", "security_2024", "top_level", "residency", "modulus_bits"} <= {*rows[0]}
    assert ciphermark("cost", "rotate", "--level", "0", "--format", "csv").out.count("\n") == 3
    assert "| seal |" in ciphermark("cost", "rotate", "--level", "0", "--format", "md").out


def test_a_cell_that_nobody_measured_has_its_suite_and_the_nearest_ones(ciphermark: Ciphermark) -> None:
    done = ciphermark("cost", "rotate", "--n", "16384", "--level", "5", code=2)
    assert done.out == ""
    first, *_ = done.err.splitlines()
    assert "rotate, N = 16384, level 5, 1 thread, cached operands: not measured" in first
    assert "measures it" in first
    assert "Nearest measured costs: rotate(1), CKKS, N = 8192" in done.err
    assert "4.00 ms" in done.err, "level 3 is the nearest"
    assert "1.00 ms" not in done.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("rotat",), "did you mean 'rotate'?"),
        (("mul", "--n", "8192"), "not measured"),
        (("rotate", "--threads", "2"), "2 threads"),
        (("rotate", "--residency", "streamed"), "streamed operands"),
    ],
)
def test_a_mistake_and_a_missing_cell_are_told(
    ciphermark: Ciphermark, arguments: tuple[str, ...], text: str
) -> None:
    assert text in ciphermark("cost", *arguments, code=2).err


def test_other_figures_have_the_top_level_unless_another_is_chosen(ciphermark: Ciphermark) -> None:
    def levels(*filters: str) -> list[str]:
        chosen = [word for text in filters for word in ("--filter", text)]
        out = ciphermark("figure", "latency", "last~1", "--format", "csv", "-o", "-", *chosen).out
        return [row["level"] for row in csv.DictReader(out.splitlines())]

    assert levels() == ["3", "3"]
    assert sorted(levels("level=1", "level=2")) == ["1", "1", "2", "2"]
