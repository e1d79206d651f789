"""Vectors of several lengths stand in one table, a row each, and fit 80 columns without loss."""

from __future__ import annotations

from itertools import product
from typing import Any

from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.database import Database
from ciphermark_present import listing, terminal
from ciphermark_present.catalogue import ranking
from ciphermark_present.catalogue.ranking import OVERVIEW, RANKING
from ciphermark_present.figure import Layout
from ciphermark_present.printed import Printed, Wanted

LENGTHS = (16, 4096, 1 << 20)
OPERATIONS = ("add", "mul")
VARIANTS = ("seal", "seal-hexl", "tenseal")


def _tables(
    database: Database, make: Any, layout: Layout, lengths: tuple[int, ...] = LENGTHS
) -> list[Printed]:
    run = make.run()
    database.record_run(run)
    for number, (size, operation, variant) in enumerate(product(lengths, OPERATIONS, VARIANTS)):
        samples = make.times([0.001 * (number + 1) * (1 + ordinal / 1000) for ordinal in range(8)])
        case = make.case(variant, vector_length=size, operation=operation)
        database.record_outcome(make.outcome(run, case, samples))
    chosen = {"phase": "evaluate", "across_security_levels": False}
    answers = [rows(database, figure, run.id, chosen) for figure in ranking.FIGURES]
    return listing.tables(ranking.RANKS, layout, answers, Wanted())


def test_lengths_are_rows_of_one_table(database: Database, make: Any) -> None:
    (table,) = _tables(database, make, OVERVIEW)
    assert [head.text for head in table.heads][:2] == ["operation", "vector length"]
    assert [row[:2] for row in table.rows] == [
        (operation if size == LENGTHS[0] else "", f"{size:,}")
        for operation, size in product(OPERATIONS, LENGTHS)
    ]
    assert all(len(row) == 2 + len(VARIANTS) and all(row[2:]) for row in table.rows)
    assert "16–1,048,576 random values" in table.about


def test_a_single_length_has_no_column(database: Database, make: Any) -> None:
    (table,) = _tables(database, make, OVERVIEW, LENGTHS[:1])
    assert [row[0] for row in table.rows] == list(OPERATIONS)
    assert "values" not in [head.text for head in table.heads]


def test_nothing_is_lost_in_80_columns(database: Database, make: Any) -> None:
    (table,) = _tables(database, make, OVERVIEW)
    lines = list(terminal.lines(table, 80))
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).split()
    for row in table.rows:
        assert [word for cell in row for word in cell.split() if word not in words] == []


def test_details_fit_80_columns_and_name_what_has_no_room(database: Database, make: Any) -> None:
    (table,) = _tables(database, make, RANKING)
    lines = list(terminal.lines(table, 80))
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("Hidden columns: ") for line in lines)
