"""Queries of documents take no join and answer something; the reference lists what the database has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ciphermark_core.model import OperationCount, ProgramUse, Sample
from ciphermark_db import page
from ciphermark_db.database import Database

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "sql"
RECIPES = (Path(__file__).parents[2] / "docs" / "how-to" / "query-recipes.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", RECIPES, re.DOTALL)

PROGRAM = ProgramUse("infer", "d" * 64, "bfv", 1, 0, 2, (OperationCount("mul", 1, 3),), b"content")


@pytest.fixture(scope="module")
def filled(database: Database, make) -> Database:
    """Two runs with every experiment, and one failure."""
    times = tuple(
        sample
        for phase in ("evaluate", "encrypt", "decrypt")
        for sample in make.times([0.1 + 0.01 * i for i in range(8)], phase=phase)
    )
    memory = (Sample("peak_memory", 5e7, "evaluate"),)
    size = (Sample("size", 131_177.0, "ciphertext"),)
    depth = (Sample("depth", 3.0, "evaluate"), Sample("is_at_max_repetitions", 0.0, "evaluate"))
    noise = tuple(Sample("noise_budget", 90.0 - 30 * k, "evaluate", repetitions=k) for k in range(3))
    learnt = (Sample("time", 0.1, "infer"), Sample("agreement", 1.0, "infer"))
    for _ in range(2):
        run = make.run()
        database.record_run(run)
        for variant in ("seal", "seal-hexl"):
            for case, samples in (
                (make.case(variant), (*times, *memory)),
                (make.case(variant, experiment="serialization", operation="zstd"), size),
                (
                    make.case(
                        variant, experiment="depth", operation="mul", dimensions={"max_repetitions": 9}
                    ),
                    depth,
                ),
                (
                    make.case(
                        variant, experiment="noise", operation="mul", dimensions={"max_repetitions": 9}
                    ),
                    noise,
                ),
                (
                    make.case(
                        variant, experiment="repetition", operation="add", dimensions={"repetitions": 300}
                    ),
                    times,
                ),
                (
                    make.case(
                        variant,
                        experiment="learning",
                        operation="lmc-plain",
                        dimensions={"data_set": "boston"},
                    ),
                    learnt,
                ),
            ):
                database.record_outcome(make.outcome(run, case, samples, programs=(PROGRAM,)))
        failed = make.case("tenseal", operation="rotate")
        database.record_outcome(make.outcome(run, failed, status="unsupported", error="no rotation"))
    return database


def test_there_are_enough() -> None:
    assert len(QUERIES) >= 10


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_query_runs(filled: Database, query: str) -> None:
    table = filled.query(query)
    assert table.columns
    assert table.rows or "security_2018 <> security_2024" in query


def test_no_query_needs_a_join() -> None:
    """Nor a table: whoever asks knows the views alone."""
    assert [query for query in QUERIES if re.search(r"\bjoin\b", query, re.IGNORECASE)] == []
    asked = {name for query in QUERIES for name in re.findall(r"\bfrom (\w+)", query)}
    assert {"run", "host", "trial", "sample", "series", "case_"}.isdisjoint(asked)


def test_pages_of_views_are_those_of_the_database(database: Database) -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert committed == page.pages(database, committed[page.INDEX]), (
        'generate them: python -m ciphermark_db.page "$(ciphermark db url)" docs/reference/sql'
    )
